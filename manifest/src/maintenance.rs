//! Maintenance: a thread that works behind the commits. Tails that are full become manifests, and manifests that are small or
//! overlap are grouped anew.
//!
//! It reads and builds beside the writer and hands it short jobs only, which check that what they were built from still
//! stands. So no commit waits for a block to be compressed, and a kill at any point leaves the old layout or the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::activity::StoreActivity;
use crate::layout::{Layout, Step};
use crate::regroup::{Limits, Settled};
use crate::{Error, Result, TableId};

/// What the thread is told: which tables are due, who waits, whether to end.
#[derive(Default)]
pub(crate) struct Notices {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    due: BTreeSet<TableId>,
    /// The table whose turn was last.
    last: Option<TableId>,
    waiting: Vec<SyncSender<Result<()>>>,
    is_over: bool,
}

impl State {
    /// The due table whose turn it is: they go round by their ids.
    fn take_next(&mut self) -> Option<TableId> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.due.range((after, Bound::Unbounded)).next().or_else(|| self.due.first()).copied()?;
        self.due.remove(&next);
        self.last = Some(next);
        Some(next)
    }
}

impl Notices {
    /// Tables whose tails are full, or that may be in a bad layout.
    pub(crate) fn add(&self, tables: BTreeSet<TableId>) {
        if !tables.is_empty() {
            self.lock().due.extend(tables);
            self.changed.notify_one();
        }
    }

    /// How many tables are due.
    pub(crate) fn due_tables(&self) -> usize {
        self.lock().due.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.lock().is_over
    }
}

/// The way to the thread, which ends when this is dropped.
pub(crate) struct Maintenance {
    notices: Arc<Notices>,
    thread: Option<JoinHandle<()>>,
}

impl Maintenance {
    pub(crate) fn start(layout: Arc<Layout>, notices: Arc<Notices>, activity: Arc<StoreActivity>) -> Result<Self> {
        let state = Thread {
            layout,
            notices: Arc::clone(&notices),
            activity,
            failed: BTreeMap::new(),
            settled: Settled::default(),
        };
        let thread = std::thread::Builder::new()
            .name("prunus-maintenance".to_owned())
            .spawn(move || state.run())
            .map_err(Error::Thread)?;
        Ok(Self { notices, thread: Some(thread) })
    }

    /// How many tables are due.
    pub(crate) fn due_tables(&self) -> usize {
        self.notices.due_tables()
    }

    /// Returns when everything that was due is done or has failed; what failed before is tried again.
    pub(crate) fn wait(&self) -> Result<()> {
        let (sender, receiver) = sync_channel(1);
        self.notices.lock().waiting.push(sender);
        self.notices.changed.notify_one();
        receiver.recv().unwrap_or(Err(Error::Closed))
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        self.notices.lock().is_over = true;
        self.notices.changed.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the maintenance thread panicked");
        }
    }
}

/// What the thread has.
struct Thread {
    layout: Arc<Layout>,
    notices: Arc<Notices>,
    activity: Arc<StoreActivity>,
    /// The tables that could not be maintained, and why. They are tried again when there is a reason to.
    failed: BTreeMap<TableId, Arc<Error>>,
    settled: Settled,
}

/// Takes a step of one kind.
type Take = fn(&Layout, TableId) -> Result<Step>;

/// What there is to do next.
enum Task {
    Maintain(TableId),
    Answer(Vec<SyncSender<Result<()>>>),
    End,
}

impl Thread {
    fn run(mut self) {
        let mut waiting = Vec::new();
        loop {
            match self.next_task(&mut waiting) {
                Task::Maintain(table_id) => self.maintain(table_id),
                Task::Answer(waiting) => self.answer(waiting),
                Task::End => return,
            }
        }
    }

    /// Sleeps until there is something to do. Whoever waits is answered when nothing is due any more.
    fn next_task(&self, waiting: &mut Vec<SyncSender<Result<()>>>) -> Task {
        let mut state = self.notices.lock();
        loop {
            if state.is_over {
                return Task::End;
            }
            if !state.waiting.is_empty() {
                waiting.append(&mut state.waiting);
                state.due.extend(self.failed.keys());
            }
            if let Some(table_id) = state.take_next() {
                return Task::Maintain(table_id);
            }
            if !waiting.is_empty() {
                return Task::Answer(std::mem::take(waiting));
            }
            state = self.notices.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn answer(&self, waiting: Vec<SyncSender<Result<()>>>) {
        for waiting in waiting {
            let failure = self
                .failed
                .first_key_value()
                .map(|(table_id, error)| Error::NotMaintained { table_id: *table_id, source: Arc::clone(error) });
            // Who has stopped waiting needs no answer.
            waiting.send(failure.map_or(Ok(()), Err)).ok();
        }
    }

    /// Takes one step, and puts the table back where there may be another: so tables take turns.
    fn maintain(&mut self, table_id: TableId) {
        let began = Instant::now();
        let step = catch_unwind(AssertUnwindSafe(|| self.step(table_id))).unwrap_or(Err(Error::JobPanicked));
        self.activity.maintenance_ns.observe_duration(began.elapsed());
        match step {
            Ok(Step::Done(_)) => {
                self.failed.remove(&table_id);
                self.notices.add([table_id].into());
            }
            Ok(Step::NothingToDo) => {
                self.failed.remove(&table_id);
            }
            // What is left is found again when the store is opened.
            Err(_) if self.notices.is_over() => {}
            // The table stays as it is and plans right, only slower; the next commit to it tries again, and so does whoever
            // waits.
            Err(error) => {
                tracing::error!(%table_id, error = &error as &dyn std::error::Error, "a table was not maintained");
                self.activity.maintenance_failures.add(1);
                self.failed.insert(table_id, Arc::new(error));
            }
        }
        self.activity.tables_failed.set(self.failed.len() as u64);
    }

    fn step(&mut self, table_id: TableId) -> Result<Step> {
        // In this order: what is put into other manifests must have been looked into.
        let activity = Arc::clone(&self.activity);
        for (step, steps) in [(Layout::fill as Take, &activity.fills), (Layout::seal, &activity.seals)] {
            if let done @ Step::Done(_) = step(&self.layout, table_id)? {
                steps.add(1);
                return Ok(done);
            }
        }
        let step = self.layout.regroup(table_id, Limits::BACKGROUND, &mut self.settled, &mut None)?;
        // What was found to be no better was not grouped.
        if matches!(step, Step::Done(1..)) {
            activity.regroups.add(1);
        }
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_turns() {
        let mut state = State { due: [1, 2, 3].map(TableId).into(), ..State::default() };
        let mut turns = Vec::new();
        for _ in 0..5 {
            let TableId(id) = state.take_next().unwrap();
            turns.push(id);
            // Two of them always have more to do.
            if id != 2 {
                state.due.insert(TableId(id));
            }
        }
        assert_eq!(turns, [1, 2, 3, 1, 3]);
    }
}
