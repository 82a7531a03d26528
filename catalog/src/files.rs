//! The files of a table: listed, and one looked at with all that is known of it.

use std::collections::BTreeMap;

use prunus_manifest::{DataFileRow, FileId, ReadTransaction, SnapshotId, TableRow};
use prunus_statistics::{FileColumn, PrimitiveType};

use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::file_chunk::{NamedPartition, named_partition};
use crate::history::History;
use crate::location::{Location, without_credentials};
use crate::name::TableIdent;
use crate::page::PageSize;
use crate::plan::{ResolvedSnapshot, SnapshotRef};
use crate::schema::LeafColumn;
use crate::{Error, Fault, Result, column_ref, tables};

/// A data file as it is registered.
#[derive(Clone, Debug)]
pub struct FileEntry {
    /// The file.
    pub row: DataFileRow,
    /// Its partition constants.
    pub partition: NamedPartition,
}

/// A data file with its statistics.
#[derive(Clone, Debug)]
pub struct FileDetail {
    /// The file.
    pub entry: FileEntry,
    /// What is known of each column, by column key.
    pub columns: BTreeMap<String, (PrimitiveType, FileColumn)>,
}

impl FileEntry {
    pub(crate) fn new(row: DataFileRow, leaves: &[LeafColumn]) -> Self {
        let partition = named_partition(&row.partition, leaves);
        Self { row, partition }
    }
}

impl Catalog {
    /// A page of the live files of a snapshot by rising `file_id`, from the first one after `after`; with the snapshot that it
    /// is of, and whether there are more. A page that has a next one holds its snapshot against expiry.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Expired`], [`Error::Store`].
    pub async fn list_files(
        &self,
        ident: TableIdent,
        snapshot: SnapshotRef,
        after: Option<FileId>,
        page_size: PageSize,
    ) -> Result<(SnapshotId, Vec<FileEntry>, bool)> {
        let list = move |tx: &ReadTransaction<'_>, _: &Cancelled| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let ResolvedSnapshot { snapshot_id, schema_id, .. } = snapshot.resolve(tx, &table)?;
            let leaves = tables::load_schema(tx, &table, schema_id)?.leaf_columns();
            check_page(tx, &table, after)?;
            let mut rows = tx.list_live_files(table.table_id, snapshot_id, after, page_size.and_one())?;
            let more = page_size.cut(&mut rows);
            let files = rows.into_iter().map(|row| FileEntry::new(row, &leaves)).collect();
            Ok((table.table_id, snapshot_id, files, more))
        };
        let (table_id, snapshot_id, files, more) = self.read_in_turn(list).await?;
        if more {
            self.leases.take(table_id, snapshot_id, self.clock.now_ms());
        }
        Ok((snapshot_id, files, more))
    }

    /// One live file of a snapshot by its path, with its statistics.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the path is none, [`Error::NotFound`], [`Error::Expired`], [`Error::Store`].
    pub async fn load_file(&self, ident: TableIdent, snapshot: SnapshotRef, path: String) -> Result<FileDetail> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let ResolvedSnapshot { snapshot_id, schema_id, .. } = snapshot.resolve(tx, &table)?;
            let row = live_file(tx, &table, snapshot_id, &path)?;
            let schema = tables::load_schema(tx, &table, schema_id)?;
            let (leaves, items) = (schema.leaf_columns(), schema.item_columns());
            let statistics = History::load(tx, &table)?.read_as(tx.load_file_statistics(row.file_id)?, &leaves);
            let columns = leaves
                .iter()
                .chain(&items)
                .filter_map(|leaf| {
                    let column = statistics.columns.get(&leaf.id)?.clone();
                    Some((column_ref::key(&leaf.path), (leaf.column_type, column)))
                })
                .collect();
            Ok(FileDetail { entry: FileEntry::new(row, &leaves), columns })
        })
        .await
    }
}

/// Holds the file that the page before ended with against the table: one that is not its own is of a table that had the name
/// before. Ids are never given twice, and the snapshot that names it is there.
pub(crate) fn check_page(tx: &ReadTransaction<'_>, table: &TableRow, after: Option<FileId>) -> Result<()> {
    match after {
        Some(file_id) if !tx.has_file(table.table_id, file_id)? => {
            Err(Error::Expired { what: "the table that the page before is of".to_owned() })
        }
        _ => Ok(()),
    }
}

/// The location of a path, as it is written in a request, of a file of a table.
pub(crate) fn location_in(table: &TableRow, path: &str) -> Result<Location, Vec<Fault>> {
    let base = table.location.as_deref().and_then(|text| Location::parse_registered(text, None).ok());
    Location::parse_registered(path, base.as_ref()).map_err(|error| vec![Fault::at("path", error.to_string())])
}

/// The live file of a snapshot that has this path, as it is written in a request.
pub(crate) fn live_file(
    tx: &ReadTransaction<'_>,
    table: &TableRow,
    snapshot_id: SnapshotId,
    path: &str,
) -> Result<DataFileRow> {
    let location = location_in(table, path).map_err(Error::Invalid)?;
    tx.get_live_file(table.table_id, snapshot_id, location.as_str())?
        .ok_or_else(|| Error::NotFound { what: "file", name: without_credentials(path).into_owned() })
}
