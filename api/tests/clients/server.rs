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

    /// Creates the table that the examples of the document are about, whose files are not read, with two commits.
    pub(crate) async fn fill(&self) {
        self.post("/v1/namespaces", &json!({"name": "lake.raw"})).await;
        let fields = json!([{"name": "day", "type": "date"}, {"name": "fare", "type": "decimal(9,2)"}]);
        let properties = json!({"verification": "declared"});
        let table =
            json!({"name": "trips", "location": "/data/", "schema": {"fields": fields}, "properties": properties});
        self.post("/v1/namespaces/lake.raw/tables", &table).await;
        for name in ["a", "b"] {
            let columns = json!({"fare": {"min": "1.00", "max": "99.00", "null_count": 0}});
            let file = json!({"path": format!("{name}.parquet"), "size_bytes": 10, "row_count": 9, "columns": columns});
            let commit = json!({"operation": "append", "add": [file]});
            self.post("/v1/namespaces/lake.raw/tables/trips/commits", &commit).await;
        }
    }

    async fn post(&self, route: &str, body: &Value) {
        let response = reqwest::Client::new().post(format!("{}{route}", self.url)).json(body).send().await.unwrap();
        assert_eq!(response.status().as_u16(), 201, "{}", response.text().await.unwrap());
    }
}
