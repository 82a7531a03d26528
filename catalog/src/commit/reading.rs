//! The files of a commit, read and held against their table: as many at once as their stores take, and no longer than the
//! commit has time.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout_at};

use super::AddedFile;
use super::heads::Head;
use crate::blocking;
use crate::properties::Verification;
use crate::registration::{LocatedFile, Refusal, Registered, locate, register};
use crate::storage::{MAX_REQUESTS_AT_ONCE, Storage, StorageError};

/// How long a commit or transaction may take to read its files, in all. A file whose store does not answer ends it much earlier.
pub const MAX_READING_TIME: Duration = Duration::from_hours(1);

/// How many threads read files of this machine.
const MAX_THREADS: usize = 8;
/// How many such threads there are over all commits. They wait for others that may block, of which the runtime has so many that
/// some are always left.
const MAX_THREADS_OF_ALL: usize = 32;
/// How many files such a thread reads before it may be another's turn.
const MAX_FILES_PER_TURN: usize = 64;

/// How many declared columns, and files, are looked at where others wait: it takes tens of microseconds.
const MAX_COLUMNS_AT_ONCE: usize = 64;

static THREADS: Semaphore = Semaphore::const_new(MAX_THREADS_OF_ALL);

/// What became of a file, by its place in the commit.
pub(super) type Outcome = (usize, Result<Registered, Refusal>);
/// A file that is to be read, by its place in the commit.
type Numbered = (usize, LocatedFile);

/// Where a commit's files are read from, what they are held against, and until when.
#[derive(Clone)]
pub(super) struct Reader {
    pub(super) storage: Arc<Storage>,
    pub(super) head: Arc<Head>,
    pub(super) deadline: Instant,
}

impl Reader {
    /// Reads or takes all files, and says what became of each, in their order. Once a file's store does not answer, no more are
    /// begun, and those that are left are missing.
    pub(super) async fn register_all(&self, files: Vec<AddedFile>) -> crate::Result<Vec<Outcome>> {
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(files.len());
        let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
        for (index, added) in files.into_iter().enumerate() {
            match locate(&self.head.target, added) {
                Err(refusal) => outcomes.push((index, Err(refusal))),
                Ok(file) if self.is_read_elsewhere(&file) => elsewhere.push((index, file)),
                Ok(file) => here.push((index, file)),
            }
        }
        // A thread would take longer to wake than to do it.
        if self.is_done_at_once(&here) {
            outcomes.extend(self.register_in_turn(std::mem::take(&mut here)).await);
        }
        let here = stream::iter(turns(here)).map(|turn| self.register_here(turn)).buffer_unordered(MAX_THREADS);
        let elsewhere = stream::iter(elsewhere).map(|file| self.register_elsewhere(file));
        let mut all = std::pin::pin!(stream::select(here, elsewhere.buffer_unordered(MAX_REQUESTS_AT_ONCE)));
        loop {
            match timeout_at(self.deadline, all.next()).await {
                Ok(None) => break,
                Ok(Some(more)) => {
                    let more = more?;
                    let is_over = more.iter().any(|(_, result)| matches!(result, Err(Refusal::Unavailable { .. })));
                    outcomes.extend(more);
                    if is_over {
                        break;
                    }
                }
                Err(_) => {
                    outcomes.extend(too_slow(&outcomes, paths));
                    break;
                }
            }
        }
        outcomes.sort_unstable_by_key(|(index, _)| *index);
        Ok(outcomes)
    }

    /// Whether nothing is read of these files, and little is said of them.
    fn is_done_at_once(&self, files: &[Numbered]) -> bool {
        let columns: usize = files.iter().map(|(_, file)| 1 + file.added.columns.len()).sum();
        self.head.target.properties.verification == Verification::Declared && columns <= MAX_COLUMNS_AT_ONCE
    }

    fn is_read_elsewhere(&self, file: &LocatedFile) -> bool {
        self.head.target.properties.verification != Verification::Declared && !file.location.is_local()
    }

    /// Files that are on this machine or need not be read, one after the other on a thread that may block.
    async fn register_here(&self, files: Vec<Numbered>) -> crate::Result<Vec<Outcome>> {
        // It is never closed.
        let thread = THREADS.acquire().await.ok();
        let reader = self.clone();
        let work = async move {
            let outcomes = reader.register_in_turn(files).await;
            drop(thread);
            outcomes
        };
        on_thread(work.boxed()).await
    }

    async fn register_in_turn(&self, files: Vec<Numbered>) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(files.len());
        for (index, mut file) in files {
            if self.head.target.properties.verification != Verification::Declared {
                file.footer = self.storage.read_local_footer(&file.location);
            }
            let outcome = self.register(file).await;
            let is_over = matches!(outcome, Err(Refusal::Unavailable { .. }));
            outcomes.push((index, outcome));
            if is_over {
                break;
            }
            // The commit may be over for another reason.
            tokio::task::yield_now().await;
        }
        outcomes
    }

    async fn register_elsewhere(&self, (index, mut file): Numbered) -> crate::Result<Vec<Outcome>> {
        let footer = file.footer.insert(self.storage.read_footer(&file.location).await);
        if let Ok(footer) = footer
            && footer.is_long()
        {
            // It has room before it has a thread, and so waits for nothing that another one has: there are few that have room.
            self.storage.make_room(footer).await;
            let reader = self.clone();
            let work = async move { vec![(index, reader.register(file).await)] };
            return on_thread(work.boxed()).await;
        }
        Ok(vec![(index, self.register(file).await)])
    }

    async fn register(&self, mut file: LocatedFile) -> Result<Registered, Refusal> {
        if let Some(Ok(footer)) = &mut file.footer {
            self.storage.make_room(footer).await;
        }
        register(&self.storage, &self.head.target, file).await
    }
}

/// Runs work that now blocks and now waits on a thread that may block, until nobody waits for its outcomes any more.
async fn on_thread(work: BoxFuture<'static, Vec<Outcome>>) -> crate::Result<Vec<Outcome>> {
    let runtime = Handle::current();
    let (waiting, gone) = oneshot::channel::<()>();
    let work = async move {
        tokio::select! {
            biased;
            _ = gone => Vec::new(),
            outcomes = work => outcomes,
        }
    };
    let outcomes = blocking::run(move || Ok(runtime.block_on(work))).await;
    drop(waiting);
    outcomes
}

/// The files in parts that are one thread's work: small ones where there are few, so that all threads have some.
fn turns(mut files: Vec<Numbered>) -> Vec<Vec<Numbered>> {
    let size = files.len().div_ceil(MAX_THREADS).clamp(1, MAX_FILES_PER_TURN);
    let mut turns = Vec::with_capacity(files.len().div_ceil(size));
    while !files.is_empty() {
        turns.push(files.split_off(files.len().saturating_sub(size)));
    }
    turns
}

/// That the first file that nothing has become of yet will not be waited for.
fn too_slow(outcomes: &[Outcome], paths: Vec<String>) -> Option<Outcome> {
    let done: HashSet<usize> = outcomes.iter().map(|(index, _)| *index).collect();
    let (index, path) = paths.into_iter().enumerate().find(|(index, _)| !done.contains(index))?;
    Some((index, Err(Refusal::Unavailable { path, source: StorageError::TooSlow })))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prunus_manifest::Operation;
    use prunus_pruner::NanOrder;

    use super::*;
    use crate::commit::CommitRequest;
    use crate::{Catalog, CatalogOptions, Error, FieldJson, NewTable, SchemaSource, TableIdent};

    /// A table of one column, an int32.
    async fn create_table(catalog: &Catalog, name: &str, properties: &[(&str, &str)]) -> TableIdent {
        let table: TableIdent = "n.t".parse().unwrap();
        catalog.create_namespace("n".parse().unwrap(), BTreeMap::new()).await.unwrap();
        let field: FieldJson = serde_json::from_value(serde_json::json!({"name": name, "type": "int32"})).unwrap();
        let new = NewTable {
            ident: table.clone(),
            schema: SchemaSource::Fields(vec![field.to_new_field().unwrap()]),
            location: None,
            cluster_by: None,
            properties: properties.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        };
        catalog.create_table(new).await.unwrap();
        table
    }

    fn append(paths: Vec<String>) -> CommitRequest {
        CommitRequest {
            operation: Operation::Append,
            base_snapshot: None,
            add: paths.into_iter().map(|path| AddedFile { path, ..AddedFile::default() }).collect(),
            remove: Vec::new(),
            filter: None,
            nan_order: NanOrder::Any,
            summary: BTreeMap::new(),
        }
    }

    #[tokio::test]
    async fn a_commit_does_not_wait_beyond_its_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let table = create_table(&catalog, "a", &[]).await;
        // It takes connections and never answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let path = format!("http://{}/a", silent.local_addr().unwrap());
        let request = append(vec![path.clone()]);
        let ready = catalog.make_ready(table, request, Instant::now() + Duration::from_millis(50)).await;
        let Err(Error::StorageUnavailable { path: told, source: StorageError::TooSlow }) = ready.map(drop) else {
            panic!("it is not ready")
        };
        assert_eq!(told, path);
    }

    #[test]
    fn commits_that_read_data_leave_threads_for_each_other() {
        let threads = MAX_THREADS_OF_ALL + 8;
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).max_blocking_threads(threads).enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let catalog = Arc::new(Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap());
            let table = create_table(&catalog, "x", &[("verification", "scan")]).await;
            let (bytes, _) = crate::collect::file_of_one_column();
            let paths: Vec<String> = (0..MAX_THREADS)
                .map(|number| folder.path().join(format!("{number}.parquet")).to_str().unwrap().to_owned())
                .collect();
            for path in &paths {
                std::fs::write(path, &bytes).unwrap();
            }
            let deadline = Instant::now() + Duration::from_mins(1);
            let commits = (0..40).map(|_| {
                let (catalog, table, request) = (Arc::clone(&catalog), table.clone(), append(paths.clone()));
                tokio::spawn(async move { catalog.make_ready(table, request, deadline).await.map(drop) })
            });
            for commit in futures::future::join_all(commits).await {
                commit.unwrap().unwrap();
            }
        });
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_ends() {
        let (held, released) = oneshot::channel::<()>();
        let work = async move {
            std::future::pending::<()>().await;
            drop(held);
            Vec::new()
        };
        assert!(tokio::time::timeout(Duration::from_millis(50), on_thread(work.boxed())).await.is_err());
        assert!(tokio::time::timeout(Duration::from_secs(10), released).await.unwrap().is_err());
    }

    #[test]
    fn few_files_are_shared_out_and_many_are_taken_in_parts() {
        let sizes = |files: usize| -> Vec<usize> {
            let location = crate::Location::parse("/a", None).unwrap();
            let file = || LocatedFile { location: location.clone(), added: AddedFile::default(), footer: None };
            turns((0..files).map(|index| (index, file())).collect()).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(0), [0_usize; 0]);
        assert_eq!(sizes(3), [1, 1, 1]);
        assert_eq!(sizes(20), [3, 3, 3, 3, 3, 3, 2]);
        assert_eq!(sizes(1_000).iter().max(), Some(&MAX_FILES_PER_TURN));
        assert_eq!(sizes(1_000).iter().sum::<usize>(), 1_000);
    }
}
