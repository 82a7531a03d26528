//! Tails and manifests: the same files, the same statistics, another form.

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int64Type;
use prunus_manifest::{ColumnZones, Error, ManifestRow, NewDataFile, Operation, SchemaColumn, SnapshotId, Totals};
use prunus_statistics::{FieldId, FileStatistics, PrimitiveType, ZoneMap};

use crate::fixture::{Fixture, NAME, NUMBER, file, statistics_of};

fn manifests(fixture: &Fixture) -> Vec<ManifestRow> {
    fixture.store().wait_for_maintenance().unwrap();
    fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap()
}

fn tail_len(fixture: &Fixture) -> usize {
    fixture.store().wait_for_maintenance().unwrap();
    fixture.store().read(|tx| tx.list_tail(fixture.table_id())).unwrap().len()
}

fn paths(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{number:04}")).collect()
}

fn append(fixture: &Fixture, count: usize) {
    let paths = paths(count);
    fixture.append(&paths.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_tail_below_the_target_stays() {
    let fixture = Fixture::with_target(4);
    append(&fixture, 3);
    assert_eq!((manifests(&fixture).len(), tail_len(&fixture)), (0, 3));
}

#[test]
fn a_full_tail_becomes_a_manifest() {
    let fixture = Fixture::with_target(4);
    append(&fixture, 4);
    assert_eq!((manifests(&fixture).len(), tail_len(&fixture)), (1, 0));
}

#[test]
fn what_fills_no_manifest_stays_in_the_tail() {
    let fixture = Fixture::with_target(2);
    // More than one step seals.
    append(&fixture, 21);
    assert_eq!((manifests(&fixture).len(), tail_len(&fixture)), (10, 1));
    let table = fixture.store().read(|tx| tx.load_table("sales", "orders")).unwrap();
    assert_eq!(table.tail_files, 1);
}

#[test]
fn a_target_of_no_files_is_taken_as_one() {
    let fixture = Fixture::with_target(0);
    append(&fixture, 2);
    assert_eq!((manifests(&fixture).len(), tail_len(&fixture)), (2, 0));
}

#[test]
fn a_tail_that_was_full_when_the_store_closed_is_sealed_when_it_opens() {
    let mut fixture = Fixture::with_target(100);
    append(&fixture, 5);
    fixture.reopen_with_target(5);
    assert_eq!((manifests(&fixture).len(), tail_len(&fixture)), (1, 0));
}

#[test]
fn sealing_changes_no_snapshot() {
    let mut fixture = Fixture::with_target(100);
    fixture.append(&["a", "b", "c"]);
    fixture.delete(&["b"]);
    let before = [fixture.live_paths(SnapshotId(1)), fixture.live_paths(SnapshotId(2))];
    fixture.reopen_with_target(3);
    assert_eq!(manifests(&fixture).len(), 1);
    assert_eq!([fixture.live_paths(SnapshotId(1)), fixture.live_paths(SnapshotId(2))], before);
}

#[test]
fn a_manifest_knows_its_sums() {
    let fixture = Fixture::with_target(3);
    fixture.append(&["a"]);
    let unknown = NewDataFile { row_count: None, ..file("b") };
    fixture.commit(fixture.change(Operation::Append, vec![unknown, file("c")], &[])).unwrap();
    let manifest = manifests(&fixture).remove(0);
    assert_eq!(manifest.totals, Totals { files: 3, rows: 20, files_of_unknown_rows: 1, bytes: 300 });
    assert_eq!((manifest.row_count(), manifest.live()), (None, manifest.totals));
    assert_eq!((manifest.first_added_snapshot, manifest.last_added_snapshot), (SnapshotId(1), SnapshotId(2)));
}

#[test]
fn removals_are_counted_before_and_after_sealing() {
    let mut fixture = Fixture::with_target(100);
    let unknown = |path| NewDataFile { row_count: None, ..file(path) };
    let files = vec![file("a"), unknown("b"), unknown("c"), NewDataFile { size_bytes: 7, ..file("d") }];
    fixture.commit(fixture.change(Operation::Append, files, &[])).unwrap();
    fixture.delete(&["b"]);
    fixture.reopen_with_target(4);
    let removed = Totals { files: 1, rows: 0, files_of_unknown_rows: 1, bytes: 100 };
    assert_eq!(manifests(&fixture)[0].removed, removed);
    fixture.delete(&["c", "d"]);
    let manifest = manifests(&fixture).remove(0);
    assert_eq!(manifest.removed, Totals { files: 3, rows: 10, files_of_unknown_rows: 2, bytes: 207 });
    assert_eq!(manifest.live(), Totals { files: 1, rows: 10, files_of_unknown_rows: 0, bytes: 100 });
    let removals = fixture.store().read(|tx| tx.list_removals(manifest.manifest_id)).unwrap();
    assert_eq!(removals.iter().map(|removal| removal.removed_snapshot.0).collect::<Vec<_>>(), [2, 3, 3]);
}

#[test]
fn entries_are_clustered() {
    let fixture = Fixture::with_target(2);
    // The first letter is the lower bound of the cluster column.
    fixture.append(&["d", "a", "c", "b"]);
    let by_manifest: Vec<Vec<String>> =
        manifests(&fixture).iter().map(|manifest| paths_of(&fixture, manifest)).collect();
    assert_eq!(by_manifest, [["a", "b"], ["c", "d"]]);
}

fn paths_of(fixture: &Fixture, manifest: &ManifestRow) -> Vec<String> {
    let read = fixture.store().read(|tx| {
        let entries = tx.load_entry_block(manifest)?;
        let ids: Vec<_> = entries.file_ids().values().iter().map(|id| prunus_manifest::FileId(*id)).collect();
        tx.load_data_files(&ids)
    });
    read.unwrap().into_iter().map(|file| file.path).collect()
}

#[test]
fn blocks_hold_what_the_tail_held() {
    let mut fixture = Fixture::with_target(100);
    fixture.append(&["c", "a", "b"]);
    let tail = fixture.store().read(|tx| tx.list_tail(fixture.table_id())).unwrap();
    fixture.reopen_with_target(3);
    let manifest = manifests(&fixture).remove(0);
    let entries = fixture.store().read(|tx| tx.load_entry_block(&manifest)).unwrap();
    for column in [NUMBER, NAME] {
        let in_order =
            entries.file_ids().values().iter().map(|id| tail.iter().find(|entry| entry.file_id.0 == *id).unwrap());
        let zones: Vec<ZoneMap> = in_order
            .map(|entry| {
                let said = entry.statistics.columns.get(&column.field_id);
                ZoneMap::of_file(said, column.column_type, entry.row_count)
            })
            .collect();
        let block = fixture.store().read(|tx| tx.load_column_block(&manifest, column)).unwrap();
        assert_eq!(block, ColumnZones::from_zone_maps(column.column_type.physical_type(), &zones));
    }
}

#[test]
fn statistics_are_inspected_the_same_before_and_after_sealing() {
    let mut fixture = Fixture::with_target(100);
    fixture.append(&["a", "b"]);
    let ids: Vec<_> = fixture.live_files(SnapshotId(1)).iter().map(|file| file.file_id).collect();
    let inspect = |fixture: &Fixture| -> Vec<FileStatistics> {
        let load = |id: &prunus_manifest::FileId| fixture.store().read(|tx| tx.load_file_statistics(*id)).unwrap();
        ids.iter().map(load).collect()
    };
    let before = inspect(&fixture);
    fixture.reopen_with_target(2);
    assert_eq!(manifests(&fixture).len(), 1);
    assert_eq!(inspect(&fixture), before);
    assert_eq!(before[0], statistics_of("a"));
}

#[test]
fn a_column_is_inspected_as_plans_use_it_and_as_it_was_registered() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b"]);
    let manifest = manifests(&fixture).remove(0);
    let wide = PrimitiveType::Decimal { precision: 30, scale: 0 };
    let newer = SchemaColumn { field_id: FieldId(77), column_type: PrimitiveType::Float64 };
    for column in [NUMBER, NAME, SchemaColumn { column_type: wide, ..NUMBER }, newer] {
        let read = fixture.store().read(|tx| {
            Ok::<_, Error>((tx.load_registered_column(&manifest, column)?, tx.load_column_block(&manifest, column)?))
        });
        let (registered, zones) = read.unwrap();
        let said = ["a", "b"].map(|path| statistics_of(path).columns.remove(&column.field_id));
        assert_eq!((registered.zones, registered.files), (zones, said.to_vec()), "{column:?}");
    }
}

#[test]
fn zones_follow_the_list_of_manifests() {
    let fixture = Fixture::with_target(1);
    fixture.append(&["b", "a"]);
    let mut listed = manifests(&fixture);
    listed.reverse();
    let zones = fixture.store().read(|tx| tx.load_zones(fixture.table_id(), &listed, NUMBER)).unwrap();
    let lower: Vec<i64> = zones.zones.min().as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(lower, [i64::from(b'b'), i64::from(b'a')]);
}

#[test]
fn a_column_that_is_newer_than_the_manifests_is_unknown() {
    let fixture = Fixture::with_target(2);
    append(&fixture, 2);
    let listed = manifests(&fixture);
    let column = SchemaColumn { field_id: FieldId(77), column_type: PrimitiveType::Float64 };
    let read = fixture.store().read(|tx| {
        let zones = tx.load_zones(fixture.table_id(), &listed, column)?.zones;
        Ok::<_, Error>((zones, tx.load_column_block(&listed[0], column)?))
    });
    let (zones, block) = read.unwrap();
    assert_eq!(
        (zones, block),
        (ColumnZones::unknown(PrimitiveType::Float64, 1), ColumnZones::unknown(PrimitiveType::Float64, 2))
    );
}

#[test]
fn a_widened_column_is_read_in_its_new_type() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b"]);
    let listed = manifests(&fixture);
    let wide = PrimitiveType::Decimal { precision: 30, scale: 0 };
    let column = SchemaColumn { field_id: NUMBER.field_id, column_type: wide };
    let read = fixture.store().read(|tx| {
        let zones = tx.load_zones(fixture.table_id(), &listed, column)?.zones;
        Ok::<_, Error>((zones, tx.load_column_block(&listed[0], column)?))
    });
    for zones in [read.as_ref().unwrap().0.clone(), read.as_ref().unwrap().1.clone()] {
        assert_eq!(zones.physical_type(), wide.physical_type());
        let lower = zones.min().as_primitive::<arrow::datatypes::Decimal128Type>();
        assert_eq!((lower.is_null(0), lower.value(0)), (false, i128::from(b'a')));
    }
}
