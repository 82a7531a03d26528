//! A commit as it goes into the transaction: its files read, its paths in one spelling, its filter compiled.

use std::collections::HashSet;
use std::sync::Arc;

use prunus_manifest::{CheckedCommit, NewCommit, NewDataFile, ReadTransaction, SnapshotId, TableRow, WriteTransaction};
use prunus_pruner::{FilterError, FilterLimits, NanOrder};
use tokio::time::Instant;
use tracing::Instrument;

use super::checked::FilterCheck;
use super::folders;
use super::heads::Head;
use super::reading::{Outcome, Reader};
use super::{CommitRequest, Committed};
use crate::catalog::Catalog;
use crate::history::History;
use crate::journal::Change;
use crate::location::{Location, without_credentials};
use crate::name::TableIdent;
use crate::plan::{Filter, OverlapFilter};
use crate::properties::StatisticsProperties;
use crate::registration::{PATH_FIELD, Refusal, Target};
use crate::schema::{Field, Type};
use crate::storage::Allowed;
use crate::table_schema::TableSchema;
use crate::{Error, Fault, Result};

/// A commit that is checked as far as can be outside of the transaction.
#[derive(Clone)]
pub(super) struct ReadyCommit {
    pub(super) table: TableIdent,
    commit: NewCommit,
    /// What is still to be held against what other commits do.
    pub(super) filter: Option<FilterCheck>,
    warnings: Vec<Fault>,
    pub(super) place: Place,
}

/// Where a commit stands in its request.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// It is all of it.
    Alone,
    /// It is one of a transaction's: which.
    Part(usize),
}

/// The filter of a request, and where it was asked from.
struct AskedFilter {
    filter: Filter,
    nan_order: NanOrder,
    base: SnapshotId,
    limits: FilterLimits,
}

impl Catalog {
    /// Does all that comes before the transaction; its files must be read by the deadline.
    pub(super) async fn make_ready(
        &self,
        table: TableIdent,
        request: CommitRequest,
        deadline: Instant,
    ) -> Result<ReadyCommit> {
        let began = Instant::now();
        let reading = self.make_ready_of_known(table.clone(), request, deadline);
        let ready = reading.instrument(tracing::debug_span!("read_files")).await;
        self.activity.commits.record_reading(began.elapsed());
        if ready.is_err() {
            // It may have been held against a table that is not there any more.
            self.heads.forget(&table);
        }
        ready
    }

    async fn make_ready_of_known(
        &self,
        table: TableIdent,
        request: CommitRequest,
        deadline: Instant,
    ) -> Result<ReadyCommit> {
        let mut faults = request.check_shape(&self.limits);
        // One without a base is at fault already, and looked at for other faults.
        let base = request.base_snapshot.unwrap_or(SnapshotId::EMPTY);
        let (nan_order, limits) = (request.nan_order, self.limits.of_filter());
        let asked = request.filter.map(|filter| AskedFilter { filter, nan_order, base, limits });
        let (head, filter) = match asked {
            None => (self.head(&table).await?, Ok(None)),
            Some(asked) => {
                let (ident, allowed) = (table.clone(), self.allowed_in(&table));
                // A filter may take long to read, which no short read is to wait for.
                let look = move |tx: &ReadTransaction<'_>| head_and_filter(tx, &ident, allowed, asked);
                let (head, filter) = self.read_for_change(move |tx, _| look(tx)).await?;
                (Arc::new(head), filter.map(Some))
            }
        };
        let (remove, of_removed) = removed_paths(&request.remove, head.target.location.as_ref());
        faults.extend(of_removed);
        let storage = Arc::new(self.storage.within(&head.target.allowed));
        let reader = Reader { storage, head: Arc::clone(&head), deadline };
        let registered = registered(reader.register_all(request.add).await?, faults);
        let ((add, mut warnings), filter) = with_filter(registered, filter)?;
        warnings.extend(folders::warnings(&head.target, &add));
        let commit = NewCommit {
            table_id: head.table_id,
            base_snapshot: request.base_snapshot,
            schema_id: head.schema_id,
            operation: request.operation,
            add,
            remove,
            summary: request.summary,
            committed_at_ms: 0,
        };
        Ok(ReadyCommit { table, commit, filter, warnings, place: Place::Alone })
    }

    /// Where the files of a table may lie.
    fn allowed_in(&self, table: &TableIdent) -> Allowed {
        self.allowed.of_namespace(table.namespace.as_str()).clone()
    }

    async fn head(&self, table: &TableIdent) -> Result<Arc<Head>> {
        let epoch = match self.heads.get(table) {
            Ok(head) => {
                self.activity.heads_found.add(1);
                return Ok(head);
            }
            Err(epoch) => epoch,
        };
        self.activity.heads_missed.add(1);
        let (ident, allowed) = (table.clone(), self.allowed_in(table));
        let head = self.read(move |tx| {
            let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            head_of(tx, &row, allowed)
        });
        let head = Arc::new(head.await?);
        self.heads.insert(table.clone(), &head, epoch);
        Ok(head)
    }
}

impl ReadyCommit {
    /// Sets the time of the commit, which is as late as can be: a plan of what was there at a time must find the same again.
    pub(super) fn set_time(&mut self, committed_at_ms: i64) {
        self.commit.committed_at_ms = committed_at_ms;
    }

    /// Holds the commit against its table; writes nothing. It was read for what the table was called, and is for no other one.
    pub(super) fn check<'t>(&'t self, tx: &'t WriteTransaction<'t>) -> Result<CheckedCommit<'t>> {
        self.table.check_still_names(tx, self.commit.table_id).map_err(|error| self.error(error))?;
        let checked_up_to = self.filter.as_ref().map(FilterCheck::checked_up_to);
        tx.check_commit(&self.commit, checked_up_to).map_err(|error| self.error(error.into()))
    }

    /// Makes the commit the table's newest snapshot.
    pub(super) fn record(&self, checked: CheckedCommit<'_>) -> Result<Committed> {
        let done = checked.record().map_err(|error| self.error(error.into()))?;
        Ok(Committed { warnings: self.warnings.clone(), ..done.into() })
    }

    /// What the journal is told of the commit.
    pub(super) fn change(&self, operation: &'static str, done: &Committed) -> Change {
        done.change(operation, &self.table).with("operation", self.commit.operation.name())
    }

    /// What is wrong with the commit, as what is wrong with the request.
    pub(super) fn error(&self, error: Error) -> Error {
        self.place.error(&self.table, error)
    }
}

impl Place {
    /// What is wrong with the commit to a table, as what is wrong with the request.
    pub(super) fn error(self, table: &TableIdent, error: Error) -> Error {
        let Self::Part(index) = self else { return error };
        let within = |fault: Fault| fault.within(&format!("commits[{index}]"));
        match error {
            Error::Invalid(faults) => Error::Invalid(faults.into_iter().map(within).collect()),
            Error::Filter(errors) => Error::Invalid(errors.iter().map(Fault::of_filter).map(within).collect()),
            // All is checked and tried again.
            Error::HeadMoved => Error::HeadMoved,
            other => Error::OfTable { table: table.clone(), source: Box::new(other) },
        }
    }
}

/// The files that are to be added, with what there is to warn of; or the faults of all together, with those that were found
/// before.
fn registered(outcomes: Vec<Outcome>, mut faults: Vec<Fault>) -> Result<(Vec<NewDataFile>, Vec<Fault>)> {
    let (mut add, mut warnings) = (Vec::with_capacity(outcomes.len()), Vec::new());
    let mut unavailable = None;
    for (index, result) in outcomes {
        let placed = |fault: Fault| match fault.at.as_deref() {
            Some(PATH_FIELD) => fault.within(&format!("add[{index}]")),
            _ => Fault { at: Some(format!("add[{index}]")), ..fault },
        };
        match result {
            Ok(registered) => {
                add.push(registered.file);
                warnings.extend(registered.warnings.into_iter().map(placed));
            }
            Err(Refusal::Faults(of_file)) => faults.extend(of_file.into_iter().map(placed)),
            Err(Refusal::Unavailable { path, source }) => {
                unavailable.get_or_insert((path, source));
            }
            Err(Refusal::Store(error)) => return Err(error.into()),
        }
    }
    match unavailable {
        Some((path, source)) if faults.is_empty() => Err(Error::StorageUnavailable { path, source }),
        Some(_) => Err(Error::Invalid(faults)),
        None => {
            faults.extend(named_twice(&add));
            if faults.is_empty() { Ok((add, warnings)) } else { Err(Error::Invalid(faults)) }
        }
    }
}

/// What came of the files of a commit and of its filter, or the faults of both.
fn with_filter<F, C>(files: Result<F>, filter: Result<C, Vec<FilterError>>) -> Result<(F, C)> {
    match (files, filter) {
        (Ok(files), Ok(filter)) => Ok((files, filter)),
        (Err(error), Ok(_)) => Err(error),
        (Err(Error::Invalid(faults)), Err(errors)) => {
            Err(Error::Invalid(faults.into_iter().chain(errors.iter().map(Fault::of_filter)).collect()))
        }
        // A store that did not answer is worth another try only when the filter is right.
        (_, Err(errors)) => Err(Error::Filter(errors)),
    }
}

/// The table as it is, and the filter of a commit to it, or what is wrong with that.
fn head_and_filter(
    tx: &ReadTransaction<'_>,
    ident: &TableIdent,
    allowed: Allowed,
    asked: AskedFilter,
) -> Result<(Head, Result<FilterCheck, Vec<FilterError>>)> {
    let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    let schema = TableSchema::load(tx, row.table_id, row.schema_id)?;
    // Said before any file is read. The store looks again.
    if asked.base != SnapshotId::EMPTY {
        tx.load_snapshot(row.table_id, asked.base)?;
    }
    let filter = match OverlapFilter::compile(&schema, asked.filter, asked.nan_order, &asked.limits) {
        Ok(filter) => Ok(FilterCheck::new(&row, Arc::new(filter), asked.base)),
        Err(Error::Filter(errors)) => Err(errors),
        Err(other) => return Err(other),
    };
    Ok((head_of(tx, &row, allowed)?, filter))
}

fn head_of(tx: &ReadTransaction<'_>, row: &TableRow, allowed: Allowed) -> Result<Head> {
    let target = target_of(row, &History::load(tx, row)?, allowed)?;
    Ok(Head { table_id: row.table_id, schema_id: row.schema_id, target })
}

/// What registering and auditing files need to know of a table, whose files may lie where it is said.
pub(crate) fn target_of(row: &TableRow, history: &History, allowed: Allowed) -> Result<Target> {
    let schema = history.current();
    let location = row.location.as_deref().and_then(|text| Location::parse_registered(text, None).ok());
    let properties = StatisticsProperties::parse(&row.properties).map_err(Error::Invalid)?;
    let is_nested = |field: &Field| matches!(field.field_type, Type::List { .. } | Type::Map { .. });
    let has_nested = schema.fields().iter().any(is_nested);
    let (columns, wanted) = (schema.leaf_columns(), history.wanted());
    let (items, holders) = (schema.item_columns(), history.item_holders());
    let kept = properties.kept(&columns, &items);
    Ok(Target { location, allowed, columns, wanted, items, holders, has_nested, properties, kept })
}

/// A path that is added twice, in whichever spellings.
fn named_twice(add: &[NewDataFile]) -> Vec<Fault> {
    let mut seen = HashSet::with_capacity(add.len());
    add.iter()
        .enumerate()
        .filter(|(_, file)| !seen.insert(&file.path))
        .map(|(index, file)| Fault {
            at: Some(format!("add[{index}]")),
            ..Fault::of_path(&file.path, "the commit adds the file more than once")
        })
        .collect()
}

/// The normal spellings of the paths, and a fault for each that is none.
fn removed_paths(paths: &[String], base: Option<&Location>) -> (Vec<String>, Vec<Fault>) {
    let mut removed = Vec::with_capacity(paths.len());
    let mut faults = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        match Location::parse_registered(path, base) {
            Ok(location) => removed.push(location.as_str().to_owned()),
            Err(error) => {
                let at = Some(format!("remove[{index}]"));
                faults.push(Fault { at, ..Fault::of_path(without_credentials(path), error.to_string()) });
            }
        }
    }
    (removed, faults)
}
