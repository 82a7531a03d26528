//! Snapshots: what each commit made of a table.

use prunus_manifest::{SnapshotId, SnapshotRow};

use crate::Result;
use crate::catalog::Catalog;
use crate::name::TableIdent;
use crate::page::PageSize;

/// A snapshot of a table.
pub type Snapshot = SnapshotRow;

impl Catalog {
    /// A page of a table's snapshots, newest first, from the first one before `before` (`None`: from the newest), and whether
    /// there are more.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] for the table, [`crate::Error::Store`].
    pub async fn list_snapshots(
        &self,
        ident: TableIdent,
        before: Option<SnapshotId>,
        page_size: PageSize,
    ) -> Result<(Vec<Snapshot>, bool)> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let mut rows = tx.list_snapshots(table.table_id, before, page_size.and_one())?;
            let more = page_size.cut(&mut rows);
            Ok((rows, more))
        })
        .await
    }

    /// One snapshot of a table.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], [`crate::Error::Store`].
    pub async fn load_snapshot(&self, ident: TableIdent, snapshot_id: SnapshotId) -> Result<Snapshot> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            Ok(tx.load_snapshot(table.table_id, snapshot_id)?)
        })
        .await
    }
}
