//! Expiry: old snapshots go, and the files that no other names are forgotten. No object is ever deleted.
//!
//! It goes in steps, each a transaction of its own, so that no commit waits long: first snapshots, then files. Where it ends
//! in between, nothing is wrong, and a later call goes on.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use prunus_manifest::{Bounded, Expiry, Gap, ReadTransaction, SnapshotId, TableId};

use crate::catalog::Catalog;
use crate::name::TableIdent;
use crate::{Error, Fault, Result};

/// The most snapshots that one call lets go.
pub const MAX_EXPIRED_SNAPSHOTS: u32 = 100_000;

/// The most files that one call forgets.
pub const MAX_FORGOTTEN_FILES: u32 = 100_000;

/// How many snapshots or files one transaction deletes at most.
const MAX_PER_STEP: u32 = 1_000;

/// What is to be expired. At least one of the two limits is given; both must let a snapshot go.
#[derive(Clone, Copy, Debug)]
pub struct ExpireRequest {
    /// Keeps what was committed at or after this time, in milliseconds since 1970-01-01T00:00Z.
    pub older_than_ms: Option<i64>,
    /// Keeps so many of the newest; at least 1, which is what `None` is taken as.
    pub keep_last: Option<u32>,
    /// Whether it is to be done.
    pub run: ExpireRun,
}

/// Whether an expiry is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpireRun {
    /// It is only said what would be done.
    Dry,
    /// It is done.
    Real,
}

/// What went, or would go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// The snapshots, oldest first.
    pub snapshots: Vec<SnapshotId>,
    /// How many files are forgotten: none of the snapshots that stay names them.
    pub forgotten_files: u64,
    /// The paths of these that no file of any table has any more, ascending. The objects are still there.
    pub removable: Vec<String>,
    /// Whether another call would find more.
    pub more: bool,
}

/// How much one call may do.
#[derive(Clone, Copy)]
struct Limits {
    snapshots: u32,
    files: u32,
    per_step: u32,
}

const LIMITS: Limits = Limits { snapshots: MAX_EXPIRED_SNAPSHOTS, files: MAX_FORGOTTEN_FILES, per_step: MAX_PER_STEP };

impl Limits {
    /// How much the next step may do of what is bounded by `max`.
    fn of_step(self, max: u32, done: usize) -> u32 {
        max.saturating_sub(u32::try_from(done).unwrap_or(u32::MAX)).min(self.per_step)
    }
}

impl Catalog {
    /// Lets old snapshots go. The newest stays, and what has a tag, and what someone reads page by page. Files that a call
    /// before left over are forgotten, too. A dry run writes nothing and says what the real one would.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no limit is given, or to keep none; [`Error::NotFound`], [`Error::Store`].
    pub async fn expire(&self, ident: TableIdent, request: ExpireRequest) -> Result<Expired> {
        self.expire_within(ident, request, LIMITS).await
    }

    async fn expire_within(&self, ident: TableIdent, request: ExpireRequest, limits: Limits) -> Result<Expired> {
        let keep_last = check(&request)?;
        let load =
            move |tx: &ReadTransaction<'_>| Ok(tx.load_table(ident.namespace.as_str(), ident.name.as_str())?.table_id);
        let table_id = self.read(load).await?;
        let expiry = Expiry { table_id, older_than_ms: request.older_than_ms, keep_last, leased: BTreeSet::new() };
        match request.run {
            ExpireRun::Dry => self.foresee(expiry, limits).await,
            ExpireRun::Real => {
                let snapshots = self.expire_snapshots(expiry, limits).await?;
                self.forget_files(table_id, snapshots, limits).await
            }
        }
    }

    async fn foresee(&self, expiry: Expiry, limits: Limits) -> Result<Expired> {
        let expiry = self.with_leases(&expiry);
        self.read(move |tx| {
            let snapshots = tx.list_expirable(&expiry, limits.snapshots)?;
            let gaps = tx.list_gaps(expiry.table_id, &snapshots.items)?;
            let files = tx.list_unneeded_files(expiry.table_id, &gaps, limits.files)?;
            Ok(Expired {
                forgotten_files: files.items.len() as u64,
                removable: tx.list_removable_paths(&files.items)?,
                more: snapshots.more || files.more,
                snapshots: snapshots.items,
            })
        })
        .await
    }

    async fn expire_snapshots(&self, expiry: Expiry, limits: Limits) -> Result<Bounded<SnapshotId>> {
        let mut expired = Bounded { items: Vec::new(), more: true };
        while expired.more {
            let limit = limits.of_step(limits.snapshots, expired.items.len());
            if limit == 0 {
                break;
            }
            let (catalog, expiry) = (self.clone(), expiry.clone());
            // Leases are read on the writer's thread, as late as can be.
            let step = self.write(move |tx| Ok(tx.expire_snapshots(&catalog.with_leases(&expiry), limit)?)).await?;
            expired.items.extend(step.items);
            expired.more = step.more;
        }
        Ok(expired)
    }

    async fn forget_files(&self, table_id: TableId, snapshots: Bounded<SnapshotId>, limits: Limits) -> Result<Expired> {
        let gaps: Arc<[Gap]> = self.read(move |tx| Ok(tx.list_gaps(table_id, &[])?.into())).await?;
        let mut expired = Expired { snapshots: snapshots.items, ..Expired::default() };
        let mut more = true;
        while more {
            let done = usize::try_from(expired.forgotten_files).unwrap_or(usize::MAX);
            let limit = limits.of_step(limits.files, done);
            if limit == 0 {
                break;
            }
            let gaps = Arc::clone(&gaps);
            let step = self.write(move |tx| Ok(tx.forget_files(table_id, &gaps, limit)?)).await?;
            expired.forgotten_files += step.files;
            expired.removable.extend(step.removable);
            more = step.more;
        }
        expired.removable.sort_unstable();
        expired.more = more || snapshots.more;
        Ok(expired)
    }

    fn with_leases(&self, expiry: &Expiry) -> Expiry {
        Expiry { leased: self.leases.held(expiry.table_id, self.clock.now_ms()), ..expiry.clone() }
    }
}

fn check(request: &ExpireRequest) -> Result<NonZeroU32> {
    if request.older_than_ms.is_none() && request.keep_last.is_none() {
        let message = "older_than or keep_last must say which snapshots are to stay";
        return Err(Error::invalid(Fault::at("older_than", message)));
    }
    let fault = || Error::invalid(Fault::at("keep_last", "the newest snapshot cannot go: keep_last is at least 1"));
    NonZeroU32::new(request.keep_last.unwrap_or(1)).ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AddedFile, CatalogOptions, CommitRequest, NewTable, Operation, SchemaSource};

    /// A table of seven snapshots, each of which replaces the one file of the one before.
    async fn catalog() -> (Catalog, TableIdent, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let ident: TableIdent = "n.t".parse().unwrap();
        catalog.create_namespace(ident.namespace.clone(), [].into()).await.unwrap();
        let table = NewTable {
            ident: ident.clone(),
            schema: SchemaSource::Fields(Vec::new()),
            location: Some("/data".to_owned()),
            cluster_by: None,
            properties: [("verification".to_owned(), "declared".to_owned())].into(),
        };
        catalog.create_table(table).await.unwrap();
        for snapshot in 1..8 {
            let commit = CommitRequest {
                operation: Operation::Overwrite,
                base_snapshot: None,
                add: vec![AddedFile { path: snapshot.to_string(), size_bytes: Some(1), ..AddedFile::default() }],
                remove: (1..snapshot).last().map(|before: i32| before.to_string()).into_iter().collect(),
                summary: [].into(),
            };
            catalog.commit(ident.clone(), commit).await.unwrap();
        }
        (catalog, ident, folder)
    }

    /// Each call up to the one that leaves nothing: how many snapshots and files went, and whether there was more.
    async fn calls(limits: Limits) -> Vec<(usize, u64, bool)> {
        let (catalog, ident, _folder) = catalog().await;
        let mut calls: Vec<(usize, u64, bool)> = Vec::new();
        while calls.last().is_none_or(|(.., more)| *more) {
            let request = |run| ExpireRequest { older_than_ms: None, keep_last: Some(1), run };
            let dry = catalog.expire_within(ident.clone(), request(ExpireRun::Dry), limits).await.unwrap();
            let real = catalog.expire_within(ident.clone(), request(ExpireRun::Real), limits).await.unwrap();
            assert_eq!(dry, real);
            assert_eq!(real.removable.len() as u64, real.forgotten_files);
            calls.push((real.snapshots.len(), real.forgotten_files, real.more));
        }
        calls
    }

    #[tokio::test]
    async fn a_call_lets_snapshots_go_up_to_the_limit() {
        assert_eq!(calls(Limits { snapshots: 6, files: 100, per_step: 4 }).await, [(6, 6, false)]);
        assert_eq!(calls(Limits { snapshots: 5, files: 100, per_step: 2 }).await, [(5, 5, true), (1, 1, false)]);
    }

    #[tokio::test]
    async fn a_call_forgets_files_up_to_the_limit() {
        assert_eq!(calls(Limits { snapshots: 100, files: 6, per_step: 4 }).await, [(6, 6, false)]);
        assert_eq!(calls(Limits { snapshots: 100, files: 5, per_step: 2 }).await, [(6, 5, true), (0, 1, false)]);
    }
}
