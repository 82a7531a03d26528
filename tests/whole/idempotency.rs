//! Requests that are sent again under their key are answered as before, and carried out once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use prunus_catalog::{CatalogOptions, Clock, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Answer, Server};

const COMMITS: &str = "/v1/namespaces/n/tables/t/commits";
const TABLE: &str = "/v1/namespaces/n/tables/t";
const TAG: &str = "/v1/namespaces/n/tables/t/tags/x";

/// A table whose files are not read.
fn table() -> Value {
    json!({"schema": {"fields": [{"name": "a", "type": "int64"}]}, "properties": {"verification": "declared"}})
}

async fn server() -> Server {
    let server = Server::start(8).await;
    server.create_table("t", table()).await;
    server
}

fn append(name: &str) -> Value {
    json!({"operation": "append", "add": [{"path": format!("s3://nowhere/{name}"), "size_bytes": 1}]})
}

async fn post(server: &Server, route: &str, key: &str, body: &Value) -> (Answer, bool) {
    server.send_keyed(Method::POST, route, key, Some(body)).await
}

async fn current_snapshot(server: &Server) -> Value {
    server.get(TABLE).await.1["current_snapshot"].take()
}

#[tokio::test]
async fn a_commit_that_is_sent_again_is_made_once() {
    let server = server().await;
    let first = post(&server, COMMITS, "k", &append("x")).await;
    assert_eq!((first.0.0, first.1), (201, false));
    let again = post(&server, COMMITS, "k", &append("x")).await;
    assert_eq!(again, (first.0, true));
    assert_eq!(current_snapshot(&server).await, 1);
}

#[tokio::test]
async fn another_content_under_the_key_is_refused() {
    let server = server().await;
    post(&server, COMMITS, "k", &append("x")).await;
    let ((status, problem), replayed) = post(&server, COMMITS, "k", &append("y")).await;
    assert_eq!((status, replayed), (422, false));
    assert_eq!(problem["type"], "/problems/idempotency-key-reused");
    // Which takes nothing from the one that has it.
    assert!(post(&server, COMMITS, "k", &append("x")).await.1);
    assert_eq!(current_snapshot(&server).await, 1);
}

#[tokio::test]
async fn a_key_belongs_to_its_route() {
    let server = server().await;
    server.create_table("u", table()).await;
    let (answer, replayed) = post(&server, COMMITS, "k", &append("x")).await;
    assert_eq!((answer.0, replayed), (201, false));
    let (answer, replayed) = post(&server, "/v1/namespaces/n/tables/u/commits", "k", &append("x")).await;
    assert_eq!((answer.0, replayed), (201, false));
}

#[tokio::test]
async fn every_change_keeps_its_reply() {
    let server = Server::start(8).await;
    let mut table = table();
    table["name"] = "t".into();
    let changes = [
        (Method::POST, "/v1/namespaces", Some(json!({"name": "n"})), 201),
        (Method::POST, "/v1/namespaces/n/tables", Some(table), 201),
        (Method::POST, COMMITS, Some(append("x")), 201),
        (Method::PUT, TAG, Some(json!({"snapshot_id": 1})), 201),
        (Method::DELETE, TAG, None, 204),
        (Method::DELETE, TABLE, None, 204),
        (Method::DELETE, "/v1/namespaces/n", None, 204),
    ];
    for (method, route, body, expected) in changes {
        let first = server.send_keyed(method.clone(), route, "k", body.as_ref()).await;
        assert_eq!((first.0.0, first.1), (expected, false), "{route} {:?}", first.0);
        let again = server.send_keyed(method, route, "k", body.as_ref()).await;
        assert_eq!(again, (first.0, true), "{route}");
    }
}

#[tokio::test]
async fn a_refusal_is_given_again_under_the_id_of_the_new_request() {
    let server = server().await;
    let refused = [
        (json!({"operation": "append"}), 422),
        (json!({"operation": "delete", "remove": ["s3://nowhere/x"]}), 409),
        (json!({"operation": "none"}), 400),
    ];
    for (index, (body, expected)) in refused.iter().enumerate() {
        let key = index.to_string();
        let ((status, mut first), replayed) = post(&server, COMMITS, &key, body).await;
        assert_eq!((status, replayed), (*expected, false), "{first}");
        // Now it would be taken.
        server.commit("t", append("x")).await;
        let ((status, mut again), replayed) = post(&server, COMMITS, &key, body).await;
        assert_eq!((status, replayed), (*expected, true));
        assert_ne!(first["request_id"].take(), again["request_id"].take());
        assert_eq!(first, again);
        server.commit("t", json!({"operation": "delete", "remove": ["s3://nowhere/x"]})).await;
    }
}

#[tokio::test]
async fn requests_under_one_key_at_the_same_time_are_one() {
    let server = &server().await;
    for round in 0..8 {
        let (key, body) = (&format!("k{round}"), &append(&format!("x{round}")));
        let answers = futures::future::join_all((0..8).map(|_| post(server, COMMITS, key, body))).await;
        assert_eq!(answers.iter().filter(|(_, replayed)| !replayed).count(), 1, "{answers:?}");
        assert!(answers.iter().all(|(answer, _)| *answer == answers[0].0 && answer.0 == 201), "{answers:?}");
        assert_eq!(current_snapshot(server).await, round + 1);
    }
}

#[tokio::test]
async fn rollbacks_under_one_key_at_the_same_time_are_one() {
    let server = &server().await;
    server.commit("t", append("x")).await;
    for round in 0..8 {
        let (key, route) = (&format!("k{round}"), &format!("{TABLE}/rollback"));
        let body = &json!({"snapshot_id": 1});
        let answers = futures::future::join_all((0..8).map(|_| post(server, route, key, body))).await;
        assert!(answers.iter().all(|(answer, _)| *answer == answers[0].0 && answer.0 == 201), "{answers:?}");
        assert_eq!(current_snapshot(server).await, round + 2);
    }
}

#[tokio::test]
async fn tags_are_set_and_taken_away_once_under_one_key() {
    let server = &server().await;
    server.commit("t", append("x")).await;
    for round in 0..8 {
        let key = &format!("k{round}");
        for (method, body, expected) in
            [(Method::PUT, Some(json!({"snapshot_id": 1})), 201), (Method::DELETE, None, 204)]
        {
            let send = |_| server.send_keyed(method.clone(), TAG, key, body.as_ref());
            let answers = futures::future::join_all((0..8).map(send)).await;
            assert_eq!(answers.iter().filter(|(_, replayed)| !replayed).count(), 1, "{answers:?}");
            assert!(answers.iter().all(|(answer, _)| *answer == answers[0].0 && answer.0 == expected), "{answers:?}");
        }
    }
}

#[tokio::test]
async fn requests_without_a_key_are_all_carried_out() {
    let server = server().await;
    assert_eq!(server.try_commit("t", &append("x")).await.0, 201);
    assert_eq!(server.try_commit("t", &append("x")).await.0, 409);
}

#[tokio::test]
async fn a_key_on_what_only_reads_is_of_no_account() {
    let server = server().await;
    for files in 0..2 {
        let ((status, plan), replayed) = post(&server, &format!("{TABLE}/plan"), "k", &json!({})).await;
        assert_eq!((status, replayed), (200, false));
        assert_eq!(plan["files"].as_array().unwrap().len(), files);
        let ((_, table), replayed) = server.send_keyed(Method::GET, TABLE, "k", None).await;
        assert_eq!((&table["files"], replayed), (&json!(files), false));
        server.commit("t", append(&format!("x{files}"))).await;
    }
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let server = server().await;
    let ((status, _), _) = post(&server, COMMITS, &"k".repeat(255), &append("x")).await;
    assert_eq!(status, 201);
    for key in [String::new(), "k".repeat(256)] {
        let ((status, problem), _) = post(&server, COMMITS, &key, &append("y")).await;
        assert_eq!((status, &problem["type"]), (400, &json!("/problems/malformed-header")), "{problem}");
    }
    assert_eq!(current_snapshot(&server).await, 1);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_answered_as_without_a_key() {
    let server = server().await;
    let large = json!({"operation": "append", "summary": {"x": "x".repeat(prunus::MAX_BODY_BYTES)}});
    let ((status, _), replayed) = post(&server, COMMITS, "k", &large).await;
    assert_eq!((status, replayed), (413, false));
    // Nothing was read of it that the key could stand for.
    assert_eq!(post(&server, COMMITS, "k", &append("x")).await.0.0, 201);
}

/// A clock that stands where it is put.
#[derive(Debug)]
struct Hands(AtomicI64);

impl Clock for Hands {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn new_uuid(&self) -> uuid::Uuid {
        SystemClock.new_uuid()
    }
}

#[tokio::test]
async fn a_reply_is_given_again_for_a_day() {
    const DAY_MS: i64 = 86_400_000;
    let clock = Arc::new(Hands(AtomicI64::new(1_000)));
    let server =
        Server::start_with(CatalogOptions { clock: Arc::clone(&clock) as _, ..CatalogOptions::default() }).await;
    server.create_table("t", table()).await;
    let (first, _) = post(&server, COMMITS, "k", &append("x")).await;
    clock.0.store(1_000 + DAY_MS - 1, Ordering::SeqCst);
    assert_eq!(post(&server, COMMITS, "k", &append("x")).await, (first, true));
    clock.0.store(1_000 + DAY_MS, Ordering::SeqCst);
    let ((status, _), replayed) = post(&server, COMMITS, "k", &append("y")).await;
    assert_eq!((status, replayed), (201, false));
}
