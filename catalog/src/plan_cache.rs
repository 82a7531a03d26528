//! What plans have read from the store, decoded, and shared between them.
//!
//! Nothing here is ever stale. A manifest never changes and its id is never given to another, so its blocks are kept by it;
//! a schema likewise. What does change is kept with the state that it is of: the list of manifests and the tail say up to which
//! snapshot they hold and are brought up to date, the zones of a column are kept by the layout of the table.

#[cfg(test)]
mod repair_tests;
mod tail;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::UInt64Array;
use moka::notification::RemovalCause;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use prunus_manifest::{
    ColumnZones as StoredZones, EntryBlock, ManifestId, ManifestRow, ManifestZones, ReadTransaction, SchemaColumn,
    SchemaId, SnapshotId, TableId, TableRow,
};
use prunus_pruner::ColumnZones;
use prunus_statistics::{FieldId, PrimitiveType};

use crate::activity::PlanCacheActivity;
use crate::cancel::Cancelled;
use crate::history::History;
use crate::plan::{KeptPlans, PlanOrigin, ResolvedSnapshot};
use crate::table_schema::TableSchema;
use crate::zone_maps::WritersWord;
use crate::{Result, zone_maps};

use tail::ChunkId;
pub(crate) use tail::{Tail, TailChunk};

/// How many bytes are kept unless it is said otherwise.
pub const DEFAULT_PLAN_CACHE_BYTES: u64 = 256 << 20;

/// Which part of the room is for plans with later pages: one of a million files takes 12 MB.
const SHARE_OF_PLANS: u64 = 4;

/// What plans have read; what was not asked for longest is dropped when it gets too much.
#[derive(Clone)]
pub(crate) struct PlanCache {
    parts: Cache<Key, Part>,
    plans: Arc<KeptPlans>,
    activity: Arc<PlanCacheActivity>,
}

/// The type is that which a column is read as: it may be widened after its blocks were written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Schema(TableId, SchemaId),
    /// Up to the newest schema.
    History(TableId, SchemaId),
    Manifests(TableId),
    /// With the generation of the layout.
    Zones(TableId, u64, FieldId, PrimitiveType),
    Entries(ManifestId),
    /// With how many removals there are: these only become more.
    Removals(ManifestId, u64),
    Column(ManifestId, FieldId, PrimitiveType),
    /// The same without what is the writer's word alone, with the generation of the layout: there may be no block yet.
    UndeclaredColumn(ManifestId, FieldId, PrimitiveType, u64),
    /// That there is no such block, with the generation of the layout: one may come.
    NoColumn(ManifestId, FieldId, PrimitiveType, u64),
    Tail(TableId),
    TailColumn(ChunkId, FieldId, PrimitiveType),
    UndeclaredTailColumn(ChunkId, FieldId, PrimitiveType),
}

#[derive(Clone)]
enum Part {
    Schema(Arc<TableSchema>),
    History(Arc<History>),
    Manifests(Arc<Manifests>),
    Entries(Arc<EntryBlock>),
    Removals(Arc<Removals>),
    Zones(Arc<TableZones>),
    Column(Arc<ColumnZones>),
    Tail(Arc<Tail>),
}

/// The manifests of a table, ascending by id, as they were in one of its states.
pub(crate) struct Manifests {
    layout_generation: u64,
    snapshot_id: SnapshotId,
    pub(crate) rows: Arc<[ManifestRow]>,
    /// How many rows each has; null is unknown.
    pub(crate) row_counts: UInt64Array,
}

/// The zone maps of a column over the manifests of a table.
pub(crate) struct TableZones {
    pub(crate) zones: Arc<ColumnZones>,
    /// `None` if no file of any has a statistic of the column that is its writer's word.
    pub(crate) declared: Option<DeclaredZones>,
}

/// What of them is the writer's word alone.
pub(crate) struct DeclaredZones {
    /// How many files of each manifest have such statistics; null where nobody has counted.
    pub(crate) files: UInt64Array,
    /// The zone maps, unknown where there are some.
    pub(crate) undeclared: Arc<ColumnZones>,
}

impl TableZones {
    fn new(stored: &ManifestZones) -> Result<Self> {
        let undeclared = stored.undeclared()?.map(|zones| zone_maps::usable(&zones)).transpose()?;
        let declared = undeclared
            .map(|undeclared| DeclaredZones { files: stored.declared_files.clone(), undeclared: Arc::new(undeclared) });
        Ok(Self { zones: Arc::new(zone_maps::usable(&stored.zones)?), declared })
    }

    fn size_bytes(&self) -> usize {
        let declared = self.declared.as_ref();
        let of_declared =
            |declared: &DeclaredZones| declared.undeclared.size_bytes() + declared.files.len() * size_of::<u64>();
        self.zones.size_bytes() + declared.map_or(0, of_declared)
    }
}

/// The files of a manifest that were removed, with the first snapshot that each is not live in any more.
pub(crate) type Removals = HashMap<i64, SnapshotId>;

/// A plan's way to what is stored, which counts how much of it had to be read.
pub(crate) struct PlanReader<'a> {
    cache: &'a PlanCache,
    tx: &'a ReadTransaction<'a>,
    table: &'a TableRow,
    cancelled: &'a Cancelled,
    counts: Cell<ReadCounts>,
}

/// How many parts a plan needed: the schema, lists, zones of a column, blocks, the tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadCounts {
    /// Read from the store and decoded.
    pub(crate) read: u64,
    /// Found in memory.
    pub(crate) cached: u64,
}

impl Manifests {
    fn is_newer(&self, table: &TableRow) -> bool {
        (self.layout_generation, self.snapshot_id) > (table.layout_generation, table.current_snapshot)
    }
}

impl PlanCache {
    pub(crate) fn new(max_bytes: u64, activity: &Arc<PlanCacheActivity>) -> Self {
        let weigher = |_: &Key, part: &Part| u32::try_from(part.size_bytes()).unwrap_or(u32::MAX);
        // Not by how often a part is asked for: then one that takes the room of many, as a tail does, would never be let in.
        let policy = EvictionPolicy::lru();
        let plans_max_bytes = max_bytes / SHARE_OF_PLANS;
        let parts_max_bytes = max_bytes - plans_max_bytes;
        let counted = Arc::clone(activity);
        let evicted =
            move |_: Arc<Key>, _: Part, cause: RemovalCause| counted.evictions.add(cause.was_evicted().into());
        let parts = Cache::builder().weigher(weigher).max_capacity(parts_max_bytes).eviction_policy(policy);
        Self {
            activity: Arc::clone(activity),
            parts: parts.eviction_listener(evicted).build(),
            plans: Arc::new(KeptPlans::new(usize::try_from(plans_max_bytes).unwrap_or(usize::MAX))),
        }
    }

    /// How many parts there are, and how many bytes they take; what was done in the last moments may not be in it.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.parts.entry_count(), self.parts.weighted_size())
    }

    /// How many plans are kept for their later pages, and how many bytes they take.
    pub(crate) fn kept_plans_size(&self) -> (usize, usize) {
        self.plans.size()
    }
}

#[cfg(test)]
impl PlanCache {
    /// Of how many manifests the entries are kept.
    pub(crate) fn entry_blocks(&self) -> usize {
        self.parts.iter().filter(|(key, _)| matches!(**key, Key::Entries(_))).count()
    }
}

impl Part {
    /// About how much memory it takes.
    fn size_bytes(&self) -> usize {
        const REMOVAL_BYTES: usize = 32;
        size_of::<(Key, Self)>()
            + match self {
                Self::Schema(schema) => schema.size_bytes(),
                Self::History(history) => history.size_bytes(),
                Self::Manifests(manifests) => size_of_val(&*manifests.rows),
                Self::Entries(entries) => entries.size_bytes(),
                Self::Removals(removals) => removals.len() * REMOVAL_BYTES,
                Self::Zones(zones) => zones.size_bytes(),
                Self::Column(zones) => zones.size_bytes(),
                Self::Tail(tail) => tail.size_bytes(),
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
            $reader.check_awaited()?;
            let part = Arc::new($load);
            $reader.count(1, 0);
            $reader.cache.parts.insert(key, $kind(Arc::clone(&part)));
            Ok(part)
        }
    }};
}

/// What it has counted is added to what all have.
impl Drop for PlanReader<'_> {
    fn drop(&mut self) {
        let ReadCounts { read, cached } = self.counts.get();
        self.cache.activity.misses.add(read);
        self.cache.activity.hits.add(cached);
    }
}

impl<'a> PlanReader<'a> {
    pub(crate) fn new(
        cache: &'a PlanCache,
        tx: &'a ReadTransaction<'a>,
        table: &'a TableRow,
        cancelled: &'a Cancelled,
    ) -> Self {
        Self { cache, tx, table, cancelled, counts: Cell::default() }
    }

    /// Ends the work if nobody waits for it any more. Whoever loops over manifests or parts of the tail asks; nothing is read without
    /// it being asked.
    pub(crate) fn check_awaited(&self) -> Result<()> {
        self.cancelled.check()
    }

    /// How much was asked for so far.
    pub(crate) fn counts(&self) -> ReadCounts {
        self.counts.get()
    }

    /// One of the table's schemas.
    pub(crate) fn load_schema(&self, schema_id: SchemaId) -> Result<Arc<TableSchema>> {
        let table_id = self.table.table_id;
        cached!(self, Key::Schema(table_id, schema_id), Part::Schema, TableSchema::load(self.tx, table_id, schema_id)?)
    }

    /// All schemas of the table.
    pub(crate) fn load_history(&self) -> Result<Arc<History>> {
        let key = Key::History(self.table.table_id, self.table.schema_id);
        cached!(self, key, Part::History, History::load(self.tx, self.table)?)
    }

    /// The manifests of the table.
    pub(crate) fn list_manifests(&self) -> Result<Arc<Manifests>> {
        let TableRow { table_id, current_snapshot: snapshot_id, layout_generation, .. } = *self.table;
        let key = Key::Manifests(table_id);
        let known = self.get(key, |part| if let Part::Manifests(manifests) = part { Some(manifests) } else { None });
        let (rows, row_counts) = match &known {
            Some(known) if self.has_same_manifests(known)? => {
                self.count(0, 1);
                if known.snapshot_id == snapshot_id {
                    return Ok(Arc::clone(known));
                }
                (Arc::clone(&known.rows), known.row_counts.clone())
            }
            _ => {
                self.count(1, 0);
                let rows: Arc<[ManifestRow]> = self.tx.list_manifests(table_id)?.into();
                let row_counts = rows.iter().map(ManifestRow::row_count).collect();
                (rows, row_counts)
            }
        };
        let manifests = Arc::new(Manifests { layout_generation, snapshot_id, rows, row_counts });
        // This transaction may be of an older state than the one that others have read.
        if known.is_none_or(|known| !known.is_newer(self.table)) {
            self.cache.parts.insert(key, Part::Manifests(Arc::clone(&manifests)));
        }
        Ok(manifests)
    }

    /// Whether nothing has changed since a list was read. Commits that only add files leave it as it is.
    fn has_same_manifests(&self, known: &Manifests) -> Result<bool> {
        let TableRow { table_id, current_snapshot, layout_generation, .. } = *self.table;
        if known.layout_generation != layout_generation || known.snapshot_id > current_snapshot {
            return Ok(false);
        }
        Ok(known.snapshot_id == current_snapshot
            || self.tx.count_removed(table_id, known.snapshot_id, current_snapshot)? == Some(0))
    }

    /// The zone maps of a column over the table's manifests, in the order of these.
    pub(crate) fn load_zones(&self, manifests: &Manifests, column: SchemaColumn) -> Result<Arc<TableZones>> {
        let SchemaColumn { field_id, column_type } = column;
        cached!(
            self,
            Key::Zones(self.table.table_id, manifests.layout_generation, field_id, column_type),
            Part::Zones,
            TableZones::new(&self.tx.load_zones(self.table.table_id, &manifests.rows, column)?)?
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
        let SchemaColumn { field_id, column_type } = column;
        let (manifest_id, generation) = (manifest.manifest_id, self.table.layout_generation);
        let block = Key::Column(manifest_id, field_id, column_type);
        let no_block = Key::NoColumn(manifest_id, field_id, column_type, generation);
        for key in [block, no_block] {
            let kept = self.get(key, |part| if let Part::Column(zones) = part { Some(zones) } else { None });
            if let Some(zones) = kept {
                self.count(0, 1);
                return Ok(zones);
            }
        }
        self.check_awaited()?;
        self.count(1, 0);
        let (key, stored) = match self.tx.get_column_zones(manifest, column)? {
            Some(stored) => (block, stored),
            None => (no_block, StoredZones::unknown(column_type, manifest.len())),
        };
        let zones = Arc::new(zone_maps::usable(&stored)?);
        self.cache.parts.insert(key, Part::Column(Arc::clone(&zones)));
        Ok(zones)
    }

    /// The same without what is the writer's word alone.
    pub(crate) fn load_undeclared_column(
        &self,
        manifest: &ManifestRow,
        column: SchemaColumn,
    ) -> Result<Arc<ColumnZones>> {
        cached!(
            self,
            Key::UndeclaredColumn(
                manifest.manifest_id,
                column.field_id,
                column.column_type,
                self.table.layout_generation
            ),
            Part::Column,
            zone_maps::usable(&self.tx.load_undeclared_block(manifest, column)?)?
        )
    }

    /// The tail of the table.
    pub(crate) fn load_tail(&self) -> Result<Arc<Tail>> {
        let key = Key::Tail(self.table.table_id);
        let known = self.get(key, |part| if let Part::Tail(tail) = part { Some(tail) } else { None });
        let (tail, is_kept) = match known {
            Some(known) if known.is_of(self.table) && !known.is_behind(self.table) => {
                self.count(0, 1);
                return Ok(known);
            }
            Some(known) if known.is_of(self.table) => (known.extended(self.tx, self.table)?, true),
            // This transaction may be of an older state than the one that others have read.
            Some(known) => (Tail::read(self.tx, self.table)?, !known.is_newer(self.table)),
            None => (Tail::read(self.tx, self.table)?, true),
        };
        self.count(1, 0);
        let tail = Arc::new(tail);
        if is_kept {
            self.cache.parts.insert(key, Part::Tail(Arc::clone(&tail)));
        }
        Ok(tail)
    }

    /// The zone maps of a column over the files of a chunk of the tail.
    pub(crate) fn load_tail_column(&self, chunk: &TailChunk, column: SchemaColumn) -> Result<Arc<ColumnZones>> {
        cached!(
            self,
            Key::TailColumn(chunk.id, column.field_id, column.column_type),
            Part::Column,
            zone_maps::of_tail_column(&chunk.entries, column, self.written_as(column)?, WritersWord::Taken)?
        )
    }

    /// The same without what is the writer's word alone.
    pub(crate) fn load_undeclared_tail_column(
        &self,
        chunk: &TailChunk,
        column: SchemaColumn,
    ) -> Result<Arc<ColumnZones>> {
        cached!(
            self,
            Key::UndeclaredTailColumn(chunk.id, column.field_id, column.column_type),
            Part::Column,
            zone_maps::of_tail_column(&chunk.entries, column, self.written_as(column)?, WritersWord::NotTaken)?
        )
    }

    /// What a plan of a snapshot is of.
    pub(crate) fn origin(&self, snapshot: &ResolvedSnapshot) -> PlanOrigin {
        let TableRow { table_id, layout_generation, statistics_generation, .. } = *self.table;
        let ResolvedSnapshot { snapshot_id, schema_id, .. } = *snapshot;
        PlanOrigin { table_id, snapshot_id, schema_id, layout_generation, statistics_generation }
    }

    /// The plans that are kept for their later pages.
    pub(crate) fn kept_plans(&self) -> &KeptPlans {
        &self.cache.plans
    }

    /// The type that the statistics of the tail are in. Where it changes so that they are others, their generation does.
    fn written_as(&self, column: SchemaColumn) -> Result<PrimitiveType> {
        if self.table.schema_id == SchemaId::FIRST {
            return Ok(column.column_type);
        }
        Ok(self.load_history()?.newest_types().get(&column.field_id).copied().unwrap_or(column.column_type))
    }

    fn get<T>(&self, key: Key, kind: impl FnOnce(Part) -> Option<T>) -> Option<T> {
        self.cache.parts.get(&key).and_then(kind)
    }

    fn count(&self, read: u64, cached: u64) {
        let counts = self.counts.get();
        self.counts.set(ReadCounts { read: counts.read + read, cached: counts.cached + cached });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_takes_the_room_of_many_is_kept() {
        let removals = |files: i64| Part::Removals(Arc::new((0..files).map(|id| (id, SnapshotId(1))).collect()));
        let key = |id| Key::Removals(ManifestId(id), 1);
        let cache = PlanCache::new(1 << 20, &Arc::default());
        for id in 0..2_000 {
            cache.parts.insert(key(id), removals(10));
            assert!(cache.parts.get(&key(id)).is_some());
        }
        cache.parts.run_pending_tasks();
        cache.parts.insert(key(-1), removals(20_000));
        cache.parts.run_pending_tasks();
        assert!(cache.parts.get(&key(-1)).is_some());
        assert!(cache.parts.weighted_size() <= 1 << 20);
    }
}
