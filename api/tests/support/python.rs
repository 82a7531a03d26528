//! A Python that clients run in: what an environment variable names, the interpreter of an environment that has the packages that
//! `.ci/run` installs.
//!
//! Without it the tests that need it say so and pass, unless another variable is set that requires it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An environment of Python.
pub(crate) struct Python {
    interpreter: PathBuf,
}

impl Python {
    /// The one that a variable names; `None` if there is none, and there need not be.
    pub(crate) fn named(variable: &str, required: &str) -> Option<Self> {
        let interpreter = std::env::var_os(variable).map(PathBuf::from);
        if interpreter.is_none() {
            assert!(std::env::var_os(required).is_none(), "{variable} names no Python, and {required} is set");
            eprintln!("skipped: {variable} names no Python with the packages that this test needs (see `.ci/run`)");
        }
        interpreter.map(|interpreter| Self { interpreter })
    }

    /// A command that runs a program of the environment.
    #[allow(dead_code, reason = "not every target that has this file runs one")]
    pub(crate) fn program(&self, name: &str) -> Command {
        self.command(self.interpreter.with_file_name(name))
    }

    /// A command that runs the interpreter.
    pub(crate) fn interpreter(&self) -> Command {
        self.command(self.interpreter.clone())
    }

    fn command(&self, program: PathBuf) -> Command {
        let mut path = self.interpreter.parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(program);
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
