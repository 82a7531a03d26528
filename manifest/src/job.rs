//! A job of the writer: a closure that is run, perhaps more than once, and then answered.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::transaction::WriteTransaction;
use crate::{Error, Result};

/// A job with its answer, which is held back until the transaction is durable.
pub(crate) type Job = Box<dyn FnMut(Call<'_, '_>) -> Outcome + Send>;

/// What is wanted of a job.
pub(crate) enum Call<'a, 'c> {
    /// That it runs. It may be asked to again, when all that it did was rolled back.
    Run(&'a WriteTransaction<'c>),
    /// That it sends its answer: its own, or the failure of the whole transaction.
    Answer(Option<Error>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Refused,
}

/// A job that found the queue full.
#[must_use = "a job that is dropped is never run nor answered"]
pub struct WaitingJob(pub(crate) Job);

/// Answers a job that will not be run.
pub(crate) fn refuse(mut job: Job) {
    job(Call::Answer(Some(Error::Closed)));
}

/// A job as the thread takes it.
pub(crate) fn job_of<T, E>(
    job: impl FnMut(&WriteTransaction<'_>) -> Result<T, E> + Send + 'static,
    reply: impl FnOnce(Result<T, E>) + Send + 'static,
) -> Job
where
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    let (mut job, mut answer, mut reply) = (Some(job), None, Some(reply));
    Box::new(move |call| match call {
        Call::Run(transaction) => {
            let Some(job) = &mut job else { return Outcome::Refused };
            // Whatever state a panic leaves behind in the store is rolled back.
            let ran = catch_unwind(AssertUnwindSafe(|| job(transaction)));
            let ran = ran.unwrap_or_else(|_| Err(Error::JobPanicked.into()));
            let outcome = if ran.is_ok() { Outcome::Done } else { Outcome::Refused };
            answer = Some(ran);
            outcome
        }
        Call::Answer(failure) => {
            // Whoever is woken by the answer has what the job held for itself again.
            drop(job.take());
            // A refusal falls with the transaction, too: what the job saw may have been a neighbour's work.
            let failure = failure.map(|failure| Err(failure.into()));
            let answer = failure.or(answer.take()).unwrap_or_else(|| Err(Error::Closed.into()));
            if let Some(reply) = reply.take() {
                reply(answer);
            }
            Outcome::Done
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_a_job_held_is_free_when_its_answer_comes() {
        let shared = Arc::new(());
        let held = Arc::clone(&shared);
        let (sender, answer) = std::sync::mpsc::sync_channel(1);
        let work = move |_: &WriteTransaction<'_>| Ok::<_, Error>(Arc::strong_count(&held));
        let reply = move |_| sender.send(Arc::strong_count(&shared)).unwrap();
        refuse(job_of(work, reply));
        assert_eq!(answer.recv().unwrap(), 1);
    }
}
