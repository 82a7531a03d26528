//! A page of a listing of files, which are read a chunk at a time.

use std::sync::Arc;

use prunus_manifest::{FileId, ReadTransaction, SchemaId, SnapshotId, TableId};

use crate::catalog::Catalog;
use crate::file_chunk::{FILES_PER_CHUNK, FileChunk, chunk_count, chunk_of};
use crate::files::check_page;
use crate::name::TableIdent;
use crate::page::PageSize;
use crate::plan::{ResolvedSnapshot, SnapshotRef, gone_or_lost};
use crate::schema::LeafColumn;
use crate::{Result, blocking, tables};

/// A page of the live files of a snapshot without the files, which [`ListedPage::chunk`] reads. It holds no transaction.
pub struct ListedPage {
    /// The snapshot.
    pub snapshot_id: SnapshotId,
    /// The schema by which it is told of.
    pub schema_id: SchemaId,
    catalog: Catalog,
    table_id: TableId,
    leaves: Vec<LeafColumn>,
    /// Ascending.
    file_ids: Vec<FileId>,
    more: bool,
}

impl Catalog {
    /// What [`Catalog::list_files`] lists, for whom a page as a whole is too much: gives the page without its files, and what
    /// `render` makes of the first chunk of these. A page of more than one chunk holds its snapshot against expiry, too.
    ///
    /// # Errors
    /// Those of [`Catalog::list_files`].
    pub async fn list_files_page<T: Send + 'static>(
        &self,
        ident: TableIdent,
        snapshot: SnapshotRef,
        (after, page_size): (Option<FileId>, PageSize),
        render: impl FnOnce(&ListedPage, &FileChunk) -> T + Send + 'static,
    ) -> Result<(ListedPage, T)> {
        let (turn, catalog) = (self.admission.plan(|| 0).await?, self.clone());
        blocking::run_while_awaited(turn, move |_| {
            let (page, first) = catalog.read_here(|tx| {
                let page = find(tx, &catalog, &ident, snapshot, (after, page_size))?;
                let first = page.load(tx, 0)?;
                Ok((page, first))
            })?;
            page.hold();
            let rendered = render(&page, &first);
            Ok((page, rendered))
        })
        .await
    }
}

fn find(
    tx: &ReadTransaction<'_>,
    catalog: &Catalog,
    ident: &TableIdent,
    snapshot: SnapshotRef,
    (after, page_size): (Option<FileId>, PageSize),
) -> Result<ListedPage> {
    let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    let ResolvedSnapshot { snapshot_id, schema_id, .. } = snapshot.resolve(tx, &table)?;
    let leaves = tables::load_schema(tx, &table, schema_id)?.leaf_columns();
    check_page(tx, &table, after)?;
    let mut file_ids = tx.list_live_file_ids(table.table_id, snapshot_id, after, page_size.and_one())?;
    let more = page_size.cut(&mut file_ids);
    Ok(ListedPage {
        snapshot_id,
        schema_id,
        catalog: catalog.clone(),
        table_id: table.table_id,
        leaves,
        file_ids,
        more,
    })
}

impl ListedPage {
    /// How many files the page has.
    pub fn len(&self) -> usize {
        self.file_ids.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.file_ids.is_empty()
    }

    /// How many chunks its files are read in; at least one, which may be empty.
    pub fn chunks(&self) -> usize {
        chunk_count(self.len(), FILES_PER_CHUNK)
    }

    /// The last file of the page, if more follow in the next.
    pub fn next_after(&self) -> Option<FileId> {
        self.file_ids.last().filter(|_| self.more).copied()
    }

    /// What `render` makes of a chunk, on a thread that may block. Holds the snapshot against expiry for as long as a page
    /// token does.
    ///
    /// # Errors
    /// [`crate::Error::Expired`] if it took longer to ask for the chunk; [`crate::Error::Store`].
    pub async fn chunk<T: Send + 'static>(
        self: Arc<Self>,
        index: usize,
        render: impl FnOnce(&Self, &FileChunk) -> T + Send + 'static,
    ) -> Result<T> {
        let turn = self.catalog.admission.read().await?;
        blocking::run_while_awaited(turn, move |_| {
            self.hold();
            let chunk = self.catalog.store.read(|tx| {
                self.load(tx, index).map_err(|error| gone_or_lost(tx, self.table_id, self.snapshot_id, error))
            })?;
            Ok(render(&self, &chunk))
        })
        .await
    }

    fn hold(&self) {
        if self.more || self.chunks() > 1 {
            self.catalog.leases.take(self.table_id, self.snapshot_id, self.catalog.clock.now_ms());
        }
    }

    fn load(&self, tx: &ReadTransaction<'_>, index: usize) -> Result<FileChunk> {
        FileChunk::load(tx, chunk_of(&self.file_ids, index, FILES_PER_CHUNK), &self.leaves)
    }
}
