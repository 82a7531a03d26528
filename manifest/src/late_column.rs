//! Columns that came into a table after files had. What these files hold of them is found out beside the writer, from the names
//! that the files' own schemas have, and is stored as if it had been registered: until then it is unknown.
//!
//! A file is looked into once: whatever is found, also that nothing can be said, stands in its statistics. So a manifest that has no
//! zone of such a column is one that nobody has looked into, and one that has is done with. Before entries are put into other
//! manifests all of them are looked into, or the rule would not hold any more.

use std::collections::BTreeMap;
use std::fmt;

use prunus_statistics::{FileColumn, FileStatistics};
use rusqlite::params;

use crate::builder::{self, BuiltColumn, Entry};
use crate::data_file::DataFileRow;
use crate::install::{self, InstallError};
use crate::manifest::ManifestRow;
use crate::schema::SchemaColumn;
use crate::table::TableRow;
use crate::tail::TailEntry;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{EncodedStatistics, Error, FileId, ManifestId, Result, SchemaId, TableId};

/// How many manifests are looked into at a time. Their files' rows are read, and the writer stores the blocks in one job.
const MAX_MANIFESTS: u32 = 16;

/// How many files of the tail are looked into at a time.
const MAX_TAIL_FILES: usize = 512;

/// A column that came into a table after its first schema.
pub struct LateColumn {
    /// The column, in its newest type.
    pub column: SchemaColumn,
    /// What a file that was registered before it holds of it, from the row of the file alone.
    pub of_file: Box<dyn Fn(&DataFileRow) -> FileColumn>,
}

impl fmt::Debug for LateColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.column.fmt(f)
    }
}

/// Reads out of all schemas of a table, oldest first, which columns of the newest came later than the first. The store does not
/// look inside of schemas.
pub type ReadLateColumns = fn(&[String]) -> Vec<LateColumn>;

/// What was found of some files.
pub(crate) struct Found {
    manifests: Vec<(ManifestId, Vec<BuiltColumn>)>,
    tail: Vec<(FileId, EncodedStatistics)>,
    /// That of the statistics that were looked at.
    generation: u64,
    /// How many files were looked into.
    pub(crate) files: u64,
}

const LIST_UNFILLED: &str = "
    SELECT m.manifest_id
    FROM manifest m INDEXED BY manifest_by_table
    WHERE m.table_id = ?1
        AND NOT EXISTS (SELECT 1 FROM manifest_zone z
            WHERE z.table_id = ?1 AND z.field_id = ?2 AND z.manifest_id = m.manifest_id)
        AND NOT EXISTS (SELECT 1 FROM column_block b WHERE b.manifest_id = m.manifest_id AND b.field_id = ?2)
    ORDER BY m.manifest_id
    LIMIT ?3";

const IS_FILLED: &str = "
    SELECT EXISTS (SELECT 1 FROM manifest_zone WHERE table_id = ?1 AND field_id = ?2 AND manifest_id = ?3)
        OR EXISTS (SELECT 1 FROM column_block WHERE manifest_id = ?3 AND field_id = ?2)";

const RAISE_GENERATIONS: &str = "
    UPDATE lake_table
    SET statistics_generation = statistics_generation + 1, layout_generation = layout_generation + 1
    WHERE table_id = ?1";

/// The late columns of a table.
pub(crate) fn list(
    tx: &ReadTransaction<'_>,
    table: &TableRow,
    read: Option<ReadLateColumns>,
) -> Result<Vec<LateColumn>> {
    match read {
        Some(read) if table.schema_id != SchemaId::FIRST => Ok(read(&tx.list_schemas(table.table_id)?)),
        _ => Ok(Vec::new()),
    }
}

/// Whether all manifests of a table are looked into.
pub(crate) fn are_manifests_filled(tx: &ReadTransaction<'_>, table_id: TableId, late: &[LateColumn]) -> Result<bool> {
    Ok(unfilled(tx, table_id, late, 1)?.is_empty())
}

/// Whether an entry of the tail is looked into.
pub(crate) fn is_entry_filled(entry: &TailEntry, late: &[LateColumn]) -> bool {
    late.iter().all(|late| entry.statistics.columns.contains_key(&late.column.field_id))
}

/// Looks into some files that nobody has; `None` if there are none.
pub(crate) fn find(tx: &ReadTransaction<'_>, table: &TableRow, late: &[LateColumn]) -> Result<Option<Found>> {
    let mut found =
        Found { manifests: Vec::new(), tail: Vec::new(), generation: table.statistics_generation, files: 0 };
    for manifest_id in unfilled(tx, table.table_id, late, MAX_MANIFESTS)? {
        // It was listed in this very transaction.
        let Some(manifest) = tx.get_manifest(manifest_id)? else { continue };
        found.files += manifest.totals.files;
        found.manifests.push((manifest_id, columns_of(tx, &manifest, late)?));
    }
    if found.manifests.is_empty() {
        found.tail = tail_of(tx, table, late)?;
        found.files = found.tail.len() as u64;
    }
    Ok((found.files > 0).then_some(found))
}

fn unfilled(tx: &ReadTransaction<'_>, table_id: TableId, late: &[LateColumn], limit: u32) -> Result<Vec<ManifestId>> {
    for LateColumn { column, .. } in late {
        let unfilled =
            tx.query_all(LIST_UNFILLED, params![table_id, column.field_id.0, limit], |row| Ok(row.get(0)?))?;
        if !unfilled.is_empty() {
            return Ok(unfilled);
        }
    }
    Ok(Vec::new())
}

fn columns_of(tx: &ReadTransaction<'_>, manifest: &ManifestRow, late: &[LateColumn]) -> Result<Vec<BuiltColumn>> {
    let mut missing = Vec::new();
    for late in late {
        let key = params![manifest.table_id, late.column.field_id.0, manifest.manifest_id];
        if tx.query_first(IS_FILLED, key, |row| Ok(row.get(0)?))? == Some(false) {
            missing.push(late);
        }
    }
    let block = tx.load_entry_block(manifest)?;
    let forgotten = tx.list_forgotten(manifest.manifest_id)?;
    let needed = block.identities().map(|entry| entry.file_id).filter(|file_id| !forgotten.contains_key(file_id));
    let rows = tx.load_data_files(&needed.collect::<Vec<_>>())?;
    let rows: BTreeMap<FileId, DataFileRow> = rows.into_iter().map(|row| (row.file_id, row)).collect();
    let mut entries = Vec::with_capacity(block.len());
    for identity in block.identities() {
        let row = rows.get(&identity.file_id);
        // No snapshot has a forgotten file, so whatever is said of one holds; this keeps the zone as narrow as it can be.
        let of_row = |late: &LateColumn| row.map_or(FileColumn::Absent, |row| (late.of_file)(row));
        let columns = missing.iter().map(|late| (late.column.field_id, of_row(late))).collect();
        entries.push(Entry { identity, statistics: FileStatistics { columns } });
    }
    let entries: Vec<&Entry> = entries.iter().collect();
    let build = |late: &LateColumn| builder::build_column(&entries, &late.column).map_err(Error::encode);
    missing.into_iter().filter_map(|late| build(late).transpose()).collect()
}

fn tail_of(
    tx: &ReadTransaction<'_>,
    table: &TableRow,
    late: &[LateColumn],
) -> Result<Vec<(FileId, EncodedStatistics)>> {
    if late.is_empty() {
        return Ok(Vec::new());
    }
    let entries = tx.list_tail(table.table_id)?.into_iter();
    let unfilled: Vec<TailEntry> = entries.filter(|entry| !is_entry_filled(entry, late)).take(MAX_TAIL_FILES).collect();
    let file_ids: Vec<FileId> = unfilled.iter().map(|entry| entry.file_id).collect();
    let mut tail = Vec::with_capacity(unfilled.len());
    for (TailEntry { file_id, mut statistics, .. }, row) in unfilled.into_iter().zip(tx.load_data_files(&file_ids)?) {
        for LateColumn { column, of_file } in late {
            statistics.columns.entry(column.field_id).or_insert_with(|| of_file(&row));
        }
        tail.push((file_id, EncodedStatistics::new(&statistics)?));
    }
    Ok(tail)
}

/// Stores what was found, unless what it was found from has changed.
pub(crate) fn install(tx: &WriteTransaction<'_>, table_id: TableId, found: &Found) -> Result<(), InstallError> {
    let manifests: Vec<ManifestId> = found.manifests.iter().map(|(manifest_id, _)| *manifest_id).collect();
    install::check(tx, table_id, found.generation, &install::Source::Manifests(manifests))?;
    for (manifest_id, columns) in &found.manifests {
        install::insert_columns(tx, table_id, *manifest_id, columns)?;
    }
    for (file_id, statistics) in &found.tail {
        // One that has no statistics in the tail any more has been forgotten.
        tx.update_tail_statistics(*file_id, statistics)?;
    }
    tx.execute(RAISE_GENERATIONS, [table_id])?;
    tracing::debug!(%table_id, files = found.files, "files were looked into for late columns");
    Ok(())
}
