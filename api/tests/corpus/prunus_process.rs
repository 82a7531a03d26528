//! The binary: a server with a data folder of its own, and other commands against it.

use std::process::Output;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::binary::{Served, prunus, serve};

/// A running server.
pub(crate) struct Prunus {
    served: Served,
    client: reqwest::Client,
    _folder: TempDir,
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) exit: i32,
    /// What it answered; null if that is nothing.
    pub(crate) answer: Json,
    pub(crate) stderr: String,
}

/// What was said of a failure: of a problem document each fault behind the path of its file.
fn told(stderr: String) -> String {
    let Ok(problem) = serde_json::from_str::<Json>(&stderr) else { return stderr };
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let line = |fault: &Json| {
        let path = text(&fault["path"]);
        format!("{}: {}\n", path.strip_prefix("file://").unwrap_or(&path), text(&fault["message"]))
    };
    let faults = problem["faults"].as_array().map(|faults| faults.iter().map(line).collect::<String>());
    faults.filter(|faults| !faults.is_empty()).unwrap_or(stderr)
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code().unwrap_or(-1),
            answer: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            stderr: told(String::from_utf8(output.stderr).unwrap()),
        }
    }
}

impl Prunus {
    /// Starts a server that reads nothing in the background: what it says of files is what their commits found.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut serve = serve(folder.path());
        serve.args(["--audit-bytes-per-second", "0", "--power-loss-may-lose-commits"]);
        Self { served: Served::start(serve), client: reqwest::Client::new(), _folder: folder }
    }

    /// Runs a command against the server.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Done {
        let mut run = prunus();
        run.args(arguments).args(["--json", "--url", &self.served.url]);
        tokio::task::spawn_blocking(move || run.output()).await.unwrap().unwrap().into()
    }

    /// A table as the server answers it.
    pub(crate) async fn table(&self, name: &str) -> Json {
        let (namespace, table) = name.split_once('.').unwrap();
        self.get(&format!("/v1/namespaces/{namespace}/tables/{table}"), &[]).await
    }

    /// A file of a table with its statistics, as the server answers it.
    pub(crate) async fn file(&self, name: &str, path: &str) -> Json {
        let (namespace, table) = name.split_once('.').unwrap();
        self.get(&format!("/v1/namespaces/{namespace}/tables/{table}/files"), &[("path", path)]).await
    }

    async fn get(&self, route: &str, query: &[(&str, &str)]) -> Json {
        let response = self.client.get(format!("{}{route}", self.served.url)).query(query).send().await.unwrap();
        let status = response.status();
        let answer: Json = response.json().await.unwrap();
        assert!(status.is_success(), "{route}: {status}: {answer}");
        answer
    }
}
