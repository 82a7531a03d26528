//! A plan: the files that may hold a matching row, and what was done to find them.

use std::collections::BTreeMap;
use std::time::Duration;

use prunus_catalog::{ConjunctMetrics, PlanMetrics, PlanTimings};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::plan::FilterJson;
use super::table::SchemaJson;
use crate::openapi::values::ValueSchema;

/// A page of a plan, its files by rising `file_id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedJson {
    /// The snapshot that was planned.
    pub snapshot_id: i64,
    /// The schema that names were bound to.
    pub schema: SchemaJson,
    /// The page.
    pub files: Vec<PlannedFileJson>,
    /// What was done, over all pages. On the first page alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub metrics: Option<PlanMetricsJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

/// A file that may hold a matching row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedFileJson {
    /// Its id.
    pub file_id: i64,
    /// Where it is: a path of the server's file system, or a scheme, a bucket and a key. Every character stands for itself: it is
    /// not to be parsed as a URI, in which `%20` would be a space.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// How many rows it has; null is unknown.
    #[schema(required = true)]
    pub row_count: Option<u64>,
    /// What the object store calls this content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub etag: Option<String>,
    /// Whether some or all of its rows match.
    pub verdict: VerdictJson,
    /// What is left to filter its rows by, in the language of the filter; null for nothing.
    #[schema(required = true)]
    pub residual: Option<FilterJson>,
    /// Values that it has in every row, by column.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, ValueSchema>)]
    pub partition: BTreeMap<String, Value>,
    /// What the file calls the columns that it does not call as the schema does, by `#id`: a name, or a dotted path; null for a
    /// column that it does not hold, so that it reads as its default or as null, though the file has another one of that name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Option<String>>,
}

/// How many of a kept file's rows match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictJson {
    /// Perhaps some: they are to be filtered.
    Some,
    /// All.
    All,
}

/// What was done for a plan. Files are the live ones of the snapshot, rows those of files whose row count is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanMetricsJson {
    /// Manifests that may hold a live file.
    pub manifests_considered: u64,
    /// Of these, the ones that were pruned as a whole.
    pub manifests_pruned: u64,
    /// Parts of the table that were read for this plan: the list of manifests, the zones of a column, blocks, the tail.
    pub parts_read: u64,
    /// Parts that it needed, and earlier plans had read already.
    pub parts_cached: u64,
    /// Live files.
    pub files_considered: u64,
    /// Of these, the ones that hold no matching row.
    pub files_pruned: u64,
    /// Of these, the ones that would have been kept if nothing had been taken on the word of their writers alone; of manifests that
    /// were pruned as a whole possibly some more.
    #[serde(default)]
    #[schema(required = true)]
    pub files_pruned_as_declared: u64,
    /// The others.
    pub files_kept: u64,
    /// Of these, the ones all of whose rows match.
    pub files_all: u64,
    /// Rows of the files kept.
    pub rows_kept: u64,
    /// Rows of the files pruned.
    pub rows_pruned: u64,
    /// Bytes of the files kept.
    pub bytes_kept: u64,
    /// Bytes of the files pruned.
    pub bytes_pruned: u64,
    /// Files whose rows are not counted, because their row count is unknown.
    pub files_of_unknown_rows: u64,
    /// What each conjunct of the filter did.
    pub conjuncts: Vec<ConjunctJson>,
    /// How long each part took.
    pub timings_us: PlanTimingsJson,
}

impl From<&PlanMetrics> for PlanMetricsJson {
    fn from(metrics: &PlanMetrics) -> Self {
        let conjunct = |conjunct| ConjunctJson::new(conjunct, metrics.files_kept);
        Self {
            manifests_considered: metrics.manifests_considered,
            manifests_pruned: metrics.manifests_pruned,
            parts_read: metrics.parts_read,
            parts_cached: metrics.parts_cached,
            files_considered: metrics.files_considered,
            files_pruned: metrics.files_pruned,
            files_pruned_as_declared: metrics.files_pruned_as_declared,
            files_kept: metrics.files_kept,
            files_all: metrics.files_all,
            rows_kept: metrics.rows_kept,
            rows_pruned: metrics.rows_pruned,
            bytes_kept: metrics.bytes_kept,
            bytes_pruned: metrics.bytes_pruned,
            files_of_unknown_rows: metrics.files_of_unknown_rows,
            conjuncts: metrics.conjuncts.iter().map(conjunct).collect(),
            timings_us: metrics.timings.into(),
        }
    }
}

/// What one conjunct of the filter did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConjunctJson {
    /// Its text.
    pub expression: String,
    /// How many files it was the first to prune.
    pub files_pruned: u64,
    /// Whether pruning has a rule for the whole of it.
    pub prunable: bool,
    /// Why it could not prune more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<String>,
}

impl ConjunctJson {
    fn new(conjunct: &ConjunctMetrics, files_kept: u64) -> Self {
        let is_in_the_way = files_kept > 0 && !conjunct.obstacles.is_none();
        Self {
            expression: conjunct.expression.clone(),
            files_pruned: conjunct.files_pruned,
            prunable: conjunct.prunable,
            reason: is_in_the_way.then(|| conjunct.obstacles.to_string()),
        }
    }
}

/// How long the parts of a plan took, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanTimingsJson {
    /// Resolving the snapshot, binding and compiling the filter.
    pub bind: u64,
    /// Pruning manifests.
    pub manifests: u64,
    /// Pruning files.
    pub files: u64,
    /// Reading the entries of the page's files, up to 4,096: those of the others are read while the page is sent.
    pub entries: u64,
    /// All of it up to there.
    pub total: u64,
}

impl From<PlanTimings> for PlanTimingsJson {
    fn from(timings: PlanTimings) -> Self {
        let microseconds = |part: Duration| u64::try_from(part.as_micros()).unwrap_or(u64::MAX);
        Self {
            bind: microseconds(timings.bind),
            manifests: microseconds(timings.manifests),
            files: microseconds(timings.files),
            entries: microseconds(timings.entries),
            total: microseconds(timings.total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prunus_catalog::Obstacles;

    #[test]
    fn a_reason_is_given_where_something_was_in_the_way_of_files_that_were_kept() {
        let conjunct =
            |obstacles| ConjunctMetrics { expression: "a = 1".to_owned(), files_pruned: 1, prunable: true, obstacles };
        let blocked = conjunct(Obstacles { without_statistics: 2, ..Obstacles::default() });
        assert_eq!(ConjunctJson::new(&blocked, 2).reason.as_deref(), Some("no bounds or counts in 2 files"));
        assert_eq!(ConjunctJson::new(&blocked, 0).reason, None);
        assert_eq!(ConjunctJson::new(&conjunct(Obstacles::default()), 2).reason, None);
    }
}
