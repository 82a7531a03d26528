//! New manifests are put in place of what their entries stood in before, in one job of the writer.

use std::collections::HashSet;

use rusqlite::params;

use crate::builder::{BuiltColumn, BuiltManifest};
use crate::ids::Unsigned;
use crate::transaction::WriteTransaction;
use crate::{Error, FileId, ManifestId, Result, TableId, Totals, checked, commit};

/// What the entries of new manifests stood in.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The tail.
    Tail,
    /// These manifests, all of whose entries that name a file are in the new ones.
    Manifests(Vec<ManifestId>),
}

/// Why manifests were not put in place.
#[derive(Debug)]
pub(crate) enum InstallError {
    /// What they were built from has changed: build anew.
    Moved,
    /// The store failed.
    Store(Error),
}

impl From<Error> for InstallError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

const HAS_MANIFEST: &str = "
    SELECT EXISTS (SELECT 1 FROM manifest WHERE manifest_id = ?1)";

/// Counts another layout of a table, and so many files out of its tail.
pub(crate) const CHANGE_LAYOUT: &str = "
    UPDATE lake_table
    SET tail_files = tail_files - ?2, layout_generation = layout_generation + 1
    WHERE table_id = ?1";

const INSERT_MANIFEST: &str = "
    INSERT INTO manifest (table_id, files, rows, files_of_unknown_rows, bytes, first_added_snapshot, last_added_snapshot,
        removed_files, removed_rows, removed_files_of_unknown_rows, removed_bytes)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0, 0)";

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
    INSERT INTO manifest_zone (table_id, field_id, manifest_id, column_type, zone, declared_files)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const SEAL_FILE: &str = "
    UPDATE data_file
    SET manifest_id = ?2
    WHERE file_id = ?1 AND manifest_id IS NULL";

const DELETE_STATISTICS: &str = "
    DELETE FROM tail_statistics
    WHERE file_id = ?1";

const MOVE_FILE: &str = "
    UPDATE data_file
    SET manifest_id = ?2
    WHERE file_id = ?1";

const MOVE_FORGOTTEN: &str = "
    UPDATE forgotten_entry
    SET manifest_id = ?2
    WHERE manifest_id = ?3 AND file_id = ?1";

/// Its blocks and zones go with it.
pub(crate) const DELETE_MANIFEST: &str = "
    DELETE FROM manifest
    WHERE manifest_id = ?1";

/// Stores manifests of one table and moves their files into them; `generation` is that of the statistics they were built
/// from.
pub(crate) fn install(
    tx: &WriteTransaction<'_>,
    table_id: TableId,
    generation: u64,
    source: &Source,
    built: &[BuiltManifest],
) -> Result<(), InstallError> {
    check(tx, table_id, generation, source)?;
    let mut sealed_files = 0;
    for built in built {
        let manifest_id = insert_manifest(tx, table_id, built)?;
        match source {
            Source::Tail => {
                seal_files(tx, manifest_id, built)?;
                sealed_files += built.totals.files;
            }
            Source::Manifests(sources) => move_files(tx, manifest_id, built, sources)?,
        }
        count_removed(tx, table_id, manifest_id, built)?;
    }
    if let Source::Manifests(sources) = source {
        for manifest_id in sources {
            tx.execute(DELETE_MANIFEST, [manifest_id])?;
        }
    }
    tx.execute(CHANGE_LAYOUT, params![table_id, Unsigned(sealed_files)])?;
    tracing::debug!(%table_id, manifests = built.len(), ?source, "manifests are in place");
    Ok(())
}

/// Whether what the manifests were built from is still there, with the same statistics.
pub(crate) fn check(
    tx: &WriteTransaction<'_>,
    table_id: TableId,
    generation: u64,
    source: &Source,
) -> Result<(), InstallError> {
    match tx.load_statistics_generation(table_id) {
        Ok(current) if current == generation => {}
        Ok(_) | Err(Error::TableGone(_)) => return Err(InstallError::Moved),
        Err(error) => return Err(error.into()),
    }
    let Source::Manifests(sources) = source else { return Ok(()) };
    for manifest_id in sources {
        if tx.query_first(HAS_MANIFEST, [manifest_id], |row| Ok(row.get(0)?))? != Some(true) {
            return Err(InstallError::Moved);
        }
    }
    Ok(())
}

fn insert_manifest(tx: &WriteTransaction<'_>, table_id: TableId, built: &BuiltManifest) -> Result<ManifestId> {
    let values = params![
        table_id,
        Unsigned(built.totals.files),
        Unsigned(built.totals.rows),
        Unsigned(built.totals.files_of_unknown_rows),
        Unsigned(built.totals.bytes),
        built.first_added_snapshot,
        built.last_added_snapshot,
    ];
    let manifest_id = ManifestId(tx.insert(INSERT_MANIFEST, values)?);
    tx.execute(INSERT_ENTRY_BLOCK, params![manifest_id, built.entry_block])?;
    insert_columns(tx, table_id, manifest_id, &built.columns)?;
    Ok(manifest_id)
}

/// Stores columns of a manifest that has none of them yet.
pub(crate) fn insert_columns(
    tx: &WriteTransaction<'_>,
    table_id: TableId,
    manifest_id: ManifestId,
    columns: &[BuiltColumn],
) -> Result<()> {
    for built in columns {
        let field_id = built.column.field_id.0;
        let column_type = built.column.column_type.to_string();
        let zone = checked::pack(&built.zone).map_err(Error::encode)?;
        tx.execute(INSERT_COLUMN_BLOCK, params![manifest_id, field_id, column_type, built.block])?;
        tx.execute(INSERT_COLUMN_DETAIL, params![manifest_id, field_id, built.detail])?;
        let declared_files = Unsigned(built.declared_files);
        tx.execute(INSERT_ZONE, params![table_id, field_id, manifest_id, column_type, zone, declared_files])?;
    }
    Ok(())
}

/// A file that is not in the tail any more has been forgotten, or sealed by another.
fn seal_files(tx: &WriteTransaction<'_>, manifest_id: ManifestId, built: &BuiltManifest) -> Result<(), InstallError> {
    for file_id in built.file_ids() {
        if tx.execute(SEAL_FILE, params![file_id, manifest_id])? != 1 {
            return Err(InstallError::Moved);
        }
        tx.execute(DELETE_STATISTICS, [file_id])?;
    }
    Ok(())
}

/// A file that has no row any more has been forgotten since the manifest was built: the mark moves instead.
fn move_files(
    tx: &WriteTransaction<'_>,
    manifest_id: ManifestId,
    built: &BuiltManifest,
    sources: &[ManifestId],
) -> Result<()> {
    for file_id in built.file_ids() {
        if tx.execute(MOVE_FILE, params![file_id, manifest_id])? == 1 {
            continue;
        }
        let mut moved = 0;
        for source in sources {
            moved += tx.execute(MOVE_FORGOTTEN, params![file_id, manifest_id, source])?;
        }
        if moved != 1 {
            return Err(Error::FileNotFound(file_id));
        }
    }
    Ok(())
}

/// Notes which of a new manifest's files are not live any more.
fn count_removed(
    tx: &WriteTransaction<'_>,
    table_id: TableId,
    manifest_id: ManifestId,
    built: &BuiltManifest,
) -> Result<()> {
    let removed: HashSet<FileId> = tx.list_removals(manifest_id)?.into_iter().map(|removal| removal.file_id).collect();
    if removed.is_empty() {
        return Ok(());
    }
    let gone = built.identities.iter().filter(|identity| removed.contains(&identity.file_id));
    let sum =
        gone.clone().try_fold(Totals::default(), |sum, identity| sum.with(identity.size_bytes, identity.row_count));
    let sum = sum.ok_or(Error::TotalsOverflow(table_id))?;
    commit::count_removals(tx, manifest_id, sum)
}
