//! The tail of a table in the form that plans work on: columns, in a few chunks that never change.
//!
//! Commits make the tail longer by a file or two at a time, so it is not built anew for each: what came since is read and
//! becomes a chunk of its own, and a chunk that is not much larger than the next one is joined with it. So there are few chunks,
//! and an entry is put into another one only as often as the tail has grown by a factor.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prunus_manifest::{EntryBlock, ReadTransaction, Removal, SnapshotId, TableRow, TailEntry};

use prunus_statistics::FieldId;

use super::Removals;
use crate::Result;

/// A chunk that is at most this many times as large as the next one is joined with it.
const JOIN_BELOW: usize = 8;

/// The tail of a table as it was in one of its states, and in those before it of the same layout.
pub(crate) struct Tail {
    layout_generation: u64,
    statistics_generation: u64,
    snapshot_id: SnapshotId,
    chunks: Vec<Arc<TailChunk>>,
    removals: Arc<Removals>,
}

/// Some entries of a tail, in the order of arrival.
pub(crate) struct TailChunk {
    pub(crate) id: ChunkId,
    /// The entries as a manifest would hold them.
    pub(crate) block: EntryBlock,
    /// The snapshots that the first and the last of them are live from.
    pub(crate) added_snapshots: (SnapshotId, SnapshotId),
    pub(crate) entries: Vec<Arc<TailEntry>>,
    /// The columns of which an entry has statistics that are its writer's word.
    pub(crate) declared: BTreeSet<FieldId>,
}

/// Tells chunks apart for as long as the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ChunkId(u64);

impl ChunkId {
    fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Tail {
    /// The whole tail, read.
    pub(crate) fn read(tx: &ReadTransaction<'_>, table: &TableRow) -> Result<Self> {
        Self {
            layout_generation: table.layout_generation,
            statistics_generation: table.statistics_generation,
            snapshot_id: SnapshotId::EMPTY,
            chunks: Vec::new(),
            removals: Arc::default(),
        }
        .extended(tx, table)
    }

    /// Whether the entries are those that the table has, or the first of them, or these and newer ones.
    pub(crate) fn is_of(&self, table: &TableRow) -> bool {
        (self.layout_generation, self.statistics_generation) == (table.layout_generation, table.statistics_generation)
    }

    /// Whether it is from before the table's newest snapshot. One from after it will do: what is newer than a plan's
    /// snapshot is not live in it.
    pub(crate) fn is_behind(&self, table: &TableRow) -> bool {
        self.snapshot_id < table.current_snapshot
    }

    /// Whether it is of a layout or of statistics that the table did not have yet.
    pub(crate) fn is_newer(&self, table: &TableRow) -> bool {
        self.layout_generation > table.layout_generation || self.statistics_generation > table.statistics_generation
    }

    /// The same with what came since.
    pub(crate) fn extended(&self, tx: &ReadTransaction<'_>, table: &TableRow) -> Result<Self> {
        let last = self.chunks.last().and_then(|chunk| chunk.entries.last());
        let added = tx.list_tail_after(table.table_id, last.map(|entry| entry.file_id))?;
        let removed = tx.list_tail_removals(table.table_id, self.snapshot_id)?;
        Ok(Self {
            snapshot_id: table.current_snapshot,
            chunks: joined(&self.chunks, added.into_iter().map(Arc::new).collect()),
            removals: with_removals(&self.removals, removed),
            ..*self
        })
    }

    pub(crate) fn chunks(&self) -> &[Arc<TailChunk>] {
        &self.chunks
    }

    /// The files of all chunks that are not live any more in some snapshot.
    pub(crate) fn removals(&self) -> &Removals {
        &self.removals
    }

    /// About how much memory it takes.
    pub(super) fn size_bytes(&self) -> usize {
        const REMOVAL_BYTES: usize = 32;
        self.removals.len() * REMOVAL_BYTES + self.chunks.iter().map(|chunk| chunk.size_bytes()).sum::<usize>()
    }
}

impl TailChunk {
    fn new(entries: Vec<Arc<TailEntry>>) -> Self {
        let block = EntryBlock::of_tail(entries.iter().map(Arc::as_ref));
        let added = || entries.iter().map(|entry| entry.added_snapshot);
        let added_snapshots = added().min().zip(added().max()).unwrap_or((SnapshotId::EMPTY, SnapshotId::EMPTY));
        let declared = entries.iter().flat_map(|entry| entry.declared_columns()).collect();
        Self { id: ChunkId::next(), block, added_snapshots, entries, declared }
    }

    fn size_bytes(&self) -> usize {
        const COLUMN_BYTES: usize = 256;
        let columns: usize = self.entries.iter().map(|entry| entry.statistics.columns.len()).sum();
        self.block.size_bytes() + self.entries.len() * size_of::<TailEntry>() + columns * COLUMN_BYTES
    }
}

/// The chunks with a further one, joined where they should be.
fn joined(chunks: &[Arc<TailChunk>], added: Vec<Arc<TailEntry>>) -> Vec<Arc<TailChunk>> {
    if added.is_empty() {
        return chunks.to_vec();
    }
    let mut last = added.len();
    let is_joined = |chunk: &&Arc<TailChunk>| {
        let joined = chunk.entries.len() <= JOIN_BELOW * last;
        last += chunk.entries.len();
        joined
    };
    let kept = chunks.len() - chunks.iter().rev().take_while(is_joined).count();
    let (kept, joined) = chunks.split_at(kept);
    let entries = joined.iter().flat_map(|chunk| chunk.entries.iter().cloned()).chain(added).collect();
    kept.iter().cloned().chain([Arc::new(TailChunk::new(entries))]).collect()
}

fn with_removals(known: &Arc<Removals>, removed: Vec<Removal>) -> Arc<Removals> {
    if removed.is_empty() {
        return Arc::clone(known);
    }
    let removed = removed.into_iter().map(|removal| (removal.file_id.0, removal.removed_snapshot));
    let all: HashMap<_, _> = known.iter().map(|(file_id, snapshot)| (*file_id, *snapshot)).chain(removed).collect();
    Arc::new(all)
}

#[cfg(test)]
mod tests {
    use prunus_manifest::FileId;
    use prunus_statistics::FileStatistics;

    use super::*;

    fn entry(file_id: i64) -> Arc<TailEntry> {
        Arc::new(TailEntry {
            file_id: FileId(file_id),
            row_count: Some(1),
            size_bytes: 1,
            added_snapshot: SnapshotId(file_id),
            removed_snapshot: None,
            statistics: FileStatistics::default(),
        })
    }

    #[test]
    fn a_tail_that_grows_by_single_files_has_few_chunks() {
        let (mut chunks, mut moved) = (Vec::new(), 0);
        let files = 4_096;
        for file_id in 1..=files {
            chunks = joined(&chunks, vec![entry(file_id)]);
            let of_last = chunks.last().unwrap().entries.len();
            moved += of_last;
            assert!(chunks.len() <= 5, "{file_id}");
            let in_order = chunks.iter().flat_map(|chunk| &chunk.entries).map(|entry| entry.file_id.0);
            assert!(in_order.eq(1..=file_id));
        }
        assert!(moved < 20 * usize::try_from(files).unwrap(), "{moved}");
    }

    #[test]
    fn what_does_not_grow_keeps_its_chunks() {
        let chunks = joined(&[], vec![entry(1), entry(2)]);
        let same = joined(&chunks, Vec::new());
        assert_eq!(chunks[0].id, same[0].id);
    }
}
