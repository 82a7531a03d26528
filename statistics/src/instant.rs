//! Dates, times of day and instants as text, and the zone that a text without one is read in.

use std::borrow::Cow;
use std::fmt;

use jiff::civil;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// The calendar repeats itself after so many years, and so many days.
const CYCLE_YEARS: i64 = 400;
const CYCLE_DAYS: i64 = 146_097;

/// How many digits a year has that is written with its sign: as many as any column has.
const SIGNED_YEAR_DIGITS: std::ops::RangeInclusive<usize> = 6..=12;

/// A local time without a zone may be meant in any zone; none lies further from UTC than this.
const ZONE_REACH_NANOSECONDS: i128 = 14 * 3_600_000_000_000;

/// The zone in which a local time is turned into an instant.
#[derive(Clone, Debug, Default)]
pub enum SessionZone {
    /// Not known: the instant lies up to 14 hours to either side.
    #[default]
    Unknown,
    /// This zone.
    Known(TimeZone),
}

impl SessionZone {
    /// A zone by its IANA name, or `None` if there is none of that name.
    pub fn named(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().map(Self::Known)
    }

    /// Whether it is known to be UTC, in which clocks are never changed.
    pub fn is_utc(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Known(zone) => zone.to_fixed_offset().is_ok_and(jiff::tz::Offset::is_zero),
        }
    }

    /// The earliest and latest instant (nanoseconds since 1970-01-01T00:00Z) that a local time (the same, without zone) may
    /// mean.
    pub fn instants(&self, local: i128) -> (i128, i128) {
        self.instants_in_zone(local).unwrap_or_else(|| within_reach(local, 1))
    }

    fn instants_in_zone(&self, local: i128) -> Option<(i128, i128)> {
        let Self::Known(zone) = self else { return None };
        let civil = TimeZone::UTC.to_datetime(jiff::Timestamp::from_nanosecond(local).ok()?);
        let ambiguous = zone.to_ambiguous_timestamp(civil);
        let earlier = ambiguous.earlier().ok()?.as_nanosecond();
        let later = ambiguous.later().ok()?.as_nanosecond();
        Some((earlier.min(later), earlier.max(later)))
    }
}

/// The times that one may be taken for when a zone is dropped or assumed, `times` times over.
pub(crate) fn within_reach(nanoseconds: i128, times: i128) -> (i128, i128) {
    (nanoseconds - times * ZONE_REACH_NANOSECONDS, nanoseconds + times * ZONE_REACH_NANOSECONDS)
}

/// A timestamp as read: nanoseconds since 1970-01-01T00:00, and whether the text named an offset (then in UTC).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ParsedTimestamp {
    pub(crate) nanoseconds: i128,
    pub(crate) has_offset: bool,
}

/// Reads `2024-01-31`, as days since 1970-01-01. A year beyond 9999 or before 0 has a sign and at least six digits.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let (text, days_beyond) = within_calendar(text);
    let pieces = Pieces::parse(text.as_ref()).ok()?;
    (pieces.time().is_none() && is_plain(&pieces)).then(|| days_of(pieces.date()) + days_beyond)
}

/// Reads `10:20:30.5`, as nanoseconds since midnight.
pub(crate) fn parse_time(text: &str) -> Option<i128> {
    if is_leap_second(text) || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':' || byte == b'.') {
        return None;
    }
    text.parse().ok().map(nanoseconds_of_day)
}

/// Reads a date and time, with `T` or a blank between them, with or without an offset; a date alone is its midnight. A leap
/// second is refused: engines disagree on what it means.
pub(crate) fn parse_timestamp(text: &str) -> Option<ParsedTimestamp> {
    if is_leap_second(text) {
        return None;
    }
    let (text, days_beyond) = within_calendar(text);
    let pieces = Pieces::parse(text.as_ref()).ok()?;
    if pieces.time_zone_annotation().is_some() || (pieces.time().is_none() && !is_plain(&pieces)) {
        return None;
    }
    let midnight = i128::from(days_of(pieces.date()) + days_beyond) * DAY_NANOSECONDS;
    let local = midnight + pieces.time().map_or(0, nanoseconds_of_day);
    let offset = pieces.to_numeric_offset();
    let nanoseconds = local - offset.map_or(0, |offset| i128::from(offset.seconds()) * 1_000_000_000);
    Some(ParsedTimestamp { nanoseconds, has_offset: offset.is_some() })
}

/// The text with a year in reach of the library that reads it, and how many days the date lies beyond that: columns hold years
/// that it does not know, and what is printed of them is to be read again.
fn within_calendar(text: &str) -> (Cow<'_, str>, i64) {
    let Some((year, rest)) = signed_year(text) else { return (text.into(), 0) };
    let stand_in = year.rem_euclid(CYCLE_YEARS) + 2000;
    (format!("{stand_in}-{rest}").into(), (year - stand_in) / CYCLE_YEARS * CYCLE_DAYS)
}

/// The year that a text begins with, if it has a sign, and what follows. There is no year -0.
fn signed_year(text: &str) -> Option<(i64, &str)> {
    let (digits, rest) = text.strip_prefix(['+', '-'])?.split_once('-')?;
    let is_year = SIGNED_YEAR_DIGITS.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let year: i64 = digits.parse().ok().filter(|_| is_year)?;
    match (text.starts_with('-'), year) {
        (true, 0) => None,
        (true, year) => Some((-year, rest)),
        (false, year) => Some((year, rest)),
    }
}

fn is_plain(pieces: &Pieces<'_>) -> bool {
    pieces.offset().is_none() && pieces.time_zone_annotation().is_none()
}

fn is_leap_second(text: &str) -> bool {
    text.contains(":60")
}

fn nanoseconds_of_day(time: civil::Time) -> i128 {
    let seconds = i128::from(time.hour()) * 3600 + i128::from(time.minute()) * 60 + i128::from(time.second());
    seconds * 1_000_000_000 + i128::from(time.subsec_nanosecond())
}

fn days_of(date: civil::Date) -> i64 {
    days_from_civil(date.year().into(), date.month().into(), date.day().into())
}

/// The number of days from 1970-01-01 to a date of the proleptic Gregorian calendar: the inverse of [`civil_from_days`].
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Prints days since 1970-01-01 as a date of the proleptic Gregorian calendar, for every day that 64 bits can name.
pub(crate) fn write_date(f: &mut fmt::Formatter<'_>, days: i128) -> fmt::Result {
    let (year, month, day) = civil_from_days(days);
    if (0..=9999).contains(&year) {
        write!(f, "{year:04}-{month:02}-{day:02}")
    } else {
        write!(f, "{year:+07}-{month:02}-{day:02}")
    }
}

/// Prints nanoseconds since midnight with `digits` digits of the second's fraction.
pub(crate) fn write_time(f: &mut fmt::Formatter<'_>, nanoseconds: i128, digits: usize) -> fmt::Result {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let fraction = nanoseconds.rem_euclid(1_000_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    write!(f, "{hour:02}:{minute:02}:{second:02}")?;
    if digits > 0 {
        let all = format!("{fraction:09}");
        write!(f, ".{}", all.get(..digits).unwrap_or(&all))?;
    }
    Ok(())
}

/// Prints nanoseconds since 1970-01-01T00:00 as date and time.
pub(crate) fn write_timestamp(f: &mut fmt::Formatter<'_>, nanoseconds: i128, digits: usize) -> fmt::Result {
    write_date(f, nanoseconds.div_euclid(DAY_NANOSECONDS))?;
    f.write_str("T")?;
    write_time(f, nanoseconds.rem_euclid(DAY_NANOSECONDS), digits)
}

/// Year, month and day of a day number, after Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms": eras of 400
/// years that begin on the first of March.
pub fn civil_from_days(days: i128) -> (i128, i128, i128) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i128::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Date(i128);
    impl fmt::Display for Date {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_date(f, self.0)
        }
    }

    #[test]
    fn dates_print_as_they_are_read() {
        for text in
            ["1970-01-01", "2024-02-29", "1900-03-01", "0001-01-01", "9999-12-31", "1969-12-31", "-000001-12-31"]
        {
            assert_eq!(Date(parse_date(text).unwrap().into()).to_string(), text);
        }
        for days in [i32::MIN, -3_652_425, -719_529, -719_528, 2_932_896, 2_932_897, i32::MAX] {
            assert_eq!(parse_date(&Date(days.into()).to_string()), Some(days.into()));
        }
        assert_eq!(parse_date("1970-01-02"), Some(1));
        assert_eq!(parse_date("2023-02-29"), None);
        assert_eq!(parse_date("2024-01-01T00:00"), None);
    }

    #[test]
    fn a_year_that_is_written_otherwise_than_it_is_printed_is_refused() {
        for text in
            ["10000-01-01", "+10000-01-01", "-000000-01-01", "+0010000000000-01-01", "+010000-02-30", "+01000x-01-01"]
        {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn days_far_from_now_print_too() {
        assert_eq!(Date(-719_529).to_string(), "-000001-12-31");
        assert_eq!(Date(2_932_897).to_string(), "+010000-01-01");
        assert!(Date(i64::MAX.into()).to_string().starts_with('+'));
    }

    #[test]
    fn offsets_are_taken_into_account() {
        let plain = parse_timestamp("2024-01-31 10:00:00.5").unwrap();
        assert!(!plain.has_offset);
        assert_eq!(plain.nanoseconds.rem_euclid(1_000_000_000), 500_000_000);
        let zoned = parse_timestamp("2024-01-31T12:00:00.5+02:00").unwrap();
        assert!(zoned.has_offset);
        assert_eq!(zoned.nanoseconds, plain.nanoseconds);
        assert_eq!(parse_timestamp("2024-01-31T10:00:00.5Z").unwrap().nanoseconds, plain.nanoseconds);
        assert_eq!(parse_timestamp("2016-12-31T23:59:60Z"), None);
        let last = parse_timestamp("9999-12-31T23:59:59Z").unwrap();
        assert_eq!(last.nanoseconds, 253_402_300_799_000_000_000);
    }

    #[test]
    fn times_of_day() {
        assert_eq!(parse_time("01:00:00.000000001"), Some(3_600_000_000_001));
        assert_eq!(parse_time("24:00:00"), None);
        assert_eq!(parse_time("2024-01-01T01:00"), None);
    }

    #[test]
    fn a_local_time_in_a_fold_has_two_instants() {
        let berlin = SessionZone::named("Europe/Berlin").unwrap();
        let folded = parse_timestamp("2024-10-27T02:30:00").unwrap().nanoseconds;
        let (earliest, latest) = berlin.instants(folded);
        assert_eq!(latest - earliest, 3_600_000_000_000);
        let plain = parse_timestamp("2024-07-01T12:00:00").unwrap().nanoseconds;
        assert_eq!(berlin.instants(plain), (plain - 7_200_000_000_000, plain - 7_200_000_000_000));
        assert!(SessionZone::named("Mars/Olympus").is_none());
    }
}
