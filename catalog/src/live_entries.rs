//! Which entries of a manifest, or of the tail, are live in a snapshot.

use arrow::array::Array;
use prunus_manifest::{EntryBlock, ManifestRow, SnapshotId, TableRow, Totals};
use prunus_pruner::Mask;

use crate::Result;
use crate::plan::add_file;
use crate::plan_cache::{PlanReader, Removals};

/// What is live in a snapshot of a manifest all of whose entries were added up to it, where that can be told without these: if
/// none of them was removed up to it, or all were that ever have been.
pub(crate) fn sum_of_added(
    reader: &PlanReader<'_>,
    table: &TableRow,
    manifest: &ManifestRow,
    snapshot_id: SnapshotId,
) -> Result<Option<Totals>> {
    // The removals that the row counts are those up to the newest snapshot.
    if manifest.removed.files == 0 || snapshot_id == table.current_snapshot {
        return Ok(Some(manifest.live()));
    }
    let removals = reader.load_removals(manifest)?;
    let removed = removals.values().filter(|removed| **removed <= snapshot_id).count();
    Ok(match removed {
        0 => Some(manifest.totals),
        _ if removed == removals.len() => Some(manifest.live()),
        _ => None,
    })
}

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
