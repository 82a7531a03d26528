//! What is known of columns of a file, as Iceberg has it: counts, and bounds in hexadecimal. What is not known is not said, nor is a
//! guess.

use prunus_catalog::schema::{LeafColumn, Schema};
use prunus_statistics::{Bound, FieldId, FileColumn, FileStatistics, Precision, PrimitiveType, Value};
use serde::Serialize;

use super::scan_names::{ColumnRef, Fields};
use super::single_value::{Side, encode};
use crate::problem::Problem;

/// Values by field: two lists of one length.
#[derive(Default, Serialize)]
struct ByField<T> {
    keys: Vec<i32>,
    values: Vec<T>,
}

impl<T> ByField<T> {
    fn add(&mut self, field: FieldId, value: Option<T>) {
        if let Some(value) = value {
            self.keys.push(field.0);
            self.values.push(value);
        }
    }
}

/// What is known of a file.
#[derive(Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct FileStatisticsJson {
    value_counts: ByField<u64>,
    null_value_counts: ByField<u64>,
    nan_value_counts: ByField<u64>,
    lower_bounds: ByField<String>,
    upper_bounds: ByField<String>,
}

/// The columns whose statistics are asked for: those of these names, and those inside them that have one value for each row.
pub(super) fn columns_of(schema: &Schema, names: &[String]) -> Result<Vec<LeafColumn>, Problem> {
    let fields = Fields::of(schema);
    let faults = fields.unknown("stats-fields", names);
    if !faults.is_empty() {
        return Err(faults.into());
    }
    let asked_for = fields.named(&ColumnRef::of_names(names));
    Ok(schema.leaf_columns().into_iter().filter(|leaf| asked_for.contains(&leaf.id)).collect())
}

impl FileStatisticsJson {
    /// What is known of these columns of a file of so many rows.
    pub(super) fn of(columns: &[LeafColumn], known: &FileStatistics, row_count: u64) -> Self {
        let mut json = Self::default();
        for LeafColumn { id, column_type, .. } in columns {
            // A file without the column has no values of it that could be counted.
            let Some(FileColumn::Present(known)) = known.columns.get(id) else { continue };
            json.value_counts.add(*id, Some(row_count));
            json.null_value_counts.add(*id, known.null_count.map(|count| count.value));
            json.nan_value_counts.add(*id, known.nan_count.filter(|_| column_type.is_float()).map(|count| count.value));
            json.lower_bounds.add(*id, hex(known.min.as_ref(), *column_type, Side::Lower));
            json.upper_bounds.add(*id, hex(known.max.as_ref(), *column_type, Side::Upper));
        }
        json
    }
}

fn hex(bound: Option<&Bound>, column_type: PrimitiveType, side: Side) -> Option<String> {
    let bound = bound.filter(|bound| bound.precision != Precision::Estimate)?;
    let bytes = encode(&bound.value, column_type, side)?;
    Some(Value::Bytes(bytes).display(PrimitiveType::Binary).to_string().to_uppercase())
}

#[cfg(test)]
mod tests {
    use prunus_catalog::Fault;
    use prunus_catalog::schema::{Field, Type};
    use prunus_statistics::{ColumnStatistics, Count, Provenance};
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let field = |id, name: &str, field_type| Field {
            id: FieldId(id),
            name: name.to_owned(),
            field_type,
            nullable: true,
            default: None,
            doc: None,
        };
        let x = field(3, "x", Type::Primitive(PrimitiveType::Float64));
        let id = field(1, "id", Type::Primitive(PrimitiveType::Int32));
        Schema::new(vec![id, field(2, "place", Type::Struct(vec![x]))]).unwrap()
    }

    fn bound(value: Value, precision: Precision) -> Bound {
        Bound { value, precision, provenance: Provenance::Footer }
    }

    #[test]
    fn what_is_known_is_told_by_field() {
        let count = |value| Some(Count { value, provenance: Provenance::Scanned });
        let id = ColumnStatistics {
            min: Some(bound(Value::Integer(1), Precision::Exact)),
            max: Some(bound(Value::Integer(255), Precision::Bound)),
            null_count: count(2),
            nan_count: count(0),
        };
        let x = ColumnStatistics { nan_count: count(4), ..ColumnStatistics::default() };
        let columns = [(FieldId(1), FileColumn::Present(id)), (FieldId(3), FileColumn::Present(x))].into();
        let asked = columns_of(&schema(), &["id".to_owned(), "place".to_owned()]).unwrap();
        let json = serde_json::to_value(FileStatisticsJson::of(&asked, &FileStatistics { columns }, 9)).unwrap();
        let expected = json!({
            "value-counts": {"keys": [1, 3], "values": [9, 9]},
            "null-value-counts": {"keys": [1], "values": [2]},
            "nan-value-counts": {"keys": [3], "values": [4]},
            "lower-bounds": {"keys": [1], "values": ["01000000"]},
            "upper-bounds": {"keys": [1], "values": ["FF000000"]},
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn a_guess_is_not_told() {
        assert_eq!(hex(Some(&bound(Value::Integer(1), Precision::Estimate)), PrimitiveType::Int32, Side::Lower), None);
    }

    #[test]
    fn what_a_file_does_not_hold_is_not_told() {
        let columns = [(FieldId(1), FileColumn::Absent)].into();
        let asked = columns_of(&schema(), &["id".to_owned()]).unwrap();
        let json = serde_json::to_value(FileStatisticsJson::of(&asked, &FileStatistics { columns }, 9)).unwrap();
        assert_eq!(json["value-counts"], json!({"keys": [], "values": []}));
    }

    #[test]
    fn a_column_that_is_not_there_is_named() {
        let problem = columns_of(&schema(), &["none".to_owned(), "id".to_owned()]).unwrap_err();
        assert_eq!(problem.faults(), [Fault::at("stats-fields", "there is no column `none`")]);
    }
}
