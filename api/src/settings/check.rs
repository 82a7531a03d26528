//! Which values settings may have, beyond their types.

use prunus_catalog::Fault;
use reqwest::Url;

use super::{LimitSettings, Settings};
use crate::limits::{RANGES, Range};
use crate::server::MAX_SECONDS;
use crate::telemetry;

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
    fn a_limit_is_right_up_to_both_ends_of_its_range() {
        for Range { name, min, max, .. } in RANGES {
            let places_of = |value: u64| places(json!({"limits": {name: value}}));
            assert_eq!((places_of(min), places_of(max)), (Vec::new(), Vec::new()), "{name}");
            let at = format!("limits.{name}");
            assert_eq!(places_of(max + 1), std::slice::from_ref(&at), "{name}");
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
