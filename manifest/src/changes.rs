//! Changes: what differs between two snapshots of a table.
//!
//! What is read follows what changed. Manifests that neither took a file nor lost one between the two snapshots are passed
//! over by their rows; of the others the entries are read, or the removals of that time alone.

use std::collections::HashSet;

use rusqlite::params;

use crate::manifest::ManifestRow;
use crate::transaction::ReadTransaction;
use crate::{FileId, Result, SnapshotId, TableId};

/// A file that is live in one of two snapshots alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file_id: FileId,
    /// In which.
    pub kind: ChangeKind,
}

/// In which of two snapshots a file is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// In the second.
    Added,
    /// In the first.
    Removed,
}

/// Two snapshots in the order of their ids.
#[derive(Clone, Copy)]
struct Between {
    table_id: TableId,
    older: SnapshotId,
    newer: SnapshotId,
}

const LIST_ADDED_TO_TAIL: &str = "
    SELECT file_id
    FROM data_file INDEXED BY data_file_tail
    WHERE table_id = ?1 AND manifest_id IS NULL AND added_snapshot > ?2 AND added_snapshot <= ?3
        AND (removed_snapshot IS NULL OR removed_snapshot > ?3)";

const LIST_REMOVED_FROM_TAIL: &str = "
    SELECT file_id
    FROM data_file INDEXED BY data_file_tail_removed
    WHERE table_id = ?1 AND manifest_id IS NULL AND removed_snapshot > ?2 AND removed_snapshot <= ?3
        AND added_snapshot <= ?2
    LIMIT ?4";

// CROSS JOIN is SQLite's word for joining in the order that is written.
const LIST_REMOVED_FROM_MANIFESTS: &str = "
    SELECT f.file_id
    FROM manifest m INDEXED BY manifest_by_table CROSS JOIN data_file f INDEXED BY data_file_removed
    WHERE m.table_id = ?1 AND m.removed_files > 0 AND m.first_added_snapshot <= ?2
        AND f.manifest_id = m.manifest_id AND f.removed_snapshot > ?2 AND f.removed_snapshot <= ?3
        AND f.added_snapshot <= ?2
    LIMIT ?4";

/// SQLite's word for all rows.
const NO_LIMIT: i64 = -1;

impl ReadTransaction<'_> {
    /// The files that are live in exactly one of two snapshots, ascending by id. [`SnapshotId::EMPTY`] is the empty table, and
    /// `from` may be the newer one. All are in memory at once.
    ///
    /// # Errors
    /// [`Error::SnapshotNotFound`] if one of them was never made or is expired; [`Error::MissingBlock`],
    /// [`Error::DamagedBlock`], [`Error::Sqlite`], [`Error::DamagedRow`].
    ///
    /// [`Error::SnapshotNotFound`]: crate::Error::SnapshotNotFound
    /// [`Error::MissingBlock`]: crate::Error::MissingBlock
    /// [`Error::DamagedBlock`]: crate::Error::DamagedBlock
    /// [`Error::Sqlite`]: crate::Error::Sqlite
    /// [`Error::DamagedRow`]: crate::Error::DamagedRow
    pub fn list_changes(&self, table_id: TableId, from: SnapshotId, to: SnapshotId) -> Result<Vec<Change>> {
        let between = self.between(table_id, from, to)?;
        let removed = self.files_removed(between, NO_LIMIT)?;
        self.changes(between, from, removed)
    }

    /// The same if they are at most so many; `None` if they are more, which is found before any block is read.
    pub(crate) fn list_few_changes(
        &self,
        table_id: TableId,
        from: SnapshotId,
        to: SnapshotId,
        files_max: u32,
    ) -> Result<Option<Vec<Change>>> {
        let between = self.between(table_id, from, to)?;
        let removed = self.files_removed(between, i64::from(files_max) + 1)?;
        // What the newer one has more than the older one, and what it has in the place of the removed ones, was added.
        let (in_older, in_newer) =
            (self.count_live(table_id, between.older)?, self.count_live(table_id, between.newer)?);
        let differ = (2 * removed.len() as u64).saturating_add(in_newer).saturating_sub(in_older);
        if removed.len() as u64 > files_max.into() || differ > files_max.into() {
            return Ok(None);
        }
        self.changes(between, from, removed).map(Some)
    }

    fn between(&self, table_id: TableId, from: SnapshotId, to: SnapshotId) -> Result<Between> {
        for snapshot_id in [from, to] {
            self.check_snapshot(table_id, snapshot_id)?;
        }
        Ok(Between { table_id, older: from.min(to), newer: from.max(to) })
    }

    /// How many files a snapshot has.
    fn count_live(&self, table_id: TableId, snapshot_id: SnapshotId) -> Result<u64> {
        match snapshot_id {
            SnapshotId::EMPTY => Ok(0),
            _ => Ok(self.load_snapshot(table_id, snapshot_id)?.totals.files),
        }
    }

    /// The removed files and those that were added, as seen from the one or the other snapshot.
    fn changes(&self, between: Between, from: SnapshotId, removed: Vec<FileId>) -> Result<Vec<Change>> {
        let (in_newer, in_older) = if from == between.older {
            (ChangeKind::Added, ChangeKind::Removed)
        } else {
            (ChangeKind::Removed, ChangeKind::Added)
        };
        let change = |kind| move |file_id| Change { file_id, kind };
        let mut changes: Vec<Change> = self.files_added(between)?.into_iter().map(change(in_newer)).collect();
        changes.extend(removed.into_iter().map(change(in_older)));
        changes.sort_unstable_by_key(|change| change.file_id);
        Ok(changes)
    }

    /// The files that are live in the newer snapshot and were added after the older one.
    fn files_added(&self, between: Between) -> Result<Vec<FileId>> {
        let values = params![between.table_id, between.older, between.newer];
        let mut added = self.query_all(LIST_ADDED_TO_TAIL, values, |row| Ok(row.get(0)?))?;
        for manifest in self.list_manifests(between.table_id)? {
            if manifest.last_added_snapshot > between.older && manifest.first_added_snapshot <= between.newer {
                self.entries_added(&manifest, between, &mut added)?;
            }
        }
        Ok(added)
    }

    fn entries_added(&self, manifest: &ManifestRow, between: Between, added: &mut Vec<FileId>) -> Result<()> {
        let gone: HashSet<FileId> = match manifest.removed.files {
            0 => HashSet::new(),
            _ => self
                .list_removals(manifest.manifest_id)?
                .into_iter()
                .filter(|removal| removal.removed_snapshot <= between.newer)
                .map(|removal| removal.file_id)
                .collect(),
        };
        let entries = self.load_entry_block(manifest)?;
        let files = entries.file_ids().values().iter().zip(entries.added_snapshots().values());
        let files = files.map(|(file_id, added_snapshot)| (FileId(*file_id), SnapshotId(*added_snapshot)));
        let is_between = |added: SnapshotId| added > between.older && added <= between.newer;
        added.extend(
            files.filter(|(file_id, added)| is_between(*added) && !gone.contains(file_id)).map(|(file_id, _)| file_id),
        );
        Ok(())
    }

    /// The files that are live in the older snapshot and were removed up to the newer one, or so many of them. Their rows are
    /// all there, since a snapshot that is retained names them.
    fn files_removed(&self, between: Between, limit: i64) -> Result<Vec<FileId>> {
        let list = |sql, limit| {
            let values = params![between.table_id, between.older, between.newer, limit];
            self.query_all(sql, values, |row| Ok(row.get::<_, FileId>(0)?))
        };
        let mut removed = list(LIST_REMOVED_FROM_TAIL, limit)?;
        removed.extend(list(LIST_REMOVED_FROM_MANIFESTS, limit)?);
        Ok(removed)
    }
}
