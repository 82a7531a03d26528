//! What a store has done since it was opened, for those who watch it: plain counters, which cost a relaxed atomic each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::Histogram;

/// How long a connection waits for a lock in all. Only a program from outside, a backup or a shell, can hold one against us.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it sleeps before it looks again, the last time for all further ones: as SQLite's own handler does it.
const BUSY_PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// A number that goes up, or up and down.
#[derive(Debug, Default)]
pub struct Number(AtomicU64);

impl Number {
    /// What it is now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds to it.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Takes what was added before away again.
    pub fn sub(&self, less: u64) {
        self.0.fetch_sub(less, Ordering::Relaxed);
    }

    /// Makes it another.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// What a store has done and is doing.
#[derive(Debug)]
pub struct StoreActivity {
    /// Jobs that wait for the writer, those included that wait to be let into its queue.
    pub jobs_waiting: Number,
    /// How many jobs shared each transaction.
    pub batch_jobs: Histogram,
    /// How long transactions took from their beginning until they were durable, in nanoseconds.
    pub transaction_ns: Histogram,
    /// Of that, how long it took to make them durable, in nanoseconds: mostly the fsync.
    pub commit_ns: Histogram,
    /// Transactions that were lost with all of their jobs.
    pub transactions_failed: Number,
    /// Transactions that were begun anew because a job was refused after it had written.
    pub transactions_rerun: Number,
    /// How often a connection found the database locked and waited.
    pub busy_waits: Number,
    /// Read transactions that run.
    pub readers: Number,
    /// Those that wait for one of these to end.
    pub readers_waiting: Number,
    /// Read transactions that were begun.
    pub reads: Number,
    /// Steps of the maintenance that made manifests of full tails.
    pub seals: Number,
    /// Steps that grouped manifests anew.
    pub regroups: Number,
    /// Steps that looked into files for columns that came later.
    pub fills: Number,
    /// Steps that failed.
    pub maintenance_failures: Number,
    /// Tables whose last step failed.
    pub tables_failed: Number,
    /// How long steps took, in nanoseconds, those that found nothing to do included.
    pub maintenance_ns: Histogram,
}

impl Default for StoreActivity {
    fn default() -> Self {
        Self {
            jobs_waiting: Number::default(),
            batch_jobs: Histogram::of_counts(),
            transaction_ns: Histogram::of_durations(),
            commit_ns: Histogram::of_durations(),
            transactions_failed: Number::default(),
            transactions_rerun: Number::default(),
            busy_waits: Number::default(),
            readers: Number::default(),
            readers_waiting: Number::default(),
            reads: Number::default(),
            seals: Number::default(),
            regroups: Number::default(),
            fills: Number::default(),
            maintenance_failures: Number::default(),
            tables_failed: Number::default(),
            maintenance_ns: Histogram::of_durations(),
        }
    }
}

/// What a connection does when it finds the database locked: it counts that, and waits up to [`BUSY_TIMEOUT`].
pub(crate) fn busy_handler(activity: Arc<StoreActivity>) -> impl FnMut(i32) -> bool + Send + 'static {
    move |times_before| {
        activity.busy_waits.add(1);
        let times_before = usize::try_from(times_before).unwrap_or(0);
        if waited_ms(times_before) >= u64::try_from(BUSY_TIMEOUT.as_millis()).unwrap_or(u64::MAX) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(pause_ms(times_before)));
        true
    }
}

fn pause_ms(times_before: usize) -> u64 {
    let [.., last] = BUSY_PAUSES_MS;
    BUSY_PAUSES_MS.get(times_before).copied().unwrap_or(last)
}

/// How long so many pauses took.
fn waited_ms(pauses: usize) -> u64 {
    let [.., last] = BUSY_PAUSES_MS;
    let listed: u64 = BUSY_PAUSES_MS.iter().take(pauses).sum();
    listed + last * pauses.saturating_sub(BUSY_PAUSES_MS.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_database_is_waited_for_and_counted() {
        let activity = Arc::new(StoreActivity::default());
        let mut handler = busy_handler(Arc::clone(&activity));
        assert!(handler(0));
        assert!(handler(1));
        assert_eq!(activity.busy_waits.get(), 2);
    }

    #[test]
    fn it_is_waited_for_ten_seconds_and_no_longer() {
        let last = (0..1_000).find(|pauses| waited_ms(*pauses) >= 10_000).unwrap();
        assert!((10_000..10_100).contains(&waited_ms(last)));
        let mut handler = busy_handler(Arc::default());
        assert!(!handler(i32::try_from(last).unwrap()));
    }
}
