//! Values as text: what the API, partition paths and messages show and accept.

use std::fmt;

use crate::instant;
use crate::{Converted, Literal, LiteralError, PrimitiveType, SessionZone, Value};

/// Reads the text form of a value of a type: the inverse of [`Value::display`], and what a `key=value` path segment holds.
/// Binary and fixed are hexadecimal digits; a `timestamptz` needs its offset.
///
/// # Errors
/// [`LiteralError::Malformed`] if the text is not exactly one value of the type.
pub fn parse_value(text: &str, column_type: PrimitiveType) -> Result<Value, LiteralError> {
    let malformed = || LiteralError::Malformed { text: text.to_owned(), column_type };
    if let PrimitiveType::Binary | PrimitiveType::Fixed(_) = column_type {
        let value = parse_hex(text).map(Value::Bytes).ok_or_else(malformed)?;
        return if value.fits(column_type) { Ok(value) } else { Err(malformed()) };
    }
    match Literal::Text(text.to_owned()).convert(column_type, &SessionZone::Unknown)? {
        Converted::Exact(Value::Float(0.0)) if text.starts_with('-') => Ok(Value::Float(-0.0)),
        Converted::Exact(value) => Ok(value),
        Converted::Between(..) if column_type.is_float() => nearest(text, column_type).ok_or_else(malformed),
        Converted::Nan => Ok(Value::Float(f64::NAN)),
        _ => Err(malformed()),
    }
}

/// The float of the column's width that digits name: the nearest, and of two the even one.
fn nearest(text: &str, column_type: PrimitiveType) -> Option<Value> {
    let value = match column_type {
        PrimitiveType::Float32 => text.parse::<f32>().ok()?.into(),
        PrimitiveType::Float16 => half::f16::from_f64(text.parse().ok()?).to_f64(),
        _ => text.parse().ok()?,
    };
    Some(Value::Float(value))
}

/// Reads pairs of hexadecimal digits; `None` if the text is anything else.
pub fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

pub(crate) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// A value with the type that says what it means.
struct Display<'a> {
    value: &'a Value,
    column_type: PrimitiveType,
}

impl Value {
    /// The value as text, without quotes. What is not of the type is shown as it is stored.
    pub fn display(&self, column_type: PrimitiveType) -> impl fmt::Display + '_ {
        Display { value: self, column_type }
    }
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Float(value) => write_float(f, *value, self.column_type),
            Value::Integer(value) => write_integer(f, *value, self.column_type),
            Value::Bytes(bytes) => match (self.column_type, std::str::from_utf8(bytes)) {
                (PrimitiveType::String, Ok(text)) => f.write_str(text),
                (PrimitiveType::Uuid, _) if bytes.len() == 16 => match uuid::Uuid::from_slice(bytes) {
                    Ok(uuid) => write!(f, "{uuid}"),
                    Err(_) => write_hex(f, bytes),
                },
                _ => write_hex(f, bytes),
            },
        }
    }
}

fn write_integer(f: &mut fmt::Formatter<'_>, value: i128, column_type: PrimitiveType) -> fmt::Result {
    match column_type {
        PrimitiveType::Decimal { scale, .. } if scale > 0 => {
            let width = usize::from(scale) + 1;
            let digits = format!("{:0>width$}", value.unsigned_abs());
            let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
            write!(f, "{}{whole}.{fraction}", if value < 0 { "-" } else { "" })
        }
        PrimitiveType::Date => instant::write_date(f, value),
        PrimitiveType::Time(unit) => instant::write_time(f, value * unit.nanoseconds(), unit.fraction_digits()),
        PrimitiveType::Timestamp(unit) => {
            instant::write_timestamp(f, value * unit.nanoseconds(), unit.fraction_digits())
        }
        PrimitiveType::Timestamptz(unit) => {
            instant::write_timestamp(f, value * unit.nanoseconds(), unit.fraction_digits())?;
            f.write_str("Z")
        }
        _ => write!(f, "{value}"),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a narrow float was widened exactly, so narrowing it is exact")]
fn write_float(f: &mut fmt::Formatter<'_>, value: f64, column_type: PrimitiveType) -> fmt::Result {
    if value.is_nan() {
        f.write_str("NaN")
    } else if value.is_infinite() {
        f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else if column_type == PrimitiveType::Float64 {
        write!(f, "{value:?}")
    } else {
        write!(f, "{:?}", value as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_from_their_text() {
        for (column_type, text) in [
            ("boolean", "true"),
            ("int8", "-128"),
            ("uint64", "18446744073709551615"),
            ("float32", "0.1"),
            ("float32", "3.4028235e38"),
            ("float64", "0.1"),
            ("float64", "5e-324"),
            ("float16", "65504.0"),
            ("float64", "-0.0"),
            ("float64", "NaN"),
            ("float64", "-Infinity"),
            ("decimal(9,2)", "-0.05"),
            ("decimal(38,0)", "99999999999999999999999999999999999999"),
            ("string", "o'brien"),
            ("string", ""),
            ("binary", "00ff"),
            ("fixed(2)", "abcd"),
            ("uuid", "00112233-4455-6677-8899-aabbccddeeff"),
            ("date", "2024-01-31"),
            ("time(ms)", "23:59:59.999"),
            ("timestamp(s)", "2024-01-31T10:00:00"),
            ("timestamp(ns)", "1677-09-21T00:12:43.145224193"),
            ("timestamptz(us)", "2024-01-31T10:00:00.000001Z"),
            ("date", "+5881580-07-11"),
            ("date", "-5877641-06-23"),
            ("timestamp(ms)", "+010000-01-01T00:00:00.000"),
            ("timestamptz(s)", "+292277026596-12-04T15:30:07Z"),
            ("timestamp(s)", "-292277022657-01-27T08:29:52"),
        ] {
            let column_type: PrimitiveType = column_type.parse().unwrap();
            let value = parse_value(text, column_type).unwrap();
            assert_eq!(value.display(column_type).to_string(), text);
            assert!(value.fits(column_type), "{text} fits {column_type}");
        }
    }

    #[test]
    fn digits_between_two_floats_name_the_nearest() {
        let check = |text, column_type: PrimitiveType, expected| {
            assert_eq!(parse_value(text, column_type), Ok(Value::Float(expected)), "{text}");
        };
        check("16777219", PrimitiveType::Float32, 16_777_220.0);
        check("1e39", PrimitiveType::Float32, f64::INFINITY);
        check("9007199254740993", PrimitiveType::Float64, 9_007_199_254_740_992.0);
    }

    #[test]
    fn a_text_that_is_not_exactly_a_value_is_refused() {
        for (column_type, text) in [
            ("int8", "128"),
            ("int32", "1.5"),
            ("decimal(9,2)", "1.005"),
            ("timestamp(s)", "2024-01-31T10:00:00.5"),
            ("timestamptz(us)", "2024-01-31T10:00:00"),
            ("timestamp(us)", "2024-01-31T10:00:00Z"),
            ("date", "2024-01-31T10:00:00"),
            ("binary", "abc"),
            ("fixed(2)", "ab"),
            ("uuid", "zz"),
            ("boolean", "1"),
        ] {
            assert!(parse_value(text, column_type.parse().unwrap()).is_err(), "{text} as {column_type}");
        }
    }
}
