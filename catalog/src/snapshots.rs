//! Snapshots: what each commit made of a table.

use prunus_manifest::{ReadTransaction, SnapshotId, SnapshotRow, TableId};

use crate::Result;
use crate::catalog::Catalog;
use crate::name::TableIdent;
use crate::page::PageSize;

/// A snapshot of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// What its commit made of the table.
    pub row: SnapshotRow,
    /// The tags that name it, in the order of their names.
    pub tags: Vec<String>,
}

impl Snapshot {
    fn load_tags(tx: &ReadTransaction<'_>, table_id: TableId, row: SnapshotRow) -> Result<Self> {
        Ok(Self { tags: tx.list_tags_of_snapshot(table_id, row.snapshot_id)?, row })
    }
}

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
        // A page has a query for the tags of each.
        self.read_in_turn(move |tx, cancelled| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let mut rows = tx.list_snapshots(table.table_id, before, page_size.and_one())?;
            let more = page_size.cut(&mut rows);
            let load = |row| {
                cancelled.check()?;
                Snapshot::load_tags(tx, table.table_id, row)
            };
            let snapshots: Result<_> = rows.into_iter().map(load).collect();
            Ok((snapshots?, more))
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
            Snapshot::load_tags(tx, table.table_id, tx.load_snapshot(table.table_id, snapshot_id)?)
        })
        .await
    }
}
