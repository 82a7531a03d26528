//! Namespaces, tables and their schemas.

use std::collections::BTreeMap;

use prunus_manifest::{Error, SchemaId, SnapshotId};

use crate::fixture::{Fixture, SCHEMA, new_table};

fn create_namespace(fixture: &Fixture, name: &str) -> Result<(), Error> {
    let name = name.to_owned();
    fixture.store().write(move |tx| tx.create_namespace(&name, &BTreeMap::new(), 9).map(drop))
}

#[test]
fn a_namespace_is_read_as_it_was_created() {
    let fixture = Fixture::new();
    let properties: BTreeMap<_, _> = [("k".to_owned(), "v".to_owned())].into();
    let created = fixture.store().write(move |tx| tx.create_namespace("a.b", &properties, 9)).unwrap();
    let read = fixture.store().read(|tx| tx.get_namespace("a.b")).unwrap();
    assert_eq!(read, Some(created));
}

#[test]
fn a_namespace_is_created_once() {
    let fixture = Fixture::new();
    assert!(matches!(create_namespace(&fixture, "sales"), Err(Error::NamespaceExists(name)) if name == "sales"));
}

#[test]
fn namespaces_are_listed_by_name_in_pages() {
    let fixture = Fixture::new();
    for name in ["b", "a", "z"] {
        create_namespace(&fixture, name).unwrap();
    }
    let page = |after: &str| {
        let page = fixture.store().read(|tx| tx.list_namespaces(after, 2)).unwrap();
        page.into_iter().map(|namespace| namespace.name).collect::<Vec<_>>()
    };
    assert_eq!(page(""), ["a", "b"]);
    assert_eq!(page("b"), ["sales", "z"]);
    assert_eq!(page("z"), Vec::<String>::new());
}

#[test]
fn a_namespace_with_tables_is_not_deleted() {
    let fixture = Fixture::new();
    let answer = fixture.store().write(|tx| tx.delete_namespace("sales"));
    assert!(matches!(answer, Err(Error::NamespaceNotEmpty(_))));
}

#[test]
fn an_empty_namespace_is_deleted() {
    let fixture = Fixture::new();
    create_namespace(&fixture, "a").unwrap();
    fixture.store().write(|tx| tx.delete_namespace("a")).unwrap();
    assert!(matches!(fixture.store().write(|tx| tx.delete_namespace("a")), Err(Error::NamespaceNotFound(_))));
}

#[test]
fn a_table_is_read_as_it_was_created() {
    let fixture = Fixture::new();
    let table = fixture.store().read(|tx| tx.load_table("sales", "orders")).unwrap();
    assert_eq!(table, fixture.table);
    let new = new_table("orders");
    assert_eq!(
        (table.namespace, table.name, table.uuid, table.location, table.cluster_by, table.properties),
        (new.namespace, new.name, new.uuid, new.location, new.cluster_by, new.properties)
    );
    assert_eq!((table.current_snapshot, table.schema_id, table.tail_files), (SnapshotId::EMPTY, SCHEMA, 0));
}

#[test]
fn a_table_is_created_once() {
    let fixture = Fixture::new();
    let answer = fixture.store().write(|tx| tx.create_table(&new_table("orders")));
    assert!(matches!(answer, Err(Error::TableExists { .. })));
}

#[test]
fn what_is_missing_is_named() {
    let fixture = Fixture::new();
    let load = |namespace: &str, name: &str| fixture.store().read(|tx| tx.load_table(namespace, name));
    assert!(matches!(load("nowhere", "orders"), Err(Error::NamespaceNotFound(_))));
    assert!(matches!(load("sales", "nothing"), Err(Error::TableNotFound { .. })));
}

#[test]
fn tables_are_listed_by_name_in_pages() {
    let fixture = Fixture::new();
    for name in ["b", "a", "z"] {
        fixture.store().write(move |tx| tx.create_table(&new_table(name)).map(drop)).unwrap();
    }
    let page = |after: &str| {
        let page = fixture.store().read(|tx| tx.list_tables("sales", after, 2)).unwrap();
        page.into_iter().map(|table| table.name).collect::<Vec<_>>()
    };
    assert_eq!(page(""), ["a", "b"]);
    assert_eq!(page("b"), ["orders", "z"]);
}

#[test]
fn a_schema_is_read_as_it_was_given() {
    let fixture = Fixture::new();
    let load = |schema_id| fixture.store().read(|tx| tx.load_schema(fixture.table_id(), schema_id));
    assert_eq!(load(SCHEMA).unwrap(), new_table("orders").schema);
    assert!(matches!(load(SchemaId(2)), Err(Error::SchemaNotFound { .. })));
}

#[test]
fn a_dropped_table_leaves_no_row() {
    let mut fixture = Fixture::with_target(2);
    fixture.append(&["a", "b", "c"]);
    fixture.store().wait_for_maintenance().unwrap();
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    fixture.close();
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'namespace' AND name NOT GLOB 'sqlite_*'",
        )
        .unwrap();
    let tables: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for table in tables {
        let count: i64 = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0, "{table}");
    }
}

#[test]
fn a_table_created_anew_has_another_id() {
    let fixture = Fixture::new();
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    let table = fixture.store().write(|tx| tx.create_table(&new_table("orders"))).unwrap();
    assert!(table.table_id > fixture.table_id());
}
