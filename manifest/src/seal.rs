//! Sealing: the oldest entries of a full tail become manifests.

use rusqlite::{Connection, params};

use crate::builder::{self, BuiltManifest, Entry};
use crate::ids::Unsigned;
use crate::tail::TailEntry;
use crate::transaction::WriteTransaction;
use crate::{Error, ManifestId, Result, TableId};

/// How many manifests one step makes at most. Entries are put in order across all of them, so more make narrower zones; a
/// commit that arrives meanwhile waits longer.
const MAX_MANIFESTS_PER_STEP: u64 = 4;

const LIST_FULL_TAILS: &str = "
    SELECT table_id
    FROM lake_table
    WHERE tail_files >= ?1";

const SHORTEN_TAIL: &str = "
    UPDATE lake_table
    SET tail_files = tail_files - ?2, layout_generation = layout_generation + 1
    WHERE table_id = ?1";

const INSERT_MANIFEST: &str = "
    INSERT INTO manifest (table_id, files, rows, files_of_unknown_rows, bytes, first_added_snapshot, last_added_snapshot,
        removed_files, removed_rows, removed_files_of_unknown_rows, removed_bytes)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

const INSERT_ENTRY_BLOCK: &str = "
    INSERT INTO entry_block (manifest_id, block)
    VALUES (?1, ?2)";

const INSERT_COLUMN_BLOCK: &str = "
    INSERT INTO column_block (manifest_id, field_id, column_type, block)
    VALUES (?1, ?2, ?3, ?4)";

const INSERT_COLUMN_DETAIL: &str = "
    INSERT INTO column_detail (manifest_id, field_id, block)
    VALUES (?1, ?2, ?3)";

const INSERT_ZONE: &str = "
    INSERT INTO manifest_zone (table_id, field_id, manifest_id, column_type, zone)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const SEAL_FILE: &str = "
    UPDATE data_file
    SET manifest_id = ?2
    WHERE file_id = ?1";

const DELETE_STATISTICS: &str = "
    DELETE FROM tail_statistics
    WHERE file_id = ?1";

/// The tables whose tails were due when the store was closed, or killed.
pub(crate) fn full_tails<C: FromIterator<TableId>>(connection: &Connection, target_files: u64) -> Result<C> {
    let mut statement = connection.prepare(LIST_FULL_TAILS)?;
    let tables = statement.query_map([Unsigned(target_files)], |row| row.get(0))?;
    Ok(tables.collect::<rusqlite::Result<C>>()?)
}

/// Seals a part of a tail, whole manifests only. Says how many entries the tail still has; none if the table is gone.
pub(crate) fn seal_step(transaction: &WriteTransaction<'_>, table_id: TableId, target_files: u64) -> Result<u64> {
    let table = match transaction.load_table_by_id(table_id) {
        Err(Error::TableGone(_)) => return Ok(0),
        table => table?,
    };
    let manifests = (table.tail_files / target_files).min(MAX_MANIFESTS_PER_STEP);
    let sealed_files = manifests * target_files;
    if sealed_files == 0 {
        return Ok(table.tail_files);
    }
    let tail = transaction.list_oldest_of_tail(table_id, sealed_files)?;
    let columns = transaction.list_columns(table_id)?;
    let mut entries: Vec<Entry> = tail.into_iter().map(entry).collect();
    builder::sort(&mut entries, &columns, &table.cluster_by);
    for group in entries.chunks(usize::try_from(target_files).unwrap_or(usize::MAX)) {
        let built = builder::build(group, &columns).map_err(Error::encode)?;
        insert_manifest(transaction, table_id, &built.ok_or(Error::TotalsOverflow(table_id))?)?;
    }
    transaction.execute(SHORTEN_TAIL, params![table_id, Unsigned(sealed_files)])?;
    tracing::debug!(%table_id, manifests, "sealed a tail");
    Ok(table.tail_files - sealed_files)
}

fn entry(entry: TailEntry) -> Entry {
    Entry {
        file_id: entry.file_id,
        row_count: entry.row_count,
        size_bytes: entry.size_bytes,
        added_snapshot: entry.added_snapshot,
        is_removed: entry.removed_snapshot.is_some(),
        statistics: entry.statistics,
    }
}

/// Stores a manifest and moves its files into it.
fn insert_manifest(transaction: &WriteTransaction<'_>, table_id: TableId, built: &BuiltManifest) -> Result<()> {
    let values = params![
        table_id,
        Unsigned(built.totals.files),
        Unsigned(built.totals.rows),
        Unsigned(built.totals.files_of_unknown_rows),
        Unsigned(built.totals.bytes),
        built.first_added_snapshot,
        built.last_added_snapshot,
        Unsigned(built.removed.files),
        Unsigned(built.removed.rows),
        Unsigned(built.removed.files_of_unknown_rows),
        Unsigned(built.removed.bytes),
    ];
    let manifest_id = ManifestId(transaction.insert(INSERT_MANIFEST, values)?);
    transaction.execute(INSERT_ENTRY_BLOCK, params![manifest_id, built.entry_block])?;
    for built in &built.columns {
        let field_id = built.column.field_id.0;
        let column_type = built.column.column_type.to_string();
        transaction.execute(INSERT_COLUMN_BLOCK, params![manifest_id, field_id, column_type, built.block])?;
        transaction.execute(INSERT_COLUMN_DETAIL, params![manifest_id, field_id, built.detail])?;
        transaction.execute(INSERT_ZONE, params![table_id, field_id, manifest_id, column_type, built.zone])?;
    }
    for file_id in &built.file_ids {
        transaction.execute(SEAL_FILE, params![file_id, manifest_id])?;
        transaction.execute(DELETE_STATISTICS, [file_id])?;
    }
    Ok(())
}
