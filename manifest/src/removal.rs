//! Which entries of a manifest are not live any more: those whose rows say that they were removed, and those that are
//! forgotten, whose rows are gone. Blocks never change, so both stand beside them.

use rusqlite::params;

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{FileId, ManifestId, Result, SnapshotId};

/// A file of a manifest that is not live any more in the newest snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The file.
    pub file_id: FileId,
    /// The first snapshot that it is not live in any more.
    pub removed_snapshot: SnapshotId,
}

const LIST_REMOVALS: &str = "
    SELECT file_id, removed_snapshot
    FROM data_file INDEXED BY data_file_removed
    WHERE manifest_id = ?1 AND removed_snapshot IS NOT NULL
    UNION ALL
    SELECT file_id, removed_snapshot
    FROM forgotten_entry
    WHERE manifest_id = ?1
    ORDER BY file_id";

const HAS_REMOVED_ROW: &str = "
    SELECT EXISTS (SELECT 1 FROM data_file INDEXED BY data_file_removed
        WHERE manifest_id = ?1 AND removed_snapshot IS NOT NULL)";

const INSERT_FORGOTTEN: &str = "
    INSERT INTO forgotten_entry (manifest_id, file_id, removed_snapshot)
    VALUES (?1, ?2, ?3)";

impl ReadTransaction<'_> {
    /// The files of a manifest that are not live any more in the newest snapshot, ascending by id, forgotten ones among them.
    /// In a snapshot before its `removed_snapshot` a file still is. [`ManifestRow::removed`] says whether there is any, and
    /// counts them.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    ///
    /// [`ManifestRow::removed`]: crate::ManifestRow::removed
    /// [`Error::Sqlite`]: crate::Error::Sqlite
    pub fn list_removals(&self, manifest_id: ManifestId) -> Result<Vec<Removal>> {
        self.query_all(LIST_REMOVALS, [manifest_id], |row| {
            Ok(Removal { file_id: row.get(0)?, removed_snapshot: row.get(1)? })
        })
    }

    /// Whether every entry of a manifest is forgotten.
    pub(crate) fn is_forgotten(&self, manifest_id: ManifestId) -> Result<bool> {
        let Some(manifest) = self.get_manifest(manifest_id)? else { return Ok(false) };
        let has_row = self.query_first(HAS_REMOVED_ROW, [manifest_id], |row| Ok(row.get(0)?))?.unwrap_or(true);
        Ok(manifest.removed.files == manifest.totals.files && !has_row)
    }
}

impl WriteTransaction<'_> {
    /// Notes that an entry of a manifest is not live, for when its row is gone.
    pub(crate) fn insert_forgotten(&self, manifest_id: ManifestId, removal: Removal) -> Result<()> {
        self.execute(INSERT_FORGOTTEN, params![manifest_id, removal.file_id, removal.removed_snapshot])?;
        Ok(())
    }
}
