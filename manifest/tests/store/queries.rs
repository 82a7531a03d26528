//! How SQLite runs the store's queries must not depend on what it knows of the sizes of tables: a plan that is right for a
//! small table would be taken to a large one, or the reverse.

use std::collections::BTreeMap;
use std::path::Path;

use prunus_manifest::{NewCommit, Operation, Store, StoreOptions};
use rusqlite::Connection;

use crate::fixture::{Fixture, file, new_table};

/// Every constant of the crate's source that is a statement with a plan, by its file and name.
fn statements() -> BTreeMap<String, String> {
    let mut statements = BTreeMap::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut statements);
    statements
}

fn collect(folder: &Path, statements: &mut BTreeMap<String, String>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, statements);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        for part in source.split("const ").skip(1) {
            let Some((name, rest)) = part.split_once(": &str = \"") else { continue };
            let (sql, _) = rest.split_once('"').unwrap();
            let verb = sql.split_whitespace().next().unwrap_or_default();
            if ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains(&verb) {
                statements.insert(format!("{}: {name}", path.display()), sql.to_owned());
            }
        }
    }
}

fn plans(connection: &Connection) -> BTreeMap<String, Vec<String>> {
    let plan = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let details = statement.raw_query().mapped(|row| row.get("detail")).collect::<Result<_, _>>();
        details.unwrap()
    };
    statements().into_iter().map(|(name, sql)| (name, plan(&sql))).collect()
}

/// A closed store with a table of many files and one of few, most of them removed.
fn lopsided() -> Fixture {
    let mut fixture = Fixture::with_target(64);
    let other = fixture.store().write(|tx| tx.create_table(&new_table("others"))).unwrap();
    let names: Vec<String> = (0..2000).map(|number| format!("{number:04}")).collect();
    fixture.append(&names.iter().map(String::as_str).collect::<Vec<_>>());
    fixture.delete(&names[..1800].iter().map(String::as_str).collect::<Vec<_>>());
    let change = fixture.change(Operation::Append, vec![file("a")], &[]);
    fixture.commit(NewCommit { table_id: other.table_id, ..change }).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    fixture.close();
    fixture
}

#[test]
fn statistics_of_sqlite_change_no_plan_of_a_query() {
    let fixture = lopsided();
    let connection = Connection::open(fixture.path()).unwrap();
    connection.execute_batch("DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4").unwrap();
    drop(connection);
    let connection = Connection::open(fixture.path()).unwrap();
    let before = plans(&connection);
    assert!(before.len() > 40, "only {} statements were found", before.len());
    connection.execute_batch("ANALYZE").unwrap();
    drop(connection);
    // Opened anew, since statistics are read with the schema.
    let after = plans(&Connection::open(fixture.path()).unwrap());
    for (name, plan) in &before {
        // What falls with the row of a table is found by whichever index begins with it; a statement cannot say which.
        if !name.ends_with("DELETE_TABLE") {
            assert_eq!(after[name], *plan, "{name}");
        }
    }
}

#[test]
fn sqlite_knows_the_sizes_of_tables_once_a_store_was_closed() {
    let fixture = lopsided();
    let count = "SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'data_file'";
    let counted: i64 = Connection::open(fixture.path()).unwrap().query_row(count, [], |row| row.get(0)).unwrap();
    assert!(counted > 0);
}

#[test]
fn a_store_that_may_lose_its_last_commits_keeps_them_when_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let power_loss = prunus_manifest::PowerLoss::MayLoseLastCommits;
    let options = StoreOptions { power_loss, ..StoreOptions::default() };
    let store = Store::open_with(&path, &options).unwrap();
    store.write(|tx| tx.create_namespace("sales", &BTreeMap::new(), 1).map(drop)).unwrap();
    drop(store);
    let store = Store::open_with(&path, &options).unwrap();
    assert_eq!(store.read(|tx| tx.list_namespaces("", 10)).unwrap().len(), 1);
}
