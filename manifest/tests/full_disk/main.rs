//! A disk that is full, or that cannot be written: commits are refused, what was acknowledged stays, and the store goes on when
//! it can.
//!
//! The disk is a small file system in memory, mounted where only a child of the test sees it. Where that is not allowed the test
//! says so and passes, unless `PRUNUS_REQUIRE_MOUNTS` is set.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

#[expect(dead_code, reason = "these tests need a part of it")]
#[path = "../store/fixture.rs"]
mod fixture;

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use fixture::{Fixture, file};
use prunus_manifest::{Error, Existing, Operation, SnapshotId, Store, backup, check, restore};

/// Where the child finds its file system; the test's own process has no such variable.
const DISK: &str = "PRUNUS_TEST_DISK";

const DISK_BYTES: &str = "size=4m";

/// Mounts the disk and becomes the test again, which then finds it.
const MOUNT_AND_RUN: &str = r#"mount -t tmpfs -o "$1" tmpfs "$2" && exec "$3" --exact "$4" --nocapture"#;

/// What is deleted to make room: enough for a log in which most of the store is written anew.
const BALLAST_BYTES: usize = 2 << 20;

const FILES_PER_COMMIT: usize = 5;

/// Runs a test on a small disk.
fn on_a_small_disk(name: &str, test: fn(&Path)) {
    if let Some(disk) = std::env::var_os(DISK) {
        return test(Path::new(&disk));
    }
    let disk = tempfile::tempdir().unwrap();
    let in_namespace = |command: &[&str]| {
        let mut child = Command::new("unshare");
        child.args(["--map-root-user", "--mount"]).args(command).env(DISK, disk.path()).env("TMPDIR", disk.path());
        child
    };
    let folder = disk.path().to_str().unwrap();
    let probe = in_namespace(&["mount", "-t", "tmpfs", "tmpfs", folder]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("PRUNUS_REQUIRE_MOUNTS").is_none(), "no file system can be mounted");
        eprintln!("skipped: no file system can be mounted");
        return;
    }
    let itself = std::env::current_exe().unwrap();
    let run = ["sh", "-c", MOUNT_AND_RUN, "sh", DISK_BYTES, folder, itself.to_str().unwrap(), name];
    let output = in_namespace(&run).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// The store's files are made in the temporary folder, which is the disk.
fn store() -> Fixture {
    Fixture::with_target(8)
}

fn ballast(disk: &Path) -> PathBuf {
    disk.join("ballast")
}

fn paths_of(snapshot: i64) -> Vec<String> {
    (0..FILES_PER_COMMIT).map(|number| format!("{snapshot:06}/{number}")).collect()
}

fn append(fixture: &Fixture, snapshot: i64) -> Result<SnapshotId, Error> {
    let files = paths_of(snapshot).iter().map(|path| file(path)).collect();
    fixture.commit(fixture.change(Operation::Append, files, &[])).map(|committed| committed.snapshot_id)
}

/// Commits until the disk is full; says which snapshot was acknowledged last.
fn fill(fixture: &Fixture, first: i64) -> i64 {
    for snapshot in first.. {
        match append(fixture, snapshot) {
            Ok(acknowledged) => assert_eq!(acknowledged, SnapshotId(snapshot)),
            Err(error) => {
                assert!(is_about_the_disk(&error) && error.is_out_of_room(), "{error:?}");
                return snapshot - 1;
            }
        }
    }
    panic!("the disk does not fill")
}

fn is_about_the_disk(error: &Error) -> bool {
    let error = match error {
        Error::NotCommitted(error) => error,
        Error::Sqlite(error) => error,
        _ => return false,
    };
    let code = error.sqlite_error_code();
    matches!(code, Some(rusqlite::ErrorCode::DiskFull | rusqlite::ErrorCode::SystemIoFailure))
        || error.to_string().contains("the disk is full")
}

/// Every acknowledged commit is there whole, and no other.
fn assert_holds(fixture: &Fixture, snapshots: i64) {
    let table = fixture.store().read(|tx| tx.load_table("sales", "orders")).unwrap();
    assert_eq!(table.current_snapshot, SnapshotId(snapshots));
    let expected: Vec<String> = (1..=snapshots).flat_map(paths_of).collect();
    let mut paths = fixture.live_paths(SnapshotId(snapshots));
    paths.sort();
    assert_eq!(paths, expected);
}

fn assert_sound(path: &Path) {
    let report = check(path, &mut |_| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn a_store_outlives_a_full_disk() {
    on_a_small_disk("a_store_outlives_a_full_disk", |disk| {
        std::fs::write(ballast(disk), vec![1; BALLAST_BYTES]).unwrap();
        let mut fixture = store();
        let mut acknowledged = 0;
        // Reading goes on; and where something was rolled back or grouped anew, so may writing.
        for _ in 0..5 {
            acknowledged = fill(&fixture, acknowledged + 1);
            assert_holds(&fixture, acknowledged);
        }
        assert!(acknowledged > 10, "only {acknowledged} commits fit");
        std::fs::remove_file(ballast(disk)).unwrap();
        let more = fill(&fixture, acknowledged + 1);
        assert!(more > acknowledged);
        assert_holds(&fixture, more);
        fixture.close();
        assert_sound(&fixture.path());
    });
}

#[test]
fn a_store_that_was_closed_on_a_full_disk_opens_when_there_is_room() {
    on_a_small_disk("a_store_that_was_closed_on_a_full_disk_opens_when_there_is_room", |disk| {
        std::fs::write(ballast(disk), vec![1; BALLAST_BYTES]).unwrap();
        let mut fixture = store();
        let acknowledged = fill(&fixture, 1);
        // The rest of it, to the last byte.
        let mut rest = std::fs::OpenOptions::new().append(true).open(ballast(disk)).unwrap();
        while rest.write_all(&[1; 512]).is_ok() {}
        drop(rest);
        fixture.close();
        std::fs::remove_file(ballast(disk)).unwrap();
        assert_sound(&fixture.path());
        fixture.reopen();
        fixture.store().wait_for_maintenance().unwrap();
        assert_holds(&fixture, acknowledged);
        append(&fixture, acknowledged + 1).unwrap();
        fixture.close();
        assert_sound(&fixture.path());
    });
}

#[test]
fn a_tail_that_finds_no_room_is_sealed_when_there_is_some() {
    on_a_small_disk("a_tail_that_finds_no_room_is_sealed_when_there_is_some", |disk| {
        std::fs::write(ballast(disk), vec![1; BALLAST_BYTES]).unwrap();
        let mut fixture = Fixture::with_target(100_000);
        let acknowledged = fill(&fixture, 1);
        fixture.reopen_with_target(8);
        let sealed = fixture.store().wait_for_maintenance();
        let Err(Error::NotMaintained { source, .. }) = sealed else { panic!("{sealed:?}") };
        assert!(is_about_the_disk(&source), "{source:?}");
        assert_holds(&fixture, acknowledged);
        std::fs::remove_file(ballast(disk)).unwrap();
        fixture.store().wait_for_maintenance().unwrap();
        assert_holds(&fixture, acknowledged);
        fixture.close();
        assert_sound(&fixture.path());
    });
}

#[test]
fn a_backup_that_finds_no_room_is_none() {
    on_a_small_disk("a_backup_that_finds_no_room_is_none", |disk| {
        let fixture = store();
        let acknowledged = fill(&fixture, 1);
        let to = disk.join("backup.db");
        assert!(is_about_the_disk(&backup(&fixture.path(), &to).unwrap_err()));
        let files = disk.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(!files.into_iter().any(|name| name.starts_with("backup")));
        assert_holds(&fixture, acknowledged);
    });
}

#[test]
fn a_restore_that_finds_no_room_leaves_the_store() {
    on_a_small_disk("a_restore_that_finds_no_room_leaves_the_store", |disk| {
        let mut fixture = store();
        append(&fixture, 1).unwrap();
        let from = disk.join("backup.db");
        backup(&fixture.path(), &from).unwrap();
        let acknowledged = fill(&fixture, 2);
        fixture.close();
        assert!(is_about_the_disk(&restore(&fixture.path(), &from, Existing::MoveAside).unwrap_err()));
        fixture.reopen();
        assert_holds(&fixture, acknowledged);
        assert_eq!(std::fs::metadata(fixture.path().with_extension("db.restoring")).unwrap().len(), 0);
    });
}

fn remount(disk: &Path, mode: &str) {
    let status = Command::new("mount").args(["-o", &format!("remount,{mode}")]).arg(disk).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_disk_that_cannot_be_written_is_named_and_the_store_stays() {
    on_a_small_disk("a_disk_that_cannot_be_written_is_named_and_the_store_stays", |disk| {
        let mut fixture = store();
        append(&fixture, 1).unwrap();
        fixture.close();
        remount(disk, "ro");
        let Err(Error::LockFile { source, .. }) = Store::open(&fixture.path()) else { panic!("it opened") };
        assert_eq!(source.kind(), ErrorKind::ReadOnlyFilesystem);
        remount(disk, "rw");
        assert_sound(&fixture.path());
        fixture.reopen();
        assert_holds(&fixture, 1);
        append(&fixture, 2).unwrap();
    });
}
