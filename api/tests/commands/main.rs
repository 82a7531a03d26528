//! The command line as a user has it: the real binary, against a server that notes which of its routes are reached.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first thing that is not as it should be"
)]

mod exit_codes;
mod output;
mod parquet_file;
mod routes;
mod session;
mod the_session;
