//! What a commit checks and what it records.

use prunus_manifest::{
    Conflict, ConflictReason, Error, FileLeaf, NewCommit, NewDataFile, Operation, SchemaId, SnapshotId, Totals,
};

use crate::fixture::{Fixture, file};

fn conflicts(fixture: &Fixture, commit: NewCommit) -> Vec<Conflict> {
    match fixture.commit(commit) {
        Err(Error::Conflict { conflicts, .. }) => conflicts,
        other => panic!("{other:?}"),
    }
}

fn check_conflict(fixture: &Fixture, commit: NewCommit, path: &str, reason: ConflictReason) {
    assert_eq!(conflicts(fixture, commit), [Conflict { path: path.to_owned(), reason }]);
}

fn append(fixture: &Fixture, files: Vec<NewDataFile>) -> NewCommit {
    fixture.change(Operation::Append, files, &[])
}

#[test]
fn a_live_path_is_not_added_again() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    check_conflict(&fixture, append(&fixture, vec![file("a")]), "a", ConflictReason::AlreadyLive);
}

#[test]
fn a_path_is_added_once_per_commit() {
    let fixture = Fixture::new();
    check_conflict(&fixture, append(&fixture, vec![file("a"), file("a")]), "a", ConflictReason::NamedTwice);
}

#[test]
fn a_path_is_not_both_added_and_removed() {
    let fixture = Fixture::new();
    let both = fixture.change(Operation::Overwrite, vec![file("a")], &["a"]);
    check_conflict(&fixture, both, "a", ConflictReason::NamedTwice);
}

#[test]
fn a_path_that_is_not_live_is_not_removed() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.delete(&["a"]);
    let again = fixture.change(Operation::Delete, vec![], &["a"]);
    check_conflict(&fixture, again, "a", ConflictReason::NotLive);
}

#[test]
fn a_path_that_is_newer_than_the_base_is_not_removed() {
    let fixture = Fixture::new();
    let base = fixture.append(&["a"]).snapshot_id;
    fixture.append(&["b"]);
    let delete = |path| NewCommit { base_snapshot: Some(base), ..fixture.change(Operation::Delete, vec![], &[path]) };
    check_conflict(&fixture, delete("b"), "b", ConflictReason::NotLiveAtBase);
    fixture.commit(delete("a")).unwrap();
}

#[test]
fn a_path_comes_back_with_the_same_content() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.delete(&["a"]);
    let committed = fixture.append(&["a"]);
    assert_eq!(fixture.live_paths(committed.snapshot_id), ["a"]);
    assert_eq!(fixture.live_paths(SnapshotId(2)), Vec::<String>::new());
    assert_ne!(fixture.live_files(SnapshotId(1))[0].file_id, fixture.live_files(SnapshotId(3))[0].file_id);
}

#[test]
fn a_path_does_not_come_back_with_other_content() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.delete(&["a"]);
    for changed in [
        NewDataFile { size_bytes: 101, ..file("a") },
        NewDataFile { etag: Some("other".to_owned()), ..file("a") },
        NewDataFile { etag: None, ..file("a") },
    ] {
        check_conflict(&fixture, append(&fixture, vec![changed]), "a", ConflictReason::ObjectChanged);
    }
}

#[test]
fn every_conflict_is_told() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b"]);
    let commit = fixture.change(Operation::Overwrite, vec![file("a"), file("c"), file("c")], &["d", "b"]);
    let told: Vec<_> =
        conflicts(&fixture, commit).into_iter().map(|conflict| (conflict.path, conflict.reason)).collect();
    assert_eq!(
        told,
        [
            ("a".to_owned(), ConflictReason::AlreadyLive),
            ("c".to_owned(), ConflictReason::NamedTwice),
            ("d".to_owned(), ConflictReason::NotLive)
        ]
    );
}

#[test]
fn a_refused_commit_changes_nothing() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    conflicts(&fixture, fixture.change(Operation::Overwrite, vec![file("b")], &["z"]));
    let table = fixture.store().read(|tx| tx.load_table("sales", "orders")).unwrap();
    assert_eq!((table.current_snapshot, table.tail_files), (SnapshotId(1), 1));
    assert_eq!(fixture.live_paths(SnapshotId(1)), ["a"]);
}

#[test]
fn a_commit_for_another_schema_is_refused() {
    let fixture = Fixture::new();
    let commit = NewCommit { schema_id: SchemaId(2), ..append(&fixture, vec![file("a")]) };
    assert!(matches!(fixture.commit(commit), Err(Error::SchemaMoved { expected: SchemaId(2), current: SchemaId(1) })));
}

#[test]
fn a_base_that_is_no_snapshot_is_refused() {
    let fixture = Fixture::new();
    let commit = |base| NewCommit { base_snapshot: Some(base), ..append(&fixture, vec![file("a")]) };
    assert!(matches!(fixture.commit(commit(SnapshotId(7))), Err(Error::SnapshotNotFound { .. })));
    fixture.commit(commit(SnapshotId::EMPTY)).unwrap();
}

#[test]
fn a_commit_that_was_checked_up_to_an_older_snapshot_is_refused() {
    let fixture = Fixture::new();
    let base = fixture.append(&["a"]).snapshot_id;
    let head = fixture.append(&["b"]).snapshot_id;
    let checked = |checked_up_to| {
        let commit = append(&fixture, vec![file("c")]);
        fixture.store().write(move |tx| tx.check_commit(&commit, Some(checked_up_to))?.record())
    };
    let answer = checked(base);
    assert!(
        matches!(answer, Err(Error::HeadMoved { checked_up_to, current }) if (checked_up_to, current) == (base, head))
    );
    assert_eq!(checked(head).unwrap().snapshot_id, SnapshotId(3));
}

/// A file that has leaves of its own.
fn with_leaf(path: &str, leaf: &str) -> NewDataFile {
    NewDataFile {
        leaves: vec![FileLeaf {
            path: vec![leaf.to_owned()],
            field_id: None,
            column: None,
            file_type: None,
            group_ids: Vec::new(),
        }],
        ..file(path)
    }
}

#[test]
fn leaves_are_right_after_a_commit_that_stored_others_was_refused() {
    let fixture = Fixture::new();
    let first = append(&fixture, vec![with_leaf("a", "one")]);
    // Its leaves are stored, and then all of it is refused, so that the id of these leaves is free for the next ones.
    let refused = append(&fixture, vec![with_leaf("b", "two")]);
    let refusing = move |tx: &prunus_manifest::WriteTransaction<'_>| {
        tx.commit(&refused)?;
        tx.commit(&refused)
    };
    fixture.commit(first).unwrap();
    assert!(matches!(fixture.store().write(refusing), Err(Error::Conflict { .. })));
    fixture.commit(append(&fixture, vec![with_leaf("c", "three")])).unwrap();
    fixture.commit(append(&fixture, vec![with_leaf("d", "two")])).unwrap();
    let leaves = |file: &prunus_manifest::DataFileRow| file.leaves[0].path[0].clone();
    let files = fixture.live_files(SnapshotId(3));
    assert_eq!(files.iter().map(leaves).collect::<Vec<_>>(), ["one", "three", "two"]);
}

#[test]
fn a_commit_to_a_dropped_table_is_refused() {
    let fixture = Fixture::new();
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    assert!(matches!(fixture.commit(append(&fixture, vec![file("a")])), Err(Error::TableGone(_))));
}

#[test]
fn a_replace_keeps_the_rows() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b"]);
    let replace = |row_count| {
        fixture.commit(fixture.change(Operation::Replace, vec![NewDataFile { row_count, ..file("c") }], &["a", "b"]))
    };
    assert!(matches!(replace(Some(19)), Err(Error::RowSumsDiffer { added: 19, removed: 20 })));
    replace(Some(20)).unwrap();
}

#[test]
fn a_replace_with_unknown_rows_is_taken() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    let added = vec![NewDataFile { row_count: None, ..file("b") }];
    fixture.commit(fixture.change(Operation::Replace, added, &["a"])).unwrap();
}

#[test]
fn totals_count_what_is_live() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b"]);
    let unknown = NewDataFile { row_count: None, size_bytes: 7, ..file("c") };
    fixture.commit(append(&fixture, vec![unknown])).unwrap();
    let committed = fixture.delete(&["a"]);
    assert_eq!(committed.totals, Totals { files: 2, rows: 10, files_of_unknown_rows: 1, bytes: 107 });
    assert_eq!((committed.added_files, committed.removed_files, committed.tail_files), (0, 1, 3));
}

#[test]
fn totals_that_no_row_can_hold_are_refused() {
    let fixture = Fixture::new();
    for (size_bytes, row_count) in [(u64::MAX, None), (1, Some(u64::MAX)), (i64::MAX.cast_unsigned() + 1, None)] {
        let huge = NewDataFile { size_bytes, row_count, ..file("a") };
        assert!(matches!(fixture.commit(append(&fixture, vec![huge])), Err(Error::TotalsOverflow(_))));
    }
}

#[test]
fn a_clock_that_goes_back_does_not_reorder_snapshots() {
    let fixture = Fixture::new();
    let at = |path, committed_at_ms| NewCommit { committed_at_ms, ..append(&fixture, vec![file(path)]) };
    fixture.commit(at("a", 100)).unwrap();
    assert_eq!(fixture.commit(at("b", 50)).unwrap().committed_at_ms, 100);
    assert_eq!(fixture.commit(at("c", 200)).unwrap().committed_at_ms, 200);
}

#[test]
fn a_snapshot_records_its_commit() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    let summary = [("engine".to_owned(), "test".to_owned())].into();
    let commit = NewCommit { summary, ..fixture.change(Operation::Overwrite, vec![file("b"), file("c")], &["a"]) };
    let committed = fixture.commit(commit.clone()).unwrap();
    let snapshot = fixture.store().read(|tx| tx.load_snapshot(fixture.table_id(), SnapshotId(2))).unwrap();
    assert_eq!(snapshot.snapshot_id, committed.snapshot_id);
    assert_eq!((snapshot.parent, snapshot.operation), (SnapshotId(1), Operation::Overwrite));
    assert_eq!((snapshot.added_files, snapshot.removed_files, snapshot.schema_id), (2, 1, SchemaId(1)));
    assert_eq!((snapshot.totals, snapshot.summary), (committed.totals, commit.summary));
}
