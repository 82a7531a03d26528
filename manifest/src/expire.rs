//! Expiry: which snapshots go, and what is left between those that stay.

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroU32;

use rusqlite::params;

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Result, SnapshotId, TableId};

/// Which snapshots of a table are to go: all that nothing keeps. The newest one and those with a tag are kept in any case.
#[derive(Clone, Debug)]
pub struct Expiry {
    /// The table.
    pub table_id: TableId,
    /// Keeps what was committed at or after this time, in milliseconds since 1970-01-01T00:00Z; `None` keeps nothing.
    pub older_than_ms: Option<i64>,
    /// Keeps so many of the newest.
    pub keep_last: NonZeroU32,
    /// Keeps these.
    pub leased: BTreeSet<SnapshotId>,
}

/// Some of a list, and whether there is more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounded<T> {
    /// The first ones.
    pub items: Vec<T>,
    /// Whether more follow.
    pub more: bool,
}

impl<T> Bounded<T> {
    /// Of a list that was read to one item beyond the limit.
    pub(crate) fn cut(mut items: Vec<T>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        Self { items, more }
    }
}

/// Snapshots without a gap between them, none of which is retained: `first` and `last` belong to it. A file that was added
/// and removed inside one is named by no snapshot. Once there is a gap it stays, since snapshots are never made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first that is gone.
    pub first: SnapshotId,
    /// The last that is gone.
    pub last: SnapshotId,
}

const SELECT_OLDEST_KEPT: &str = "
    SELECT snapshot_id
    FROM snapshot
    WHERE table_id = ?1
    ORDER BY snapshot_id DESC
    LIMIT 1 OFFSET ?2";

const LIST_EXPIRABLE: &str = "
    SELECT s.snapshot_id
    FROM snapshot s
    WHERE s.table_id = ?1 AND s.snapshot_id < ?2 AND (?3 IS NULL OR s.committed_at_ms < ?3)
        AND NOT EXISTS (SELECT 1 FROM tag t WHERE t.table_id = s.table_id AND t.snapshot_id = s.snapshot_id)
    ORDER BY s.snapshot_id
    LIMIT ?4";

const LIST_RETAINED: &str = "
    SELECT snapshot_id
    FROM snapshot
    WHERE table_id = ?1
    ORDER BY snapshot_id";

const DELETE_SNAPSHOT: &str = "
    DELETE FROM snapshot
    WHERE table_id = ?1 AND snapshot_id = ?2";

impl ReadTransaction<'_> {
    /// Up to `limit` snapshots that are to go, oldest first.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_expirable(&self, expiry: &Expiry, limit: u32) -> Result<Bounded<SnapshotId>> {
        let table_id = expiry.table_id;
        let offset = expiry.keep_last.get() - 1;
        let oldest_kept: Option<SnapshotId> =
            self.query_first(SELECT_OLDEST_KEPT, params![table_id, offset], |row| Ok(row.get(0)?))?;
        let Some(oldest_kept) = oldest_kept else { return Ok(Bounded { items: Vec::new(), more: false }) };
        // One beyond the limit, even where every leased one is among them.
        let read_max = i64::from(limit) + 1 + i64::try_from(expiry.leased.len()).unwrap_or(i64::MAX / 2);
        let values = params![table_id, oldest_kept, expiry.older_than_ms, read_max];
        let mut items: Vec<SnapshotId> = self.query_all(LIST_EXPIRABLE, values, |row| Ok(row.get(0)?))?;
        items.retain(|snapshot_id| !expiry.leased.contains(snapshot_id));
        Ok(Bounded::cut(items, limit))
    }

    /// The gaps between the snapshots of a table that are retained, as they are once `expired` are gone too; ascending.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_gaps(&self, table_id: TableId, expired: &[SnapshotId]) -> Result<Vec<Gap>> {
        let mut retained: Vec<SnapshotId> = self.query_all(LIST_RETAINED, [table_id], |row| Ok(row.get(0)?))?;
        let expired: HashSet<&SnapshotId> = expired.iter().collect();
        retained.retain(|snapshot_id| !expired.contains(snapshot_id));
        Ok(gaps_between(&retained))
    }
}

impl WriteTransaction<'_> {
    /// Lets up to `limit` snapshots go, oldest first, and says which. The files that no other snapshot names stay until
    /// [`WriteTransaction::forget_files`] is called: where that does not come about, a later call finds them.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn expire_snapshots(&self, expiry: &Expiry, limit: u32) -> Result<Bounded<SnapshotId>> {
        let expired = self.list_expirable(expiry, limit)?;
        for snapshot_id in &expired.items {
            self.execute(DELETE_SNAPSHOT, params![expiry.table_id, snapshot_id])?;
        }
        Ok(expired)
    }
}

/// What lies before and between snapshots whose ids ascend. Beyond the newest there is nothing.
fn gaps_between(retained: &[SnapshotId]) -> Vec<Gap> {
    let before = std::iter::once(SnapshotId::EMPTY).chain(retained.iter().copied());
    before
        .zip(retained)
        .map(|(before, after)| Gap { first: SnapshotId(before.0 + 1), last: SnapshotId(after.0 - 1) })
        .filter(|gap| gap.first <= gap.last)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_lie_before_and_between_what_is_retained() {
        let check = |retained: &[i64], expected: &[(i64, i64)]| {
            let retained: Vec<_> = retained.iter().copied().map(SnapshotId).collect();
            let gaps = gaps_between(&retained);
            let gaps: Vec<_> = gaps.iter().map(|gap| (gap.first.0, gap.last.0)).collect();
            assert_eq!(gaps, expected, "{retained:?}");
        };
        check(&[], &[]);
        check(&[1], &[]);
        check(&[1, 2, 3], &[]);
        check(&[2], &[(1, 1)]);
        check(&[1, 3], &[(2, 2)]);
        check(&[4, 5, 9, 11], &[(1, 3), (6, 8), (10, 10)]);
    }
}
