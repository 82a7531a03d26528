//! Who may do what: the real router with tokens, and the binary.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod api;
mod binary;
mod clock;
mod given;
mod hosts;
mod matrix;
mod secrets;
mod seen;
