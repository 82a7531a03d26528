//! A value of a column and the order in which bounds speak of it.

use std::cmp::Ordering;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::PrimitiveType;

/// One value of a column, never null. What it means is up to the column's type, which stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A boolean; false comes before true.
    Boolean(bool),
    /// An integer, an unscaled decimal, days since 1970-01-01, or units of time (since midnight, or since 1970-01-01T00:00).
    Integer(i128),
    /// A float of any width; narrower ones are widened, which is exact.
    Float(f64),
    /// A string (UTF-8), binary, fixed or uuid value, ordered as unsigned bytes.
    Bytes(Vec<u8>),
}

impl Value {
    /// The order of two values of one column. Zeros are equal whatever their sign. `None` if one is NaN or if the two are
    /// not of one kind.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// Whether a column of this type can hold the value.
    pub fn fits(&self, column_type: PrimitiveType) -> bool {
        match (self, column_type) {
            (Self::Boolean(_), PrimitiveType::Boolean) => true,
            (Self::Integer(value), _) => {
                column_type.stored_range().is_some_and(|(low, high)| (low..=high).contains(value))
            }
            (Self::Float(_), _) => column_type.is_float(),
            (Self::Bytes(bytes), PrimitiveType::Fixed(length)) => u32::try_from(bytes.len()) == Ok(length),
            (Self::Bytes(bytes), PrimitiveType::Uuid) => bytes.len() == 16,
            (Self::Bytes(bytes), PrimitiveType::String) => std::str::from_utf8(bytes).is_ok(),
            (Self::Bytes(_), PrimitiveType::Binary) => true,
            _ => false,
        }
    }

    /// Whether this is the float NaN, of any sign or payload.
    pub fn is_nan(&self) -> bool {
        matches!(self, Self::Float(value) if value.is_nan())
    }

    /// Zero, false, or no bytes: what some writers store as both bounds of a column that has no value.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Boolean(value) => !value,
            Self::Integer(value) => *value == 0,
            Self::Float(value) => *value == 0.0,
            Self::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

/// In MessagePack a value is what it is there: a boolean, an integer, a float, binary; an integer beyond 64 bits is its
/// digits as a string.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => match i64::try_from(*value) {
                Ok(small) => serializer.serialize_i64(small),
                Err(_) => serializer.serialize_str(&value.to_string()),
            },
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;
        impl Visitor<'_> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a boolean, an integer, a float, binary, or the digits of a long integer")
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Boolean(value))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Integer(value.into()))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Integer(value.into()))
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
                Ok(Value::Float(value))
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Value, E> {
                Ok(Value::Bytes(bytes.to_vec()))
            }
            fn visit_str<E: de::Error>(self, digits: &str) -> Result<Value, E> {
                digits.parse().map(Value::Integer).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(AnyValue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_equal_and_nan_has_no_place() {
        let compare = |a: f64, b: f64| Value::Float(a).compare(&Value::Float(b));
        assert_eq!(compare(-0.0, 0.0), Some(Ordering::Equal));
        assert_eq!(compare(f64::NAN, 0.0), None);
        assert_eq!(compare(f64::NEG_INFINITY, f64::MIN), Some(Ordering::Less));
    }

    #[test]
    fn bytes_are_ordered_unsigned() {
        let high = Value::Bytes(vec![0xff]);
        assert_eq!(high.compare(&Value::Bytes(b"a".to_vec())), Some(Ordering::Greater));
    }

    #[test]
    fn a_value_outside_the_width_of_its_type_does_not_fit() {
        assert!(Value::Integer(127).fits(PrimitiveType::Int8));
        assert!(!Value::Integer(128).fits(PrimitiveType::Int8));
        assert!(!Value::Integer(-1).fits(PrimitiveType::UInt64));
        assert!(!Value::Integer(100).fits(PrimitiveType::Decimal { precision: 2, scale: 0 }));
        assert!(!Value::Bytes(vec![0xff]).fits(PrimitiveType::String));
    }
}
