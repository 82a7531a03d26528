//! Snapshots.

use std::collections::BTreeMap;

use prunus_catalog::Snapshot;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::commit::OperationJson;
use super::time::to_rfc3339;
use crate::openapi::values::NumberSchema;

/// A snapshot of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SnapshotJson {
    /// Its id, which counts up in its table.
    pub snapshot_id: i64,
    /// The snapshot that it was made from; 0 for the first.
    pub parent: i64,
    /// What the commit meant.
    pub operation: OperationJson,
    /// When it was committed, RFC 3339.
    #[schema(format = DateTime)]
    pub committed_at: String,
    /// The table's schema when it was committed.
    pub schema_id: i64,
    /// How many files the commit added.
    pub added_files: u64,
    /// How many files the commit removed.
    pub removed_files: u64,
    /// How many files are live in it.
    pub files: u64,
    /// The rows of those whose row count is known.
    pub rows: u64,
    /// How many of them have no known row count.
    #[serde(default)]
    #[schema(required = true)]
    pub files_of_unknown_rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The tags that name it.
    pub tags: Vec<String>,
    /// What the writer noted.
    pub summary: BTreeMap<String, String>,
}

impl From<Snapshot> for SnapshotJson {
    fn from(Snapshot { row, tags }: Snapshot) -> Self {
        Self {
            snapshot_id: row.snapshot_id.0,
            parent: row.parent.0,
            operation: row.operation.into(),
            committed_at: to_rfc3339(row.committed_at_ms),
            schema_id: row.schema_id.0,
            added_files: row.added_files,
            removed_files: row.removed_files,
            files: row.totals.files,
            rows: row.totals.rows,
            files_of_unknown_rows: row.totals.files_of_unknown_rows,
            bytes: row.totals.bytes,
            tags,
            summary: row.summary,
        }
    }
}

/// A page of a table's snapshots, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SnapshotsJson {
    /// The page.
    pub snapshots: Vec<SnapshotJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

/// A snapshot that is named by its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"snapshot_id": 1})))]
pub struct SnapshotIdJson {
    /// Its id.
    #[schema(value_type = NumberSchema)]
    pub snapshot_id: i64,
}
