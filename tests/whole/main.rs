//! The whole system, through HTTP alone: the real router on a real SQLite file with real Parquet files.

#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

mod audits;
mod bad_input;
mod changes;
mod clock;
mod commits;
mod concurrency;
mod contract;
mod coverage;
mod damage;
mod declared;
mod etags;
mod evolution;
mod evolution_random;
mod expire;
mod files;
mod footers;
mod formats;
mod iceberg;
mod idempotency;
mod inspection;
mod leases;
mod journal;
mod lies;
mod limits;
mod lists;
mod locations;
mod manifests;
mod old_stores;
mod orphans;
mod overload;
mod partitions;
mod observability;
mod operating;
mod plans;
mod regroup;
mod rollback;
mod round_trip;
mod rows;
mod server;
mod snapshots;
mod tags;
mod transactions;
mod unread;
