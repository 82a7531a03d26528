//! The binary: a server with a data folder of its own, and other commands against it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value as Json;
use tempfile::TempDir;

const PRUNUS: &str = env!("CARGO_BIN_EXE_prunus");

/// A running server, which is killed when this is dropped.
pub(crate) struct Prunus {
    child: Child,
    url: String,
    client: reqwest::Client,
    _folder: TempDir,
}

impl Drop for Prunus {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
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
        let mut serve = command();
        serve.args(["serve", "--listen", "127.0.0.1:0", "--audit-bytes-per-second", "0"]);
        serve.args(["--power-loss-may-lose-commits", "--data-dir"]);
        let mut child = serve.arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, url, client: reqwest::Client::new(), _folder: folder }
    }

    /// Runs a command against the server.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Done {
        let mut run = command();
        run.args(arguments).args(["--json", "--url", &self.url]);
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
        let response = self.client.get(format!("{}{route}", self.url)).query(query).send().await.unwrap();
        let status = response.status();
        let answer: Json = response.json().await.unwrap();
        assert!(status.is_success(), "{route}: {status}: {answer}");
        answer
    }
}

fn command() -> Command {
    let mut command = Command::new(PRUNUS);
    // A proxy from the environment would lead away from this machine.
    command.stdin(Stdio::null()).env("NO_PROXY", "127.0.0.1");
    command
}
