//! Statistics of columns as people read them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::wire::{PrecisionJson, ProvenanceJson, StatisticsJson};

use super::prose::shortened;
use super::{Side, count, text_table};

/// How much of a value is shown.
const MAX_VALUE_CHARS: usize = 40;

/// A line for each statistic of each column: its value, how tight it is and where it came from.
pub(super) fn table(columns: &BTreeMap<String, StatisticsJson>) -> String {
    let mut table = text_table([
        ("column", Side::Left),
        ("statistic", Side::Left),
        ("value", Side::Left),
        ("precision", Side::Left),
        ("from", Side::Left),
    ]);
    for (name, statistics) in columns {
        let mut name = name.as_str();
        for row in rows(statistics) {
            let [statistic, value, precision, provenance] = row;
            table.add_row([name, &statistic, &value, &precision, &provenance]);
            // It stands on the first of its lines.
            name = "";
        }
    }
    format!("{}\n", table.trim_fmt())
}

fn rows(statistics: &StatisticsJson) -> [[String; 4]; 4] {
    let from = statistics.provenance;
    [
        row("min", statistics.min.as_ref().map(value), statistics.min_precision, from.min),
        row("max", statistics.max.as_ref().map(value), statistics.max_precision, from.max),
        row("nulls", statistics.null_count.map(count), None, from.null_count),
        row("NaNs", statistics.nan_count.map(count), None, from.nan_count),
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
        insta::assert_snapshot!(table(&serde_json::from_value(columns).unwrap()), @r"
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
}
