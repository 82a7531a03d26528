//! The JSON of the HTTP API: what comes in and what goes out.
//!
//! The names are those of the contract (`api.md`): TABLE is [`TableJson`], and what asks for one to be made is
//! [`NewTableJson`]. Server and clients of this crate use the same types, so each reads and writes. What the server reads
//! refuses fields that it does not know; what a client reads lets them pass, since fields may be added. The conversion to
//! and from the catalog's types stands beside each type.

mod alter;
mod audit;
mod changes;
mod commit;
mod config;
mod coverage;
mod expire;
mod explained;
mod file;
mod journal;
mod manifest;
mod namespace;
mod orphan;
mod plan;
mod planned;
mod problem;
mod regroup;
mod snapshot;
mod statistics;
mod table;
mod tag;
mod token;
mod transaction;
mod unique_map;
mod time;

pub use alter::{AlterTableJson, PlaceJson, SchemaChangeJson};
pub use audit::{AuditFindingJson, AuditJson, AuditModeJson, AuditPageJson, AuditStateJson, AuditsJson, NewAuditJson};
pub use changes::ChangesJson;
pub use commit::{CommitJson, CommittedJson, OperationJson};
pub use config::{ConfigJson, DefaultsJson, LimitsJson};
pub use coverage::{
    ColumnCoverageJson, ColumnFilesJson, CountFilesJson, CoverageJson, ObstacleJson, ObstacleReasonJson, OverlapJson,
    ProvenanceFilesJson, ShareJson, SideFilesJson,
};
pub use expire::{ExpireJson, ExpiredJson};
pub use explained::{ExplainJson, ExplainedConjunctJson, ExplainedJson, ExplainedVerdictJson};
pub use file::{FileJson, FilesJson, NewFileJson};
pub use journal::{JournalEntryJson, JournalJson};
pub use manifest::{ManifestDetailJson, ManifestJson, ManifestsJson, TotalsJson, ZoneJson};
pub use namespace::{NamespaceJson, NamespacesJson, NewNamespaceJson};
pub use orphan::{OrphanJson, OrphansJson};
pub use plan::{FilterJson, NanOrderJson, PlanJson};
pub use planned::{ConjunctJson, PlanMetricsJson, PlanTimingsJson, PlannedFileJson, PlannedJson, VerdictJson};
pub use problem::{
    ConflictJson, ConflictReasonJson, FaultJson, MAX_FAULTS, ProblemFieldJson, ProblemJson, ProblemTypeJson,
    ProblemTypesJson,
};
pub use prunus_catalog::{FieldJson, NestedJson, TypeJson};
pub use regroup::{RegroupJson, RegroupedJson, TableLayoutJson};
pub use snapshot::{SnapshotIdJson, SnapshotJson, SnapshotsJson};
pub use statistics::{NewStatisticsJson, PrecisionJson, ProvenanceJson, ProvenancesJson, StatisticsJson};
pub use table::{NewSchemaJson, NewTableJson, SchemaJson, TableJson, TableNameJson, TablesJson};
pub use tag::{TagJson, TagsJson};
pub use token::{CreatedTokenJson, NewTokenJson, SecretJson, TokenJson, TokensJson};
pub use transaction::{TableCommitJson, TableCommittedJson, TransactionCommittedJson, TransactionJson};

pub(crate) use file::partition_json;
pub(crate) use problem::cut_to_limit;
pub(crate) use time::{parse_time, snapshot_ref, to_rfc3339};
