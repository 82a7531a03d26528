//! More than a server can do at once: it answers what it takes, refuses the rest at once, and works afterwards.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use prunus_catalog::{CatalogOptions, Limits};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::server::Server;

const PLAN: &str = "/v1/namespaces/n/tables/t/plan";
const COMMITS: &str = "/v1/namespaces/n/tables/t/commits";

/// How many requests were answered with which status; those that are refused say when to try again.
async fn burst(server: &Server, route: &str, bodies: Vec<Value>) -> BTreeMap<u16, usize> {
    let requests = bodies.iter().map(|body| server.request(reqwest::Method::POST, route).json(body).send());
    let mut statuses = BTreeMap::new();
    for answer in futures::future::join_all(requests).await {
        let answer = answer.unwrap();
        let status = answer.status().as_u16();
        let retry_after = answer.headers().contains_key("retry-after");
        assert_eq!(retry_after, matches!(status, 429 | 503), "{status}");
        *statuses.entry(status).or_default() += 1;
    }
    statuses
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_plans_is_answered_or_refused() {
    let plans_at_once = NonZeroUsize::new(2).unwrap();
    let limits = Limits { plans_at_once, plans_waiting: 8, ..Limits::default() };
    // Every plan reads a hundred manifests anew.
    let options = CatalogOptions { manifest_target_files: 1, plan_cache_bytes: 0, limits, ..CatalogOptions::default() };
    let server = Server::start_with(options).await;
    server.create_declared("t").await;
    let names: Vec<String> = (0..100).map(|number| format!("a{number}")).collect();
    server.change("t", &names.iter().map(String::as_str).collect::<Vec<_>>(), &[]).await;
    let plan = json!({"filter": "id = 97", "dry_run": true});
    let mut statuses = BTreeMap::new();
    for _ in 0..10 {
        for (status, count) in burst(&server, PLAN, vec![plan.clone(); 200]).await {
            *statuses.entry(status).or_insert(0) += count;
        }
    }
    assert_eq!(statuses.values().sum::<usize>(), 2_000);
    assert_eq!(statuses.keys().copied().collect::<Vec<_>>(), [200, 429], "{statuses:?}");
    let (_, problem) = loop {
        let answers = futures::future::join_all((0..50).map(|_| server.post(PLAN, &plan))).await;
        if let Some(refused) = answers.into_iter().find(|(status, _)| *status == 429) {
            break refused;
        }
    };
    assert_eq!(problem["type"], "/problems/too-many-requests");
    assert_eq!(problem["detail"], "plans: 2 are worked on and 8 wait, and there is no room for more");
    assert_eq!(server.plan("t", &json!({"filter": "id = 97"})).await["files"].as_array().unwrap().len(), 100);
    assert_eq!(server.get("/v1/namespaces/n/tables/t").await.0, 200);
    server.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_commits_behind_a_writer_that_is_held_is_made_or_refused() {
    let limits = Limits { changes_waiting: 5, ..Limits::default() };
    let server = Server::start_with(CatalogOptions { limits, ..CatalogOptions::default() }).await;
    server.create_declared("t").await;
    // Another process writes to the database, for which the writer waits.
    let holder = rusqlite::Connection::open(server.store().join("prunus.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let append =
        |number: usize| json!({"operation": "append", "add": [{"path": format!("f{number}"), "size_bytes": 1}]});
    let bodies: Vec<Value> = (0..40).map(append).collect();
    let mut commits: FuturesUnordered<_> = bodies.iter().map(|body| server.post(COMMITS, body)).collect();
    for _ in 0..35 {
        let (status, refused) = commits.next().await.unwrap();
        assert_eq!((status, &refused["type"]), (503, &json!("/problems/overloaded")));
        assert_eq!(refused["detail"], "5 changes are worked on or wait for the writer, and there is no room for more");
    }
    // Five wait. Reads and plans go on, and no other change is let in.
    assert_eq!(server.put("/v1/namespaces/n/tables/t/tags/x", &json!({"snapshot_id": 0})).await.0, 503);
    assert_eq!(server.post(PLAN, &json!({})).await.0, 200);
    assert_eq!(server.get("/readyz").await.0, 200);
    holder.execute_batch("ROLLBACK").unwrap();
    assert!(commits.map(|(status, _)| status).all(async |status| status == 201).await);
    let (_, table) = server.get("/v1/namespaces/n/tables/t").await;
    assert_eq!(table["current_snapshot"], 5, "{table}");
    server.change("t", &["last"], &[]).await;
    server.assert_sound().await;
}

/// A server whose only place for a change is taken by a commit that waits for an object store, which never answers; and the
/// connection to that store.
async fn with_a_commit_that_waits(server: &Server, key: Option<&str>) -> (JoinHandle<()>, TcpStream) {
    let fields = json!([{"name": "id", "type": "int64"}]);
    server.create_table("read", json!({"schema": {"fields": fields}})).await;
    let store = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let path = format!("http://{}/a", store.local_addr().unwrap());
    let request = server.request(reqwest::Method::POST, "/v1/namespaces/n/tables/read/commits");
    let request = request.json(&json!({"operation": "append", "add": [{"path": path}]}));
    let request = key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
    let client = tokio::spawn(async { drop(request.send().await) });
    let (connection, _) = store.accept().await.unwrap();
    assert_eq!(add_file(server).await, 503);
    (client, connection)
}

async fn add_file(server: &Server) -> u16 {
    let append = json!({"operation": "append", "add": [{"path": "a", "size_bytes": 1}]});
    server.post(COMMITS, &append).await.0
}

async fn of_one_change() -> Server {
    let limits = Limits { changes_waiting: 1, ..Limits::default() };
    let server = Server::start_with(CatalogOptions { limits, ..CatalogOptions::default() }).await;
    server.create_declared("t").await;
    server
}

#[tokio::test]
async fn a_commit_whose_client_hangs_up_while_its_files_are_read_is_given_up() {
    let server = of_one_change().await;
    let (client, mut connection) = with_a_commit_that_waits(&server, None).await;
    client.abort();
    // It asks the store for nothing any more, and its place is another's.
    connection.read_to_end(&mut Vec::new()).await.unwrap();
    assert_eq!(add_file(&server).await, 201);
}

#[tokio::test]
async fn a_commit_under_a_key_goes_on_though_its_client_hangs_up() {
    let server = of_one_change().await;
    let (client, mut connection) = with_a_commit_that_waits(&server, Some("k")).await;
    client.abort();
    let mut sent = Vec::new();
    let ended = connection.read_to_end(&mut sent);
    assert!(tokio::time::timeout(Duration::from_millis(500), ended).await.is_err());
    assert_eq!(add_file(&server).await, 503);
}
