//! What a check finds, and that it finds nothing where nothing is wrong.

use prunus_manifest::{CheckProgress, CheckReport, Error, Finding, MAX_FINDINGS, NewDataFile, Operation, check};

use crate::fixture::{Fixture, file, new_table};

/// A closed store: two manifests of three files, a tail of two, removed ones in each, one file of unknown rows, a forgotten
/// entry, expired snapshots, a tag, and a table that is empty.
fn store() -> Fixture {
    let mut fixture = Fixture::with_target(3);
    fixture.append(&["a", "b", "c"]);
    let unknown = NewDataFile { row_count: None, ..file("e") };
    fixture.commit(fixture.change(Operation::Append, vec![file("d"), unknown, file("f")], &[])).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    fixture.delete(&["b", "c", "e"]);
    fixture.append(&["b", "g"]);
    fixture.delete(&["g"]);
    fixture.store().write(|tx| tx.create_table(&new_table("others"))).unwrap();
    fixture.close();
    run(&fixture, "INSERT INTO tag VALUES (1, 'third', 3, 0); DELETE FROM snapshot WHERE snapshot_id < 3");
    run(&fixture, "INSERT INTO forgotten_entry VALUES (1, 3, 3); DELETE FROM data_file WHERE file_id = 3");
    fixture
}

/// Runs statements on a closed store, whatever they break.
fn run(fixture: &Fixture, sql: &str) {
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
    connection.execute_batch(sql).unwrap();
}

fn check_quietly(fixture: &Fixture) -> CheckReport {
    check(&fixture.path(), &mut |_| ()).unwrap()
}

/// What is found when something is done to a store: each finding as `PLACE: FAULT (MEND)`.
fn found_after(sql: &str) -> Vec<String> {
    let fixture = store();
    run(&fixture, sql);
    let report = check_quietly(&fixture);
    assert_eq!(report.findings.len() as u64, report.findings_total);
    let line = |Finding { place, fault }: &Finding| format!("{place}: {} ({})", fault.message(), fault.mend());
    report.findings.iter().map(line).collect()
}

#[test]
fn nothing_is_found_in_a_store_where_nothing_is_wrong() {
    let fixture = store();
    let report = check_quietly(&fixture);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!((report.findings_total, report.manifests, report.files), (0, 2, 7));
    let tables: Vec<&str> = report.tables.values().map(String::as_str).collect();
    assert_eq!(tables, ["sales.orders", "sales.others"]);
}

#[test]
fn a_check_changes_nothing() {
    let fixture = store();
    let before = std::fs::read(fixture.path()).unwrap();
    check_quietly(&fixture);
    assert_eq!(std::fs::read(fixture.path()).unwrap(), before);
}

#[test]
fn a_check_reads_what_is_in_the_log() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    // As a kill leaves them: the database, and the log that was not folded into it.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::fs::copy(fixture.path(), &path).unwrap();
    std::fs::copy(fixture.path().with_extension("db-wal"), path.with_extension("db-wal")).unwrap();
    let report = check(&path, &mut |_| ()).unwrap();
    assert_eq!((report.findings_total, report.files), (0, 1));
}

#[test]
fn a_store_in_use_is_not_checked() {
    let fixture = Fixture::new();
    assert!(matches!(check(&fixture.path(), &mut |_| ()), Err(Error::Locked { .. })));
}

#[test]
fn what_is_not_there_is_not_checked_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    assert!(matches!(check(&path, &mut |_| ()), Err(Error::NoStore { .. })));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(check(&path, &mut |_| ()), Err(Error::NoStore { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"");
}

#[test]
fn a_newer_store_is_not_checked() {
    let fixture = store();
    run(&fixture, "PRAGMA user_version = 1000");
    assert!(matches!(check(&fixture.path(), &mut |_| ()), Err(Error::NewerDatabase { version: 1000, .. })));
}

#[test]
fn the_progress_comes_to_every_part() {
    let fixture = store();
    let mut steps = Vec::new();
    check(&fixture.path(), &mut |step| steps.push(step)).unwrap();
    let expected = [
        CheckProgress::Database,
        CheckProgress::Files { done: 0, of: 7 },
        CheckProgress::Manifests { done: 0, of: 2 },
        CheckProgress::Manifests { done: 1, of: 2 },
    ];
    assert_eq!(steps, expected);
}

#[test]
fn findings_beyond_the_limit_are_counted() {
    for (rows, listed) in [(MAX_FINDINGS, MAX_FINDINGS), (MAX_FINDINGS + 1, MAX_FINDINGS)] {
        let fixture = store();
        let many = format!(
            "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT {rows})
             INSERT INTO leaf_set (table_id, hash, leaves) SELECT 1, n, x'' FROM n"
        );
        run(&fixture, &many);
        let report = check_quietly(&fixture);
        assert_eq!((report.findings.len(), report.findings_total), (listed, rows as u64));
    }
}

/// A statement, and below it, indented, what is found after it.
const DAMAGES: &str = include_str!("damages.txt");

#[test]
fn every_kind_of_fault_is_found() {
    let mut lines = DAMAGES.lines().peekable();
    while let Some(sql) = lines.next() {
        let expected: Vec<&str> = std::iter::from_fn(|| lines.next_if(|line| line.starts_with(' '))).collect();
        assert!(!expected.is_empty(), "{sql}");
        let found: Vec<String> = found_after(sql).iter().map(|finding| format!("    {finding}")).collect();
        assert_eq!(found, expected, "{sql}");
    }
}
