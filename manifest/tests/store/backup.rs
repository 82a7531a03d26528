//! Backups of a store in use, and what restoring one makes of the store that is there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use prunus_manifest::{Error, Existing, Store, backup, check, restore};
use tempfile::TempDir;

use crate::fixture::{Fixture, new_table};

/// A folder with a backup that holds the files `a` and `b`, and room for a store beside it.
struct Restoring {
    folder: TempDir,
}

impl Restoring {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture::with_target(2);
        fixture.append(&["a", "b"]);
        backup(&fixture.path(), &folder.path().join("backup.db")).unwrap();
        Self { folder }
    }

    /// With a store in place that holds `old`, as a kill leaves it: in the log alone.
    fn with_old_store() -> Self {
        let restoring = Self::new();
        let fixture = Fixture::new();
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        rusqlite::Connection::open(fixture.path()).unwrap().query_row(checkpoint, [], |_| Ok(())).unwrap();
        fixture.append(&["old"]);
        for ending in ["", "-wal", "-shm"] {
            std::fs::copy(with(&fixture.path(), ending), with(&restoring.store(), ending)).unwrap();
        }
        restoring
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    fn backup(&self) -> PathBuf {
        self.folder.path().join("backup.db")
    }

    fn restore(&self, existing: Existing) -> Result<Option<PathBuf>, Error> {
        restore(&self.store(), &self.backup(), existing)
    }

    fn move_to(&self, ending: &str, to: &str) {
        std::fs::rename(with(&self.store(), ending), with(&self.store(), to)).unwrap();
    }

    fn copy_backup_to(&self, ending: &str) {
        std::fs::copy(self.backup(), with(&self.store(), ending)).unwrap();
    }
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// The live files of the store's only table, which is sound.
fn paths(path: &Path) -> Vec<String> {
    let report = check(path, &mut |_| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let store = Store::open(path).unwrap();
    let listed = store.read(|tx| {
        let table = tx.load_table("sales", "orders")?;
        tx.list_live_files(table.table_id, table.current_snapshot, None, u32::MAX)
    });
    listed.unwrap().into_iter().map(|file| file.path).collect()
}

fn is_unfinished(path: &Path) -> bool {
    let checked = check(path, &mut |_| ()).map(drop);
    assert!(!path.exists() || matches!(checked, Err(Error::RestoreUnfinished { .. })), "{checked:?}");
    match Store::open(path) {
        Ok(_) => false,
        Err(error) => matches!(error, Error::RestoreUnfinished { .. }),
    }
}

#[test]
fn a_backup_of_a_store_in_use_holds_what_was_committed() {
    let fixture = Fixture::with_target(2);
    fixture.append(&["a", "b", "c"]);
    fixture.delete(&["b"]);
    let to = fixture.path().with_file_name("backup.db");
    let size_bytes = backup(&fixture.path(), &to).unwrap();
    assert_eq!(size_bytes, std::fs::metadata(&to).unwrap().len());
    fixture.append(&["d"]);
    assert_eq!(paths(&to), ["a", "c"]);
}

#[test]
fn backups_under_commits_are_each_of_one_state_and_keep_no_commit_waiting() {
    let fixture = Fixture::with_target(3);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let numbers = 0..10_000;
            for number in numbers.take_while(|_| !done.load(Ordering::Relaxed)) {
                fixture.append(&[&format!("{number:05}/a"), &format!("{number:05}/b")]);
            }
        });
        for number in 0..5 {
            let to = fixture.path().with_file_name(format!("backup-{number}.db"));
            backup(&fixture.path(), &to).unwrap();
            let paths = paths(&to);
            let snapshots = paths.len() / 2;
            let expected = (0..snapshots).flat_map(|number| [format!("{number:05}/a"), format!("{number:05}/b")]);
            assert_eq!(paths, expected.collect::<Vec<_>>());
        }
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap();
    });
}

#[test]
fn a_backup_overwrites_nothing() {
    let fixture = Fixture::new();
    let to = fixture.path().with_file_name("backup.db");
    std::fs::write(&to, b"mine").unwrap();
    assert!(matches!(backup(&fixture.path(), &to), Err(Error::FileExists { .. })));
    assert_eq!(std::fs::read(&to).unwrap(), b"mine");
}

#[test]
fn a_backup_that_finds_its_name_taken_at_the_end_leaves_nothing() {
    let fixture = Fixture::new();
    let to = fixture.path().with_file_name("backup.db");
    // A link to nowhere is not seen before the copy is made, and is in its way after.
    std::os::unix::fs::symlink(fixture.path().with_file_name("nowhere"), &to).unwrap();
    assert!(matches!(backup(&fixture.path(), &to), Err(Error::FileExists { .. })));
    assert!(!with(&to, ".partial").exists());
}

#[test]
fn what_a_killed_backup_left_is_in_nobodys_way() {
    let fixture = Fixture::new();
    fixture.append(&["a"]);
    let to = fixture.path().with_file_name("backup.db");
    std::fs::write(with(&to, ".partial"), b"half a backup").unwrap();
    backup(&fixture.path(), &to).unwrap();
    assert_eq!(paths(&to), ["a"]);
    assert!(!with(&to, ".partial").exists());
}

#[test]
fn two_backups_to_one_file_are_not_made_at_once() {
    let fixture = Fixture::new();
    let to = fixture.path().with_file_name("backup.db");
    let other = std::fs::File::create(with(&to, ".partial")).unwrap();
    other.lock().unwrap();
    assert!(matches!(backup(&fixture.path(), &to), Err(Error::Locked { .. })));
}

#[test]
fn without_a_store_there_is_no_backup() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backup.db");
    assert!(matches!(backup(&folder.path().join("store.db"), &to), Err(Error::NoStore { .. })));
    assert!(!to.exists());
}

#[test]
fn a_store_with_a_damaged_page_gives_no_backup() {
    let mut fixture = Fixture::new();
    fixture.append(&["a", "b"]);
    fixture.close();
    let mut bytes = std::fs::read(fixture.path()).unwrap();
    let end = bytes.len();
    bytes[4096..end].fill(0x5a);
    std::fs::write(fixture.path(), bytes).unwrap();
    let to = fixture.path().with_file_name("backup.db");
    assert!(backup(&fixture.path(), &to).is_err());
    assert!(!to.exists());
}

#[test]
fn a_backup_is_restored_where_there_was_nothing() {
    let restoring = Restoring::new();
    assert_eq!(restoring.restore(Existing::Refuse).unwrap(), None);
    assert_eq!(paths(&restoring.store()), ["a", "b"]);
    // The backup is still one.
    assert_eq!(paths(&restoring.backup()), ["a", "b"]);
}

#[test]
fn a_store_that_is_there_stays_unless_it_is_said_otherwise() {
    let restoring = Restoring::with_old_store();
    assert!(matches!(restoring.restore(Existing::Refuse), Err(Error::StoreExists { .. })));
    assert_eq!(paths(&restoring.store()), ["old"]);
}

#[test]
fn a_store_that_is_replaced_is_moved_aside_with_its_log() {
    let restoring = Restoring::with_old_store();
    let aside = restoring.restore(Existing::MoveAside).unwrap().unwrap();
    assert_eq!(paths(&restoring.store()), ["a", "b"]);
    assert_eq!(paths(&aside), ["old"]);
    let second = restoring.restore(Existing::MoveAside).unwrap().unwrap();
    assert_ne!(aside, second);
    assert_eq!((paths(&restoring.store()).len(), paths(&second).len(), paths(&aside).len()), (2, 2, 1));
}

#[test]
fn a_damaged_store_is_replaced_and_kept() {
    let restoring = Restoring::new();
    std::fs::write(restoring.store(), b"no database any more").unwrap();
    let aside = restoring.restore(Existing::MoveAside).unwrap().unwrap();
    assert_eq!(paths(&restoring.store()), ["a", "b"]);
    assert_eq!(std::fs::read(aside).unwrap(), b"no database any more");
}

#[test]
fn a_store_in_use_is_not_replaced() {
    let restoring = Restoring::with_old_store();
    let store = Store::open(&restoring.store()).unwrap();
    assert!(matches!(restoring.restore(Existing::MoveAside), Err(Error::Locked { .. })));
    drop(store);
    assert_eq!(paths(&restoring.store()), ["old"]);
}

/// What is done to a backup, and whether an error is the one that is expected then.
type Spoil<'a> = &'a dyn Fn(&Path);
type Expected<'a> = &'a dyn Fn(&Error) -> bool;

#[test]
fn what_is_no_backup_is_refused_and_the_store_stays() {
    let change =
        |sql: &'static str| move |path: &Path| rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
    let cut = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let spoil = |path: &Path| std::fs::write(path, b"this is no database ".repeat(1000)).unwrap();
    let empty = |path: &Path| std::fs::write(path, b"").unwrap();
    let remove = |path: &Path| std::fs::remove_file(path).unwrap();
    let unhook = change(
        "DROP INDEX data_file_by_table; CREATE INDEX data_file_by_table ON data_file (table_id) WHERE file_id <> 2;
         PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE data_file (table_id)' WHERE name = 'data_file'",
    );
    let cases: [(Spoil<'_>, Expected<'_>); 7] = [
        (&change("PRAGMA application_id = 7"), &|error| matches!(error, Error::ForeignDatabase { .. })),
        (&change("PRAGMA user_version = 1000"), &|error| matches!(error, Error::NewerDatabase { .. })),
        (&cut, &|error| matches!(error, Error::Sqlite(_) | Error::DamagedCopy { .. })),
        (&spoil, &|error| matches!(error, Error::NotADatabase { .. })),
        (&empty, &|error| matches!(error, Error::NoStore { .. })),
        (&remove, &|error| matches!(error, Error::NoStore { .. })),
        (&unhook, &|error| matches!(error, Error::Sqlite(_) | Error::DamagedCopy { .. })),
    ];
    for (number, (spoil, expected)) in cases.into_iter().enumerate() {
        let restoring = Restoring::with_old_store();
        spoil(&restoring.backup());
        let answer = restoring.restore(Existing::MoveAside).unwrap_err();
        assert!(expected(&answer), "{number}: {answer:?}");
        assert_eq!(paths(&restoring.store()), ["old"], "{number}");
    }
}

#[test]
fn a_copy_of_a_store_that_was_killed_is_restored_with_its_log() {
    let (old, restoring) = (Restoring::with_old_store(), Restoring::new());
    assert_eq!(restore(&restoring.store(), &old.store(), Existing::Refuse).unwrap(), None);
    assert_eq!(paths(&restoring.store()), ["old"]);
}

/// What a restore does before it may be killed.
type Step<'a> = &'a dyn Fn(&Restoring);

/// The states that a kill may leave, one made by hand after another, over an old store. Restoring again comes to the same end
/// from each.
#[test]
fn a_restore_that_was_killed_is_refused_or_never_happened_and_runs_again() {
    let steps: [(Step<'_>, bool); 4] = [
        (&|restoring| std::fs::write(with(&restoring.store(), ".restoring"), b"half").unwrap(), false),
        (&|restoring| restoring.copy_backup_to(".restored"), true),
        (&|restoring| restoring.move_to("-wal", ".before-restore-1-wal"), true),
        (&|restoring| restoring.move_to("", ".before-restore-1"), true),
    ];
    for killed_after in 1..=steps.len() {
        let restoring = Restoring::with_old_store();
        let mut unfinished = false;
        for (step, leaves_unfinished) in &steps[..killed_after] {
            step(&restoring);
            unfinished = *leaves_unfinished;
        }
        if unfinished {
            assert!(is_unfinished(&restoring.store()), "{killed_after}");
        }
        let aside = restoring.restore(Existing::MoveAside).unwrap();
        assert_eq!(paths(&restoring.store()), ["a", "b"], "{killed_after}");
        let aside = aside.unwrap_or_else(|| with(&restoring.store(), ".before-restore-1"));
        assert_eq!(paths(&aside), ["old"], "{killed_after}");
    }
}

#[test]
fn a_killed_restore_never_becomes_an_empty_store() {
    let restoring = Restoring::new();
    std::fs::write(with(&restoring.store(), ".restoring"), b"half").unwrap();
    assert!(is_unfinished(&restoring.store()));
    restoring.restore(Existing::Refuse).unwrap();
    assert_eq!(paths(&restoring.store()), ["a", "b"]);
}

#[test]
fn a_copy_that_was_not_finished_does_not_keep_the_old_store_from_use() {
    let restoring = Restoring::with_old_store();
    std::fs::write(with(&restoring.store(), ".restoring"), b"half").unwrap();
    assert_eq!(paths(&restoring.store()), ["old"]);
}

#[test]
fn a_log_without_its_database_never_meets_the_new_one() {
    let restoring = Restoring::with_old_store();
    std::fs::remove_file(restoring.store()).unwrap();
    restoring.restore(Existing::Refuse).unwrap();
    assert_eq!(paths(&restoring.store()), ["a", "b"]);
}

#[test]
fn ids_that_were_given_out_before_the_backup_are_not_given_again() {
    let fixture = Fixture::new();
    let create = |store: &Store| store.write(|tx| tx.create_table(&new_table("others"))).unwrap().table_id;
    let given = create(fixture.store());
    fixture.store().write(|tx| tx.drop_table("sales", "others")).unwrap();
    let restored = fixture.path().with_file_name("restored.db");
    backup(&fixture.path(), &fixture.path().with_file_name("backup.db")).unwrap();
    restore(&restored, &fixture.path().with_file_name("backup.db"), Existing::Refuse).unwrap();
    assert!(create(&Store::open(&restored).unwrap()) > given);
}
