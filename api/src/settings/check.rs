//! Which values settings may have, beyond their types.

use prunus_catalog::{
    Fault, MAX_FILES_PER_COMMIT, MAX_FILTER_BYTES, MAX_FILTER_DEPTH, MAX_FILTER_WORDS, MAX_PAGE_SIZE,
};
use reqwest::Url;

use super::{LimitSettings, Settings};
use crate::router::MAX_BODY_BYTES;
use crate::server::{MAX_HEADER_BYTES, MAX_SECONDS};
use crate::telemetry;

/// From which value to which a limit goes, by its name.
struct Range {
    name: &'static str,
    min: u64,
    max: u64,
    of: fn(&LimitSettings) -> u64,
}

const fn range(name: &'static str, min: u64, max: u64, of: fn(&LimitSettings) -> u64) -> Range {
    Range { name, min, max, of }
}

const RANGES: [Range; 15] = [
    range("connections", 1, 1 << 20, |limits| limits.connections as u64),
    // The parser of heads needs no less.
    range("header_bytes", 8 << 10, MAX_HEADER_BYTES as u64, |limits| limits.header_bytes as u64),
    range("header_seconds", 1, MAX_SECONDS, |limits| limits.header_seconds),
    range("body_bytes", 1 << 10, MAX_BODY_BYTES as u64, |limits| limits.body_bytes as u64),
    range("body_seconds", 1, MAX_SECONDS, |limits| limits.body_seconds),
    range("write_seconds", 1, MAX_SECONDS, |limits| limits.write_seconds),
    range("request_seconds", 1, MAX_SECONDS, |limits| limits.request_seconds),
    range("files_per_commit", 1, MAX_FILES_PER_COMMIT as u64, |limits| limits.files_per_commit as u64),
    range("filter_bytes", 1, MAX_FILTER_BYTES as u64, |limits| limits.filter_bytes as u64),
    range("filter_words", 1, MAX_FILTER_WORDS as u64, |limits| limits.filter_words as u64),
    range("filter_depth", 1, MAX_FILTER_DEPTH as u64, |limits| limits.filter_depth as u64),
    range("page_size", 1, MAX_PAGE_SIZE as u64, |limits| limits.page_size.into()),
    range("plans_at_once", 1, 1_024, |limits| limits.plans_at_once as u64),
    range("plans_waiting", 0, 1 << 20, |limits| limits.plans_waiting as u64),
    range("changes_waiting", 1, 1_024, |limits| limits.changes_waiting as u64),
];

/// All that is wrong with the settings, each with its dotted path.
pub(super) fn faults(settings: &Settings) -> Vec<Fault> {
    let mut faults: Vec<Fault> = RANGES.iter().filter_map(|range| of_range(range, &settings.limits)).collect();
    let server = &settings.server;
    match (&server.tls_cert, &server.tls_key) {
        (Some(_), None) => faults.push(Fault::at("server.tls_key", "it is missing, and a certificate needs its key")),
        (None, Some(_)) => faults.push(Fault::at("server.tls_cert", "it is missing, and a key needs its certificate")),
        _ => {}
    }
    if server.shutdown_seconds > MAX_SECONDS {
        let message = format!("{} is more than {MAX_SECONDS}", server.shutdown_seconds);
        faults.push(Fault::at("server.shutdown_seconds", message));
    }
    if let Err(error) = settings.catalog_options() {
        faults.push(Fault::at("storage", error.to_string()));
    }
    if let Some(endpoint) = &settings.traces.otlp_endpoint
        && !is_plain_url(endpoint)
    {
        let message =
            "it is no URL that begins with http:// or https://, without a name, password, query or fragment in it";
        faults.push(Fault::at("traces.otlp_endpoint", message));
    }
    if let Some(Err(error)) = settings.log.filter.as_deref().map(telemetry::parse_filter) {
        faults.push(Fault::at("log.filter", format!("it is no filter of a log: {error}")));
    }
    faults
}

fn of_range(range: &Range, limits: &LimitSettings) -> Option<Fault> {
    let Range { name, min, max, of } = range;
    let value = of(limits);
    let message = || format!("{value} is not from {min} to {max}");
    (!(*min..=*max).contains(&value)).then(|| Fault::at(format!("limits.{name}"), message()))
}

fn is_plain_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn places(settings: Value) -> Vec<String> {
        let settings: Settings = serde_json::from_value(settings).unwrap();
        faults(&settings).into_iter().map(|fault| fault.at.unwrap()).collect()
    }

    #[test]
    fn the_defaults_are_right() {
        assert_eq!(places(json!({})), Vec::<String>::new());
    }

    #[test]
    fn every_limit_has_a_range_that_holds() {
        let limits = serde_json::to_value(LimitSettings::default()).unwrap();
        let mut names: Vec<&String> = limits.as_object().unwrap().keys().collect();
        names.sort_unstable();
        let mut ranged: Vec<&str> = RANGES.iter().map(|range| range.name).collect();
        ranged.sort_unstable();
        assert_eq!(ranged, names);
        for Range { name, min, max, .. } in RANGES {
            let places_of = |value: u64| places(json!({"limits": {name: value}}));
            assert_eq!((places_of(min), places_of(max)), (Vec::new(), Vec::new()), "{name}");
            let at = format!("limits.{name}");
            assert_eq!(places_of(max + 1), [at.clone()], "{name}");
            if min > 0 {
                assert_eq!(places_of(min - 1), [at], "{name}");
            }
        }
    }

    #[test]
    fn a_certificate_and_its_key_go_together() {
        assert_eq!(places(json!({"server": {"tls_cert": "c"}})), ["server.tls_key"]);
        assert_eq!(places(json!({"server": {"tls_key": "k"}})), ["server.tls_cert"]);
        assert_eq!(places(json!({"server": {"tls_cert": "c", "tls_key": "k"}})), Vec::<String>::new());
    }

    #[test]
    fn a_prefix_or_option_that_is_none_is_found() {
        assert_eq!(places(json!({"storage": {"allow": ["lake"]}})), ["storage"]);
        assert_eq!(places(json!({"storage": {"options": {"aws_sekret": "x"}}})), ["storage"]);
    }

    #[test]
    fn a_filter_of_the_log_reads() {
        assert_eq!(places(json!({"log": {"filter": "info,prunus=debug"}})), Vec::<String>::new());
        assert_eq!(places(json!({"log": {"filter": "prunus=loud"}})), ["log.filter"]);
    }

    #[test]
    fn an_endpoint_is_a_url_without_secrets() {
        for (endpoint, is_right) in [
            ("http://collector:4318", true),
            ("https://c/v1/traces", true),
            ("collector:4318", false),
            ("ftp://c", false),
            ("https://user:pass@c", false),
            ("https://c/v1/traces?key=hidden", false),
            ("https://c/v1/traces#hidden", false),
        ] {
            let found = places(json!({"traces": {"otlp_endpoint": endpoint}}));
            assert_eq!(found.is_empty(), is_right, "{endpoint}");
        }
    }
}
