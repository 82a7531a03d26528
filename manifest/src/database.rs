//! How connections to the database are opened and set.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::activity::BUSY_TIMEOUT;
use crate::migrate::{self, Found};
use crate::{Error, PowerLoss, Result};

/// More than the crate has queries, so that each is prepared once per connection.
const MAX_PREPARED_STATEMENTS: usize = 128;

/// The page cache of a connection that reads, in KiB; negative is SQLite's way of saying that it is not a number of pages.
const PAGE_CACHE_KIB: i64 = -16_384;

/// That of the one that writes: commits touch the index of paths all over.
const WRITER_PAGE_CACHE_KIB: i64 = -65_536;

/// How many pages the log has before it is folded into the file. Pages that most commits touch are written back once each
/// time; what is in the log when a process is killed is read when the store is opened again.
const PAGES_PER_CHECKPOINT: i64 = 4_000;

/// A change that is none, made and taken back.
const WRITE_NOTHING: &str = "
    BEGIN IMMEDIATE;
    UPDATE namespace SET name = name WHERE namespace_id = (SELECT min(namespace_id) FROM namespace);
    ROLLBACK";

/// Opens the connection that writes: makes the file if there is none, and brings it to the newest version. Refuses one that cannot
/// be written, which SQLite would open for reading alone without a word.
pub(crate) fn open_writer(path: &Path, power_loss: PowerLoss) -> Result<Connection> {
    open_writable(path, power_loss).map_err(|error| match error {
        Error::Sqlite(source) if is_unwritable(&source) => Error::Unwritable { path: path.to_owned(), source },
        error => error,
    })
}

fn is_unwritable(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(error.sqlite_error_code(), Some(ReadOnly | CannotOpen | PermissionDenied))
}

fn open_writable(path: &Path, power_loss: PowerLoss) -> Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let found = migrate::identify(&connection, path)?;
    // The mode of a database that is not ours is never changed: the file was looked at first.
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    // SQLite answers with the mode that it stays in, which is no error of its own.
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(Error::NoWriteAheadLog { path: path.to_owned(), mode });
    }
    connection.pragma_update(None, "synchronous", synchronous(power_loss))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", PAGES_PER_CHECKPOINT)?;
    configure(&connection)?;
    connection.pragma_update(None, "cache_size", WRITER_PAGE_CACHE_KIB)?;
    migrate::migrate(&mut connection, found)?;
    connection.execute_batch(WRITE_NOTHING)?;
    Ok(connection)
}

/// With `NORMAL` the log reaches the disk when it is folded into the database, and the order in which it does keeps the
/// database whole.
const fn synchronous(power_loss: PowerLoss) -> &'static str {
    match power_loss {
        PowerLoss::LosesNothing => "FULL",
        PowerLoss::MayLoseLastCommits => "NORMAL",
    }
}

/// Opens a store that is there, of this or an older version, and changes nothing by that. Says how many migrations it has.
pub(crate) fn open_existing(path: &Path, access: OpenFlags) -> Result<(Connection, usize)> {
    let no_store = || Err(Error::NoStore { path: path.to_owned() });
    if !path.exists() {
        return no_store();
    }
    let connection = Connection::open_with_flags(path, access)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let Found::Store(applied) = migrate::identify(&connection, path)? else { return no_store() };
    configure(&connection)?;
    Ok((connection, applied))
}

/// Sets what every connection has in common.
pub(crate) fn configure(connection: &Connection) -> Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(MAX_PREPARED_STATEMENTS);
    // Else SQLite prepares every join anew when its parameters change, in the hope of a better plan for their values.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "cache_size", PAGE_CACHE_KIB).map_err(Error::Sqlite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_is_prepared_once() {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_writer(&folder.path().join("store.db"), PowerLoss::LosesNothing).unwrap();
        let join = "SELECT t.uuid FROM lake_table t JOIN namespace n USING (namespace_id) WHERE n.name = ?1";
        for name in ["a", "b", "c"] {
            let mut statement = connection.prepare_cached(join).unwrap();
            assert!(!statement.exists([name]).unwrap());
            assert_eq!(statement.get_status(rusqlite::StatementStatus::RePrepare), 0, "{name}");
        }
    }

    #[test]
    fn a_database_that_keeps_no_log_is_refused() {
        let answer = open_writer(Path::new(":memory:"), PowerLoss::LosesNothing);
        assert!(matches!(answer, Err(Error::NoWriteAheadLog { mode, .. }) if mode == "memory"));
    }

    #[test]
    fn every_commit_reaches_the_disk_unless_it_is_said_otherwise() {
        // In SQLite's numbers 2 is FULL and 1 is NORMAL.
        for (power_loss, expected) in [(PowerLoss::default(), 2), (PowerLoss::MayLoseLastCommits, 1)] {
            let folder = tempfile::tempdir().unwrap();
            let connection = open_writer(&folder.path().join("store.db"), power_loss).unwrap();
            let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
            assert_eq!(synchronous, expected, "{power_loss:?}");
        }
    }

    #[test]
    fn a_database_that_is_only_read_is_refused_when_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(open_writer(&path, PowerLoss::LosesNothing).unwrap());
        // As one of another user, which the tests, too, could write if they ran as root.
        let read_only = format!("file:{}?mode=ro", path.display());
        let answer = open_writer(Path::new(&read_only), PowerLoss::LosesNothing);
        assert!(matches!(answer, Err(Error::Unwritable { .. })), "{answer:?}");
    }

    /// As on a file system without shared memory.
    #[cfg(unix)]
    #[test]
    fn a_place_that_takes_no_log_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let answer =
            open_writer(Path::new(&format!("file:{}?vfs=unix-dotfile", path.display())), PowerLoss::LosesNothing);
        assert!(matches!(answer, Err(Error::NoWriteAheadLog { mode, .. }) if mode == "delete"));
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
