//! Transactions: commits to several tables, all or none.

use std::collections::BTreeSet;
use std::sync::Arc;

use prunus_manifest::WriteTransaction;
use tokio::time::Instant;

use super::reading::MAX_READING_TIME;
use super::ready::{Place, ReadyCommit};
use super::{CommitRequest, Committed};
use crate::admission::ChangePlace;
use crate::catalog::Catalog;
use crate::journal::Made;
use crate::limits::Limits;
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

/// A transaction whose files are read and that is checked as far as can be before it is applied. It has one place among the changes
/// that wait.
pub struct PreparedTransaction {
    ready: Vec<ReadyCommit>,
    place: Arc<ChangePlace>,
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
        let prepared = self.prepare_transaction(commits).await?;
        self.commit_transaction(prepared, once).await
    }

    /// Does of a transaction all that comes before it is applied: reads the files and checks the commits. Whoever stops waiting for
    /// that stops it, and nothing was done.
    ///
    /// # Errors
    /// As [`Catalog::commit_all`], and [`Error::Overloaded`].
    pub async fn prepare_transaction(&self, commits: Vec<TableCommit>) -> Result<PreparedTransaction> {
        let prepared = self.prepare_all_uncounted(commits).await;
        if prepared.is_err() {
            self.activity.commits.outcomes.count(&prepared);
        }
        prepared
    }

    async fn prepare_all_uncounted(&self, commits: Vec<TableCommit>) -> Result<PreparedTransaction> {
        let faults = check_shape(&commits, &self.limits);
        if !faults.is_empty() && is_too_large(&commits, &self.limits) {
            return Err(Error::Invalid(faults));
        }
        let place = self.admission.commit(commits.iter().map(|commit| commit.request.size_bytes()).sum())?;
        let ready = self.make_all_ready(commits, faults).await?;
        Ok(PreparedTransaction { ready, place: Arc::new(place.after_reading()) })
    }

    /// Makes all snapshots of a transaction that is prepared.
    ///
    /// # Errors
    /// As [`Catalog::commit_all_once`].
    pub async fn commit_transaction(
        &self,
        prepared: PreparedTransaction,
        once: Once<Vec<TableCommitted>>,
    ) -> Result<Done<Vec<TableCommitted>>> {
        let PreparedTransaction { ready, place } = prepared;
        let done = self.commit_ready(ready, place, once, |tx, ready| record_all(tx, ready)).await;
        self.activity.commits.outcomes.count(&done);
        if let Ok(Done::Now(committed)) = &done {
            for done in committed {
                self.activity.commits.record(&done.table, &done.committed);
            }
        }
        done
    }

    /// Makes all commits ready, or finds the faults of all, with those that were found before.
    async fn make_all_ready(&self, commits: Vec<TableCommit>, mut faults: Vec<Fault>) -> Result<Vec<ReadyCommit>> {
        let deadline = Instant::now() + MAX_READING_TIME;
        let (mut ready, mut failure) = (Vec::with_capacity(commits.len()), None);
        for (index, TableCommit { table, request }) in commits.into_iter().enumerate() {
            let place = Place::Part(index);
            let commit = self.make_ready(table.clone(), request, deadline).await;
            // A store that does not answer for one table would be waited for again for the next.
            let is_last = matches!(commit, Err(Error::StorageUnavailable { .. }));
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
            if is_last {
                break;
            }
        }
        match failure {
            _ if !faults.is_empty() => Err(Error::Invalid(faults)),
            Some(failure) => Err(failure),
            None => Ok(ready),
        }
    }
}

/// Checks all commits before any of them writes: a refusal has then nothing to undo, for itself and for its neighbours in the
/// writer's transaction.
fn record_all(tx: &WriteTransaction<'_>, ready: &[ReadyCommit]) -> Result<Made<Vec<TableCommitted>>> {
    let checked = ready.iter().map(|ready| ready.check(tx)).collect::<Result<Vec<_>>>()?;
    let record = |(ready, checked): (&ReadyCommit, _)| {
        Ok(TableCommitted { table: ready.table.clone(), committed: ready.record(checked)? })
    };
    let committed = ready.iter().zip(checked).map(record).collect::<Result<Vec<_>>>()?;
    let told = |(ready, done): (&ReadyCommit, &TableCommitted)| ready.change("commit_transaction", &done.committed);
    let changes = ready.iter().zip(&committed).map(told).collect();
    Ok(Made::changes(committed, changes))
}

/// How many files a transaction adds and removes.
fn file_count(commits: &[TableCommit]) -> usize {
    commits.iter().map(|commit| commit.request.file_count()).sum()
}

/// Whether a transaction has more tables or files than are looked at.
fn is_too_large(commits: &[TableCommit], limits: &Limits) -> bool {
    commits.len() > MAX_TABLES_PER_TRANSACTION
        || file_count(commits) > limits.files_per_commit
        || commits.iter().any(|commit| commit.request.is_too_large(limits))
}

/// What is wrong with a transaction as a whole.
fn check_shape(commits: &[TableCommit], limits: &Limits) -> Vec<Fault> {
    let (files, most) = (file_count(commits), limits.files_per_commit);
    let mut faults = Vec::new();
    if commits.is_empty() {
        faults.push(Fault::at("commits", "a transaction has at least one commit"));
    }
    if commits.len() > MAX_TABLES_PER_TRANSACTION {
        let message = format!("a transaction changes at most {MAX_TABLES_PER_TRANSACTION} tables");
        faults.push(Fault::at("commits", message));
    }
    if files > most {
        let message = format!("a transaction adds and removes at most {most} files, and this one {files}");
        faults.push(Fault::at("commits", message));
    }
    for (index, commit) in commits.iter().enumerate() {
        let of_lists = commit.request.check_lists().into_iter();
        faults.extend(of_lists.map(|fault| fault.within(&format!("commits[{index}]"))));
    }
    let mut seen = BTreeSet::new();
    for (index, commit) in commits.iter().enumerate() {
        if !seen.insert(&commit.table) {
            let message = format!("table `{}` stands in the transaction more than once", commit.table);
            faults.push(Fault::at(format!("commits[{index}].table"), message));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prunus_manifest::{Operation, SnapshotId};
    use prunus_pruner::NanOrder;

    use super::*;
    use crate::{AddedFile, CatalogOptions, FieldJson, NewTable, SchemaSource};

    async fn create_table(catalog: &Catalog, ident: &TableIdent) {
        let field: FieldJson = serde_json::from_str(r#"{"name": "a", "type": "int64"}"#).unwrap();
        let table = NewTable {
            ident: ident.clone(),
            schema: SchemaSource::Fields(vec![field.to_new_field().unwrap()]),
            location: None,
            cluster_by: None,
            properties: BTreeMap::from([("verification".to_owned(), "declared".to_owned())]),
        };
        catalog.create_table(table).await.unwrap();
    }

    fn commit(table: &TableIdent, operation: Operation, add: Vec<AddedFile>, remove: &[&str]) -> TableCommit {
        let request = CommitRequest {
            operation,
            base_snapshot: None,
            add,
            remove: remove.iter().map(ToString::to_string).collect(),
            filter: None,
            nan_order: NanOrder::Any,
            summary: BTreeMap::new(),
        };
        TableCommit { table: table.clone(), request }
    }

    #[tokio::test]
    async fn a_commit_before_one_that_conflicts_is_not_even_begun() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        catalog.create_namespace("n".parse().unwrap(), BTreeMap::new()).await.unwrap();
        let (good, bad): (TableIdent, TableIdent) = ("n.good".parse().unwrap(), "n.bad".parse().unwrap());
        for table in [&good, &bad] {
            create_table(&catalog, table).await;
        }
        let file = AddedFile { path: "s3://nowhere/a".to_owned(), size_bytes: Some(1), ..AddedFile::default() };
        let commits = vec![
            commit(&good, Operation::Append, vec![file], &[]),
            commit(&bad, Operation::Delete, vec![], &["s3://nowhere/a"]),
        ];
        let ready = catalog.make_all_ready(commits, Vec::new()).await.unwrap();
        let seen = catalog.write(move |tx| {
            assert!(matches!(record_all(tx, &ready), Err(Error::OfTable { .. })));
            // What had been written would be seen here, since it is undone after the job.
            Ok(tx.load_table(good.namespace.as_str(), good.name.as_str())?.current_snapshot)
        });
        assert_eq!(seen.await.unwrap(), SnapshotId::EMPTY);
    }
}
