//! The writer: one thread with one connection and a bounded queue.
//!
//! It takes all that waits into one immediate transaction, a savepoint for each job, commits once and only then answers.
//! Between transactions it seals tails that are full, one step at a time, so that no commit waits long.

use std::collections::{BTreeMap, BTreeSet};
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

/// So often does SQLite look whether what it knows of its tables and indexes is out of date.
const TRANSACTIONS_PER_OPTIMIZE: u32 = 1000;

/// Reads a sample of those indexes that have grown much, and nothing if none has.
const OPTIMIZE: &str = "PRAGMA optimize";

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
    /// Answered when nothing is left to seal that can be sealed.
    Idle(SyncSender<Result<()>>),
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
        let state = Thread {
            connection,
            target_files,
            full_tails,
            unsealed: BTreeMap::new(),
            waiting: Vec::new(),
            transactions: 0,
        };
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
        let (message, answer) = message_of(job);
        self.send(message)?;
        answer.recv().unwrap_or_else(|_| Err(Error::Closed.into()))
    }

    pub(crate) fn wait_for_sealing(&self) -> Result<()> {
        let (sender, receiver) = sync_channel(1);
        self.send(Message::Idle(sender))?;
        receiver.recv().unwrap_or(Err(Error::Closed))
    }

    fn send(&self, message: Message) -> Result<()> {
        let queue = self.queue.as_ref().ok_or(Error::Closed)?;
        queue.send(message).map_err(|_| Error::Closed)
    }
}

/// A job as the thread takes it, and where its answer will come.
fn message_of<T, E>(
    job: impl FnOnce(&WriteTransaction<'_>) -> Result<T, E> + Send + 'static,
) -> (Message, Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    let (sender, receiver) = sync_channel::<Result<T, E>>(1);
    let job: Job = Box::new(move |transaction| {
        let answer = transaction.map_err(E::from).and_then(|transaction| {
            // Whatever state a panic leaves behind is the savepoint's, and that is rolled back.
            let ran = catch_unwind(AssertUnwindSafe(|| job(transaction)));
            ran.unwrap_or_else(|_| Err(Error::JobPanicked.into()))
        });
        let outcome = if answer.is_ok() { Outcome::Done } else { Outcome::Refused };
        let reply: Reply = Box::new(move |failure| {
            // A refusal falls with the transaction, too: what the job saw may have been a neighbour's work.
            let answer = failure.map_or(answer, |failure| Err(failure.into()));
            // A caller that has gone away does not want its answer.
            drop(sender.send(answer));
        });
        (outcome, reply)
    });
    (Message::Job(job), receiver)
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
    /// The tables with tails to be sealed now.
    full_tails: BTreeSet<TableId>,
    /// The tables with tails that could not be sealed, and why. They are tried again when there is a reason to.
    unsealed: BTreeMap<TableId, Arc<Error>>,
    waiting: Vec<SyncSender<Result<()>>>,
    /// Since SQLite looked at its statistics.
    transactions: u32,
}

impl Thread {
    fn run(mut self, queue: &Receiver<Message>) {
        self.work(queue);
        self.optimize();
    }

    fn work(&mut self, queue: &Receiver<Message>) {
        loop {
            if self.full_tails.is_empty() {
                self.answer_waiting();
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

    /// What the planner of queries knows. It only ever picks another way to the same answer.
    fn optimize(&mut self) {
        self.transactions = 0;
        if let Err(error) = self.connection.execute_batch(OPTIMIZE) {
            tracing::warn!(%error, "the statistics of the database were not brought up to date");
        }
    }

    fn answer_waiting(&mut self) {
        let failure = self.unsealed.first_key_value();
        for waiting in self.waiting.drain(..) {
            let answer = failure.map_or(Ok(()), |(table_id, error)| {
                Err(Error::NotSealed { table_id: *table_id, source: Arc::clone(error) })
            });
            // Who has stopped waiting needs no answer.
            waiting.send(answer).ok();
        }
    }

    /// Runs the first message and those that wait behind it.
    fn take(&mut self, first: Message, queue: &Receiver<Message>) {
        let mut jobs = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Job(job) => jobs.push(job),
                Message::Idle(sender) => {
                    self.waiting.push(sender);
                    self.full_tails.extend(self.unsealed.keys());
                }
            }
            next = if jobs.len() < MAX_BATCH_JOBS { queue.try_recv().ok() } else { None };
        }
        if !jobs.is_empty() {
            self.run_batch(jobs);
            self.transactions += 1;
        }
        if self.transactions >= TRANSACTIONS_PER_OPTIMIZE {
            self.optimize();
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
            let (outcome, reply) = job(Ok(transaction));
            replies.push(reply);
            let end = match outcome {
                Outcome::Done => RELEASE,
                Outcome::Refused => ROLLBACK_JOB,
            };
            // On a full disk and the like SQLite rolls everything back by itself; then there is no savepoint to end, and
            // the error says so.
            self.connection.execute_batch(end)?;
        }
        Ok(())
    }

    fn seal_one(&mut self) {
        let Some(table_id) = self.full_tails.pop_first() else { return };
        let sealed = catch_unwind(AssertUnwindSafe(|| self.seal(table_id))).unwrap_or(Err(Error::JobPanicked));
        match sealed {
            Ok(tail_files) => {
                self.unsealed.remove(&table_id);
                if tail_files >= self.target_files {
                    self.full_tails.insert(table_id);
                }
            }
            // The tail stays as it is and plans right, only slower; the next commit to the table tries again, and so does
            // whoever waits.
            Err(error) => {
                tracing::error!(%table_id, error = &error as &dyn std::error::Error, "a tail was not sealed");
                roll_back(&self.connection);
                self.unsealed.insert(table_id, Arc::new(error));
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
            let writer = Writer::start(connection, 4096).unwrap();
            let (started, has_started) = channel();
            let (release, released) = channel::<()>();
            let (holder, _) = message_of(move |_| {
                started.send(()).unwrap();
                released.recv().unwrap();
                Ok::<_, Error>(())
            });
            writer.send(holder).unwrap();
            // From here on the holder's transaction takes no further job.
            has_started.recv().unwrap();
            Self { release, writer, _folder: folder }
        }

        /// Queues a job; `None` if the queue is full.
        fn queue(&self, job: Work) -> Option<Receiver<Result<()>>> {
            let (message, answer) = message_of(job);
            self.writer.queue.as_ref().unwrap().try_send(message).ok().map(|()| answer)
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

    fn check_lost(jobs: Vec<Work>) {
        let (answers, names) = run_together(jobs);
        assert!(answers.iter().all(|answer| matches!(answer, Err(Error::NotCommitted(_)))), "{answers:?}");
        assert_eq!(names, Vec::<String>::new());
    }

    #[test]
    fn a_lost_transaction_is_told_to_every_job_of_it() {
        check_lost(vec![|tx| create(tx, "before"), LOSE, |tx| create(tx, "after")]);
        check_lost(vec![|tx| create(tx, "before"), LOSE_AT_COMMIT, |tx| create(tx, "after")]);
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
        assert_eq!(lost_with_the_last(MAX_BATCH_JOBS), MAX_BATCH_JOBS);
    }

    #[test]
    fn more_jobs_than_fit_one_transaction_get_another() {
        assert_eq!(lost_with_the_last(MAX_BATCH_JOBS + 1), 1);
        assert_eq!(lost_with_the_last(2 * MAX_BATCH_JOBS + 2), 2);
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
