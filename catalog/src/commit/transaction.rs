//! Transactions: commits to several tables, all or none.

use std::collections::BTreeSet;

use super::ready::{Place, ReadyCommit};
use super::{CommitRequest, Committed, MAX_FILES_PER_COMMIT};
use crate::catalog::Catalog;
use crate::name::TableIdent;
use crate::once::{Done, Once};
use crate::{Error, Fault, Result};

/// The most tables that one transaction changes.
pub const MAX_TABLES_PER_TRANSACTION: usize = 100;

/// A commit of a transaction, as it is asked for.
#[derive(Clone, Debug)]
pub struct TableCommit {
    /// The table.
    pub table: TableIdent,
    /// Its change.
    pub request: CommitRequest,
}

/// What a commit of a transaction did.
#[derive(Clone, Debug)]
pub struct TableCommitted {
    /// The table.
    pub table: TableIdent,
    /// What became of it.
    pub committed: Committed,
}

impl Catalog {
    /// Makes a snapshot of each of several tables, in the order in which they are named. All or nothing: no one ever sees some
    /// of them without the others. All have one time, unless a table has a later one already.
    ///
    /// # Errors
    /// [`Error::Invalid`] with every fault of every commit; [`Error::OfTable`] with what [`Catalog::commit`] would answer for the
    /// first table that stands in the way; [`Error::HeadMoved`], [`Error::Store`].
    pub async fn commit_all(&self, commits: Vec<TableCommit>) -> Result<Vec<TableCommitted>> {
        self.commit_all_once(commits, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::commit_all`], and [`Error::KeyReused`].
    pub async fn commit_all_once(
        &self,
        commits: Vec<TableCommit>,
        once: Once<Vec<TableCommitted>>,
    ) -> Result<Done<Vec<TableCommitted>>> {
        let faults = check_shape(&commits);
        if !faults.is_empty() {
            return Err(Error::Invalid(faults));
        }
        let ready = self.make_all_ready(commits).await?;
        self.commit_ready(ready, once, |tx, ready| {
            let commit =
                |ready: &ReadyCommit| Ok(TableCommitted { table: ready.table.clone(), committed: ready.commit(tx)? });
            ready.iter().map(commit).collect()
        })
        .await
    }

    async fn make_all_ready(&self, commits: Vec<TableCommit>) -> Result<Vec<ReadyCommit>> {
        let (mut ready, mut faults, mut failure) = (Vec::with_capacity(commits.len()), Vec::new(), None);
        for (index, TableCommit { table, request }) in commits.into_iter().enumerate() {
            let place = Place::Part(index);
            let commit = self.make_ready(table.clone(), request).await;
            match commit.map_err(|error| place.error(&table, error)) {
                Ok(mut commit) => {
                    commit.place = place;
                    ready.push(commit);
                }
                Err(Error::Invalid(of_commit)) => faults.extend(of_commit),
                Err(other) => {
                    failure.get_or_insert(other);
                }
            }
        }
        match failure {
            _ if !faults.is_empty() => Err(Error::Invalid(faults)),
            Some(failure) => Err(failure),
            None => Ok(ready),
        }
    }
}

/// What is wrong with a transaction as a whole.
fn check_shape(commits: &[TableCommit]) -> Vec<Fault> {
    let files: usize = commits.iter().map(|commit| commit.request.file_count()).sum();
    let mut faults = Vec::new();
    let mut fault = |at: String, message: String| faults.push(Fault::at(at, message));
    if commits.is_empty() {
        fault("commits".to_owned(), "a transaction has at least one commit".to_owned());
    }
    if commits.len() > MAX_TABLES_PER_TRANSACTION {
        let message = format!("a transaction changes at most {MAX_TABLES_PER_TRANSACTION} tables");
        fault("commits".to_owned(), message);
    }
    if files > MAX_FILES_PER_COMMIT {
        let message = format!("a transaction adds and removes at most {MAX_FILES_PER_COMMIT} files");
        fault("commits".to_owned(), message);
    }
    let mut seen = BTreeSet::new();
    for (index, commit) in commits.iter().enumerate() {
        if !seen.insert(&commit.table) {
            let message = format!("table `{}` stands in the transaction more than once", commit.table);
            fault(format!("commits[{index}].table"), message);
        }
    }
    faults
}
