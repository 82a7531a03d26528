//! Entries in, a manifest out: what sealing a tail does, and whatever else groups entries anew. It knows no SQL.

use std::cmp::Ordering;

use prunus_statistics::{FieldId, FileColumn, FileStatistics, Value, ZoneMap};

use crate::column_zones::ColumnZones;
use crate::entry_block::EntryBlock;
use crate::error::FormatError;
use crate::schema::SchemaColumn;
use crate::snapshot::Totals;
use crate::{FileId, SnapshotId, checked, column_block, column_detail};

/// A file that is to be put into a manifest.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) file_id: FileId,
    pub(crate) row_count: Option<u64>,
    pub(crate) size_bytes: u64,
    pub(crate) added_snapshot: SnapshotId,
    pub(crate) is_removed: bool,
    pub(crate) statistics: FileStatistics,
}

/// A manifest as it goes into rows.
pub(crate) struct BuiltManifest {
    pub(crate) file_ids: Vec<FileId>,
    pub(crate) totals: Totals,
    pub(crate) first_added_snapshot: SnapshotId,
    pub(crate) last_added_snapshot: SnapshotId,
    pub(crate) removed_files: u64,
    pub(crate) entry_block: Vec<u8>,
    pub(crate) columns: Vec<BuiltColumn>,
}

/// A column of a manifest.
pub(crate) struct BuiltColumn {
    pub(crate) column: SchemaColumn,
    pub(crate) block: Vec<u8>,
    pub(crate) detail: Vec<u8>,
    pub(crate) zone: Vec<u8>,
}

/// Puts entries into the order in which manifests are cut from them: by the lower bounds of the columns `cluster_by`,
/// unknown ones last, and by arrival where those agree.
pub(crate) fn sort(entries: &mut [Entry], columns: &[SchemaColumn], cluster_by: &[FieldId]) {
    let keys: Vec<&SchemaColumn> =
        cluster_by.iter().filter_map(|id| columns.iter().find(|column| column.field_id == *id)).collect();
    entries.sort_by_cached_key(|entry| SortKey {
        bounds: keys.iter().map(|column| zone_of(entry, column).min().cloned()).collect(),
        file_id: entry.file_id,
    });
}

/// Builds a manifest of these entries, in their order. `None` if there are none, or if their sizes or rows add up to more
/// than a table's can.
pub(crate) fn build(entries: &[Entry], columns: &[SchemaColumn]) -> Result<Option<BuiltManifest>, FormatError> {
    let totals =
        entries.iter().try_fold(Totals::default(), |totals, entry| totals.with(entry.size_bytes, entry.row_count));
    let added = || entries.iter().map(|entry| entry.added_snapshot);
    let (Some(totals), Some(first), Some(last)) = (totals, added().min(), added().max()) else { return Ok(None) };
    let identities =
        entries.iter().map(|entry| (entry.file_id, entry.row_count, entry.size_bytes, entry.added_snapshot));
    let mut built = Vec::with_capacity(columns.len());
    for column in columns {
        built.extend(build_column(entries, column)?);
    }
    Ok(Some(BuiltManifest {
        file_ids: entries.iter().map(|entry| entry.file_id).collect(),
        totals,
        first_added_snapshot: first,
        last_added_snapshot: last,
        removed_files: entries.iter().filter(|entry| entry.is_removed).count() as u64,
        entry_block: EntryBlock::new(identities).encode()?,
        columns: built,
    }))
}

/// `None` for a column of which nothing at all is known: no block says the same.
fn build_column(entries: &[Entry], column: &SchemaColumn) -> Result<Option<BuiltColumn>, FormatError> {
    let said: Vec<Option<&FileColumn>> =
        entries.iter().map(|entry| entry.statistics.columns.get(&column.field_id)).collect();
    let zones: Vec<ZoneMap> = entries.iter().map(|entry| zone_of(entry, column)).collect();
    let unknown = ZoneMap::unknown(column.column_type);
    if said.iter().all(Option::is_none) && zones.iter().all(|zone| *zone == unknown) {
        return Ok(None);
    }
    let arrays = ColumnZones::from_zone_maps(column.column_type.physical_type(), &zones);
    let zone = zones.into_iter().reduce(ZoneMap::merge).unwrap_or(unknown);
    Ok(Some(BuiltColumn {
        column: *column,
        block: column_block::encode(&arrays)?,
        detail: column_detail::encode(&said, &arrays, column.column_type)?,
        zone: checked::pack(&zone)?,
    }))
}

fn zone_of(entry: &Entry, column: &SchemaColumn) -> ZoneMap {
    ZoneMap::of_file(entry.statistics.columns.get(&column.field_id), column.column_type, entry.row_count)
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

    proptest! {
        #[test]
        fn a_zone_contains_its_files(entries in sample::entries(6)) {
            let built = build(&entries, &sample::columns()).unwrap().unwrap();
            for built in built.columns {
                let zone: ZoneMap = checked::unpack(&built.zone).unwrap();
                let files: Vec<_> = entries.iter().map(|entry| sample::zone_of(entry, &built.column)).collect();
                check_contains(&zone, &files);
            }
        }

        #[test]
        fn a_block_holds_the_zone_map_of_every_file(entries in sample::entries(6)) {
            let built = build(&entries, &sample::columns()).unwrap().unwrap();
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
            let built = build(&entries, &sample::columns()).unwrap().unwrap();
            let mut read: Vec<FileStatistics> = entries.iter().map(|_| FileStatistics::default()).collect();
            for built in &built.columns {
                let column_type = built.column.column_type;
                let zones = column_block::decode(&built.block, column_type.physical_type(), entries.len()).unwrap();
                for (index, statistics) in read.iter_mut().enumerate() {
                    let column = column_detail::decode_one(&built.detail, &zones, column_type, index).unwrap();
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
            file_id: FileId(file_id),
            row_count: Some(1),
            size_bytes: 1,
            added_snapshot: SnapshotId(1),
            is_removed: false,
            statistics: FileStatistics { columns: [(FieldId(1), column)].into() },
        }
    }

    fn sorted(cluster_by: &[FieldId]) -> Vec<i64> {
        let column = SchemaColumn { field_id: FieldId(1), column_type: PrimitiveType::Int64 };
        let mut entries = vec![with_min(1, Some(9)), with_min(2, None), with_min(3, Some(-1)), with_min(4, Some(-1))];
        sort(&mut entries, &[column], cluster_by);
        entries.iter().map(|entry| entry.file_id.0).collect()
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
        assert!(build(&[with_min(1, Some(1))], &[unsaid]).unwrap().unwrap().columns.is_empty());
    }

    #[test]
    fn nothing_builds_no_manifest() {
        assert!(build(&[], &[]).unwrap().is_none());
    }

    #[test]
    fn measure() {
        use prunus_statistics::{Count, TimeUnit};
        let mut seed = 88172645463325252_u64;
        let mut next = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let types = [
            PrimitiveType::Timestamp(TimeUnit::Microsecond),
            PrimitiveType::Int64,
            PrimitiveType::String,
            PrimitiveType::Decimal { precision: 15, scale: 2 },
            PrimitiveType::Int32,
            PrimitiveType::Float64,
            PrimitiveType::Int64,
            PrimitiveType::Decimal { precision: 38, scale: 2 },
        ];
        let columns: Vec<_> =
            (1..).zip(types).map(|(id, column_type)| SchemaColumn { field_id: FieldId(id), column_type }).collect();
        let mut entries = Vec::new();
        for i in 0..4096_i64 {
            let mut cols = std::collections::BTreeMap::new();
            let p = Provenance::Footer;
            let mut put = |id, min: Value, max: Value, nan: bool| {
                let b = |value| Some(Bound { value, precision: Precision::Bound, provenance: p });
                cols.insert(
                    FieldId(id),
                    FileColumn::Present(ColumnStatistics {
                        min: b(min),
                        max: b(max),
                        null_count: Some(Count { value: 0, provenance: p }),
                        nan_count: nan.then_some(Count { value: 0, provenance: p }),
                    }),
                );
            };
            let t = 1_700_000_000_000_000 + i128::from(i) * 60_000_000 + i128::from(next() % 1_000_000);
            put(1, Value::Integer(t), Value::Integer(t + 59_000_000), false);
            let a = i128::from(next() % 1_000_000);
            put(2, Value::Integer(a), Value::Integer(1_000_000_000_000 - a), false);
            put(
                3,
                Value::Bytes(format!("a{:08x}", next() as u32).into_bytes()),
                Value::Bytes(format!("z{:08x}", next() as u32).into_bytes()),
                false,
            );
            put(
                4,
                Value::Integer((next() % 1000).into()),
                Value::Integer((10_000_000 + next() % 100_000).into()),
                false,
            );
            put(5, Value::Integer(1), Value::Integer(50), false);
            put(6, Value::Float(next() as f64 / 1e19), Value::Float(next() as f64 / 1e9), true);
            put(7, Value::Integer((next() as i64).into()), Value::Integer(i64::MAX.into()), false);
            put(
                8,
                Value::Integer((next() % 1000).into()),
                Value::Integer((10_000_000 + next() % 100_000).into()),
                false,
            );
            entries.push(Entry {
                file_id: FileId(1_000_000 + i),
                row_count: Some(100_000 + next() % 100),
                size_bytes: 50_000_000 + next() % 1_000_000,
                added_snapshot: SnapshotId(i / 10),
                is_removed: false,
                statistics: FileStatistics { columns: cols },
            });
        }
        let folder = tempfile::tempdir_in("/work/main/target").unwrap();
        let store = crate::Store::open(&folder.path().join("s.db")).unwrap();
        let cols = columns.clone();
        let table = store
            .write(move |tx| {
                tx.create_namespace("n", &Default::default(), 0)?;
                tx.create_table(&crate::NewTable {
                    namespace: "n".into(),
                    name: "t".into(),
                    uuid: "u".into(),
                    location: None,
                    schema: "{}".into(),
                    columns: cols,
                    last_field_id: FieldId(8),
                    cluster_by: vec![FieldId(1)],
                    properties: Default::default(),
                    created_at_ms: 0,
                })
            })
            .unwrap();
        let leaves: Vec<_> =
            (0..10).map(|i| crate::FileLeaf { path: vec![format!("column{i}")], field_id: Some(i) }).collect();
        let file = |i: usize| crate::NewDataFile {
            path: format!("s3://bucket/some/where/table/data/day=2024-01-01/{i:032}-part.parquet"),
            size_bytes: 50_000_000,
            row_count: Some(100_000),
            etag: Some(format!("{i:032}")),
            last_modified_ms: Some(1),
            leaves: leaves.clone(),
            partition: Default::default(),
            statistics: entries[i % 4096].statistics.clone(),
        };
        let commit = |add| crate::NewCommit {
            table_id: table.table_id,
            base_snapshot: None,
            schema_id: crate::SchemaId(1),
            operation: crate::Operation::Append,
            add,
            remove: vec![],
            summary: Default::default(),
            committed_at_ms: 0,
        };
        let start = std::time::Instant::now();
        for i in 0..1000 {
            let c = commit(vec![file(i)]);
            store.write(move |tx| tx.commit(&c)).unwrap();
        }
        println!("1000 single commits {:?}", start.elapsed());
        let start = std::time::Instant::now();
        let tail = store.read(|tx| tx.list_tail(table.table_id)).unwrap();
        println!("tail of {} {:?}", tail.len(), start.elapsed());
        let c = commit((1000..101_000).map(file).collect());
        let start = std::time::Instant::now();
        store.write(move |tx| tx.commit(&c)).unwrap();
        println!("100k commit {:?}", start.elapsed());
        let start = std::time::Instant::now();
        store.wait_for_sealing().unwrap();
        println!("sealing {:?}", start.elapsed());
        for _ in 0..3 {
            let start = std::time::Instant::now();
            let n = store
                .read(|tx| {
                    let m = tx.list_manifests(table.table_id)?;
                    let z = tx.load_zones(table.table_id, &m, columns[0])?;
                    let e = tx.load_entry_block(&m[0])?;
                    let b = tx.load_column_block(&m[0], columns[0])?;
                    Ok::<_, crate::Error>(z.len() + e.len() + b.len())
                })
                .unwrap();
            println!("plan read {n} {:?}", start.elapsed());
        }
        let ids: Vec<_> = (1..1001).map(FileId).collect();
        let start = std::time::Instant::now();
        store.read(|tx| tx.load_data_files(&ids)).unwrap();
        println!("1000 files {:?}", start.elapsed());
        let p = folder.path().join("s.db");
        drop(store);
        println!("bytes per file {}", std::fs::metadata(&p).unwrap().len() / 101_000);
        let start = std::time::Instant::now();
        drop(crate::Store::open(&p).unwrap());
        println!("open {:?}", start.elapsed());
        let c = rusqlite::Connection::open(&p).unwrap();
        let mut q = c.prepare("SELECT name, sum(pgsize) FROM dbstat GROUP BY 1 ORDER BY 2 DESC").unwrap();
        for r in q.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, i64>(1)?))).unwrap() {
            let (n, b) = r.unwrap();
            println!("  {n} {}", b / 101_000);
        }
        let built = build(&entries, &columns).unwrap().unwrap();
        println!("entries {:.2}", built.entry_block.len() as f64 / 4096.0);
        for c in &built.columns {
            println!(
                "{} block {:.2} detail {:.3} zone {}",
                c.column.column_type,
                c.block.len() as f64 / 4096.0,
                c.detail.len() as f64 / 4096.0,
                c.zone.len()
            );
            let start = std::time::Instant::now();
            for _ in 0..200 {
                column_block::decode(&c.block, c.column.column_type.physical_type(), 4096).unwrap();
            }
            println!("    decode {:?}", start.elapsed() / 200);
        }
    }
}
