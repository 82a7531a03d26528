//! A date or timestamp moved by an interval.
//!
//! Months are added first and the day cut to the last of its month, then days, then what is left. On dates this never
//! decreases. On timestamps it does: 30 January 23:00 plus a month is 28 February 23:00, and 31 January 01:00 plus a month lies
//! before it. Where days are cut to one day, a bound is therefore that day's end.

use prunus_statistics::{Value, civil_from_days, days_from_civil};

use super::{Side, integer};
use crate::IntervalLength;
use crate::domain::{DAY_NANOSECONDS, Domain};
use crate::interval::Interval;

/// By how much values move, and in what engines differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) length: IntervalLength,
    /// How far from the exact result an engine may come out, in nanoseconds.
    pub(crate) slack: i128,
    /// The unit to which an engine may truncate the result, in nanoseconds.
    pub(crate) grain: i128,
}

impl Shift {
    /// Dates are days, all else is nanoseconds.
    pub(super) fn apply(self, domain: Domain, operand: &Interval) -> Interval {
        let unit = if domain == Domain::Date { DAY_NANOSECONDS } else { 1 };
        let ends = || {
            let (low, high) = (integer(operand.low.as_ref()?)?, integer(operand.high.as_ref()?)?);
            let (low, high) = (low.checked_mul(unit)?, high.checked_mul(unit)?);
            let moved = (self.moved(domain, low, Side::Low)?, self.moved(domain, high, Side::High)?);
            let held_in = width(low, high)?;
            (held_in == width(moved.0, moved.1)? || held_in == Width::Microseconds).then_some(moved)
        };
        match ends() {
            Some((low, high)) => operand
                .clone()
                .with_bounds(Some(Value::Integer(low.div_euclid(unit))), Some(Value::Integer(high.div_euclid(unit)))),
            // What overflows wraps, is null or fails.
            None => operand.clone().with_bounds(None, None).or_null(),
        }
    }

    fn moved(self, domain: Domain, value: i128, side: Side) -> Option<i128> {
        let IntervalLength { months, days, nanoseconds } = self.length;
        let (day, of_day) = (value.div_euclid(DAY_NANOSECONDS), value.rem_euclid(DAY_NANOSECONDS));
        let in_month = add_months(day, months)?;
        let neighbour = if side == Side::Low { day + 1 } else { day - 1 };
        let of_day = match side {
            _ if domain == Domain::Date || add_months(neighbour, months)? != in_month => of_day,
            Side::Low => 0,
            Side::High => DAY_NANOSECONDS - 1,
        };
        let exact = (in_month + i128::from(days)).checked_mul(DAY_NANOSECONDS)?.checked_add(of_day + nanoseconds)?;
        Some(match side {
            Side::Low => (exact - self.slack).div_euclid(self.grain) * self.grain,
            Side::High => -(-(exact + self.slack)).div_euclid(self.grain) * self.grain,
        })
    }
}

/// The same day some months later, or the last day of that month where it has fewer days.
fn add_months(day: i128, months: i64) -> Option<i128> {
    if months == 0 {
        return Some(day);
    }
    let (year, month, day) = civil_from_days(day);
    let months = i64::try_from(year).ok()?.checked_mul(12)?.checked_add(i64::try_from(month).ok()? - 1 + months)?;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    let first = i128::from(days_from_civil(year, month, 1));
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let days = i128::from(days_from_civil(next_year, next_month, 1)) - first;
    Some(first + day.min(days) - 1)
}

/// In which 64-bit timestamps values are held: beyond the years of nanoseconds it can only be in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Nanoseconds,
    Microseconds,
}

/// The narrowest width that holds both; `None` if none does.
fn width(low: i128, high: i128) -> Option<Width> {
    let held = |unit: i128| [low, high].into_iter().all(|value| i64::try_from(value.div_euclid(unit)).is_ok());
    if held(1) { Some(Width::Nanoseconds) } else { held(1_000).then_some(Width::Microseconds) }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::Literal;

    use super::*;

    fn nanoseconds(text: &str) -> i128 {
        match Literal::timestamp(text) {
            Some(Literal::Timestamp { nanoseconds, .. }) => nanoseconds,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn between(low: &str, high: &str) -> Interval {
        Interval::between(Value::Integer(nanoseconds(low)), Value::Integer(nanoseconds(high)))
    }

    #[track_caller]
    fn check(months: i64, days: i64, operand: &Interval, expected: &Interval) {
        let length = IntervalLength { months, days, nanoseconds: 0 };
        let shift = Shift { length, slack: 0, grain: 1 };
        assert_eq!(&shift.apply(Domain::Timestamp, operand), expected, "{length:?}");
    }

    #[test]
    fn days_move_both_ends() {
        check(0, -7, &between("2024-03-01", "2024-03-08T10:00:00"), &between("2024-02-23", "2024-03-01T10:00:00"));
    }

    #[test]
    fn days_that_are_cut_to_the_last_of_a_month_may_change_their_order() {
        let moved = between("2023-02-28T00:00:00", "2023-02-28T23:59:59.999999999");
        check(1, 0, &between("2023-01-30T23:00:00", "2023-01-31T01:00:00"), &moved);
        check(
            1,
            0,
            &between("2023-01-05T23:00:00", "2023-01-20T01:00:00"),
            &between("2023-02-05T23:00:00", "2023-02-20T01:00:00"),
        );
        let dates = Interval::between(Value::Integer(19_387), Value::Integer(19_388));
        let shift = Shift { length: IntervalLength { months: 1, ..IntervalLength::default() }, slack: 0, grain: 1 };
        assert_eq!(shift.apply(Domain::Date, &dates), Interval::point(Value::Integer(19_416)));
    }

    #[test]
    fn what_overflows_is_unknown() {
        let unknown = Interval::anything(false);
        check(12 * 300, 0, &between("2024-01-01", "2024-01-02"), &unknown);
        let open = between("2024-01-01", "2024-01-02").with_bounds(Some(Value::Integer(0)), None);
        check(0, 1, &open, &unknown);
        check(0, 1, &between("2024-01-01", "9999-12-30"), &between("2024-01-02", "9999-12-31"));
    }
}
