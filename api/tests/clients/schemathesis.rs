//! Schemathesis against the server: requests that the document allows and such that it forbids, one by one and in sequences, and
//! all its checks of the answers.
//!
//! `PRUNUS_EXAMPLES` says how many requests it makes up for each operation in each phase, `PRUNUS_SEED` from which seed.

use crate::python::{Python, run};
use crate::server::Server;
use crate::{PYTHON, REQUIRED};

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/schemathesis.toml");

#[tokio::test]
async fn the_server_does_what_its_document_says() {
    let Some(python) = Python::named(PYTHON, REQUIRED) else { return };
    let server = Server::start();
    server.fill().await;
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let folder = tempfile::tempdir().unwrap();
    let mut command = python.command("schemathesis");
    command.current_dir(folder.path()).args(["--config-file", CONFIG, "--no-color", "run"]);
    command.args(["--checks", "all", "--continue-on-failure", "--suppress-health-check", "all"]);
    command.args(["--generation-database", "none", "--warnings", "off", "--max-failures", "20"]);
    command.args(["--max-examples", &setting("PRUNUS_EXAMPLES", "20"), "--seed", &setting("PRUNUS_SEED", "1")]);
    command.arg(format!("{}/openapi.json", server.url));
    let report = tokio::task::spawn_blocking(move || run(command)).await.unwrap();
    for phase in ["Examples", "Coverage", "Fuzzing", "Stateful"] {
        assert!(report.contains(&format!("✅ {phase}")), "{phase} did not run: {report}");
    }
    println!("{report}");
}
