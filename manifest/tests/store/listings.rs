//! Snapshots and files as they are listed.

use prunus_manifest::{Error, FileId, NewCommit, NewDataFile, Operation, SnapshotId};

use crate::fixture::{Fixture, file, statistics_of};

fn snapshot_at(fixture: &Fixture, time_ms: i64) -> Option<i64> {
    let snapshot = fixture.store().read(|tx| tx.get_snapshot_at(fixture.table_id(), time_ms)).unwrap();
    snapshot.map(|snapshot| snapshot.snapshot_id.0)
}

#[test]
fn a_time_names_the_newest_snapshot_at_or_before_it() {
    let fixture = Fixture::new();
    for (path, committed_at_ms) in [("a", 100), ("b", 200), ("c", 200), ("d", 300)] {
        let change = fixture.change(Operation::Append, vec![file(path)], &[]);
        fixture.commit(NewCommit { committed_at_ms, ..change }).unwrap();
    }
    for (time_ms, expected) in [(99, None), (100, Some(1)), (199, Some(1)), (200, Some(3)), (i64::MAX, Some(4))] {
        assert_eq!(snapshot_at(&fixture, time_ms), expected, "{time_ms}");
    }
}

#[test]
fn snapshots_are_listed_newest_first_in_pages() {
    let fixture = Fixture::new();
    for path in ["a", "b", "c"] {
        fixture.append(&[path]);
    }
    let page = |before| {
        let page = fixture.store().read(|tx| tx.list_snapshots(fixture.table_id(), before, 2)).unwrap();
        page.into_iter().map(|snapshot| snapshot.snapshot_id.0).collect::<Vec<_>>()
    };
    assert_eq!(page(None), [3, 2]);
    assert_eq!(page(Some(SnapshotId(2))), [1]);
}

#[test]
fn the_empty_table_has_no_snapshot() {
    let fixture = Fixture::new();
    let load = |id| fixture.store().read(|tx| tx.load_snapshot(fixture.table_id(), id));
    assert!(matches!(load(SnapshotId::EMPTY), Err(Error::SnapshotNotFound { .. })));
}

#[test]
fn a_file_is_read_as_it_was_added() {
    let fixture = Fixture::new();
    let new = NewDataFile { row_count: None, last_modified_ms: None, ..file("a") };
    fixture.commit(fixture.change(Operation::Append, vec![new.clone()], &[])).unwrap();
    let read = fixture.live_files(SnapshotId(1)).remove(0);
    assert_eq!(
        (read.path, read.size_bytes, read.row_count, read.etag, read.last_modified_ms),
        (new.path, new.size_bytes, new.row_count, new.etag, new.last_modified_ms)
    );
    assert_eq!((read.leaves.to_vec(), read.partition), (new.leaves, new.partition));
    assert_eq!((read.added_snapshot, read.removed_snapshot, read.manifest_id), (SnapshotId(1), None, None));
}

#[test]
fn files_are_read_in_the_order_asked_for() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b", "c"]);
    let ids: Vec<FileId> = fixture.live_files(SnapshotId(1)).iter().map(|file| file.file_id).rev().collect();
    let files = fixture.store().read(|tx| tx.load_data_files(&ids)).unwrap();
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["c", "b", "a"]);
}

#[test]
fn an_unknown_file_is_named() {
    let fixture = Fixture::new();
    let answer = fixture.store().read(|tx| tx.load_data_files(&[FileId(77)]));
    assert!(matches!(answer, Err(Error::FileNotFound(FileId(77)))));
}

#[test]
fn columns_are_the_rows() {
    let fixture = Fixture::new();
    let new = |path| NewDataFile { row_count: None, etag: None, last_modified_ms: None, ..file(path) };
    fixture.commit(fixture.change(Operation::Append, vec![file("a"), new("b"), file("c")], &[])).unwrap();
    fixture.append(&["d", "e", "f", "g", "h", "i"]);
    fixture.delete(&["c", "e"]);
    let all: Vec<FileId> = fixture.live_files(SnapshotId(2)).iter().map(|file| file.file_id).collect();
    // Neighbours, steps of each width, the same one twice, and back.
    for places in [vec![], vec![4], vec![0, 1, 2, 3], vec![0, 4], vec![0, 5], vec![1, 4, 8], vec![2, 2, 3, 0, 8]] {
        let ids: Vec<FileId> = places.into_iter().map(|place: usize| all[place]).collect();
        let (rows, columns) = fixture
            .store()
            .read(|tx| Ok::<_, Error>((tx.load_data_files(&ids)?, tx.load_data_file_columns(&ids)?)))
            .unwrap();
        assert_eq!(rows.iter().map(|row| row.file_id).collect::<Vec<_>>(), ids);
        assert_eq!((0..).map_while(|index| columns.row(index)).collect::<Vec<_>>(), rows);
        assert_eq!((columns.len(), columns.is_empty()), (ids.len(), ids.is_empty()));
    }
}

#[test]
fn an_unknown_file_among_others_is_named() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b"]);
    let known: Vec<FileId> = fixture.live_files(SnapshotId(1)).iter().map(|file| file.file_id).collect();
    for unknown in [FileId(known[0].0 - 1), FileId(known[1].0 + 1), FileId(known[1].0 + 100)] {
        let mut ids = vec![known[0], known[1], unknown];
        ids.sort_unstable();
        let answer = fixture.store().read(|tx| tx.load_data_file_columns(&ids));
        assert!(matches!(answer, Err(Error::FileNotFound(named)) if named == unknown), "{unknown}");
    }
}

#[test]
fn ids_are_listed_as_their_files_are() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b", "c", "d"]);
    fixture.delete(&["b"]);
    for (snapshot, after, limit) in [(1, None, 10), (2, None, 10), (2, None, 2), (1, Some(2), 2), (2, Some(1), 1)] {
        let (snapshot, after) = (SnapshotId(snapshot), after.map(FileId));
        let read = |tx: &prunus_manifest::ReadTransaction<'_>| {
            let files = tx.list_live_files(fixture.table_id(), snapshot, after, limit)?;
            let ids = tx.list_live_file_ids(fixture.table_id(), snapshot, after, limit)?;
            Ok::<_, Error>((files.iter().map(|file| file.file_id).collect::<Vec<_>>(), ids))
        };
        let (of_files, ids) = fixture.store().read(read).unwrap();
        assert_eq!(ids, of_files);
        assert!(!ids.is_empty());
    }
}

#[test]
fn live_files_are_listed_in_pages() {
    let fixture = Fixture::new();
    fixture.append(&["a", "b", "c"]);
    fixture.delete(&["b"]);
    let page = |snapshot, after| {
        let read = fixture.store().read(|tx| tx.list_live_files(fixture.table_id(), snapshot, after, 2));
        read.unwrap().into_iter().map(|file| (file.file_id, file.path)).collect::<Vec<_>>()
    };
    let first = page(SnapshotId(1), None);
    assert_eq!(first.iter().map(|(_, path)| path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(page(SnapshotId(1), Some(first[1].0))[0].1, "c");
    assert_eq!(page(SnapshotId(2), Some(first[0].0))[0].1, "c");
}

#[test]
fn a_path_names_its_file_of_that_snapshot() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    fixture.delete(&["a"]);
    fixture.append(&["a"]);
    let added = |snapshot| {
        let file = fixture.store().read(|tx| tx.get_live_file(fixture.table_id(), SnapshotId(snapshot), "a")).unwrap();
        file.map(|file| file.added_snapshot.0)
    };
    assert_eq!([added(0), added(1), added(2), added(3)], [None, Some(1), None, Some(3)]);
}

#[test]
fn files_are_listed_with_their_statistics_wherever_these_stand() {
    let fixture = Fixture::with_target(2);
    // The order of manifests is another one than that of ids.
    fixture.append(&["d", "a", "c", "b", "e"]);
    fixture.store().wait_for_maintenance().unwrap();
    let rows = fixture.live_files(SnapshotId(1));
    let page = |from, limit| {
        let table_id = fixture.table_id();
        fixture.store().read(|tx| tx.list_inspected_files(table_id, SnapshotId(1), FileId(from), limit)).unwrap()
    };
    for (from, limit, expected) in [(0, 2, 0..2), (1, 2, 0..2), (3, 2, 2..4), (5, 2, 4..5), (6, 2, 5..5), (0, 0, 0..0)]
    {
        let listed = page(from, limit);
        assert!(listed.iter().all(|file| file.statistics == statistics_of(&file.row.path)));
        let listed: Vec<_> = listed.into_iter().map(|file| file.row).collect();
        assert_eq!(listed, rows[expected], "from {from}");
    }
}

#[test]
fn files_of_an_expired_snapshot_are_listed_as_far_as_they_are_needed() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b", "c"]);
    fixture.delete(&["a", "c"]);
    fixture.expire(&fixture.expiry(1));
    let paths: Vec<_> = fixture.inspect(SnapshotId(1)).into_iter().map(|file| file.row.path).collect();
    assert_eq!(paths, ["b"]);
}
