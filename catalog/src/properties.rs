//! The properties of a table that the catalog itself acts on. All others are the owner's notes.

use std::collections::BTreeMap;

use crate::Fault;

/// What the catalog does about statistics when files are registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verification {
    /// Reads each footer, takes what it soundly offers, and holds declarations against it.
    #[default]
    Footer,
    /// Reads nothing and takes the writer's word.
    Declared,
}

/// How the catalog handles a table's statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatisticsProperties {
    pub(crate) verification: Verification,
    /// The longest bound of a string or binary column that is kept, in bytes.
    pub(crate) string_bound_bytes: usize,
}

const VERIFICATION: &str = "verification";
const STRING_BOUND_BYTES: &str = "string_bound_bytes";
const NAN_COUNTS: &str = "nan_counts";

const DEFAULT_STRING_BOUND_BYTES: usize = 64;
/// The longest bound of a string or binary column that a table may ask to keep.
const MAX_STRING_BOUND_BYTES: usize = 1024;

impl StatisticsProperties {
    /// Reads them from a table's properties; every fault found.
    pub(crate) fn parse(properties: &BTreeMap<String, String>) -> Result<Self, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut fault = |key: &str, message: String| faults.push(Fault::at(format!("properties.{key}"), message));
        let verification = match properties.get(VERIFICATION).map(String::as_str) {
            None | Some("footer") => Verification::Footer,
            Some("declared") => Verification::Declared,
            Some(other) => {
                fault(VERIFICATION, format!("verification `{other}` is not available: it is `footer` or `declared`"));
                Verification::default()
            }
        };
        let string_bound_bytes = match properties.get(STRING_BOUND_BYTES).map(|text| text.parse()) {
            None => DEFAULT_STRING_BOUND_BYTES,
            Some(Ok(bytes)) if (1..=MAX_STRING_BOUND_BYTES).contains(&bytes) => bytes,
            Some(_) => {
                fault(
                    STRING_BOUND_BYTES,
                    format!("string_bound_bytes is not a number from 1 to {MAX_STRING_BOUND_BYTES}"),
                );
                DEFAULT_STRING_BOUND_BYTES
            }
        };
        if let Some(other) = properties.get(NAN_COUNTS).filter(|value| *value != "unknown") {
            fault(NAN_COUNTS, format!("nan_counts `{other}` is not available: it is `unknown`"));
        }
        if faults.is_empty() { Ok(Self { verification, string_bound_bytes }) } else { Err(faults) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<StatisticsProperties, Vec<Fault>> {
        let owned = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        StatisticsProperties::parse(&owned.collect())
    }

    #[test]
    fn properties_that_are_absent_have_defaults() {
        let expected = StatisticsProperties { verification: Verification::Footer, string_bound_bytes: 64 };
        assert_eq!(parse(&[("owner", "me")]), Ok(expected));
    }

    #[test]
    fn every_value_that_is_none_is_a_fault() {
        let faults = parse(&[("verification", "no"), ("string_bound_bytes", "1025"), ("nan_counts", "at_commit")]);
        let at: Vec<_> = faults.unwrap_err().into_iter().filter_map(|fault| fault.at).collect();
        assert_eq!(at, ["properties.verification", "properties.string_bound_bytes", "properties.nan_counts"]);
        assert!(parse(&[("string_bound_bytes", "1024")]).is_ok());
        assert!(parse(&[("string_bound_bytes", "0")]).is_err());
    }
}
