//! Leases: who reads a long answer page by page holds its snapshot against expiry meanwhile.
//!
//! They are kept in memory alone: after a restart a page may find its snapshot expired, and its token is stale then. So is
//! one that was given out in the very moment in which its snapshot was expired.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prunus_manifest::{SnapshotId, TableId};

/// How long a snapshot is held after a page of it that has a next one, in milliseconds.
pub const LEASE_MS: i64 = 10 * 60 * 1000;

/// The most snapshots that are held at once. Beyond it the one is let go that would be let go first.
pub const MAX_LEASES: usize = 10_000;

/// The snapshots that are held, each with the time at which that ends, in milliseconds since 1970-01-01T00:00Z.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    ends: Mutex<HashMap<(TableId, SnapshotId), i64>>,
}

impl Leases {
    /// Holds a snapshot for [`LEASE_MS`] from now on. The empty table needs no holding.
    pub(crate) fn take(&self, table_id: TableId, snapshot_id: SnapshotId, now_ms: i64) {
        if snapshot_id == SnapshotId::EMPTY {
            return;
        }
        let mut ends = self.lock();
        let end_ms = ends.entry((table_id, snapshot_id)).or_insert(i64::MIN);
        // A clock that goes back takes nothing from a lease.
        *end_ms = (*end_ms).max(now_ms.saturating_add(LEASE_MS));
        if ends.len() > MAX_LEASES {
            ends.retain(|_, end_ms| *end_ms > now_ms);
        }
        if ends.len() > MAX_LEASES {
            let first = ends.iter().min_by_key(|(_, end_ms)| **end_ms).map(|(lease, _)| *lease);
            first.map(|first| ends.remove(&first));
        }
    }

    /// The snapshots of a table that are held now.
    pub(crate) fn held(&self, table_id: TableId, now_ms: i64) -> BTreeSet<SnapshotId> {
        let mut ends = self.lock();
        ends.retain(|_, end_ms| *end_ms > now_ms);
        ends.keys().filter(|(of, _)| *of == table_id).map(|(_, snapshot_id)| *snapshot_id).collect()
    }

    /// How many snapshots are held now.
    pub(crate) fn count(&self, now_ms: i64) -> usize {
        self.lock().values().filter(|end_ms| **end_ms > now_ms).count()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TableId, SnapshotId), i64>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: TableId = TableId(1);

    fn held(leases: &Leases, now_ms: i64) -> Vec<i64> {
        leases.held(TABLE, now_ms).into_iter().map(|snapshot_id| snapshot_id.0).collect()
    }

    #[test]
    fn a_lease_ends() {
        let leases = Leases::default();
        leases.take(TABLE, SnapshotId(7), 100);
        assert_eq!(held(&leases, 99 + LEASE_MS), [7]);
        assert_eq!(held(&leases, 100 + LEASE_MS), Vec::<i64>::new());
    }

    #[test]
    fn a_lease_is_renewed_and_never_shortened() {
        let leases = Leases::default();
        for now_ms in [100, 200, 0] {
            leases.take(TABLE, SnapshotId(7), now_ms);
        }
        assert_eq!(held(&leases, 199 + LEASE_MS), [7]);
    }

    #[test]
    fn leases_are_of_one_table() {
        let leases = Leases::default();
        leases.take(TableId(2), SnapshotId(7), 0);
        leases.take(TABLE, SnapshotId::EMPTY, 0);
        assert_eq!(held(&leases, 0), Vec::<i64>::new());
    }

    #[test]
    fn snapshots_are_held_up_to_the_limit() {
        let leases = Leases::default();
        let count = i64::try_from(MAX_LEASES).unwrap();
        for id in 1..=count {
            leases.take(TABLE, SnapshotId(id), id);
        }
        assert_eq!((held(&leases, 0).len(), held(&leases, 0)[0]), (MAX_LEASES, 1));
        leases.take(TABLE, SnapshotId(count + 1), count);
        assert_eq!((held(&leases, 0).len(), held(&leases, 0)[0]), (MAX_LEASES, 2));
    }
}
