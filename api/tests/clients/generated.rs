//! A client that is generated from the kept document, used as a program would.

use crate::python::{Python, run};
use crate::server::Server;
use crate::{PYTHON, REQUIRED};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/generated.py");

#[tokio::test]
async fn a_generated_client_creates_commits_plans_and_reads_errors() {
    let Some(python) = Python::named(PYTHON, REQUIRED) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut generate = python.command("openapi-python-client");
    // What it cannot generate is a warning otherwise.
    generate.args(["generate", "--fail-on-warning", "--meta", "none", "--path", DOCUMENT, "--output-path"]);
    run({
        generate.arg(folder.path().join("prunus_client"));
        generate
    });
    let server = Server::start();
    let mut script = python.command(&python.interpreter);
    script.env("PYTHONPATH", folder.path()).args([SCRIPT, &server.url]);
    assert_eq!(run(script).trim(), "done");
}
