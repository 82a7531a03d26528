//! Times as they are written on a command line.

use jiff::civil::Date;
use jiff::{Span, SpanRelativeTo, Timestamp};
use prunus_catalog::{Clock, SystemClock};

/// A time in RFC 3339, from one, from a date, which is its first moment in UTC, or from an age such as `3d` or `12h`.
///
/// # Errors
/// A sentence that says what would do.
pub(super) fn time(text: &str) -> Result<String, String> {
    time_before(text, SystemClock.now_ms())
}

/// A time in RFC 3339, so long after now as a text such as `90d` or `12h` says.
///
/// # Errors
/// A sentence that says what would do.
pub(super) fn time_after(text: &str) -> Result<String, String> {
    const FORM: &str = "how long is as 90d or 12h";
    let span: Span = text.parse().map_err(|_| FORM)?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| FORM)?;
    let now = Timestamp::from_millisecond(SystemClock.now_ms()).map_err(|error| error.to_string())?;
    let end = now.checked_add(span).ok().filter(|_| span.is_positive());
    end.map(|time| time.to_string()).ok_or_else(|| FORM.to_owned())
}

fn time_before(text: &str, now_ms: i64) -> Result<String, String> {
    const FORM: &str = "a time is as 2026-01-31T12:00:00Z, as 2026-01-31, or an age such as 3d or 12h";
    // The API reads it itself, with whatever offset it has.
    if text.parse::<Timestamp>().is_ok() {
        return Ok(text.to_owned());
    }
    // As a date alone: a time without a zone would be read as its day.
    if let Ok(date) = text.parse::<Date>()
        && !text.contains([':', 'T', 't', ' '])
    {
        return Ok(format!("{date}T00:00:00Z"));
    }
    let age: Span = text.parse().map_err(|_| FORM)?;
    let age = age.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| FORM)?;
    let now = Timestamp::from_millisecond(now_ms).map_err(|error| error.to_string())?;
    // `3d` and `3d ago` are the same.
    now.checked_sub(age.abs()).map(|time| time.to_string()).map_err(|_| FORM.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_after_now_is_a_while_from_now() {
        let end: Timestamp = time_after("90d").unwrap().parse().unwrap();
        let left = end.as_millisecond() - SystemClock.now_ms();
        assert!((89 * 86_400_000..=90 * 86_400_000).contains(&left), "{left}");
        for text in ["", "0s", "-1d", "2 months", "2027-01-31"] {
            assert!(time_after(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_dates_and_ages_are_read() {
        let now_ms = "2026-01-31T12:00:00Z".parse::<Timestamp>().unwrap().as_millisecond();
        for (text, expected) in [
            ("2026-01-31T12:00:00+01:00", "2026-01-31T12:00:00+01:00"),
            ("2026-11-30", "2026-11-30T00:00:00Z"),
            ("3d", "2026-01-28T12:00:00Z"),
            ("3d ago", "2026-01-28T12:00:00Z"),
            ("36h", "2026-01-30T00:00:00Z"),
            ("2w", "2026-01-17T12:00:00Z"),
        ] {
            assert_eq!(time_before(text, now_ms).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "yesterday", "3", "2026-13-01", "2026-01-31T12:00:00", "1 month"] {
            assert!(time_before(text, now_ms).is_err(), "{text}");
        }
    }
}
