//! The store: one SQLite file with one writer and many readers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prunus_statistics::FieldId;

use crate::activity::StoreActivity;
use crate::job::WaitingJob;
use crate::journal::GrowingEntry;
use crate::late_column::ReadLateColumns;
use crate::layout::{self, FileRepair, Layout, Regrouped, RepairOutcome, TableLayout};
use crate::lock::StoreLock;
use crate::maintenance::{Maintenance, Notices};
use crate::readers::Readers;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::writer::Writer;
use crate::{Error, FileId, Result, TableId, backup, database, private_file, restore};

/// How many files a manifest is made of.
pub const MANIFEST_TARGET_FILES: u32 = 4096;

/// The most files that a manifest may be made of.
pub const MAX_MANIFEST_FILES: u32 = 65_536;

/// The most read transactions that run at once; a further one waits.
pub const MAX_READERS: usize = 48;

/// What a loss of power, or a crash of the whole machine, may take along. When only the process ends, however it ends,
/// nothing is lost either way; and nothing is damaged, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PowerLoss {
    /// A commit is answered when it has reached the disk.
    #[default]
    LosesNothing,
    /// A commit is answered when it is in the hands of the operating system. Those of the last moments may be gone, the
    /// newest ones first: no commit is there without those before it.
    MayLoseLastCommits,
}

/// What may be set when a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// How many files a manifest is made of; taken as 1 or [`MAX_MANIFEST_FILES`] where it is beyond them.
    pub manifest_target_files: u32,
    /// How many read transactions may run at once; taken as 1 or [`MAX_READERS`] where it is beyond them.
    pub readers_max: usize,
    /// What a loss of power may take along.
    pub power_loss: PowerLoss,
    /// What finds out which columns came into a table late, and what the files that were there hold of them. Without it that
    /// stays unknown.
    pub late_columns: Option<ReadLateColumns>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            manifest_target_files: MANIFEST_TARGET_FILES,
            readers_max: MAX_READERS,
            power_loss: PowerLoss::default(),
            late_columns: None,
        }
    }
}

impl StoreOptions {
    fn target_files(&self) -> u64 {
        self.manifest_target_files.clamp(1, MAX_MANIFEST_FILES).into()
    }

    fn readers(&self) -> usize {
        self.readers_max.clamp(1, MAX_READERS)
    }
}

/// How much there is of a store at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreState {
    /// Bytes of the database; 0 where its file does not tell.
    pub database_bytes: u64,
    /// Bytes of the write-ahead log, which is not cut when it is folded into the database; 0 where there is none.
    pub log_bytes: u64,
    /// Tables that the maintenance has to look at.
    pub due_tables: usize,
}

/// An open store. Share it behind an `Arc`; every method blocks, so call none from async code.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use prunus_manifest::{Error, Store};
///
/// # let folder = tempfile::tempdir()?;
/// let store = Store::open(&folder.path().join("store.db"))?;
/// store.write(|tx| tx.create_namespace("sales", &Default::default(), 0).map(drop))?;
/// let names = store.read(|tx| tx.list_namespaces("", 10))?;
/// assert_eq!(names[0].name, "sales");
/// # Ok(())
/// # }
/// ```
pub struct Store {
    // In the order in which they are dropped: maintenance ends before what it works with; the writer's connection is the last
    // one, and so folds the log into the file.
    maintenance: Maintenance,
    layout: Arc<Layout>,
    readers: Arc<Readers>,
    writer: Arc<Writer>,
    path: PathBuf,
    activity: Arc<StoreActivity>,
    _lock: StoreLock,
}

impl Store {
    /// Opens the store in the SQLite file at `path`, which is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process has it open; [`Error::RestoreUnfinished`] if it is between the old and the new
    /// one; [`Error::Emptied`] if the file has lost all that it held; [`Error::NotADatabase`], [`Error::ForeignDatabase`] or
    /// [`Error::NewerDatabase`] if the file is none of this version's; [`Error::Unwritable`],
    /// [`Error::NoWriteAheadLog`], [`Error::Sqlite`] or [`Error::LockFile`] if it cannot be used.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, &StoreOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(path: &Path, options: &StoreOptions) -> Result<Self> {
        let lock = StoreLock::acquire(path)?;
        restore::refuse_unfinished(path)?;
        refuse_emptied(path, &lock)?;
        if !path.exists() {
            // Made by SQLite it would be for all that the process lets.
            private_file::ensure(path).map_err(backup::unusable(path))?;
        }
        let connection = database::open_writer(path, options.power_loss)?;
        lock.mark();
        let (notices, activity) = (Arc::new(Notices::default()), Arc::new(StoreActivity::default()));
        notices.add(layout::list_due(&connection, options.target_files())?);
        let start =
            |connection, notices| Writer::start(connection, options.target_files(), notices, Arc::clone(&activity));
        let writer = Arc::new(start(connection, Arc::clone(&notices))?);
        let readers = Arc::new(Readers::new(path, options.readers(), Arc::clone(&activity)));
        let layout =
            Layout::new(Arc::clone(&readers), Arc::clone(&writer), options.target_files(), options.late_columns);
        let layout = Arc::new(layout);
        let maintenance = Maintenance::start(Arc::clone(&layout), notices, Arc::clone(&activity))?;
        Ok(Self { maintenance, layout, readers, writer, path: path.to_owned(), activity, _lock: lock })
    }

    /// The file that the store is kept in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was done since the store was opened.
    pub fn activity(&self) -> &StoreActivity {
        &self.activity
    }

    /// How much there is of the store now. Asks for the sizes of two files, and waits for nothing.
    pub fn state(&self) -> StoreState {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        StoreState {
            database_bytes: bytes(&self.path),
            log_bytes: bytes(&backup::beside(&self.path, "-wal")),
            due_tables: self.maintenance.due_tables(),
        }
    }

    /// Runs `job` on the writer's thread and returns when what it did is durable. Jobs that wait at the same time share
    /// one transaction and one fsync; a job that fails or panics leaves no trace and does not harm the others: then all are run
    /// again, after what they did was rolled back. So a job may run more than once; it is cheapest where it looks before it writes.
    /// It must not write to the store itself: it would wait for the thread that it runs on.
    ///
    /// # Errors
    /// What the job answers; [`Error::NotCommitted`] if the transaction could not be made durable, [`Error::JobPanicked`],
    /// [`Error::Closed`].
    pub fn write<T, E>(&self, job: impl FnMut(&WriteTransaction<'_>) -> Result<T, E> + Send + 'static) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.writer.write(job)
    }

    /// The same for callers that must not wait: queues `job` and has `reply` called with its answer, on the writer's thread, which
    /// it must not hold up. Gives the job back if the queue is full; [`Store::queue`] then waits for a place in it.
    pub fn submit<T, E>(
        &self,
        job: impl FnMut(&WriteTransaction<'_>) -> Result<T, E> + Send + 'static,
        reply: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Option<WaitingJob>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        self.writer.submit(job, reply)
    }

    /// Waits until the queue takes a job that it had no place for.
    pub fn queue(&self, job: WaitingJob) {
        self.writer.queue(job);
    }

    /// Runs `job` in one read transaction: all that it reads is of one state. Keep it short, and do not read again inside
    /// it: the number of readers is bounded.
    ///
    /// # Errors
    /// What the job answers; [`Error::Sqlite`] if no connection can be had.
    pub fn read<T, E: From<Error>>(&self, job: impl FnOnce(&ReadTransaction<'_>) -> Result<T, E>) -> Result<T, E> {
        self.readers.read(job)
    }

    /// Returns when no maintenance is due: full tails are sealed, manifests in a bad layout are grouped anew. What failed
    /// before is tried again, and what falls due meanwhile is waited for, too, so under commits that do not end this may not
    /// return. Maintenance goes on without it; this is for those who want to see the outcome.
    ///
    /// # Errors
    /// [`Error::NotMaintained`] with one of the tables that could not be, once all were tried; [`Error::Closed`].
    pub fn wait_for_maintenance(&self) -> Result<()> {
        self.maintenance.wait()
    }

    /// Groups the manifests of a table anew until none is small and none overlap in the values of the first column of
    /// `cluster_by` that need not. No snapshot changes, and commits go on meanwhile.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::MissingBlock`] or [`Error::DamagedBlock`] if a manifest cannot be read, which then stays as
    /// it is; [`Error::Sqlite`], [`Error::Closed`].
    pub fn regroup(&self, table_id: TableId) -> Result<Regrouped> {
        self.layout.regroup_all(table_id, None)
    }

    /// The same for one who asked for it: the entry is written in the journal with the first manifests that are put in place, if
    /// any are, and says how many entries of manifests were moved.
    ///
    /// # Errors
    /// As [`Store::regroup`].
    pub fn regroup_for(&self, table_id: TableId, entry: GrowingEntry) -> Result<Regrouped> {
        self.layout.regroup_all(table_id, Some(entry))
    }

    /// Replaces statistics of files of a table; says what became of each. Snapshots and files stay what they are, and commits
    /// go on meanwhile. A manifest that has one of the files is built anew as a whole, so give all of its files together;
    /// each is put in place by itself. What fails in the middle leaves what was done before done.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::MissingBlock`], [`Error::DamagedBlock`] or [`Error::DamagedRow`] if what is known of a
    /// file cannot be read; [`Error::Sqlite`], [`Error::NotCommitted`], [`Error::Closed`].
    pub fn repair(
        &self,
        table_id: TableId,
        repairs: &BTreeMap<FileId, FileRepair>,
    ) -> Result<BTreeMap<FileId, RepairOutcome>> {
        self.layout.repair(table_id, repairs)
    }

    /// How well a table is laid out now, were its entries ordered by these columns.
    ///
    /// # Errors
    /// [`Error::TableGone`], [`Error::DamagedBlock`], [`Error::Sqlite`].
    pub fn load_layout(&self, table_id: TableId, cluster_by: &[FieldId]) -> Result<TableLayout> {
        self.layout.load(table_id, Some(cluster_by))
    }
}

/// Refuses to make a new store of an empty file where there was a store. An empty file alone is what a process leaves that is killed
/// between making it and writing to it, and becomes a store; so does no file at all.
fn refuse_emptied(path: &Path, lock: &StoreLock) -> Result<()> {
    let is_empty = |path: &Path| std::fs::metadata(path).map(|file| file.len() == 0).ok();
    // SQLite throws the log of an empty file away.
    let has_log = is_empty(&backup::beside(path, "-wal")) == Some(false);
    if is_empty(path) == Some(true) && (has_log || lock.is_marked()?) {
        return Err(Error::Emptied { path: path.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_a_new_store_only_where_none_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let empty = |path: &Path| std::fs::write(path, "").unwrap();
        let is_emptied = || matches!(Store::open(&path), Err(Error::Emptied { .. }));
        // As one that was killed before it wrote anything leaves it.
        empty(&backup::beside(&path, ".lock"));
        empty(&path);
        empty(&backup::beside(&path, "-wal"));
        drop(Store::open(&path).unwrap());
        drop(Store::open(&path).unwrap());
        empty(&path);
        assert!(is_emptied());
        std::fs::remove_file(backup::beside(&path, ".lock")).unwrap();
        std::fs::write(backup::beside(&path, "-wal"), "a log").unwrap();
        assert!(is_emptied());
        assert_eq!(std::fs::read(&path).unwrap(), b"");
        std::fs::remove_file(&path).unwrap();
        drop(Store::open(&path).unwrap());
    }

    #[test]
    fn the_target_is_held_to_its_limits() {
        let limit = MAX_MANIFEST_FILES;
        for (asked, taken) in [(0, 1), (1, 1), (limit, limit), (limit + 1, limit), (u32::MAX, limit)] {
            let options = StoreOptions { manifest_target_files: asked, ..StoreOptions::default() };
            assert_eq!(options.target_files(), u64::from(taken), "{asked}");
        }
    }

    #[test]
    fn the_readers_are_held_to_their_limits() {
        let limit = MAX_READERS;
        for (asked, taken) in [(0, 1), (1, 1), (limit, limit), (limit + 1, limit), (usize::MAX, limit)] {
            let options = StoreOptions { readers_max: asked, ..StoreOptions::default() };
            assert_eq!(options.readers(), taken, "{asked}");
        }
    }
}
