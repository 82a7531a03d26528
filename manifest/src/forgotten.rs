//! Entries of manifests whose files no snapshot names any more. Blocks never change, so they still have them; marks say that
//! they are not live.

use std::collections::BTreeMap;

use rusqlite::params;

use crate::manifest::Removal;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{FileId, ManifestId, Result, SnapshotId};

const LIST_FORGOTTEN: &str = "
    SELECT file_id, removed_snapshot
    FROM forgotten_entry
    WHERE manifest_id = ?1";

const HAS_REMOVED_ROW: &str = "
    SELECT EXISTS (SELECT 1 FROM data_file INDEXED BY data_file_removed
        WHERE manifest_id = ?1 AND removed_snapshot IS NOT NULL)";

const INSERT_FORGOTTEN: &str = "
    INSERT INTO forgotten_entry (manifest_id, file_id, removed_snapshot)
    VALUES (?1, ?2, ?3)";

impl ReadTransaction<'_> {
    /// The forgotten entries of a manifest, with the first snapshot that each is not live in any more.
    pub(crate) fn list_forgotten(&self, manifest_id: ManifestId) -> Result<BTreeMap<FileId, SnapshotId>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.query_all(LIST_FORGOTTEN, [manifest_id], read)?.into_iter().collect())
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
