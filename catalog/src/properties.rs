//! The properties of a table that the catalog itself acts on. All others are the owner's notes.

use std::collections::BTreeMap;

use prunus_pruner::nearest;
use prunus_statistics::FieldId;

use crate::schema::{LeafColumn, Schema};
use crate::{Fault, column_ref};

/// What the catalog does about statistics when files are registered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verification {
    /// Reads each footer, takes what it soundly offers, and holds declarations against it.
    #[default]
    Footer,
    /// Reads the data as well, so that all is exact.
    Scan,
    /// Reads nothing and takes the writer's word.
    Declared,
}

/// When the NaNs of a column are counted whose footer does not say how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NanCounts {
    /// Behind the commit.
    #[default]
    Background,
    /// In the commit, which waits for it.
    AtCommit,
    /// Never, unless an audit is asked for.
    Unknown,
}

/// What of a column's statistics is kept. Partition values and columns that a file does not hold are, whatever this says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeptStatistics {
    None,
    /// Of nulls and NaNs.
    Counts,
    /// And the bounds.
    #[default]
    Bounds,
}

/// How the catalog handles a table's statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatisticsProperties {
    pub(crate) verification: Verification,
    pub(crate) nan_counts: NanCounts,
    /// The longest bound of a string or binary column that is kept, in bytes.
    pub(crate) string_bound_bytes: usize,
    /// Of the columns of which not all is kept, by their keys.
    columns: BTreeMap<String, KeptStatistics>,
}

const VERIFICATION: &str = "verification";
const STRING_BOUND_BYTES: &str = "string_bound_bytes";
const NAN_COUNTS: &str = "nan_counts";
/// Before the key of a column.
const STATISTICS_OF: &str = "statistics.";

const DEFAULT_STRING_BOUND_BYTES: usize = 64;
/// The longest bound of a string or binary column that a table may ask to keep.
const MAX_STRING_BOUND_BYTES: usize = 1024;

const VERIFICATIONS: [(&str, Verification); 3] =
    [("footer", Verification::Footer), ("scan", Verification::Scan), ("declared", Verification::Declared)];
const NAN_COUNTS_VALUES: [(&str, NanCounts); 3] =
    [("background", NanCounts::Background), ("at_commit", NanCounts::AtCommit), ("unknown", NanCounts::Unknown)];
const KEPT: [(&str, KeptStatistics); 3] =
    [("none", KeptStatistics::None), ("counts", KeptStatistics::Counts), ("bounds", KeptStatistics::Bounds)];

impl StatisticsProperties {
    /// Reads them from a table's properties; every fault found.
    pub(crate) fn parse(properties: &BTreeMap<String, String>) -> Result<Self, Vec<Fault>> {
        let mut reading = Reading { properties, faults: Vec::new() };
        let parsed = Self {
            verification: reading.one_of(VERIFICATION, &VERIFICATIONS),
            nan_counts: reading.one_of(NAN_COUNTS, &NAN_COUNTS_VALUES),
            string_bound_bytes: reading.string_bound_bytes(),
            columns: properties
                .keys()
                .filter_map(|key| Some((key.strip_prefix(STATISTICS_OF)?.to_owned(), reading.one_of(key, &KEPT))))
                .collect(),
        };
        if reading.faults.is_empty() { Ok(parsed) } else { Err(reading.faults) }
    }

    /// Reads them, and holds them against the table's columns.
    pub(crate) fn parse_for(properties: &BTreeMap<String, String>, schema: &Schema) -> Result<Self, Vec<Fault>> {
        let mut columns = schema.leaf_columns();
        columns.extend(schema.item_columns());
        let keys = properties.keys().filter_map(|key| key.strip_prefix(STATISTICS_OF));
        let unknown = keys.filter(|key| column_ref::find(&columns, key).is_none());
        let of_columns: Vec<Fault> = unknown
            .map(|key| {
                let at = format!("properties.{STATISTICS_OF}{key}");
                Fault::at(at, column_ref::unknown(key, &columns, &[])).in_column(key)
            })
            .collect();
        match Self::parse(properties) {
            Ok(parsed) if of_columns.is_empty() => Ok(parsed),
            Ok(_) => Err(of_columns),
            Err(faults) => Err(faults.into_iter().chain(of_columns).collect()),
        }
    }

    /// What is kept of each of these columns, where it is not all. A key that names none of them was a column's that has been
    /// renamed or dropped since.
    pub(crate) fn kept(&self, columns: &[LeafColumn], items: &[LeafColumn]) -> BTreeMap<FieldId, KeptStatistics> {
        let kept = self.columns.iter().filter(|(_, kept)| **kept != KeptStatistics::Bounds);
        let find = |key| column_ref::find(columns, key).or_else(|| column_ref::find(items, key));
        kept.filter_map(|(key, kept)| Some((find(key)?.id, *kept))).collect()
    }
}

/// Properties that are being read, with what is wrong with them.
struct Reading<'p> {
    properties: &'p BTreeMap<String, String>,
    faults: Vec<Fault>,
}

impl Reading<'_> {
    fn fault(&mut self, key: &str, message: String) {
        self.faults.push(Fault::at(format!("properties.{key}"), message));
    }

    fn one_of<T: Copy + Default>(&mut self, key: &str, values: &[(&str, T)]) -> T {
        let Some(text) = self.properties.get(key) else { return T::default() };
        if let Some((_, value)) = values.iter().find(|(name, _)| name == text) {
            return *value;
        }
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let suggestion = nearest(text, names.iter().copied()).map(|name| format!("; did you mean `{name}`?"));
        let message = format!("`{text}` is none of `{}`{}", names.join("`, `"), suggestion.unwrap_or_default());
        self.fault(key, message);
        T::default()
    }

    fn string_bound_bytes(&mut self) -> usize {
        match self.properties.get(STRING_BOUND_BYTES).map(|text| text.parse()) {
            None => DEFAULT_STRING_BOUND_BYTES,
            Some(Ok(bytes)) if (1..=MAX_STRING_BOUND_BYTES).contains(&bytes) => bytes,
            Some(_) => {
                let message = format!("string_bound_bytes is not a number from 1 to {MAX_STRING_BOUND_BYTES}");
                self.fault(STRING_BOUND_BYTES, message);
                DEFAULT_STRING_BOUND_BYTES
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_json::schema_from_text;

    fn properties(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn parse(pairs: &[(&str, &str)]) -> Result<StatisticsProperties, Vec<Fault>> {
        StatisticsProperties::parse(&properties(pairs))
    }

    fn schema() -> Schema {
        let text = r#"[{"id": 1, "name": "a", "type": "int32"}, {"id": 2, "name": "b.c", "type": "int32"},
            {"id": 3, "name": "l", "type": {"type": "list", "element_id": 4, "element": "int32"}}]"#;
        schema_from_text(text).unwrap()
    }

    fn kept(pairs: &[(&str, &str)]) -> BTreeMap<FieldId, KeptStatistics> {
        parse(pairs).unwrap().kept(&schema().leaf_columns(), &schema().item_columns())
    }

    #[test]
    fn properties_that_are_absent_have_defaults() {
        let expected = StatisticsProperties {
            verification: Verification::Footer,
            nan_counts: NanCounts::Background,
            string_bound_bytes: 64,
            columns: BTreeMap::new(),
        };
        assert_eq!(parse(&[("owner", "me")]), Ok(expected));
    }

    #[test]
    fn every_value_that_is_none_is_a_fault() {
        let faults = parse(&[
            ("verification", "no"),
            ("string_bound_bytes", "1025"),
            ("nan_counts", "never"),
            ("statistics.a", "some"),
        ])
        .unwrap_err();
        let at: Vec<&str> = faults.iter().filter_map(|fault| fault.at.as_deref()).collect();
        let expected = ["verification", "nan_counts", "string_bound_bytes", "statistics.a"];
        assert_eq!(at, expected.map(|key| format!("properties.{key}")));
        assert_eq!(faults[0].message, "`no` is none of `footer`, `scan`, `declared`");
        assert!(parse(&[("string_bound_bytes", "1024")]).is_ok());
        assert!(parse(&[("string_bound_bytes", "0")]).is_err());
    }

    #[test]
    fn what_is_kept_of_a_column_goes_by_its_key() {
        let pairs = [("statistics.a", "none"), ("statistics.\"b.c\"", "counts"), ("statistics.#2", "counts")];
        let expected = [(FieldId(1), KeptStatistics::None), (FieldId(2), KeptStatistics::Counts)];
        assert_eq!(kept(&pairs), expected.into());
        assert_eq!(kept(&[("statistics.l.element", "none")]), [(FieldId(4), KeptStatistics::None)].into());
    }

    #[test]
    fn the_key_of_no_column_is_a_fault_where_it_is_set_and_none_later() {
        let set = [("statistics.z", "none")];
        let faults = StatisticsProperties::parse_for(&properties(&set), &schema()).unwrap_err();
        assert_eq!(faults[0].column.as_deref(), Some("z"));
        assert!(kept(&set).is_empty());
    }
}
