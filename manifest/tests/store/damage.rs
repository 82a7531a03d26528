//! Damaged and missing blocks: an error that names them, never a wrong answer.

use prunus_manifest::{BlockName, Error, ManifestRow, SnapshotId, Store};

use crate::fixture::{Fixture, NUMBER};

/// A closed store with one manifest, and that manifest.
fn sealed() -> (Fixture, ManifestRow) {
    let mut fixture = Fixture::with_target(3);
    fixture.append(&["a", "b", "c"]);
    fixture.store().wait_for_sealing().unwrap();
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
    assert_eq!(zones, prunus_manifest::ColumnZones::unknown(NUMBER.column_type, 1));
}
