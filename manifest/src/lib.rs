//! The store of Prunus: what is registered, in one SQLite file.
//!
//! Identity lives in rows, what is scanned lives in columns. A data file is a row; its statistics are, once enough files
//! have gathered, slots in column blocks: a block for each manifest and column, so that a plan reads the columns that its
//! filter needs and no others. Manifests have zone maps of their own, so that most blocks are not read at all. Blocks never
//! change; which of their files are live stands beside them.
//!
//! [`Store`] opens the file and runs closures: [`Store::write`] on the one writer's thread, [`Store::read`] in a read
//! transaction. What they can do are the methods of [`WriteTransaction`] and [`ReadTransaction`]. Everything here is
//! synchronous, takes the time as a parameter, and gives out ids that are never given again.

mod error;
mod ids;
mod histogram;
mod activity;

mod private_file;
mod database;
mod job;
mod lock;
mod migrate;
mod readers;
mod store;
mod transaction;
mod writer;

mod checked;
mod json;
mod namespace;
mod names;
mod access;
mod schema;
mod snapshot;
mod table;
mod alter;
mod tag;
mod totals;

mod commit;
mod conflict;
mod data_file;
mod data_file_columns;
mod distinct;
mod leaf_set;
mod rollback;
mod tail;
mod declared;
mod stored_reply;
mod journal;

mod block;
mod builder;
mod column_block;
mod column_detail;
mod column_zones;
mod entry_block;
mod forgotten;
mod inspect;
mod manifest;
mod registered_column;

mod install;
mod late_column;
mod layout;
mod maintenance;
mod regroup;

mod changes;
mod expire;
mod forget;

mod audit;

mod backup;
mod check;
mod restore;

#[cfg(test)]
mod sample;

pub use access::{GrantRow, MAX_TOKENS, NewTokenRow, Role, TokenRow, list_tokens_of};
pub use activity::{Number, StoreActivity};
pub use alter::{NewSchema, TableChange};
pub use audit::{
    AuditChange, AuditCounts, AuditEnd, AuditFinding, AuditFindingRow, AuditMode, AuditRow, AuditState, AuditStep,
    CursorKind, DueForAudit, FindingKind, MAX_AUDITS_PER_TABLE, MAX_FINDING_TEXT_BYTES, MAX_FINDINGS_PER_AUDIT,
    NewAudit, Sample,
};
pub use backup::backup;
pub use changes::{Change, ChangeKind};
pub use check::{CheckProgress, CheckReport, Difference, Fault, Finding, MAX_FINDINGS, Mend, Place, SumOf, check};
pub use column_zones::{ColumnZones, MAX_BOUND_BYTES, arrow_type};
pub use commit::{CheckedCommit, Committed, NewCommit, NewDataFile};
pub use data_file::{DataFileRow, Partition};
pub use data_file_columns::{DataFileColumns, MAX_FILES_PER_READ};
pub use distinct::Distinct;
pub use entry_block::EntryBlock;
pub use error::{BlockName, Conflict, ConflictReason, Error, FormatError, Result};
pub use expire::{Bounded, Expiry, Gap};
pub use forget::{Forgotten, MAX_GAPS_PER_STEP, UnneededFile};
pub use histogram::{Counted, Histogram};
pub use ids::{AuditId, FileId, JournalId, ManifestId, NamespaceId, SchemaId, SnapshotId, TableId, TokenId};
pub use inspect::InspectedFile;
pub use job::WaitingJob;
pub use journal::{
    GrowingEntry, JournalDetail, JournalEntry, JournalFilter, JournalPage, JournalRow, MAX_DETAIL_BYTES,
    MAX_ENTRIES_PER_READ, MAX_PAGE_DETAIL_BYTES,
};
pub use late_column::{LateColumn, ReadLateColumns};
pub use layout::{ColumnRepair, FileRepair, Regrouped, RepairOutcome, TableLayout};
pub use leaf_set::FileLeaf;
pub use manifest::{ManifestRow, ManifestZone, ManifestZones, Removal};
pub use namespace::NamespaceRow;
pub use registered_column::RegisteredColumn;
pub use restore::{Existing, restore};
pub use rollback::{MAX_FILES_PER_ROLLBACK, NewRollback, PreparedRollback, ROLLED_BACK_TO};
pub use schema::SchemaColumn;
pub use snapshot::{Operation, SnapshotRow};
pub use store::{MANIFEST_TARGET_FILES, MAX_MANIFEST_FILES, MAX_READERS, PowerLoss, Store, StoreOptions, StoreState};
pub use stored_reply::{REPLY_KEPT_MS, RequestKey, StoredReply};
pub use table::{NewTable, TableRow};
pub use tag::{MAX_TAGS_PER_TABLE, TagChange, TagRow};
pub use tail::{EncodedStatistics, TailEntry};
pub use totals::Totals;
pub use transaction::{ReadTransaction, WriteTransaction};
pub use writer::{MAX_BATCH_JOBS, MAX_QUEUED_JOBS};
