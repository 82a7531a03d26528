//! The whole system, through HTTP alone: the real router on a real SQLite file with real Parquet files.

#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

mod bad_input;
mod damage;
mod changes;
mod clock;
mod concurrency;
mod commits;
mod declared;
mod expire;
mod files;
mod footers;
mod old_stores;
mod leases;
mod orphans;
mod idempotency;
mod partitions;
mod plans;
mod rollback;
mod regroup;
mod rows;
mod server;
mod snapshots;
mod tags;
mod transactions;
