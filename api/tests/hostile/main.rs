//! Clients that are slow, many, broken or hostile: each is refused or bounded, and others are answered meanwhile.
//!
//! They speak through plain sockets, since no client library would send what they do. Where a limit must be small to be met, the
//! server runs in this process; what it takes of memory is seen at the binary.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

mod answers;
mod bodies;
mod client;
mod connections;
mod encodings;
mod heads;
mod memory;
mod server;
mod shutdown;
mod smuggling;
mod tls;
mod tls_files;
