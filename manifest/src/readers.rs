//! The pool of reading connections.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags};

use crate::activity::{self, StoreActivity};
use crate::database;
use crate::transaction::ReadTransaction;
use crate::{Error, Result};

/// Connections are opened when they are first needed, up to a limit; beyond it a reader waits for another to end.
pub(crate) struct Readers {
    path: PathBuf,
    state: Mutex<State>,
    returned: Condvar,
    activity: Arc<StoreActivity>,
}

struct State {
    idle: Vec<Connection>,
    may_open: usize,
}

impl Readers {
    pub(crate) fn new(path: &Path, limit: usize, activity: Arc<StoreActivity>) -> Self {
        let state = Mutex::new(State { idle: Vec::new(), may_open: limit });
        Self { path: path.to_owned(), state, returned: Condvar::new(), activity }
    }

    /// Runs `job` in one read transaction: everything that it reads is of one state.
    pub(crate) fn read<T, E: From<Error>>(
        &self,
        job: impl FnOnce(&ReadTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let lease = self.lease()?;
        let Some(connection) = &lease.connection else { return Err(Error::Closed.into()) };
        let transaction = Transaction::begin(connection)?;
        job(&ReadTransaction::new(transaction.0))
    }

    fn lease(&self) -> Result<Lease<'_>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(connection) = state.idle.pop() {
                return Ok(Lease::of(self, Some(connection)));
            }
            if state.may_open > 0 {
                state.may_open -= 1;
                break;
            }
            self.activity.readers_waiting.add(1);
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.activity.readers_waiting.sub(1);
        }
        drop(state);
        // The lease is made first, so that a connection that does not open gives its place back.
        let mut lease = Lease::of(self, None);
        let mut connection = Connection::open_with_flags(
            &self.path,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        database::configure(&connection)?;
        connection.busy_handler(Some(activity::busy_handler(Arc::clone(&self.activity))))?;
        lease.connection = Some(connection);
        Ok(lease)
    }
}

/// A read transaction, which ends when it goes out of scope. Nothing was written, so it is rolled back.
struct Transaction<'c>(&'c Connection);

impl<'c> Transaction<'c> {
    fn begin(connection: &'c Connection) -> Result<Self> {
        connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(connection))
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let ended = self.0.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
        if let Err(error) = ended {
            tracing::error!(%error, "a read transaction was not ended");
        }
    }
}

struct Lease<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl<'a> Lease<'a> {
    fn of(readers: &'a Readers, connection: Option<Connection>) -> Self {
        readers.activity.readers.add(1);
        readers.activity.reads.add(1);
        Self { readers, connection }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.readers.activity.readers.sub(1);
        let mut state = self.readers.state.lock().unwrap_or_else(PoisonError::into_inner);
        match self.connection.take() {
            Some(connection) => state.idle.push(connection),
            None => state.may_open += 1,
        }
        drop(state);
        self.readers.returned.notify_one();
    }
}
