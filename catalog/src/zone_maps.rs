//! The store's column blocks, zones and tail as the pruner's zone maps.

use arrow::array::UInt64Array;
use prunus_manifest::{
    ColumnZones as StoredZones, EntryBlock, ManifestRow, ReadTransaction, SchemaColumn, TableId, TailEntry,
};
use prunus_pruner::{ColumnZones, ZoneColumns, ZoneMaps};
use prunus_statistics::{FieldId, FileStatistics, PrimitiveType, ZoneMap};

use crate::Result;

/// A column that a program reads.
pub(crate) type ProgramColumn = (FieldId, PrimitiveType);

/// The zone maps of whole manifests, in the order of `manifests`.
pub(crate) fn of_manifests(
    tx: &ReadTransaction<'_>,
    table_id: TableId,
    manifests: &[ManifestRow],
    columns: &[ProgramColumn],
) -> Result<ZoneMaps> {
    let row_counts: UInt64Array = manifests.iter().map(ManifestRow::row_count).collect();
    build(&row_counts, columns, |column| Ok(tx.load_zones(table_id, manifests, column)?))
}

/// The zone maps of the files of one manifest, in the order of its entries.
pub(crate) fn of_entries(
    tx: &ReadTransaction<'_>,
    manifest: &ManifestRow,
    entries: &EntryBlock,
    columns: &[ProgramColumn],
) -> Result<ZoneMaps> {
    build(entries.row_counts(), columns, |column| Ok(tx.load_column_block(manifest, column)?))
}

/// The zone maps of the files of the tail.
pub(crate) fn of_tail(tail: &[TailEntry], columns: &[ProgramColumn]) -> Result<ZoneMaps> {
    let row_counts: UInt64Array = tail.iter().map(|entry| entry.row_count).collect();
    build(&row_counts, columns, |SchemaColumn { field_id, column_type }| {
        let zones: Vec<ZoneMap> = tail
            .iter()
            .map(|entry| ZoneMap::of_file(entry.statistics.columns.get(&field_id), column_type, entry.row_count))
            .collect();
        Ok(StoredZones::from_zone_maps(column_type.physical_type(), &zones))
    })
}

/// The zone maps of one file.
pub(crate) fn of_file(
    row_count: Option<u64>,
    statistics: &FileStatistics,
    columns: &[ProgramColumn],
) -> Result<ZoneMaps> {
    build(&UInt64Array::from(vec![row_count]), columns, |SchemaColumn { field_id, column_type }| {
        let zone = ZoneMap::of_file(statistics.columns.get(&field_id), column_type, row_count);
        Ok(StoredZones::from_zone_maps(column_type.physical_type(), &[zone]))
    })
}

fn build(
    row_counts: &UInt64Array,
    columns: &[ProgramColumn],
    load: impl Fn(SchemaColumn) -> Result<StoredZones>,
) -> Result<ZoneMaps> {
    let mut zone_maps = ZoneMaps::new(row_counts);
    for (field_id, column_type) in columns {
        let stored = load(SchemaColumn { field_id: *field_id, column_type: *column_type })?;
        let arrays = ZoneColumns {
            min: stored.min(),
            max: stored.max(),
            null_count: stored.null_count(),
            nan_count: stored.nan_count(),
            valueless: stored.valueless(),
        };
        zone_maps.insert(*field_id, ColumnZones::new(stored.physical_type(), &arrays)?)?;
    }
    Ok(zone_maps)
}
