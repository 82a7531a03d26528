//! A bound as the footer stores it, decoded in the file's own type.

use half::f16;
use prunus_statistics::{PrimitiveType, Value};

use super::file_schema::FileLeaf;
use super::leaf_type::StoredType;

const NANOSECONDS_PER_DAY: i128 = 86_400_000_000_000;
/// The Julian day number of 1970-01-01.
const EPOCH_JULIAN_DAY: i128 = 2_440_588;
const MAX_DECIMAL_BYTES: usize = 16;

/// The value that these bytes are as a bound of the leaf. `None` if they have the wrong length, or if the value is none
/// that the leaf's type can hold: then the data may hold such values too, and readers make different things of them.
pub(super) fn decode_bound(bytes: &[u8], leaf: &FileLeaf) -> Option<Value> {
    let column_type = leaf.column_type?;
    decode_stored(bytes, leaf).filter(|value| is_possible(value, column_type))
}

/// The value that these bytes are as one that the leaf stores, which may be none that the leaf's type can hold. `None` if
/// they have the wrong length, or cannot be read as a value at all.
pub(super) fn decode_stored(bytes: &[u8], leaf: &FileLeaf) -> Option<Value> {
    let column_type = leaf.column_type?;
    Some(match (leaf.stored, column_type) {
        (StoredType::Boolean, _) => decode_boolean(bytes)?,
        (StoredType::Int32, PrimitiveType::UInt8 | PrimitiveType::UInt16 | PrimitiveType::UInt32) => {
            Value::Integer(u32::from_le_bytes(bytes.try_into().ok()?).into())
        }
        (StoredType::Int32, _) => Value::Integer(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        (StoredType::Int64, PrimitiveType::UInt64) => Value::Integer(u64::from_le_bytes(bytes.try_into().ok()?).into()),
        (StoredType::Int64, _) => Value::Integer(i64::from_le_bytes(bytes.try_into().ok()?).into()),
        (StoredType::Int96, _) => decode_int96(bytes)?,
        (StoredType::Float, _) => Value::Float(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        (StoredType::Double, _) => Value::Float(f64::from_le_bytes(bytes.try_into().ok()?)),
        (StoredType::Fixed(length), _) if u32::try_from(bytes.len()) != Ok(length) => return None,
        (StoredType::Fixed(_), PrimitiveType::Float16) => {
            Value::Float(f16::from_le_bytes(bytes.try_into().ok()?).into())
        }
        (StoredType::Fixed(_) | StoredType::ByteArray, PrimitiveType::Decimal { .. }) => decode_decimal(bytes)?,
        (StoredType::Fixed(_) | StoredType::ByteArray, _) => Value::Bytes(bytes.to_vec()),
    })
}

/// Whether the type can hold the value. Strings may be anything: a footer's bound need not be UTF-8, and is made so later, by cutting.
pub(super) fn is_possible(value: &Value, column_type: PrimitiveType) -> bool {
    match (value, column_type) {
        (Value::Bytes(_), PrimitiveType::String) => true,
        (Value::Integer(time), PrimitiveType::Time(unit)) => {
            (0..NANOSECONDS_PER_DAY / unit.nanoseconds()).contains(time)
        }
        _ => value.fits(column_type),
    }
}

fn decode_boolean(bytes: &[u8]) -> Option<Value> {
    match bytes {
        [0] => Some(Value::Boolean(false)),
        [1] => Some(Value::Boolean(true)),
        _ => None,
    }
}

/// A big-endian integer in two's complement, of any length; the bytes above the lowest 16 may only repeat the sign.
fn decode_decimal(bytes: &[u8]) -> Option<Value> {
    let negative = bytes.first()? & 0x80 != 0;
    let sign = if negative { 0xff } else { 0x00 };
    let (above, low) = bytes.split_at_checked(bytes.len().saturating_sub(MAX_DECIMAL_BYTES))?;
    let mut extended = [sign; MAX_DECIMAL_BYTES];
    extended.iter_mut().rev().zip(low.iter().rev()).for_each(|(to, from)| *to = *from);
    let unscaled = i128::from_be_bytes(extended);
    (above.iter().all(|byte| *byte == sign) && (unscaled < 0) == negative).then_some(Value::Integer(unscaled))
}

/// Nanoseconds of the day, then the Julian day, both little-endian and signed. Nanoseconds beyond a day would put the
/// instant elsewhere than the order of INT96 has it, so they make no bound.
fn decode_int96(bytes: &[u8]) -> Option<Value> {
    let (nanoseconds, day) = bytes.split_first_chunk::<8>()?;
    let nanoseconds = i128::from(i64::from_le_bytes(*nanoseconds));
    let day = i128::from(i32::from_le_bytes(day.try_into().ok()?));
    let instant = (day - EPOCH_JULIAN_DAY) * NANOSECONDS_PER_DAY + nanoseconds;
    (0..NANOSECONDS_PER_DAY).contains(&nanoseconds).then_some(Value::Integer(instant))
}

#[cfg(test)]
mod tests {
    use prunus_statistics::TimeUnit;

    use super::super::annotation::Annotation;
    use super::super::test_footer::test_leaf;
    use super::*;

    fn check(stored: StoredType, annotation: Annotation, bytes: &[u8], expected: impl Into<Option<Value>>) {
        let leaf = test_leaf(stored, annotation);
        assert_eq!(decode_bound(bytes, &leaf), expected.into(), "{:?} {bytes:02x?}", leaf.column_type);
    }

    fn integer(value: i128) -> Value {
        Value::Integer(value)
    }

    #[test]
    fn integers_are_read_with_their_sign_and_within_their_width() {
        let narrow = |bits, signed| Annotation::Integer { bits, signed };
        check(StoredType::Int32, Annotation::Plain, &[0xff; 4], integer(-1));
        check(StoredType::Int32, narrow(32, false), &[0xff; 4], integer(u32::MAX.into()));
        check(StoredType::Int64, narrow(64, false), &[0xff; 8], integer(u64::MAX.into()));
        check(StoredType::Int32, narrow(8, false), &[0xff, 0, 0, 0], integer(255));
        check(StoredType::Int32, narrow(8, false), &[0xff; 4], None);
        check(StoredType::Int32, narrow(8, true), &[0x80, 0, 0, 0], None);
        check(
            StoredType::Int32,
            Annotation::Time(TimeUnit::Millisecond),
            &86_399_999_i32.to_le_bytes(),
            integer(86_399_999),
        );
        check(StoredType::Int32, Annotation::Time(TimeUnit::Millisecond), &86_400_000_i32.to_le_bytes(), None);
    }

    #[test]
    fn a_bound_of_another_length_than_its_type_is_none() {
        check(StoredType::Int32, Annotation::Plain, &[0; 3], None);
        check(StoredType::Int64, Annotation::Plain, &[0; 9], None);
        check(StoredType::Double, Annotation::Plain, &[], None);
        check(StoredType::Boolean, Annotation::Plain, &[0, 0], None);
        check(StoredType::Boolean, Annotation::Plain, &[2], None);
        check(StoredType::Fixed(3), Annotation::Plain, &[0; 2], None);
        check(StoredType::Int96, Annotation::Plain, &[0; 11], None);
        check(StoredType::ByteArray, Annotation::Plain, &[], Value::Bytes(Vec::new()));
    }

    #[test]
    fn decimals_are_read_by_value_whatever_their_length() {
        let decimal = Annotation::Decimal { precision: 20, scale: 2 };
        check(StoredType::ByteArray, decimal, &[0x80], integer(-128));
        check(StoredType::ByteArray, decimal, &[0x00, 0x80], integer(128));
        check(StoredType::ByteArray, decimal, &[0xff; 40], integer(-1));
        check(StoredType::ByteArray, decimal, &[], None);
        check(StoredType::ByteArray, decimal, &[&[0x01][..], &[0; 16]].concat(), None);
        // Bytes above the lowest 16 that hide the sign.
        check(StoredType::ByteArray, decimal, &[&[0x00][..], &[0xff; 16]].concat(), None);
        check(StoredType::Int32, Annotation::Decimal { precision: 2, scale: 0 }, &100_i32.to_le_bytes(), None);
    }

    #[test]
    fn an_int96_is_an_instant_only_with_its_nanoseconds_within_a_day() {
        let int96 = |nanoseconds: i64, day: i32| [&nanoseconds.to_le_bytes()[..], &day.to_le_bytes()].concat();
        check(StoredType::Int96, Annotation::Plain, &int96(5, 2_440_588), integer(5));
        check(StoredType::Int96, Annotation::Plain, &int96(86_399_999_999_999, 2_440_587), integer(-1));
        check(StoredType::Int96, Annotation::Plain, &int96(-1, 2_440_588), None);
        // A year that 64 bits of nanoseconds cannot hold.
        check(StoredType::Int96, Annotation::Plain, &int96(0, 5_373_484), None);
    }

    #[test]
    fn a_half_float_is_widened() {
        check(StoredType::Fixed(2), Annotation::Float16, &[0x00, 0xc5], Value::Float(-5.0));
        check(StoredType::Fixed(2), Annotation::Float16, &[0x00, 0x00, 0x00], None);
    }
}
