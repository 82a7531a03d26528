//! Rollback: a new snapshot with the content of an older one.

use std::sync::Arc;

use prunus_manifest::{NewRollback, SnapshotId, TableRow, WriteTransaction};

use crate::catalog::Catalog;
use crate::commit::{Committed, MAX_COMMIT_ATTEMPTS};
use crate::journal::Made;
use crate::name::TableIdent;
use crate::once::{Done, Once};
use crate::{Error, Result};

impl Catalog {
    /// Makes a snapshot with the content of an older one, or of the empty table, 0. No file is read: what comes back is known
    /// as it was. Where nothing differs the snapshot is made all the same.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], also for a snapshot that is expired; [`crate::Error::Invalid`] if more files differ than
    /// one rollback may change; [`crate::Error::HeadMoved`] if the table does not stand still; [`crate::Error::Store`].
    pub async fn roll_back(&self, ident: TableIdent, snapshot_id: SnapshotId) -> Result<Committed> {
        self.roll_back_once(ident, snapshot_id, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::roll_back`], and [`KeyReused`](crate::Error::KeyReused).
    pub async fn roll_back_once(
        &self,
        ident: TableIdent,
        snapshot_id: SnapshotId,
        once: Once<Committed>,
    ) -> Result<Done<Committed>> {
        let done = self.roll_back_uncounted(ident.clone(), snapshot_id, once).await;
        self.activity.commits.outcomes.count(&done);
        if let Ok(Done::Now(committed)) = &done {
            self.activity.commits.record(&ident, committed);
        }
        done
    }

    async fn roll_back_uncounted(
        &self,
        ident: TableIdent,
        snapshot_id: SnapshotId,
        once: Once<Committed>,
    ) -> Result<Done<Committed>> {
        let place = Arc::new(self.admission.change()?);
        let committed_at_ms = self.clock.now_ms();
        for _ in 0..MAX_COMMIT_ATTEMPTS {
            let table = ident.clone();
            // What differs may fill many blocks, and no commit is to wait until they are read.
            let (table_id, mut prepared) = self
                .read_for_change(move |tx, _| {
                    let TableRow { table_id, .. } = tx.load_table(table.namespace.as_str(), table.name.as_str())?;
                    Ok((table_id, tx.prepare_rollback(&NewRollback { table_id, snapshot_id, committed_at_ms })?))
                })
                .await?;
            prepared.set_time(self.clock.now_ms());
            let table = ident.clone();
            let roll_back = move |tx: &WriteTransaction<'_>| {
                table.check_still_names(tx, table_id)?;
                let done: Committed = tx.roll_back(&prepared)?.into();
                let made = done.change("roll_back", &table).with("rolled_back_to", snapshot_id.0);
                Ok(Made::change(done, made))
            };
            let (done, times) = self.write_once_at(&place, once.clone(), roll_back).await;
            self.activity.commits.record_writing(times);
            match done {
                // It does not matter to the request which schema there is.
                Err(Error::HeadMoved | Error::SchemaMoved) => {}
                done => return done,
            }
        }
        Err(Error::HeadMoved)
    }
}
