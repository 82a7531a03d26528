//! Grouping manifests anew.

use prunus_catalog::{RegroupRequest, Regrouped, TableLayout};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How manifests are to be grouped anew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"cluster_by": ["day"], "dry_run": true})))]
pub struct RegroupJson {
    /// The columns by whose lower bounds entries are ordered from now on; absent: those of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_by: Option<Vec<String>>,
    /// Whether nothing is changed, only looked at.
    #[serde(default)]
    #[schema(default = false)]
    pub dry_run: bool,
}

impl RegroupJson {
    /// The request as the catalog takes it.
    pub(crate) fn parse(self) -> RegroupRequest {
        RegroupRequest { cluster_by: self.cluster_by, dry_run: self.dry_run }
    }
}

/// What grouping anew did, or would find.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RegroupedJson {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The columns that entries are ordered by.
    pub cluster_by: Vec<String>,
    /// How the table was laid out, seen in that order.
    pub before: TableLayoutJson,
    /// How it is laid out now; null where nothing was changed.
    #[schema(required = true)]
    pub after: Option<TableLayoutJson>,
    /// How many entries were put into other manifests; one counts each time.
    pub entries_moved: u64,
}

impl From<Regrouped> for RegroupedJson {
    fn from(regrouped: Regrouped) -> Self {
        let Regrouped { cluster_by, before, after, entries_moved } = regrouped;
        Self {
            dry_run: after.is_none(),
            cluster_by,
            before: before.into(),
            after: after.map(TableLayoutJson::from),
            entries_moved,
        }
    }
}

/// How well a table is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableLayoutJson {
    /// How many manifests it has.
    pub manifests: u64,
    /// How many live files are in none yet.
    pub tail_files: u64,
    /// How many manifests at most share a value of the first column that they are ordered by; null if there is none.
    #[schema(required = true)]
    pub overlap: Option<u64>,
}

impl From<TableLayout> for TableLayoutJson {
    fn from(layout: TableLayout) -> Self {
        let TableLayout { manifests, tail_files, overlap } = layout;
        Self { manifests, tail_files, overlap }
    }
}
