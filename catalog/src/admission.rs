//! What is worked on at once, and what may wait for it. Beyond that a request is refused at once, and nothing of it was done: a
//! server that takes more than it can do answers nobody in the end.
//!
//! Who waits is no thread, and is served in the order of coming; who goes away leaves the queue. Threads that may block are only had
//! by what has its turn, and of these there are no more than the store has readers.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use prunus_manifest::{MAX_QUEUED_JOBS, MAX_READERS, TableId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::Limits;
use crate::readiness::Readiness;
use crate::{Error, Result};

/// The most short reads of the store at once. Further ones wait; there are no more of them than there are requests.
pub(crate) const MAX_READS_AT_ONCE: usize = 4;
/// The most reads at once that a change needs before it is made. Further ones wait; there are no more of them than changes.
const MAX_READS_FOR_CHANGES_AT_ONCE: usize = 2;
/// How many readers are left to what nobody asked for, and to the look whether the store answers.
const READERS_OF_BACKGROUND: usize = 2;
/// The most plans that may be made at once: each has a reader, and others need some as well.
pub const MAX_PLANS_AT_ONCE: usize =
    MAX_READERS - MAX_READS_AT_ONCE - MAX_READS_FOR_CHANGES_AT_ONCE - READERS_OF_BACKGROUND;
/// The most plans that may be let wait.
pub const MAX_PLANS_WAITING: usize = 65_536;

/// The most changes at once that were carried out or refused by others and are only noted, and those of tokens: each is short, and
/// none is refused for the changes that wait.
const MAX_NOTES_AT_ONCE: usize = 16;

/// How many jobs of the background always find room in the writer's queue: it has far fewer threads that could each queue one. Notes have
/// theirs among them.
const JOBS_OF_BACKGROUND: usize = 64;
/// The most changes that may be let wait: as many as the writer's queue takes, but for what the background may queue.
pub const MAX_CHANGES_WAITING: usize = MAX_QUEUED_JOBS - JOBS_OF_BACKGROUND;

/// The most groupings anew at once, and how many wait: each has a thread as long as it takes.
pub const MAX_REGROUPS_AT_ONCE: usize = 2;
/// The most groupings anew that wait.
pub const MAX_REGROUPS_WAITING: usize = 16;
/// The most listings of whole locations at once: each holds a page, and asks an object store for as long as that takes.
pub const MAX_ORPHAN_LISTINGS_AT_ONCE: usize = 4;
/// The most listings of whole locations that wait.
pub const MAX_ORPHAN_LISTINGS_WAITING: usize = 16;

/// About how much the requests of plans that wait may take together, in bytes.
pub const MAX_WAITING_PLANS_BYTES: usize = 256 << 20;
/// About how much the commits that are worked on or wait may take together, in bytes, each file counted as a KiB at least; one that
/// is larger than that counts as all of it.
pub const MAX_COMMITS_BYTES: usize = 512 << 20;

/// The doors that requests go through.
pub(crate) struct Admission {
    plans: Turns,
    regroups: Turns,
    regrouped: Arc<Mutex<HashSet<TableId>>>,
    orphan_listings: Turns,
    reads: Arc<Semaphore>,
    reads_for_changes: Arc<Semaphore>,
    changes_max: usize,
    changes: Arc<Semaphore>,
    /// The places of those that read files, which are fewer.
    reading: Arc<Semaphore>,
    notes: Arc<Semaphore>,
    commits: Room,
    pub(crate) readiness: Readiness,
}

/// Leave to work. Whatever has it gives it back by being dropped.
#[must_use = "leave that is dropped is given back"]
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
}

/// Leave to group the manifests of a table anew, which nobody else has for the table meanwhile.
#[must_use = "leave that is dropped is given back"]
pub(crate) struct TableTurn {
    table_id: TableId,
    taken: Arc<Mutex<HashSet<TableId>>>,
}

impl Drop for TableTurn {
    fn drop(&mut self) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.table_id);
    }
}

/// A change's place among those that are worked on or wait, and what it takes of the room for commits.
#[must_use = "a place that is dropped is given back"]
pub(crate) struct ChangePlace {
    _place: OwnedSemaphorePermit,
    _room: Option<OwnedSemaphorePermit>,
    reading: Option<OwnedSemaphorePermit>,
}

impl ChangePlace {
    /// The same place of a change whose files are read: from now on it waits for the writer alone.
    pub(crate) fn after_reading(mut self) -> Self {
        drop(self.reading.take());
        self
    }
}

impl Admission {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            plans: Turns::new("plans", limits.plans_at_once.get(), limits.plans_waiting),
            regroups: Turns::new("groupings of manifests anew", MAX_REGROUPS_AT_ONCE, MAX_REGROUPS_WAITING),
            regrouped: Arc::default(),
            orphan_listings: Turns::new(
                "listings of orphans",
                MAX_ORPHAN_LISTINGS_AT_ONCE,
                MAX_ORPHAN_LISTINGS_WAITING,
            ),
            reads: Arc::new(Semaphore::new(MAX_READS_AT_ONCE)),
            reads_for_changes: Arc::new(Semaphore::new(MAX_READS_FOR_CHANGES_AT_ONCE)),
            changes_max: limits.changes_waiting,
            changes: Arc::new(Semaphore::new(limits.changes_waiting)),
            reading: Arc::new(Semaphore::new(limits.changes_waiting - limits.changes_waiting / 4)),
            notes: Arc::new(Semaphore::new(MAX_NOTES_AT_ONCE)),
            commits: Room::new(MAX_COMMITS_BYTES),
            readiness: Readiness::default(),
        }
    }

    /// Leave to make a plan, or anything else that may hold a reader for long. While it waits it counts as so many bytes.
    pub(crate) async fn plan(&self, bytes: impl FnOnce() -> usize) -> Result<Turn> {
        self.plans.next(bytes).await
    }

    /// Leave to group manifests anew.
    pub(crate) async fn regroup(&self) -> Result<Turn> {
        self.regroups.next(|| 0).await
    }

    /// Leave to group those of this table anew. It goes on when whoever asked for it is told that it takes too long, or goes away: so
    /// who asks again meanwhile is refused, since a second one would only do the same work beside it.
    ///
    /// # Errors
    /// [`Error::TooMany`].
    pub(crate) fn regroup_table(&self, table_id: TableId) -> Result<TableTurn> {
        let is_free = self.regrouped.lock().unwrap_or_else(PoisonError::into_inner).insert(table_id);
        if is_free {
            Ok(TableTurn { table_id, taken: Arc::clone(&self.regrouped) })
        } else {
            Err(Error::TooMany { what: "groupings of the table's manifests anew", at_once: 1, waiting: 0 })
        }
    }

    /// Leave to list what lies below a location.
    pub(crate) async fn list_orphans(&self) -> Result<Turn> {
        self.orphan_listings.next(|| 0).await
    }

    /// Leave for a read that holds a reader for a moment.
    pub(crate) async fn read(&self) -> Result<Turn> {
        acquire(&self.reads).await
    }

    /// Leave for what a change must read, which may be long. It waits for no plan, and no short read for it.
    pub(crate) async fn read_for_change(&self) -> Result<Turn> {
        acquire(&self.reads_for_changes).await
    }

    /// Leave to store a reply, or to change a token. It is waited for and never refused: work that is done is not to be lost for
    /// it, and who revokes a token is not to be told to come again later. It is had for one transaction.
    pub(crate) async fn note(&self) -> Result<Turn> {
        acquire(&self.notes).await
    }

    /// A place for a change, from its beginning to its end.
    ///
    /// # Errors
    /// [`Error::Overloaded`].
    pub(crate) fn change(&self) -> Result<ChangePlace> {
        let place = Arc::clone(&self.changes).try_acquire_owned().map_err(|_| self.overloaded())?;
        Ok(ChangePlace { _place: place, _room: None, reading: None })
    }

    /// The same for one that has files and takes so much memory with them. Stores may be silent for long, and the writer idle
    /// meanwhile: so a quarter of the places is left to changes that do not wait for any.
    pub(crate) fn commit(&self, bytes: usize) -> Result<ChangePlace> {
        let place = self.change()?;
        let reading = Arc::clone(&self.reading).try_acquire_owned().map_err(|_| self.overloaded())?;
        let room = self.commits.take(bytes).ok_or_else(|| self.overloaded())?;
        Ok(ChangePlace { _room: Some(room), reading: Some(reading), ..place })
    }

    fn overloaded(&self) -> Error {
        Error::Overloaded { changes: self.changes_max - self.changes.available_permits() }
    }
}

/// It is never closed.
async fn acquire(semaphore: &Arc<Semaphore>) -> Result<Turn> {
    Arc::clone(semaphore).acquire_owned().await.map(|permit| Turn { _permit: permit }).map_err(|_| Error::Background)
}

/// Work of which so much is done at once, and so much waits.
struct Turns {
    /// What it is, in the plural.
    what: &'static str,
    at_once: usize,
    running: Arc<Semaphore>,
    waiting_max: usize,
    waiting: Semaphore,
    room: Room,
}

impl Turns {
    fn new(what: &'static str, at_once: usize, waiting_max: usize) -> Self {
        Self {
            what,
            at_once,
            running: Arc::new(Semaphore::new(at_once)),
            waiting_max,
            waiting: Semaphore::new(waiting_max),
            room: Room::new(MAX_WAITING_PLANS_BYTES),
        }
    }

    /// Waits for its turn. Where there is room it is had at once: nobody who waits is overtaken, since what is given back goes to
    /// them first.
    async fn next(&self, bytes: impl FnOnce() -> usize) -> Result<Turn> {
        if let Ok(turn) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(Turn { _permit: turn });
        }
        let _place = self.waiting.try_acquire().map_err(|_| self.too_many())?;
        let _room = self.room.take(bytes()).ok_or_else(|| self.too_many())?;
        acquire(&self.running).await
    }

    fn too_many(&self) -> Error {
        let waiting = self.waiting_max - self.waiting.available_permits();
        Error::TooMany { what: self.what, at_once: self.at_once, waiting }
    }
}

/// Memory that requests share, counted in KiB.
struct Room {
    kib: Arc<Semaphore>,
    kib_max: u32,
}

impl Room {
    fn new(bytes: usize) -> Self {
        let kib_max = u32::try_from(bytes / 1024).unwrap_or(u32::MAX);
        Self { kib: Arc::new(Semaphore::new(kib_max as usize)), kib_max }
    }

    /// Room for so many bytes, if there is; what is larger than all of it has all of it.
    fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).min(self.kib_max);
        Arc::clone(&self.kib).try_acquire_many_owned(kib).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::num::NonZeroUsize;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn admission(plans_at_once: usize, plans_waiting: usize, changes_waiting: usize) -> Admission {
        let plans_at_once = NonZeroUsize::new(plans_at_once).unwrap();
        Admission::new(&Limits { plans_at_once, plans_waiting, changes_waiting, ..Limits::default() })
    }

    /// What becomes of it without waiting.
    fn poll<F: Future>(future: &mut Pin<&mut F>) -> Poll<F::Output> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    fn refused(answer: &Poll<Result<Turn>>) -> Option<(usize, usize)> {
        match answer {
            Poll::Ready(Err(Error::TooMany { what: "plans", at_once, waiting })) => Some((*at_once, *waiting)),
            _ => None,
        }
    }

    #[test]
    fn plans_run_up_to_the_limit_wait_up_to_the_limit_and_are_refused_beyond() {
        let admission = admission(2, 1, 1);
        let _running = [(); 2].map(|()| match poll(&mut pin!(admission.plan(|| 0))) {
            Poll::Ready(Ok(turn)) => turn,
            _ => panic!("there is room"),
        });
        let mut waits = pin!(admission.plan(|| 0));
        assert!(poll(&mut waits).is_pending());
        assert_eq!(refused(&poll(&mut pin!(admission.plan(|| 0)))), Some((2, 1)));
    }

    #[test]
    fn without_places_to_wait_a_plan_is_refused_at_once() {
        let admission = admission(1, 0, 1);
        let Poll::Ready(Ok(_running)) = poll(&mut pin!(admission.plan(|| 0))) else { panic!("there is room") };
        assert_eq!(refused(&poll(&mut pin!(admission.plan(|| 0)))), Some((1, 0)));
    }

    #[test]
    fn who_came_first_is_served_first_and_not_overtaken() {
        let admission = admission(1, 8, 1);
        let Poll::Ready(Ok(running)) = poll(&mut pin!(admission.plan(|| 0))) else { panic!("there is room") };
        let (mut first, mut second) = (pin!(admission.plan(|| 0)), pin!(admission.plan(|| 0)));
        assert!(poll(&mut first).is_pending() && poll(&mut second).is_pending());
        drop(running);
        assert!(poll(&mut pin!(admission.plan(|| 0))).is_pending());
        assert!(poll(&mut second).is_pending());
        assert!(matches!(poll(&mut first), Poll::Ready(Ok(_))));
    }

    #[test]
    fn who_goes_away_leaves_the_queue() {
        let admission = admission(1, 1, 1);
        let Poll::Ready(Ok(running)) = poll(&mut pin!(admission.plan(|| 0))) else { panic!("there is room") };
        {
            let mut gone = pin!(admission.plan(|| 0));
            assert!(poll(&mut gone).is_pending());
        }
        let mut waits = pin!(admission.plan(|| 0));
        assert!(poll(&mut waits).is_pending());
        drop(running);
        assert!(matches!(poll(&mut waits), Poll::Ready(Ok(_))));
    }

    #[test]
    fn plans_that_wait_share_their_memory() {
        let admission = admission(1, 8, 1);
        let Poll::Ready(Ok(_running)) = poll(&mut pin!(admission.plan(|| 0))) else { panic!("there is room") };
        let mut fills = pin!(admission.plan(|| MAX_WAITING_PLANS_BYTES));
        assert!(poll(&mut fills).is_pending());
        assert_eq!(refused(&poll(&mut pin!(admission.plan(|| 1)))), Some((1, 2)));
        assert!(poll(&mut pin!(admission.plan(|| 0))).is_pending());
    }

    #[test]
    fn changes_are_taken_up_to_the_limit() {
        let admission = admission(1, 1, 2);
        let (first, _second) = (admission.change().unwrap(), admission.commit(10).unwrap());
        assert!(matches!(admission.change(), Err(Error::Overloaded { changes: 2 })));
        drop(first);
        assert!(admission.change().is_ok());
    }

    #[test]
    fn commits_that_read_leave_places_to_other_changes() {
        let admission = admission(1, 1, 4);
        let mut reading: Vec<ChangePlace> = (0..3).map(|_| admission.commit(1).unwrap()).collect();
        assert!(matches!(admission.commit(1), Err(Error::Overloaded { .. })));
        assert!(admission.change().is_ok());
        let _read = reading.pop().unwrap().after_reading();
        assert!(admission.commit(1).is_ok());
    }

    #[test]
    fn a_table_is_regrouped_once_at_a_time() {
        let admission = admission(1, 1, 1);
        let first = admission.regroup_table(TableId(1)).unwrap();
        assert!(matches!(admission.regroup_table(TableId(1)), Err(Error::TooMany { at_once: 1, waiting: 0, .. })));
        assert!(admission.regroup_table(TableId(2)).is_ok());
        drop(first);
        assert!(admission.regroup_table(TableId(1)).is_ok());
    }

    #[test]
    fn a_note_waits_for_no_change() {
        let admission = admission(1, 1, 1);
        let _change = admission.change().unwrap();
        assert!(matches!(poll(&mut pin!(admission.note())), Poll::Ready(Ok(_))));
    }

    #[test]
    fn commits_share_their_memory_and_the_largest_has_room() {
        let admission = admission(1, 1, 8);
        let largest = admission.commit(MAX_COMMITS_BYTES + 1).unwrap();
        assert!(matches!(admission.commit(1), Err(Error::Overloaded { changes: 2 })));
        assert!(admission.change().is_ok());
        drop(largest);
        let _half = admission.commit(MAX_COMMITS_BYTES / 2).unwrap();
        assert!(admission.commit(MAX_COMMITS_BYTES / 2).is_ok());
        assert!(admission.commit(MAX_COMMITS_BYTES / 2 + 1).is_err());
    }
}
