//! The Pythons that clients run in, and the scripts that are run by them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/iceberg/python");

/// PyIceberg 0.12, which the names of settings and the documentation are of.
pub(crate) const NEW: &str = "PRUNUS_PYICEBERG";
/// PyIceberg 0.11.
pub(crate) const OLD: &str = "PRUNUS_PYICEBERG_OLD";
/// DuckDB 1.5.
pub(crate) const DUCKDB: &str = "PRUNUS_DUCKDB";

/// A command that runs the interpreter that a variable names; `None` if there is none, and there need not be.
pub(crate) fn interpreter(variable: &str) -> Option<Command> {
    let Some(interpreter) = std::env::var_os(variable).map(PathBuf::from) else {
        let required = std::env::var_os("PRUNUS_REQUIRE_PYICEBERG").is_some();
        assert!(!required, "{variable} names no Python, and PRUNUS_REQUIRE_PYICEBERG is set");
        eprintln!("skipped: {variable} names no Python with the packages that this test needs (see `.ci/run`)");
        return None;
    };
    let mut command = Command::new(interpreter);
    // A proxy from the environment would lead away from this machine.
    command.stdin(Stdio::null()).env("NO_PROXY", "127.0.0.1").env("PYTHONDONTWRITEBYTECODE", "1");
    // Nothing is set for clients but what a test sets.
    command.env("PYICEBERG_HOME", "/nonexistent").env("PYTHONPATH", SCRIPTS);
    Some(command)
}

/// Where a script is.
pub(crate) fn script(name: &str) -> String {
    format!("{SCRIPTS}/{name}.py")
}

/// Runs a script to its end; its last word is that it is done.
pub(crate) fn run(mut command: Command) {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success() && out.trim_end().ends_with("done"),
        "{command:?} ended with {}\n{out}\n{err}",
        output.status
    );
}
