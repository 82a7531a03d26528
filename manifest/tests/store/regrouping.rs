//! Grouping anew: fewer manifests, or ones that overlap less, and the same snapshots.

use std::collections::BTreeSet;

use prunus_manifest::{
    Error, GrowingEntry, JournalDetail, JournalEntry, JournalFilter, ManifestId, SnapshotId, TableLayout,
};

use crate::fixture::{Fixture, statistics_of};

/// Each manifest of two files begins with one of the first letters and ends with one of the last.
fn overlapping(manifests: u8) -> Fixture {
    let fixture = Fixture::with_target(2);
    for number in 0..manifests {
        let (first, last) = (char::from(b'a' + number), char::from(b'z' - number));
        fixture.append(&[&first.to_string(), &last.to_string()]);
        fixture.store().wait_for_maintenance().unwrap();
    }
    fixture
}

fn layout(fixture: &Fixture) -> TableLayout {
    fixture.store().load_layout(fixture.table_id(), &fixture.table.cluster_by).unwrap()
}

/// The first letters of the files of each manifest, in the order of their ranges.
fn letters(fixture: &Fixture) -> BTreeSet<String> {
    let read = fixture.store().read(|tx| {
        let mut all = BTreeSet::new();
        for manifest in tx.list_manifests(fixture.table_id())? {
            let entries = tx.load_entry_block(&manifest)?;
            let ids: Vec<_> = entries.file_ids().values().iter().map(|id| prunus_manifest::FileId(*id)).collect();
            let files = tx.load_data_files(&ids)?;
            assert!(files.iter().all(|file| file.manifest_id == Some(manifest.manifest_id)));
            all.insert(files.into_iter().map(|file| file.path).collect::<String>());
        }
        Ok::<_, Error>(all)
    });
    read.unwrap()
}

#[test]
fn a_few_overlapping_manifests_are_let_be() {
    let fixture = overlapping(4);
    assert_eq!(letters(&fixture), ["az", "by", "cx", "dw"].map(str::to_owned).into());
    assert_eq!(layout(&fixture), TableLayout { manifests: 4, tail_files: 0, overlap: Some(4) });
}

#[test]
fn many_overlapping_manifests_are_grouped_anew_behind_the_commits() {
    let fixture = overlapping(6);
    let TableLayout { manifests, overlap, .. } = layout(&fixture);
    assert_eq!(manifests, 6);
    assert!(overlap.unwrap() <= 4, "{overlap:?}");
}

#[test]
fn a_request_leaves_no_overlap_that_need_not_be() {
    let fixture = overlapping(4);
    let done = fixture.store().regroup(fixture.table_id()).unwrap();
    assert_eq!((done.before.overlap, done.entries_moved), (Some(4), 8));
    // The bounds of a file reach ten letters further.
    assert_eq!(letters(&fixture), ["ab", "cd", "wx", "yz"].map(str::to_owned).into());
    assert_eq!(layout(&fixture), done.after);
}

#[test]
fn a_request_is_told_to_the_journal_once_and_only_if_it_moves_something() {
    let fixture = overlapping(4);
    let entry = JournalEntry {
        at_ms: 5,
        principal: "ann".to_owned(),
        request_id: "r".to_owned(),
        operation: "regroup_manifests".into(),
        namespace: Some("sales".to_owned()),
        table: Some("orders".to_owned()),
        from_snapshot: None,
        to_snapshot: None,
        detail: JournalDetail::new(),
    };
    let mut moved = Vec::new();
    for _ in 0..2 {
        let growing = GrowingEntry::new(entry.clone());
        moved.push(fixture.store().regroup_for(fixture.table_id(), growing).unwrap().entries_moved);
    }
    assert_eq!(moved, [8, 0]);
    let page = fixture.store().read(|tx| tx.list_journal(&JournalFilter::default(), None, 10)).unwrap();
    let told: Vec<_> = page.rows.into_iter().map(|row| row.entry).collect();
    let detail = JournalDetail::from_iter([("entries_moved".to_owned(), 8.into())]);
    assert_eq!(told, [JournalEntry { detail, ..entry }]);
}

#[test]
fn another_order_is_looked_at_before_it_is_taken() {
    let fixture = overlapping(2);
    let by_none = fixture.store().load_layout(fixture.table_id(), &[]).unwrap();
    assert_eq!((by_none.manifests, by_none.overlap), (2, None));
    let by_name = [crate::fixture::NAME.field_id];
    fixture.store().write(move |tx| tx.set_cluster_by(prunus_manifest::TableId(1), &by_name)).unwrap();
    let table = fixture.store().read(|tx| tx.load_table("sales", "orders")).unwrap();
    assert_eq!(table.cluster_by, by_name);
}

#[test]
fn small_manifests_become_fewer() {
    let mut fixture = Fixture::with_target(2);
    fixture.append(&["a", "b", "c", "d", "e", "f", "g"]);
    fixture.store().wait_for_maintenance().unwrap();
    fixture.reopen_with_target(6);
    let done = fixture.store().regroup(fixture.table_id()).unwrap();
    assert_eq!((done.before.manifests, done.after.manifests, done.after.tail_files), (3, 1, 1));
    assert_eq!(letters(&fixture), ["abcdef".to_owned()].into());
}

#[test]
fn files_that_overlap_themselves_are_let_be() {
    let fixture = Fixture::with_target(1);
    fixture.append(&["a1", "a2", "a3", "a4", "a5", "a6", "a7"]);
    fixture.store().wait_for_maintenance().unwrap();
    let ids = |fixture: &Fixture| -> Vec<ManifestId> {
        let manifests = fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap();
        manifests.iter().map(|manifest| manifest.manifest_id).collect()
    };
    let before = ids(&fixture);
    let done = fixture.store().regroup(fixture.table_id()).unwrap();
    assert_eq!((done.entries_moved, done.after.overlap), (0, Some(7)));
    assert_eq!(ids(&fixture), before);
}

#[test]
fn removals_go_along() {
    let fixture = overlapping(4);
    fixture.delete(&["a", "x"]);
    fixture.store().regroup(fixture.table_id()).unwrap();
    fixture.delete(&["c"]);
    let removed = fixture.store().read(|tx| {
        let manifests = tx.list_manifests(fixture.table_id())?;
        let mut removed = Vec::new();
        for manifest in &manifests {
            let removals = tx.list_removals(manifest.manifest_id)?;
            assert_eq!(manifest.removed.files, removals.len() as u64);
            removed.extend(removals.iter().map(|removal| removal.removed_snapshot));
        }
        Ok::<_, Error>(removed)
    });
    let mut removed = removed.unwrap();
    removed.sort_unstable();
    assert_eq!(removed, [5, 5, 6].map(SnapshotId));
    assert_eq!(fixture.live_paths(SnapshotId(4)).len(), 8);
    assert_eq!(fixture.live_paths(SnapshotId(6)).len(), 5);
}

#[test]
fn statistics_go_along() {
    let fixture = overlapping(4);
    fixture.store().regroup(fixture.table_id()).unwrap();
    for row in fixture.live_files(SnapshotId(4)) {
        let read = fixture.store().read(|tx| tx.load_file_statistics(row.file_id)).unwrap();
        assert_eq!(read, statistics_of(&row.path));
    }
}

#[test]
fn a_dropped_table_has_no_layout() {
    let fixture = overlapping(1);
    let table_id = fixture.table_id();
    fixture.store().write(|tx| tx.drop_table("sales", "orders")).unwrap();
    assert!(matches!(fixture.store().regroup(table_id), Err(Error::TableGone(_))));
}
