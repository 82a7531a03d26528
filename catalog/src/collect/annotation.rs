//! What a schema element says about the meaning of its values: the logical type, or else the older converted type.

use prunus_statistics::TimeUnit;

use super::thrift::{Kind, Reader, ThriftError};

/// The meaning of an element's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Annotation {
    /// None is given: values are what the physical type says.
    Plain,
    String,
    Enum,
    Json,
    Bson,
    Decimal {
        precision: i32,
        scale: i32,
    },
    Date,
    Time(TimeUnit),
    Timestamp {
        unit: TimeUnit,
        utc: bool,
    },
    Integer {
        bits: i32,
        signed: bool,
    },
    Uuid,
    Float16,
    Interval,
    /// Only nulls are stored, says the format.
    Null,
    List,
    Map,
    /// A meaning that defines no order: variants, shapes, references to files, and whatever is newer than this program.
    Unordered,
}

/// Reads a value of the union `LogicalType`.
pub(super) fn read_logical_type(reader: &mut Reader<'_>, kind: Kind) -> Result<Annotation, ThriftError> {
    let mut annotation = Annotation::Unordered;
    let mut members = 0;
    reader.nested(kind, |reader, field| {
        members += 1;
        annotation = match field.id {
            5 => read_decimal(reader, field.kind)?,
            7 => read_moment(reader, field.kind)?.map_or(Annotation::Unordered, |(_, unit)| Annotation::Time(unit)),
            8 => read_moment(reader, field.kind)?
                .map_or(Annotation::Unordered, |(utc, unit)| Annotation::Timestamp { unit, utc }),
            10 => read_integer(reader, field.kind)?,
            other => {
                reader.skip(field.kind)?;
                without_parameters(other)
            }
        };
        Ok(())
    })?;
    Ok(if members == 1 { annotation } else { Annotation::Unordered })
}

fn without_parameters(member: i16) -> Annotation {
    match member {
        1 => Annotation::String,
        2 => Annotation::Map,
        3 => Annotation::List,
        4 => Annotation::Enum,
        6 => Annotation::Date,
        11 => Annotation::Null,
        12 => Annotation::Json,
        13 => Annotation::Bson,
        14 => Annotation::Uuid,
        15 => Annotation::Float16,
        _ => Annotation::Unordered,
    }
}

fn read_decimal(reader: &mut Reader<'_>, kind: Kind) -> Result<Annotation, ThriftError> {
    let (mut scale, mut precision) = (None, None);
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => scale = Some(reader.i32(field.kind)?),
            2 => precision = Some(reader.i32(field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    Ok(Annotation::Decimal {
        precision: precision.ok_or(ThriftError::MissingField("precision"))?,
        scale: scale.ok_or(ThriftError::MissingField("scale"))?,
    })
}

/// The parameters of a time or timestamp; `None` if its unit is one that this program does not know.
fn read_moment(reader: &mut Reader<'_>, kind: Kind) -> Result<Option<(bool, TimeUnit)>, ThriftError> {
    let (mut utc, mut unit) = (None, None);
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => utc = Some(Reader::boolean(field.kind)?),
            2 => unit = read_time_unit(reader, field.kind)?,
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    let utc = utc.ok_or(ThriftError::MissingField("isAdjustedToUTC"))?;
    Ok(unit.map(|unit| (utc, unit)))
}

fn read_time_unit(reader: &mut Reader<'_>, kind: Kind) -> Result<Option<TimeUnit>, ThriftError> {
    let mut unit = None;
    reader.nested(kind, |reader, field| {
        unit = match field.id {
            1 => Some(TimeUnit::Millisecond),
            2 => Some(TimeUnit::Microsecond),
            3 => Some(TimeUnit::Nanosecond),
            _ => None,
        };
        reader.skip(field.kind)
    })?;
    Ok(unit)
}

fn read_integer(reader: &mut Reader<'_>, kind: Kind) -> Result<Annotation, ThriftError> {
    let (mut bits, mut signed) = (None, None);
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => bits = Some(reader.i32(field.kind)?),
            2 => signed = Some(Reader::boolean(field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    Ok(Annotation::Integer {
        bits: bits.ok_or(ThriftError::MissingField("bitWidth"))?,
        signed: signed.ok_or(ThriftError::MissingField("isSigned"))?,
    })
}

/// The meaning of a code of the enum `ConvertedType`. Its times and timestamps are in UTC.
pub(super) fn from_converted_type(code: i32, precision: Option<i32>, scale: Option<i32>) -> Annotation {
    let integer = |bits, signed| Annotation::Integer { bits, signed };
    match code {
        0 => Annotation::String,
        1 | 2 => Annotation::Map,
        3 => Annotation::List,
        4 => Annotation::Enum,
        5 => Annotation::Decimal { precision: precision.unwrap_or(0), scale: scale.unwrap_or(0) },
        6 => Annotation::Date,
        7 => Annotation::Time(TimeUnit::Millisecond),
        8 => Annotation::Time(TimeUnit::Microsecond),
        9 => Annotation::Timestamp { unit: TimeUnit::Millisecond, utc: true },
        10 => Annotation::Timestamp { unit: TimeUnit::Microsecond, utc: true },
        11 => integer(8, false),
        12 => integer(16, false),
        13 => integer(32, false),
        14 => integer(64, false),
        15 => integer(8, true),
        16 => integer(16, true),
        17 => integer(32, true),
        18 => integer(64, true),
        19 => Annotation::Json,
        20 => Annotation::Bson,
        21 => Annotation::Interval,
        _ => Annotation::Unordered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Result<Annotation, ThriftError>) {
        assert_eq!(read_logical_type(&mut Reader::new(bytes), Kind::Struct), expected);
    }

    #[test]
    fn a_logical_type_is_the_one_member_of_its_union() {
        check(&[0x1c, 0x00, 0x00], Ok(Annotation::String));
        check(&[0x5c, 0x15, 0x04, 0x15, 0x12, 0x00, 0x00], Ok(Annotation::Decimal { precision: 9, scale: 2 }));
        check(&[0xac, 0x13, 0x08, 0x12, 0x00, 0x00], Ok(Annotation::Integer { bits: 8, signed: false }));
        let timestamp = Annotation::Timestamp { unit: TimeUnit::Nanosecond, utc: true };
        check(&[0x8c, 0x11, 0x1c, 0x3c, 0x00, 0x00, 0x00, 0x00], Ok(timestamp));
    }

    #[test]
    fn a_member_from_the_future_or_none_or_two_have_no_order() {
        check(&[0x0c, 0xf6, 0x27, 0x00, 0x00], Ok(Annotation::Unordered));
        check(&[0x00], Ok(Annotation::Unordered));
        check(&[0x1c, 0x00, 0x5c, 0x15, 0x04, 0x15, 0x12, 0x00, 0x00], Ok(Annotation::Unordered));
        // A time whose unit is member 9.
        check(&[0x7c, 0x11, 0x1c, 0x9c, 0x00, 0x00, 0x00, 0x00], Ok(Annotation::Unordered));
    }

    #[test]
    fn a_decimal_without_precision_is_damaged() {
        check(&[0x5c, 0x15, 0x04, 0x00, 0x00], Err(ThriftError::MissingField("precision")));
    }

    #[test]
    fn a_converted_type_from_the_future_has_no_order() {
        assert_eq!(from_converted_type(99, None, None), Annotation::Unordered);
        assert_eq!(from_converted_type(-1, None, None), Annotation::Unordered);
    }
}
