//! Files that were there before a column: what they hold of it is found out beside the writer, once, and stored as if it had been
//! registered.

use prunus_manifest::{LateColumn, ManifestRow, NewCommit, NewSchema, Operation, SchemaColumn, SchemaId, TableChange};
use prunus_statistics::{ColumnStatistics, FieldId, FileColumn, PrimitiveType, Value};

use crate::fixture::{Fixture, NAME, NUMBER, file};

const LATE: SchemaColumn = SchemaColumn { field_id: FieldId(3), column_type: PrimitiveType::Int64 };

/// Files whose path begins with `?` may hold the column, the others do not.
fn late_columns(schemas: &[String]) -> Vec<LateColumn> {
    assert_eq!(schemas, ["{\"fields\":[]}", "newer"]);
    let of_file = |row: &prunus_manifest::DataFileRow| {
        let may_hold = row.path.starts_with('?');
        if may_hold { FileColumn::Present(ColumnStatistics::default()) } else { FileColumn::Absent }
    };
    vec![LateColumn { column: LATE, of_file: Box::new(of_file) }]
}

fn add_column(fixture: &Fixture) {
    let schema = NewSchema { text: "newer".to_owned(), columns: vec![NUMBER, NAME, LATE], last_field_id: FieldId(3) };
    let table_id = fixture.table_id();
    let change = TableChange { table_id, name: None, schema: Some(schema), cluster_by: None, properties: None };
    let row = fixture.store().write(move |tx| tx.alter_table(&change)).unwrap();
    assert_eq!((row.schema_id, row.last_field_id), (SchemaId(2), FieldId(3)));
    fixture.store().wait_for_maintenance().unwrap();
}

fn append(fixture: &Fixture, paths: &[&str]) {
    let change = fixture.change(Operation::Append, paths.iter().map(|path| file(path)).collect(), &[]);
    let schema_id = fixture.load_table().schema_id;
    fixture.commit(NewCommit { schema_id, ..change }).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
}

fn manifests(fixture: &Fixture) -> Vec<ManifestRow> {
    fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap()
}

/// Which manifests, and which files of the tail, are known to hold nothing of the column; `None` for what nobody looked into.
fn known(fixture: &Fixture) -> (Vec<bool>, Vec<Option<bool>>) {
    let listed = manifests(fixture);
    let zones = fixture.store().read(|tx| tx.load_zones(fixture.table_id(), &listed, LATE)).unwrap();
    let tail = fixture.store().read(|tx| tx.list_tail(fixture.table_id())).unwrap();
    let of_entry = |entry: &prunus_manifest::TailEntry| {
        entry.statistics.columns.get(&LATE.field_id).map(|column| *column == FileColumn::Absent)
    };
    let zones = zones.zones.valueless().iter().map(Option::unwrap).collect();
    (zones, tail.iter().map(of_entry).collect())
}

#[test]
fn files_in_manifests_and_in_the_tail_are_looked_into() {
    let mut fixture = Fixture::with_target(2);
    fixture.reopen_with_late_columns(late_columns);
    append(&fixture, &["a", "b"]);
    append(&fixture, &["c", "?d"]);
    append(&fixture, &["e"]);
    let before = fixture.load_table();
    add_column(&fixture);
    assert_eq!(known(&fixture), (vec![true, false], vec![Some(true)]));
    let after = fixture.load_table();
    assert!(after.statistics_generation > before.statistics_generation);
    assert!(after.layout_generation > before.layout_generation);
    append(&fixture, &["?f"]);
    // The last two are in a manifest now.
    assert_eq!(known(&fixture), (vec![true, false, false], vec![]));
    let block = fixture.store().read(|tx| tx.get_column_zones(&manifests(&fixture)[2], LATE)).unwrap().unwrap();
    let files: Vec<bool> = block.valueless().iter().map(Option::unwrap).collect();
    assert_eq!(files, [false, true]);
}

#[test]
fn what_nobody_has_looked_into_is_found_when_the_store_is_opened() {
    let mut fixture = Fixture::with_target(2);
    append(&fixture, &["a", "b", "c"]);
    add_column(&fixture);
    assert_eq!(known(&fixture), (vec![false], vec![None]));
    fixture.reopen_with_late_columns(late_columns);
    fixture.store().wait_for_maintenance().unwrap();
    assert_eq!(known(&fixture), (vec![true], vec![Some(true)]));
    let generation = fixture.load_table().statistics_generation;
    fixture.reopen();
    fixture.store().wait_for_maintenance().unwrap();
    assert_eq!(fixture.load_table().statistics_generation, generation);
}

#[test]
fn what_was_found_comes_back_with_a_rollback() {
    let mut fixture = Fixture::with_target(4);
    fixture.reopen_with_late_columns(late_columns);
    append(&fixture, &["a", "?b"]);
    let remove = fixture.change(Operation::Delete, vec![], &["a", "?b"]);
    fixture.commit(remove).unwrap();
    add_column(&fixture);
    let prepared = fixture.prepare_rollback(1).unwrap();
    fixture.store().write(move |tx| tx.roll_back(&prepared)).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    // Four files, of which two are not live any more.
    assert_eq!(known(&fixture).0, [false]);
    let block = fixture.store().read(|tx| tx.get_column_zones(&manifests(&fixture)[0], LATE)).unwrap().unwrap();
    assert_eq!(block.valueless().true_count(), 2);
}

#[test]
fn a_manifest_of_which_files_are_forgotten_is_looked_into() {
    let mut fixture = Fixture::with_target(4);
    fixture.reopen_with_late_columns(late_columns);
    append(&fixture, &["a", "b", "c", "?d"]);
    fixture.delete(&["?d"]);
    fixture.expire(&fixture.expiry(1));
    add_column(&fixture);
    assert_eq!(known(&fixture), (vec![true], vec![]));
}

#[test]
fn the_tail_is_rewritten_where_values_are_stored_as_others() {
    let fixture = Fixture::with_target(100);
    let make_number = |column_type: PrimitiveType, text: &str| {
        let column = SchemaColumn { field_id: NUMBER.field_id, column_type };
        let schema = NewSchema { text: text.to_owned(), columns: vec![column, NAME], last_field_id: FieldId(3) };
        let table_id = fixture.table_id();
        let change = TableChange { table_id, name: None, schema: Some(schema), cluster_by: None, properties: None };
        fixture.store().write(move |tx| tx.alter_table(&change)).unwrap()
    };
    let min = || {
        let tail = fixture.store().read(|tx| tx.list_tail(fixture.table_id())).unwrap();
        match tail[0].statistics.columns.get(&NUMBER.field_id) {
            Some(FileColumn::Present(statistics)) => statistics.min.clone().map(|bound| bound.value),
            other => panic!("{other:?}"),
        }
    };
    make_number(PrimitiveType::Date, "as dates");
    append(&fixture, &["a"]);
    let days = i128::from(b'a');
    assert_eq!(min(), Some(Value::Integer(days)));
    let before = fixture.load_table().statistics_generation;
    let after = make_number("timestamp(s)".parse().unwrap(), "as timestamps").statistics_generation;
    assert_eq!((min(), after > before), (Some(Value::Integer(days * 86_400)), true));
}
