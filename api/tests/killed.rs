//! A server is killed between a commit and its answer, or at any moment about it: the request that is sent again under its key is
//! answered, and there is one snapshot.
//!
//! It stands alone in its process. A process that is made takes along the open files of all threads for an instant, and the
//! lock of a store that another test closes in that instant would still be held.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::{Value, json};

/// Where the process that is to be killed finds its data folder; the test's own process has no such variable.
const FOLDER_OF_CHILD: &str = "PRUNUS_TEST_KILLED_FOLDER";

const ROUNDS: u64 = 12;

/// How long a server lives after a commit was sent to it at most, where it is not waited for.
const LIFE_MAX_MICROS: u64 = 20_000;

const TABLE: &str = "/v1/namespaces/n/tables/t";

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_was_lost_in_a_kill_is_made_once() {
    if let Some(folder) = std::env::var_os(FOLDER_OF_CHILD) {
        return serve(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    create_table(&server).await;
    drop(server);
    for round in 1..=ROUNDS {
        let mut killed = Server::start(folder.path());
        let unanswered = tokio::spawn(killed.post("/commits", &commit(round)).header("hold", "yes").send());
        let is_made = round % 2 == 0;
        if is_made {
            assert_eq!(killed.read_line(), "held");
        } else {
            // The standard library's only source of chance.
            let chance = RandomState::new().hash_one(round);
            tokio::time::sleep(Duration::from_micros(chance % LIFE_MAX_MICROS)).await;
        }
        drop(killed);
        assert!(unanswered.await.unwrap().is_err());

        let server = Server::start(folder.path());
        for attempt in 0..2 {
            let answer = server.post("/commits", &commit(round)).header("hold", "no").send().await.unwrap();
            let replayed = answer.headers().contains_key("idempotency-replayed");
            assert_eq!(answer.status(), 201);
            assert_eq!(answer.json::<Value>().await.unwrap()["snapshot_id"], round);
            assert!(replayed || (attempt == 0 && !is_made), "{round}");
        }
        let table = reqwest::get(format!("{}{TABLE}", server.url)).await.unwrap().json::<Value>().await.unwrap();
        assert_eq!((&table["current_snapshot"], &table["files"]), (&json!(round), &json!(round)));
    }
}

async fn create_table(server: &Server) {
    let client = reqwest::Client::new();
    let create = async |route: &str, body: Value| {
        let answer = client.post(format!("{}{route}", server.url)).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 201);
    };
    create("/v1/namespaces", json!({"name": "n"})).await;
    let fields = json!([{"name": "a", "type": "int64"}]);
    let properties = json!({"verification": "declared"});
    create("/v1/namespaces/n/tables", json!({"name": "t", "schema": {"fields": fields}, "properties": properties}))
        .await;
}

/// The commit of a round; it has the round's own key.
fn commit(round: u64) -> Value {
    json!({"operation": "append", "add": [{"path": format!("s3://nowhere/{round}"), "size_bytes": 1}], "summary": {"round": round.to_string()}})
}

/// The work of the child: a server that never answers what it is asked to hold.
async fn serve(folder: &Path) {
    let catalog = Catalog::open(folder, CatalogOptions::default()).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    eprintln!("port {}", listener.local_addr().unwrap().port());
    axum::serve(listener, prunus::router(catalog, &prunus::settings::Settings::default()).layer(from_fn(hold)))
        .await
        .unwrap();
}

async fn hold(request: Request, next: Next) -> Response {
    let holds = request.headers().get("hold").is_some_and(|hold| hold == "yes");
    let response = next.run(request).await;
    if holds {
        eprintln!("held");
        std::future::pending::<()>().await;
    }
    response
}

/// A server in a process of its own, which is killed when this is dropped.
struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    url: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_commit_whose_answer_was_lost_in_a_kill_is_made_once", "--nocapture"])
            .env(FOLDER_OF_CHILD, folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut server = Self { child, stderr, url: String::new() };
        let line = server.read_line();
        server.url = format!("http://127.0.0.1:{}", line.strip_prefix("port ").unwrap());
        server
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.stderr.read_line(&mut line).unwrap(), 0, "ended by itself");
        line.trim_end().to_owned()
    }

    fn post(&self, route: &str, body: &Value) -> reqwest::RequestBuilder {
        let request = reqwest::Client::new().post(format!("{}{TABLE}{route}", self.url));
        request.header("idempotency-key", body["summary"]["round"].as_str().unwrap()).json(body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
