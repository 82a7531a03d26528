//! The Pythons that clients run in, and the scripts that are run by them.

use std::process::Command;

use crate::python::{Python, run};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/iceberg/python");
const REQUIRED: &str = "PRUNUS_REQUIRE_PYICEBERG";

/// PyIceberg 0.12, which the names of settings and the documentation are of.
pub(crate) const NEW: &str = "PRUNUS_PYICEBERG";
/// PyIceberg 0.11.
pub(crate) const OLD: &str = "PRUNUS_PYICEBERG_OLD";
/// DuckDB 1.5.
pub(crate) const DUCKDB: &str = "PRUNUS_DUCKDB";

/// A command that runs a script with the Python that a variable names; `None` if there is none, and there need not be.
pub(crate) fn script(variable: &str, name: &str) -> Option<Command> {
    let python = Python::named(variable, REQUIRED)?;
    let mut command = python.command(&python.interpreter);
    // Nothing is set for clients but what a test sets.
    command.env("PYICEBERG_HOME", "/nonexistent").env("PYTHONPATH", SCRIPTS).arg(format!("{SCRIPTS}/{name}.py"));
    Some(command)
}

/// Runs a script to its end; its last word is that it is done.
pub(crate) fn run_to_the_end(script: Command) {
    let out = run(script);
    assert!(out.trim_end().ends_with("done"), "{out}");
}
