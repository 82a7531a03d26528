//! The binary: a server on a free port with a data folder of its own, and other commands against it.

use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Served, prunus, serve};

/// What is set in the environment of a process.
pub(crate) type Environment = Vec<(&'static str, String)>;

/// A running server.
pub(crate) struct Prunus {
    served: Served,
    client: reqwest::Client,
    environment: Environment,
    folder: TempDir,
}

impl Prunus {
    /// Starts a server that has this in its environment.
    pub(crate) fn start(environment: Environment) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let served = start(&folder, &environment);
        Self { served, client: reqwest::Client::new(), environment, folder }
    }

    /// Ends the server in the middle of whatever it does, and starts it again with this in its environment.
    pub(crate) fn restart(&mut self, environment: Environment) {
        self.served.child.kill().unwrap();
        self.served.child.wait().unwrap();
        self.served = start(&self.folder, &environment);
        self.environment = environment;
    }

    /// Runs a command against the server, which prints JSON.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        let mut run = command(&self.environment);
        run.args(arguments).args(["--url", &self.served.url]);
        let output = tokio::task::spawn_blocking(move || run.output()).await.unwrap().unwrap();
        Ran {
            exit: output.status.code().unwrap(),
            answer: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `prunus import --json` with these arguments, and with the server's environment.
    pub(crate) async fn import(&self, arguments: &[impl AsRef<str>]) -> Imported {
        self.import_with(&self.environment, arguments).await
    }

    /// The same with an environment of its own.
    pub(crate) async fn import_with(&self, environment: &Environment, arguments: &[impl AsRef<str>]) -> Imported {
        let mut import = command(environment);
        import.args(["import", "--json", "--url", &self.served.url]).args(arguments.iter().map(AsRef::as_ref));
        let output = tokio::task::spawn_blocking(move || import.output()).await.unwrap().unwrap();
        Imported::from(output)
    }

    pub(crate) async fn get(&self, route: &str) -> (u16, Value) {
        answer(self.client.get(format!("{}{route}", self.served.url))).await
    }

    pub(crate) async fn post(&self, route: &str, body: &Value) -> (u16, Value) {
        answer(self.client.post(format!("{}{route}", self.served.url)).json(body)).await
    }

    /// Creates the table `n.t` with the columns of [`crate::parquet_file`].
    pub(crate) async fn create_table(&self) {
        let fields = json!([{"name": "id", "type": "int64"}, {"name": "name", "type": "string"}]);
        let table = json!({"name": "t", "schema": {"fields": fields}});
        assert_eq!(self.post("/v1/namespaces", &json!({"name": "n"})).await.0, 201);
        assert_eq!(self.post("/v1/namespaces/n/tables", &table).await.0, 201);
    }

    /// Appends files to `n.t`.
    pub(crate) async fn append(&self, paths: impl IntoIterator<Item = String>) -> (u16, Value) {
        let add: Vec<Value> = paths.into_iter().map(|path| json!({"path": path})).collect();
        self.post("/v1/namespaces/n/tables/t/commits", &json!({"operation": "append", "add": add})).await
    }

    /// How many files `n.t` has; 0 if there is no such table yet.
    pub(crate) async fn files(&self) -> u64 {
        self.get("/v1/namespaces/n/tables/t").await.1["files"].as_u64().unwrap_or(0)
    }

    /// The paths of the files of `n.t` that a filter keeps, sorted.
    pub(crate) async fn plan(&self, filter: &str) -> Vec<String> {
        let (status, plan) = self.post("/v1/namespaces/n/tables/t/plan", &json!({"filter": filter})).await;
        assert_eq!(status, 200, "{plan}");
        let path = |file: &Value| file["path"].as_str().unwrap().to_owned();
        let mut paths: Vec<String> = plan["files"].as_array().unwrap().iter().map(path).collect();
        paths.sort();
        paths
    }
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    /// Null where it printed no JSON.
    pub(crate) answer: Value,
    pub(crate) stderr: String,
}

/// What an import printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) exit: i32,
    /// The summary; null where there is none.
    pub(crate) summary: Value,
    pub(crate) stderr: String,
}

impl Imported {
    /// How many files were imported, skipped, found changed and refused.
    pub(crate) fn counts(&self) -> [u64; 4] {
        let length = |key: &str| self.summary[key].as_array().unwrap().len() as u64;
        let number = |key: &str| self.summary[key].as_u64().unwrap();
        [number("imported"), number("skipped"), length("changed"), length("refused")]
    }
}

impl From<Output> for Imported {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code().unwrap(),
            summary: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Starts a server on what is in a folder. Nothing is read but what is asked for.
fn start(folder: &TempDir, environment: &Environment) -> Served {
    let mut serve = serve(&folder.path().join("catalog"));
    serve.args(["--power-loss-may-lose-commits", "--audit-bytes-per-second", "0"]).envs(variables(environment));
    Served::start(serve)
}

fn command(environment: &Environment) -> Command {
    let mut command = prunus();
    command.envs(variables(environment));
    command
}

fn variables(environment: &Environment) -> impl Iterator<Item = (&str, &str)> {
    environment.iter().map(|(key, value)| (*key, value.as_str()))
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}
