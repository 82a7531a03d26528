//! `INTERVAL '...'`: a length of time in months, days and parts of days, which calendars and zones do not convert into each
//! other.

use std::fmt;

use crate::DateUnit;

/// A literal of an interval: how it was written, and how long it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalLiteral {
    text: String,
    unit: Option<DateUnit>,
    length: IntervalLength,
}

/// How long an interval is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalLength {
    /// Calendar months.
    pub months: i64,
    /// Calendar days.
    pub days: i64,
    /// Nanoseconds besides.
    pub nanoseconds: i128,
}

/// The most units of an interval; no calendar reaches further.
const MAX_COUNT: i64 = 1_000_000_000_000;
/// The most months and days of an interval: those of a million years.
const MAX_MONTHS: i64 = 12_000_000;
const MAX_DAYS: i64 = 366_000_000;

/// The unit of this name, in singular or plural, whatever its case.
pub(crate) fn unit_named(name: &str) -> Option<DateUnit> {
    DateUnit::named(name.strip_suffix(['s', 'S']).unwrap_or(name))
}

/// So many units.
fn times(unit: DateUnit, count: i64) -> IntervalLength {
    let months = |months| IntervalLength { months: count * months, ..IntervalLength::default() };
    let days = |days| IntervalLength { days: count * days, ..IntervalLength::default() };
    let part_of_day =
        |nanoseconds| IntervalLength { nanoseconds: i128::from(count) * nanoseconds, ..IntervalLength::default() };
    match unit {
        DateUnit::Microsecond => part_of_day(1_000),
        DateUnit::Millisecond => part_of_day(1_000_000),
        DateUnit::Second => part_of_day(1_000_000_000),
        DateUnit::Minute => part_of_day(60_000_000_000),
        DateUnit::Hour => part_of_day(3_600_000_000_000),
        DateUnit::Day => days(1),
        DateUnit::Week => days(7),
        DateUnit::Month => months(1),
        DateUnit::Quarter => months(3),
        DateUnit::Year => months(12),
    }
}

impl IntervalLiteral {
    /// Reads the text of an interval: a whole number of `unit`, or without one numbers with units such as `1 day 2 hours`.
    /// `None` for every other form, and for fractions: engines read these differently, or not at all.
    pub fn parse(text: &str, unit: Option<DateUnit>) -> Option<Self> {
        let length = if let Some(unit) = unit {
            times(unit, count(text)?)
        } else {
            let words: Vec<&str> = text.split(' ').collect();
            let (pairs, rest) = words.as_chunks::<2>();
            if pairs.is_empty() || !rest.is_empty() {
                return None;
            }
            pairs.iter().try_fold(IntervalLength::default(), |sum, [number, unit]| {
                Some(sum.plus(times(unit_named(unit)?, count(number)?)))
            })?
        };
        let is_held = length.months.abs() <= MAX_MONTHS && length.days.abs() <= MAX_DAYS;
        is_held.then(|| Self { text: text.to_owned(), unit, length })
    }

    /// How long it is.
    pub fn length(&self) -> IntervalLength {
        self.length
    }
}

impl IntervalLength {
    /// The same length backwards.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { months: -self.months, days: -self.days, nanoseconds: -self.nanoseconds }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            months: self.months.saturating_add(other.months),
            days: self.days.saturating_add(other.days),
            nanoseconds: self.nanoseconds.saturating_add(other.nanoseconds),
        }
    }
}

/// A whole number in its plain form.
fn count(text: &str) -> Option<i64> {
    let count: i64 = text.parse().ok()?;
    (count.abs() <= MAX_COUNT && count.to_string() == text).then_some(count)
}

/// The interval as SQL text.
impl fmt::Display for IntervalLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "INTERVAL '{}'", self.text)?;
        self.unit.map_or(Ok(()), |unit| write!(f, " {}", unit.name().to_ascii_uppercase()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, unit: Option<DateUnit>, expected: Option<(i64, i64, i128)>) {
        let read = IntervalLiteral::parse(text, unit).map(|interval| interval.length());
        let parts = read.map(|length| (length.months, length.days, length.nanoseconds));
        assert_eq!(parts, expected, "{text} {unit:?}");
    }

    #[test]
    fn whole_numbers_of_units_are_read() {
        check("7", Some(DateUnit::Day), Some((0, 7, 0)));
        check("-2", Some(DateUnit::Year), Some((-24, 0, 0)));
        check("1 hour", None, Some((0, 0, 3_600_000_000_000)));
        check("1 month -2 days 3 Minutes", None, Some((1, -2, 180_000_000_000)));
        check("2 weeks 1 quarter", None, Some((3, 14, 0)));
    }

    #[test]
    fn what_engines_read_differently_is_not_read() {
        for text in ["1.5", "", "1 day", "01", "+1", " 1", "1000000000001"] {
            check(text, Some(DateUnit::Day), None);
        }
        for text in
            ["7", "1 mon", "1 day ago", "02:00:00", "1-2", "P1D", "1  day", "1.5 hours", "one day", "1000000000 years"]
        {
            check(text, None, None);
        }
    }
}
