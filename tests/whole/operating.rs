//! What is asked of a server rather than of its tables: whether it is ready, what it counts, what clients can count on.

use prunus_catalog::CatalogOptions;
use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::server::Server;

/// The text of the metrics.
pub(crate) async fn metrics(server: &Server) -> String {
    let response = server.request(Method::GET, "/metrics").send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

/// The value of a series; 0 where there is none.
pub(crate) fn value(metrics: &str, series: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

#[tokio::test]
async fn a_server_is_ready_while_its_store_is_what_it_opened() {
    let server = Server::start(2).await;
    assert_eq!(server.get("/readyz").await, (200, json!({"status": "ready"})));
    let store = Connection::open(server.store().join("prunus.db")).unwrap();
    let version: i64 = store.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    store.pragma_update(None, "user_version", version + 1).unwrap();
    what_was_found_is_old().await;
    let (status, problem) = server.get("/readyz").await;
    assert_eq!((status, &problem["type"], &problem["retryable"]), (503, &json!("/problems/not-ready"), &json!(true)));
    assert_eq!(server.get("/healthz").await.0, 200);
    store.pragma_update(None, "user_version", version).unwrap();
    what_was_found_is_old().await;
    assert_eq!(server.get("/readyz").await.0, 200);
}

/// What a look found is told for a second.
async fn what_was_found_is_old() {
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
}

#[tokio::test]
async fn a_server_without_its_tables_is_not_ready() {
    let server = Server::start(2).await;
    let store = Connection::open(server.store().join("prunus.db")).unwrap();
    store.execute_batch("PRAGMA foreign_keys = OFF; ALTER TABLE namespace RENAME TO away").unwrap();
    let response = server.request(Method::GET, "/readyz").send().await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (503, &"1".parse().unwrap()));
}

#[tokio::test]
async fn a_server_on_a_full_disk_is_not_ready_and_says_so_without_a_path() {
    let server = Server::start_with(CatalogOptions { free_bytes_min: u64::MAX, ..CatalogOptions::default() }).await;
    let (status, problem) = server.get("/readyz").await;
    assert_eq!((status, &problem["type"]), (503, &json!("/problems/not-ready")));
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("free bytes") && !detail.contains('/'), "{detail}");
    assert_eq!(server.get("/v1/namespaces").await.0, 200);
}

#[tokio::test]
async fn requests_are_counted_by_the_template_of_their_route() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    for table in ["t", "t", "u"] {
        server.get(&format!("/v1/namespaces/n/tables/{table}")).await;
    }
    server.get("/nothing").await;
    let metrics = metrics(&server).await;
    let route = "route=\"/v1/namespaces/{namespace}/tables/{table}\"";
    let requests = |status: u16| format!("prunus_requests_total{{{route},method=\"GET\",status=\"{status}\"}}");
    assert_eq!((value(&metrics, &requests(200)), value(&metrics, &requests(404))), (2.0, 1.0), "{metrics}");
    assert_eq!(value(&metrics, &format!("prunus_request_duration_seconds_count{{{route}}}")), 3.0, "{metrics}");
    assert_eq!(
        value(&metrics, "prunus_requests_total{route=\"none\",method=\"GET\",status=\"404\"}"),
        1.0,
        "{metrics}"
    );
    // That of the metrics themselves.
    assert_eq!(value(&metrics, "prunus_requests_in_flight"), 1.0, "{metrics}");
}

#[tokio::test]
async fn plans_and_commits_are_counted_and_what_came_of_them() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
    server.change("t", &["d"], &["a"]).await;
    server.plan("t", &json!({"filter": "id >= 99", "page_size": 1})).await;
    let transaction = json!({"commits": [{"table": "n.t", "operation": "delete", "remove": ["b"]}]});
    assert_eq!(server.post("/v1/transactions", &transaction).await.0, 201);
    assert_eq!(server.try_commit("t", &json!({"operation": "delete", "remove": ["b"]})).await.0, 409);
    assert_eq!(server.post("/v1/namespaces/n/tables/t/rollback", &json!({"snapshot_id": 1})).await.0, 201);
    let metrics = metrics(&server).await;
    let counted = |name: &str| value(&metrics, &format!("prunus_{name}_total"));
    let plans = value(&metrics, "prunus_plans_total{outcome=\"done\"}");
    assert_eq!((plans, counted("commits")), (1.0, 4.0), "{metrics}");
    let files = ["considered", "pruned", "kept"].map(|what| counted(&format!("plan_files_{what}")));
    assert_eq!(files, [3.0, 1.0, 2.0], "{metrics}");
}

#[tokio::test]
async fn a_commit_that_is_answered_from_before_is_counted_once() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let commit = json!({"operation": "append", "add": [{"path": "a", "size_bytes": 1}]});
    for replayed in [false, true] {
        let sent = server.send_keyed(Method::POST, "/v1/namespaces/n/tables/t/commits", "k", Some(&commit)).await;
        assert_eq!((sent.0.0, sent.1), (201, replayed));
    }
    assert_eq!(value(&metrics(&server).await, "prunus_commits_total"), 1.0);
}

#[tokio::test]
async fn metrics_are_text_for_whoever_asks_for_it() {
    let server = Server::start(2).await;
    let asked = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4";
    let response = server.request(Method::GET, "/metrics").header("accept", asked).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = response.text().await.unwrap();
    assert_eq!(value(&text, &format!("prunus_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))), 1.0, "{text}");
    let elsewhere = server.request(Method::GET, "/v1/config").header("accept", asked).send().await.unwrap();
    assert_eq!(elsewhere.status(), 406);
}

/// The largest value of a field that is taken, where the field is a text of that length.
fn text_of(limit: &Value) -> String {
    "x".repeat(usize::try_from(limit.as_u64().unwrap()).unwrap())
}

#[tokio::test]
async fn the_limits_that_are_told_are_those_that_hold() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let (status, config) = server.get("/v1/config").await;
    assert_eq!((status, &config["version"]), (200, &json!(env!("CARGO_PKG_VERSION"))));
    let limits = &config["limits"];
    let longest = text_of(&limits["name_bytes"]);
    assert_eq!(server.post("/v1/namespaces", &json!({"name": longest})).await.0, 201);
    assert_eq!(server.post("/v1/namespaces", &json!({"name": format!("{longest}x")})).await.0, 422);
    let page = limits["page_size"].as_u64().unwrap();
    let files = |size: u64| format!("/v1/namespaces/n/tables/t/files?page_size={size}");
    assert_eq!((server.get(&files(page)).await.0, server.get(&files(page + 1)).await.0), (200, 422));
    let key = text_of(&limits["idempotency_key_bytes"]);
    let commit = json!({"operation": "append", "add": [{"path": "a", "size_bytes": 1}]});
    let route = "/v1/namespaces/n/tables/t/commits";
    assert_eq!(server.send_keyed(Method::POST, route, &format!("{key}x"), Some(&commit)).await.0.0, 400);
    assert_eq!(server.send_keyed(Method::POST, route, &key, Some(&commit)).await.0.0, 201);
    for (name, limit) in limits.as_object().unwrap() {
        assert!(limit.as_u64().is_some_and(|limit| limit > 0), "{name}");
    }
}

#[tokio::test]
async fn the_default_of_a_page_is_the_one_that_is_told() {
    let server = Server::start(4096).await;
    server.create_declared("t").await;
    let defaults = server.get("/v1/config").await.1["defaults"].take();
    assert_eq!((&defaults["lease_ms"], &defaults["replies_kept_ms"]), (&json!(600_000), &json!(86_400_000)));
    let page = defaults["page_size"].as_u64().unwrap();
    let add: Vec<Value> = (0..=page).map(|file| json!({"path": format!("f{file}"), "size_bytes": 1})).collect();
    server.commit("t", json!({"operation": "append", "add": add})).await;
    let (_, listed) = server.get("/v1/namespaces/n/tables/t/files").await;
    assert_eq!(listed["files"].as_array().unwrap().len() as u64, page);
}
