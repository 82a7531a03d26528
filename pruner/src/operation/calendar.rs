//! Dates and times: cut to a unit, or one field of them.
//!
//! A `timestamptz` is read in a zone that is not known, or whose offset changes: what depends on it holds for every offset of
//! up to 14 hours.

use prunus_statistics::{Value, civil_from_days, days_from_civil};

use super::{Side, integer, rising};
use crate::domain::{DAY_NANOSECONDS, Domain};
use crate::function::{DatePart, DateUnit};
use crate::interval::Interval;

/// How far local time may lie from UTC.
pub(super) const ZONE_REACH_NANOSECONDS: i128 = 14 * HOUR_NANOSECONDS;

/// How far the offset of a zone may move, and with it what a fixed length of time is on its clocks.
pub(crate) const MAX_ZONE_CHANGE_NANOSECONDS: i128 = 2 * ZONE_REACH_NANOSECONDS;

const HOUR_NANOSECONDS: i128 = 3_600_000_000_000;

impl DatePart {
    /// The domain of the field's values.
    pub(crate) fn domain(self) -> Domain {
        match self {
            Self::Second | Self::Epoch => Domain::Real,
            _ => Domain::INT32,
        }
    }

    /// The smallest and largest that the field can be; `None` where it has no ends.
    fn range(self) -> Option<(i128, i128)> {
        match self {
            Self::Year | Self::Epoch => None,
            Self::Quarter => Some((1, 4)),
            Self::Month => Some((1, 12)),
            Self::Day => Some((1, 31)),
            Self::DayOfWeek => Some((0, 7)),
            Self::DayOfYear => Some((1, 366)),
            Self::Hour => Some((0, 23)),
            Self::Minute => Some((0, 59)),
            Self::Second => Some((0, 61)),
        }
    }
}

/// `date_trunc`: cut down to the start of the unit; in a zone, what any offset may make of it. Dates are of the domain of
/// timestamps here, as midnights.
pub(super) fn truncate(unit: DateUnit, domain: Domain, operand: &Interval) -> Interval {
    let zoned = domain == Domain::Timestamptz
        && !matches!(unit, DateUnit::Microsecond | DateUnit::Millisecond | DateUnit::Second);
    rising(operand, |value, side| {
        let value = integer(value)?;
        Some(Value::Integer(match (side, zoned, unit) {
            (_, false, unit) if unit != DateUnit::Week => start_of(unit, value)?,
            // The start of the unit lies nowhere after the value itself.
            (Side::High, _, _) => value,
            (Side::Low, false, _) => value - 7 * DAY_NANOSECONDS,
            (Side::Low, true, DateUnit::Week) => value - 8 * DAY_NANOSECONDS,
            (Side::Low, true, unit) => start_of(unit, value - ZONE_REACH_NANOSECONDS)? - ZONE_REACH_NANOSECONDS,
        }))
    })
}

fn start_of(unit: DateUnit, value: i128) -> Option<i128> {
    let floor = |step: i128| value.div_euclid(step) * step;
    let (year, month, _) = civil_from_days(value.div_euclid(DAY_NANOSECONDS));
    let first_of = |month: i128| {
        let days = days_from_civil(i64::try_from(year).ok()?, i64::try_from(month).ok()?, 1);
        i128::from(days).checked_mul(DAY_NANOSECONDS)
    };
    match unit {
        DateUnit::Microsecond => Some(floor(1_000)),
        DateUnit::Millisecond => Some(floor(1_000_000)),
        DateUnit::Second => Some(floor(1_000_000_000)),
        DateUnit::Minute => Some(floor(60_000_000_000)),
        DateUnit::Hour => Some(floor(HOUR_NANOSECONDS)),
        DateUnit::Day => Some(floor(DAY_NANOSECONDS)),
        DateUnit::Week => None,
        DateUnit::Month => first_of(month),
        DateUnit::Quarter => first_of((month - 1) / 3 * 3 + 1),
        DateUnit::Year => first_of(1),
    }
}

/// `EXTRACT`: rising for the year and the epoch; for a finer field only where all coarser ones are the same at both ends, else
/// all that the field can be.
pub(super) fn extract(part: DatePart, domain: Domain, operand: &Interval) -> Interval {
    let reach = if domain == Domain::Timestamptz && part != DatePart::Epoch { ZONE_REACH_NANOSECONDS } else { 0 };
    let low = operand.low.as_ref().and_then(integer).map(|low| low - reach);
    let high = operand.high.as_ref().and_then(integer).map(|high| high + reach);
    let to_value = |value: i128, side: Side| match part.domain() {
        Domain::Real => Some(super::arithmetic::to_float(value, side)),
        _ => Some(Value::Integer(value)),
    };
    let (first, last) = match (part, low, high) {
        (DatePart::Year | DatePart::Epoch, low, high) => {
            (low.and_then(|low| field(part, low, Side::Low)), high.and_then(|high| field(part, high, Side::High)))
        }
        (part, Some(low), Some(high)) if part != DatePart::DayOfWeek && coarser(part, low) == coarser(part, high) => {
            (field(part, low, Side::Low), field(part, high, Side::High))
        }
        _ => (part.range().map(|(first, _)| first), part.range().map(|(_, last)| last)),
    };
    let (low, high) =
        (first.and_then(|first| to_value(first, Side::Low)), last.and_then(|last| to_value(last, Side::High)));
    Interval { may_be_nan: false, ..operand.clone() }.with_bounds(low, high)
}

/// What is fixed where the field may rise: the start of the next coarser unit.
fn coarser(part: DatePart, value: i128) -> Option<i128> {
    match part {
        DatePart::Quarter | DatePart::Month | DatePart::DayOfYear => start_of(DateUnit::Year, value),
        DatePart::Day => start_of(DateUnit::Month, value),
        DatePart::Hour => start_of(DateUnit::Day, value),
        DatePart::Minute => start_of(DateUnit::Hour, value),
        _ => start_of(DateUnit::Minute, value),
    }
}

fn field(part: DatePart, value: i128, side: Side) -> Option<i128> {
    let (year, month, day) = civil_from_days(value.div_euclid(DAY_NANOSECONDS));
    let second = |value: i128| value.div_euclid(1_000_000_000);
    let up = i128::from(side == Side::High && value.rem_euclid(1_000_000_000) != 0);
    Some(match part {
        // The year before the first is the year 0 in some engines and the year -1 in others.
        DatePart::Year => year - i128::from(side == Side::Low && year <= 0),
        DatePart::Quarter => (month - 1) / 3 + 1,
        DatePart::Month => month,
        DatePart::Day => day,
        DatePart::DayOfWeek => return None,
        DatePart::DayOfYear => (value - start_of(DateUnit::Year, value)?).div_euclid(DAY_NANOSECONDS) + 1,
        DatePart::Hour => second(value).rem_euclid(86_400) / 3_600,
        DatePart::Minute => second(value).rem_euclid(3_600) / 60,
        DatePart::Second => second(value).rem_euclid(60) + up,
        DatePart::Epoch => second(value) + up,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;

    fn at(text: &str) -> Value {
        match prunus_statistics::Literal::timestamp(text) {
            Some(prunus_statistics::Literal::Timestamp { nanoseconds, .. }) => Value::Integer(nanoseconds),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn between(low: &str, high: &str) -> Interval {
        Interval::between(at(low), at(high))
    }

    fn integers(low: i128, high: i128) -> Interval {
        Interval::between(Value::Integer(low), Value::Integer(high))
    }

    #[test]
    fn times_are_cut_down_also_before_the_epoch() {
        let check = |unit, low, high, expected: Interval| {
            assert_eq!(Operation::DateTrunc(unit).apply(Domain::Timestamp, &[between(low, high)]), expected);
        };
        let (low, high) = ("1969-12-31T23:30:00", "2024-05-17T10:20:30");
        check(DateUnit::Hour, low, high, between("1969-12-31T23:00:00", "2024-05-17T10:00:00"));
        check(DateUnit::Month, low, high, between("1969-12-01", "2024-05-01"));
        check(DateUnit::Quarter, low, high, between("1969-10-01", "2024-04-01"));
        check(DateUnit::Year, low, high, between("1969-01-01", "2024-01-01"));
        check(DateUnit::Week, low, high, between("1969-12-24T23:30:00", "2024-05-17T10:20:30"));
    }

    #[test]
    fn in_a_zone_a_unit_may_begin_earlier() {
        let day = Operation::DateTrunc(DateUnit::Day)
            .apply(Domain::Timestamptz, &[between("2024-05-17T10:00:00", "2024-05-17T10:00:00")]);
        assert_eq!(day, between("2024-05-15T10:00:00", "2024-05-17T10:00:00"));
    }

    #[test]
    fn a_field_rises_only_within_the_next_coarser_unit() {
        let check = |part, low, high, expected: Interval| {
            assert_eq!(Operation::Extract(part).apply(Domain::Timestamp, &[between(low, high)]), expected, "{part:?}");
        };
        check(DatePart::Year, "2023-05-01", "2024-02-01", integers(2023, 2024));
        check(DatePart::Month, "2023-05-01", "2024-02-01", integers(1, 12));
        check(DatePart::Month, "2024-02-01", "2024-05-31", integers(2, 5));
        check(DatePart::Day, "2024-02-10", "2024-02-29", integers(10, 29));
        check(DatePart::DayOfYear, "2024-02-10", "2024-12-31", integers(41, 366));
        check(DatePart::DayOfWeek, "2024-02-10", "2024-02-10", integers(0, 7));
        check(DatePart::Hour, "2024-02-10T03:00:00", "2024-02-10T05:59:00", integers(3, 5));
        check(DatePart::Hour, "2024-02-10T03:00:00", "2024-02-11T05:59:00", integers(0, 23));
        check(
            DatePart::Second,
            "2024-02-10T03:00:01.5",
            "2024-02-10T03:00:02.5",
            Interval::between(Value::Float(1.0), Value::Float(3.0)),
        );
    }
}
