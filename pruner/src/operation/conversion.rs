//! Conversions between domains: those that a comparison of two kinds needs, and casts.

use prunus_statistics::{Number, Value};

use super::arithmetic::to_float;
use super::calendar::ZONE_REACH_NANOSECONDS;
use super::{Side, float, integer, rising};
use crate::domain::DAY_NANOSECONDS;
use crate::interval::Interval;

/// From one domain to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// An integer or decimal to a decimal of `digits` more digits behind the point.
    ScaleUp { digits: u8 },
    /// A decimal to one of `digits` fewer, as engines truncate or round.
    ScaleDown { digits: u8 },
    /// An integer (scale 0) or decimal to a float, rounded outward.
    ToFloat { scale: u8 },
    /// A float to the nearest one of 32 bits, or as it is; beyond these some engines give null.
    ToSingle,
    /// A float to the nearest decimal of `digits` digits behind the point, or as it is.
    ToDecimal { digits: u8 },
    /// A float to an integer, as engines truncate or round.
    FloatToInteger,
    /// To a number from `smallest` to `largest`; beyond it engines wrap, give null or fail.
    Into { smallest: i128, largest: i128 },
    /// The same, for a cast that gives null beyond.
    TryInto { smallest: i128, largest: i128 },
    /// A number to a boolean: false for zero.
    NumberToBoolean,
    /// A boolean to 0 or 1.
    BooleanToInteger,
    /// A date to its midnight.
    DateToTimestamp,
    /// A timestamp to its date.
    TimestampToDate,
    /// A timestamp to its time of day.
    TimestampToTime,
    /// A local time to an instant, or an instant to a local time, in a zone that is not known.
    AcrossZones,
    /// A timestamp or time to one of milliseconds or finer, as engines truncate or round, or keep it.
    ToMilliseconds,
    /// A text to an integer.
    TextToInteger,
}

impl Conversion {
    pub(super) fn apply(self, operand: &Interval) -> Interval {
        match self {
            Self::ScaleUp { digits } => rising(operand, |value, _| {
                integer(value)?.checked_mul(10_i128.checked_pow(digits.into())?).map(Value::Integer)
            }),
            Self::ScaleDown { digits } => rising(operand, |value, side| {
                let unit = 10_i128.checked_pow(digits.into())?;
                Some(Value::Integer(divide(integer(value)?, unit, side)))
            }),
            Self::ToFloat { scale } => rising(operand, |value, side| scaled_to_float(integer(value)?, scale, side)),
            Self::ToSingle => single(operand),
            Self::ToDecimal { digits } => rising(operand, |value, side| Some(to_decimal(float(value)?, digits, side))),
            Self::FloatToInteger => {
                let image = rising(operand, |value, side| float_to_integer(float(value)?, side));
                // A NaN becomes null, zero or an error.
                if operand.may_be_nan {
                    Interval { may_be_value: true, may_be_nan: false, ..image.with_bounds(None, None) }.or_null()
                } else {
                    image
                }
            }
            Self::Into { smallest, largest } => {
                let inside = |bound: &Option<Value>| {
                    bound.as_ref().and_then(integer).is_some_and(|value| (smallest..=largest).contains(&value))
                };
                let certain = inside(&operand.low) && inside(&operand.high);
                if certain { operand.clone() } else { operand.clone().with_bounds(None, None).or_null() }
            }
            Self::TryInto { smallest, largest } => clamped(operand, smallest, largest),
            Self::NumberToBoolean => to_boolean(operand),
            Self::BooleanToInteger => rising(operand, |value, _| match value {
                Value::Boolean(value) => Some(Value::Integer((*value).into())),
                _ => None,
            }),
            Self::DateToTimestamp => {
                rising(operand, |value, _| integer(value)?.checked_mul(DAY_NANOSECONDS).map(Value::Integer))
            }
            Self::TimestampToDate => {
                rising(operand, |value, _| Some(Value::Integer(integer(value)?.div_euclid(DAY_NANOSECONDS))))
            }
            Self::TimestampToTime => to_time(operand),
            Self::AcrossZones => rising(operand, |value, side| {
                let reach = if side == Side::Low { -ZONE_REACH_NANOSECONDS } else { ZONE_REACH_NANOSECONDS };
                integer(value)?.checked_add(reach).map(Value::Integer)
            }),
            Self::ToMilliseconds => rising(operand, |value, side| {
                Some(Value::Integer(divide(integer(value)?, 1_000_000, side).checked_mul(1_000_000)?))
            }),
            Self::TextToInteger => match operand.pinned() {
                Some(Value::Bytes(text)) => {
                    let number = plain_integer(text).map(Value::Integer);
                    let read = operand.clone().with_bounds(number.clone(), number.clone());
                    if number.is_some() { read } else { read.or_null() }
                }
                _ => operand.clone().with_bounds(None, None).or_null(),
            },
        }
    }
}

/// The whole quotient below or above.
fn divide(value: i128, unit: i128, side: Side) -> i128 {
    let below = value.div_euclid(unit);
    if side == Side::High && value.rem_euclid(unit) != 0 { below + 1 } else { below }
}

/// The integer that a text is in its plain form, which all engines read.
fn plain_integer(text: &[u8]) -> Option<i128> {
    let number: i128 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

/// The float below or above an unscaled decimal, and one further where engines that round twice may miss the nearest.
fn scaled_to_float(value: i128, scale: u8, side: Side) -> Option<Value> {
    let unit = 10_i128.checked_pow(scale.into())?;
    if scale == 0 || (value % unit == 0 && value.unsigned_abs() < 1 << 53) {
        return Some(to_float(value / unit, side));
    }
    let (low, high) = Number::new(value, -i32::from(scale)).to_floats();
    Some(Value::Float(if side == Side::Low { low.next_down() } else { high.next_up() }))
}

/// A float of 32 bits, or as it is; beyond these some engines give null.
fn single(operand: &Interval) -> Interval {
    let image = rising(operand, |value, side| Some(to_single(float(value)?, side)));
    let fits =
        |bound: &Option<Value>| bound.as_ref().and_then(float).is_some_and(|bound| bound.abs() <= f64::from(f32::MAX));
    if fits(&operand.low) && fits(&operand.high) || !operand.may_be_value { image } else { image.or_null() }
}

/// The float of 32 bits below or above.
#[expect(clippy::cast_possible_truncation, reason = "the neighbour on the wanted side is taken")]
fn to_single(value: f64, side: Side) -> Value {
    let near = value as f32;
    let single = match side {
        Side::Low if f64::from(near) > value => near.next_down(),
        Side::High if f64::from(near) < value => near.next_up(),
        _ => near,
    };
    Value::Float(single.into())
}

/// What lies below or above the decimals that engines make of a float. Of large floats they lose digits when they scale them.
fn to_decimal(value: f64, digits: u8, side: Side) -> Value {
    let unit = 10_f64.powi(-i32::from(digits));
    Value::Float(match side {
        Side::Low => (value - unit).next_down().next_down(),
        Side::High => (value + unit).next_up().next_up(),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the value is checked to lie within the range")]
fn float_to_integer(value: f64, side: Side) -> Option<Value> {
    let whole = if side == Side::Low { value.floor() } else { value.ceil() };
    (whole.abs() < 1e30).then_some(Value::Integer(whole as i128))
}

/// What lies beyond the ends becomes null.
fn clamped(operand: &Interval, smallest: i128, largest: i128) -> Interval {
    let low = operand.low.as_ref().and_then(integer);
    let high = operand.high.as_ref().and_then(integer);
    if low.is_some_and(|low| low > largest) || high.is_some_and(|high| high < smallest) {
        return Interval { may_be_value: false, ..operand.clone().with_bounds(None, None) }.or_null();
    }
    let inside = low.is_some_and(|low| low >= smallest) && high.is_some_and(|high| high <= largest);
    let low = Value::Integer(low.unwrap_or(smallest).max(smallest));
    let high = Value::Integer(high.unwrap_or(largest).min(largest));
    let clamped = operand.clone().with_bounds(Some(low), Some(high));
    if inside { clamped } else { clamped.or_null() }
}

/// True for what may not be zero, NaN among it.
fn to_boolean(operand: &Interval) -> Interval {
    let is = |bound: &Option<Value>, test: fn(std::cmp::Ordering) -> bool| {
        let zero = match bound {
            Some(Value::Float(_)) => Value::Float(0.0),
            _ => Value::Integer(0),
        };
        bound.as_ref().and_then(|bound| bound.compare(&zero)).is_some_and(test)
    };
    let may_be_zero = operand.may_be_value
        && !is(&operand.low, std::cmp::Ordering::is_gt)
        && !is(&operand.high, std::cmp::Ordering::is_lt);
    let only_zero = is(&operand.low, std::cmp::Ordering::is_eq) && is(&operand.high, std::cmp::Ordering::is_eq);
    let may_be_true = operand.may_be_nan || (operand.may_be_value && !only_zero);
    Interval {
        low: Some(Value::Boolean(!may_be_zero)),
        high: Some(Value::Boolean(may_be_true)),
        may_be_null: operand.may_be_null,
        may_be_nan: false,
        may_be_value: operand.may_be_value || operand.may_be_nan,
    }
}

/// The time of day rises only within one day.
fn to_time(operand: &Interval) -> Interval {
    let ends = || {
        let (low, high) = (integer(operand.low.as_ref()?)?, integer(operand.high.as_ref()?)?);
        (low.div_euclid(DAY_NANOSECONDS) == high.div_euclid(DAY_NANOSECONDS))
            .then(|| (low.rem_euclid(DAY_NANOSECONDS), high.rem_euclid(DAY_NANOSECONDS)))
    };
    let (low, high) = ends().unwrap_or((0, DAY_NANOSECONDS));
    operand.clone().with_bounds(Some(Value::Integer(low)), Some(Value::Integer(high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: i128, high: i128) -> Interval {
        Interval::between(Value::Integer(low), Value::Integer(high))
    }

    fn floats(low: f64, high: f64) -> Interval {
        Interval::between(Value::Float(low), Value::Float(high))
    }

    #[track_caller]
    fn check(conversion: Conversion, operand: &Interval, expected: &Interval) {
        assert_eq!(&conversion.apply(operand), expected);
    }

    #[test]
    fn what_engines_round_differently_lies_between_floor_and_ceiling() {
        check(Conversion::FloatToInteger, &floats(-1.5, 2.5), &between(-2, 3));
        check(Conversion::ScaleDown { digits: 2 }, &between(-150, 250), &between(-2, 3));
        check(Conversion::ScaleUp { digits: 2 }, &between(-1, 2), &between(-100, 200));
        check(Conversion::ToFloat { scale: 2 }, &between(50, 200), &floats(0.5_f64.next_down(), 2.0));
    }

    #[test]
    fn beyond_the_target_a_cast_is_unknown_and_a_try_cast_null() {
        let (smallest, largest) = (-128, 127);
        check(Conversion::Into { smallest, largest }, &between(1, 127), &between(1, 127));
        check(Conversion::Into { smallest, largest }, &between(1, 128), &Interval::anything(false));
        check(Conversion::TryInto { smallest, largest }, &between(1, 128), &between(1, 127).or_null());
        check(Conversion::TryInto { smallest, largest }, &between(200, 300), &Interval::null());
    }

    #[test]
    fn zero_is_false_and_all_else_true() {
        let booleans = |low, high| Interval::between(Value::Boolean(low), Value::Boolean(high));
        check(Conversion::NumberToBoolean, &between(0, 0), &booleans(false, false));
        check(Conversion::NumberToBoolean, &between(-1, 0), &booleans(false, true));
        check(Conversion::NumberToBoolean, &between(1, 9), &booleans(true, true));
        check(Conversion::NumberToBoolean, &floats(-1.0, -0.5), &booleans(true, true));
    }

    #[test]
    fn a_time_of_day_rises_within_a_day() {
        let day = DAY_NANOSECONDS;
        check(Conversion::TimestampToTime, &between(day + 1, day + 5), &between(1, 5));
        check(Conversion::TimestampToTime, &between(day - 1, day + 5), &between(0, day));
        check(Conversion::TimestampToDate, &between(-1, day), &between(-1, 1));
    }
}
