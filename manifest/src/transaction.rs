//! What jobs get to work with: one transaction for reading, one for writing.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Deref;

use rusqlite::{Connection, Params, Row};

use crate::leaf_set::KnownLeafSets;
use crate::{Result, TableId};

/// One state of the store, for as long as the closure runs that was given it.
pub struct ReadTransaction<'c> {
    connection: &'c Connection,
}

impl<'c> ReadTransaction<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    pub(crate) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// Every row of a query.
    pub(crate) fn query_all<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.connection.prepare_cached(sql)?.query_and_then(params, read)?.collect()
    }

    /// The first row of a query, if it has one.
    pub(crate) fn query_first<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.connection.prepare_cached(sql)?.query_and_then(params, read)?.next().transpose()
    }
}

/// A job's part of the writer's transaction: what the job did becomes durable when it succeeds, together with the
/// jobs beside it. It reads, too, and sees what the job did.
pub struct WriteTransaction<'c> {
    reader: ReadTransaction<'c>,
    leaf_sets: &'c RefCell<KnownLeafSets>,
    target_files: u64,
    due_tables: RefCell<BTreeSet<TableId>>,
}

impl<'c> WriteTransaction<'c> {
    pub(crate) fn new(connection: &'c Connection, target_files: u64, leaf_sets: &'c RefCell<KnownLeafSets>) -> Self {
        Self { reader: ReadTransaction::new(connection), leaf_sets, target_files, due_tables: RefCell::default() }
    }

    /// The sets of leaves that the writer knows.
    pub(crate) fn leaf_sets(&self) -> &RefCell<KnownLeafSets> {
        self.leaf_sets
    }

    /// Runs a statement; says how many rows it changed.
    pub(crate) fn execute(&self, sql: &'static str, params: impl Params) -> Result<usize> {
        Ok(self.connection().prepare_cached(sql)?.execute(params)?)
    }

    /// Runs an insert; says which row it made.
    pub(crate) fn insert(&self, sql: &'static str, params: impl Params) -> Result<i64> {
        Ok(self.connection().prepare_cached(sql)?.insert(params)?)
    }

    /// Notes how long the tail of a table is now, so that the writer seals it when it is due.
    pub(crate) fn note_tail(&self, table_id: TableId, tail_files: u64) {
        if tail_files >= self.target_files {
            self.due_tables.borrow_mut().insert(table_id);
        }
    }

    /// Notes that manifests of a table lost entries, so that they may be worth grouping anew.
    pub(crate) fn note_hollow(&self, table_id: TableId) {
        self.due_tables.borrow_mut().insert(table_id);
    }

    /// Notes that a table has, or may have, files that nobody has looked into for columns that came later.
    pub(crate) fn note_late_columns(&self, table_id: TableId) {
        self.due_tables.borrow_mut().insert(table_id);
    }

    /// The tables whose tails the jobs of this transaction have filled, whose manifests they have hollowed out, or whose columns
    /// they have changed.
    pub(crate) fn into_due_tables(self) -> BTreeSet<TableId> {
        self.due_tables.into_inner()
    }
}

impl<'c> Deref for WriteTransaction<'c> {
    type Target = ReadTransaction<'c>;

    fn deref(&self) -> &ReadTransaction<'c> {
        &self.reader
    }
}
