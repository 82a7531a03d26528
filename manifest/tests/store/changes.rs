//! What differs between two snapshots.

use prunus_manifest::{ChangeKind, Error, SnapshotId};

use crate::fixture::Fixture;

/// The paths that are added and removed from one snapshot to another.
fn changes(fixture: &Fixture, from: i64, to: i64) -> (Vec<String>, Vec<String>) {
    let read = fixture.store().read(|tx| {
        let changes = tx.list_changes(fixture.table_id(), SnapshotId(from), SnapshotId(to))?;
        let ids: Vec<_> = changes.iter().map(|change| change.file_id).collect();
        assert!(ids.is_sorted());
        let kinds = changes.into_iter().map(|change| change.kind);
        Ok::<_, Error>(tx.load_data_files(&ids)?.into_iter().map(|file| file.path).zip(kinds).collect::<Vec<_>>())
    });
    let (added, removed): (Vec<_>, Vec<_>) =
        read.unwrap().into_iter().partition(|(_, kind)| *kind == ChangeKind::Added);
    let paths = |files: Vec<(String, _)>| files.into_iter().map(|(path, _)| path).collect();
    (paths(added), paths(removed))
}

fn owned(paths: [&[&str]; 2]) -> (Vec<String>, Vec<String>) {
    let [added, removed] = paths.map(|paths| paths.iter().map(ToString::to_string).collect());
    (added, removed)
}

/// Snapshots: 1 has a b c, 2 has a c d, 3 has c d e, 4 has b c d e.
fn four_snapshots(target: u32) -> Fixture {
    let fixture = Fixture::with_target(target);
    fixture.commit_timed(&["a", "b", "c"], &[]);
    fixture.commit_timed(&["d"], &["b"]);
    fixture.commit_timed(&["e"], &["a"]);
    fixture.commit_timed(&["b"], &[]);
    fixture.store().wait_for_maintenance().unwrap();
    fixture
}

#[test]
fn changes_are_the_same_in_the_tail_and_in_manifests() {
    // None sealed, some sealed, all sealed.
    for target in [100, 4, 3, 2, 1] {
        let fixture = four_snapshots(target);
        assert_eq!(changes(&fixture, 1, 2), owned([&["d"], &["b"]]), "{target}");
        assert_eq!(changes(&fixture, 1, 3), owned([&["d", "e"], &["a", "b"]]), "{target}");
        assert_eq!(changes(&fixture, 2, 4), owned([&["e", "b"], &["a"]]), "{target}");
    }
}

#[test]
fn changes_backwards_are_the_reverse() {
    for target in [100, 2] {
        let fixture = four_snapshots(target);
        for (from, to) in [(1, 3), (0, 4), (2, 3)] {
            let (added, removed) = changes(&fixture, from, to);
            assert_eq!(changes(&fixture, to, from), (removed, added), "{from} {to}");
        }
    }
}

#[test]
fn a_snapshot_does_not_differ_from_itself() {
    let fixture = four_snapshots(2);
    assert_eq!(changes(&fixture, 3, 3), owned([&[], &[]]));
    assert_eq!(changes(&fixture, 0, 0), owned([&[], &[]]));
}

#[test]
fn what_came_and_went_in_between_is_no_change() {
    let fixture = four_snapshots(2);
    assert_eq!(changes(&fixture, 0, 3), owned([&["c", "d", "e"], &[]]));
}

#[test]
fn a_path_that_went_and_came_back_is_another_file() {
    let fixture = four_snapshots(2);
    // In the order of the ids: the new `b` is the last.
    assert_eq!(changes(&fixture, 1, 4), owned([&["d", "e", "b"], &["a", "b"]]));
}

#[test]
fn a_snapshot_that_is_gone_has_no_changes() {
    let fixture = four_snapshots(2);
    fixture.expire(&fixture.expiry(1));
    let list =
        |from, to| fixture.store().read(|tx| tx.list_changes(fixture.table_id(), SnapshotId(from), SnapshotId(to)));
    for (from, to) in [(3, 4), (4, 3), (5, 4), (4, 5)] {
        assert!(matches!(list(from, to), Err(Error::SnapshotNotFound { .. })), "{from} {to}");
    }
    assert_eq!(changes(&fixture, 0, 4), owned([&["c", "d", "e", "b"], &[]]));
}
