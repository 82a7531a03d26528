//! Histograms that anybody may count into at any time: buckets of relaxed atomics, no lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The most buckets of a histogram, without the one of what is beyond all.
const MAX_BUCKETS: usize = 20;

/// Where the buckets of durations end, in nanoseconds: from 10 microseconds to a minute.
const DURATIONS_NS: [u64; 19] = [
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    10_000_000_000,
    60_000_000_000,
];

/// Where the buckets of counts end.
const COUNTS: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// How values are distributed. What reads it while others count may see a value in its bucket and not yet in the sum.
#[derive(Debug)]
pub struct Histogram {
    /// Ascending; a value lies in the first bucket that ends at or above it.
    bounds: &'static [u64],
    buckets: [AtomicU64; MAX_BUCKETS],
    beyond: AtomicU64,
    sum: AtomicU64,
}

/// What a histogram had counted at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The sum of all values.
    pub sum: u64,
    /// How many values there were.
    pub count: u64,
    /// The end of each bucket with how many values lie in it; what lies beyond the last is in the count alone.
    pub buckets: Vec<(u64, u64)>,
}

impl Histogram {
    /// Of durations, in nanoseconds.
    pub const fn of_durations() -> Self {
        Self::new(&DURATIONS_NS)
    }

    /// Of small numbers, such as how many share something.
    pub const fn of_counts() -> Self {
        Self::new(&COUNTS)
    }

    const fn new(bounds: &'static [u64]) -> Self {
        assert!(bounds.len() <= MAX_BUCKETS, "there is a bucket for each bound");
        let buckets = [const { AtomicU64::new(0) }; MAX_BUCKETS];
        Self { bounds, buckets, beyond: AtomicU64::new(0), sum: AtomicU64::new(0) }
    }

    /// Counts a value.
    pub fn observe(&self, value: u64) {
        let index = self.bounds.partition_point(|bound| *bound < value);
        let is_within = index < self.bounds.len();
        let bucket = self.buckets.get(index).filter(|_| is_within).unwrap_or(&self.beyond);
        bucket.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// Counts a duration; one of more than five centuries counts as that.
    pub fn observe_duration(&self, duration: Duration) {
        self.observe(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }

    /// What was counted so far.
    pub fn read(&self) -> Counted {
        let read = |(bound, bucket): (&u64, &AtomicU64)| (*bound, bucket.load(Ordering::Relaxed));
        let buckets: Vec<(u64, u64)> = self.bounds.iter().zip(&self.buckets).map(read).collect();
        let within: u64 = buckets.iter().map(|(_, count)| count).sum();
        let count = within + self.beyond.load(Ordering::Relaxed);
        Counted { sum: self.sum.load(Ordering::Relaxed), count, buckets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_the_first_bucket_that_reaches_it() {
        let histogram = Histogram::of_counts();
        for value in [0, 1, 2, 3, 256, 257, 1_000] {
            histogram.observe(value);
        }
        let read = histogram.read();
        assert_eq!((read.sum, read.count), (1_519, 7));
        let filled: Vec<(u64, u64)> = read.buckets.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(1, 2), (2, 1), (4, 1), (256, 1)]);
    }

    #[test]
    fn durations_are_counted_in_nanoseconds() {
        let histogram = Histogram::of_durations();
        histogram.observe_duration(Duration::from_micros(10));
        histogram.observe_duration(Duration::from_mins(2));
        let read = histogram.read();
        assert_eq!((read.sum, read.count, read.buckets[0]), (120_000_010_000, 2, (10_000, 1)));
        assert_eq!(read.buckets.iter().map(|(_, count)| count).sum::<u64>(), 1);
    }
}
