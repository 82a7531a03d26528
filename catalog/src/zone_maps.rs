//! The store's column blocks, zones and tail as the pruner's zone maps.

use std::sync::Arc;

use arrow::array::UInt64Array;
use prunus_manifest::{ColumnZones as StoredZones, EntryBlock, ManifestRow, SchemaColumn, TailEntry};
use prunus_pruner::{ColumnZones, ZoneColumns, ZoneMaps};
use prunus_statistics::{FieldId, FileStatistics, PrimitiveType, ZoneMap};

use crate::Result;
use crate::plan_cache::{Manifests, PlanReader, TailChunk};

/// A column that a program reads.
pub(crate) type ProgramColumn = (FieldId, PrimitiveType);

/// The zone maps of the manifests of a table, in the order of these.
pub(crate) fn of_manifests(
    reader: &PlanReader<'_>,
    manifests: &Manifests,
    columns: &[ProgramColumn],
) -> Result<ZoneMaps> {
    build(&manifests.row_counts, columns, |column| reader.load_zones(manifests, column))
}

/// The zone maps of the files of one manifest, in the order of its entries.
pub(crate) fn of_entries(
    reader: &PlanReader<'_>,
    manifest: &ManifestRow,
    entries: &EntryBlock,
    columns: &[ProgramColumn],
) -> Result<ZoneMaps> {
    build(entries.row_counts(), columns, |column| reader.load_column(manifest, column))
}

/// The zone maps of the files of a chunk of the tail.
pub(crate) fn of_tail(reader: &PlanReader<'_>, chunk: &TailChunk, columns: &[ProgramColumn]) -> Result<ZoneMaps> {
    build(chunk.block.row_counts(), columns, |column| reader.load_tail_column(chunk, column))
}

/// The zone maps of one column over entries of the tail.
pub(crate) fn of_tail_column(tail: &[Arc<TailEntry>], column: SchemaColumn) -> Result<ColumnZones> {
    usable(&stored_of_tail(tail.iter().map(Arc::as_ref), column))
}

/// The same as a manifest would store it.
pub(crate) fn stored_of_tail<'e>(
    tail: impl Iterator<Item = &'e TailEntry>,
    SchemaColumn { field_id, column_type }: SchemaColumn,
) -> StoredZones {
    let zone =
        |entry: &TailEntry| ZoneMap::of_file(entry.statistics.columns.get(&field_id), column_type, entry.row_count);
    let zones: Vec<ZoneMap> = tail.map(zone).collect();
    StoredZones::from_zone_maps(column_type.physical_type(), &zones)
}

/// The zone maps of one file.
pub(crate) fn of_file(
    row_count: Option<u64>,
    statistics: &FileStatistics,
    columns: &[ProgramColumn],
) -> Result<ZoneMaps> {
    build(&UInt64Array::from(vec![row_count]), columns, |SchemaColumn { field_id, column_type }| {
        let zone = ZoneMap::of_file(statistics.columns.get(&field_id), column_type, row_count);
        usable(&StoredZones::from_zone_maps(column_type.physical_type(), &[zone])).map(Arc::new)
    })
}

fn build(
    row_counts: &UInt64Array,
    columns: &[ProgramColumn],
    load: impl Fn(SchemaColumn) -> Result<Arc<ColumnZones>>,
) -> Result<ZoneMaps> {
    let mut zone_maps = ZoneMaps::new(row_counts);
    for (field_id, column_type) in columns {
        zone_maps.insert(*field_id, load(SchemaColumn { field_id: *field_id, column_type: *column_type })?)?;
    }
    Ok(zone_maps)
}

/// Stored zones in the form that the pruner works on.
pub(crate) fn usable(stored: &StoredZones) -> Result<ColumnZones> {
    let arrays = ZoneColumns {
        min: stored.min(),
        max: stored.max(),
        null_count: stored.null_count(),
        nan_count: stored.nan_count(),
        valueless: stored.valueless(),
    };
    Ok(ColumnZones::new(stored.physical_type(), &arrays)?)
}
