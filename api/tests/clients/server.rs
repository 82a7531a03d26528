//! The binary as a server, on a free port and with a data folder of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A running server, which is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    _folder: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut serve = Command::new(env!("CARGO_BIN_EXE_prunus"));
        serve.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--power-loss-may-lose-commits",
            "--audit-bytes-per-second",
            "0",
        ]);
        serve.arg("--data-dir").arg(folder.path().join("catalog"));
        // Whatever paths a client thinks of, none leads to an object store of somebody.
        serve.env("NO_PROXY", "*").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = serve.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { child, url, _folder: folder }
    }

    /// Creates the table `n.t`, whose files are not read, with two commits and a tag.
    pub(crate) async fn fill(&self) {
        self.post("/v1/namespaces", &json!({"name": "n"})).await;
        let fields = json!([{"name": "id", "type": "int64"}, {"name": "day", "type": "date"}]);
        let properties = json!({"verification": "declared"});
        let table = json!({"name": "t", "location": "/data/", "schema": {"fields": fields}, "properties": properties});
        self.post("/v1/namespaces/n/tables", &table).await;
        for name in ["a", "b"] {
            let columns = json!({"id": {"min": 1, "max": 9, "null_count": 0}});
            let file = json!({"path": format!("{name}.parquet"), "size_bytes": 10, "row_count": 9, "columns": columns});
            self.post("/v1/namespaces/n/tables/t/commits", &json!({"operation": "append", "add": [file]})).await;
        }
    }

    async fn post(&self, route: &str, body: &Value) {
        let response = reqwest::Client::new().post(format!("{}{route}", self.url)).json(body).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 201, "{}", response.text().await.unwrap());
    }
}
