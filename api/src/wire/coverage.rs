//! Coverage: how much is known of each column of a table.

use prunus_catalog::{
    ColumnCoverage, ColumnFiles, ColumnObstacle, CountFiles, Coverage, CoveredType, Obstacle, OverlapDepth,
    ProvenanceFiles, SideFiles,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::to_rfc3339;

/// How much is known of each column over the live files of a snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CoverageJson {
    /// The snapshot.
    pub snapshot_id: i64,
    /// The schema whose columns these are.
    pub schema_id: i64,
    /// How many files are live in the snapshot: what shares are of.
    pub files: u64,
    /// Since when obstacles are recorded, RFC 3339: since the server's start.
    #[schema(format = DateTime)]
    pub obstacles_since: String,
    /// The columns in the order of the schema, each before those in it.
    pub columns: Vec<ColumnCoverageJson>,
}

/// What is known of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ColumnCoverageJson {
    /// Its `#id`, which names it wherever names are keys.
    pub id: String,
    /// Its name, or the dotted path to it, in which `element`, `key` and `value` lead into lists and maps.
    pub name: String,
    /// Its type; `struct`, `list` or `map` for a nested one.
    #[serde(rename = "type")]
    pub column_type: String,
    /// In how many files what is known of it; null for a nested column, which carries no statistics itself.
    #[schema(required = true)]
    pub statistics: Option<ColumnFilesJson>,
    /// Why filters on it could not prune, in files that plans kept. None: it was in no filter's way.
    pub obstacles: Vec<ObstacleJson>,
}

/// In how many files what is known of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ColumnFilesJson {
    /// Files that are known to hold no value but nulls and NaNs, so that they need no bounds.
    pub without_values: ShareJson,
    /// Of these, files that are known not to hold the column.
    pub absent: ShareJson,
    /// The lower bounds of the others.
    pub min: SideFilesJson,
    /// The upper bounds of the others.
    pub max: SideFilesJson,
    /// The null counts; absent for a column in a list or map, which has no counts of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub null_count: Option<CountFilesJson>,
    /// The NaN counts; absent for such a column, and for one that is not of floats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub nan_count: Option<CountFilesJson>,
    /// How many files one value hits.
    pub overlap: OverlapJson,
}

/// A number of files.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShareJson {
    /// How many.
    pub files: u64,
    /// How many of all live ones, from 0 to 1; 0 where there are none.
    pub share: f64,
}

/// How much is known of the bounds of one side. The four make up the files that may hold a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SideFilesJson {
    /// The bound occurs in the file.
    pub exact: ShareJson,
    /// The bound may not occur.
    pub bound: ShareJson,
    /// There is a guess, which pruning does not use.
    pub estimate: ShareJson,
    /// There is none that can be used.
    pub unknown: ShareJson,
    /// Where the exact and other bounds came from, in files.
    pub provenance: ProvenanceFilesJson,
}

/// In how many files a count is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CountFilesJson {
    /// It is.
    pub known: ShareJson,
    /// It is not.
    pub unknown: ShareJson,
    /// Where the known ones came from, in files; files without the column, or without rows, are in none.
    pub provenance: ProvenanceFilesJson,
}

/// In how many files a statistic has which provenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProvenanceFilesJson {
    /// The writer's word.
    pub declared: u64,
    /// The file's footer.
    pub footer: u64,
    /// The data was read.
    pub scanned: u64,
    /// A partition constant of the file, or the column's default.
    pub constant: u64,
}

/// How many files one value of the column hits, by their bounds alone. A side without a bound has no end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OverlapJson {
    /// On average over values that are drawn as the files' bounds are.
    pub mean: f64,
    /// At most.
    pub max: u64,
}

/// What stood in the way of filters of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ObstacleJson {
    /// What it was.
    pub reason: ObstacleReasonJson,
    /// How many plans met it.
    pub plans: u64,
    /// When the last of them did, RFC 3339.
    #[schema(format = DateTime)]
    pub last_at: String,
    /// A condition of that one, cut where it is long.
    pub example: String,
}

/// A kind of obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObstacleReasonJson {
    /// Pruning has no rule for the condition, or for a part of it.
    Unsupported,
    /// A bound or a null count that the condition needs is not known of some file.
    WithoutStatistics,
    /// The NaN count is not known of some file, and NaN could meet the condition.
    NanCountUnknown,
    /// Some file has NaNs, which could meet the condition where nothing else in it could; in which engines they do, `nan_order` says.
    NansAlone,
}

impl From<Coverage> for CoverageJson {
    fn from(coverage: Coverage) -> Self {
        let of = Shares { files: coverage.files };
        Self {
            snapshot_id: coverage.snapshot_id.0,
            schema_id: coverage.schema_id.0,
            files: coverage.files,
            obstacles_since: to_rfc3339(coverage.obstacles_since_ms),
            columns: coverage.columns.into_iter().map(|column| of.column(column)).collect(),
        }
    }
}

/// What numbers of files are shares of.
#[derive(Clone, Copy)]
struct Shares {
    files: u64,
}

impl Shares {
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    fn share(self, files: u64) -> ShareJson {
        ShareJson { files, share: if self.files == 0 { 0.0 } else { files as f64 / self.files as f64 } }
    }

    fn column(self, column: ColumnCoverage) -> ColumnCoverageJson {
        ColumnCoverageJson {
            id: column.id.to_string(),
            name: column.key,
            column_type: match column.covered_type {
                CoveredType::Primitive(column_type) | CoveredType::Item(column_type) => column_type.to_string(),
                CoveredType::Struct => "struct".to_owned(),
                CoveredType::List => "list".to_owned(),
                CoveredType::Map => "map".to_owned(),
            },
            statistics: column.files.map(|(files, overlap)| self.files(&files, overlap)),
            obstacles: column.obstacles.into_iter().map(ObstacleJson::from).collect(),
        }
    }

    fn files(self, files: &ColumnFiles, overlap: OverlapDepth) -> ColumnFilesJson {
        ColumnFilesJson {
            without_values: self.share(files.without_values),
            absent: self.share(files.absent),
            min: self.side(files.min),
            max: self.side(files.max),
            null_count: files.null_count.map(|count| self.count(count)),
            nan_count: files.nan_count.map(|count| self.count(count)),
            overlap: OverlapJson { mean: overlap.mean, max: overlap.max },
        }
    }

    fn side(self, side: SideFiles) -> SideFilesJson {
        SideFilesJson {
            exact: self.share(side.exact),
            bound: self.share(side.bound),
            estimate: self.share(side.estimate),
            unknown: self.share(side.unknown),
            provenance: side.provenance.into(),
        }
    }

    fn count(self, count: CountFiles) -> CountFilesJson {
        CountFilesJson {
            known: self.share(count.known),
            unknown: self.share(count.unknown),
            provenance: count.provenance.into(),
        }
    }
}

impl From<ProvenanceFiles> for ProvenanceFilesJson {
    fn from(ProvenanceFiles { declared, footer, scanned, constant }: ProvenanceFiles) -> Self {
        Self { declared, footer, scanned, constant }
    }
}

impl From<ColumnObstacle> for ObstacleJson {
    fn from(met: ColumnObstacle) -> Self {
        let reason = match met.obstacle {
            Obstacle::Unsupported => ObstacleReasonJson::Unsupported,
            Obstacle::WithoutStatistics => ObstacleReasonJson::WithoutStatistics,
            Obstacle::NanCountUnknown => ObstacleReasonJson::NanCountUnknown,
            Obstacle::NansAlone => ObstacleReasonJson::NansAlone,
        };
        Self { reason, plans: met.plans, last_at: to_rfc3339(met.last_at_ms), example: met.example }
    }
}
