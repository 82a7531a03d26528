//! Looks at everything that a store holds, and says what is wrong with it.
//!
//! The store is only read. It is read in one order and once: the rows of data files as they lie, which leaves a digest and
//! sums for each manifest and table; then one manifest after another, its blocks held against those. No more is in memory
//! than one manifest, and a few numbers for each manifest and snapshot.

mod database;
mod files;
mod finding;
mod journal;
mod manifests;
mod sums;
mod tables;
mod tail;
mod zone;

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Params, Row};

use crate::ids::Unsigned;
use crate::lock::StoreLock;
use crate::transaction::ReadTransaction;
use crate::{Error, Result, TableId, migrate, restore};

use tables::CheckedTable;

pub use finding::{Difference, Fault, Finding, Mend, Place, SumOf};

/// The most findings that are told one by one. Whatever is beyond them is counted.
pub const MAX_FINDINGS: usize = 1000;

/// So many rows are read between two words about the progress.
const ROWS_PER_STEP: u64 = 10_000;

/// How far a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckProgress {
    /// SQLite looks at its own pages and indexes, which may take the most of the time; nobody knows how much.
    Database,
    /// The rows of data files.
    Files {
        /// How many are done.
        done: u64,
        /// How many there are.
        of: u64,
    },
    /// The manifests with their blocks.
    Manifests {
        /// How many are done.
        done: u64,
        /// How many there are.
        of: u64,
    },
}

/// What a check found. As soon as one row of a data file does not read, sums and entries are not held against the rows: that
/// one row would be told of many times.
#[derive(Debug)]
pub struct CheckReport {
    /// What is wrong, in the order in which it was found; at most [`MAX_FINDINGS`].
    pub findings: Vec<Finding>,
    /// How much is wrong in all.
    pub findings_total: u64,
    /// The tables that were looked at, as `NAMESPACE.TABLE`.
    pub tables: BTreeMap<TableId, String>,
    /// How many manifests were looked at.
    pub manifests: u64,
    /// How many rows of data files were looked at, removed ones counted.
    pub files: u64,
}

/// Checks the store in the SQLite file at `path`, which no other process may have open, and changes nothing. A store of an
/// older version is checked as what it becomes when it is opened.
///
/// # Errors
/// [`Error::NoStore`] if there is none; [`Error::Locked`] if another process has it open; [`Error::RestoreUnfinished`],
/// [`Error::NotADatabase`], [`Error::ForeignDatabase`] or [`Error::NewerDatabase`] if it is none that can be checked;
/// [`Error::LockFile`] or [`Error::Sqlite`] if it cannot be opened. Whatever goes wrong after that is a finding.
pub fn check(path: &Path, progress: &mut dyn FnMut(CheckProgress)) -> Result<CheckReport> {
    let _lock = lock(path)?;
    let (connection, applied) = database::open(path)?;
    let mut findings = Findings::default();
    progress(CheckProgress::Database);
    database::check_pages(&connection, &mut findings);
    let transaction = connection.unchecked_transaction()?;
    migrate::apply(&transaction, applied)?;
    let reader = Reader { tx: &ReadTransaction::new(&transaction), findings };
    let mut check = Check { reader, progress };
    let tables = check.check_tables();
    let rows = check.check_files();
    check.check_tail_statistics();
    for table in &tables {
        check.check_snapshots(table, &rows);
    }
    let manifests = check.check_manifests(&rows);
    check.check_journal_and_tokens();
    let Findings { list: findings, total: findings_total } = check.reader.findings;
    let name = |table: CheckedTable| (table.row.table_id, format!("{}.{}", table.row.namespace, table.row.name));
    let tables = tables.into_iter().map(name).collect();
    // The transaction is never committed: what a migration did in it is gone.
    Ok(CheckReport { findings, findings_total, tables, manifests, files: rows.files })
}

/// Locks a store that is there. Looked for on both sides of the lock: a lock file is not made where there is nothing to
/// lock, and what a restore did just before is seen.
fn lock(path: &Path) -> Result<StoreLock> {
    let require = || match restore::refuse_unfinished(path) {
        Ok(()) if !path.exists() => Err(Error::NoStore { path: path.to_owned() }),
        answer => answer,
    };
    require()?;
    let lock = StoreLock::acquire(path)?;
    require()?;
    Ok(lock)
}

/// What the parts of a check share.
struct Check<'a> {
    reader: Reader<'a>,
    progress: &'a mut dyn FnMut(CheckProgress),
}

/// Reads, and notes whatever does not read.
struct Reader<'a> {
    tx: &'a ReadTransaction<'a>,
    findings: Findings,
}

#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
    total: u64,
}

impl Findings {
    fn add(&mut self, place: Place, fault: Fault) {
        self.total += 1;
        if self.list.len() < MAX_FINDINGS {
            self.list.push(Finding { place, fault });
        }
    }

    /// The value, or a finding that says why there is none.
    fn take<T>(&mut self, place: Place, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.add(place, Fault::Unreadable(error))).ok()
    }
}

impl Reader<'_> {
    /// Runs `read` over the rows of a query. A row that it fails on is a finding, and so is a query that ends before its last
    /// row.
    fn each_row(
        &mut self,
        place: Place,
        sql: &'static str,
        params: impl Params,
        mut read: impl FnMut(&mut Findings, &Row<'_>) -> Result<()>,
    ) -> AllRead {
        let Self { tx, findings } = self;
        let mut all_read = AllRead::Yes;
        let walk = || -> Result<()> {
            let mut statement = tx.connection().prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                let read = read(findings, row);
                if findings.take(place, read).is_none() {
                    all_read = AllRead::No;
                }
            }
            Ok(())
        };
        let walked = walk();
        match findings.take(place, walked) {
            Some(()) => all_read,
            None => AllRead::No,
        }
    }

    /// The first column of the only row.
    fn count(&mut self, sql: &'static str) -> u64 {
        let counted = self.tx.query_first(sql, [], |row| Ok(row.get::<_, Unsigned>(0)?.0));
        self.findings.take(Place::default(), counted).flatten().unwrap_or(0)
    }
}

/// Whether a listing was read to its end, every row of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AllRead {
    Yes,
    No,
}
