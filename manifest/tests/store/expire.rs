//! Snapshots go, and with them the files that no other names.

use std::collections::BTreeSet;

use prunus_manifest::{Error, Expiry, MAX_GAPS_PER_STEP, NewDataFile, Operation, SnapshotId, WriteTransaction};

use crate::fixture::{Fixture, file, new_table};

/// Snapshots 1 to 5: `a` is live in 1 to 3, `b` in 2 and 3, `c` from 4 on, `d` in 5.
fn five_snapshots(target: u32) -> Fixture {
    let fixture = Fixture::with_target(target);
    fixture.commit_timed(&["a"], &[]);
    fixture.commit_timed(&["b"], &[]);
    fixture.commit_timed(&[], &[]);
    fixture.commit_timed(&["c"], &["a", "b"]);
    fixture.commit_timed(&["d"], &[]);
    fixture.store().wait_for_maintenance().unwrap();
    fixture
}

#[test]
fn all_but_the_newest_go() {
    for target in [100, 2, 1] {
        let fixture = five_snapshots(target);
        let expired = fixture.expire(&fixture.expiry(2));
        assert_eq!((expired.snapshots, expired.files), (vec![1, 2, 3], 2));
        assert_eq!(expired.removable, ["a", "b"]);
        assert_eq!(fixture.retained(), [4, 5]);
        assert_eq!(fixture.live_paths(SnapshotId(5)), ["c", "d"]);
    }
}

#[test]
fn those_that_are_not_old_enough_stay() {
    let fixture = five_snapshots(2);
    // The time of snapshot 3 is not before itself.
    let expiry = Expiry { older_than_ms: Some(1003), ..fixture.expiry(1) };
    let expired = fixture.expire(&expiry);
    assert_eq!((expired.snapshots, expired.files), (vec![1, 2], 0));
    assert_eq!(fixture.live_paths(SnapshotId(3)), ["a", "b"]);
}

#[test]
fn both_limits_must_let_a_snapshot_go() {
    let fixture = five_snapshots(2);
    let expiry = Expiry { older_than_ms: Some(i64::MAX), ..fixture.expiry(4) };
    assert_eq!(fixture.expire(&expiry).snapshots, [1]);
}

#[test]
fn the_newest_never_goes() {
    let fixture = five_snapshots(2);
    let expiry = Expiry { older_than_ms: Some(i64::MAX), ..fixture.expiry(1) };
    assert_eq!(fixture.expire(&expiry).snapshots, [1, 2, 3, 4]);
    assert_eq!(fixture.expire(&expiry).snapshots, Vec::<i64>::new());
}

#[test]
fn a_table_without_snapshots_has_nothing_to_expire() {
    let fixture = Fixture::new();
    assert_eq!(fixture.expire(&fixture.expiry(1)).snapshots, Vec::<i64>::new());
}

#[test]
fn fewer_snapshots_than_are_kept_all_stay() {
    let fixture = five_snapshots(2);
    for keep_last in [5, 6, u32::MAX] {
        assert_eq!(fixture.expire(&fixture.expiry(keep_last)).snapshots, Vec::<i64>::new());
    }
}

#[test]
fn a_tagged_snapshot_stays_with_its_files() {
    let fixture = five_snapshots(2);
    fixture.set_tag("t", 2).unwrap();
    let expired = fixture.expire(&fixture.expiry(1));
    assert_eq!((expired.snapshots, expired.files), (vec![1, 3, 4], 0));
    assert_eq!(fixture.live_paths(SnapshotId(2)), ["a", "b"]);
    let table_id = fixture.table_id();
    fixture.store().write(move |tx| tx.delete_tag(table_id, "t")).unwrap();
    let expired = fixture.expire(&fixture.expiry(1));
    assert_eq!((expired.snapshots, expired.removable), (vec![2], vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn a_leased_snapshot_stays() {
    let fixture = five_snapshots(2);
    let expiry = Expiry { leased: BTreeSet::from([SnapshotId(1), SnapshotId(3)]), ..fixture.expiry(1) };
    assert_eq!(fixture.expire(&expiry).snapshots, [2, 4]);
    assert_eq!(fixture.live_paths(SnapshotId(3)), ["a", "b"]);
}

#[test]
fn snapshots_go_oldest_first_up_to_the_limit() {
    let fixture = five_snapshots(2);
    let expiry = Expiry { leased: BTreeSet::from([SnapshotId(1)]), ..fixture.expiry(1) };
    let list = |limit| fixture.store().read(|tx| tx.list_expirable(&expiry, limit)).unwrap();
    let ids = |limit| list(limit).items.iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!((ids(2), list(2).more), (vec![2, 3], true));
    assert_eq!((ids(3), list(3).more), (vec![2, 3, 4], false));
}

#[test]
fn a_file_between_two_that_stay_is_forgotten() {
    let fixture = Fixture::with_target(2);
    fixture.commit_timed(&["a"], &[]);
    fixture.commit_timed(&["b"], &[]);
    fixture.commit_timed(&["c"], &["b"]);
    fixture.set_tag("t", 1).unwrap();
    assert_eq!(fixture.expire(&fixture.expiry(1)).removable, ["b"]);
    assert_eq!(fixture.live_paths(SnapshotId(1)), ["a"]);
    assert_eq!(fixture.live_paths(SnapshotId(3)), ["a", "c"]);
}

#[test]
fn what_was_left_is_found_by_a_later_call() {
    let fixture = five_snapshots(2);
    let expiry = fixture.expiry(1);
    // As if the process had ended here.
    fixture.store().write(move |tx| tx.expire_snapshots(&expiry, 100)).unwrap();
    let first = fixture.forget(1);
    assert_eq!((first.files, first.removable, first.more), (1, vec!["a".to_owned()], true));
    let expired = fixture.expire(&fixture.expiry(1));
    assert_eq!((expired.snapshots, expired.removable), (vec![], vec!["b".to_owned()]));
}

/// Each file but the last is live in one snapshot alone, and every other snapshot has a tag: so there is a gap for each of the
/// files between them.
fn with_gaps(count: usize) -> Fixture {
    let fixture = Fixture::with_target(2);
    fixture.commit_timed(&["0"], &[]);
    for number in 1..=2 * count {
        fixture.commit_timed(&[&number.to_string()], &[&(number - 1).to_string()]);
    }
    let table_id = fixture.table_id();
    let tag = move |tx: &WriteTransaction<'_>| {
        (0..=count).try_for_each(|number| {
            tx.set_tag(table_id, &number.to_string(), SnapshotId(i64::try_from(2 * number + 1).unwrap()), 0).map(drop)
        })
    };
    fixture.store().write(tag).unwrap();
    let expiry = fixture.expiry(1);
    fixture.store().write(move |tx| tx.expire_snapshots(&expiry, u32::MAX)).unwrap();
    fixture
}

#[test]
fn a_step_looks_into_gaps_up_to_the_limit() {
    for (gaps, expected) in [(MAX_GAPS_PER_STEP, MAX_GAPS_PER_STEP), (MAX_GAPS_PER_STEP + 1, MAX_GAPS_PER_STEP)] {
        let step = with_gaps(gaps).forget(u32::MAX);
        assert_eq!((step.done_gaps, step.files, step.more), (expected, expected as u64, false), "{gaps}");
    }
}

#[test]
fn a_step_says_in_which_gap_it_stopped() {
    let fixture = with_gaps(3);
    let table_id = fixture.table_id();
    let gaps = fixture.store().read(|tx| tx.list_gaps(table_id, &[])).unwrap();
    let first = fixture.forget(2);
    assert_eq!((first.files, first.done_gaps, first.more), (2, 2, true));
    let second = fixture.store().write(move |tx| tx.forget_files(table_id, &gaps[2..], 2)).unwrap();
    assert_eq!((second.files, second.done_gaps, second.more), (1, 1, false));
}

#[test]
fn a_path_that_is_still_named_is_not_removable() {
    let fixture = Fixture::with_target(2);
    fixture.commit_timed(&["a", "b"], &[]);
    fixture.commit_timed(&[], &["a", "b"]);
    fixture.commit_timed(&["a"], &[]);
    let expired = fixture.expire(&fixture.expiry(1));
    assert_eq!((expired.files, expired.removable), (2, vec!["b".to_owned()]));
}

#[test]
fn a_path_that_another_table_names_is_not_removable() {
    let fixture = five_snapshots(2);
    let other = fixture.store().write(|tx| tx.create_table(&new_table("other"))).unwrap();
    let mut commit = fixture.change(Operation::Append, vec![file("a")], &[]);
    commit.table_id = other.table_id;
    fixture.commit(commit).unwrap();
    assert_eq!(fixture.expire(&fixture.expiry(1)).removable, ["b"]);
}

#[test]
fn a_path_that_is_forgotten_may_come_back_with_other_content() {
    let fixture = five_snapshots(2);
    let other = || fixture.change(Operation::Append, vec![NewDataFile { size_bytes: 7, ..file("a") }], &[]);
    assert!(matches!(fixture.commit(other()), Err(Error::Conflict { .. })));
    fixture.expire(&fixture.expiry(1));
    assert!(fixture.commit(other()).is_ok());
}

#[test]
fn forgotten_entries_count_as_removed() {
    let fixture = Fixture::with_target(3);
    fixture.commit_timed(&["a", "b", "c"], &[]);
    fixture.commit_timed(&[], &["b"]);
    fixture.store().wait_for_maintenance().unwrap();
    let read = || {
        fixture.store().read(|tx| {
            let manifest = tx.list_manifests(fixture.table_id())?.remove(0);
            Ok::<_, Error>((tx.list_removals(manifest.manifest_id)?, tx.load_entry_block(&manifest)?, manifest))
        })
    };
    let before = read().unwrap();
    assert_eq!(fixture.expire(&fixture.expiry(1)).files, 1);
    fixture.commit_timed(&[], &["a"]);
    let (removals, entries, manifest) = read().unwrap();
    assert_eq!(entries, before.1);
    assert_eq!((before.0.len(), removals.len(), manifest.removed.files), (1, 2, 2));
    assert!(removals.contains(&before.0[0]) && removals.is_sorted_by_key(|removal| removal.file_id));
}

#[test]
fn a_manifest_that_is_forgotten_is_gone_with_its_blocks() {
    let fixture = Fixture::with_target(2);
    fixture.commit_timed(&["a", "b"], &[]);
    fixture.commit_timed(&["c"], &["a"]);
    fixture.commit_timed(&[], &["b"]);
    fixture.store().wait_for_maintenance().unwrap();
    let layout = fixture.load_table().layout_generation;
    // `b` is in 2: the manifest stays for it.
    fixture.set_tag("t", 2).unwrap();
    assert_eq!(fixture.expire(&fixture.expiry(1)).removable, ["a"]);
    assert_eq!(fixture.load_table().layout_generation, layout);
    assert_eq!(rows_of(&fixture, "forgotten_entry"), 1);
    let table_id = fixture.table_id();
    fixture.store().write(move |tx| tx.delete_tag(table_id, "t")).unwrap();
    assert_eq!(fixture.expire(&fixture.expiry(1)).removable, ["b"]);
    assert_eq!(fixture.store().read(|tx| tx.list_manifests(table_id)).unwrap(), []);
    assert_eq!(fixture.load_table().layout_generation, layout + 1);
    for table in ["entry_block", "column_block", "column_detail", "manifest_zone", "forgotten_entry"] {
        assert_eq!(rows_of(&fixture, table), 0, "{table}");
    }
}

#[test]
fn files_of_the_tail_leave_it_with_their_statistics() {
    let fixture = five_snapshots(100);
    let before = fixture.load_table();
    fixture.expire(&fixture.expiry(1));
    let after = fixture.load_table();
    assert_eq!((before.tail_files, after.tail_files), (4, 2));
    assert!(after.layout_generation > before.layout_generation);
    assert_eq!(fixture.store().read(|tx| tx.list_tail(fixture.table_id())).unwrap().len(), 2);
    assert_eq!(rows_of(&fixture, "tail_statistics"), 2);
}

#[test]
fn a_tail_is_sealed_as_usual_after_some_of_it_is_forgotten() {
    let fixture = five_snapshots(5);
    fixture.expire(&fixture.expiry(1));
    fixture.append(&["e", "f"]);
    fixture.store().wait_for_maintenance().unwrap();
    assert_eq!(fixture.load_table().tail_files, 4);
    fixture.append(&["g"]);
    fixture.store().wait_for_maintenance().unwrap();
    let manifests = fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap();
    assert_eq!((manifests[0].totals.files, manifests[0].removed.files), (5, 0));
}

fn rows_of(fixture: &Fixture, table: &str) -> i64 {
    let connection = rusqlite::Connection::open(fixture.path()).unwrap();
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

fn snapshot_at(fixture: &Fixture, time_ms: i64) -> Result<Option<i64>, Error> {
    let snapshot = fixture.store().read(|tx| tx.get_snapshot_at(fixture.table_id(), time_ms))?;
    Ok(snapshot.map(|snapshot| snapshot.snapshot_id.0))
}

#[test]
fn a_time_whose_snapshot_is_expired_names_none() {
    let fixture = five_snapshots(2);
    fixture.set_tag("t", 2).unwrap();
    fixture.expire(&fixture.expiry(2));
    assert_eq!(fixture.retained(), [2, 4, 5]);
    let is_expired = |time_ms| matches!(snapshot_at(&fixture, time_ms), Err(Error::SnapshotAtExpired { .. }));
    // Before the first that is left: the table may have been empty or not.
    assert!(is_expired(0) && is_expired(1001));
    // At the time of 2 and after it there may have been 3, which is not known any more.
    assert!(is_expired(1002) && is_expired(1003));
    assert_eq!(snapshot_at(&fixture, 1004).unwrap(), Some(4));
    assert_eq!(snapshot_at(&fixture, 9999).unwrap(), Some(5));
}

#[test]
fn a_time_before_the_first_snapshot_is_the_empty_table() {
    let fixture = five_snapshots(2);
    fixture.set_tag("t", 1).unwrap();
    fixture.expire(&fixture.expiry(1));
    assert_eq!(snapshot_at(&fixture, 1000).unwrap(), None);
    assert_eq!(snapshot_at(&Fixture::new(), 1000).unwrap(), None);
}

#[test]
fn a_manifest_that_lost_most_of_its_entries_is_grouped_anew() {
    let fixture = Fixture::with_target(4);
    fixture.commit_timed(&["a", "b", "c", "d"], &[]);
    fixture.commit_timed(&[], &["a", "b", "c"]);
    fixture.store().wait_for_maintenance().unwrap();
    fixture.expire(&fixture.expiry(1));
    fixture.store().wait_for_maintenance().unwrap();
    let manifests = fixture.store().read(|tx| tx.list_manifests(fixture.table_id())).unwrap();
    assert_eq!((manifests.len(), manifests[0].totals.files, manifests[0].removed.files), (1, 1, 0));
    assert_eq!(rows_of(&fixture, "forgotten_entry"), 0);
    assert_eq!(fixture.live_paths(SnapshotId(2)), ["d"]);
}
