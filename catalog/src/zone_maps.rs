//! The store's column blocks, zones and tail as the pruner's zone maps.

use std::sync::Arc;

use arrow::array::UInt64Array;
use prunus_manifest::{ColumnZones as StoredZones, EntryBlock, ManifestRow, SchemaColumn, TailEntry};
use prunus_pruner::{ColumnZones, ZoneColumns, ZoneMaps};
use prunus_statistics::{FieldId, FileStatistics, PrimitiveType, ZoneMap};

use crate::Result;
use crate::plan_cache::{Manifests, PlanReader, TableZones, TailChunk};

/// A column that a program reads.
pub(crate) type ProgramColumn = (FieldId, PrimitiveType);

/// The zone maps of the manifests of a table.
pub(crate) struct ManifestZoneMaps {
    /// In the order of the manifests.
    pub(crate) zones: ZoneMaps,
    /// `None` if nothing of the columns is any writer's word alone.
    pub(crate) declared: Option<DeclaredZoneMaps>,
}

/// What of the zone maps of manifests is the writers' word alone.
pub(crate) struct DeclaredZoneMaps {
    /// The zone maps without it.
    pub(crate) undeclared: ZoneMaps,
    /// How many files at most of each manifest have such statistics of the columns.
    pub(crate) files: Vec<u64>,
}

/// The zone maps of the manifests of a table.
pub(crate) fn of_manifests(
    reader: &PlanReader<'_>,
    manifests: &Manifests,
    columns: &[ProgramColumn],
) -> Result<ManifestZoneMaps> {
    let mut zones = ZoneMaps::new(&manifests.row_counts);
    let mut all = Vec::with_capacity(columns.len());
    for column in columns {
        let of_column = reader.load_zones(manifests, column_of(column))?;
        zones.insert(column.0, Arc::clone(&of_column.zones))?;
        all.push((column.0, of_column));
    }
    Ok(ManifestZoneMaps { zones, declared: declared(manifests, &all)? })
}

fn declared(manifests: &Manifests, columns: &[(FieldId, Arc<TableZones>)]) -> Result<Option<DeclaredZoneMaps>> {
    if columns.iter().all(|(_, zones)| zones.declared.is_none()) {
        return Ok(None);
    }
    let (mut undeclared, mut files) = (ZoneMaps::new(&manifests.row_counts), vec![0_u64; manifests.rows.len()]);
    for (field_id, zones) in columns {
        let Some(declared) = &zones.declared else {
            undeclared.insert(*field_id, Arc::clone(&zones.zones))?;
            continue;
        };
        undeclared.insert(*field_id, Arc::clone(&declared.undeclared))?;
        for (sum, files) in files.iter_mut().zip(&declared.files) {
            *sum = sum.saturating_add(files.unwrap_or(0));
        }
    }
    Ok(Some(DeclaredZoneMaps { undeclared, files }))
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

/// The same without what is the writer's word alone.
pub(crate) fn of_undeclared_entries(
    reader: &PlanReader<'_>,
    manifest: &ManifestRow,
    entries: &EntryBlock,
    columns: &[ProgramColumn],
) -> Result<ZoneMaps> {
    build(entries.row_counts(), columns, |column| reader.load_undeclared_column(manifest, column))
}

/// The zone maps of the files of a chunk of the tail.
pub(crate) fn of_tail(reader: &PlanReader<'_>, chunk: &TailChunk, columns: &[ProgramColumn]) -> Result<ZoneMaps> {
    build(chunk.block.row_counts(), columns, |column| reader.load_tail_column(chunk, column))
}

/// The same without what is the writer's word alone; `None` if nothing of these columns is.
pub(crate) fn of_undeclared_tail(
    reader: &PlanReader<'_>,
    chunk: &TailChunk,
    columns: &[ProgramColumn],
) -> Result<Option<ZoneMaps>> {
    if !columns.iter().any(|(field_id, _)| chunk.declared.contains(field_id)) {
        return Ok(None);
    }
    build(chunk.block.row_counts(), columns, |column| reader.load_undeclared_tail_column(chunk, column)).map(Some)
}

/// Whether what is the writer's word alone is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WritersWord {
    Taken,
    NotTaken,
}

/// The zone maps of one column over entries of the tail, whose statistics are of the type `written_as`.
pub(crate) fn of_tail_column(
    tail: &[Arc<TailEntry>],
    column: SchemaColumn,
    written_as: PrimitiveType,
    word: WritersWord,
) -> Result<ColumnZones> {
    usable(&stored_of_tail(tail.iter().map(Arc::as_ref), column, written_as, word))
}

/// The same as a manifest would store it.
pub(crate) fn stored_of_tail<'e>(
    tail: impl Iterator<Item = &'e TailEntry>,
    SchemaColumn { field_id, column_type }: SchemaColumn,
    written_as: PrimitiveType,
    word: WritersWord,
) -> StoredZones {
    let written = SchemaColumn { field_id, column_type: written_as };
    let zone = |entry: &TailEntry| {
        let column = entry.statistics.columns.get(&field_id);
        let column = column.filter(|_| word == WritersWord::Taken || !entry.is_declared(written));
        if written_as == column_type {
            return ZoneMap::of_file(column, column_type, entry.row_count);
        }
        let column = column.cloned().map(|column| column.read_as(written_as, column_type));
        ZoneMap::of_file(column.as_ref(), column_type, entry.row_count)
    };
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

fn column_of((field_id, column_type): &ProgramColumn) -> SchemaColumn {
    SchemaColumn { field_id: *field_id, column_type: *column_type }
}

fn build(
    row_counts: &UInt64Array,
    columns: &[ProgramColumn],
    load: impl Fn(SchemaColumn) -> Result<Arc<ColumnZones>>,
) -> Result<ZoneMaps> {
    let mut zone_maps = ZoneMaps::new(row_counts);
    for column in columns {
        zone_maps.insert(column.0, load(column_of(column))?)?;
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
