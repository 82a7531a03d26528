//! Rollback: a new snapshot with the content of an older one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::changes::ChangeKind;
use crate::commit::{CheckedCommit, Committed, NewCommit, NewDataFile};
use crate::conflict::KnownFile;
use crate::data_file::DataFileRow;
use crate::inspect::InspectedFile;
use crate::snapshot::Operation;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{EncodedStatistics, Error, ManifestId, Result, SnapshotId, TableId};

/// The most files that one rollback adds and removes.
pub const MAX_FILES_PER_ROLLBACK: u32 = 100_000;

/// The key of a snapshot's summary that says which content a rollback gave it.
pub const ROLLED_BACK_TO: &str = "rolled_back_to";

/// A table to be rolled back.
#[derive(Clone, Debug)]
pub struct NewRollback {
    /// The table.
    pub table_id: TableId,
    /// The snapshot whose content it gets; [`SnapshotId::EMPTY`] empties it.
    pub snapshot_id: SnapshotId,
    /// Now, in milliseconds since 1970-01-01T00:00Z.
    pub committed_at_ms: i64,
}

/// A rollback as it goes into a write transaction, with all that comes back.
pub struct PreparedRollback {
    commit: NewCommit,
    removed: Vec<KnownFile>,
    target: SnapshotId,
    /// The table's newest snapshot when it was prepared.
    head: SnapshotId,
    read: ReadStatistics,
}

/// Where the statistics of what comes back were read, so that none is brought back that has been repaired since.
struct ReadStatistics {
    generation: u64,
    /// `None` is the tail.
    places: BTreeSet<Option<ManifestId>>,
}

impl PreparedRollback {
    /// Sets the time of the snapshot, as [`NewRollback::committed_at_ms`] is one: preparing may have taken long.
    pub fn set_time(&mut self, committed_at_ms: i64) {
        self.commit.committed_at_ms = committed_at_ms;
    }
}

impl ReadTransaction<'_> {
    /// Works out what makes the table's content that of an older snapshot: what is live now and was not then is to be removed,
    /// what was live then and is not now is to be added again, under new ids, with all that was known of it. A file that was
    /// removed since and added again with the same content stays as it is. The schema stays the current one. What is too large
    /// is refused before any block is read.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::SnapshotNotFound`] if the snapshot was never made or is expired;
    /// [`Error::RollbackTooLarge`]; [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::DamagedRow`],
    /// [`Error::Sqlite`].
    pub fn prepare_rollback(&self, rollback: &NewRollback) -> Result<PreparedRollback> {
        self.prepare_limited(rollback, MAX_FILES_PER_ROLLBACK)
    }

    fn prepare_limited(&self, rollback: &NewRollback, files_max: u32) -> Result<PreparedRollback> {
        let NewRollback { table_id, snapshot_id: target, committed_at_ms } = *rollback;
        let head = self.load_head(table_id)?;
        let changes = self.list_few_changes(table_id, head.current_snapshot, target, files_max)?;
        let changes = changes.ok_or(Error::RollbackTooLarge)?;
        let ids_of = |kind| changes.iter().filter(move |change| change.kind == kind).map(|change| change.file_id);
        let mut add = self.load_data_files(&ids_of(ChangeKind::Added).collect::<Vec<_>>())?;
        let mut remove = self.load_data_files(&ids_of(ChangeKind::Removed).collect::<Vec<_>>())?;
        keep_what_came_back(&mut add, &mut remove);
        let read = ReadStatistics {
            generation: self.load_statistics_generation(table_id)?,
            places: add.iter().map(|file| file.manifest_id).collect(),
        };
        let add = self.inspect_files(table_id, add)?;
        let removed: Vec<KnownFile> = remove.iter().map(KnownFile::from).collect();
        let commit = NewCommit {
            table_id,
            base_snapshot: None,
            schema_id: head.schema_id,
            operation: Operation::Overwrite,
            add: add.into_iter().map(new_data_file).collect::<Result<_>>()?,
            remove: remove.into_iter().map(|file| file.path).collect(),
            summary: BTreeMap::from([(ROLLED_BACK_TO.to_owned(), target.to_string())]),
            committed_at_ms,
        };
        Ok(PreparedRollback { commit, removed, target, head: head.current_snapshot, read })
    }
}

impl WriteTransaction<'_> {
    /// Makes a snapshot with the content of an older one. Where nothing differs it is made all the same, with no files added or
    /// removed: whoever asks twice gets what was asked for twice.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::HeadMoved`] if the table has a newer snapshot than when this was prepared;
    /// [`Error::StatisticsMoved`] if some of what comes back may have been repaired since; [`Error::SchemaMoved`];
    /// [`Error::SnapshotNotFound`] if the older snapshot has expired since; [`Error::TotalsOverflow`],
    /// [`Error::FileNotFound`], [`Error::Sqlite`].
    pub fn roll_back(&self, prepared: &PreparedRollback) -> Result<Committed> {
        let PreparedRollback { commit, removed, target, head: prepared_on, read } = prepared;
        let head = self.load_head(commit.table_id)?;
        head.check_unmoved(*prepared_on)?;
        self.check_head(commit, &head)?;
        // Once no snapshot names what comes back, its objects may be deleted.
        self.check_snapshot(commit.table_id, *target)?;
        self.check_unrepaired(commit.table_id, read)?;
        // What comes back may be from before some of the columns.
        self.note_late_columns(commit.table_id);
        CheckedCommit::new(self, commit, removed.into(), &head)?.record()
    }

    /// A repair puts another manifest in place, so what was read of one that is still there is as it was.
    fn check_unrepaired(&self, table_id: TableId, read: &ReadStatistics) -> Result<()> {
        if self.load_statistics_generation(table_id)? == read.generation {
            return Ok(());
        }
        for place in &read.places {
            let stands = match place {
                Some(manifest_id) => self.get_manifest(*manifest_id)?.is_some(),
                None => false,
            };
            if !stands {
                return Err(Error::StatisticsMoved(table_id));
            }
        }
        Ok(())
    }
}

/// Leaves out the files that are on both sides under different ids.
fn keep_what_came_back(add: &mut Vec<DataFileRow>, remove: &mut Vec<DataFileRow>) {
    let live: HashMap<&str, &DataFileRow> = remove.iter().map(|file| (file.path.as_str(), file)).collect();
    let is_back = |file: &DataFileRow| live.get(file.path.as_str()).is_some_and(|live| has_same_content(live, file));
    let back: HashSet<String> = add.iter().filter(|file| is_back(file)).map(|file| file.path.clone()).collect();
    for files in [add, remove] {
        files.retain(|file| !back.contains(&file.path));
    }
}

/// Whether readers find the same rows in both. Statistics may differ, since more may be known of one than of the other.
fn has_same_content(a: &DataFileRow, b: &DataFileRow) -> bool {
    (a.size_bytes, a.row_count, &a.etag, &a.leaves, &a.partition)
        == (b.size_bytes, b.row_count, &b.etag, &b.leaves, &b.partition)
}

/// The file as it was added.
fn new_data_file(InspectedFile { row: file, statistics }: InspectedFile) -> Result<NewDataFile> {
    Ok(NewDataFile {
        path: file.path,
        size_bytes: file.size_bytes,
        row_count: file.row_count,
        etag: file.etag,
        last_modified_ms: file.last_modified_ms,
        leaves: file.leaves.to_vec(),
        partition: file.partition,
        statistics: EncodedStatistics::new(&statistics)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoreOptions, sample};

    /// A store with a table of four files in two manifests, whose blocks are gone.
    fn store_without_blocks(folder: &tempfile::TempDir) -> (Store, TableId) {
        let options = StoreOptions { manifest_target_files: 2, ..StoreOptions::default() };
        let store = Store::open_with(&folder.path().join("store.db"), &options).unwrap();
        let table_id = store.write(|tx| Ok::<_, Error>(sample::create_table(tx))).unwrap();
        store.write(move |tx| tx.commit(&sample::append(table_id, &["a", "b", "c", "d"]))).unwrap();
        store.wait_for_maintenance().unwrap();
        store.write(|tx| tx.execute("DELETE FROM entry_block", [])).unwrap();
        (store, table_id)
    }

    fn prepare(files_max: u32) -> Result<PreparedRollback> {
        let folder = tempfile::tempdir().unwrap();
        let (store, table_id) = store_without_blocks(&folder);
        let rollback = NewRollback { table_id, snapshot_id: SnapshotId::EMPTY, committed_at_ms: 1 };
        store.read(|tx| tx.prepare_limited(&rollback, files_max))
    }

    #[test]
    fn a_rollback_that_is_too_large_is_refused_before_a_block_is_read() {
        assert!(matches!(prepare(3), Err(Error::RollbackTooLarge)));
    }

    #[test]
    fn a_rollback_changes_files_up_to_the_limit() {
        assert!(matches!(prepare(4), Err(Error::MissingBlock { .. })));
    }
}
