//! Rollback: a new snapshot with the content of an older one.

use std::collections::{BTreeMap, HashMap, HashSet};

use prunus_statistics::FileStatistics;

use crate::changes::ChangeKind;
use crate::commit::{Committed, NewCommit, NewDataFile};
use crate::conflict::KnownFile;
use crate::data_file::DataFileRow;
use crate::error::BlockName;
use crate::snapshot::Operation;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{EncodedStatistics, Error, FileId, ManifestId, Result, SnapshotId, TableId};

/// The most files that one rollback adds and removes.
pub const MAX_FILES_PER_ROLLBACK: usize = 100_000;

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

impl WriteTransaction<'_> {
    /// Makes a snapshot with the content of an older one: what is live now and was not then is removed, what was live then and
    /// is not now is added again, under new ids, with all that was known of it. A file that was removed since and added again
    /// with the same content stays as it is. The schema stays the current one. Where nothing differs the snapshot is made all
    /// the same, with no files added or removed: whoever asks twice gets what was asked for twice.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::SnapshotNotFound`] if the snapshot was never made or is expired;
    /// [`Error::RollbackTooLarge`]; [`Error::TotalsOverflow`], [`Error::MissingBlock`], [`Error::DamagedBlock`],
    /// [`Error::DamagedRow`], [`Error::Sqlite`].
    pub fn roll_back(&self, rollback: &NewRollback) -> Result<Committed> {
        let NewRollback { table_id, snapshot_id, committed_at_ms } = *rollback;
        let head = self.load_head(table_id)?;
        let changes = self.list_changes(table_id, head.current_snapshot, snapshot_id)?;
        check_size(changes.len())?;
        let ids_of = |kind| changes.iter().filter(move |change| change.kind == kind).map(|change| change.file_id);
        let mut add = self.load_data_files(&ids_of(ChangeKind::Added).collect::<Vec<_>>())?;
        let mut remove = self.load_data_files(&ids_of(ChangeKind::Removed).collect::<Vec<_>>())?;
        keep_what_came_back(&mut add, &mut remove);
        let removed: Vec<KnownFile> = remove.iter().map(KnownFile::from).collect();
        let commit = NewCommit {
            table_id,
            base_snapshot: None,
            schema_id: head.schema_id,
            operation: Operation::Overwrite,
            add: self.with_statistics(table_id, add)?,
            remove: remove.into_iter().map(|file| file.path).collect(),
            summary: BTreeMap::from([(ROLLED_BACK_TO.to_owned(), snapshot_id.to_string())]),
            committed_at_ms,
        };
        self.record(&commit, &removed, &head)
    }
}

fn check_size(files: usize) -> Result<()> {
    if files <= MAX_FILES_PER_ROLLBACK { Ok(()) } else { Err(Error::RollbackTooLarge { files }) }
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

impl ReadTransaction<'_> {
    /// The files as they were added, with their statistics, in their order. Reads each manifest that has one of them once.
    fn with_statistics(&self, table_id: TableId, files: Vec<DataFileRow>) -> Result<Vec<NewDataFile>> {
        let mut sealed: BTreeMap<ManifestId, Vec<FileId>> = BTreeMap::new();
        let mut statistics: HashMap<FileId, FileStatistics> = HashMap::with_capacity(files.len());
        for file in &files {
            match file.manifest_id {
                Some(manifest_id) => sealed.entry(manifest_id).or_default().push(file.file_id),
                None => {
                    statistics.insert(file.file_id, self.load_file_statistics(file.file_id)?);
                }
            }
        }
        for (manifest_id, file_ids) in sealed {
            let missing = || Error::MissingBlock { table_id, manifest_id, block: BlockName::Entries };
            let (entries, all) = self.sealed_entries(&self.get_manifest(manifest_id)?.ok_or_else(missing)?)?;
            let of_entries = entries.file_ids().values().iter().map(|file_id| FileId(*file_id)).zip(all);
            // The files ascend by id, and so do those of one manifest.
            statistics.extend(of_entries.filter(|(file_id, _)| file_ids.binary_search(file_id).is_ok()));
        }
        let mut with_statistics = Vec::with_capacity(files.len());
        for file in files {
            let statistics = statistics.remove(&file.file_id).ok_or(Error::FileNotFound(file.file_id))?;
            with_statistics.push(new_data_file(file, EncodedStatistics::new(&statistics)?));
        }
        Ok(with_statistics)
    }
}

fn new_data_file(file: DataFileRow, statistics: EncodedStatistics) -> NewDataFile {
    NewDataFile {
        path: file.path,
        size_bytes: file.size_bytes,
        row_count: file.row_count,
        etag: file.etag,
        last_modified_ms: file.last_modified_ms,
        leaves: file.leaves.to_vec(),
        partition: file.partition,
        statistics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollback_changes_files_up_to_the_limit() {
        assert!(check_size(MAX_FILES_PER_ROLLBACK).is_ok());
        let beyond = check_size(MAX_FILES_PER_ROLLBACK + 1);
        assert!(matches!(beyond, Err(Error::RollbackTooLarge { files }) if files == MAX_FILES_PER_ROLLBACK + 1));
    }
}
