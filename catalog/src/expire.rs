//! Expiry: old snapshots go, and the files that no other names are forgotten. No object is ever deleted.
//!
//! It goes in steps, each a transaction of its own, so that no commit waits long: first snapshots, then files. Where it ends
//! in between, nothing is wrong, and a later call goes on. But which paths have become free is known to that call alone: so it
//! ends only with the process, and tells what was done even if a later step fails.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use prunus_manifest::{
    Expiry, FileId, Gap, GrowingEntry, ReadTransaction, SnapshotId, TableId, UnneededFile, WriteTransaction,
};

use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::journal::Change;
use crate::leases::Leases;
use crate::name::TableIdent;
use crate::named::NamedPath;
use crate::{Error, Fault, Result, blocking};

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
    /// The paths of these that no file of any table had any more, in whichever spelling, when the call ended; ascending. The
    /// objects are still there.
    pub removable: Vec<String>,
    /// Whether another call would find more, or may, since a step of this one failed.
    pub more: bool,
}

impl Expired {
    /// How many files are forgotten so far.
    fn files(&self) -> usize {
        usize::try_from(self.forgotten_files).unwrap_or(usize::MAX)
    }

    /// Notes that a step failed, unless it was the first: then the error is the answer.
    fn or_failure(&mut self, step: Result<bool>) -> Result<()> {
        let is_nothing_done = self.snapshots.is_empty() && self.forgotten_files == 0;
        match step {
            Err(error) if is_nothing_done => return Err(error),
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a step of an expiry failed");
                self.more = true;
            }
            Ok(more) => self.more |= more,
        }
        Ok(())
    }
}

/// The table that was asked for, by the name that it had then.
struct Asked {
    ident: TableIdent,
    table_id: TableId,
}

/// What is done so far, and the journal's entry of it.
struct Progress {
    asked: Arc<Asked>,
    expired: Expired,
    entry: GrowingEntry,
}

impl Asked {
    /// That it is still called so: it may take long, and what it is called otherwise may be another's.
    fn check(&self, tx: &WriteTransaction<'_>) -> Result<()> {
        self.ident.check_still_names(tx, self.table_id)
    }
}

/// The entry with what one step has done, which may be nothing.
fn grown(entry: GrowingEntry, tx: &WriteTransaction<'_>, name: &str, count: u64) -> Result<GrowingEntry> {
    if count == 0 { Ok(entry) } else { Ok(entry.grow(tx, &[(name, count)])?) }
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
    /// before left over are forgotten, too. A dry run writes nothing and says what the real one would. A real one goes on when
    /// its caller goes away; when a step fails after others were done, it says what these did.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no limit is given, or to keep none; [`Error::NotFound`], [`Error::Store`].
    pub async fn expire(&self, ident: TableIdent, request: ExpireRequest) -> Result<Expired> {
        self.expire_within(ident, request, LIMITS).await
    }

    async fn expire_within(&self, ident: TableIdent, request: ExpireRequest, limits: Limits) -> Result<Expired> {
        let keep_last = check(&request).map_err(Error::Invalid)?;
        // The step that writes it gives it its time.
        let entry = self.scribe_at(0).growing(Change::of_table("expire_snapshots", &ident));
        let load = move |tx: &ReadTransaction<'_>| {
            let table_id = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?.table_id;
            Ok(Asked { ident, table_id })
        };
        let asked = self.read(load).await?;
        let table_id = asked.table_id;
        let expiry = Expiry { table_id, older_than_ms: request.older_than_ms, keep_last, leased: BTreeSet::new() };
        match request.run {
            ExpireRun::Dry => self.foresee(expiry, limits).await,
            ExpireRun::Real => {
                let progress = Progress { asked: Arc::new(asked), expired: Expired::default(), entry };
                let (place, catalog) = (self.admission.change()?, self.clone());
                blocking::to_the_end(async move {
                    let expired = catalog.carry_out(expiry, limits, progress).await;
                    drop(place);
                    expired
                })
                .await
            }
        }
    }

    async fn foresee(&self, expiry: Expiry, limits: Limits) -> Result<Expired> {
        let expiry = with_leases(&expiry, &self.leases, &*self.clock);
        let (mut expired, going) = self
            .read_in_turn(move |tx, _| {
                let snapshots = tx.list_expirable(&expiry, limits.snapshots)?;
                let gaps = tx.list_gaps(expiry.table_id, &snapshots.items)?;
                let files = tx.list_unneeded_files(expiry.table_id, &gaps, limits.files)?;
                let expired = Expired {
                    forgotten_files: files.items.len() as u64,
                    removable: tx.list_removable_paths(&files.items)?,
                    more: snapshots.more || files.more,
                    snapshots: snapshots.items,
                };
                let going: BTreeSet<FileId> = files.items.iter().map(UnneededFile::file_id).collect();
                Ok((expired, going))
            })
            .await?;
        expired.removable = self.list_unnamed(expired.removable, going).await?;
        Ok(expired)
    }

    async fn carry_out(&self, expiry: Expiry, limits: Limits, mut done: Progress) -> Result<Expired> {
        let snapshots = self.expire_snapshots(expiry, limits, &mut done).await;
        let failed = snapshots.is_err();
        done.expired.or_failure(snapshots)?;
        if !failed {
            let files = self.forget_files(limits, &mut done).await;
            done.expired.or_failure(files)?;
        }
        let mut expired = done.expired;
        // What an early step has forgotten may have been committed again since.
        let removable = std::mem::take(&mut expired.removable);
        let checked = self.list_unnamed(removable, BTreeSet::new()).await.map(|unnamed| {
            expired.removable = unnamed;
            false
        });
        expired.or_failure(checked)?;
        Ok(expired)
    }

    /// Lets snapshots go, adds them to what is expired, and says whether there are more.
    async fn expire_snapshots(&self, expiry: Expiry, limits: Limits, done: &mut Progress) -> Result<bool> {
        let mut more = true;
        while more {
            let limit = limits.of_step(limits.snapshots, done.expired.snapshots.len());
            if limit == 0 {
                break;
            }
            // Not the whole catalog: the last hold on the store must not be let go on the writer's thread.
            let (leases, clock, expiry) = (Arc::clone(&self.leases), Arc::clone(&self.clock), expiry.clone());
            let (entry, asked) = (done.entry.clone(), Arc::clone(&done.asked));
            // Leases are read on the writer's thread, as late as can be.
            let step = move |tx: &WriteTransaction<'_>| {
                asked.check(tx)?;
                let step = tx.expire_snapshots(&with_leases(&expiry, &leases, &*clock), limit)?;
                let entry = entry.clone().at(clock.now_ms());
                let entry = grown(entry, tx, "expired_snapshots", step.items.len() as u64)?;
                Ok((step, entry))
            };
            let (step, entry) = self.write(step).await?;
            done.entry = entry;
            done.expired.snapshots.extend(step.items);
            more = step.more;
        }
        Ok(more)
    }

    /// Forgets files, adds them to what is expired, and says whether there are more.
    async fn forget_files(&self, limits: Limits, done: &mut Progress) -> Result<bool> {
        let table_id = done.asked.table_id;
        let gaps: Arc<[Gap]> = self.read(move |tx| Ok(tx.list_gaps(table_id, &[])?.into())).await?;
        let (mut done_gaps, mut more) = (0, false);
        while done_gaps < gaps.len() {
            let limit = limits.of_step(limits.files, done.expired.files());
            if more && limit == 0 {
                break;
            }
            let (gaps, clock, entry) = (Arc::clone(&gaps), Arc::clone(&self.clock), done.entry.clone());
            let asked = Arc::clone(&done.asked);
            let step = move |tx: &WriteTransaction<'_>| {
                asked.check(tx)?;
                let step = tx.forget_files(table_id, gaps.get(done_gaps..).unwrap_or_default(), limit)?;
                let entry = grown(entry.clone().at(clock.now_ms()), tx, "forgotten_files", step.files)?;
                Ok((step, entry))
            };
            let (step, entry) = self.write(step).await?;
            done.entry = entry;
            done.expired.forgotten_files += step.files;
            done.expired.removable.extend(step.removable);
            done_gaps += step.done_gaps;
            more = step.more;
        }
        Ok(more)
    }

    /// Those of the paths that no file other than these names now; ascending, each once.
    async fn list_unnamed(&self, paths: Vec<String>, except: BTreeSet<FileId>) -> Result<Vec<String>> {
        if paths.is_empty() {
            return Ok(paths);
        }
        let (turn, store) = (self.admission.read_for_change().await?, Arc::clone(&self.store));
        blocking::run_while_awaited(turn, move |cancelled| {
            // The file system is asked before the transaction, which should be short.
            let paths: BTreeSet<String> = paths.into_iter().collect();
            let paths: Vec<NamedPath> = paths.into_iter().map(NamedPath::of).collect();
            store.read(|tx| {
                let mut unnamed = Vec::with_capacity(paths.len());
                for path in paths {
                    cancelled.check()?;
                    if !path.is_named(tx, &except)? {
                        unnamed.push(path.path);
                    }
                }
                Ok(unnamed)
            })
        })
        .await
    }
}

fn with_leases(expiry: &Expiry, leases: &Leases, clock: &dyn Clock) -> Expiry {
    Expiry { leased: leases.held(expiry.table_id, clock.now_ms()), ..expiry.clone() }
}

/// How many snapshots stay, or what is wrong with the limits.
fn check(request: &ExpireRequest) -> Result<NonZeroU32, Vec<Fault>> {
    if request.older_than_ms.is_none() && request.keep_last.is_none() {
        let message = "older_than or keep_last must say which snapshots are to stay";
        return Err(vec![Fault::at("older_than", message)]);
    }
    let none = || vec![Fault::at("keep_last", "the newest snapshot cannot go: keep_last is at least 1")];
    NonZeroU32::new(request.keep_last.unwrap_or(1)).ok_or_else(none)
}

impl ExpireRequest {
    /// What is wrong with it, as far as that can be seen without the table.
    pub fn faults(&self) -> Vec<Fault> {
        check(self).err().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    use tokio::sync::Notify;

    use super::*;
    use crate::{AddedFile, CatalogOptions, CommitRequest, NewTable, Operation, SchemaSource, SystemClock};

    /// A table of seven snapshots, each of which replaces the one file of the one before.
    async fn catalog(options: CatalogOptions) -> (Catalog, TableIdent, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), options).await.unwrap();
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
                filter: None,
                nan_order: prunus_pruner::NanOrder::Any,
                summary: [].into(),
            };
            catalog.commit(ident.clone(), commit).await.unwrap();
        }
        (catalog, ident, folder)
    }

    /// Each call up to the one that leaves nothing: how many snapshots and files went, and whether there was more.
    async fn calls(limits: Limits) -> Vec<(usize, u64, bool)> {
        let (catalog, ident, _folder) = catalog(CatalogOptions::default()).await;
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

    /// A clock on which, once it is told to, the next to look must wait.
    #[derive(Debug, Default)]
    struct Gate {
        is_armed: AtomicBool,
        reached: Notify,
        go_on: (Mutex<bool>, Condvar),
    }

    impl Clock for Gate {
        fn now_ms(&self) -> i64 {
            if self.is_armed.swap(false, Ordering::SeqCst) {
                self.reached.notify_one();
                drop(self.go_on.1.wait_while(self.go_on.0.lock().unwrap(), |go_on| !*go_on).unwrap());
            }
            0
        }

        fn new_uuid(&self) -> uuid::Uuid {
            SystemClock.new_uuid()
        }
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_stops_no_step() {
        let clock = Arc::new(Gate::default());
        let options = CatalogOptions { clock: Arc::clone(&clock) as _, ..CatalogOptions::default() };
        let (catalog, ident, _folder) = catalog(options).await;
        clock.is_armed.store(true, Ordering::SeqCst);
        let request = ExpireRequest { older_than_ms: None, keep_last: Some(1), run: ExpireRun::Real };
        tokio::select! {
            _ = catalog.expire_within(ident.clone(), request, Limits { per_step: 1, ..LIMITS }) => panic!("the clock waits"),
            () = clock.reached.notified() => {}
        }
        *clock.go_on.0.lock().unwrap() = true;
        clock.go_on.1.notify_one();
        let gone = async {
            let dry = ExpireRequest { run: ExpireRun::Dry, ..request };
            while catalog.expire(ident.clone(), dry).await.unwrap() != Expired::default() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), gone).await.unwrap();
    }

    #[tokio::test]
    async fn a_path_that_is_named_again_is_not_removable() {
        let (catalog, _ident, _folder) = catalog(CatalogOptions::default()).await;
        let paths = ["file:///data/7", "file:///data/8", "file:///%64ata/7"].map(str::to_owned).to_vec();
        assert_eq!(catalog.list_unnamed(paths, BTreeSet::new()).await.unwrap(), ["file:///data/8"]);
    }

    #[test]
    fn a_failure_takes_nothing_from_what_was_done() {
        let failure = || Err(Error::Background);
        assert!(Expired::default().or_failure(failure()).is_err());
        let mut expired = Expired { snapshots: vec![SnapshotId(1)], ..Expired::default() };
        assert!(expired.or_failure(failure()).is_ok());
        assert_eq!(expired, Expired { snapshots: vec![SnapshotId(1)], more: true, ..Expired::default() });
    }
}
