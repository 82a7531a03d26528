//! Clients of Iceberg, as they come from PyPI, on the Iceberg API of the binary.
//!
//! `PRUNUS_PYICEBERG` is a Python with PyIceberg 0.12 and what else `.ci/run` installs beside it, `PRUNUS_PYICEBERG_OLD` one with
//! PyIceberg 0.11, `PRUNUS_DUCKDB` one with DuckDB 1.5 and its extensions. Without one its tests say so and pass, unless
//! `PRUNUS_REQUIRE_PYICEBERG` is set.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

#[path = "../support/binary.rs"]
mod binary;
mod clients;
#[path = "../support/python.rs"]
mod python;
mod readme;
mod scripts;
mod served;
