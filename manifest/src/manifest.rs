//! Manifests, as planning reads them: the list, the zones of a column over all, then the blocks of one.

use std::collections::BTreeMap;

use arrow::array::{BooleanArray, UInt64Array};
use prunus_statistics::{FieldId, PrimitiveType, ZoneMap};
use rusqlite::{Row, params};

use crate::column_zones::ColumnZones;
use crate::entry_block::EntryBlock;
use crate::error::{BlockName, FormatError};
use crate::ids::Unsigned;
use crate::schema::SchemaColumn;
use crate::transaction::ReadTransaction;
use crate::{Error, FileId, ManifestId, Result, SnapshotId, TableId, Totals, checked, column_block};

/// A manifest as it is stored. All but `removed` never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestRow {
    /// Its id.
    pub manifest_id: ManifestId,
    /// Its table.
    pub table_id: TableId,
    /// All its entries, removed ones counted.
    pub totals: Totals,
    /// The snapshot that its first file is live from: in an older one none of them is.
    pub first_added_snapshot: SnapshotId,
    /// The snapshot that its last file is live from.
    pub last_added_snapshot: SnapshotId,
    /// Those of its entries that are not live any more in the newest snapshot. Their number only grows, so together with the
    /// id it keys what is cached of the removals.
    pub removed: Totals,
}

impl ManifestRow {
    /// How many rows all its files have; unknown as soon as one of them is.
    pub fn row_count(&self) -> Option<u64> {
        (self.totals.files_of_unknown_rows == 0).then_some(self.totals.rows)
    }

    /// Those of its entries that are live in the newest snapshot.
    pub fn live(&self) -> Totals {
        self.totals.minus(self.removed)
    }

    /// How many entries it has, removed ones counted.
    pub fn len(&self) -> usize {
        usize::try_from(self.totals.files).unwrap_or(usize::MAX)
    }

    /// Whether it has no entry, which no manifest does.
    pub fn is_empty(&self) -> bool {
        self.totals.files == 0
    }

    pub(crate) fn damaged<E: Into<FormatError>>(&self, block: BlockName) -> impl FnOnce(E) -> Error {
        let (table_id, manifest_id) = (self.table_id, self.manifest_id);
        move |error| Error::DamagedBlock { table_id, manifest_id, block, source: error.into() }
    }

    pub(crate) fn missing(&self, block: BlockName) -> Error {
        Error::MissingBlock { table_id: self.table_id, manifest_id: self.manifest_id, block }
    }
}

/// A file of a manifest that is not live any more in the newest snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The file.
    pub file_id: FileId,
    /// The first snapshot that it is not live in any more.
    pub removed_snapshot: SnapshotId,
}

/// What is known of a column in each of a list of manifests.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestZones {
    /// The zone maps.
    pub zones: ColumnZones,
    /// How many entries of each hold a usable statistic of the column that is their writer's word; null where nobody has
    /// counted. Removed entries count, so it may be more than are live.
    pub declared_files: UInt64Array,
}

impl ManifestZones {
    /// The zone maps, but nothing is known of manifests that hold something of the column that is its writer's word; `None` if
    /// none does.
    ///
    /// # Errors
    /// [`Error::Encode`] if the arrays are too large for Arrow.
    pub fn undeclared(&self) -> Result<Option<ColumnZones>> {
        let declared = self.declared_files.iter().map(|files| Some(files.is_some_and(|files| files > 0)));
        let declared: BooleanArray = declared.collect();
        if declared.true_count() == 0 {
            return Ok(None);
        }
        self.zones.without(&declared).map(Some).map_err(Error::encode)
    }
}

/// What is known of a column in one manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestZone {
    /// The zone map, over all entries, removed ones among them.
    pub zone: ZoneMap,
    /// How many entries hold a usable statistic of the column that is their writer's word; `None` where nobody has counted.
    pub declared_files: Option<u64>,
}

impl ManifestZone {
    /// Of a column that the manifest has no zone of: nothing is known, and nobody's word is taken.
    fn unknown(column_type: PrimitiveType) -> Self {
        Self { zone: ZoneMap::unknown(column_type), declared_files: Some(0) }
    }
}

const LIST_MANIFESTS: &str = "
    SELECT manifest_id, table_id, files, rows, files_of_unknown_rows, bytes, first_added_snapshot, last_added_snapshot,
        removed_files, removed_rows, removed_files_of_unknown_rows, removed_bytes
    FROM manifest INDEXED BY manifest_by_table
    WHERE table_id = ?1
    ORDER BY manifest_id";

const SELECT_MANIFEST: &str = "
    SELECT manifest_id, table_id, files, rows, files_of_unknown_rows, bytes, first_added_snapshot, last_added_snapshot,
        removed_files, removed_rows, removed_files_of_unknown_rows, removed_bytes
    FROM manifest
    WHERE manifest_id = ?1";

const LIST_ZONES: &str = "
    SELECT manifest_id, column_type, zone, declared_files
    FROM manifest_zone
    WHERE table_id = ?1 AND field_id = ?2
    ORDER BY manifest_id";

const LIST_ZONES_OF_MANIFEST: &str = "
    SELECT field_id, column_type, zone, declared_files
    FROM manifest_zone INDEXED BY manifest_zone_by_manifest
    WHERE manifest_id = ?1";

const HAS_ZONE: &str = "
    SELECT EXISTS (SELECT 1 FROM manifest_zone WHERE table_id = ?1 AND field_id = ?2 AND manifest_id = ?3)";

const SELECT_ENTRY_BLOCK: &str = "
    SELECT block
    FROM entry_block
    WHERE manifest_id = ?1";

const SELECT_COLUMN_BLOCK: &str = "
    SELECT column_type, block
    FROM column_block
    WHERE manifest_id = ?1 AND field_id = ?2";

const LIST_REMOVALS: &str = "
    SELECT file_id, removed_snapshot
    FROM data_file INDEXED BY data_file_removed
    WHERE manifest_id = ?1 AND removed_snapshot IS NOT NULL
    UNION ALL
    SELECT file_id, removed_snapshot
    FROM forgotten_entry
    WHERE manifest_id = ?1
    ORDER BY file_id";

impl ReadTransaction<'_> {
    /// The manifests of a table, ascending by id. This list drives a plan: what it names and has no zone is unknown.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn list_manifests(&self, table_id: TableId) -> Result<Vec<ManifestRow>> {
        self.query_all(LIST_MANIFESTS, [table_id], manifest_row)
    }

    /// The zone maps of a column over `manifests`, which are of one table, in their order. What has none is unknown, and nobody's
    /// word.
    ///
    /// # Errors
    /// [`Error::Sqlite`]; [`Error::DamagedBlock`] if a zone does not decode.
    pub fn load_zones(
        &self,
        table_id: TableId,
        manifests: &[ManifestRow],
        column: SchemaColumn,
    ) -> Result<ManifestZones> {
        let all = self.list_zones(table_id, manifests, column)?;
        let physical_type = column.column_type.physical_type();
        Ok(ManifestZones {
            zones: ColumnZones::from_zone_maps(physical_type, all.iter().map(|manifest| &manifest.zone)),
            declared_files: all.iter().map(|manifest| manifest.declared_files).collect(),
        })
    }

    /// The same one by one.
    pub(crate) fn list_zones(
        &self,
        table_id: TableId,
        manifests: &[ManifestRow],
        column: SchemaColumn,
    ) -> Result<Vec<ManifestZone>> {
        let mut zones: BTreeMap<ManifestId, ManifestZone> = self
            .query_all(LIST_ZONES, params![table_id, column.field_id.0], |row| {
                let manifest_id = row.get(0)?;
                Ok((manifest_id, zone_row(row, (table_id, manifest_id), column)?))
            })?
            .into_iter()
            .collect();
        let unknown = || ManifestZone::unknown(column.column_type);
        Ok(manifests.iter().map(|manifest| zones.remove(&manifest.manifest_id).unwrap_or_else(unknown)).collect())
    }

    /// The zone maps of columns over one manifest, in the order of the columns. What has none is unknown, and nobody's word.
    ///
    /// # Errors
    /// [`Error::Sqlite`]; [`Error::DamagedBlock`] if the zone of one of the columns does not decode.
    pub fn load_zones_of_manifest(
        &self,
        manifest: &ManifestRow,
        columns: &[SchemaColumn],
    ) -> Result<Vec<ManifestZone>> {
        let of_manifest = (manifest.table_id, manifest.manifest_id);
        let by_field: BTreeMap<FieldId, SchemaColumn> =
            columns.iter().map(|column| (column.field_id, *column)).collect();
        let mut zones: BTreeMap<FieldId, ManifestZone> = self
            .query_all(LIST_ZONES_OF_MANIFEST, [manifest.manifest_id], |row| {
                let Some(column) = by_field.get(&FieldId(row.get(0)?)) else { return Ok(None) };
                Ok(Some((column.field_id, zone_row(row, of_manifest, *column)?)))
            })?
            .into_iter()
            .flatten()
            .collect();
        let zone = |column: &SchemaColumn| {
            zones.remove(&column.field_id).unwrap_or_else(|| ManifestZone::unknown(column.column_type))
        };
        Ok(columns.iter().map(zone).collect())
    }

    /// The entries of a manifest.
    ///
    /// # Errors
    /// [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::Sqlite`].
    pub fn load_entry_block(&self, manifest: &ManifestRow) -> Result<EntryBlock> {
        let decoded = self.query_first(SELECT_ENTRY_BLOCK, [manifest.manifest_id], |row| {
            let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            EntryBlock::decode(bytes, manifest.len()).map_err(manifest.damaged(BlockName::Entries))
        })?;
        decoded.ok_or_else(|| manifest.missing(BlockName::Entries))
    }

    /// The zone maps of a column over the entries of a manifest, in their order; all are unknown where there are none.
    ///
    /// # Errors
    /// As [`ReadTransaction::get_column_zones`].
    pub fn load_column_block(&self, manifest: &ManifestRow, column: SchemaColumn) -> Result<ColumnZones> {
        let zones = self.get_column_zones(manifest, column)?;
        Ok(zones.unwrap_or_else(|| ColumnZones::unknown(column.column_type, manifest.len())))
    }

    /// The zone maps of a column over the entries of a manifest, in their order. `None` if no file said anything about the column,
    /// or if the manifest is from before it and what its files hold has not been looked into yet: that may change, and counts as a
    /// change of the table's layout.
    ///
    /// # Errors
    /// [`Error::MissingBlock`] if the column has a zone but no block; [`Error::DamagedBlock`], [`Error::Sqlite`].
    pub fn get_column_zones(&self, manifest: &ManifestRow, column: SchemaColumn) -> Result<Option<ColumnZones>> {
        let Some((zones, written_as)) = self.get_column_block(manifest, column.field_id)? else { return Ok(None) };
        let read = zones.read_as(written_as, column.column_type);
        read.map(Some).map_err(manifest.damaged(BlockName::Column(column.field_id)))
    }

    /// The files of a manifest that are not live any more in the newest snapshot, ascending by id, forgotten ones among them.
    /// In a snapshot before its `removed_snapshot` a file still is. [`ManifestRow::removed`] says whether there is any, and
    /// counts them.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn list_removals(&self, manifest_id: ManifestId) -> Result<Vec<Removal>> {
        self.query_all(LIST_REMOVALS, [manifest_id], |row| {
            Ok(Removal { file_id: row.get(0)?, removed_snapshot: row.get(1)? })
        })
    }

    /// The manifest of this id, whichever table it is of; `None` if there is none, or none any more.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn get_manifest(&self, manifest_id: ManifestId) -> Result<Option<ManifestRow>> {
        self.query_first(SELECT_MANIFEST, [manifest_id], manifest_row)
    }

    /// A column's block and the type that it was written as; `None` if the column has neither block nor zone.
    pub(crate) fn get_column_block(
        &self,
        manifest: &ManifestRow,
        field_id: FieldId,
    ) -> Result<Option<(ColumnZones, PrimitiveType)>> {
        let name = BlockName::Column(field_id);
        let block = self.query_first(SELECT_COLUMN_BLOCK, params![manifest.manifest_id, field_id.0], |row| {
            let column_type = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            let column_type: PrimitiveType = column_type.parse().map_err(manifest.damaged(name))?;
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            let zones = column_block::decode(bytes, column_type.physical_type(), manifest.len());
            Ok((zones.map_err(manifest.damaged(name))?, column_type))
        })?;
        if block.is_some() {
            return Ok(block);
        }
        let key = params![manifest.table_id, field_id.0, manifest.manifest_id];
        match self.query_first(HAS_ZONE, key, |row| Ok(row.get(0)?))? {
            Some(true) => Err(manifest.missing(name)),
            _ => Ok(None),
        }
    }
}

pub(crate) fn manifest_row(row: &Row<'_>) -> Result<ManifestRow> {
    Ok(ManifestRow {
        manifest_id: row.get(0)?,
        table_id: row.get(1)?,
        totals: Totals {
            files: row.get::<_, Unsigned>(2)?.0,
            rows: row.get::<_, Unsigned>(3)?.0,
            files_of_unknown_rows: row.get::<_, Unsigned>(4)?.0,
            bytes: row.get::<_, Unsigned>(5)?.0,
        },
        first_added_snapshot: row.get(6)?,
        last_added_snapshot: row.get(7)?,
        removed: Totals {
            files: row.get::<_, Unsigned>(8)?.0,
            rows: row.get::<_, Unsigned>(9)?.0,
            files_of_unknown_rows: row.get::<_, Unsigned>(10)?.0,
            bytes: row.get::<_, Unsigned>(11)?.0,
        },
    })
}

/// The zone that stands behind the first column of a row.
fn zone_row(
    row: &Row<'_>,
    (table_id, manifest_id): (TableId, ManifestId),
    column: SchemaColumn,
) -> Result<ManifestZone> {
    let block = BlockName::Zone(column.field_id);
    let damaged = |source| Error::DamagedBlock { table_id, manifest_id, block, source };
    let written_as = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
    let written_as: PrimitiveType = written_as.parse().map_err(FormatError::from).map_err(damaged)?;
    let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
    let zone: ZoneMap = checked::unpack(bytes).map_err(damaged)?;
    let declared_files = row.get::<_, Option<Unsigned>>(3)?.map(|files| files.0);
    Ok(ManifestZone { zone: zone.read_as(written_as, column.column_type), declared_files })
}
