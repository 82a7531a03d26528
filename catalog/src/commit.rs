//! Commits: files in, files out, one snapshot more.
//!
//! All reading and checking is done before the transaction ([`ready`]); in it the store compares, inserts and reads its answer.
//! What another commit may do in between is found out where a filter says that it matters ([`checked`]).

mod checked;
mod folders;
mod heads;
mod reading;
mod ready;
mod transaction;

use std::collections::BTreeMap;
use std::sync::Arc;

use prunus_manifest::{Operation, SnapshotId, Totals, WriteTransaction};
use prunus_pruner::NanOrder;
use prunus_statistics::Literal;
use tokio::time::Instant;

use crate::admission::ChangePlace;
use crate::catalog::Catalog;
use crate::declared::DeclaredStatistics;
use crate::journal::{Change, Made};
use crate::limits::{Limits, MAX_COLUMNS_OF_FILE, check_notes, too_many};
use crate::name::TableIdent;
use crate::once::{Done, Once};
use crate::plan::Filter;
use crate::{Error, Fault, Result};

use ready::ReadyCommit;

pub(crate) use heads::Heads;
pub(crate) use ready::target_of;

pub use checked::{MAX_COMMIT_ATTEMPTS, MAX_LISTED_CONFLICTS};
pub use reading::MAX_READING_TIME;
pub use transaction::{MAX_TABLES_PER_TRANSACTION, PreparedTransaction, TableCommit, TableCommitted};

/// The most files that one commit adds and removes.
pub const MAX_FILES_PER_COMMIT: usize = 100_000;

/// A change of a table, as it is asked for.
#[derive(Clone, Debug)]
pub struct CommitRequest {
    /// What it means.
    pub operation: Operation,
    /// The snapshot that it was worked out from: what is removed must have been live in it.
    pub base_snapshot: Option<SnapshotId>,
    /// The files to be added.
    pub add: Vec<AddedFile>,
    /// The paths of the files to be removed.
    pub remove: Vec<String>,
    /// The rows that an overwrite was worked out from: it conflicts with a file that came after the base and may hold one of
    /// them. Names bind to the current schema.
    pub filter: Option<Filter>,
    /// How the writer's engine orders NaN in the filter.
    pub nan_order: NanOrder,
    /// What the writer notes.
    pub summary: BTreeMap<String, String>,
}

/// A file to be added, with what its writer says of it. What is absent is unknown.
#[derive(Clone, Debug, Default)]
pub struct AddedFile {
    /// Where it is.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: Option<u64>,
    /// How many rows it has.
    pub row_count: Option<u64>,
    /// Values that it has in every row, by column key; `None` is null.
    pub partition: BTreeMap<String, Option<Literal>>,
    /// The table's columns that it does not hold, by column key.
    pub absent_columns: Vec<String>,
    /// Statistics by column key.
    pub columns: BTreeMap<String, DeclaredStatistics>,
    /// What was found wrong with it when it was read. With any, it is looked at as far as can be and not added.
    pub faults: Vec<Fault>,
}

/// What a commit did.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The new snapshot.
    pub snapshot_id: SnapshotId,
    /// Its time, in milliseconds since 1970-01-01T00:00Z.
    pub committed_at_ms: i64,
    /// How many files were added.
    pub added_files: u64,
    /// How many files were removed.
    pub removed_files: u64,
    /// What is live in the table now.
    pub totals: Totals,
    /// What in the declarations was taken as unknown, and why.
    pub warnings: Vec<Fault>,
}

/// As the store has it, with nothing to warn of.
impl From<prunus_manifest::Committed> for Committed {
    fn from(done: prunus_manifest::Committed) -> Self {
        Self {
            snapshot_id: done.snapshot_id,
            committed_at_ms: done.committed_at_ms,
            added_files: done.added_files,
            removed_files: done.removed_files,
            totals: done.totals,
            warnings: Vec::new(),
        }
    }
}

impl Committed {
    /// What the journal is told of it.
    pub(crate) fn change(&self, operation: &'static str, table: &TableIdent) -> Change {
        Change::of_table(operation, table)
            // Snapshots of a table follow each other without a gap.
            .from(SnapshotId(self.snapshot_id.0 - 1))
            .to(self.snapshot_id)
            .with_count("added_files", self.added_files)
            .with_count("removed_files", self.removed_files)
    }
}

impl Catalog {
    /// Reads the files of a change, checks it, and makes it the table's newest snapshot. All or nothing.
    ///
    /// # Errors
    /// [`Invalid`](crate::Error::Invalid) with every fault of every file; [`Filter`](crate::Error::Filter) with those of the
    /// filter; [`Conflict`](crate::Error::Conflict) with every path that contradicts the table;
    /// [`NotFound`](crate::Error::NotFound), [`StorageUnavailable`](crate::Error::StorageUnavailable),
    /// [`SchemaMoved`](crate::Error::SchemaMoved), [`HeadMoved`](crate::Error::HeadMoved), [`Store`](crate::Error::Store).
    pub async fn commit(&self, ident: TableIdent, request: CommitRequest) -> Result<Committed> {
        self.commit_once(ident, request, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::commit`], and [`KeyReused`](crate::Error::KeyReused).
    pub async fn commit_once(
        &self,
        ident: TableIdent,
        request: CommitRequest,
        once: Once<Committed>,
    ) -> Result<Done<Committed>> {
        let prepared = self.prepare_commit(ident, request).await?;
        self.commit_prepared(prepared, once).await
    }

    /// Does of a commit all that comes before its transaction: reads its files and checks it. Whoever stops waiting for that stops it,
    /// and nothing was done.
    ///
    /// # Errors
    /// As [`Catalog::commit`], and [`Overloaded`](crate::Error::Overloaded).
    pub async fn prepare_commit(&self, ident: TableIdent, request: CommitRequest) -> Result<PreparedCommit> {
        let prepared = self.prepare_uncounted(ident, request).await;
        if prepared.is_err() {
            self.activity.commits.outcomes.count(&prepared);
        }
        prepared
    }

    async fn prepare_uncounted(&self, ident: TableIdent, request: CommitRequest) -> Result<PreparedCommit> {
        if request.is_too_large(&self.limits) {
            return Err(Error::Invalid(request.check_shape(&self.limits)));
        }
        let place = self.admission.commit(request.size_bytes())?;
        let ready = self.make_ready(ident, request, Instant::now() + MAX_READING_TIME).await?;
        Ok(PreparedCommit { ready, place: Arc::new(place.after_reading()) })
    }

    /// Makes of a commit that is prepared the table's newest snapshot.
    ///
    /// # Errors
    /// As [`Catalog::commit_once`].
    pub async fn commit_prepared(&self, prepared: PreparedCommit, once: Once<Committed>) -> Result<Done<Committed>> {
        let PreparedCommit { ready, place } = prepared;
        let table = ready.table.clone();
        let record = |tx: &WriteTransaction<'_>, [ready]: &[ReadyCommit; 1]| {
            let done = ready.record(ready.check(tx)?)?;
            let made = ready.change("commit", &done);
            Ok(Made::change(done, made))
        };
        let done = self.commit_ready([ready], place, once, record).await;
        self.activity.commits.outcomes.count(&done);
        if let Ok(Done::Now(committed)) = &done {
            self.activity.commits.record(&table, committed);
        }
        done
    }
}

/// A commit whose files are read and that is checked as far as can be before its transaction. It has its place among the changes
/// that wait.
pub struct PreparedCommit {
    ready: ReadyCommit,
    place: Arc<ChangePlace>,
}

impl AddedFile {
    /// A file of which its writer says nothing but where it is.
    pub fn at(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    /// About how much memory it takes, and what will be known of it.
    fn size_bytes(&self) -> usize {
        const LEAST: usize = 1024;
        const ENTRY: usize = 64;
        let texts = |text: &String| text.len() + ENTRY;
        let columns: usize = self.columns.keys().map(|key| texts(key) + size_of::<DeclaredStatistics>()).sum();
        let names: usize = self.partition.keys().chain(&self.absent_columns).map(texts).sum();
        (self.path.len() + columns + names).max(LEAST)
    }

    /// Lists that are longer than a table has columns.
    fn check_lists(&self, index: usize) -> impl Iterator<Item = Fault> {
        let lists = [
            ("partition values", self.partition.len()),
            ("absent_columns", self.absent_columns.len()),
            ("columns with statistics", self.columns.len()),
        ];
        // The place is written for those alone that are at fault: there may be a hundred thousand files.
        let too_long = lists.into_iter().filter(|(_, count)| *count > MAX_COLUMNS_OF_FILE);
        too_long.filter_map(move |(what, count)| too_many(&format!("add[{index}]"), what, count, MAX_COLUMNS_OF_FILE))
    }
}

impl CommitRequest {
    /// New files, and nothing else.
    pub fn append(files: impl IntoIterator<Item = AddedFile>) -> Self {
        Self {
            operation: Operation::Append,
            base_snapshot: None,
            add: files.into_iter().collect(),
            remove: Vec::new(),
            filter: None,
            nan_order: NanOrder::default(),
            summary: BTreeMap::new(),
        }
    }

    /// How many files it adds and removes.
    fn file_count(&self) -> usize {
        self.add.len() + self.remove.len()
    }

    /// Whether it has more files, or longer lists, than are looked at.
    fn is_too_large(&self, limits: &Limits) -> bool {
        self.file_count() > limits.files_per_commit || !self.check_lists().is_empty()
    }

    /// About how much memory it takes, and what will be known of its files.
    fn size_bytes(&self) -> usize {
        let added: usize = self.add.iter().map(AddedFile::size_bytes).sum();
        let removed: usize = self.remove.iter().map(|path| path.len() + size_of::<String>()).sum();
        added + removed + self.filter.as_ref().map_or(0, Filter::written_bytes)
    }

    /// What is wrong with the length of its lists.
    fn check_lists(&self) -> Vec<Fault> {
        let of_files = self.add.iter().enumerate().flat_map(|(index, file)| file.check_lists(index));
        check_notes("summary", &self.summary).into_iter().chain(of_files).collect()
    }

    /// Holds the request against the limits and what its operation may do; every fault found.
    fn check_shape(&self, limits: &Limits) -> Vec<Fault> {
        let (adds, removes) = (!self.add.is_empty(), !self.remove.is_empty());
        let (count, most) = (self.file_count(), limits.files_per_commit);
        let too_many = format!("a commit adds and removes at most {most} files, and this one {count}");
        let of_files: &[(bool, &str, &str)] = match self.operation {
            _ if count > most => &[(true, "add", &too_many)],
            Operation::Append => &[
                (!adds, "add", "an append adds at least one file"),
                (removes, "remove", "an append removes nothing: what also removes is an overwrite, or a replace"),
            ],
            Operation::Delete => &[
                (adds, "add", "a delete adds nothing: what also adds is an overwrite, or a replace"),
                (!removes, "remove", "a delete removes at least one file"),
            ],
            Operation::Replace => &[
                (!adds, "add", "a replace adds at least one file: what only removes is a delete"),
                (!removes, "remove", "a replace removes at least one file: what only adds is an append"),
            ],
            Operation::Overwrite => &[(!adds && !removes, "add", "an overwrite adds or removes something")],
        };
        let has_filter = self.filter.is_some();
        let of_filter = [
            (has_filter && self.operation != Operation::Overwrite, "filter", "only an overwrite has a filter"),
            (
                has_filter && self.operation == Operation::Overwrite && self.base_snapshot.is_none(),
                "base_snapshot",
                "a filter needs the snapshot that was read by it",
            ),
        ];
        let faults = of_files.iter().chain(&of_filter).filter(|(is_wrong, ..)| *is_wrong);
        faults.map(|(_, at, message)| Fault::at(*at, *message)).chain(self.check_lists()).collect()
    }
}
