//! How connections to the database are opened and set.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::migrate;
use crate::{Error, Result};

/// How long a connection waits for a lock. Only a program from outside, a backup or a shell, can hold one against us.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// More than the crate has queries, so that each is prepared once per connection.
const MAX_PREPARED_STATEMENTS: usize = 128;

/// The page cache of one connection, in KiB; negative is SQLite's way of saying that it is not a number of pages.
const PAGE_CACHE_KIB: i64 = -16_384;

/// Opens the connection that writes: makes the file if there is none, and brings it to the newest version.
pub(crate) fn open_writer(path: &Path) -> Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let found = migrate::identify(&connection, path)?;
    // The mode of a database that is not ours is never changed: the file was looked at first.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    configure(&connection)?;
    migrate::migrate(&mut connection, found)?;
    Ok(connection)
}

/// Sets what every connection has in common.
pub(crate) fn configure(connection: &Connection) -> Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(MAX_PREPARED_STATEMENTS);
    connection.pragma_update(None, "cache_size", PAGE_CACHE_KIB).map_err(Error::Sqlite)
}
