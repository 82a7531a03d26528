//! What is known by the writer's word alone is counted for each manifest and told for each file.

use std::path::Path;

use prunus_manifest::{
    ColumnRepair, EncodedStatistics, Error, FileId, InspectedFile, ManifestRow, ManifestZones, NewDataFile, Operation,
    ReadTransaction, RepairOutcome, SchemaColumn, SnapshotId, Store, StoreOptions, TableId,
};
use prunus_statistics::{FieldId, FileColumn, FileStatistics, PrimitiveType, Provenance};

use crate::fixture::{Fixture, NAME, NUMBER, file, scanned, statistics_of};

/// The same file, of whose number its writer alone says something.
fn declared(path: &str) -> NewDataFile {
    let mut statistics: FileStatistics = statistics_of(path);
    let Some(FileColumn::Present(number)) = statistics.columns.get_mut(&NUMBER.field_id) else { panic!() };
    for bound in [&mut number.min, &mut number.max].into_iter().flatten() {
        bound.provenance = Provenance::Declared;
    }
    NewDataFile { statistics: EncodedStatistics::new(&statistics).unwrap(), ..file(path) }
}

/// Two manifests, `Ab` and `CD`, and a tail, `e`; capital letters are files of declared numbers.
fn fixture() -> Fixture {
    let fixture = Fixture::with_target(2);
    let files = vec![declared("a"), file("b"), declared("c"), declared("d"), file("e")];
    fixture.commit(fixture.change(Operation::Append, files, &[])).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    fixture
}

fn zones(fixture: &Fixture, column: SchemaColumn) -> (Vec<ManifestRow>, ManifestZones) {
    let read = fixture.store().read(|tx| {
        let manifests = tx.list_manifests(fixture.table_id())?;
        let zones = tx.load_zones(fixture.table_id(), &manifests, column)?;
        Ok::<_, Error>((manifests, zones))
    });
    read.unwrap()
}

fn counts(fixture: &Fixture, column: SchemaColumn) -> Vec<Option<u64>> {
    zones(fixture, column).1.declared_files.iter().collect()
}

#[test]
fn a_zone_says_how_many_files_are_declared() {
    let fixture = fixture();
    assert_eq!(counts(&fixture, NUMBER), [Some(1), Some(2)]);
    assert_eq!(counts(&fixture, NAME), [Some(0), Some(0)]);
}

#[test]
fn a_manifest_without_a_zone_is_nobodys_word() {
    let fixture = fixture();
    let unsaid = SchemaColumn { field_id: FieldId(77), ..NUMBER };
    assert_eq!(counts(&fixture, unsaid), [Some(0), Some(0)]);
}

#[test]
fn a_zone_of_an_older_store_is_not_counted() {
    let mut fixture = fixture();
    fixture.close();
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    connection.execute("UPDATE manifest_zone SET declared_files = NULL WHERE manifest_id = 1", []).unwrap();
    drop(connection);
    fixture.reopen();
    assert_eq!(counts(&fixture, NUMBER), [None, Some(2)]);
}

#[test]
fn the_entries_of_a_manifest_say_which_are_declared() {
    let fixture = fixture();
    let (manifests, _) = zones(&fixture, NUMBER);
    let read = |manifest: &ManifestRow, column| -> Vec<bool> {
        let declared = fixture.store().read(|tx| tx.load_declared(manifest, column)).unwrap();
        declared.iter().map(Option::unwrap).collect()
    };
    assert_eq!(read(&manifests[0], NUMBER), [true, false]);
    assert_eq!(read(&manifests[1], NUMBER), [true, true]);
    assert_eq!(read(&manifests[1], NAME), [false, false]);
}

#[test]
fn the_entries_of_the_tail_say_whether_they_are_declared() {
    let fixture = Fixture::new();
    let files = vec![file("a"), declared("b")];
    fixture.commit(fixture.change(Operation::Append, files, &[])).unwrap();
    let tail = fixture.store().read(|tx| tx.list_tail(fixture.table_id())).unwrap();
    let told = |column| tail.iter().map(|entry| entry.is_declared(column)).collect::<Vec<_>>();
    assert_eq!((told(NUMBER), told(NAME)), (vec![false, true], vec![false, false]));
}

#[test]
fn what_was_read_in_the_data_is_not_declared_any_more() {
    let fixture = fixture();
    let files = fixture.inspect(SnapshotId(1));
    fixture.repair(&files[2..3], 1);
    assert_eq!(counts(&fixture, NUMBER), [Some(1), Some(1)]);
}

#[test]
fn an_older_store_counts_what_is_repaired_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let older = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/store-0002.db");
    std::fs::copy(older, &path).unwrap();
    let options = StoreOptions { manifest_target_files: 4, ..StoreOptions::default() };
    let store = Store::open_with(&path, &options).unwrap();
    let (table_id, field_id) = (TableId(1), FieldId(3));
    let column = SchemaColumn { field_id, column_type: PrimitiveType::Float64 };
    let counts = || -> Vec<Option<u64>> {
        let load = |tx: &ReadTransaction<'_>| tx.load_zones(table_id, &tx.list_manifests(table_id)?, column);
        store.read(load).unwrap().declared_files.iter().collect()
    };
    assert_eq!(counts(), [None; 3]);
    let files = store.read(|tx| tx.list_inspected_files(table_id, SnapshotId(6), FileId(0), 3)).unwrap();
    let repair = |InspectedFile { row, statistics }: InspectedFile| {
        let before = statistics.columns.get(&field_id).cloned();
        let after = scanned(before.clone().unwrap());
        (row.file_id, [(field_id, ColumnRepair { column_type: column.column_type, before, after })].into())
    };
    let outcomes = store.repair(table_id, &files.into_iter().map(repair).collect()).unwrap();
    assert!(outcomes.len() == 3 && outcomes.values().all(|outcome| *outcome == RepairOutcome::Repaired));
    // The fourth file of the rebuilt manifest was removed, and is still its writer's word.
    assert_eq!(counts(), [None, None, Some(1)]);
    drop(store);
    let report = prunus_manifest::check(&path, &mut |_| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}
