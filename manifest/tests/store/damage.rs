//! Damaged and missing blocks: an error that names them, never a wrong answer.

use prunus_manifest::{BlockName, Error, ManifestRow, NewCommit, Operation, SnapshotId, Store};

use crate::fixture::{Fixture, NUMBER, file, new_table};

/// A closed store with one manifest, and that manifest.
fn sealed() -> (Fixture, ManifestRow) {
    let mut fixture = Fixture::with_target(3);
    fixture.append(&["a", "b", "c"]);
    fixture.store().wait_for_maintenance().unwrap();
    let manifest = fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap().remove(0);
    fixture.close();
    (fixture, manifest)
}

/// Flips one byte after another of the blob that `select` finds by its row and column, and looks at what `read` answers.
fn flip_each(
    fixture: &Fixture,
    (table, column, filter): (&str, &str, &str),
    read: impl Fn(&Store) -> Result<(), Error>,
    expected: impl Fn(&Error) -> bool,
) {
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    let select = format!("SELECT {column} FROM {table} WHERE {filter}");
    let update = format!("UPDATE {table} SET {column} = ?1 WHERE {filter}");
    let good: Vec<u8> = connection.query_row(&select, [], |row| row.get(0)).unwrap();
    let store = Store::open(&fixture.path()).unwrap();
    read(&store).unwrap();
    for position in 0..good.len() {
        let mut damaged = good.clone();
        damaged[position] ^= 0x20;
        connection.execute(&update, [&damaged]).unwrap();
        let error = read(&store).unwrap_err();
        assert!(expected(&error), "byte {position} of {table}: {error:?}");
    }
    connection.execute(&update, [&good]).unwrap();
}

fn names(error: &Error, manifest: &ManifestRow, expected: BlockName) -> bool {
    matches!(error, Error::DamagedBlock { table_id, manifest_id, block, .. }
        if (*table_id, *manifest_id, *block) == (manifest.table_id, manifest.manifest_id, expected))
}

#[test]
fn a_damaged_column_block_is_named() {
    let (fixture, manifest) = sealed();
    flip_each(
        &fixture,
        ("column_block", "block", "field_id = 1"),
        |store| store.read(|tx| tx.load_column_block(&manifest, NUMBER).map(drop)),
        |error| names(error, &manifest, BlockName::Column(NUMBER.field_id)),
    );
}

#[test]
fn a_damaged_entry_block_is_named() {
    let (fixture, manifest) = sealed();
    flip_each(
        &fixture,
        ("entry_block", "block", "true"),
        |store| store.read(|tx| tx.load_entry_block(&manifest).map(drop)),
        |error| names(error, &manifest, BlockName::Entries),
    );
}

#[test]
fn a_damaged_zone_is_named() {
    let (fixture, manifest) = sealed();
    let listed = [manifest.clone()];
    flip_each(
        &fixture,
        ("manifest_zone", "zone", "field_id = 1"),
        |store| store.read(|tx| tx.load_zones(fixture.table_id(), &listed, NUMBER).map(drop)),
        |error| names(error, &manifest, BlockName::Zone(NUMBER.field_id)),
    );
}

#[test]
fn a_damaged_detail_is_named() {
    let (fixture, manifest) = sealed();
    let file_id = prunus_manifest::FileId(1);
    flip_each(
        &fixture,
        ("column_detail", "block", "field_id = 1"),
        |store| store.read(|tx| tx.load_file_statistics(file_id).map(drop)),
        |error| names(error, &manifest, BlockName::Detail(NUMBER.field_id)),
    );
}

#[test]
fn damaged_statistics_of_the_tail_are_named() {
    let mut fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.close();
    flip_each(
        &fixture,
        ("tail_statistics", "statistics", "true"),
        |store| store.read(|tx| tx.list_tail(fixture.table_id()).map(drop)),
        |error| matches!(error, Error::DamagedRow { id: 1, .. }),
    );
}

#[test]
fn missing_statistics_of_the_tail_are_an_error() {
    let mut fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.close();
    rusqlite::Connection::open(fixture.path()).unwrap().execute("DELETE FROM tail_statistics", []).unwrap();
    fixture.reopen();
    let tail = fixture.store().read(|tx| tx.list_tail(fixture.table_id()));
    assert!(matches!(tail, Err(Error::DamagedRow { id: 1, .. })));
}

#[test]
fn damaged_partitions_and_leaves_are_named() {
    let (fixture, _) = sealed();
    for (table, column) in [("data_file", "partition"), ("leaf_set", "leaves")] {
        flip_each(
            &fixture,
            (table, column, "rowid = 1"),
            |store| store.read(|tx| tx.list_live_files(fixture.table_id(), SnapshotId(1), None, 1).map(drop)),
            |error| matches!(error, Error::DamagedRow { id: 1, .. }),
        );
    }
}

/// Writes something else in the place of the statistics of a file in the tail; says what was there.
fn exchange_statistics(fixture: &Fixture, file_id: i64, statistics: &[u8]) -> Vec<u8> {
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    let select = "SELECT statistics FROM tail_statistics WHERE file_id = ?1";
    let before = connection.query_row(select, [file_id], |row| row.get(0)).unwrap();
    let update = "UPDATE tail_statistics SET statistics = ?2 WHERE file_id = ?1";
    assert_eq!(connection.execute(update, rusqlite::params![file_id, statistics]).unwrap(), 1);
    before
}

#[test]
fn whoever_waits_for_a_tail_that_cannot_be_sealed_is_told() {
    let fixture = Fixture::with_target(3);
    fixture.append(&["a", "b"]);
    exchange_statistics(&fixture, 1, b"damaged");
    fixture.append(&["c"]);
    // Every time, whether the tail became due before or after.
    for _ in 0..2 {
        let answer = fixture.store().wait_for_maintenance();
        let Err(Error::NotMaintained { table_id, source }) = answer else { panic!("{answer:?}") };
        assert_eq!(table_id, fixture.table_id());
        assert!(matches!(*source, Error::DamagedRow { id: 1, .. }), "{source:?}");
    }
}

#[test]
fn the_store_goes_on_with_a_tail_that_cannot_be_sealed_and_seals_it_when_it_can() {
    let fixture = Fixture::with_target(3);
    fixture.append(&["a", "b"]);
    let good = exchange_statistics(&fixture, 1, b"damaged");
    fixture.append(&["c"]);
    assert!(fixture.store().wait_for_maintenance().is_err());
    let committed = fixture.append(&["d"]);
    assert_eq!((fixture.live_paths(committed.snapshot_id).len(), committed.tail_files), (4, 4));
    exchange_statistics(&fixture, 1, &good);
    fixture.store().wait_for_maintenance().unwrap();
    let manifests = fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap();
    assert_eq!(manifests.len(), 1);
}

#[test]
fn a_tail_that_cannot_be_sealed_does_not_keep_others_from_it() {
    let fixture = Fixture::with_target(2);
    let other = fixture.store().write(|tx| tx.create_table(&new_table("others"))).unwrap();
    fixture.append(&["a"]);
    exchange_statistics(&fixture, 1, b"damaged");
    fixture.append(&["b"]);
    let files = vec![file("c"), file("d")];
    let change = NewCommit { table_id: other.table_id, ..fixture.change(Operation::Append, files, &[]) };
    fixture.commit(change).unwrap();
    assert!(matches!(fixture.store().wait_for_maintenance(), Err(Error::NotMaintained { .. })));
    assert_eq!(fixture.store().read(|tx| tx.list_manifests(other.table_id)).unwrap().len(), 1);
    // A tail that is gone is not due any more.
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
}

#[test]
fn a_block_that_should_be_there_and_is_not_is_an_error() {
    let (mut fixture, manifest) = sealed();
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    connection.execute_batch("DELETE FROM column_block; DELETE FROM entry_block").unwrap();
    drop(connection);
    fixture.reopen();
    let column = fixture.store().read(|tx| tx.load_column_block(&manifest, NUMBER));
    assert!(matches!(column, Err(Error::MissingBlock { block: BlockName::Column(_), .. })));
    let entries = fixture.store().read(|tx| tx.load_entry_block(&manifest));
    assert!(matches!(entries, Err(Error::MissingBlock { block: BlockName::Entries, .. })));
}

#[test]
fn a_missing_zone_is_unknown() {
    let (mut fixture, manifest) = sealed();
    rusqlite::Connection::open(fixture.path()).unwrap().execute("DELETE FROM manifest_zone", []).unwrap();
    fixture.reopen();
    let zones = fixture.store().read(|tx| tx.load_zones(fixture.table_id(), &[manifest], NUMBER)).unwrap();
    assert_eq!(zones.zones, prunus_manifest::ColumnZones::unknown(NUMBER.column_type, 1));
}

/// Writes something else in the place of what the row of a data file holds.
fn overwrite_file(fixture: &Fixture, change: &str) {
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    let changed = connection.execute(&format!("UPDATE data_file SET {change} WHERE file_id = 2"), []).unwrap();
    assert_eq!(changed, 1);
}

#[test]
fn a_change_of_what_never_changes_in_the_row_of_a_data_file_is_named() {
    for change in [
        "path = 'x'",
        "path = CAST(x'ff' AS TEXT)",
        "size_bytes = 101",
        "size_bytes = -1",
        "row_count = 11",
        "row_count = NULL",
        "etag = ''",
        "etag = NULL",
        "last_modified_ms = 8",
        "last_modified_ms = NULL",
        "leaf_set_id = 2",
        "added_snapshot = 0",
        "partition = (SELECT leaves FROM leaf_set)",
        "checksum = checksum + 1",
    ] {
        let fixture = Fixture::new();
        fixture.append(&["a", "b"]);
        overwrite_file(&fixture, change);
        let listed = fixture.store().read(|tx| tx.list_live_files(fixture.table_id(), SnapshotId(1), None, 10));
        assert!(matches!(listed, Err(Error::DamagedRow { id: 2, .. })), "{change}: {listed:?}");
    }
}

#[test]
fn a_row_without_a_checksum_is_not_checked() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b"]);
    overwrite_file(&fixture, "checksum = NULL, size_bytes = 101");
    assert_eq!(fixture.live_files(SnapshotId(1))[1].size_bytes, 101);
}

#[test]
fn a_row_that_is_removed_or_sealed_keeps_its_checksum() {
    let mut fixture = Fixture::with_target(100);
    fixture.append(&["a", "b"]);
    fixture.delete(&["b"]);
    fixture.reopen_with_target(2);
    fixture.store().wait_for_maintenance().unwrap();
    assert_eq!(fixture.live_paths(SnapshotId(1)), ["a", "b"]);
}
