//! The use cases of Prunus: register files, keep snapshots, plan scans.
//!
//! The only crate that joins the store, the pruner and object storage. [`Catalog`] has a method per use case; each stands in
//! a file of its own. It knows nothing of HTTP and can be used without it:
//!
//! ```
//! use prunus_catalog::{
//!     AddedFile, Catalog, CatalogOptions, CommitRequest, Filter, NewTable, PlanRequest, SchemaSource, TableIdent,
//! };
//! # use std::sync::Arc;
//! # use arrow::array::{ArrayRef, Int64Array, RecordBatch};
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let write = |name: &str, first: i64| {
//! #     let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + 100));
//! #     let (batch, path) = (RecordBatch::try_from_iter([("id", ids)])?, folder.path().join(name));
//! #     let mut writer = parquet::arrow::ArrowWriter::try_new(std::fs::File::create(&path)?, batch.schema(), None)?;
//! #     writer.write(&batch)?;
//! #     writer.close()?;
//! #     Ok::<_, Box<dyn std::error::Error>>(path.display().to_string())
//! # };
//! # let paths = [write("a.parquet", 0)?, write("b.parquet", 100)?];
//!
//! let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await?;
//! let table: TableIdent = "shop.orders".parse()?;
//! catalog.create_namespace(table.namespace.clone(), [].into()).await?;
//! catalog.create_table(NewTable::new(table.clone(), SchemaSource::File(paths[0].clone()))).await?;
//! catalog.commit(table.clone(), CommitRequest::append(paths.iter().map(AddedFile::at))).await?;
//!
//! let plan = catalog.plan(table, PlanRequest::of(Filter::Sql("id > 150".to_owned()))).await?;
//! assert!(plan.files[0].entry.row.path.ends_with("b.parquet"));
//! assert_eq!((plan.files.len(), plan.metrics.files_pruned), (1, 1));
//! # Ok(())
//! # }
//! ```

mod catalog;
mod clock;
mod activity;
mod actor;
mod access;
mod journal;
mod limits;
mod admission;
mod cancel;
mod error;
mod blocking;
mod suggestion;
mod once;
mod page;

mod name;
mod location;
mod storage;
pub mod schema;
mod schema_json;
mod table_schema;
mod table_history;
mod evolution;
mod history;
mod column_ref;
mod hive;
mod properties;

mod namespaces;
mod tables;
pub mod collect;
mod declared;
mod partition;
mod registration;
mod schema_from_file;
mod file_columns;
mod late_columns;
mod alter;
mod commit;
mod zone_maps;
mod plan_cache;
mod plan;
mod obstacle_log;
mod leases;
mod snapshots;
mod file_chunk;
mod files;
mod file_page;
mod live_entries;
mod manifests;
mod coverage;
mod changes;
mod rollback;
mod tags;
mod named;
mod expire;
mod orphans;
mod regroup;
mod audit;
mod operations;
mod readiness;

pub use access::{
    Grant, GrantError, Grants, MAX_GRANTS, MAX_TOKEN_NAME_BYTES, Needed, NewToken, Places, Principal, RefusedToken,
    Scope, Token, TokenFormError, TokenName, TokenNameError, TokenSecret,
};
pub use activity::{
    Activity, AuditActivity, CatalogState, CommitActivity, Outcomes, PlanActivity, PlanCacheActivity, SLOW,
};
pub use actor::Actor;
pub use admission::{
    MAX_CHANGES_WAITING, MAX_COMMITS_BYTES, MAX_ORPHAN_LISTINGS_AT_ONCE, MAX_ORPHAN_LISTINGS_WAITING,
    MAX_PLANS_AT_ONCE, MAX_PLANS_WAITING, MAX_REGROUPS_AT_ONCE, MAX_REGROUPS_WAITING, MAX_WAITING_PLANS_BYTES,
};
pub use alter::{AlterRequest, MAX_COLUMN_PATHS, MAX_FIELDS_OF_ALL_SCHEMAS, MAX_SCHEMAS};
pub use audit::{AuditBudget, AuditPage, AuditRequest, DEFAULT_AUDIT_BYTES_PER_SECOND, FoundByAudit};
pub use catalog::{Catalog, CatalogOptions};
pub use changes::{Changes, ChangesRequest};
pub use clock::{Clock, SystemClock};
pub use column_ref::parts as column_key_parts;
pub use commit::{
    AddedFile, CommitRequest, Committed, MAX_COMMIT_ATTEMPTS, MAX_FILES_PER_COMMIT, MAX_LISTED_CONFLICTS,
    MAX_READING_TIME, MAX_TABLES_PER_TRANSACTION, PreparedCommit, PreparedTransaction, TableCommit, TableCommitted,
};
pub use coverage::{
    ColumnCoverage, ColumnFiles, CountFiles, Coverage, CoveredType, OverlapDepth, ProvenanceFiles, SideFiles,
};
pub use declared::{DeclaredBound, DeclaredStatistics};
pub use error::{Error, Fault, Result};
pub use evolution::{Evolved, FieldPlace, MAX_SCHEMA_CHANGES, SchemaChange, evolve};
pub use expire::{ExpireRequest, ExpireRun, Expired, MAX_EXPIRED_SNAPSHOTS, MAX_FORGOTTEN_FILES};
pub use file_chunk::{FILES_PER_CHUNK, FileChunk, NamedPartition};
pub use file_page::ListedPage;
pub use files::{FileDetail, FileEntry};
pub use leases::{LEASE_MS, MAX_LEASES};
pub use limits::{
    Limits, MAX_CLUSTER_BY_COLUMNS, MAX_COLUMNS_OF_FILE, MAX_NOTES, MAX_NOTES_BYTES, MAX_SELECTED_COLUMNS,
};
pub use location::{HIDDEN, Location, LocationError, MAX_LOCATION_BYTES, without_credentials};
pub use manifests::{ManifestDetail, ManifestEntry, ManifestPage, ManifestPosition, ManifestsRequest};
pub use name::{MAX_NAME_BYTES, MAX_NAMESPACE_PARTS, NameError, NamespaceName, TableIdent, TableName, TagName};
pub use namespaces::Namespace;
pub use obstacle_log::{ColumnObstacle, MAX_EXAMPLE_BYTES, MAX_LOGGED_OBSTACLES};
pub use once::{Done, Once, Render};
pub use operations::{backup, check, ensure_data_folder, list_holding_tokens, restore};
pub use orphans::{MIN_ORPHAN_AGE_MS, OrphanPage, OrphansRequest};
pub use page::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageSize};
pub use plan::{
    ConjunctMetrics, Explained, ExplainedConjunct, Filter, NamesInFile, Plan, PlanMetrics, PlanPage, PlanRequest,
    PlanTimings, PlannedChunk, PlannedFile, PlannedPage, Pruning, ScanSchema, SnapshotRef,
};
pub use plan_cache::DEFAULT_PLAN_CACHE_BYTES;
pub use prunus_manifest::{
    AuditId, AuditMode, AuditRow, AuditState, CheckProgress, CheckReport, Conflict, ConflictReason, Counted,
    DataFileColumns, DataFileRow, Distinct, Error as StoreError, Existing, Fault as CheckFault, FileId, FileLeaf,
    Finding, FindingKind, Histogram, JournalDetail, JournalEntry, JournalFilter, JournalId, JournalPage, JournalRow,
    MAX_AUDITS_PER_TABLE, MAX_ENTRIES_PER_READ, MAX_FILES_PER_ROLLBACK, MAX_READERS, MAX_TAGS_PER_TABLE, MAX_TOKENS,
    ManifestId, ManifestZone, Mend, Number, Operation, Partition, Place, PowerLoss, REPLY_KEPT_MS, RequestKey, Role,
    SchemaId, SnapshotId, SnapshotRow, StoreActivity, StoreState, StoredReply, TableId, TableLayout, TagChange, Totals,
};
pub use prunus_pruner::{
    FilterError, MAX_FILTER_BYTES, MAX_FILTER_DEPTH, MAX_FILTER_VALUES, MAX_FILTER_WORDS, MIN_FILTER_DEPTH, NanOrder,
    Obstacle, Obstacles, Outcome, Verdict, nearest,
};
pub use readiness::NotReady;
pub use regroup::{RegroupRequest, Regrouped};
pub use schema_json::{
    FieldJson, NestedJson, SchemaJsonError, TypeJson, check_fields, literal_from_json, type_named, value_to_json,
};
pub use snapshots::Snapshot;
pub use storage::{
    AllowedLocations, MAX_REQUESTS_AT_ONCE, MAX_RETRIES, MAX_RETRY_TIME, ObjectStoreOptions, OperationActivity,
    SchemeActivity, Storage, StorageActivity, StorageError, StoreFailure, StoreOperation, StoreOutcome, StoreScheme,
    StoredObject, TryOutcome, UnknownOption,
};
pub use table_history::{Snapshots, TableHistory};
pub use tables::{NewTable, SchemaSource, Table, faults_of_table};
pub use tags::Tag;
