//! The `prunus` binary: reads the arguments, does what they say, and tells how that went by its exit code.

use std::io::Write;
use std::process::ExitCode;

use prunus::cli::{self, Cli};

fn main() -> ExitCode {
    let cli = Cli::from_arguments();
    let called = cli.called().clone();
    match cli::run(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            let _ = std::io::stderr().write_all(error.report(&called).as_bytes());
            error.exit().into()
        }
    }
}
