//! What SQLite itself knows to be wrong: pages, indexes, references.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Fault, Findings, Place};
use crate::{Result, database, migrate};

/// SQLite ends its list there by itself; said so that nobody counts on more.
const INTEGRITY_CHECK: &str = "PRAGMA integrity_check(100)";

const FOREIGN_KEY_CHECK: &str = "PRAGMA foreign_key_check";

/// Opens the store so that it stays as it is; says how many migrations it has. To one that lacks some they are applied in a
/// transaction that is not committed, so that one is not opened as read-only.
pub(super) fn open(path: &Path) -> Result<(Connection, usize)> {
    let (connection, applied) = database::open_existing(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if applied == migrate::newest() {
        return Ok((connection, applied));
    }
    drop(connection);
    database::open_existing(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

pub(super) fn check_pages(connection: &Connection, findings: &mut Findings) {
    let lines = list(connection, INTEGRITY_CHECK, |row| row.get::<_, String>(0));
    for line in findings.take(Place::default(), lines).unwrap_or_default() {
        if line != "ok" {
            findings.add(Place::default(), Fault::Integrity(line));
        }
    }
    let references = list(connection, FOREIGN_KEY_CHECK, |row| Ok((row.get(0)?, row.get(2)?)));
    for (child, parent) in findings.take(Place::default(), references).unwrap_or_default() {
        findings.add(Place::default(), Fault::Reference { child, parent });
    }
}

fn list<T>(
    connection: &Connection,
    sql: &'static str,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
