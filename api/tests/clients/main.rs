//! Clients that know nothing of the server but its OpenAPI document: one that tries what the document allows and forbids, and
//! one that is generated from it.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

mod generated;
mod python;
mod schemathesis;
mod server;
