//! What plans have read from the store, decoded, and shared between them.
//!
//! Nothing here is ever stale. A manifest never changes and its id is never given to another, so its blocks are kept by it.
//! What does change is kept by all that it depends on: the list of manifests and the tail by the table's version, the zones of a
//! column by the very manifests that they are of.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use moka::sync::Cache;
use prunus_manifest::{
    EntryBlock, ManifestId, ManifestRow, ReadTransaction, SchemaColumn, SnapshotId, TableId, TableRow, TailEntry,
};
use prunus_pruner::ColumnZones;
use prunus_statistics::{FieldId, PrimitiveType};

use crate::{Result, zone_maps};

/// How many bytes are kept unless it is said otherwise.
pub const DEFAULT_PLAN_CACHE_BYTES: u64 = 256 << 20;

/// What plans have read; what is least likely to be asked for again is dropped when it gets too much.
#[derive(Clone)]
pub(crate) struct PlanCache {
    parts: Cache<Key, Part>,
}

/// A state of a table's manifests and tail: a commit makes a new snapshot, whatever else moves files counts as a new layout.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Version {
    table_id: TableId,
    snapshot_id: SnapshotId,
    layout_generation: u64,
    statistics_generation: u64,
}

/// The type is that which a column is read as: it may be widened after its blocks were written.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Manifests(Version),
    Zones(Arc<[ManifestId]>, FieldId, PrimitiveType),
    Entries(ManifestId),
    /// With how many removals there are: these only become more.
    Removals(ManifestId, u64),
    Column(ManifestId, FieldId, PrimitiveType),
    Tail(Version),
    TailColumn(Version, FieldId, PrimitiveType),
}

#[derive(Clone)]
enum Part {
    Manifests(Arc<Vec<ManifestRow>>),
    Entries(Arc<EntryBlock>),
    Removals(Arc<Removals>),
    Column(Arc<ColumnZones>),
    Tail(Arc<Vec<TailEntry>>),
}

/// The files of a manifest that were removed, with the first snapshot that each is not live in any more.
type Removals = HashMap<i64, SnapshotId>;

/// A plan's way to what is stored, which counts how much of it had to be read.
pub(crate) struct PlanReader<'a> {
    cache: &'a PlanCache,
    tx: &'a ReadTransaction<'a>,
    version: Version,
    counts: Cell<ReadCounts>,
}

/// How many parts a plan needed: lists, zones of a column, blocks, the tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadCounts {
    /// Read from the store and decoded.
    pub(crate) read: u64,
    /// Found in memory.
    pub(crate) cached: u64,
}

impl PlanCache {
    pub(crate) fn new(max_bytes: u64) -> Self {
        let weigher = |key: &Key, part: &Part| u32::try_from(key.size_bytes() + part.size_bytes()).unwrap_or(u32::MAX);
        Self { parts: Cache::builder().weigher(weigher).max_capacity(max_bytes).build() }
    }
}

impl Key {
    fn size_bytes(&self) -> usize {
        size_of::<Self>() + if let Self::Zones(manifests, ..) = self { size_of_val(&**manifests) } else { 0 }
    }
}

impl Part {
    /// About how much memory it takes.
    fn size_bytes(&self) -> usize {
        const REMOVAL_BYTES: usize = 32;
        const TAIL_COLUMN_BYTES: usize = 256;
        size_of::<Self>()
            + match self {
                Self::Manifests(manifests) => size_of_val(manifests.as_slice()),
                Self::Entries(entries) => entries.size_bytes(),
                Self::Removals(removals) => removals.len() * REMOVAL_BYTES,
                Self::Column(zones) => zones.size_bytes(),
                Self::Tail(tail) => {
                    let columns: usize = tail.iter().map(|entry| entry.statistics.columns.len()).sum();
                    size_of_val(tail.as_slice()) + columns * TAIL_COLUMN_BYTES
                }
            }
    }
}

/// Reads a part unless it is kept, and keeps it.
macro_rules! cached {
    ($reader:expr, $key:expr, $kind:path, $load:expr) => {{
        let key = $key;
        if let Some($kind(part)) = $reader.cache.parts.get(&key) {
            $reader.count(0, 1);
            Ok(part)
        } else {
            let part = Arc::new($load);
            $reader.count(1, 0);
            $reader.cache.parts.insert(key, $kind(Arc::clone(&part)));
            Ok(part)
        }
    }};
}

impl<'a> PlanReader<'a> {
    pub(crate) fn new(cache: &'a PlanCache, tx: &'a ReadTransaction<'a>, table: &TableRow) -> Self {
        let version = Version {
            table_id: table.table_id,
            snapshot_id: table.current_snapshot,
            layout_generation: table.layout_generation,
            statistics_generation: table.statistics_generation,
        };
        Self { cache, tx, version, counts: Cell::default() }
    }

    /// How much was asked for so far.
    pub(crate) fn counts(&self) -> ReadCounts {
        self.counts.get()
    }

    /// The manifests of the table, ascending by id.
    pub(crate) fn list_manifests(&self) -> Result<Arc<Vec<ManifestRow>>> {
        cached!(self, Key::Manifests(self.version), Part::Manifests, self.tx.list_manifests(self.version.table_id)?)
    }

    /// The zone maps of a column over whole manifests of the table, in the order of these.
    pub(crate) fn load_zones(&self, manifests: &[ManifestRow], column: SchemaColumn) -> Result<Arc<ColumnZones>> {
        let ids = manifests.iter().map(|manifest| manifest.manifest_id).collect();
        cached!(
            self,
            Key::Zones(ids, column.field_id, column.column_type),
            Part::Column,
            zone_maps::usable(&self.tx.load_zones(self.version.table_id, manifests, column)?)?
        )
    }

    /// The entries of a manifest.
    pub(crate) fn load_entries(&self, manifest: &ManifestRow) -> Result<Arc<EntryBlock>> {
        cached!(self, Key::Entries(manifest.manifest_id), Part::Entries, self.tx.load_entry_block(manifest)?)
    }

    /// Which entries of a manifest are not live any more in the newest snapshot.
    pub(crate) fn load_removals(&self, manifest: &ManifestRow) -> Result<Arc<Removals>> {
        let pair = |removal: prunus_manifest::Removal| (removal.file_id.0, removal.removed_snapshot);
        cached!(
            self,
            Key::Removals(manifest.manifest_id, manifest.removed.files),
            Part::Removals,
            self.tx.list_removals(manifest.manifest_id)?.into_iter().map(pair).collect()
        )
    }

    /// The zone maps of a column over the files of a manifest.
    pub(crate) fn load_column(&self, manifest: &ManifestRow, column: SchemaColumn) -> Result<Arc<ColumnZones>> {
        cached!(
            self,
            Key::Column(manifest.manifest_id, column.field_id, column.column_type),
            Part::Column,
            zone_maps::usable(&self.tx.load_column_block(manifest, column)?)?
        )
    }

    /// The tail of the table.
    pub(crate) fn list_tail(&self) -> Result<Arc<Vec<TailEntry>>> {
        cached!(self, Key::Tail(self.version), Part::Tail, self.tx.list_tail(self.version.table_id)?)
    }

    /// The zone maps of a column over the files of the tail.
    pub(crate) fn load_tail_column(&self, tail: &[TailEntry], column: SchemaColumn) -> Result<Arc<ColumnZones>> {
        cached!(
            self,
            Key::TailColumn(self.version, column.field_id, column.column_type),
            Part::Column,
            zone_maps::of_tail_column(tail, column)?
        )
    }

    fn count(&self, read: u64, cached: u64) {
        let counts = self.counts.get();
        self.counts.set(ReadCounts { read: counts.read + read, cached: counts.cached + cached });
    }
}
