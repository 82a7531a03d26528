//! Values as Iceberg writes bounds: the binary form of a single value of the type that a column has there. A bound that does not fit
//! gives way to a wider one, or to none: never to one that a value lies beyond.

use prunus_statistics::{PrimitiveType, TimeUnit, Value};

/// Which bound a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

/// The bound of a column of this type, if it can be said.
pub(super) fn encode(value: &Value, column_type: PrimitiveType, side: Side) -> Option<Vec<u8>> {
    match value {
        Value::Boolean(value) => Some(vec![u8::from(*value)]),
        Value::Integer(value) => integer(*value, column_type),
        Value::Float(value) if value.is_nan() || column_type == PrimitiveType::Float16 => None,
        Value::Float(value) => Some(float(with_both_zeros(*value, side), column_type, side)),
        Value::Bytes(bytes) if column_type == PrimitiveType::String => text(bytes, side),
        Value::Bytes(bytes) => Some(bytes.clone()),
    }
}

fn integer(value: i128, column_type: PrimitiveType) -> Option<Vec<u8>> {
    use PrimitiveType as P;
    let long = |value: i128| Some(i64::try_from(value).ok()?.to_le_bytes().to_vec());
    match column_type {
        P::Decimal { .. } => Some(minimal(value)),
        P::Int64 | P::Time(TimeUnit::Microsecond) => long(value),
        P::Timestamp(unit) | P::Timestamptz(unit) => long(microseconds(value, unit)?),
        P::Int8 | P::Int16 | P::Int32 | P::UInt8 | P::UInt16 | P::Date => {
            Some(i32::try_from(value).ok()?.to_le_bytes().to_vec())
        }
        // Columns of other types are none of Iceberg's, and no table that has them is loaded.
        _ => None,
    }
}

/// Exact: what is finer than a microsecond is of no type that Iceberg's format 2 has.
fn microseconds(value: i128, unit: TimeUnit) -> Option<i128> {
    match unit {
        TimeUnit::Second => value.checked_mul(1_000_000),
        TimeUnit::Millisecond => value.checked_mul(1_000),
        TimeUnit::Microsecond => Some(value),
        TimeUnit::Nanosecond => None,
    }
}

/// The fewest bytes that hold the number with its sign, the highest first.
fn minimal(value: i128) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let fill = if value < 0 { u8::MAX } else { 0 };
    let is_needed = |pair: &[u8]| matches!(pair, [first, second] if *first != fill || (first ^ second) >> 7 == 1);
    let start = bytes.windows(2).position(is_needed).unwrap_or(bytes.len() - 1);
    bytes.get(start..).unwrap_or_default().to_vec()
}

/// Iceberg's order has -0 before 0, and files may hold either where statistics have a zero.
fn with_both_zeros(value: f64, side: Side) -> f64 {
    match side {
        _ if value != 0.0 => value,
        Side::Lower => -0.0,
        Side::Upper => 0.0,
    }
}

fn float(value: f64, column_type: PrimitiveType, side: Side) -> Vec<u8> {
    if column_type != PrimitiveType::Float32 {
        return value.to_le_bytes().to_vec();
    }
    #[expect(clippy::cast_possible_truncation, reason = "what is lost is made up for below")]
    let near = value as f32;
    let bound = match side {
        Side::Lower if f64::from(near) > value => near.next_down(),
        Side::Upper if f64::from(near) < value => near.next_up(),
        _ => near,
    };
    bound.to_le_bytes().to_vec()
}

/// A bound that was cut within a character is no text. Cut before it, it is a lower one still.
fn text(bytes: &[u8], side: Side) -> Option<Vec<u8>> {
    match (std::str::from_utf8(bytes), side) {
        (Ok(_), _) => Some(bytes.to_vec()),
        (Err(error), Side::Lower) => bytes.get(..error.valid_up_to()).map(<[u8]>::to_vec),
        (Err(_), Side::Upper) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(value: &Value, column_type: &str, expected: &[u8]) {
        for side in [Side::Lower, Side::Upper] {
            let encoded = encode(value, column_type.parse().unwrap(), side);
            assert_eq!(encoded.as_deref(), Some(expected), "{value:?} {column_type}");
        }
    }

    /// Those that `pyiceberg.conversions.to_bytes` of PyIceberg 0.12 gives.
    #[test]
    fn values_are_written_as_others_write_them() {
        check(&Value::Boolean(true), "boolean", &[1]);
        check(&Value::Boolean(false), "boolean", &[0]);
        check(&Value::Integer(-128), "int8", &[0x80, 0xff, 0xff, 0xff]);
        check(&Value::Integer(300), "int16", &[0x2c, 1, 0, 0]);
        check(&Value::Integer(255), "uint8", &[0xff, 0, 0, 0]);
        check(&Value::Integer(1_704_067_200_000_000), "timestamp(us)", &[0, 0x20, 0x21, 0x10, 0xd7, 0x0d, 6, 0]);
        check(&Value::Bytes(b"abcd".to_vec()), "fixed(4)", b"abcd");
        check(&Value::Integer(-7), "int32", &[0xf9, 0xff, 0xff, 0xff]);
        check(&Value::Integer(65_535), "uint16", &[0xff, 0xff, 0, 0]);
        check(&Value::Integer(34), "int64", &[34, 0, 0, 0, 0, 0, 0, 0]);
        check(&Value::Integer(19_723), "date", &[0x0b, 0x4d, 0, 0]);
        check(&Value::Integer(36_000_000_000), "time(us)", &[0, 0x68, 0xc4, 0x61, 8, 0, 0, 0]);
        check(&Value::Integer(1_704_067_200), "timestamp(s)", &[0, 0x20, 0x21, 0x10, 0xd7, 0x0d, 6, 0]);
        check(&Value::Integer(1_704_067_200_000), "timestamptz(ms)", &[0, 0x20, 0x21, 0x10, 0xd7, 0x0d, 6, 0]);
        check(&Value::Float(-1.5), "float32", &[0, 0, 0xc0, 0xbf]);
        check(&Value::Float(0.1), "float64", &[0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f]);
        check(&Value::Integer(1_420), "decimal(9,2)", &[0x05, 0x8c]);
        check(&Value::Integer(0), "decimal(9,2)", &[0]);
        check(&Value::Integer(127), "decimal(9,2)", &[0x7f]);
        check(&Value::Integer(128), "decimal(9,2)", &[0, 0x80]);
        check(&Value::Integer(-128), "decimal(9,2)", &[0x80]);
        check(&Value::Integer(-129), "decimal(9,2)", &[0xff, 0x7f]);
        check(&Value::Integer(-1), "decimal(9,2)", &[0xff]);
        check(&Value::Bytes("é".into()), "string", "é".as_bytes());
        check(&Value::Bytes(vec![0xff]), "binary", &[0xff]);
        check(&Value::Bytes(vec![7; 16]), "uuid", &[7; 16]);
    }

    #[test]
    fn zeros_are_bounds_of_both_zeros() {
        for zero in [0.0, -0.0] {
            let of = |side| encode(&Value::Float(zero), PrimitiveType::Float64, side).unwrap();
            assert_eq!(
                (of(Side::Lower), of(Side::Upper)),
                ((-0.0_f64).to_le_bytes().to_vec(), 0.0_f64.to_le_bytes().to_vec())
            );
        }
    }

    #[test]
    fn what_is_no_bound_is_not_said() {
        let of = |value: Value, column_type: &str, side| encode(&value, column_type.parse().unwrap(), side);
        assert_eq!(of(Value::Float(f64::NAN), "float64", Side::Upper), None);
        assert_eq!(of(Value::Integer(i64::MAX.into()), "timestamp(s)", Side::Upper), None);
        for column_type in ["timestamp(ns)", "time(ms)", "time(ns)", "uint32", "uint64"] {
            assert_eq!(of(Value::Integer(1), column_type, Side::Upper), None, "{column_type}");
        }
        assert_eq!(of(Value::Float(1.0), "float16", Side::Upper), None);
        assert_eq!(of(Value::Bytes(b"a\xc3".to_vec()), "string", Side::Upper), None);
        assert_eq!(of(Value::Bytes(b"a\xc3".to_vec()), "string", Side::Lower).as_deref(), Some(b"a".as_slice()));
    }

    proptest! {
        #[test]
        fn narrow_floats_are_bounds_of_wide_ones(value in proptest::num::f64::NORMAL) {
            let of = |side| f32::from_le_bytes(float(value, PrimitiveType::Float32, side).try_into().unwrap());
            prop_assert!(f64::from(of(Side::Lower)) <= value && value <= f64::from(of(Side::Upper)));
        }

        #[test]
        fn decimals_read_back(value: i128) {
            let bytes = minimal(value);
            let fill = if value < 0 { 0xff } else { 0 };
            let mut wide = [fill; 16];
            wide[16 - bytes.len()..].copy_from_slice(&bytes);
            prop_assert_eq!(i128::from_be_bytes(wide), value);
        }
    }
}
