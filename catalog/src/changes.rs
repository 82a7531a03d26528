//! What differs between two snapshots, file by file.

use prunus_manifest::{Change, ChangeKind, FileId, ReadTransaction, SnapshotId, TableId, TableRow};

use crate::catalog::Catalog;
use crate::files::FileEntry;
use crate::name::TableIdent;
use crate::page::PageSize;
use crate::plan::SnapshotRef;
use crate::{Result, files, tables};

/// Which changes are asked for.
#[derive(Clone, Copy, Debug)]
pub struct ChangesRequest {
    /// The snapshot that is compared with; 0 is the empty table.
    pub from: SnapshotId,
    /// The snapshot that is compared; it may be the older one. `None` is the newest.
    pub to: Option<SnapshotId>,
    /// The last file of the page before; `None` for the first page.
    pub after: Option<FileId>,
    /// How many files the page has, added and removed ones together.
    pub page_size: PageSize,
}

/// A page of the changes between two snapshots.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The snapshot that was compared with.
    pub from: SnapshotId,
    /// The snapshot that was compared.
    pub to: SnapshotId,
    /// The page's files that are live in `to` alone, by rising `file_id`; partition values go by its schema.
    pub added: Vec<FileEntry>,
    /// The page's files that are live in `from` alone, by rising `file_id`; partition values go by its schema.
    pub removed: Vec<FileEntry>,
    /// The last file of the page, where more follow.
    pub next_after: Option<FileId>,
}

impl Catalog {
    /// A page of the files that are live in one of two snapshots alone, ordered by `file_id` over both kinds. A page that has
    /// a next one holds both snapshots against expiry.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], also for a snapshot that is expired; [`crate::Error::Store`].
    pub async fn list_changes(&self, ident: TableIdent, request: ChangesRequest) -> Result<Changes> {
        let (table_id, changes) = self.read_in_turn(move |tx, _| find(tx, &ident, request)).await?;
        if changes.next_after.is_some() {
            for snapshot_id in [changes.from, changes.to] {
                self.leases.take(table_id, snapshot_id, self.clock.now_ms());
            }
        }
        Ok(changes)
    }
}

fn find(tx: &ReadTransaction<'_>, ident: &TableIdent, request: ChangesRequest) -> Result<(TableId, Changes)> {
    let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    let (from, to) = (request.from, request.to.unwrap_or(table.current_snapshot));
    files::check_page(tx, &table, request.after)?;
    let all = tx.list_changes(table.table_id, from, to)?;
    let start = request.after.map_or(0, |after| all.partition_point(|change| change.file_id <= after));
    let mut page: Vec<Change> =
        all.get(start..).unwrap_or_default().iter().take(request.page_size.as_usize() + 1).copied().collect();
    let more = request.page_size.cut(&mut page);
    let next_after = page.last().filter(|_| more).map(|last| last.file_id);
    let added = entries(tx, &table, to, &page, ChangeKind::Added)?;
    let removed = entries(tx, &table, from, &page, ChangeKind::Removed)?;
    Ok((table.table_id, Changes { from, to, added, removed, next_after }))
}

/// The changes of one kind, as files of the snapshot that they are live in.
fn entries(
    tx: &ReadTransaction<'_>,
    table: &TableRow,
    snapshot_id: SnapshotId,
    changes: &[Change],
    kind: ChangeKind,
) -> Result<Vec<FileEntry>> {
    let schema_id = SnapshotRef::Id(snapshot_id).resolve(tx, table)?.schema_id;
    let leaves = tables::load_schema(tx, table, schema_id)?.leaf_columns();
    let of_kind = changes.iter().filter(|change| change.kind == kind).map(|change| change.file_id);
    let rows = tx.load_data_files(&of_kind.collect::<Vec<_>>())?;
    Ok(rows.into_iter().map(|row| FileEntry::new(row, &leaves)).collect())
}
