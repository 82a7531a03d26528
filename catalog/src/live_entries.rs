//! Which entries of a manifest, or of the tail, are live in a snapshot.

use arrow::array::Array;
use prunus_manifest::{EntryBlock, SnapshotId, Totals};
use prunus_pruner::Mask;

use crate::plan::add_file;
use crate::plan_cache::Removals;

/// Those that are, of entries of which these were removed.
pub(crate) fn live_in(snapshot_id: SnapshotId, entries: &EntryBlock, removals: &Removals) -> Mask {
    let (file_ids, added) = (entries.file_ids(), entries.added_snapshots());
    Mask::from_fn(entries.len(), |index| {
        SnapshotId(added.value(index)) <= snapshot_id
            && removals.get(&file_ids.value(index)).is_none_or(|removed| *removed > snapshot_id)
    })
}

/// What the entries of a mask hold.
pub(crate) fn sum(entries: &EntryBlock, mask: &Mask) -> Totals {
    let (row_counts, sizes_bytes) = (entries.row_counts(), entries.sizes_bytes());
    let mut sum = Totals::default();
    for index in mask.indices() {
        let row_count = row_counts.is_valid(index).then(|| row_counts.value(index));
        add_file(&mut sum, row_count, sizes_bytes.value(index));
    }
    sum
}
