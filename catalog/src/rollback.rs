//! Rollback: a new snapshot with the content of an older one.

use prunus_manifest::{NewRollback, SnapshotId};

use crate::Result;
use crate::catalog::Catalog;
use crate::commit::Committed;
use crate::name::TableIdent;

impl Catalog {
    /// Makes a snapshot with the content of an older one, or of the empty table, 0. No file is read: what comes back is known
    /// as it was. Where nothing differs the snapshot is made all the same.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], also for a snapshot that is expired; [`crate::Error::Invalid`] if more files differ than
    /// one rollback may change; [`crate::Error::Store`].
    pub async fn roll_back(&self, ident: TableIdent, snapshot_id: SnapshotId) -> Result<Committed> {
        let committed_at_ms = self.clock.now_ms();
        let done = self
            .write(move |tx| {
                let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
                Ok(tx.roll_back(&NewRollback { table_id: table.table_id, snapshot_id, committed_at_ms })?)
            })
            .await?;
        Ok(Committed {
            snapshot_id: done.snapshot_id,
            committed_at_ms: done.committed_at_ms,
            added_files: done.added_files,
            removed_files: done.removed_files,
            totals: done.totals,
            warnings: Vec::new(),
        })
    }
}
