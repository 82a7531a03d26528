//! Commits with a filter, held against the files that others have added.
//!
//! The check runs in a read transaction and the commit in one of the writer's, so that no commit waits for the pruning of
//! another. The store refuses a commit whose table has moved in between; then only what came in between is checked, and the
//! commit is tried again.

use std::sync::Arc;

use prunus_manifest::{
    Conflict, ConflictReason, ReadTransaction, SchemaId, SnapshotId, TableId, TableRow, WriteTransaction,
};

use super::ready::ReadyCommit;
use crate::admission::ChangePlace;
use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::journal::Made;
use crate::once::{Done, Once};
use crate::plan::OverlapFilter;
use crate::plan_cache::{PlanCache, PlanReader};
use crate::{Error, Result};

/// How often a commit is checked and tried before its writer is told that the table moves too fast.
pub const MAX_COMMIT_ATTEMPTS: usize = 16;

/// The most paths that a conflict with a filter lists.
pub const MAX_LISTED_CONFLICTS: usize = 100;

/// A commit's filter, and how far the table has been held against it.
#[derive(Clone)]
pub(super) struct FilterCheck {
    table_id: TableId,
    /// The schema that the filter is bound to.
    schema_id: SchemaId,
    filter: Arc<OverlapFilter>,
    /// No file that was added between the base and this snapshot is in the way.
    checked_up_to: SnapshotId,
}

impl Catalog {
    /// Checks the filters of commits that belong together and applies them, again where a table moved in between.
    pub(super) async fn commit_ready<R, T>(
        &self,
        ready: R,
        place: Arc<ChangePlace>,
        once: Once<T>,
        apply: fn(&WriteTransaction<'_>, &R) -> Result<Made<T>>,
    ) -> Result<Done<T>>
    where
        R: AsMut<[ReadyCommit]> + Clone + Send + Sync + 'static,
        T: Send + 'static,
    {
        let mut ready = Arc::new(ready);
        for _ in 0..MAX_COMMIT_ATTEMPTS {
            // Nothing is cloned: the job before has given back its share.
            for commit in Arc::make_mut(&mut ready).as_mut() {
                self.check_filter(commit).await?;
            }
            let now_ms = self.clock.now_ms();
            Arc::make_mut(&mut ready).as_mut().iter_mut().for_each(|commit| commit.set_time(now_ms));
            let applied = Arc::clone(&ready);
            let (done, times) = self.write_once_at(&place, once.clone(), move |tx| apply(tx, &applied)).await;
            self.activity.commits.record_writing(times);
            match done {
                Err(Error::HeadMoved) => {}
                Ok(done) => {
                    self.files_came.notify_one();
                    return Ok(done);
                }
                Err(error) => {
                    // What the commits were made for may be out of date.
                    for commit in Arc::make_mut(&mut ready).as_mut() {
                        self.heads.forget(&commit.table);
                    }
                    return Err(error);
                }
            }
        }
        Err(Error::HeadMoved)
    }

    async fn check_filter(&self, commit: &mut ReadyCommit) -> Result<()> {
        let Some(check) = commit.filter.clone() else { return Ok(()) };
        let (cache, ident) = (self.plan_cache.clone(), commit.table.clone());
        let check = move |tx: &ReadTransaction<'_>, cancelled: &Cancelled| {
            // What is in the way is told, and is for those alone who may see the table under its name.
            ident.check_still_names(tx, check.table_id)?;
            check.run(tx, &cache, cancelled)
        };
        let checked = self.read_for_change(check).await;
        commit.filter = Some(checked.map_err(|error| commit.error(error))?);
        Ok(())
    }
}

impl FilterCheck {
    /// A filter over the table's current schema that nothing after `base` was held against.
    pub(super) fn new(table: &TableRow, filter: Arc<OverlapFilter>, base: SnapshotId) -> Self {
        Self { table_id: table.table_id, schema_id: table.schema_id, filter, checked_up_to: base }
    }

    pub(super) fn checked_up_to(&self) -> SnapshotId {
        self.checked_up_to
    }

    /// The check with what was added since the last time looked at.
    fn run(self, tx: &ReadTransaction<'_>, cache: &PlanCache, cancelled: &Cancelled) -> Result<Self> {
        let table = tx.load_table_by_id(self.table_id)?;
        if table.schema_id != self.schema_id {
            return Err(Error::SchemaMoved);
        }
        let current_snapshot = table.current_snapshot;
        if current_snapshot == self.checked_up_to {
            return Ok(self);
        }
        let reader = PlanReader::new(cache, tx, &table, cancelled);
        let mut in_the_way = self.filter.files_that_may_match(&reader, &table, self.checked_up_to)?;
        if in_the_way.is_empty() {
            return Ok(Self { checked_up_to: current_snapshot, ..self });
        }
        in_the_way.truncate(MAX_LISTED_CONFLICTS);
        let files = tx.load_data_files(&in_the_way)?;
        let conflict = |path| Conflict { path, reason: ConflictReason::MayMatch };
        let conflicts = files.into_iter().map(|file| conflict(file.path)).collect();
        Err(Error::Conflict { current_snapshot, conflicts })
    }
}
