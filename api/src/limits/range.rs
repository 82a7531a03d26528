//! From which value to which each limit goes that an operator sets. The page of limits is made of these, too.

use prunus_catalog::{
    MAX_CHANGES_WAITING, MAX_FILES_PER_COMMIT, MAX_FILTER_BYTES, MAX_FILTER_DEPTH, MAX_FILTER_WORDS, MAX_PAGE_SIZE,
    MAX_PLANS_AT_ONCE, MAX_PLANS_WAITING, MIN_FILTER_DEPTH,
};

use crate::router::MAX_BODY_BYTES;
use crate::server::{MAX_HEADER_BYTES, MAX_SECONDS};
use crate::settings::LimitSettings;

/// From which value to which a limit goes, by its name.
pub(crate) struct Range {
    pub(crate) name: &'static str,
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// The value that it has in settings.
    pub(crate) of: fn(&LimitSettings) -> u64,
}

const fn range(name: &'static str, min: u64, max: u64, of: fn(&LimitSettings) -> u64) -> Range {
    Range { name, min, max, of }
}

/// One for each limit. What lies in it is what holds: neither the catalog nor the server takes a nearer value for it.
pub(crate) const RANGES: [Range; 15] = [
    range("connections", 1, 1 << 20, |limits| limits.connections as u64),
    // The parser of heads needs no less.
    range("header_bytes", 8 << 10, MAX_HEADER_BYTES as u64, |limits| limits.header_bytes as u64),
    range("header_seconds", 1, MAX_SECONDS, |limits| limits.header_seconds),
    // With less no table could be created.
    range("body_bytes", 1 << 10, MAX_BODY_BYTES as u64, |limits| limits.body_bytes as u64),
    range("body_seconds", 1, MAX_SECONDS, |limits| limits.body_seconds),
    range("write_seconds", 1, MAX_SECONDS, |limits| limits.write_seconds),
    range("request_seconds", 1, MAX_SECONDS, |limits| limits.request_seconds),
    range("files_per_commit", 1, MAX_FILES_PER_COMMIT as u64, |limits| limits.files_per_commit as u64),
    range("filter_bytes", 1, MAX_FILTER_BYTES as u64, |limits| limits.filter_bytes as u64),
    range("filter_words", 1, MAX_FILTER_WORDS as u64, |limits| limits.filter_words as u64),
    range("filter_depth", MIN_FILTER_DEPTH as u64, MAX_FILTER_DEPTH as u64, |limits| limits.filter_depth as u64),
    range("page_size", 1, MAX_PAGE_SIZE as u64, |limits| limits.page_size.into()),
    range("plans_at_once", 1, MAX_PLANS_AT_ONCE as u64, |limits| limits.plans_at_once as u64),
    range("plans_waiting", 0, MAX_PLANS_WAITING as u64, |limits| limits.plans_waiting as u64),
    range("changes_waiting", 1, MAX_CHANGES_WAITING as u64, |limits| limits.changes_waiting as u64),
];

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn every_limit_has_a_range_with_its_default_in_it() {
        let limits = serde_json::to_value(LimitSettings::default()).unwrap();
        let mut names: Vec<&String> = limits.as_object().unwrap().keys().collect();
        names.sort_unstable();
        let mut ranged: Vec<&str> = RANGES.iter().map(|range| range.name).collect();
        ranged.sort_unstable();
        assert_eq!(ranged, names);
        for Range { name, min, max, of } in RANGES {
            let default = of(&LimitSettings::default());
            assert_eq!(limits[name], default, "{name}");
            assert!((min..=max).contains(&default), "{name}");
        }
    }

    #[test]
    fn the_catalog_takes_both_ends_as_they_are() {
        for end in [|range: &Range| range.min, |range: &Range| range.max] {
            let limits: Map<String, Value> =
                RANGES.iter().map(|range| (range.name.to_owned(), end(range).into())).collect();
            let limits: LimitSettings = serde_json::from_value(limits.into()).unwrap();
            let of_catalog = limits.of_catalog();
            assert_eq!(of_catalog.in_range(), of_catalog);
        }
    }
}
