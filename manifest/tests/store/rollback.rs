//! A table gets the content of an older snapshot.

use prunus_manifest::{DataFileRow, EncodedStatistics, Error, NewDataFile, Operation, ROLLED_BACK_TO, SnapshotId};
use prunus_statistics::FileStatistics;

use crate::fixture::{Fixture, file};

fn newest(fixture: &Fixture) -> Vec<DataFileRow> {
    fixture.live_files(fixture.load_table().current_snapshot)
}

fn sorted_paths(fixture: &Fixture) -> Vec<String> {
    let mut paths: Vec<String> = newest(fixture).into_iter().map(|file| file.path).collect();
    paths.sort();
    paths
}

#[test]
fn a_rollback_is_a_new_snapshot_with_the_old_content() {
    for target in [100, 2] {
        let fixture = Fixture::with_target(target);
        fixture.append(&["a", "b", "c"]);
        fixture.commit_timed(&["d"], &["b"]);
        fixture.store().wait_for_maintenance().unwrap();
        let committed = fixture.roll_back(1).unwrap();
        assert_eq!(
            (committed.snapshot_id, committed.added_files, committed.removed_files, committed.totals.files),
            (SnapshotId(3), 1, 1, 3)
        );
        assert_eq!(sorted_paths(&fixture), ["a", "b", "c"]);
        assert_eq!(fixture.live_paths(SnapshotId(2)), ["a", "c", "d"]);
    }
}

#[test]
fn a_rollback_says_what_it_is() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.append(&["b"]);
    fixture.roll_back(1).unwrap();
    let row = fixture.store().read(|tx| tx.load_snapshot(fixture.table_id(), SnapshotId(3))).unwrap();
    assert_eq!((row.operation, row.parent, row.committed_at_ms), (Operation::Overwrite, SnapshotId(2), 1003));
    assert_eq!(row.summary.get(ROLLED_BACK_TO).map(String::as_str), Some("1"));
}

#[test]
fn what_comes_back_is_as_it_was() {
    for target in [100, 3, 1] {
        let fixture = Fixture::with_target(target);
        let odd = NewDataFile { row_count: None, etag: None, last_modified_ms: None, ..file("odd") };
        let bare = NewDataFile {
            statistics: EncodedStatistics::new(&FileStatistics::default()).unwrap(),
            leaves: Vec::new(),
            ..file("bare")
        };
        let files = vec![file("a"), odd, bare, file("stays")];
        fixture.commit(fixture.change(Operation::Append, files.clone(), &[])).unwrap();
        fixture.store().wait_for_maintenance().unwrap();
        fixture.delete(&["a", "odd", "bare"]);
        fixture.roll_back(1).unwrap();
        for file in newest(&fixture) {
            let expected = files.iter().find(|new| new.path == file.path).unwrap();
            let statistics = fixture.store().read(|tx| tx.load_file_statistics(file.file_id)).unwrap();
            let read = NewDataFile {
                path: file.path,
                size_bytes: file.size_bytes,
                row_count: file.row_count,
                etag: file.etag,
                last_modified_ms: file.last_modified_ms,
                leaves: file.leaves.to_vec(),
                partition: file.partition,
                statistics: EncodedStatistics::new(&statistics).unwrap(),
            };
            // There is no comparing but by parts, and what prints the same is the same.
            assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{target}");
        }
    }
}

#[test]
fn what_comes_back_has_new_ids_and_what_stayed_keeps_its_own() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b"]);
    let before = newest(&fixture);
    fixture.delete(&["b"]);
    fixture.roll_back(1).unwrap();
    let after = newest(&fixture);
    assert_eq!(after[0].file_id, before[0].file_id);
    assert_eq!((after[1].path.as_str(), after[1].added_snapshot), ("b", SnapshotId(3)));
    assert!(after[1].file_id > before[1].file_id);
}

#[test]
fn a_table_is_rolled_back_to_the_empty_one() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b", "c"]);
    let committed = fixture.roll_back(0).unwrap();
    assert_eq!((committed.removed_files, committed.totals.files), (3, 0));
    assert_eq!(fixture.live_paths(SnapshotId(2)), Vec::<String>::new());
}

#[test]
fn a_rollback_to_the_content_that_is_there_makes_an_empty_snapshot() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b"]);
    fixture.append(&["c"]);
    for (target, expected) in [(2, 3), (1, 4), (1, 5), (4, 6)] {
        let committed = fixture.roll_back(target).unwrap();
        assert_eq!(committed.snapshot_id, SnapshotId(expected));
        let is_change = expected == 4;
        assert_eq!((committed.added_files, committed.removed_files), (0, is_change.into()), "{target}");
    }
    assert_eq!(sorted_paths(&fixture), ["a", "b"]);
}

#[test]
fn a_file_that_came_back_by_itself_stays() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b"]);
    fixture.delete(&["b"]);
    fixture.append(&["b"]);
    let committed = fixture.roll_back(1).unwrap();
    assert_eq!((committed.added_files, committed.removed_files), (0, 0));
}

#[test]
fn a_file_that_came_back_with_other_partition_values_is_replaced() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a"]);
    fixture.delete(&["a"]);
    let other = NewDataFile { partition: [(prunus_statistics::FieldId(9), None)].into(), ..file("a") };
    fixture.commit(fixture.change(Operation::Append, vec![other], &[])).unwrap();
    let committed = fixture.roll_back(1).unwrap();
    assert_eq!((committed.added_files, committed.removed_files), (1, 1));
    assert_eq!(newest(&fixture)[0].partition, file("a").partition);
}

#[test]
fn what_is_no_snapshot_is_no_target() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.append(&["b"]);
    fixture.expire(&fixture.expiry(1));
    for target in [1, 3, -1] {
        assert!(matches!(fixture.roll_back(target), Err(Error::SnapshotNotFound { .. })), "{target}");
    }
}

#[test]
fn a_tail_that_a_rollback_fills_is_sealed() {
    let fixture = Fixture::with_target(3);
    fixture.append(&["a", "b", "c"]);
    fixture.roll_back(0).unwrap();
    fixture.roll_back(1).unwrap();
    fixture.store().wait_for_maintenance().unwrap();
    assert_eq!(fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap().len(), 2);
    assert_eq!((fixture.load_table().tail_files, sorted_paths(&fixture).len()), (0, 3));
}

#[test]
fn a_rollback_whose_table_has_moved_is_refused() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.append(&["b"]);
    let prepared = fixture.prepare_rollback(1).unwrap();
    fixture.append(&["c"]);
    let answer = fixture.store().write(move |tx| tx.roll_back(&prepared));
    assert!(matches!(answer, Err(Error::HeadMoved { current: SnapshotId(3), .. })), "{answer:?}");
    assert_eq!(sorted_paths(&fixture), ["a", "b", "c"]);
}

#[test]
fn a_rollback_to_what_has_expired_meanwhile_is_refused() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.delete(&["a"]);
    let prepared = fixture.prepare_rollback(1).unwrap();
    fixture.expire(&fixture.expiry(1));
    let answer = fixture.store().write(move |tx| tx.roll_back(&prepared));
    assert!(matches!(answer, Err(Error::SnapshotNotFound { .. })), "{answer:?}");
}

#[test]
fn a_rollback_removes_what_was_sealed_meanwhile() {
    let mut fixture = Fixture::with_target(100);
    fixture.append(&["a"]);
    fixture.append(&["b"]);
    let prepared = fixture.prepare_rollback(1).unwrap();
    fixture.reopen_with_target(2);
    fixture.store().wait_for_maintenance().unwrap();
    fixture.store().write(move |tx| tx.roll_back(&prepared)).unwrap();
    let removed = fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap();
    assert_eq!(removed.iter().map(|manifest| manifest.removed.files).collect::<Vec<_>>(), [1]);
}
