//! Clients of the HTTP API in other languages: one that tries what the OpenAPI document allows and forbids, one that is generated
//! from it, and the example. `PRUNUS_PYTHON` is a Python that has their packages; without it the tests skip, unless
//! `PRUNUS_REQUIRE_PYTHON` is set.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

#[path = "../support/binary.rs"]
mod binary;
mod example;
mod generated;
#[path = "../support/python.rs"]
mod python;
mod schemathesis;
mod server;

/// The variable that names the Python of these clients.
const PYTHON: &str = "PRUNUS_PYTHON";
/// The variable that requires it.
const REQUIRED: &str = "PRUNUS_REQUIRE_PYTHON";
