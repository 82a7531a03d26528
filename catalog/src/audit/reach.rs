//! Files are asked of their stores, some at once. A store that gives none of them is told from a file that it does not give: an
//! audit that is let in nowhere has found nothing wrong with ten thousand files.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt, stream};
use prunus_manifest::{DataFileRow, FileId, InspectedFile};

use super::examine::{Examined, examine};
use super::outcome::Outcome;
use super::reading::Reading;
use super::step::{Batch, MAX_FILES_PER_STEP};
use crate::catalog::Catalog;
use crate::location::{Location, without_credentials};
use crate::storage::{Allowed, StorageError};
use crate::{Error, Result};

/// How many files are read at once.
const MAX_FILES_AT_ONCE: usize = 16;
/// How many other files of a store that gives none are asked for.
const MAX_PROBES: usize = 16;

/// Whether a file whose store may give it later is asked for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It is: the first such file ends the attempt.
    First,
    /// It was asked for often enough, and counts as unreadable if its store gives others.
    Last,
}

/// A file that its store did not give.
struct Withheld {
    file: Arc<InspectedFile>,
    source: StorageError,
}

/// How far the files of a batch have been looked at.
struct Progress {
    examined: Vec<(Arc<InspectedFile>, Examined)>,
    withheld: Vec<Withheld>,
    /// The stores that gave something.
    open_stores: BTreeSet<String>,
}

impl Catalog {
    /// Looks at files, some at once, in their order.
    ///
    /// # Errors
    /// [`Error::StorageUnavailable`] with the first file whose store gives no others, or may give it later.
    pub(super) async fn examine_all(&self, batch: &Batch, reading: Reading, attempt: Attempt) -> Result<Outcome> {
        let allowed = &batch.audited.target.allowed;
        let storage = Arc::new(self.storage.within(allowed));
        let examine = |file: Arc<InspectedFile>| {
            let examination = examine(Arc::clone(&storage), Arc::clone(&batch.audited), Arc::clone(&file), reading);
            async move { (file, examination.await) }
        };
        let mut all = stream::iter(batch.files.iter().cloned()).map(examine).buffered(MAX_FILES_AT_ONCE);
        let mut progress = Progress { examined: Vec::new(), withheld: Vec::new(), open_stores: BTreeSet::new() };
        while let Some((file, result)) = all.next().await {
            match result {
                Ok(examined) => progress.add(file, examined, allowed),
                Err(source) if source.is_retryable() && (attempt == Attempt::First || progress.is_dying()) => {
                    return Err(unavailable(&file, source));
                }
                Err(source) => {
                    progress.withheld.push(Withheld { file, source });
                    if progress.withheld.len() == MAX_FILES_AT_ONCE {
                        self.check_stores(batch, &mut progress).await?;
                    }
                }
            }
        }
        self.check_stores(batch, &mut progress).await?;
        let outcome = progress.into_outcome(batch);
        self.activity.audits.files_read.add(outcome.examined.len() as u64);
        self.activity.audits.bytes_read.add(outcome.bytes_read());
        Ok(outcome)
    }

    /// Fails if files were withheld by a store that gives no others.
    async fn check_stores(&self, batch: &Batch, progress: &mut Progress) -> Result<()> {
        while let Some((index, store)) = progress.closed_store() {
            if !self.is_open(batch, progress.withheld_files(), &store).await? {
                let Withheld { file, source } = progress.withheld.swap_remove(index);
                return Err(unavailable(&file, source));
            }
            progress.open_stores.insert(store);
        }
        Ok(())
    }

    /// Whether a store says anything of other files of the table: of the first of its snapshot, of those of the batch, and of
    /// those after it.
    async fn is_open(&self, batch: &Batch, withheld: BTreeSet<FileId>, store: &str) -> Result<bool> {
        let (table_id, snapshot_id) = (batch.table_id, batch.snapshot_id);
        let first = batch.files.first().map(|file| file.row.file_id);
        let rows = self.read(move |tx| {
            let mut rows = tx.list_live_files(table_id, snapshot_id, None, MAX_FILES_PER_STEP)?;
            rows.extend(tx.list_live_files(table_id, snapshot_id, first, 2 * MAX_FILES_PER_STEP)?);
            Ok(rows)
        });
        let mut seen = withheld;
        let allowed = &batch.audited.target.allowed;
        let storage = self.storage.within(allowed);
        let located = |row: DataFileRow| Location::parse_registered(&row.path, None).ok();
        let others: Vec<Location> = rows
            .await?
            .into_iter()
            .filter(|row| seen.insert(row.file_id))
            .filter_map(located)
            .filter(|location| location.store() == store && allowed.check_file(location).is_ok())
            .take(MAX_PROBES)
            .collect();
        let storage = &storage;
        let probe = |location: Location| async move {
            storage.head(&location).await.err().is_none_or(|error| !error.may_be_of_all())
        };
        let mut answers = stream::iter(others).map(probe).buffer_unordered(MAX_PROBES);
        while let Some(is_answer) = answers.next().await {
            if is_answer {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn unavailable(file: &InspectedFile, source: StorageError) -> Error {
    Error::StorageUnavailable { path: without_credentials(&file.row.path).into_owned(), source }
}

/// The store that a file is in, if it may be asked for it.
fn store_of(file: &InspectedFile, allowed: &Allowed) -> Option<String> {
    let location = Location::parse_registered(&file.row.path, None).ok()?;
    allowed.check_file(&location).ok().map(|()| location.store().to_owned())
}

impl Progress {
    fn add(&mut self, file: Arc<InspectedFile>, examined: Examined, allowed: &Allowed) {
        let was_asked = examined.bytes_read > 0 || !examined.findings.is_empty();
        if let Some(store) = store_of(&file, allowed).filter(|_| was_asked) {
            self.open_stores.insert(store);
        }
        self.examined.push((file, examined));
    }

    fn withheld_files(&self) -> BTreeSet<FileId> {
        self.withheld.iter().map(|withheld| withheld.file.row.file_id).collect()
    }

    /// Whether so many files were not given for now that it is hardly they who are at fault.
    fn is_dying(&self) -> bool {
        self.withheld.iter().filter(|withheld| withheld.source.is_retryable()).count() >= MAX_FILES_AT_ONCE
    }

    /// A store that withheld a file and of which nothing shows that it gives any, with the place of the file.
    fn closed_store(&self) -> Option<(usize, String)> {
        let store = |(index, withheld): (usize, &Withheld)| {
            if !withheld.source.may_be_of_all() {
                return None;
            }
            let store =
                store_of(&withheld.file, &Allowed::Anything).filter(|store| !self.open_stores.contains(store))?;
            Some((index, store))
        };
        self.withheld.iter().enumerate().find_map(store)
    }

    fn into_outcome(self, batch: &Batch) -> Outcome {
        let mut examined = self.examined;
        let not_given = |Withheld { file, source }: Withheld| {
            let examined = Examined::not_given(&file, &source);
            (file, examined)
        };
        examined.extend(self.withheld.into_iter().map(not_given));
        examined.sort_by_key(|(file, _)| file.row.file_id);
        Outcome { audited: Arc::clone(&batch.audited), examined }
    }
}
