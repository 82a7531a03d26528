//! Which manifests of a table are worth grouping anew.
//!
//! Small ones, and ones that hold many forgotten entries, cost each plan a zone and a block that say little. Ones whose values of
//! the first `cluster_by` column overlap cannot be told apart by a filter on it. A group of either kind is rebuilt at a time,
//! until there is none.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use prunus_statistics::{FieldId, Value, ZoneMap};

use crate::manifest::ManifestRow;
use crate::table::TableRow;
use crate::transaction::ReadTransaction;
use crate::{ManifestId, Result, TableId};

/// How many manifests' worth of entries one group holds at most: they are in memory together, and their rows are touched in one
/// transaction.
const MAX_GROUP: usize = 4;

/// How many small manifests one group holds at most.
const MAX_SMALL: usize = 64;

/// How many manifests that cannot be told apart are remembered.
const MAX_SETTLED: usize = 65_536;

/// What is let be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many manifests may share a value of the first `cluster_by` column.
    overlap_max: usize,
}

impl Limits {
    /// Neighbours share their border, and files that arrive late overlap a few manifests.
    pub(crate) const BACKGROUND: Self = Self { overlap_max: 4 };
    /// Neighbours alone.
    pub(crate) const REQUESTED: Self = Self { overlap_max: 2 };
}

/// Manifests that were found to overlap whatever order their entries are put in, since the files themselves do.
#[derive(Default)]
pub(crate) struct Settled(HashSet<ManifestId>);

impl Settled {
    pub(crate) fn extend(&mut self, group: &Group) {
        // They are found to be so again, which costs time and nothing else.
        if self.0.len() > MAX_SETTLED {
            self.0.clear();
        }
        self.0.extend(group.manifests.iter().map(|manifest| manifest.manifest_id));
    }
}

/// Manifests that are to be rebuilt together.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) manifests: Vec<ManifestRow>,
    /// The column by which they overlap; `None` where they are rebuilt for their size.
    pub(crate) ordered_by: Option<FieldId>,
    /// How many pairs of them overlap.
    overlaps: usize,
}

impl Group {
    /// Whether manifests with these zones are worth the rebuilding: at most half as many pairs overlap.
    pub(crate) fn is_better(&self, zones: &[Option<&ZoneMap>]) -> bool {
        self.ordered_by.is_none() || 2 * overlaps(&ranges(zones)) <= self.overlaps
    }
}

/// How a table is laid out.
pub(crate) struct Survey {
    manifests: Vec<ManifestRow>,
    /// How many entries of each still name a file.
    needed: Vec<u64>,
    /// The column that says how entries are ordered, with what each manifest holds of it.
    order: Option<(FieldId, Vec<Option<Range>>)>,
    target_files: u64,
}

const COUNT_FORGOTTEN: &str = "
    SELECT m.manifest_id, count(*)
    FROM manifest m INDEXED BY manifest_by_table JOIN forgotten_entry f ON f.manifest_id = m.manifest_id
    WHERE m.table_id = ?1
    GROUP BY m.manifest_id";

/// The next group of a table that is worth it, if there is one.
pub(crate) fn next_group(
    tx: &ReadTransaction<'_>,
    table: &TableRow,
    target_files: u64,
    limits: Limits,
    settled: &Settled,
) -> Result<Option<Group>> {
    let survey = Survey::take(tx, table.table_id, table.cluster_by.first().copied(), target_files)?;
    Ok(survey.small_group().or_else(|| survey.overlapping_group(limits, settled)))
}

impl Survey {
    /// Looks at a table whose entries are, or are to be, ordered by a column.
    pub(crate) fn take(
        tx: &ReadTransaction<'_>,
        table_id: TableId,
        ordered_by: Option<FieldId>,
        target_files: u64,
    ) -> Result<Self> {
        let manifests = tx.list_manifests(table_id)?;
        let forgotten: BTreeMap<ManifestId, u64> = tx
            .query_all(COUNT_FORGOTTEN, [table_id], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
            .into_iter()
            .collect();
        let needed = |manifest: &ManifestRow| {
            let forgotten = forgotten.get(&manifest.manifest_id).copied().unwrap_or_default();
            manifest.totals.files.saturating_sub(forgotten)
        };
        let needed = manifests.iter().map(needed).collect();
        let columns = tx.list_columns(table_id)?;
        let column = ordered_by.and_then(|id| columns.iter().find(|column| column.field_id == id));
        let order = match column {
            Some(column) => {
                let zones = tx.list_zones(table_id, &manifests, *column)?;
                let zones: Vec<_> = zones.iter().map(|manifest| Some(&manifest.zone)).collect();
                Some((column.field_id, ranges(&zones)))
            }
            None => None,
        };
        Ok(Self { manifests, needed, order, target_files })
    }

    pub(crate) fn manifests(&self) -> usize {
        self.manifests.len()
    }

    /// How many manifests share a value of the first `cluster_by` column at most; `None` without such a column.
    pub(crate) fn overlap(&self) -> Option<usize> {
        let (_, ranges) = self.order.as_ref()?;
        Some(deepest(ranges.iter().flatten()).map_or(0, |(_, depth)| depth))
    }

    /// Manifests that have less than half the entries that they should have or that they once had. One alone is enough where
    /// it loses entries.
    fn small_group(&self) -> Option<Group> {
        let half = |needed: u64, of: u64| needed.saturating_mul(2) < of;
        let mut manifests = Vec::new();
        let (mut entries, mut is_hollow) = (0, false);
        for (manifest, needed) in self.manifests.iter().zip(&self.needed) {
            let hollow = half(*needed, manifest.totals.files);
            if !hollow && !half(*needed, self.target_files) {
                continue;
            }
            entries += needed;
            let is_full = manifests.len() == MAX_SMALL || entries > self.target_files.saturating_mul(MAX_GROUP as u64);
            // What is beyond it by itself, since the target was larger once, is taken all the same: else it would be in the way
            // for ever.
            if is_full && (is_hollow || manifests.len() > 1) {
                break;
            }
            is_hollow |= hollow;
            manifests.push(manifest.clone());
        }
        (is_hollow || manifests.len() > 1).then_some(Group { manifests, ordered_by: None, overlaps: 0 })
    }

    /// The widest manifests around the value that most of them share.
    fn overlapping_group(&self, limits: Limits, settled: &Settled) -> Option<Group> {
        let (field_id, ranges) = self.order.as_ref()?;
        let open: Vec<(&ManifestRow, Range)> = self
            .manifests
            .iter()
            .zip(ranges)
            .filter(|(manifest, _)| !settled.0.contains(&manifest.manifest_id))
            .filter_map(|(manifest, range)| Some((manifest, (*range)?)))
            .collect();
        let (rank, depth) = deepest(open.iter().map(|(_, range)| range))?;
        if depth <= limits.overlap_max {
            return None;
        }
        let mut around: Vec<_> = open.into_iter().filter(|(_, range)| range.holds(rank)).collect();
        around.sort_by_key(|(manifest, range)| (std::cmp::Reverse(range.width()), manifest.manifest_id));
        around.truncate(MAX_GROUP);
        let overlaps = overlaps(&around.iter().map(|(_, range)| Some(*range)).collect::<Vec<_>>());
        let manifests = around.into_iter().map(|(manifest, _)| manifest.clone()).collect();
        Some(Group { manifests, ordered_by: Some(*field_id), overlaps })
    }
}

/// The values of a column that a manifest may hold, by their ranks among the bounds of all manifests that it is compared
/// with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    low: usize,
    high: usize,
}

impl Range {
    fn holds(self, rank: usize) -> bool {
        (self.low..=self.high).contains(&rank)
    }

    fn width(self) -> usize {
        self.high - self.low
    }
}

/// An unknown bound lies beyond all that are known; where there is no zone both are unknown. `None` where there is no value at all.
fn ranges(zones: &[Option<&ZoneMap>]) -> Vec<Option<Range>> {
    // Bounds of one column, none of them NaN, always compare.
    let compare = |a: &&Value, b: &&Value| a.compare(b).unwrap_or(Ordering::Equal);
    let mut bounds: Vec<&Value> = zones.iter().flatten().flat_map(|zone| [zone.min(), zone.max()]).flatten().collect();
    bounds.sort_by(compare);
    bounds.dedup_by(|a, b| compare(&&**a, &&**b) == Ordering::Equal);
    let beyond = bounds.len() + 1;
    let rank = |bound: &Value| 1 + bounds.partition_point(|other| compare(other, &bound) == Ordering::Less);
    let range = |zone: &ZoneMap| {
        let (low, high) = (zone.min().map_or(0, rank), zone.max().map_or(beyond, rank));
        (!zone.is_valueless() && low <= high).then_some(Range { low, high })
    };
    zones.iter().map(|zone| zone.map_or(Some(Range { low: 0, high: beyond }), range)).collect()
}

/// How many pairs share a value.
fn overlaps(ranges: &[Option<Range>]) -> usize {
    let ranges: Vec<Range> = ranges.iter().flatten().copied().collect();
    let shared = |(index, a): (usize, &Range)| {
        ranges.iter().skip(index + 1).filter(|b| a.low <= b.high && b.low <= a.high).count()
    };
    ranges.iter().enumerate().map(shared).sum()
}

/// The rank that most ranges hold, and how many do.
fn deepest<'r>(ranges: impl Iterator<Item = &'r Range>) -> Option<(usize, usize)> {
    let mut steps: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for range in ranges {
        steps.entry(range.low).or_default().0 += 1;
        steps.entry(range.high).or_default().1 += 1;
    }
    let mut depth = 0;
    let mut deepest = None;
    for (rank, (begin, end)) in steps {
        depth += begin;
        if deepest.is_none_or(|(_, most)| depth > most) {
            deepest = Some((rank, depth));
        }
        depth -= end;
    }
    deepest
}

#[cfg(test)]
mod tests {
    use prunus_statistics::{Bound, ColumnStatistics, FileColumn, Precision, PrimitiveType, Provenance};

    use super::*;
    use crate::{SnapshotId, Totals};

    fn zone(min: Option<i128>, max: Option<i128>) -> ZoneMap {
        let bound = |value| Bound {
            value: Value::Integer(value),
            precision: Precision::Bound,
            provenance: Provenance::Declared,
        };
        let column = FileColumn::Present(ColumnStatistics {
            min: min.map(bound),
            max: max.map(bound),
            null_count: None,
            nan_count: None,
        });
        ZoneMap::of_file(Some(&column), PrimitiveType::Int64, Some(9))
    }

    fn ranges_of(bounds: &[(Option<i128>, Option<i128>)]) -> Vec<Option<Range>> {
        let zones: Vec<ZoneMap> = bounds.iter().map(|(min, max)| zone(*min, *max)).collect();
        ranges(&zones.iter().map(Some).collect::<Vec<_>>())
    }

    fn known(bounds: &[(i128, i128)]) -> Vec<Option<Range>> {
        ranges_of(&bounds.iter().map(|(min, max)| (Some(*min), Some(*max))).collect::<Vec<_>>())
    }

    #[test]
    fn manifests_that_say_nothing_of_the_column_overlap_like_those_that_were_rebuilt() {
        let unknown = ranges_of(&[(None, None); 4]);
        assert_eq!(ranges(&[None; 4]), unknown);
        let group = Group { manifests: Vec::new(), ordered_by: Some(FieldId(1)), overlaps: overlaps(&unknown) };
        assert!(!group.is_better(&[None; 4]));
    }

    /// The manifests of the first group of those that have so many entries, of which so many are needed.
    fn small_group(target_files: u64, entries: &[(u64, u64)]) -> Option<Vec<i64>> {
        let manifest = |(manifest_id, (files, _)): (i64, &(u64, u64))| ManifestRow {
            manifest_id: ManifestId(manifest_id),
            table_id: TableId(1),
            totals: Totals { files: *files, ..Totals::default() },
            first_added_snapshot: SnapshotId(1),
            last_added_snapshot: SnapshotId(1),
            removed: Totals::default(),
        };
        let survey = Survey {
            manifests: (1..).zip(entries).map(manifest).collect(),
            needed: entries.iter().map(|(_, needed)| *needed).collect(),
            order: None,
            target_files,
        };
        let group = survey.small_group()?;
        Some(group.manifests.iter().map(|manifest| manifest.manifest_id.0).collect())
    }

    #[test]
    fn a_group_ends_where_it_holds_enough() {
        assert_eq!(small_group(10, &[(30, 14), (30, 14), (30, 14), (30, 14)]), Some(vec![1, 2]));
    }

    #[test]
    fn a_manifest_that_is_more_than_a_group_by_itself_is_rebuilt() {
        assert_eq!(small_group(10, &[(100, 45)]), Some(vec![1]));
        assert_eq!(small_group(10, &[(100, 45), (100, 45), (4, 4)]), Some(vec![1]));
        assert_eq!(small_group(10, &[(4, 4), (100, 45), (4, 4)]), Some(vec![1, 2]));
    }

    #[test]
    fn one_small_manifest_alone_is_let_be() {
        assert_eq!(small_group(10, &[(10, 10), (4, 4), (10, 10)]), None);
    }

    #[test]
    fn the_deepest_value_is_where_most_ranges_meet() {
        let ranges = known(&[(0, 10), (10, 20), (15, 30), (18, 19), (40, 50)]);
        let (rank, depth) = deepest(ranges.iter().flatten()).unwrap();
        assert_eq!(depth, 3);
        let held: Vec<bool> = ranges.iter().flatten().map(|range| range.holds(rank)).collect();
        assert_eq!(held, [false, true, true, true, false]);
    }

    #[test]
    fn neighbours_that_share_a_bound_overlap() {
        assert_eq!(overlaps(&known(&[(0, 10), (10, 20), (21, 30)])), 1);
    }

    #[test]
    fn an_unknown_bound_reaches_beyond_all_others() {
        let ranges = ranges_of(&[(None, Some(5)), (Some(6), None), (Some(1), Some(9)), (None, None)]);
        assert_eq!(overlaps(&ranges), 5);
        assert_eq!(deepest(ranges.iter().flatten()).unwrap().1, 3);
    }

    #[test]
    fn what_holds_no_value_overlaps_nothing() {
        let nulls = ZoneMap::all_null(Some(9));
        assert_eq!(ranges(&[Some(&nulls)]), [None]);
    }
}
