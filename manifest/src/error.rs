//! What the store can answer instead of a result.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use prunus_statistics::{CodecError, FieldId, UnknownType};
use rusqlite::ErrorCode;

use crate::{
    AuditId, FileId, MAX_AUDITS_PER_TABLE, MAX_FILES_PER_ROLLBACK, MAX_TAGS_PER_TABLE, MAX_TOKENS, ManifestId,
    SchemaId, SnapshotId, TableId, Totals,
};

/// The result of the store's own work.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process, or another handle of this one, has the store open.
    #[error("the store {} is in use by another process", path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The lock file beside the database cannot be made or locked.
    #[error("the lock file {} cannot be used", path.display())]
    LockFile {
        /// The lock file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// There is no store where one is to be checked, copied or read.
    #[error("there is no store in {}", path.display())]
    NoStore {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is a store where a backup is to be restored.
    #[error("there is a store in {} already; with --replace it is moved aside", path.display())]
    StoreExists {
        /// The database.
        path: PathBuf,
    },
    /// There is something where a backup is to be written.
    #[error("{} exists already", path.display())]
    FileExists {
        /// What is there.
        path: PathBuf,
    },
    /// A restore of this store was interrupted; running it again finishes it.
    #[error("a restore of the store {} was interrupted: run `prunus restore` again", path.display())]
    RestoreUnfinished {
        /// The database.
        path: PathBuf,
    },
    /// A copy of a store is not sound.
    #[error("the copy {} is not sound: {message}", path.display())]
    DamagedCopy {
        /// The copy.
        path: PathBuf,
        /// What SQLite says of it.
        message: String,
    },
    /// A file of a backup or store cannot be used.
    #[error("{} cannot be used", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file is empty, and there was a store in it.
    #[error("{} is empty though it held a store: put a backup in its place with `prunus restore`, or remove it to begin anew", path.display())]
    Emptied {
        /// The file.
        path: PathBuf,
    },
    /// The file is no SQLite database.
    #[error("{} is not a SQLite database", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a SQLite database of another program.
    #[error("{} is a SQLite database but not a Prunus store", path.display())]
    ForeignDatabase {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a newer version of this program.
    #[error("the store {} has version {version}; this program knows versions up to {supported}", path.display())]
    NewerDatabase {
        /// The database.
        path: PathBuf,
        /// Its version.
        version: i64,
        /// The newest version that this program knows.
        supported: i64,
    },
    /// The database has become one of another version while this program has it open.
    #[error("the store has version {version}, and had version {expected} when it was opened")]
    OtherVersion {
        /// Its version.
        version: i64,
        /// The version that it should have.
        expected: i64,
    },
    /// The database cannot have a write-ahead log, without which readers would stop the writer: the file system may lack
    /// shared memory, or another program holds the file.
    #[error("{} cannot have a write-ahead log; its journal mode stays `{mode}`", path.display())]
    NoWriteAheadLog {
        /// The database.
        path: PathBuf,
        /// The mode that it stays in, in SQLite's words.
        mode: String,
    },
    /// The database cannot be written: it, the folder or the file system is for reading alone, or belongs to another user.
    #[error("the store {} cannot be written", path.display())]
    Unwritable {
        /// The database.
        path: PathBuf,
        /// What SQLite says of it.
        source: rusqlite::Error,
    },
    /// SQLite failed.
    #[error("the database failed")]
    Sqlite(#[from] rusqlite::Error),
    /// The transaction that this job shared could not be made durable: nothing of it happened.
    #[error("the transaction was not committed")]
    NotCommitted(#[source] Arc<rusqlite::Error>),
    /// A table that is due was not sealed or grouped anew. It stays as it is and plans right, only slower.
    #[error("table {table_id} was not maintained")]
    NotMaintained {
        /// The table.
        table_id: TableId,
        /// Why.
        source: Arc<Error>,
    },
    /// The job panicked: nothing of it happened.
    #[error("the job panicked")]
    JobPanicked,
    /// The writer thread is gone.
    #[error("the store is closed for writing")]
    Closed,
    /// The thread of the writer cannot be started.
    #[error("the writer thread cannot be started")]
    Thread(#[source] std::io::Error),

    /// There is no namespace of this name.
    #[error("namespace `{0}` does not exist")]
    NamespaceNotFound(String),
    /// There is a namespace of this name already.
    #[error("namespace `{0}` exists already")]
    NamespaceExists(String),
    /// The namespace holds tables.
    #[error("namespace `{0}` is not empty")]
    NamespaceNotEmpty(String),
    /// The namespace has no table of this name.
    #[error("table `{namespace}.{name}` does not exist")]
    TableNotFound {
        /// The namespace, which exists.
        namespace: String,
        /// The name asked for.
        name: String,
    },
    /// The table has been dropped since its id was read.
    #[error("table {0} does not exist any more")]
    TableGone(TableId),
    /// The namespace has a table of this name already.
    #[error("table `{namespace}.{name}` exists already")]
    TableExists {
        /// The namespace.
        namespace: String,
        /// The name asked for.
        name: String,
    },
    /// The table has no schema of this id.
    #[error("table {table_id} has no schema {schema_id}")]
    SchemaNotFound {
        /// The table.
        table_id: TableId,
        /// The schema asked for.
        schema_id: SchemaId,
    },
    /// The table has no snapshot of this id: it was never made, or is expired.
    #[error("table {table_id} has no snapshot {snapshot_id}")]
    SnapshotNotFound {
        /// The table.
        table_id: TableId,
        /// The snapshot asked for.
        snapshot_id: SnapshotId,
    },
    /// What the table held at this time is in a snapshot that is expired.
    #[error("what table {table_id} held at {time_ms} ms is expired")]
    SnapshotAtExpired {
        /// The table.
        table_id: TableId,
        /// The time asked for, in milliseconds since 1970-01-01T00:00Z.
        time_ms: i64,
    },
    /// The table has no tag of this name.
    #[error("table {table_id} has no tag `{name}`")]
    TagNotFound {
        /// The table.
        table_id: TableId,
        /// The name asked for.
        name: String,
    },
    /// The table has as many tags as a table can have.
    #[error("table {0} has {MAX_TAGS_PER_TABLE} tags, the most that there can be")]
    TooManyTags(TableId),
    /// There is, or was, a token of that name.
    #[error("token {0} exists already")]
    TokenExists(String),
    /// There is no such token.
    #[error("token {0} does not exist")]
    TokenNotFound(String),
    /// As many tokens hold as may.
    #[error("{MAX_TOKENS} tokens hold already")]
    TooManyTokens,
    /// There is no data file of this id.
    #[error("data file {0} does not exist")]
    FileNotFound(FileId),
    /// The table has no audit of this id: there never was one, or it has made room for later ones.
    #[error("table {table_id} has no audit {audit_id}")]
    AuditNotFound {
        /// The table.
        table_id: TableId,
        /// The audit asked for.
        audit_id: AuditId,
    },
    /// As many audits of the table are running as are kept.
    #[error("table {0} has {MAX_AUDITS_PER_TABLE} audits that are running, the most that there can be")]
    TooManyAudits(TableId),

    /// The commit was made for a schema that is not the current one any more. Validate again and retry.
    #[error("the schema moved from {expected} to {current}")]
    SchemaMoved {
        /// What the commit expected.
        expected: SchemaId,
        /// What the table has.
        current: SchemaId,
    },
    /// The commit was held against an older snapshot than the table has. Look at what came in between and retry.
    #[error("the commit was checked up to snapshot {checked_up_to}, and the table has snapshot {current}")]
    HeadMoved {
        /// What the commit was held against.
        checked_up_to: SnapshotId,
        /// What the table has.
        current: SnapshotId,
    },
    /// Statistics that a change was worked out from were repaired since. Work it out again and retry.
    #[error("statistics of table {0} were repaired since they were read")]
    StatisticsMoved(TableId),
    /// The commit contradicts what is in the table.
    #[error("the commit conflicts with snapshot {current_snapshot} in {} paths", conflicts.len())]
    Conflict {
        /// The table's snapshot that the commit was held against.
        current_snapshot: SnapshotId,
        /// Every path at fault.
        conflicts: Vec<Conflict>,
    },
    /// A replace must keep the rows: the sums of the added and the removed files differ.
    #[error("the files removed have {removed} rows and the files added {added}")]
    RowSumsDiffer {
        /// Rows of the files added.
        added: u64,
        /// Rows of the files removed.
        removed: u64,
    },
    /// A rollback would add and remove more files than one may.
    #[error("the rollback would add and remove more than {MAX_FILES_PER_ROLLBACK} files")]
    RollbackTooLarge,
    /// The table's rows or bytes would pass 2^63 - 1.
    #[error("the totals of table {0} would pass 2^63 - 1")]
    TotalsOverflow(TableId),

    /// The key of a request was given to a request of another content before.
    #[error("the key was given to a request of another content before")]
    KeyReused,

    /// A block does not hold what was written.
    #[error("{block} of manifest {manifest_id} of table {table_id} is damaged")]
    DamagedBlock {
        /// The table.
        table_id: TableId,
        /// The manifest.
        manifest_id: ManifestId,
        /// Which of its blocks.
        block: BlockName,
        /// What is wrong with it.
        source: FormatError,
    },
    /// A block that should be there is not.
    #[error("{block} of manifest {manifest_id} of table {table_id} is missing")]
    MissingBlock {
        /// The table.
        table_id: TableId,
        /// The manifest.
        manifest_id: ManifestId,
        /// Which of its blocks.
        block: BlockName,
    },
    /// A row does not hold what was written.
    #[error("the {what} of row {id} is damaged")]
    DamagedRow {
        /// What was read, for people.
        what: &'static str,
        /// The row's id.
        id: i64,
        /// What is wrong with it.
        source: FormatError,
    },
    /// The manifests and the tail of a table hold other files than a snapshot has: rows are lost or damaged.
    #[error("table {table_id} holds {found} in snapshot {snapshot_id}, which has {expected}")]
    Miscounted {
        /// The table.
        table_id: TableId,
        /// The snapshot.
        snapshot_id: SnapshotId,
        /// What the snapshot's own row says.
        expected: Totals,
        /// What was found.
        found: Totals,
    },
    /// Something cannot be put into its stored form; nothing that this crate accepts is known to cause it.
    #[error("a value cannot be put into its stored form")]
    Encode(#[source] FormatError),
}

/// One path of a commit that contradicts the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The path as the commit names it.
    pub path: String,
    /// What is wrong with it.
    pub reason: ConflictReason,
}

/// Why a path of a commit contradicts the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictReason {
    /// To be added, and live already.
    AlreadyLive,
    /// Named more than once in the commit, as added or removed.
    NamedTwice,
    /// To be removed, and not live.
    NotLive,
    /// To be removed, and added only after the commit's base snapshot.
    NotLiveAtBase,
    /// To be added, and a snapshot names the path with another size or etag: the object was overwritten.
    ObjectChanged,
    /// Added after the commit's base snapshot, and it may hold rows of the filter that the commit was worked out from.
    MayMatch,
}

impl fmt::Display for ConflictReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyLive => "the file is live already",
            Self::NamedTwice => "the commit names the file more than once",
            Self::NotLive => "the file is not live",
            Self::NotLiveAtBase => "the file was not live at the base snapshot",
            Self::ObjectChanged => "a snapshot names the path with another size or etag",
            Self::MayMatch => "the file was added since the base snapshot and may hold rows of the filter",
        })
    }
}

/// A block of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockName {
    /// The entries.
    Entries,
    /// The bounds and counts of a column.
    Column(FieldId),
    /// The precision and provenance of a column's statistics.
    Detail(FieldId),
    /// The zone map of a column.
    Zone(FieldId),
}

impl fmt::Display for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries => f.write_str("the entry block"),
            Self::Column(field_id) => write!(f, "the block of column {field_id}"),
            Self::Detail(field_id) => write!(f, "the detail of column {field_id}"),
            Self::Zone(field_id) => write!(f, "the zone of column {field_id}"),
        }
    }
}

/// What is wrong with stored bytes.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Shorter than a block's head, or not begun like a block.
    #[error("the bytes are not a block")]
    NotABlock,
    /// Written by a newer version.
    #[error("the block has format version {0}, newer than this program knows")]
    NewerVersion(u8),
    /// The bytes are not those that were written.
    #[error("the checksum does not match")]
    Checksum,
    /// Other columns than such a block has.
    #[error("the block has other columns than expected")]
    WrongColumns,
    /// Another number of entries than the manifest has.
    #[error("the block has {found} entries, not {expected}")]
    WrongLength {
        /// How many the manifest has.
        expected: usize,
        /// How many the block has.
        found: usize,
    },
    /// A column of a row does not hold what such a column can.
    #[error("a column of the row is not readable")]
    Column(#[from] rusqlite::Error),
    /// It is named, and is not there.
    #[error("the row is missing")]
    NoSuchRow,
    /// A code that this version does not know.
    #[error("unknown code {0}")]
    UnknownCode(u8),
    /// A name of an operation that this version does not know.
    #[error("unknown operation `{0}`")]
    UnknownOperation(String),
    /// A name that this version does not know.
    #[error("unknown name `{0}`")]
    UnknownName(String),
    /// A fraction that is no share of files.
    #[error("the fraction is not above 0 and at most 1")]
    NoSample,
    /// Arrow does not read or write it.
    #[error("the Arrow data is not valid")]
    Arrow(#[from] arrow::error::ArrowError),
    /// The type of a column is none.
    #[error("the column's type is not known")]
    ColumnType(#[from] UnknownType),
    /// Statistics do not read or write.
    #[error("the statistics are not valid")]
    Statistics(#[from] CodecError),
    /// JSON does not read or write.
    #[error("the JSON is not valid")]
    Json(#[from] serde_json::Error),
    /// MessagePack does not read.
    #[error("the MessagePack is not valid")]
    MessagePack(#[from] rmp_serde::decode::Error),
    /// MessagePack does not write.
    #[error("the MessagePack is not valid")]
    MessagePackWrite(#[from] rmp_serde::encode::Error),
}

impl Error {
    /// Whether there was no room on the disk, or SQLite gave the transaction up for a like reason: the same may succeed later.
    pub fn is_out_of_room(&self) -> bool {
        let is_full = |error: &rusqlite::Error| {
            matches!(error.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::OperationAborted))
        };
        match self {
            Self::Sqlite(error) => is_full(error),
            Self::NotCommitted(error) => is_full(error),
            _ => false,
        }
    }

    /// For `map_err`: a column of a row that does not read.
    pub(crate) fn damaged_row<E: Into<FormatError>>(what: &'static str, id: i64) -> impl FnOnce(E) -> Self {
        move |error| Self::DamagedRow { what, id, source: error.into() }
    }

    /// For `map_err`: something that does not write.
    pub(crate) fn encode<E: Into<FormatError>>(error: E) -> Self {
        Self::Encode(error.into())
    }
}
