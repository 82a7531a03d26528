//! What is known by the writer's word alone is counted for each manifest and told for each file.

use prunus_manifest::{Error, ManifestRow, ManifestZones, NewDataFile, Operation};
use prunus_statistics::{FileColumn, FileStatistics, Provenance};

use crate::fixture::{Fixture, NAME, NUMBER, file, statistics_of};

/// The same file, of whose number its writer alone says something.
fn declared(path: &str) -> NewDataFile {
    let mut statistics: FileStatistics = statistics_of(path);
    let Some(FileColumn::Present(number)) = statistics.columns.get_mut(&NUMBER.field_id) else { panic!() };
    for bound in [&mut number.min, &mut number.max].into_iter().flatten() {
        bound.provenance = Provenance::Declared;
    }
    NewDataFile { statistics: prunus_manifest::EncodedStatistics::new(&statistics).unwrap(), ..file(path) }
}

/// Two manifests, `Ab` and `CD`, and a tail, `e`; capital letters are files of declared numbers.
fn fixture() -> Fixture {
    let fixture = Fixture::with_target(2);
    let files = vec![declared("a"), file("b"), declared("c"), declared("d"), file("e")];
    fixture.commit(fixture.change(Operation::Append, files, &[])).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    fixture
}

fn zones(fixture: &Fixture, column: prunus_manifest::SchemaColumn) -> (Vec<ManifestRow>, ManifestZones) {
    let read = fixture.store().read(|tx| {
        let manifests = tx.list_manifests(fixture.table_id())?;
        let zones = tx.load_zones(fixture.table_id(), &manifests, column)?;
        Ok::<_, Error>((manifests, zones))
    });
    read.unwrap()
}

fn counts(fixture: &Fixture, column: prunus_manifest::SchemaColumn) -> Vec<Option<u64>> {
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
    let unsaid = prunus_manifest::SchemaColumn { field_id: prunus_statistics::FieldId(77), ..NUMBER };
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
    let files = fixture.inspect(prunus_manifest::SnapshotId(1));
    fixture.repair(&files[2..3], 1);
    assert_eq!(counts(&fixture, NUMBER), [Some(1), Some(1)]);
}
