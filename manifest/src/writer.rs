//! The writer: one thread with one connection and a bounded queue.
//!
//! It takes all that waits into one immediate transaction, a savepoint for each job, commits once and only then answers.
//! Between transactions it seals tails that are full, one step at a time, so that no commit waits long.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::transaction::WriteTransaction;
use crate::{Error, Result, TableId, seal};

/// How many jobs may wait; a further one waits to be let into the queue.
pub const MAX_QUEUED_JOBS: usize = 1024;

/// How many jobs share one transaction at most.
pub const MAX_BATCH_JOBS: usize = 256;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";
const SAVEPOINT: &str = "SAVEPOINT job";
const RELEASE: &str = "RELEASE job";
const ROLLBACK_JOB: &str = "ROLLBACK TO job; RELEASE job";

/// Sends a job's answer: its own, or the failure of the whole transaction.
type Reply = Box<dyn FnOnce(Option<Error>) + Send>;

/// Runs a job up to its answer, which is held back until the transaction is durable. Where there is no transaction to run
/// it in, the answer is why.
type Job = Box<dyn FnOnce(Result<&WriteTransaction<'_>>) -> (Outcome, Reply) + Send>;

enum Message {
    Job(Job),
    /// Answered when nothing is left to seal.
    Idle(SyncSender<()>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Refused,
}

/// The way to the writer's thread, which ends when this is dropped.
pub(crate) struct Writer {
    queue: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection, target_files: u64) -> Result<Self> {
        let (sender, receiver) = sync_channel(MAX_QUEUED_JOBS);
        let full_tails = seal::full_tails(&connection, target_files)?;
        let state = Thread { connection, target_files, full_tails, waiting: Vec::new() };
        let thread = std::thread::Builder::new()
            .name("prunus-writer".to_owned())
            .spawn(move || state.run(&receiver))
            .map_err(Error::Thread)?;
        Ok(Self { queue: Some(sender), thread: Some(thread) })
    }

    pub(crate) fn write<T, E>(
        &self,
        job: impl FnOnce(&WriteTransaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (sender, receiver) = sync_channel::<Result<T, E>>(1);
        let job: Job = Box::new(move |transaction| {
            let answer = transaction.map_err(E::from).and_then(job);
            let outcome = if answer.is_ok() { Outcome::Done } else { Outcome::Refused };
            let reply: Reply = Box::new(move |failure| {
                let answer = match (answer, failure) {
                    (Ok(_), Some(failure)) => Err(failure.into()),
                    (answer, _) => answer,
                };
                // A caller that has gone away does not want its answer.
                drop(sender.send(answer));
            });
            (outcome, reply)
        });
        self.send(Message::Job(job))?;
        // The job took the sender with it: if no answer comes, it was dropped while a panic unwound.
        receiver.recv().unwrap_or_else(|_| Err(Error::JobPanicked.into()))
    }

    pub(crate) fn wait_for_sealing(&self) -> Result<()> {
        let (sender, receiver) = sync_channel(1);
        self.send(Message::Idle(sender))?;
        receiver.recv().map_err(|_| Error::Closed)
    }

    fn send(&self, message: Message) -> Result<()> {
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        queue.send(message).map_err(|_| Error::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
    }
}

/// What the thread has.
struct Thread {
    connection: Connection,
    target_files: u64,
    full_tails: BTreeSet<TableId>,
    waiting: Vec<SyncSender<()>>,
}

impl Thread {
    fn run(mut self, queue: &Receiver<Message>) {
        loop {
            if self.full_tails.is_empty() {
                for waiting in self.waiting.drain(..) {
                    // Who has stopped waiting needs no answer.
                    waiting.send(()).ok();
                }
                // Nothing to do: sleep until there is, or until the store is closed.
                let Ok(first) = queue.recv() else { return };
                self.take(first, queue);
            } else {
                match queue.try_recv() {
                    Ok(first) => self.take(first, queue),
                    Err(std::sync::mpsc::TryRecvError::Empty) => {}
                    // What is left is found again when the store is opened.
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                }
                self.seal_one();
            }
        }
    }

    /// Runs the first message and those that wait behind it.
    fn take(&mut self, first: Message, queue: &Receiver<Message>) {
        let mut jobs = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Job(job) => jobs.push(job),
                Message::Idle(sender) => self.waiting.push(sender),
            }
            next = if jobs.len() < MAX_BATCH_JOBS { queue.try_recv().ok() } else { None };
        }
        if !jobs.is_empty() {
            self.run_batch(jobs);
        }
    }

    fn run_batch(&mut self, jobs: Vec<Job>) {
        let mut jobs = jobs.into_iter();
        let mut replies = Vec::with_capacity(jobs.len());
        let transaction = WriteTransaction::new(&self.connection, self.target_files);
        let result = self
            .connection
            .execute_batch(BEGIN)
            .and_then(|()| self.run_jobs(&mut jobs, &mut replies, &transaction))
            .and_then(|()| self.connection.execute_batch(COMMIT))
            .map_err(Arc::new);
        let full_tails = transaction.into_full_tails();
        let failure = || result.as_ref().err().map(|error| Error::NotCommitted(Arc::clone(error)));
        match failure() {
            None => self.full_tails.extend(full_tails),
            Some(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a transaction is lost");
                roll_back(&self.connection);
            }
        }
        // Only now: whoever has an answer may rely on it.
        for reply in replies {
            reply(failure());
        }
        // The jobs that were not reached because the transaction was lost before them.
        for (job, error) in jobs.zip(std::iter::repeat_with(failure)) {
            let (_, reply) = job(Err(error.unwrap_or(Error::Closed)));
            reply(None);
        }
    }

    /// Runs each job in its savepoint. Stops with an error where the transaction itself is lost.
    fn run_jobs(
        &self,
        jobs: &mut std::vec::IntoIter<Job>,
        replies: &mut Vec<Reply>,
        transaction: &WriteTransaction<'_>,
    ) -> rusqlite::Result<()> {
        while jobs.len() > 0 {
            // Made before the job is taken, so that a job without one is still there to be answered.
            self.connection.execute_batch(SAVEPOINT)?;
            let Some(job) = jobs.next() else { break };
            // Whatever state a panic leaves behind is the savepoint's, and that is rolled back.
            let ran = catch_unwind(AssertUnwindSafe(|| job(Ok(transaction))));
            let end = match &ran {
                Ok((Outcome::Done, _)) => RELEASE,
                Ok((Outcome::Refused, _)) | Err(_) => ROLLBACK_JOB,
            };
            replies.extend(ran.ok().map(|(_, reply)| reply));
            // On a full disk and the like SQLite rolls everything back by itself; then there is no savepoint to end, and
            // the error says so.
            self.connection.execute_batch(end)?;
        }
        Ok(())
    }

    fn seal_one(&mut self) {
        let Some(table_id) = self.full_tails.pop_first() else { return };
        match catch_unwind(AssertUnwindSafe(|| self.seal(table_id))) {
            Ok(Ok(tail_files)) if tail_files >= self.target_files => {
                self.full_tails.insert(table_id);
            }
            Ok(Ok(_)) => {}
            // The tail stays as it is and plans right, only slower; the next commit to the table tries again.
            Ok(Err(error)) => {
                tracing::error!(%table_id, error = &error as &dyn std::error::Error, "a tail was not sealed");
                roll_back(&self.connection);
            }
            Err(_) => {
                tracing::error!(%table_id, "sealing a tail panicked");
                roll_back(&self.connection);
            }
        }
    }

    fn seal(&self, table_id: TableId) -> Result<u64> {
        self.connection.execute_batch(BEGIN)?;
        let transaction = WriteTransaction::new(&self.connection, self.target_files);
        let tail_files = seal::seal_step(&transaction, table_id, self.target_files)?;
        self.connection.execute_batch(COMMIT)?;
        Ok(tail_files)
    }
}

fn roll_back(connection: &Connection) {
    if !connection.is_autocommit()
        && let Err(error) = connection.execute_batch(ROLLBACK)
    {
        tracing::error!(%error, "a transaction was not rolled back");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::{Store, StoreOptions};

    fn open(folder: &tempfile::TempDir) -> Arc<Store> {
        Arc::new(Store::open_with(&folder.path().join("store.db"), &StoreOptions::default()).unwrap())
    }

    fn create(tx: &WriteTransaction<'_>, name: &str) -> Result<()> {
        tx.create_namespace(name, &std::collections::BTreeMap::new(), 0).map(drop)
    }

    fn names(store: &Store) -> Vec<String> {
        let names = store.read(|tx| tx.list_namespaces("", 100)).unwrap();
        names.into_iter().map(|namespace| namespace.name).collect()
    }

    type Work = fn(&WriteTransaction<'_>) -> Result<()>;

    /// Runs the jobs in one transaction: they wait behind a job that holds the writer until all are queued.
    fn run_together(store: &Arc<Store>, jobs: Vec<Work>) -> Vec<Result<()>> {
        let (started, has_started) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let holder = Arc::clone(store);
        let held = std::thread::spawn(move || {
            holder.write(move |_| {
                started.send(()).unwrap();
                released.recv().unwrap();
                Ok::<_, Error>(())
            })
        });
        has_started.recv().unwrap();
        let spawn = |job: Work| {
            let store = Arc::clone(store);
            let thread = std::thread::spawn(move || store.write(job));
            // Queued in this order; how long that takes decides only whether they share the transaction.
            std::thread::sleep(std::time::Duration::from_millis(50));
            thread
        };
        let threads: Vec<_> = jobs.into_iter().map(spawn).collect();
        release.send(()).unwrap();
        held.join().unwrap().unwrap();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }

    #[test]
    fn a_refused_job_leaves_its_neighbours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let answers = run_together(
            &store,
            vec![|tx| create(tx, "first"), |tx| create(tx, "refused").and_then(|()| create(tx, "first")), |tx| {
                create(tx, "last")
            }],
        );
        assert!(matches!(answers.as_slice(), [Ok(()), Err(Error::NamespaceExists(_)), Ok(())]));
        assert_eq!(names(&store), ["first", "last"]);
    }

    #[test]
    fn a_panicking_job_leaves_its_neighbours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let answers = run_together(
            &store,
            vec![
                |tx| create(tx, "first"),
                |tx| {
                    create(tx, "panicked")?;
                    panic!("on purpose")
                },
                |tx| create(tx, "last"),
            ],
        );
        assert!(matches!(answers.as_slice(), [Ok(()), Err(Error::JobPanicked), Ok(())]));
        assert_eq!(names(&store), ["first", "last"]);
    }

    #[test]
    fn a_lost_transaction_is_told_to_every_job_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let answers = run_together(
            &store,
            vec![|tx| create(tx, "before"), |tx| Ok(tx.connection().execute_batch(ROLLBACK)?), |tx| {
                create(tx, "after")
            }],
        );
        assert!(answers.iter().all(|answer| matches!(answer, Err(Error::NotCommitted(_)))), "{answers:?}");
        assert_eq!(names(&store), Vec::<String>::new());
    }

    #[test]
    fn the_writer_goes_on_after_a_lost_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        assert!(store.write(|tx| Ok::<_, Error>(tx.connection().execute_batch(ROLLBACK)?)).is_err());
        store.write(|tx| create(tx, "later")).unwrap();
        assert_eq!(names(&store), ["later"]);
    }

    #[test]
    fn more_jobs_than_fit_one_transaction_are_all_done() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder);
        let count = MAX_BATCH_JOBS + 1;
        std::thread::scope(|scope| {
            for number in 0..count {
                let store = &store;
                scope.spawn(move || store.write(move |tx| create(tx, &number.to_string())).unwrap());
            }
        });
        assert_eq!(store.read(|tx| tx.list_namespaces("", u32::MAX)).unwrap().len(), count);
    }
}
