//! Whole numbers of JSON, in which `7.0` is the integer that `7` is: JSON Schema says so, and some clients write it.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Floats from here on, either way, are no longer one step of a whole number apart.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// A whole number of JSON.
struct Whole<T>(T);

impl<'de, T: TryFrom<i128>> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor(PhantomData)).map(Self)
    }
}

struct WholeVisitor<T>(PhantomData<T>);

impl<T: TryFrom<i128>> Visitor<'_> for WholeVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_name::<T>())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::try_from(number.into()).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        T::try_from(number.into()).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is a whole number within the range of i64")]
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        if number.fract() == 0.0 && number.abs() <= EXACT_MAX {
            self.visit_i64(number as i64)
        } else {
            Err(E::invalid_type(Unexpected::Float(number), &self))
        }
    }
}

/// Reads a whole number, or null.
///
/// # Errors
/// If it is neither, or beyond the range of `T`.
pub fn optional<'de, D: Deserializer<'de>, T: TryFrom<i128>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<Whole<T>>::deserialize(deserializer)?.map(|whole| whole.0))
}

/// Reads a whole number.
///
/// # Errors
/// If it is none, or beyond the range of `T`.
pub fn required<'de, D: Deserializer<'de>, T: TryFrom<i128>>(deserializer: D) -> Result<T, D::Error> {
    Whole::deserialize(deserializer).map(|whole| whole.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: TryFrom<i128>>(text: &str) -> Result<Option<T>, String> {
        optional(&mut serde_json::Deserializer::from_str(text)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_whole_float_is_an_integer() {
        assert_eq!(read::<u64>("47.0"), Ok(Some(47)));
        assert_eq!(read::<i64>("-1e3"), Ok(Some(-1000)));
        assert_eq!(read::<i32>("7"), Ok(Some(7)));
        assert_eq!(read::<u64>("null"), Ok(None));
        assert_eq!(read::<u64>("18446744073709551615"), Ok(Some(u64::MAX)));
    }

    #[test]
    fn what_is_not_whole_or_beyond_the_range_is_refused() {
        assert_eq!(
            read::<u64>("1.5").unwrap_err(),
            "invalid type: floating point `1.5`, expected u64 at line 1 column 3"
        );
        assert_eq!(read::<u64>("-1").unwrap_err(), "invalid value: integer `-1`, expected u64 at line 1 column 2");
        assert_eq!(
            read::<i32>("2147483648").unwrap_err(),
            "invalid value: integer `2147483648`, expected i32 at line 1 column 10"
        );
        assert!(read::<u64>("1e30").is_err() && read::<u64>("\"1\"").is_err());
    }

    #[test]
    fn null_is_no_number() {
        assert!(required::<_, i64>(&mut serde_json::Deserializer::from_str("null")).is_err());
    }
}
