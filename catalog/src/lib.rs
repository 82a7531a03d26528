//! The use cases of Prunus: register files, keep snapshots, plan scans.
//!
//! The only crate that joins the store, the pruner and object storage. [`Catalog`] has a method per use case; each stands in
//! a file of its own. It knows nothing of HTTP and can be used without it.

mod catalog;
mod clock;
mod error;
mod blocking;
mod page;

mod name;
mod location;
mod storage;
pub mod schema;
mod schema_json;
mod column_ref;
mod hive;
mod properties;

mod namespaces;
mod tables;
pub mod collect;
mod declared;
mod partition;
mod registration;
mod commit;
mod zone_maps;
mod plan_cache;
mod plan;
mod snapshots;
mod files;
mod operations;

pub use catalog::{Catalog, CatalogOptions};
pub use clock::{Clock, SystemClock};
pub use commit::{AddedFile, CommitRequest, Committed, MAX_FILES_PER_COMMIT};
pub use declared::{DeclaredBound, DeclaredStatistics};
pub use error::{Error, Fault, Result};
pub use files::{FileDetail, FileEntry};
pub use location::{Location, LocationError, MAX_LOCATION_BYTES};
pub use name::{MAX_NAME_BYTES, MAX_NAMESPACE_PARTS, NameError, NamespaceName, TableIdent, TableName};
pub use namespaces::Namespace;
pub use operations::{backup, check, restore};
pub use page::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageSize};
pub use plan::{
    ConjunctMetrics, Explained, ExplainedConjunct, Filter, Plan, PlanMetrics, PlanPage, PlanRequest, PlanTimings,
    PlannedFile, Pruning, SnapshotRef,
};
pub use plan_cache::DEFAULT_PLAN_CACHE_BYTES;
pub use prunus_manifest::{
    CheckProgress, CheckReport, Conflict, ConflictReason, DataFileRow, Existing, Fault as CheckFault, FileId, Finding,
    ManifestId, Mend, Operation, Place, PowerLoss, SchemaId, SnapshotId, TableId, Totals,
};
pub use prunus_pruner::{FilterError, NanOrder, Obstacles, Outcome, Verdict};
pub use schema_json::{FieldJson, NestedJson, SchemaJsonError, TypeJson, literal_from_json, value_to_json};
pub use snapshots::Snapshot;
pub use storage::{Storage, StorageError, StoredObject};
pub use tables::{NewTable, SchemaSource, Table};
