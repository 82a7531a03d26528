//! What a server tells of itself: lines of its log, and traces for a collector.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod collector;
mod log;
mod traces;
