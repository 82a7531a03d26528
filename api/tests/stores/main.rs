//! Files in object stores, as the binary meets them: a real S3 server, and a web server that is slow and fails as it is told.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

mod audits;
#[path = "../support/binary.rs"]
mod binary;
mod failures;
mod file_server;
mod in_flight;
mod parquet_file;
mod prunus_process;
mod s3;
mod s3_audits;
mod s3_failures;
mod s3_server;
mod secrets;
