//! A Python that clients run in: what an environment variable names, the interpreter of an environment that has the packages that
//! `.ci/run` installs.
//!
//! Without it the tests that need it say so and pass, unless another variable is set that requires it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An environment of Python.
pub(crate) struct Python {
    /// Its path from the root.
    pub(crate) interpreter: PathBuf,
}

impl Python {
    /// The one that a variable names; `None` if there is none, and there need not be.
    pub(crate) fn named(variable: &str, required: &str) -> Option<Self> {
        let interpreter = std::env::var_os(variable).map(PathBuf::from);
        if interpreter.is_none() {
            assert!(std::env::var_os(required).is_none(), "{variable} names no Python, and {required} is set");
            eprintln!("skipped: {variable} names no Python with the packages that this test needs (see `.ci/run`)");
        }
        interpreter.map(|interpreter| Self { interpreter: std::path::absolute(interpreter).unwrap() })
    }

    /// A command that runs a program of the environment, or its interpreter.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let programs = self.interpreter.parent().unwrap();
        let mut path = programs.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(programs.join(program));
        // A proxy from the environment would lead away from this machine.
        command.stdin(Stdio::null()).env("PATH", path).env("NO_PROXY", "127.0.0.1").env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}

/// Runs a command to its end. Its output is shown if it fails.
pub(crate) fn run(mut command: Command) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} ended with {}\n{out}\n{err}", output.status);
    out.into_owned()
}
