//! Commits.

use std::collections::BTreeMap;

use prunus_catalog::{CommitRequest, Committed, Operation, SnapshotId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::file::NewFileJson;
use super::plan::{FilterJson, NanOrderJson};
use super::problem::{FaultJson, MAX_FAULTS};
use super::time::to_rfc3339;
use crate::openapi::values::NumberSchema;

/// A change of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({
    "operation": "append", "add": [{"path": "2024-01.parquet"}], "summary": {"by": "nightly load"},
})))]
pub struct CommitJson {
    /// What it means.
    pub operation: OperationJson,
    /// The snapshot that it was worked out from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<NumberSchema>)]
    pub base_snapshot: Option<i64>,
    /// The files to be added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<NewFileJson>,
    /// The paths of the files to be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// The rows that an overwrite was worked out from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterJson>,
    /// How the writer's engine orders NaN in `filter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nan_order: Option<NanOrderJson>,
    /// What the writer notes.
    #[serde(default, deserialize_with = "super::unique_map::deserialize", skip_serializing_if = "BTreeMap::is_empty")]
    pub summary: BTreeMap<String, String>,
}

impl CommitJson {
    /// The commit as the catalog is asked for it; its files know what is wrong with them.
    pub(crate) fn parse(self) -> CommitRequest {
        CommitRequest {
            operation: self.operation.into(),
            base_snapshot: self.base_snapshot.map(SnapshotId),
            add: self.add.into_iter().map(NewFileJson::parse).collect(),
            remove: self.remove,
            filter: self.filter.map(Into::into),
            nan_order: self.nan_order.unwrap_or_default().into(),
            summary: self.summary,
        }
    }
}

/// What a commit means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OperationJson {
    /// New rows.
    Append,
    /// Rows go.
    Delete,
    /// The same rows in other files.
    Replace,
    /// Rows change.
    Overwrite,
}

impl From<OperationJson> for Operation {
    fn from(operation: OperationJson) -> Self {
        match operation {
            OperationJson::Append => Self::Append,
            OperationJson::Delete => Self::Delete,
            OperationJson::Replace => Self::Replace,
            OperationJson::Overwrite => Self::Overwrite,
        }
    }
}

impl From<Operation> for OperationJson {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Append => Self::Append,
            Operation::Delete => Self::Delete,
            Operation::Replace => Self::Replace,
            Operation::Overwrite => Self::Overwrite,
        }
    }
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CommittedJson {
    /// The new snapshot.
    pub snapshot_id: i64,
    /// Its time, RFC 3339.
    #[schema(format = DateTime)]
    pub committed_at: String,
    /// How many files were added.
    pub added_files: u64,
    /// How many files were removed.
    pub removed_files: u64,
    /// The rows that are live now, of files whose row count is known.
    pub rows: u64,
    /// How many live files have no known row count.
    #[serde(default)]
    #[schema(required = true)]
    pub files_of_unknown_rows: u64,
    /// The bytes that are live now.
    pub bytes: u64,
    /// What in the declarations was taken as unknown, and why; at most 100.
    pub warnings: Vec<FaultJson>,
    /// How many warnings there are, where they are more than are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub warning_count: Option<usize>,
}

impl From<Committed> for CommittedJson {
    fn from(committed: Committed) -> Self {
        let count = committed.warnings.len();
        Self {
            snapshot_id: committed.snapshot_id.0,
            committed_at: to_rfc3339(committed.committed_at_ms),
            added_files: committed.added_files,
            removed_files: committed.removed_files,
            rows: committed.totals.rows,
            files_of_unknown_rows: committed.totals.files_of_unknown_rows,
            bytes: committed.totals.bytes,
            warnings: committed.warnings.into_iter().take(MAX_FAULTS).map(FaultJson::from).collect(),
            warning_count: (count > MAX_FAULTS).then_some(count),
        }
    }
}

#[cfg(test)]
mod tests {
    use prunus_catalog::Fault;

    use super::*;

    fn parse(json: serde_json::Value) -> CommitRequest {
        serde_json::from_value::<CommitJson>(json).unwrap().parse()
    }

    #[test]
    fn a_commit_keeps_what_it_says() {
        let json =
            serde_json::json!({"operation": "replace", "base_snapshot": 3, "add": [{"path": "a"}], "remove": ["b"]});
        let request = parse(json);
        assert_eq!(request.operation, Operation::Replace);
        assert_eq!(request.base_snapshot, Some(SnapshotId(3)));
        assert_eq!((request.add.len(), request.remove), (1, vec!["b".to_owned()]));
    }

    #[test]
    fn a_commit_keeps_its_filter() {
        let json = serde_json::json!({
            "operation": "overwrite", "base_snapshot": 3, "remove": ["b"], "filter": "a = 1", "nan_order": "ieee"
        });
        let request = parse(json);
        assert_eq!(request.filter, Some(prunus_catalog::Filter::Sql("a = 1".to_owned())));
        assert_eq!(request.nan_order, prunus_catalog::NanOrder::Ieee);
    }

    #[test]
    fn warnings_are_listed_up_to_the_limit() {
        let committed = |count| Committed {
            snapshot_id: SnapshotId(1),
            committed_at_ms: 0,
            added_files: 1,
            removed_files: 0,
            totals: prunus_catalog::Totals::default(),
            warnings: vec![Fault::default(); count],
        };
        let shown = |count| {
            let json = CommittedJson::from(committed(count));
            (json.warnings.len(), json.warning_count)
        };
        assert_eq!(shown(MAX_FAULTS), (MAX_FAULTS, None));
        assert_eq!(shown(MAX_FAULTS + 1), (MAX_FAULTS, Some(MAX_FAULTS + 1)));
    }
}
