//! A server in a process of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary::{Served, prunus, serve};
use crate::driver::{self, Outcome, Pace};

/// How many files one commit registers.
const BATCH: usize = 5_000;

pub(crate) struct Server {
    served: Served,
    address: String,
    /// The number of the next request.
    next: Arc<AtomicU64>,
    committed: Mutex<usize>,
    files: AtomicU64,
}

impl Server {
    /// Starts a server that lets so many plans and changes wait.
    pub(crate) fn start(folder: &Path, waiting: usize) -> Self {
        let mut serve = serve(folder);
        serve.env("RUST_LOG", "warn");
        serve.env("PRUNUS__LIMITS__PLANS_WAITING", waiting.to_string());
        serve.env("PRUNUS__LIMITS__CHANGES_WAITING", waiting.to_string());
        let served = Served::start(serve);
        let address = served.url.strip_prefix("http://").unwrap().to_owned();
        Self { served, address, next: Arc::default(), committed: Mutex::default(), files: AtomicU64::default() }
    }

    async fn post(&self, route: &str, body: &Value) -> Value {
        let url = format!("http://{}/v1/{route}", self.address);
        let answer = reqwest::Client::new().post(url).json(body).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        answer.json().await.unwrap()
    }

    /// Registers so many declared files in the table `n.t`.
    pub(crate) async fn register(&self, files: usize) {
        self.post("namespaces", &json!({"name": "n"})).await;
        let fields = json!([{"name": "id", "type": "int64"}]);
        let table = json!({
            "name": "t", "location": "/data/", "schema": {"fields": fields}, "cluster_by": ["id"],
            "properties": {"verification": "declared"},
        });
        self.post("namespaces/n/tables", &table).await;
        let file = |number: usize| {
            let id = json!({"min": number * 10, "max": number * 10 + 9, "null_count": 0});
            json!({"path": format!("{number}.parquet"), "size_bytes": 1000, "row_count": 10, "columns": {"id": id}})
        };
        for first in (0..files).step_by(BATCH) {
            let add: Vec<Value> = (first..first + BATCH).map(file).collect();
            self.post("namespaces/n/tables/t/commits", &json!({"operation": "append", "add": add})).await;
        }
        self.files.store(files as u64, Ordering::Relaxed);
    }

    /// Sends requests for some time.
    pub(crate) async fn drive(&self, pace: Pace, connections: usize, time: Duration) -> Outcome {
        let files = self.files.load(Ordering::Relaxed);
        let outcome = driver::drive(&self.address, pace, connections, time, (&self.next, files)).await;
        *self.committed.lock().unwrap() += outcome.committed();
        outcome
    }

    /// How many commits were answered with a snapshot.
    pub(crate) fn committed(&self) -> usize {
        *self.committed.lock().unwrap()
    }

    pub(crate) async fn live_files(&self) -> usize {
        let url = format!("http://{}/v1/namespaces/n/tables/t", self.address);
        let table: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        usize::try_from(table["files"].as_u64().unwrap()).unwrap()
    }

    /// The most memory that the process has had.
    pub(crate) fn memory_max_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.served.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

/// That nothing is wrong with the catalog in a folder.
pub(crate) fn assert_sound(folder: &Path) {
    let checked = prunus().args(["check", "--data-dir"]).arg(folder).output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
}
