//! Entries of manifests whose files no snapshot names any more. Blocks never change, so they still have them; marks say that
//! they are not live.

use std::collections::BTreeMap;

use crate::transaction::ReadTransaction;
use crate::{FileId, ManifestId, Result, SnapshotId};

const LIST_FORGOTTEN: &str = "
    SELECT file_id, removed_snapshot
    FROM forgotten_entry
    WHERE manifest_id = ?1";

impl ReadTransaction<'_> {
    /// The forgotten entries of a manifest, with the first snapshot that each is not live in any more.
    pub(crate) fn list_forgotten(&self, manifest_id: ManifestId) -> Result<BTreeMap<FileId, SnapshotId>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.query_all(LIST_FORGOTTEN, [manifest_id], read)?.into_iter().collect())
    }
}
