//! Entries in, manifests out: what sealing a tail and grouping manifests anew have in common. It knows no SQL.

use std::cmp::Ordering;

use prunus_statistics::{FieldId, FileColumn, FileStatistics, Value, ZoneMap};

use crate::column_zones::ColumnZones;
use crate::entry_block::{EntryBlock, EntryIdentity};
use crate::error::FormatError;
use crate::schema::SchemaColumn;
use crate::{FileId, SnapshotId, Totals, column_block, column_detail, declared};

/// A file that is to be put into a manifest.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) identity: EntryIdentity,
    pub(crate) statistics: FileStatistics,
}

/// A manifest as it goes into rows.
pub(crate) struct BuiltManifest {
    /// The entries in their order.
    pub(crate) identities: Vec<EntryIdentity>,
    pub(crate) totals: Totals,
    pub(crate) first_added_snapshot: SnapshotId,
    pub(crate) last_added_snapshot: SnapshotId,
    pub(crate) entry_block: Vec<u8>,
    pub(crate) columns: Vec<BuiltColumn>,
}

/// A column of a manifest.
pub(crate) struct BuiltColumn {
    pub(crate) column: SchemaColumn,
    pub(crate) block: Vec<u8>,
    pub(crate) detail: Vec<u8>,
    pub(crate) zone: ZoneMap,
    /// How many entries hold something usable that is their writer's word.
    pub(crate) declared_files: u64,
}

/// Entries in the order in which manifests are cut from them: by the lower bounds of the columns `cluster_by`, unknown ones
/// last, and by arrival where those agree.
pub(crate) fn order<'e>(entries: &'e [Entry], columns: &[SchemaColumn], cluster_by: &[FieldId]) -> Vec<&'e Entry> {
    let keys: Vec<&SchemaColumn> =
        cluster_by.iter().filter_map(|id| columns.iter().find(|column| column.field_id == *id)).collect();
    let mut ordered: Vec<&Entry> = entries.iter().collect();
    ordered.sort_by_cached_key(|entry| SortKey {
        bounds: keys.iter().map(|column| zone_of(entry, column).min().cloned()).collect(),
        file_id: entry.identity.file_id,
    });
    ordered
}

/// Cuts entries into as few groups of at most `target_files` as there can be, of about the same size.
pub(crate) fn cut<'a, 'e>(ordered: &'a [&'e Entry], target_files: u64) -> impl Iterator<Item = &'a [&'e Entry]> {
    let target = usize::try_from(target_files).unwrap_or(usize::MAX).max(1);
    let groups = ordered.len().div_ceil(target).max(1);
    ordered.chunks(ordered.len().div_ceil(groups).max(1))
}

/// Builds a manifest of these entries, in their order. `None` if there are none, or if their sizes or rows add up to more
/// than a table's can.
pub(crate) fn build(entries: &[&Entry], columns: &[SchemaColumn]) -> Result<Option<BuiltManifest>, FormatError> {
    let identities: Vec<EntryIdentity> = entries.iter().map(|entry| entry.identity).collect();
    let plus = |totals: Totals, entry: &EntryIdentity| totals.with(entry.size_bytes, entry.row_count);
    let totals = identities.iter().try_fold(Totals::default(), plus);
    let added = || identities.iter().map(|entry| entry.added_snapshot);
    let (Some(totals), Some(first), Some(last)) = (totals, added().min(), added().max()) else {
        return Ok(None);
    };
    let mut built = Vec::with_capacity(columns.len());
    for column in columns {
        built.extend(build_column(entries, column)?);
    }
    Ok(Some(BuiltManifest {
        totals,
        first_added_snapshot: first,
        last_added_snapshot: last,
        entry_block: EntryBlock::new(&identities).encode()?,
        identities,
        columns: built,
    }))
}

impl BuiltManifest {
    pub(crate) fn file_ids(&self) -> impl Iterator<Item = FileId> {
        self.identities.iter().map(|entry| entry.file_id)
    }
}

/// `None` for a column of which nothing at all is known: no block says the same.
pub(crate) fn build_column(entries: &[&Entry], column: &SchemaColumn) -> Result<Option<BuiltColumn>, FormatError> {
    let said: Vec<Option<&FileColumn>> =
        entries.iter().map(|entry| entry.statistics.columns.get(&column.field_id)).collect();
    let zones: Vec<ZoneMap> = entries.iter().map(|entry| zone_of(entry, column)).collect();
    let unknown = ZoneMap::unknown(column.column_type);
    if said.iter().all(Option::is_none) && zones.iter().all(|zone| *zone == unknown) {
        return Ok(None);
    }
    let is_declared = |said, entry: &Entry| declared::is_declared(said, column.column_type, entry.identity.row_count);
    let declared_files = said.iter().zip(entries).filter(|(said, entry)| is_declared(**said, entry)).count() as u64;
    let arrays = ColumnZones::from_zone_maps(column.column_type.physical_type(), &zones);
    let zone = zones.into_iter().reduce(ZoneMap::merge).unwrap_or(unknown);
    Ok(Some(BuiltColumn {
        column: *column,
        block: column_block::encode(&arrays)?,
        detail: column_detail::encode(&said, &arrays, column.column_type)?,
        zone,
        declared_files,
    }))
}

fn zone_of(entry: &Entry, column: &SchemaColumn) -> ZoneMap {
    ZoneMap::of_file(entry.statistics.columns.get(&column.field_id), column.column_type, entry.identity.row_count)
}

struct SortKey {
    bounds: Vec<Option<Value>>,
    file_id: FileId,
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_bounds = self.bounds.iter().zip(&other.bounds).map(|pair| match pair {
            // Two bounds of one column, neither of them NaN, always compare.
            (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        by_bounds.fold(Ordering::Equal, Ordering::then).then(self.file_id.cmp(&other.file_id))
    }
}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortKey {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prunus_statistics::{Bound, ColumnStatistics, Precision, PrimitiveType, Provenance};

    use super::*;
    use crate::sample;

    fn check_contains(zone: &ZoneMap, files: &[ZoneMap]) {
        for file in files.iter().filter(|file| !file.is_valueless()) {
            assert!(!zone.is_valueless());
            for (zone, file, outside) in
                [(zone.min(), file.min(), Ordering::Greater), (zone.max(), file.max(), Ordering::Less)]
            {
                // What the zone knows, the file knows, and the file's bound does not lie outside.
                let outer = zone.map(|zone| zone.compare(file.unwrap()).unwrap());
                assert_ne!(outer, Some(outside));
            }
        }
        let sum = |count: fn(&ZoneMap) -> Option<u64>| files.iter().map(count).sum::<Option<u64>>();
        assert_eq!(zone.null_count(), sum(ZoneMap::null_count));
        assert_eq!(zone.nan_count(), sum(ZoneMap::nan_count));
    }

    fn built(entries: &[Entry]) -> BuiltManifest {
        build(&entries.iter().collect::<Vec<_>>(), &sample::columns()).unwrap().unwrap()
    }

    proptest! {
        #[test]
        fn a_zone_contains_its_files(entries in sample::entries(6)) {
            let built = built(&entries);
            for built in built.columns {
                let files: Vec<_> = entries.iter().map(|entry| sample::zone_of(entry, &built.column)).collect();
                check_contains(&built.zone, &files);
            }
        }

        #[test]
        fn a_block_holds_the_zone_map_of_every_file(entries in sample::entries(6)) {
            let built = built(&entries);
            for column in sample::columns() {
                let physical_type = column.column_type.physical_type();
                let files: Vec<_> = entries.iter().map(|entry| sample::zone_of(entry, &column)).collect();
                let block = built.columns.iter().find(|built| built.column == column);
                let read = match block {
                    Some(built) => column_block::decode(&built.block, physical_type, entries.len()).unwrap(),
                    None => ColumnZones::unknown(column.column_type, entries.len()),
                };
                prop_assert_eq!(read, ColumnZones::from_zone_maps(physical_type, &files));
            }
        }

        #[test]
        fn block_and_detail_give_back_what_was_registered(entries in sample::entries(6)) {
            let built = built(&entries);
            let mut read: Vec<FileStatistics> = entries.iter().map(|_| FileStatistics::default()).collect();
            for built in &built.columns {
                let column_type = built.column.column_type;
                let zones = column_block::decode(&built.block, column_type.physical_type(), entries.len()).unwrap();
                let details = column_detail::Details::decode(&built.detail, &zones, column_type).unwrap();
                for (index, statistics) in read.iter_mut().enumerate() {
                    let column = details.get(index).unwrap();
                    statistics.columns.extend(column.map(|column| (built.column.field_id, column)));
                }
            }
            // As bytes, since a NaN is not equal to itself.
            for (read, entry) in read.iter().zip(&entries) {
                prop_assert_eq!(read.encode().unwrap(), entry.statistics.encode().unwrap());
            }
        }
    }

    fn with_min(file_id: i64, min: Option<i128>) -> Entry {
        let provenance = Provenance::Declared;
        let min = min.map(|min| Bound { value: Value::Integer(min), precision: Precision::Exact, provenance });
        let column = FileColumn::Present(ColumnStatistics { min, ..Default::default() });
        Entry {
            identity: EntryIdentity {
                file_id: FileId(file_id),
                row_count: Some(1),
                size_bytes: 1,
                added_snapshot: SnapshotId(1),
            },
            statistics: FileStatistics { columns: [(FieldId(1), column)].into() },
        }
    }

    fn sorted(cluster_by: &[FieldId]) -> Vec<i64> {
        let column = SchemaColumn { field_id: FieldId(1), column_type: PrimitiveType::Int64 };
        let entries = [with_min(1, Some(9)), with_min(2, None), with_min(3, Some(-1)), with_min(4, Some(-1))];
        order(&entries, &[column], cluster_by).iter().map(|entry| entry.identity.file_id.0).collect()
    }

    #[test]
    fn entries_are_ordered_by_their_lower_bounds() {
        assert_eq!(sorted(&[FieldId(1)]), [3, 4, 1, 2]);
    }

    #[test]
    fn entries_without_cluster_columns_keep_the_order_of_arrival() {
        assert_eq!(sorted(&[]), [1, 2, 3, 4]);
        assert_eq!(sorted(&[FieldId(7)]), [1, 2, 3, 4]);
    }

    #[test]
    fn a_column_that_no_file_speaks_of_has_no_block() {
        let unsaid = SchemaColumn { field_id: FieldId(2), column_type: PrimitiveType::String };
        assert!(build(&[&with_min(1, Some(1))], &[unsaid]).unwrap().unwrap().columns.is_empty());
    }

    #[test]
    fn nothing_builds_no_manifest() {
        assert!(build(&[], &[]).unwrap().is_none());
    }
    #[test]
    fn groups_are_few_and_even() {
        let entries: Vec<Entry> = (0..10).map(|id| with_min(id, None)).collect();
        let ordered: Vec<&Entry> = entries.iter().collect();
        let sizes = |target| cut(&ordered, target).map(<[_]>::len).collect::<Vec<_>>();
        assert_eq!((sizes(5), sizes(4), sizes(100), sizes(0)), (vec![5, 5], vec![4, 4, 2], vec![10], vec![1; 10]));
        assert_eq!(cut(&[], 4).count(), 0);
    }
}
