//! Times: RFC 3339 in and out, milliseconds since 1970-01-01T00:00Z within.

use jiff::Timestamp;
use prunus_catalog::{Fault, SnapshotId, SnapshotRef};

/// RFC 3339 in UTC with milliseconds. A time beyond the year 9999 is shown as the last one that can be.
pub(crate) fn to_rfc3339(time_ms: i64) -> String {
    let nearest = if time_ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
    format!("{:.3}", Timestamp::from_millisecond(time_ms).unwrap_or(nearest))
}

/// The snapshot that a request names by its id or by a time, not both.
pub(crate) fn snapshot_ref(snapshot_id: Option<i64>, as_of: Option<&str>) -> Result<SnapshotRef, Vec<Fault>> {
    match (snapshot_id, as_of) {
        (None, None) => Ok(SnapshotRef::Current),
        (Some(snapshot_id), None) => Ok(SnapshotRef::Id(SnapshotId(snapshot_id))),
        (None, Some(text)) => {
            // Snapshots are timed in whole milliseconds: those at or before a time are those at or before its floor.
            parse_time("as_of", text).map(SnapshotRef::AsOf)
        }
        (Some(_), Some(_)) => Err(vec![Fault::at("as_of", "snapshot_id and as_of exclude each other")]),
    }
}

/// An RFC 3339 time in the field `at` of a request, cut to whole milliseconds.
pub(crate) fn parse_time(at: &str, text: &str) -> Result<i64, Vec<Fault>> {
    let fault = |_| {
        let message = format!("`{text}` is not an RFC 3339 time such as 2024-01-31T12:00:00Z");
        vec![Fault::at(at, message)]
    };
    text.parse().map(floor_to_ms).map_err(fault)
}

fn floor_to_ms(time: Timestamp) -> i64 {
    let ms = time.as_millisecond();
    let truncated_upwards = time.subsec_nanosecond() % 1_000_000 < 0;
    if truncated_upwards { ms - 1 } else { ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_utc_with_milliseconds() {
        assert_eq!(to_rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(to_rfc3339(1_706_702_400_050), "2024-01-31T12:00:00.050Z");
        assert_eq!(to_rfc3339(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(to_rfc3339(i64::MAX).get(..4), Some("9999"));
    }

    #[test]
    fn a_snapshot_is_named_by_id_or_time() {
        assert_eq!(snapshot_ref(None, None), Ok(SnapshotRef::Current));
        assert_eq!(snapshot_ref(Some(7), None), Ok(SnapshotRef::Id(SnapshotId(7))));
        let as_of = |text| snapshot_ref(None, Some(text));
        assert_eq!(as_of("2024-01-31T13:00:00.0509+01:00"), Ok(SnapshotRef::AsOf(1_706_702_400_050)));
        assert_eq!(as_of("1969-12-31T23:59:59.9995Z"), Ok(SnapshotRef::AsOf(-1)));
        for text in ["2024-01-31", "2024-01-31T12:00:00", "yesterday", ""] {
            assert_eq!(as_of(text).unwrap_err()[0].at.as_deref(), Some("as_of"), "{text}");
        }
    }

    #[test]
    fn id_and_time_exclude_each_other() {
        assert!(snapshot_ref(Some(1), Some("2024-01-31T12:00:00Z")).is_err());
    }
}
