//! Data files.

use std::collections::BTreeMap;

use prunus_catalog::{
    AddedFile, DataFileRow, Fault, FileDetail, FileEntry, NamedPartition, literal_from_json, value_to_json,
};
use prunus_statistics::{FileColumn, PrimitiveType, Value as ColumnValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::statistics::{NewStatisticsJson, StatisticsJson};
use super::time::to_rfc3339;
use crate::openapi::values::{CountSchema, ValueSchema};

/// A file to be added. What is absent is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFileJson {
    /// Where it is. Every character stands for itself: nothing is percent-encoded.
    pub path: String,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CountSchema>)]
    pub size_bytes: Option<u64>,
    /// How many rows it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CountSchema>)]
    pub row_count: Option<u64>,
    /// Values that it has in every row, by column.
    #[serde(default, deserialize_with = "super::unique_map::deserialize", skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, ValueSchema>)]
    pub partition: BTreeMap<String, Value>,
    /// The table's columns that it does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_columns: Vec<String>,
    /// Statistics by column.
    #[serde(default, deserialize_with = "super::unique_map::deserialize", skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, NewStatisticsJson>,
}

impl NewFileJson {
    /// The file as the catalog is asked to add it, with every fault found; what is at fault is left out.
    pub(super) fn parse(self) -> AddedFile {
        let Self { path, size_bytes, row_count, absent_columns, .. } = self;
        let mut faults = Vec::new();
        let mut fault = |key: &str, message: String| faults.push(Fault::of_path(&path, message).in_column(key));
        let mut partition = BTreeMap::new();
        for (key, json) in self.partition {
            let literal = literal_from_json(&json);
            if literal.is_none() && !json.is_null() {
                fault(&key, "the partition value is not a boolean, number, string or null".to_owned());
                continue;
            }
            partition.insert(key, literal);
        }
        let mut columns = BTreeMap::new();
        for (key, statistics) in self.columns {
            match statistics.parse() {
                Ok(statistics) => {
                    columns.insert(key, statistics);
                }
                Err(messages) => messages.into_iter().for_each(|message| fault(&key, message)),
            }
        }
        AddedFile { path, size_bytes, row_count, partition, absent_columns, columns, faults }
    }
}

/// A registered file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FileJson {
    /// Its id, which no other file ever has.
    pub file_id: i64,
    /// Where it is. Every character stands for itself: it is not to be parsed as a URI.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// How many rows it has; null is unknown.
    #[schema(required = true)]
    pub row_count: Option<u64>,
    /// Values that it has in every row, by column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, ValueSchema>)]
    pub partition: BTreeMap<String, Value>,
    /// The table's columns that it is known not to hold. Only where one file is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_columns: Vec<String>,
    /// What is known of its columns. Only where one file is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub columns: Option<BTreeMap<String, StatisticsJson>>,
    /// What the object store calls this content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub etag: Option<String>,
    /// When the object was written, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    pub last_modified: Option<String>,
    /// The first snapshot that it is live in.
    pub added_snapshot: i64,
    /// The first snapshot that it is not live in any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub removed_snapshot: Option<i64>,
    /// The manifest that it is in; absent while it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub manifest_id: Option<i64>,
}

impl From<FileEntry> for FileJson {
    fn from(entry: FileEntry) -> Self {
        let DataFileRow { file_id, path, size_bytes, row_count, etag, last_modified_ms, .. } = entry.row;
        Self {
            file_id: file_id.0,
            path,
            size_bytes,
            row_count,
            partition: partition_json(&entry.partition),
            absent_columns: Vec::new(),
            columns: None,
            etag,
            last_modified: last_modified_ms.map(to_rfc3339),
            added_snapshot: entry.row.added_snapshot.0,
            removed_snapshot: entry.row.removed_snapshot.map(|snapshot_id| snapshot_id.0),
            manifest_id: entry.row.manifest_id.map(|manifest_id| manifest_id.0),
        }
    }
}

impl From<FileDetail> for FileJson {
    fn from(detail: FileDetail) -> Self {
        let mut columns = BTreeMap::new();
        let mut absent_columns = Vec::new();
        for (key, (column_type, column)) in detail.columns {
            match column {
                FileColumn::Present(statistics) => {
                    columns.insert(key, StatisticsJson::new(&statistics, column_type));
                }
                FileColumn::Absent => absent_columns.push(key),
            }
        }
        Self { columns: Some(columns), absent_columns, ..Self::from(detail.entry) }
    }
}

/// Partition constants by column; null is null.
pub(crate) fn partition_json(partition: &NamedPartition) -> BTreeMap<String, Value> {
    let json = |(column_type, value): &(PrimitiveType, Option<ColumnValue>)| {
        value.as_ref().map_or(Value::Null, |value| value_to_json(value, *column_type))
    };
    partition.iter().map(|(key, constant)| (key.clone(), json(constant))).collect()
}

/// A page of a snapshot's files by rising `file_id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FilesJson {
    /// The snapshot.
    pub snapshot_id: i64,
    /// The page.
    pub files: Vec<FileJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_a_file_is_found() {
        let json = serde_json::json!({
            "path": "p", "partition": {"a": null, "b": []}, "columns": {"c": {"min": {}, "max": []}, "d": {}}
        });
        let faults = serde_json::from_value::<NewFileJson>(json).unwrap().parse().faults;
        let shown: Vec<_> =
            faults.iter().map(|fault| (fault.column.as_deref().unwrap(), fault.message.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("b", "the partition value is not a boolean, number, string or null"),
                ("c", "min is not a boolean, number or string"),
                ("c", "max is not a boolean, number or string"),
            ]
        );
        assert!(faults.iter().all(|fault| fault.path.as_deref() == Some("p")));
    }

    #[test]
    fn a_partition_constant_may_be_null() {
        let json = serde_json::json!({"path": "p", "partition": {"a": null}});
        let file = serde_json::from_value::<NewFileJson>(json).unwrap().parse();
        assert_eq!(file.partition, BTreeMap::from([("a".to_owned(), None)]));
    }
}
