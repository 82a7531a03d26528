//! Statistics of columns as people read them.

use std::collections::BTreeMap;

use prunus_catalog::TableIdent;
use serde_json::Value;

use crate::client::{Client, ClientError};
use crate::wire::{FieldJson, PrecisionJson, ProvenanceJson, StatisticsJson, TypeJson};

use super::connection::Connection;
use super::prose::shortened;
use super::{Side, count, text_table};

/// How much of a value is shown.
const MAX_VALUE_CHARS: usize = 40;
/// What the number of NaNs is called.
const NANS: &str = "NaNs";

/// The columns of a table in its order, and which of them NaNs can be in. Of those that it does not have nothing is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns(Vec<(String, HasNans)>);

/// Whether a column can hold NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HasNans {
    Never,
    Perhaps,
}

impl Columns {
    /// Those of a table, for an answer that people are to read; JSON is as the API has it.
    pub(super) async fn for_people(
        client: &Client,
        table: &TableIdent,
        connection: &Connection,
    ) -> Result<Self, ClientError> {
        if connection.json {
            return Ok(Self::default());
        }
        Ok(Self::of(&client.load_table(table).await?.schema.fields))
    }

    fn of(fields: &[FieldJson]) -> Self {
        let has_nans = |column_type: &TypeJson| match column_type {
            TypeJson::Primitive(name) if !name.starts_with("float") => HasNans::Never,
            _ => HasNans::Perhaps,
        };
        Self(fields.iter().map(|field| (field.name.clone(), has_nans(&field.field_type))).collect())
    }

    /// Where the table has a column, or the one that it is in; behind all others if nowhere.
    fn place(&self, name: &str) -> usize {
        let is_it = |top: &str| name.strip_prefix(top).is_some_and(|below| below.is_empty() || below.starts_with('.'));
        self.0.iter().position(|(top, _)| is_it(top)).unwrap_or(usize::MAX)
    }

    fn has_nans(&self, name: &str) -> HasNans {
        self.0.iter().find(|(column, _)| column == name).map_or(HasNans::Perhaps, |(_, has_nans)| *has_nans)
    }

    /// A line for each statistic of each column: its value, how tight it is and where it came from. With the rows of the file it is told
    /// of which columns it holds no value.
    pub(super) fn table(&self, columns: &BTreeMap<String, StatisticsJson>, rows: Option<u64>) -> String {
        let mut ordered: Vec<(&str, &StatisticsJson)> =
            columns.iter().map(|(name, statistics)| (name.as_str(), statistics)).collect();
        // Stable: what the table does not have stays in the order of names.
        ordered.sort_by_key(|(name, _)| self.place(name));
        let shown = ordered.into_iter().map(|(name, statistics)| {
            let mut lines = lines_of(statistics, rows);
            if self.has_nans(name) == HasNans::Never && statistics.nan_count.is_none() {
                lines.retain(|[statistic, ..]| statistic != NANS);
            }
            (name, lines)
        });
        table(shown)
    }
}

fn table<'a>(columns: impl Iterator<Item = (&'a str, Vec<[String; 4]>)>) -> String {
    let mut table = text_table([
        ("column", Side::Left),
        ("statistic", Side::Left),
        ("value", Side::Left),
        ("precision", Side::Left),
        ("from", Side::Left),
    ]);
    for (mut name, lines) in columns {
        for line in lines {
            let [statistic, value, precision, provenance] = line;
            table.add_row([name, &statistic, &value, &precision, &provenance]);
            // It stands on the first of its lines.
            name = "";
        }
    }
    format!("{}\n", table.trim_fmt())
}

fn lines_of(statistics: &StatisticsJson, rows: Option<u64>) -> Vec<[String; 4]> {
    let from = statistics.provenance;
    let all_null = rows.is_some() && statistics.null_count == rows;
    let bound = |bound: Option<&Value>| bound.map(value).or_else(|| all_null.then(|| "no values".to_owned()));
    vec![
        row("min", bound(statistics.min.as_ref()), statistics.min_precision, from.min),
        row("max", bound(statistics.max.as_ref()), statistics.max_precision, from.max),
        row("nulls", statistics.null_count.map(count), None, from.null_count),
        row(NANS, statistics.nan_count.map(count), None, from.nan_count),
    ]
}

fn row(
    statistic: &str,
    value: Option<String>,
    precision: Option<PrecisionJson>,
    provenance: Option<ProvenanceJson>,
) -> [String; 4] {
    let value = value.unwrap_or_else(|| "unknown".to_owned());
    let precision = precision.map(precision_text).unwrap_or_default();
    let provenance = provenance.map(provenance_text).unwrap_or_default();
    [statistic.to_owned(), value, precision.to_owned(), provenance.to_owned()]
}

/// A value on one line: control characters are escaped, as a text of a file may hold any.
pub(super) fn value(json: &Value) -> String {
    let text = match json {
        Value::String(text) => text.escape_debug().to_string(),
        other => other.to_string(),
    };
    shortened(&text, MAX_VALUE_CHARS)
}

fn precision_text(precision: PrecisionJson) -> &'static str {
    match precision {
        PrecisionJson::Exact => "exact",
        PrecisionJson::Bound => "bound",
        PrecisionJson::Estimate => "estimate, not used",
    }
}

fn provenance_text(provenance: ProvenanceJson) -> &'static str {
    match provenance {
        ProvenanceJson::Declared => "declared",
        ProvenanceJson::Footer => "footer",
        ProvenanceJson::Scanned => "scanned",
        ProvenanceJson::Constant => "constant",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_statistic_has_its_precision_and_provenance() {
        let columns = json!({
            "name": {"min": "a\n", "max": "z".repeat(50), "min_precision": "exact", "max_precision": "bound",
                "null_count": 12_345, "provenance": {"min": "scanned", "max": "footer", "null_count": "footer"}},
            "price": {"min": 1.5, "min_precision": "estimate", "nan_count": 0,
                "provenance": {"min": "declared", "nan_count": "constant"}},
        });
        insta::assert_snapshot!(Columns::default().table(&serde_json::from_value(columns).unwrap(), None), @r"
        column   statistic   value                                       precision            from
        ───────────────────────────────────────────────────────────────────────────────────────────────
        name     min         a\n                                         exact                scanned
                 max         zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…   bound                footer
                 nulls       12,345                                                           footer
                 NaNs        unknown
        price    min         1.5                                         estimate, not used   declared
                 max         unknown
                 nulls       unknown
                 NaNs        0                                                                constant
        ");
    }

    #[test]
    fn columns_are_in_the_order_of_the_table_and_tell_of_nans_where_there_can_be_some() {
        let fields = json!([{"name": "z", "type": "int64"}, {"name": "a", "type": "float64"}]);
        let table = Columns::of(&serde_json::from_value::<Vec<_>>(fields).unwrap());
        let columns = json!({
            "a": {"null_count": 5, "provenance": {"null_count": "footer"}},
            "z": {"min": 1, "max": 2, "min_precision": "bound", "max_precision": "bound", "null_count": 0,
                "provenance": {"min": "footer", "max": "footer", "null_count": "footer"}},
        });
        insta::assert_snapshot!(table.table(&serde_json::from_value(columns).unwrap(), Some(5)), @r"
        column   statistic   value       precision   from
        ────────────────────────────────────────────────────
        z        min         1           bound       footer
                 max         2           bound       footer
                 nulls       0                       footer
        a        min         no values
                 max         no values
                 nulls       5                       footer
                 NaNs        unknown
        ");
    }
}
