//! Literals as values of a column's type: exactly, or as the two neighbours between which they lie.

use std::cmp::Ordering;

use half::f16;

use crate::instant::{self, SessionZone};
use crate::{Literal, LiteralError, LiteralZone, Number, PrimitiveType, Value};

const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// What a literal is in a column's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Converted {
    /// This value and no other.
    Exact(Value),
    /// No value of the type: it lies between these two, which have no value between them or which bracket what different
    /// engines take it for. One of them may lie beyond what the type can hold.
    Between(Value, Value),
    /// Below every value that the type can hold.
    BelowRange,
    /// Above every value that the type can hold.
    AboveRange,
    /// The float NaN.
    Nan,
}

impl Literal {
    /// The literal as a value of a column's type. Nothing is rounded: what the type cannot hold comes back as its
    /// neighbours. A local time against a `timestamptz` column is read in `zone`.
    ///
    /// # Errors
    /// [`LiteralError::Mismatch`] if engines do not compare the two, [`LiteralError::Malformed`] if a text is not of the type.
    pub fn convert(&self, column_type: PrimitiveType, zone: &SessionZone) -> Result<Converted, LiteralError> {
        use PrimitiveType as T;
        let converted = match (self, column_type) {
            (Self::Text(text), _) => return convert_text(text, column_type, zone),
            (Self::Boolean(value), T::Boolean) => Some(Converted::Exact(Value::Boolean(*value))),
            (Self::Number(number), _) => convert_number(*number, column_type),
            (Self::Float(value), _) => convert_float(*value, column_type),
            (Self::Bytes(bytes), T::Binary | T::Fixed(_)) => Some(Converted::Exact(Value::Bytes(bytes.clone()))),
            (Self::Bytes(bytes), T::Uuid) if bytes.len() == 16 => Some(Converted::Exact(Value::Bytes(bytes.clone()))),
            (Self::Date(days), _) => {
                convert_moment(i128::from(*days) * DAY_NANOSECONDS, LiteralZone::Local, column_type, zone)
            }
            (Self::Time(nanoseconds), T::Time(unit)) => {
                Some(in_units(*nanoseconds, *nanoseconds, unit.nanoseconds(), column_type))
            }
            (Self::Timestamp { nanoseconds, zone: written }, _) => {
                convert_moment(*nanoseconds, *written, column_type, zone)
            }
            _ => None,
        };
        converted.ok_or_else(|| self.mismatch(column_type))
    }

    fn mismatch(&self, column_type: PrimitiveType) -> LiteralError {
        LiteralError::Mismatch { literal: self.to_string(), column_type }
    }
}

/// A quoted text takes the type of the column that it meets. Against binary columns engines read it in different ways
/// (bytes of the text, escapes, hexadecimal), so it is none of them.
fn convert_text(text: &str, column_type: PrimitiveType, zone: &SessionZone) -> Result<Converted, LiteralError> {
    use PrimitiveType as T;
    let converted = match column_type {
        T::String => Some(Converted::Exact(Value::Bytes(text.as_bytes().to_vec()))),
        T::Binary | T::Fixed(_) => return Err(Literal::Text(text.to_owned()).mismatch(column_type)),
        T::Boolean if text.eq_ignore_ascii_case("true") => Some(Converted::Exact(Value::Boolean(true))),
        T::Boolean if text.eq_ignore_ascii_case("false") => Some(Converted::Exact(Value::Boolean(false))),
        T::Boolean => None,
        T::Float16 | T::Float32 | T::Float64 => {
            special_float(text).or_else(|| convert_digits(Number::parse(text)?, column_type))
        }
        T::Date | T::Timestamp(_) | T::Timestamptz(_) => match Literal::timestamptz(text) {
            Some(Literal::Timestamp { nanoseconds, zone: written }) => {
                convert_moment(nanoseconds, written, column_type, zone)
            }
            _ => None,
        },
        T::Time(unit) => instant::parse_time(text).map(|time| in_units(time, time, unit.nanoseconds(), column_type)),
        T::Uuid => {
            uuid::Uuid::parse_str(text).ok().map(|uuid| Converted::Exact(Value::Bytes(uuid.into_bytes().to_vec())))
        }
        // Of a text that is no integer of the type engines make the nearest one, null or an error.
        integer if integer.is_integer() => Number::parse(text)
            .and_then(|number| convert_digits(number, column_type))
            .filter(|converted| matches!(converted, Converted::Exact(_))),
        _ => Number::parse(text).and_then(|number| convert_digits(number, column_type)),
    };
    converted.ok_or_else(|| LiteralError::Malformed { text: text.to_owned(), column_type })
}

fn special_float(text: &str) -> Option<Converted> {
    let (negative, name) = match text.strip_prefix('-') {
        Some(name) => (true, name),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if name.eq_ignore_ascii_case("nan") {
        return Some(Converted::Nan);
    }
    let infinite = name.eq_ignore_ascii_case("infinity") || name.eq_ignore_ascii_case("inf");
    let value = if negative { f64::NEG_INFINITY } else { f64::INFINITY };
    infinite.then_some(Converted::Exact(Value::Float(value)))
}

/// A number against a column: some engines take it for a float.
fn convert_number(number: Number, column_type: PrimitiveType) -> Option<Converted> {
    match stored_scale(column_type) {
        Some(scale) if may_be_read_as_float(number, scale) => Some(among_floats(number, scale, column_type)),
        Some(scale)
            if matches!(column_type, PrimitiveType::Decimal { .. }) && number.changes_by_way_of_float(scale) =>
        {
            Some(among_floats(number, scale, column_type))
        }
        _ => convert_digits(number, column_type),
    }
}

/// How many digits behind the point are stored, where integers are.
fn stored_scale(column_type: PrimitiveType) -> Option<u8> {
    match column_type {
        PrimitiveType::Decimal { scale, .. } => Some(scale),
        integer => integer.is_integer().then_some(0),
    }
}

/// Digits as what they are in the column's own type.
fn convert_digits(number: Number, column_type: PrimitiveType) -> Option<Converted> {
    use PrimitiveType as T;
    let scale = match column_type {
        T::Float16 => return Some(float_between(number, round_to_f16)),
        T::Float32 => return Some(float_between(number, round_to_f32)),
        T::Float64 => return Some(float_between(number, |value| (value, value))),
        stored => stored_scale(stored)?,
    };
    Some(match number.scaled(scale) {
        Ok((low, high)) => in_range(low, high, column_type),
        Err(Ordering::Less) => Converted::BelowRange,
        Err(_) => Converted::AboveRange,
    })
}

/// A float against a column of floats alone: what was written may have had other digits.
fn convert_float(value: f64, column_type: PrimitiveType) -> Option<Converted> {
    let (low, high) = match column_type {
        PrimitiveType::Float16 => round_to_f16(value),
        PrimitiveType::Float32 => round_to_f32(value),
        PrimitiveType::Float64 => (value, value),
        _ => return None,
    };
    Some(match (value.is_nan(), low == high) {
        (true, _) => Converted::Nan,
        (_, true) => Converted::Exact(Value::Float(low)),
        _ => Converted::Between(Value::Float(low), Value::Float(high)),
    })
}

/// Whether some engine compares integers or decimals with the number as 64-bit floats, and these do not tell all stored values
/// of its size apart: it is written as a float, or beyond the integers of 64 bits.
fn may_be_read_as_float(number: Number, scale: u8) -> bool {
    const FLOATS_TELL_APART: i128 = 1 << 53;
    let is_large =
        number.scaled(scale).map_or(true, |(low, high)| high >= FLOATS_TELL_APART || low <= -FLOATS_TELL_APART);
    let is_bigint = |value: i128| i64::try_from(value).is_ok() || u64::try_from(value).is_ok();
    let is_wide = number.scaled(0).map_or(true, |(low, high)| !is_bigint(low) || !is_bigint(high));
    is_large && (number.is_float_notation() || is_wide)
}

/// The stored values between which lie all that are the same float as the number.
fn among_floats(number: Number, scale: u8, column_type: PrimitiveType) -> Converted {
    let (low, high) = number.to_floats();
    // Shortest digits name a float and not its value, but never one that lies beyond the next.
    let scaled = |float: f64| Number::parse(&format!("{float:e}")).map(|number| number.scaled(scale));
    match (scaled(low.next_down().next_down()), scaled(high.next_up().next_up())) {
        (Some(Ok((low, _))), Some(Ok((_, high)))) => in_range(low, high, column_type),
        (Some(Err(Ordering::Greater)), _) => Converted::AboveRange,
        (_, Some(Err(Ordering::Less))) => Converted::BelowRange,
        (Some(Ok((low, _))), _) => in_range(low, i128::MAX, column_type),
        (_, Some(Ok((_, high)))) => in_range(i128::MIN, high, column_type),
        // Infinite, or beyond all that is stored on both sides.
        _ if low > 0.0 => Converted::AboveRange,
        _ => Converted::BelowRange,
    }
}

/// The neighbours of a number among the floats of a width; `round` gives those of a 64-bit float.
fn float_between(number: Number, round: impl Fn(f64) -> (f64, f64)) -> Converted {
    let (low, high) = number.to_floats();
    let (low, high) = (round(low).0, round(high).1);
    if low == high {
        Converted::Exact(Value::Float(low))
    } else {
        Converted::Between(Value::Float(low), Value::Float(high))
    }
}

/// The nearest 32-bit floats below and above, which are the same if it is one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to the narrower float is the purpose; the neighbour is then taken"
)]
pub(crate) fn round_to_f32(value: f64) -> (f64, f64) {
    let nearest = value as f32;
    match f64::from(nearest).partial_cmp(&value) {
        Some(Ordering::Less) => (nearest.into(), nearest.next_up().into()),
        Some(Ordering::Greater) => (nearest.next_down().into(), nearest.into()),
        _ => (nearest.into(), nearest.into()),
    }
}

/// The same for 16-bit floats.
pub(crate) fn round_to_f16(value: f64) -> (f64, f64) {
    let nearest = f16::from_f64(value);
    match nearest.to_f64().partial_cmp(&value) {
        Some(Ordering::Less) => (nearest.to_f64(), f16_neighbour(nearest, Ordering::Greater)),
        Some(Ordering::Greater) => (f16_neighbour(nearest, Ordering::Less), nearest.to_f64()),
        _ => (nearest.to_f64(), nearest.to_f64()),
    }
}

/// The next 16-bit float below or above one that is not the last on that side.
fn f16_neighbour(value: f16, side: Ordering) -> f64 {
    let bits = value.to_bits();
    let away_from_zero = value.is_sign_negative() == (side == Ordering::Less);
    let neighbour = match (value.to_f64() == 0.0, away_from_zero) {
        (true, _) => {
            if side == Ordering::Less {
                0x8001
            } else {
                0x0001
            }
        }
        (false, true) => bits + 1,
        (false, false) => bits - 1,
    };
    f16::from_bits(neighbour).to_f64()
}

/// A date or timestamp against a date, timestamp or timestamptz column.
fn convert_moment(
    nanoseconds: i128,
    written: LiteralZone,
    column_type: PrimitiveType,
    zone: &SessionZone,
) -> Option<Converted> {
    let (unit, zoned) = match column_type {
        PrimitiveType::Date => (DAY_NANOSECONDS, false),
        PrimitiveType::Timestamp(unit) => (unit.nanoseconds(), false),
        PrimitiveType::Timestamptz(unit) => (unit.nanoseconds(), true),
        _ => return None,
    };
    let (low, high) = match (written, zoned) {
        (LiteralZone::Offset, true) | (LiteralZone::Local, false) => (nanoseconds, nanoseconds),
        (LiteralZone::Local, true) => zone.instants(nanoseconds),
        (LiteralZone::Offset, false) => instant::within_reach(nanoseconds, 1),
        // Dropping the offset moves the time by as much as the offset, reading the rest in a zone by as much again.
        (LiteralZone::DoubtfulOffset, _) => instant::within_reach(nanoseconds, 2),
    };
    Some(in_units(low, high, unit, column_type))
}

fn in_units(low: i128, high: i128, unit: i128, column_type: PrimitiveType) -> Converted {
    let above = -(-high).div_euclid(unit);
    in_range(low.div_euclid(unit), above, column_type)
}

/// Two neighbours as stored integers, unless they lie beyond what the type can hold. Where only one does, engines may take
/// the literal for the other; but a fraction between two integers all compare exactly.
fn in_range(low: i128, high: i128, column_type: PrimitiveType) -> Converted {
    let (smallest, largest) = column_type.stored_range().unwrap_or((i128::MIN, i128::MAX));
    let exact = column_type.is_integer() && high.saturating_sub(low) <= 1;
    if high < smallest || (exact && low < smallest) {
        Converted::BelowRange
    } else if low > largest || (exact && high > largest) {
        Converted::AboveRange
    } else if low == high {
        Converted::Exact(Value::Integer(low))
    } else {
        Converted::Between(Value::Integer(low), Value::Integer(high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeUnit;

    fn convert(literal: &Literal, column_type: &str) -> Converted {
        literal.convert(column_type.parse().unwrap(), &SessionZone::Unknown).unwrap()
    }

    fn number(text: &str) -> Literal {
        Literal::Number(Number::parse(text).unwrap())
    }

    fn text(text: &str) -> Literal {
        Literal::Text(text.to_owned())
    }

    fn integer(value: i128) -> Converted {
        Converted::Exact(Value::Integer(value))
    }

    fn between(low: i128, high: i128) -> Converted {
        Converted::Between(Value::Integer(low), Value::Integer(high))
    }

    #[test]
    fn numbers_meet_integers() {
        assert_eq!(convert(&number("5"), "int8"), integer(5));
        assert_eq!(convert(&number("1.5"), "int8"), between(1, 2));
        assert_eq!(convert(&number("-1.5"), "int8"), between(-2, -1));
        assert_eq!(convert(&number("128"), "int8"), Converted::AboveRange);
        assert_eq!(convert(&number("127.5"), "int8"), Converted::AboveRange);
        assert_eq!(convert(&number("-0.5"), "uint8"), Converted::BelowRange);
        assert_eq!(convert(&number("1e300"), "int64"), Converted::AboveRange);
        assert_eq!(convert(&text("42"), "int64"), integer(42));
    }

    #[test]
    fn integers_that_floats_do_not_tell_apart_are_taken_for_each_other() {
        let power = 1_i128 << 53;
        let around = |text: &str, column_type: &str, value: i128| match convert(&number(text), column_type) {
            Converted::Between(Value::Integer(low), Value::Integer(high)) => {
                low < value && value < high && high - low < 200_000
            }
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(convert(&number("9007199254740993"), "int64"), integer(power + 1));
        assert!(around("9007199254740992.0", "int64", power + 1));
        assert!(around("9007199254740992e0", "int64", power + 1));
        assert_eq!(convert(&number("4503599627370496.0"), "int64"), integer(power / 2));
        assert_eq!(convert(&number("18446744073709551615"), "uint64"), integer(u64::MAX.into()));
        assert!(around("18446744073709551616", "uint64", u64::MAX.into()));
        assert!(around("1e16", "decimal(24,4)", 100_000_000_000_000_000_001));
        assert_eq!(convert(&number("1.5"), "decimal(24,4)"), integer(15_000));
        assert_eq!(convert(&number("1e300"), "int64"), Converted::AboveRange);
        assert_eq!(convert(&number("-1e300"), "decimal(38,4)"), Converted::BelowRange);
    }

    #[test]
    fn numbers_meet_decimals_by_value() {
        assert_eq!(convert(&number("1.5"), "decimal(9,2)"), integer(150));
        assert_eq!(convert(&number("1.005"), "decimal(9,2)"), between(100, 101));
        assert_eq!(convert(&number("99999999"), "decimal(9,2)"), Converted::AboveRange);
        assert_eq!(convert(&number("9999999.995"), "decimal(9,2)"), between(999_999_999, 1_000_000_000));
        assert_eq!(convert(&number("-10000000"), "decimal(9,2)"), Converted::BelowRange);
    }

    #[test]
    fn a_decimal_that_changes_by_way_of_a_float_is_one_of_its_neighbours() {
        assert_eq!(convert(&number("19.99"), "decimal(9,2)"), integer(1999));
        assert_eq!(convert(&number("9999999.99"), "decimal(9,2)"), between(999_999_998, 1_000_000_000));
        assert_eq!(convert(&number("-9999999.99"), "decimal(9,2)"), between(-1_000_000_000, -999_999_998));
        assert_eq!(convert(&number("9999999"), "decimal(9,2)"), integer(999_999_900));
        assert_eq!(convert(&text("9999999.99"), "decimal(9,2)"), integer(999_999_999));
    }

    #[test]
    fn numbers_meet_floats_between_their_neighbours() {
        let float = |low: f64, high: f64| Converted::Between(Value::Float(low), Value::Float(high));
        assert_eq!(convert(&number("0.5"), "float32"), Converted::Exact(Value::Float(0.5)));
        let nearest = 0.1_f32;
        assert_eq!(convert(&number("0.1"), "float32"), float(nearest.next_down().into(), nearest.into()));
        assert_eq!(convert(&number("1e39"), "float32"), float(f32::MAX.into(), f64::INFINITY));
        assert_eq!(convert(&number("65504"), "float16"), Converted::Exact(Value::Float(65504.0)));
        assert_eq!(convert(&number("65505"), "float16"), float(65504.0, f64::INFINITY));
        assert_eq!(convert(&number("-1e-30"), "float16"), float(-f16::from_bits(1).to_f64(), 0.0));
        assert_eq!(convert(&text("-Infinity"), "float64"), Converted::Exact(Value::Float(f64::NEG_INFINITY)));
        assert_eq!(convert(&text("NaN"), "float64"), Converted::Nan);
    }

    #[test]
    fn a_time_in_a_doubtful_zone_may_be_the_last_that_the_type_holds() {
        let last = i128::from(i64::MAX);
        let reach = 14 * 3600 * 1_000_000_000;
        let local = text("2262-04-11T23:47:16.854775807");
        assert_eq!(convert(&local, "timestamptz(ns)"), between(last - reach, last + reach));
        assert_eq!(convert(&text("2263-01-01"), "timestamptz(ns)"), Converted::AboveRange);
    }

    #[test]
    fn moments_meet_coarser_columns_between_their_neighbours() {
        let timestamp = Literal::timestamp("1969-12-31T23:59:59.9999").unwrap();
        assert_eq!(convert(&timestamp, "timestamp(ms)"), between(-1, 0));
        assert_eq!(convert(&timestamp, "timestamp(us)"), integer(-100));
        assert_eq!(convert(&timestamp, "date"), between(-1, 0));
        assert_eq!(convert(&Literal::date("1970-01-02").unwrap(), "timestamp(s)"), integer(86_400));
        assert_eq!(convert(&text("1970-01-02"), "date"), integer(1));
        assert_eq!(convert(&text("00:00:01"), "time(ms)"), integer(1000));
    }

    #[test]
    fn a_local_time_against_timestamptz_needs_a_zone() {
        let local = text("1970-01-02T00:00:00");
        let day = 86_400;
        assert_eq!(convert(&local, "timestamptz(s)"), between(day - 14 * 3600, day + 14 * 3600));
        let utc = SessionZone::named("UTC").unwrap();
        assert_eq!(local.convert(PrimitiveType::Timestamptz(TimeUnit::Second), &utc), Ok(integer(day)));
        assert_eq!(convert(&text("1970-01-02T00:00:00Z"), "timestamptz(s)"), integer(day));
        assert_eq!(convert(&text("1970-01-02T00:00:00Z"), "timestamp(s)"), between(day - 14 * 3600, day + 14 * 3600));
    }

    #[test]
    fn what_engines_do_not_compare_is_an_error() {
        for (literal, column_type) in [
            (number("5"), "string"),
            (text("abc"), "binary"),
            (Literal::Boolean(true), "int8"),
            (number("1"), "date"),
            (number("1"), "boolean"),
            (Literal::date("2024-01-01").unwrap(), "int32"),
            (Literal::date("2024-01-01").unwrap(), "time"),
        ] {
            let result = literal.convert(column_type.parse().unwrap(), &SessionZone::Unknown);
            assert!(
                matches!(result, Err(LiteralError::Mismatch { .. })),
                "{literal} against {column_type}: {result:?}"
            );
        }
        for (literal, column_type) in [
            ("x", "int8"),
            ("1.5", "int8"),
            ("300", "int8"),
            ("2024-13-01", "date"),
            ("yes", "boolean"),
            ("12", "uuid"),
        ] {
            let result = text(literal).convert(column_type.parse().unwrap(), &SessionZone::Unknown);
            assert!(
                matches!(result, Err(LiteralError::Malformed { .. })),
                "{literal} against {column_type}: {result:?}"
            );
        }
    }
}
