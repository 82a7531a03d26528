//! The writer: one thread with one connection and a bounded queue.
//!
//! It runs all that waits in one immediate transaction, commits once and only then answers. Who had an answer at the same time
//! mostly asks again at the same time, so it waits a moment for as many as there were before. Jobs look before they write, so
//! one that is refused has mostly left nothing to undo; where it has, all are run again with a savepoint for each.
//! What else is due on account of the jobs it leaves to the maintenance.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SendError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ffi};

use crate::activity::{self, StoreActivity};
use crate::job::{self, Call, Job, Outcome, WaitingJob};
use crate::leaf_set::KnownLeafSets;
use crate::maintenance::Notices;
use crate::transaction::WriteTransaction;
use crate::{Error, Result};

/// How many jobs may wait; a further one waits to be let into the queue.
pub const MAX_QUEUED_JOBS: usize = 4096 + 64;

/// How many jobs share one transaction at most.
pub const MAX_BATCH_JOBS: usize = 256;

/// How long the thread stays awake for a next job: to be woken would take longer.
const AWAKE: Duration = Duration::from_micros(50);

/// So often does SQLite look whether what it knows of its tables and indexes is out of date.
const TRANSACTIONS_PER_OPTIMIZE: u32 = 1000;

/// Reads a sample of those indexes that have grown much, and nothing if none has.
const OPTIMIZE: &str = "PRAGMA optimize";

const ROLLED_BACK: &str = "SQLite rolled the transaction back: the disk is full or fails, or memory is short";

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";
const SAVEPOINT: &str = "SAVEPOINT job";
const RELEASE: &str = "RELEASE job";
const ROLLBACK_JOB: &str = "ROLLBACK TO job";

/// What jobs that were refused have left behind in their transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traces {
    None,
    Some,
}

/// The way to the writer's thread, which ends when this is dropped.
pub(crate) struct Writer {
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    activity: Arc<StoreActivity>,
}

impl Writer {
    pub(crate) fn start(
        mut connection: Connection,
        target_files: u64,
        notices: Arc<Notices>,
        activity: Arc<StoreActivity>,
    ) -> Result<Self> {
        connection.busy_handler(Some(activity::busy_handler(Arc::clone(&activity))))?;
        let (sender, receiver) = sync_channel(MAX_QUEUED_JOBS);
        let state = Thread {
            connection,
            target_files,
            leaf_sets: RefCell::default(),
            notices,
            activity: Arc::clone(&activity),
            transactions: 0,
            last_batch: 1,
        };
        let thread = std::thread::Builder::new()
            .name("prunus-writer".to_owned())
            .spawn(move || state.run(&receiver))
            .map_err(Error::Thread)?;
        Ok(Self { queue: Some(sender), thread: Some(thread), activity })
    }

    pub(crate) fn write<T, E>(
        &self,
        job: impl FnMut(&WriteTransaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let (sender, answer) = sync_channel(1);
        // A caller that has gone away does not want its answer.
        self.send(job::job_of(job, move |answer| drop(sender.send(answer))))?;
        answer.recv().unwrap_or_else(|_| Err(Error::Closed.into()))
    }

    /// Queues a job whose answer goes to `reply`, on the writer's thread; gives it back if the queue is full.
    pub(crate) fn submit<T, E>(
        &self,
        job: impl FnMut(&WriteTransaction<'_>) -> Result<T, E> + Send + 'static,
        reply: impl FnOnce(Result<T, E>) + Send + 'static,
    ) -> Option<WaitingJob>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let job = job::job_of(job, reply);
        let Some(queue) = &self.queue else {
            job::refuse(job);
            return None;
        };
        self.activity.jobs_waiting.add(1);
        match queue.try_send(job) {
            Ok(()) => None,
            Err(TrySendError::Full(job)) => {
                self.activity.jobs_waiting.sub(1);
                Some(WaitingJob(job))
            }
            Err(TrySendError::Disconnected(job)) => {
                self.activity.jobs_waiting.sub(1);
                job::refuse(job);
                None
            }
        }
    }

    fn send(&self, job: Job) -> Result<()> {
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        self.enqueue(queue, job).map_err(|_| Error::Closed)
    }

    fn enqueue(&self, queue: &SyncSender<Job>, job: Job) -> Result<(), SendError<Job>> {
        self.activity.jobs_waiting.add(1);
        queue.send(job).inspect_err(|_| self.activity.jobs_waiting.sub(1))
    }

    /// Waits until the queue takes a job.
    pub(crate) fn queue(&self, WaitingJob(job): WaitingJob) {
        let refused = match &self.queue {
            Some(queue) => self.enqueue(queue, job).err().map(|SendError(job)| job),
            None => Some(job),
        };
        if let Some(job) = refused {
            job::refuse(job);
        }
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
    /// What the jobs have learnt of stored sets of leaves.
    leaf_sets: RefCell<KnownLeafSets>,
    notices: Arc<Notices>,
    activity: Arc<StoreActivity>,
    /// Since SQLite looked at its statistics.
    transactions: u32,
    /// How many jobs shared the last transaction.
    last_batch: usize,
}

impl Thread {
    /// Sleeps until there is something to do, or until the store is closed.
    fn run(mut self, queue: &Receiver<Job>) {
        while let Some(first) = next_soon(queue).or_else(|| queue.recv().ok()) {
            self.run_batch(first, queue);
            self.transactions += 1;
            if self.transactions >= TRANSACTIONS_PER_OPTIMIZE {
                self.optimize();
            }
        }
        self.optimize();
    }

    /// What the planner of queries knows. It only ever picks another way to the same answer.
    fn optimize(&mut self) {
        self.transactions = 0;
        if let Err(error) = self.connection.execute_batch(OPTIMIZE) {
            tracing::warn!(%error, "the statistics of the database were not brought up to date");
        }
    }

    /// Runs a job and those that come behind it, and answers all.
    fn run_batch(&mut self, first: Job, queue: &Receiver<Job>) {
        let began = Instant::now();
        self.activity.jobs_waiting.sub(1);
        let mut jobs = vec![first];
        let transaction = WriteTransaction::new(&self.connection, self.target_files, &self.leaf_sets);
        let result = self.run_jobs(&mut jobs, queue, &transaction).map_err(Arc::new);
        let due_tables = transaction.into_due_tables();
        let failure = || result.as_ref().err().map(|error| Error::NotCommitted(Arc::clone(error)));
        match failure() {
            None => {
                self.activity.transaction_ns.observe_duration(began.elapsed());
                self.notices.add(due_tables);
            }
            Some(error) => {
                self.activity.transactions_failed.add(1);
                tracing::error!(error = &error as &dyn std::error::Error, "a transaction is lost");
                self.roll_back();
            }
        }
        self.last_batch = jobs.len();
        self.activity.batch_jobs.observe(jobs.len() as u64);
        // Only now: whoever has an answer may rely on it.
        for mut job in jobs {
            job(Call::Answer(failure()));
        }
    }

    /// Runs a statement without parameters or rows.
    fn execute(&self, sql: &'static str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    /// Runs the first of the jobs and those that come behind it, which it adds, in one transaction, and commits it. Stops with
    /// an error where it is lost.
    fn run_jobs(
        &self,
        jobs: &mut Vec<Job>,
        queue: &Receiver<Job>,
        transaction: &WriteTransaction<'_>,
    ) -> rusqlite::Result<()> {
        self.execute(BEGIN)?;
        if self.run_together(jobs, queue, transaction)? == Traces::None {
            return self.commit();
        }
        self.activity.transactions_rerun.add(1);
        self.leaf_sets.borrow_mut().forget();
        self.execute(ROLLBACK)?;
        if jobs.len() > 1 {
            self.execute(BEGIN)?;
            self.run_apart(jobs, transaction)?;
            self.commit()?;
        }
        Ok(())
    }

    /// Makes the transaction durable.
    fn commit(&self) -> rusqlite::Result<()> {
        let began = Instant::now();
        self.execute(COMMIT)?;
        self.activity.commit_ns.observe_duration(began.elapsed());
        Ok(())
    }

    /// Runs each job, up to one that was refused after it had written.
    fn run_together(
        &self,
        jobs: &mut Vec<Job>,
        queue: &Receiver<Job>,
        transaction: &WriteTransaction<'_>,
    ) -> rusqlite::Result<Traces> {
        while let Some(job) = jobs.last_mut() {
            let changes = self.connection.total_changes();
            let outcome = job(Call::Run(transaction));
            self.require_transaction()?;
            if outcome == Outcome::Refused && self.connection.total_changes() != changes {
                return Ok(Traces::Some);
            }
            let next = match jobs.len() {
                MAX_BATCH_JOBS.. => None,
                so_far if so_far < self.last_batch => next_soon(queue),
                _ => queue.try_recv().ok(),
            };
            let Some(next) = next else { break };
            self.activity.jobs_waiting.sub(1);
            jobs.push(next);
        }
        Ok(Traces::None)
    }

    /// Runs each job in its savepoint, which costs a copy of each page that it touches.
    fn run_apart(&self, jobs: &mut [Job], transaction: &WriteTransaction<'_>) -> rusqlite::Result<()> {
        for job in jobs {
            self.execute(SAVEPOINT)?;
            let outcome = job(Call::Run(transaction));
            self.require_transaction()?;
            if outcome == Outcome::Refused {
                self.leaf_sets.borrow_mut().forget();
                self.execute(ROLLBACK_JOB)?;
            }
            self.execute(RELEASE)?;
        }
        Ok(())
    }

    /// On a full disk and the like SQLite rolls everything back by itself. Then there is nothing to end, and the error of the
    /// job that met it, which is its own affair, says why; this one is for all of them.
    fn require_transaction(&self) -> rusqlite::Result<()> {
        if !self.connection.is_autocommit() {
            return Ok(());
        }
        let rolled_back = ffi::Error::new(ffi::SQLITE_ABORT_ROLLBACK);
        Err(rusqlite::Error::SqliteFailure(rolled_back, Some(ROLLED_BACK.to_owned())))
    }

    fn roll_back(&self) {
        self.leaf_sets.borrow_mut().forget();
        if !self.connection.is_autocommit()
            && let Err(error) = self.execute(ROLLBACK)
        {
            tracing::error!(%error, "a transaction was not rolled back");
        }
    }
}

/// A job that is there or comes in a moment.
fn next_soon(queue: &Receiver<Job>) -> Option<Job> {
    let began = Instant::now();
    loop {
        match queue.try_recv() {
            Ok(job) => return Some(job),
            Err(TryRecvError::Empty) if began.elapsed() < AWAKE => std::thread::yield_now(),
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::mpsc::channel;

    use super::*;
    use crate::database;

    /// A writer of a new store, held by a job: what is sent waits until it is let go.
    struct Held {
        // Dropped before the writer, so that the holder ends and a test that fails does not hang.
        release: std::sync::mpsc::Sender<()>,
        writer: Writer,
        _folder: tempfile::TempDir,
    }

    impl Held {
        fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let connection =
                database::open_writer(&folder.path().join("store.db"), crate::PowerLoss::LosesNothing).unwrap();
            let writer = Writer::start(connection, 4096, Arc::default(), Arc::default()).unwrap();
            let (started, has_started) = channel();
            let (release, released) = channel::<()>();
            let hold = move |_: &WriteTransaction<'_>| {
                started.send(()).unwrap();
                released.recv().unwrap();
                Ok::<_, Error>(())
            };
            assert!(writer.submit(hold, drop).is_none());
            // From here on all that is sent waits behind the holder, in its transaction.
            has_started.recv().unwrap();
            Self { release, writer, _folder: folder }
        }

        /// Queues a job; `None` if the queue is full.
        fn queue(&self, job: Work) -> Option<Receiver<Result<()>>> {
            let (sender, answer) = sync_channel(1);
            let refused = self.writer.submit(job, move |answer| sender.send(answer).unwrap());
            refused.is_none().then_some(answer)
        }

        /// Lets the writer go on. Says what is durable in the end, by name.
        fn release(&self, answers: impl IntoIterator<Item = Receiver<Result<()>>>) -> (Vec<Result<()>>, Vec<String>) {
            self.release.send(()).unwrap();
            let answers = answers.into_iter().map(|answer| answer.recv().unwrap()).collect();
            let names = self.writer.write(|tx| tx.list_namespaces("", u32::MAX)).unwrap();
            (answers, names.into_iter().map(|namespace| namespace.name).collect())
        }
    }

    type Work = fn(&WriteTransaction<'_>) -> Result<()>;

    /// Runs the jobs, which all wait when the first of them is taken.
    fn run_together(jobs: Vec<Work>) -> (Vec<Result<()>>, Vec<String>) {
        let held = Held::start();
        let answers: Vec<_> = jobs.into_iter().map(|job| held.queue(job).unwrap()).collect();
        held.release(answers)
    }

    fn create(tx: &WriteTransaction<'_>, name: &str) -> Result<()> {
        tx.create_namespace(name, &BTreeMap::new(), 0).map(drop)
    }

    /// Loses the transaction at once, as SQLite does on a full disk.
    const LOSE: Work = |tx| Ok(tx.connection().execute_batch(ROLLBACK)?);

    /// Loses the transaction when it is to be made durable.
    const LOSE_AT_COMMIT: Work = |tx| {
        let orphan = "PRAGMA defer_foreign_keys = ON; INSERT INTO tail_statistics VALUES (77, x'00')";
        Ok(tx.connection().execute_batch(orphan)?)
    };

    #[test]
    fn a_refused_job_leaves_its_neighbours_alone() {
        let (answers, names) = run_together(vec![
            |tx| create(tx, "first"),
            |tx| create(tx, "refused").and_then(|()| create(tx, "first")),
            |tx| create(tx, "last"),
        ]);
        assert!(matches!(answers.as_slice(), [Ok(()), Err(Error::NamespaceExists(_)), Ok(())]));
        assert_eq!(names, ["first", "last"]);
    }

    #[test]
    fn a_job_that_is_refused_alone_leaves_nothing() {
        let (answers, names) = run_together(vec![|tx| create(tx, "refused").and_then(|()| create(tx, "refused"))]);
        assert!(matches!(answers.as_slice(), [Err(Error::NamespaceExists(_))]));
        assert_eq!(names, Vec::<String>::new());
    }

    #[test]
    fn a_panicking_job_leaves_its_neighbours_alone() {
        let (answers, names) = run_together(vec![
            |tx| create(tx, "first"),
            |tx| {
                create(tx, "panicked")?;
                panic!("on purpose")
            },
            |tx| create(tx, "last"),
        ]);
        assert!(matches!(answers.as_slice(), [Ok(()), Err(Error::JobPanicked), Ok(())]));
        assert_eq!(names, ["first", "last"]);
    }

    #[test]
    fn what_waits_and_what_is_done_of_it_is_counted() {
        let held = Held::start();
        let activity = Arc::clone(&held.writer.activity);
        let jobs: [Work; 3] = [|tx| create(tx, "a"), |tx| create(tx, "b"), |_| Err(Error::Closed)];
        let answers: Vec<_> = jobs.into_iter().map(|job| held.queue(job).unwrap()).collect();
        assert_eq!(activity.jobs_waiting.get(), 3);
        held.release(answers);
        assert_eq!(activity.jobs_waiting.get(), 0);
        // The three behind the one that held them, and the look at what came of it.
        let batches = activity.batch_jobs.read();
        assert_eq!((batches.count, batches.sum), (2, 5));
        assert_eq!((activity.commit_ns.read().count, activity.transactions_failed.get()), (2, 0));
    }

    #[test]
    fn a_lost_transaction_is_counted() {
        let held = Held::start();
        let activity = Arc::clone(&held.writer.activity);
        let answer = held.queue(LOSE_AT_COMMIT).unwrap();
        held.release([answer]);
        assert_eq!((activity.transactions_failed.get(), activity.commit_ns.read().count), (1, 1));
    }

    fn check_lost(jobs: Vec<Work>) {
        let (answers, names) = run_together(jobs);
        assert!(answers.iter().all(|answer| matches!(answer, Err(Error::NotCommitted(_)))), "{answers:?}");
        assert_eq!(names, Vec::<String>::new());
    }

    #[test]
    fn a_lost_transaction_is_told_to_every_job_of_it() {
        check_lost(vec![|tx| create(tx, "before"), LOSE]);
        check_lost(vec![|tx| create(tx, "before"), LOSE_AT_COMMIT, |tx| create(tx, "after")]);
    }

    #[test]
    fn a_job_behind_a_lost_transaction_gets_another() {
        let (answers, names) = run_together(vec![LOSE, |tx| create(tx, "after")]);
        assert!(matches!(answers.as_slice(), [Err(Error::NotCommitted(_)), Ok(())]));
        assert_eq!(names, ["after"]);
    }

    #[test]
    fn a_refusal_falls_with_the_neighbour_that_it_rests_on() {
        check_lost(vec![|tx| create(tx, "same"), |tx| create(tx, "same"), LOSE]);
        check_lost(vec![|tx| create(tx, "same"), |tx| create(tx, "same"), LOSE_AT_COMMIT]);
    }

    #[test]
    fn a_panic_falls_with_its_transaction() {
        check_lost(vec![|_| panic!("on purpose"), LOSE_AT_COMMIT]);
    }

    #[test]
    fn the_writer_goes_on_after_a_lost_transaction() {
        for lose in [LOSE, LOSE_AT_COMMIT] {
            let held = Held::start();
            let lost = held.queue(lose).unwrap();
            assert!(matches!(held.release([lost]).0.as_slice(), [Err(Error::NotCommitted(_))]));
            held.writer.write(|tx| create(tx, "later")).unwrap();
        }
    }

    /// How many of so many jobs that wait together fall with the last of them.
    fn lost_with_the_last(count: usize) -> usize {
        let mut jobs: Vec<Work> = vec![|_| Ok(()); count - 1];
        jobs.push(LOSE);
        let (answers, _) = run_together(jobs);
        answers.iter().filter(|answer| answer.is_err()).count()
    }

    #[test]
    fn as_many_jobs_as_fit_share_a_transaction() {
        // The one that holds the writer is one of them.
        assert_eq!(lost_with_the_last(MAX_BATCH_JOBS - 1), MAX_BATCH_JOBS - 1);
    }

    #[test]
    fn more_jobs_than_fit_one_transaction_get_another() {
        assert_eq!(lost_with_the_last(MAX_BATCH_JOBS), 1);
        assert_eq!(lost_with_the_last(2 * MAX_BATCH_JOBS + 1), 2);
    }

    #[test]
    fn a_job_beyond_a_full_queue_waits_to_be_let_in() {
        let held = Held::start();
        let answers: Vec<_> = (0..MAX_QUEUED_JOBS).map(|_| held.queue(|_| Ok(())).unwrap()).collect();
        assert!(held.queue(|_| Ok(())).is_none());
        std::thread::scope(|scope| {
            let beyond = scope.spawn(|| held.writer.write(|tx| create(tx, "beyond")));
            let (answers, _) = held.release(answers);
            assert!(answers.iter().all(Result::is_ok));
            beyond.join().unwrap().unwrap();
        });
    }
}
