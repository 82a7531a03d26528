//! The binary as a server, on a free port and with a data folder of its own.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{Served, serve};

/// A running server.
pub(crate) struct Server {
    _served: Served,
    pub(crate) url: String,
    _folder: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut serve = serve(&folder.path().join("catalog"));
        // Whatever paths a client thinks of, none leads to an object store of somebody.
        serve.args(["--power-loss-may-lose-commits", "--audit-bytes-per-second", "0"]).env("NO_PROXY", "*");
        let served = Served::start(serve);
        Self { url: served.url.clone(), _served: served, _folder: folder }
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
