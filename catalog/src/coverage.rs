//! Coverage: how much of each column's statistics is known, in how many files of a snapshot.
//!
//! All of it is of one state of the store. Columns are looked at one after the other, each from its own blocks of all manifests,
//! so that the bounds of one column are in memory at a time: some 60 bytes for each file, and for strings and binary their
//! length. Every block of the table is read and decoded once, past what plans keep in memory.

mod overlap;
mod tally;

use std::sync::Arc;

use arrow::array::Array;
use prunus_manifest::{
    EntryBlock, Error as StoreError, ManifestRow, ReadTransaction, RegisteredColumn, Removal, SchemaColumn, SchemaId,
    SnapshotId, TableRow, TailEntry, Totals,
};
use prunus_pruner::Mask;
use prunus_statistics::{FieldId, PrimitiveType};

use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::history::History;
use crate::name::TableIdent;
use crate::obstacle_log::{ColumnObstacle, ObstacleLog};
use crate::plan::{ResolvedSnapshot, SnapshotRef};
use crate::schema::{Field, Type, items_of};
use crate::zone_maps::WritersWord;
use crate::{Error, Result, column_ref, live_entries, tables, zone_maps};

use overlap::Slice;

pub use overlap::OverlapDepth;
pub use tally::{ColumnFiles, CountFiles, ProvenanceFiles, SideFiles};

/// What is known of a table's columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// The snapshot whose files were looked at.
    pub snapshot_id: SnapshotId,
    /// The schema whose columns these are.
    pub schema_id: SchemaId,
    /// How many files are live in the snapshot.
    pub files: u64,
    /// Since when plans are recorded that a column was an obstacle to, in milliseconds since 1970-01-01T00:00Z.
    pub obstacles_since_ms: i64,
    /// The columns in the order of the schema, each before those in it.
    pub columns: Vec<ColumnCoverage>,
}

/// What is known of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnCoverage {
    /// Its id.
    pub id: FieldId,
    /// Its key.
    pub key: String,
    /// What it is.
    pub covered_type: CoveredType,
    /// In how many files what is known of it, and how these overlap; `None` for a nested column, which carries no statistics
    /// itself.
    pub files: Option<(ColumnFiles, OverlapDepth)>,
    /// What it was to filters that could not prune because of it, in plans of any snapshot.
    pub obstacles: Vec<ColumnObstacle>,
}

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoveredType {
    /// A leaf with a value per row.
    Primitive(PrimitiveType),
    /// A leaf in a list or map, of whose values a file has bounds and no counts.
    Item(PrimitiveType),
    /// A struct, whose leaves are columns of their own.
    Struct,
    /// A list, whose elements are.
    List,
    /// A map, whose keys and values are.
    Map,
}

impl Catalog {
    /// Counts over all live files of a snapshot what is known of each column. Reads and decodes all column blocks of the table,
    /// in a read transaction that stands open meanwhile.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Expired`], [`Error::Store`].
    pub async fn load_coverage(&self, ident: TableIdent, snapshot: SnapshotRef) -> Result<Coverage> {
        let log = Arc::clone(&self.obstacle_log);
        self.read_in_turn(move |tx, cancelled| cover(tx, (&log, cancelled), &ident, snapshot)).await
    }
}

pub(crate) fn cover(
    tx: &ReadTransaction<'_>,
    (log, cancelled): (&ObstacleLog, &Cancelled),
    ident: &TableIdent,
    snapshot: SnapshotRef,
) -> Result<Coverage> {
    let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    let ResolvedSnapshot { snapshot_id, schema_id, totals } = snapshot.resolve(tx, &table)?;
    let schema = tables::load_schema(tx, &table, schema_id)?;
    let groups = list_groups((tx, cancelled), &table, snapshot_id)?;
    check_files(&table, snapshot_id, totals, &groups)?;
    let history = History::load(tx, &table)?;
    let mut obstacles = log.of_table(table.table_id);
    let mut columns = Vec::new();
    collect(schema.fields(), &mut Vec::new(), &mut columns);
    for column in &mut columns {
        column.obstacles = obstacles.remove(&column.id).unwrap_or_default();
        let (files, column_type) = match column.covered_type {
            CoveredType::Primitive(column_type) => (ColumnFiles::of_rows(column_type), column_type),
            CoveredType::Item(column_type) => (ColumnFiles::of_items(), column_type),
            CoveredType::Struct | CoveredType::List | CoveredType::Map => continue,
        };
        let written_as = history.newest_types().get(&column.id).copied().unwrap_or(column_type);
        let column_of_store = StoredColumn { column: SchemaColumn { field_id: column.id, column_type }, written_as };
        column.files = Some(cover_column((tx, cancelled), &groups, column_of_store, files)?);
    }
    Ok(Coverage { snapshot_id, schema_id, files: totals.files, obstacles_since_ms: log.since_ms(), columns })
}

/// All columns of a schema, of which nothing is known yet.
fn collect(fields: &[Field], path: &mut Vec<String>, columns: &mut Vec<ColumnCoverage>) {
    for field in fields {
        path.push(field.name.clone());
        let covered_type = match &field.field_type {
            Type::Primitive(column_type) => CoveredType::Primitive(*column_type),
            Type::Struct(_) => CoveredType::Struct,
            Type::List { .. } => CoveredType::List,
            Type::Map { .. } => CoveredType::Map,
        };
        columns.push(ColumnCoverage::of_nothing(field.id, path, covered_type));
        let items = items_of(field, path).into_iter();
        columns.extend(
            items.map(|item| ColumnCoverage::of_nothing(item.id, &item.path, CoveredType::Item(item.column_type))),
        );
        if let Type::Struct(fields) = &field.field_type {
            collect(fields, path, columns);
        }
        path.pop();
    }
}

impl ColumnCoverage {
    fn of_nothing(id: FieldId, path: &[String], covered_type: CoveredType) -> Self {
        Self { id, key: column_ref::key(path), covered_type, files: None, obstacles: Vec::new() }
    }
}

fn cover_column(
    (tx, cancelled): (&ReadTransaction<'_>, &Cancelled),
    groups: &[Group],
    column: StoredColumn,
    mut files: ColumnFiles,
) -> Result<(ColumnFiles, OverlapDepth)> {
    let mut slices = Vec::with_capacity(groups.len());
    for group in groups {
        cancelled.check()?;
        let registered = group.load_column(tx, column)?;
        let with_values = files.add(&registered, &group.live, &group.without_rows);
        slices.push(Slice { zones: registered.zones, with_values });
    }
    Ok((files, overlap::depth(&slices)))
}

/// A column as it is looked at, and as the tail has it.
#[derive(Clone, Copy)]
struct StoredColumn {
    column: SchemaColumn,
    /// The newest type of the column, in which the statistics of the tail are.
    written_as: PrimitiveType,
}

/// Files side by side: those of a manifest, or of the tail.
struct Group {
    source: Source,
    /// Which of them are live in the snapshot.
    live: Mask,
    /// Which of them are known to have no rows.
    without_rows: Mask,
}

enum Source {
    Manifest(ManifestRow),
    Tail(Vec<TailEntry>),
}

impl Group {
    fn new(source: Source, entries: &EntryBlock, removals: Vec<Removal>, snapshot_id: SnapshotId) -> Self {
        let removed = removals.into_iter().map(|removal| (removal.file_id.0, removal.removed_snapshot)).collect();
        let live = live_entries::live_in(snapshot_id, entries, &removed);
        let row_counts = entries.row_counts();
        let without_rows =
            Mask::from_fn(entries.len(), |index| row_counts.is_valid(index) && row_counts.value(index) == 0);
        Self { source, live, without_rows }
    }

    fn load_column(&self, tx: &ReadTransaction<'_>, column: StoredColumn) -> Result<RegisteredColumn> {
        let StoredColumn { column, written_as } = column;
        match &self.source {
            Source::Manifest(manifest) => Ok(tx.load_registered_column(manifest, column)?),
            Source::Tail(entries) => Ok(RegisteredColumn {
                zones: zone_maps::stored_of_tail(entries.iter(), column, written_as, WritersWord::Taken),
                files: entries.iter().map(|entry| entry.statistics.columns.get(&column.field_id).cloned()).collect(),
            }),
        }
    }
}

/// The files that may be live in a snapshot.
fn list_groups(
    (tx, cancelled): (&ReadTransaction<'_>, &Cancelled),
    table: &TableRow,
    snapshot_id: SnapshotId,
) -> Result<Vec<Group>> {
    let mut groups = Vec::new();
    for manifest in tx.list_manifests(table.table_id)? {
        cancelled.check()?;
        if manifest.first_added_snapshot > snapshot_id {
            continue;
        }
        let entries = tx.load_entry_block(&manifest)?;
        let removals = if manifest.removed.files == 0 { Vec::new() } else { tx.list_removals(manifest.manifest_id)? };
        groups.push(Group::new(Source::Manifest(manifest), &entries, removals, snapshot_id));
    }
    let tail = tx.list_tail(table.table_id)?;
    let entries = EntryBlock::of_tail(&tail);
    let removal =
        |entry: &TailEntry| Some(Removal { file_id: entry.file_id, removed_snapshot: entry.removed_snapshot? });
    let removals = tail.iter().filter_map(removal).collect();
    groups.push(Group::new(Source::Tail(tail), &entries, removals, snapshot_id));
    Ok(groups)
}

/// Holds the files that were found against those that the snapshot is said to have: a file that is lost is an error, never a
/// better share.
fn check_files(table: &TableRow, snapshot_id: SnapshotId, expected: Totals, groups: &[Group]) -> Result<()> {
    let files = groups.iter().map(|group| group.live.count() as u64).sum();
    if files == expected.files {
        return Ok(());
    }
    let found = Totals { files, ..expected };
    Err(Error::Store(StoreError::Miscounted { table_id: table.table_id, snapshot_id, expected, found }))
}
