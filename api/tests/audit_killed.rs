//! A server is killed again and again while it audits and repairs: the audit goes on by itself, counts each file once, tells each
//! lie once, and what it repaired is right.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

#[path = "support/binary.rs"]
mod binary;

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use binary::{Served, prunus, serve};

const TABLE: &str = "/v1/namespaces/n/tables/t";

const FILES: i64 = 1_200;
const ROWS: i64 = 10;
const KILLS: u64 = 12;
/// How long a server lives at most before it is killed.
const LIFE_MAX_MS: u64 = 900;

/// A running server, which is killed when this is dropped.
struct Server {
    served: Served,
    client: reqwest::Client,
}

impl Server {
    fn start(data: &Path) -> Self {
        let mut serve = serve(data);
        serve.args(["--audit-bytes-per-second", "0"]);
        Self { served: Served::start(serve), client: reqwest::Client::new() }
    }

    async fn post(&self, route: &str, body: &Value) -> (u16, Value) {
        let answer = self.client.post(format!("{}{route}", self.served.url)).json(body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    async fn get(&self, route: &str) -> Value {
        self.client.get(format!("{}{route}", self.served.url)).send().await.unwrap().json().await.unwrap()
    }

    /// The names of the files that may hold a number.
    async fn plan(&self, id: i64) -> Vec<String> {
        let (_, plan) = self.post(&format!("{TABLE}/plan"), &json!({"filter": format!("id = {id}")})).await;
        let name = |file: &Value| file["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        plan["files"].as_array().unwrap().iter().map(name).collect()
    }
}

/// Whether the writer of a file lies about it.
const fn is_lie(number: i64) -> bool {
    number % 3 == 0
}

/// Writes the file of a number; says what is declared of it.
fn file(folder: &Path, number: i64) -> Value {
    let path = folder.join(number.to_string());
    let ids = Int64Array::from_iter_values(number * ROWS..(number + 1) * ROWS);
    let rows = RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    let (min, max) = (number * ROWS, (number + 1) * ROWS - 1);
    let id = if is_lie(number) { json!({"min": min + 4, "max": max - 4}) } else { json!({"min": min, "max": max}) };
    let size_bytes = std::fs::metadata(&path).unwrap().len();
    json!({"path": path, "size_bytes": size_bytes, "row_count": ROWS, "columns": {"id": id}})
}

async fn create_table(server: &Server, folder: &Path) {
    assert_eq!(server.post("/v1/namespaces", &json!({"name": "n"})).await.0, 201);
    let fields = json!([{"name": "id", "type": "int64"}]);
    let table = json!({"name": "t", "schema": {"fields": fields}, "properties": {"verification": "declared"}});
    assert_eq!(server.post("/v1/namespaces/n/tables", &table).await.0, 201);
    // Some in manifests, and some not.
    let files: Vec<Value> = (0..FILES).map(|number| file(folder, number)).collect();
    for part in files.chunks(500) {
        let commit = json!({"operation": "append", "add": part});
        assert_eq!(server.post(&format!("{TABLE}/commits"), &commit).await.0, 201);
    }
}

/// Every finding of an audit, as file and statistic.
async fn findings(server: &Server, route: &str) -> Vec<String> {
    let audit = server.get(&format!("{route}?page_size=10000")).await;
    let line = |finding: &Value| format!("{} {}", finding["path"].as_str().unwrap(), finding["statistic"]);
    audit["found"].as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn an_audit_that_is_killed_again_and_again_ends_as_if_it_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let (data, files) = (folder.path().join("catalog"), folder.path().join("files"));
    std::fs::create_dir(&files).unwrap();
    let server = Server::start(&data);
    create_table(&server, &files).await;
    let (status, begun) = server.post(&format!("{TABLE}/audits"), &json!({"mode": "scan", "repair": true})).await;
    assert_eq!(status, 202, "{begun}");
    let route = format!("{TABLE}/audits/{}", begun["audit_id"]);
    drop(server);
    for kill in 0..KILLS {
        let server = Server::start(&data);
        // The standard library's only source of chance.
        tokio::time::sleep(Duration::from_millis(RandomState::new().hash_one(kill) % LIFE_MAX_MS)).await;
        drop(server);
    }
    let server = Server::start(&data);
    let ended = loop {
        let audit = server.get(&route).await;
        if audit["state"] != "running" {
            break audit;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((&ended["state"], &ended["files_checked"]), (&json!("done"), &json!(FILES)), "{ended}");
    let mut found = findings(&server, &route).await;
    let lies = (0..FILES).filter(|number| is_lie(*number)).count();
    assert_eq!((found.len(), &ended["statistics_refuted"]), (2 * lies, &json!(2 * lies)));
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 2 * lies);
    for number in (0..FILES).step_by(7) {
        assert_eq!(server.plan(number * ROWS).await, [number.to_string()]);
        assert_eq!(server.plan(number * ROWS + 9).await, [number.to_string()]);
    }
    drop(server);
    let check = prunus().args(["check", "--data-dir"]).arg(&data).output().unwrap();
    assert!(check.status.success(), "{check:?}");
}
