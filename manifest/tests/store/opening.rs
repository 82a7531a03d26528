//! Which files open, and for whom.

use prunus_manifest::{Error, Store};

use crate::fixture::Fixture;

#[test]
fn a_new_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store.db")).unwrap();
    assert_eq!(store.read(|tx| tx.list_namespaces("", 10)).unwrap(), []);
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::fs::write(&path, b"").unwrap();
    assert!(Store::open(&path).is_ok());
}

#[test]
fn what_was_committed_is_there_when_it_is_opened_again() {
    let mut fixture = Fixture::new();
    let committed = fixture.append(&["a", "b"]);
    fixture.reopen();
    assert_eq!(fixture.live_paths(committed.snapshot_id), ["a", "b"]);
}

#[test]
fn a_second_handle_is_refused() {
    let fixture = Fixture::new();
    assert!(matches!(Store::open(&fixture.path()), Err(Error::Locked { .. })));
}

#[test]
fn the_lock_ends_with_the_store() {
    let mut fixture = Fixture::new();
    fixture.close();
    assert!(Store::open(&fixture.path()).is_ok());
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let garbage = b"this is not a database, and long enough to be sure ".repeat(100);
    std::fs::write(&path, &garbage).unwrap();
    assert!(matches!(Store::open(&path), Err(Error::NotADatabase { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), garbage);
}

#[test]
fn the_database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(Store::open(&path), Err(Error::ForeignDatabase { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn the_store_of_a_newer_version_is_refused() {
    let mut fixture = Fixture::new();
    fixture.close();
    rusqlite::Connection::open(fixture.path()).unwrap().pragma_update(None, "user_version", 1000).unwrap();
    let answer = Store::open(&fixture.path());
    assert!(matches!(answer, Err(Error::NewerDatabase { version: 1000, supported: 4, .. })));
}

#[test]
fn a_read_sees_one_state_throughout() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    let (before, after) = fixture
        .store()
        .read(|tx| {
            let before = tx.load_table_by_id(fixture.table_id())?.current_snapshot;
            fixture.append(&["b"]);
            Ok::<_, Error>((before, tx.load_table_by_id(fixture.table_id())?.current_snapshot))
        })
        .unwrap();
    assert_eq!(before, after);
}

#[test]
fn more_readers_than_connections_all_read() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    std::thread::scope(|scope| {
        for _ in 0..4 * prunus_manifest::MAX_READERS {
            scope.spawn(|| assert_eq!(fixture.live_paths(prunus_manifest::SnapshotId(1)), ["a"]));
        }
    });
}

/// The text of everything that the schema has, but for what SQLite makes for itself.
fn schema_text(path: &std::path::Path) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let list = "SELECT name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*' ORDER BY name";
    let mut statement = connection.prepare(list).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_store_of_an_older_version_gets_the_schema_of_a_new_one() {
    let mut new = Fixture::new();
    new.close();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let paths = fixtures.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let stores: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "db")).collect();
    assert!(!stores.is_empty());
    for store in stores {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        std::fs::copy(store, &path).unwrap();
        assert_ne!(schema_text(&path), schema_text(&new.path()));
        drop(Store::open(&path).unwrap());
        assert_eq!(schema_text(&path), schema_text(&new.path()));
    }
}
