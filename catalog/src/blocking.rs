//! The one border between async code and the store, whose calls block.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use prunus_manifest::{ReadTransaction, WriteTransaction};
use tokio::sync::oneshot;
use tracing::{Instrument, Span};

use crate::admission::{ChangePlace, Turn};
use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::journal::Made;
use crate::once::{Done, Once};
use crate::{Error, Result, suggestion};

/// How long a job of the writer took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobTimes {
    /// Until it began.
    pub(crate) waiting: Duration,
    /// From then until it was durable and its caller knew.
    pub(crate) writing: Duration,
}

/// Runs work that blocks on a thread that may.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    attempt(work).await.unwrap_or(Err(Error::Background))
}

/// Runs work that blocks on a thread that may; `None` if it panicked, as a decoder may on bytes that are made for it.
pub(crate) async fn attempt<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let span = Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(work)).await.ok()
}

/// Runs work to its end, even if its caller goes away meanwhile.
pub(crate) async fn to_the_end<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    tokio::spawn(work.in_current_span()).await.unwrap_or(Err(Error::Background))
}

/// Runs work that blocks on a thread that may, with leave that it has until it is over. If nobody waits for it any more before it
/// begins, it does not; later it can look at the flag.
pub(crate) async fn run_while_awaited<T: Send + 'static>(
    turn: Turn,
    work: impl FnOnce(&Cancelled) -> Result<T> + Send + 'static,
) -> Result<T> {
    let cancelled = Cancelled::default();
    let _guard = cancelled.on_drop();
    run(move || {
        let _turn = turn;
        cancelled.check()?;
        work(&cancelled)
    })
    .await
}

impl Catalog {
    /// Runs `job` in one read transaction, which should be short. It waits for no plan.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&ReadTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (turn, catalog) = (self.admission.read().await?, self.clone());
        run_while_awaited(turn, move |_| catalog.read_here(job)).await
    }

    /// The same for a job that may be long: it waits for its turn among the plans, and looks at the flag where it loops.
    ///
    /// # Errors
    /// [`Error::TooMany`].
    pub(crate) async fn read_in_turn<T: Send + 'static>(
        &self,
        job: impl FnOnce(&ReadTransaction<'_>, &Cancelled) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (turn, catalog) = (self.admission.plan(|| 0).await?, self.clone());
        run_while_awaited(turn, move |cancelled| catalog.read_here(|tx| job(tx, cancelled))).await
    }

    /// The same for what a change must know before it is made: it is never refused, since the change has a place.
    pub(crate) async fn read_for_change<T: Send + 'static>(
        &self,
        job: impl FnOnce(&ReadTransaction<'_>, &Cancelled) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (turn, catalog) = (self.admission.read_for_change().await?, self.clone());
        run_while_awaited(turn, move |cancelled| catalog.read_here(|tx| job(tx, cancelled))).await
    }

    /// The same on this thread, which must be one that may block.
    pub(crate) fn read_here<T>(&self, job: impl FnOnce(&ReadTransaction<'_>) -> Result<T>) -> Result<T> {
        self.store.read(|tx| job(tx).map_err(|error| suggestion::with_suggestion(tx, &self.principal, error)))
    }

    /// Runs `job` on the writer and returns when it is durable. No thread waits for it, unless the queue is full, which those that
    /// have a place do not make it. It is for what nobody asked for, and for steps that see to the journal themselves: what a
    /// request changes goes through [`Catalog::write_once`].
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_timed(job).await.0
    }

    /// The same, with how long it took.
    pub(crate) async fn write_timed<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> (Result<T>, JobTimes) {
        let (asked, begun) = (Instant::now(), Arc::new(OnceLock::new()));
        let noted = Arc::clone(&begun);
        let (span, mut queued) = (Span::current(), Some(tracing::debug_span!("wait_for_writer")));
        let job = move |tx: &WriteTransaction<'_>| {
            noted.get_or_init(Instant::now);
            drop(queued.take());
            tracing::debug_span!(parent: &span, "transaction").in_scope(|| job(tx))
        };
        let answer = self.queue_job(job).await;
        let begun = begun.get().copied().unwrap_or_else(Instant::now);
        (answer, JobTimes { waiting: begun.saturating_duration_since(asked), writing: begun.elapsed() })
    }

    async fn queue_job<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&WriteTransaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let principal = Arc::clone(&self.principal);
        let job = move |tx: &WriteTransaction<'_>| {
            job(tx).map_err(|error| suggestion::with_suggestion(tx, &principal, error))
        };
        let (sender, answer) = oneshot::channel();
        // A caller that has gone away does not want its answer.
        if let Some(waiting) = self.store.submit(job, move |answer| drop(sender.send(answer))) {
            let store = Arc::clone(&self.store);
            run(move || {
                store.queue(waiting);
                Ok(())
            })
            .await?;
        }
        answer.await.unwrap_or(Err(Error::Background))
    }

    /// Runs `job` on the writer unless its request is answered already, and returns when it is durable together with its reply and
    /// with what the journal is told of it.
    ///
    /// # Errors
    /// [`Error::Overloaded`], and those of the job.
    pub(crate) async fn write_once<T: Send + 'static>(
        &self,
        once: Once<T>,
        job: impl FnMut(&WriteTransaction<'_>) -> Result<Made<T>> + Send + 'static,
    ) -> Result<Done<T>> {
        self.write_once_at(&Arc::new(self.admission.change()?), once, job).await.0
    }

    /// The same for a change that has a place already, which the job keeps for it until it is answered; with how long it took.
    pub(crate) async fn write_once_at<T: Send + 'static>(
        &self,
        place: &Arc<ChangePlace>,
        once: Once<T>,
        mut job: impl FnMut(&WriteTransaction<'_>) -> Result<Made<T>> + Send + 'static,
    ) -> (Result<Done<T>>, JobTimes) {
        let (now_ms, is_keyed, place) = (self.clock.now_ms(), once.is_keyed(), Arc::clone(place));
        let scribe = self.scribe_at(now_ms);
        let job = move |tx: &WriteTransaction<'_>| {
            let _place = &place;
            once.run(tx, now_ms, |tx| scribe.write(tx, job(tx)?))
        };
        let (done, times) = self.write_timed(job).await;
        match &done {
            Ok(Done::Now(_)) if is_keyed => self.activity.replies_stored.add(1),
            Ok(Done::Before(_)) => self.activity.replies_replayed.add(1),
            _ => {}
        }
        (done, times)
    }

    /// Runs a job on the writer that changes a token, and tells the journal of it. It needs no place among the changes that wait.
    pub(crate) async fn write_note<T: Send + 'static>(
        &self,
        mut job: impl FnMut(&WriteTransaction<'_>) -> Result<Made<T>> + Send + 'static,
    ) -> Result<T> {
        let (turn, scribe) = (self.admission.note().await?, self.scribe());
        self.write(move |tx| {
            let _turn = &turn;
            scribe.write(tx, job(tx)?)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_has_no_result() {
        assert_eq!(attempt(|| 5).await, Some(5));
        assert_eq!(attempt(|| -> i32 { panic!("bytes that were made for it") }).await, None);
    }
}
