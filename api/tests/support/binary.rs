//! The binary as tests run it: nothing that is set in the environment of whoever runs them is a setting of it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The binary, without arguments.
pub(crate) fn prunus() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prunus"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("PRUNUS_") || text == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    // A proxy from the environment would lead away from this machine.
    command.stdin(Stdio::null()).env("NO_PROXY", "127.0.0.1");
    command
}

/// The binary as a server on a free port, over a folder; it says nothing on standard error.
pub(crate) fn serve(data: &Path) -> Command {
    let mut serve = prunus();
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data).stderr(Stdio::null());
    serve
}

/// A running server, which is killed when this is dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    /// Where it listens.
    pub(crate) url: String,
}

impl Served {
    /// Runs what [`serve`] gave, and waits until it listens.
    pub(crate) fn start(mut serve: Command) -> Self {
        let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, url: line.trim().strip_prefix("listening on ").unwrap().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
