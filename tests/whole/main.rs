//! The whole system, through HTTP alone: the real router on a real SQLite file with real Parquet files.

mod bad_input;
mod declared;
mod files;
mod footers;
mod partitions;
mod plans;
mod rows;
mod server;
mod snapshots;
