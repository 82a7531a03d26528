//! The database's identity and the steps that bring it to the newest version.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::transaction::ReadTransaction;
use crate::{Error, Result};

/// The bytes `Prun`: marks the file as a Prunus store.
const APPLICATION_ID: i64 = 0x5072_756e;

/// Numbered from 1, append-only. A database's `user_version` is how many of them it has.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../migrations/0001_store.sql"),
    include_str!("../../migrations/0002_history.sql"),
    include_str!("../../migrations/0003_statistics.sql"),
    include_str!("../../migrations/0004_access.sql"),
];

const SELECT_ONE: &str = "SELECT namespace_id FROM namespace LIMIT 1";

const COUNT_OBJECTS: &str = "SELECT count(*) FROM sqlite_schema";

/// What a file turned out to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// An empty or new file.
    Fresh,
    /// A store with that many migrations.
    Store(usize),
}

impl ReadTransaction<'_> {
    /// That the store can be read, and is of the version that this program has it in.
    ///
    /// # Errors
    /// [`Error::OtherVersion`], [`Error::Sqlite`].
    pub fn check_version(&self) -> Result<()> {
        let version: i64 = self.connection().pragma_query_value(None, "user_version", |row| row.get(0))?;
        if version != supported() {
            return Err(Error::OtherVersion { version, expected: supported() });
        }
        self.query_first(SELECT_ONE, [], |_| Ok(()))?;
        Ok(())
    }
}

/// Looks at the file without changing it.
pub(crate) fn identify(connection: &Connection, path: &Path) -> Result<Found> {
    let not_a_database = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Error::NotADatabase { path: path.to_owned() },
        _ => Error::Sqlite(error),
    };
    let application_id: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(not_a_database)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(not_a_database)?;
    let objects: i64 = connection.query_row(COUNT_OBJECTS, [], |row| row.get(0)).map_err(not_a_database)?;
    if (application_id, version, objects) == (0, 0, 0) {
        return Ok(Found::Fresh);
    }
    if application_id != APPLICATION_ID {
        return Err(Error::ForeignDatabase { path: path.to_owned() });
    }
    match usize::try_from(version) {
        Ok(applied) if (1..=MIGRATIONS.len()).contains(&applied) => Ok(Found::Store(applied)),
        Ok(0) | Err(_) => Err(Error::ForeignDatabase { path: path.to_owned() }),
        Ok(_) => Err(Error::NewerDatabase { path: path.to_owned(), version, supported: supported() }),
    }
}

/// Applies the migrations that are missing, all or none.
pub(crate) fn migrate(connection: &mut Connection, found: Found) -> Result<()> {
    let applied = match found {
        Found::Fresh => 0,
        Found::Store(applied) => applied,
    };
    if applied == newest() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    apply(&transaction, applied)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", supported())?;
    Ok(transaction.commit()?)
}

/// Applies the migrations beyond so many, in the transaction that is under way.
pub(crate) fn apply(connection: &Connection, applied: usize) -> Result<()> {
    for migration in MIGRATIONS.iter().skip(applied) {
        connection.execute_batch(migration)?;
    }
    Ok(())
}

/// How many migrations a store of this version has.
pub(crate) const fn newest() -> usize {
    MIGRATIONS.len()
}

fn supported() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}
