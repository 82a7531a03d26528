//! A page holds its snapshot while an answer is read.

use prunus_catalog::LEASE_MS;
use serde_json::{Value, json};

use crate::clock::SetClock;
use crate::server::{Server, names};

const PLAN: &str = "/v1/namespaces/n/tables/t/plan";
const FILES: &str = "/v1/namespaces/n/tables/t/files";

/// Snapshot 1 has a to e, and of these 2 has only f.
async fn server(clock: &std::sync::Arc<SetClock>) -> Server {
    let server = Server::start_at(clock).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c", "d", "e"], &[]).await;
    server
}

async fn replace_all(server: &Server) {
    server.change("t", &["f"], &["a", "b", "c", "d", "e"]).await;
}

async fn expire(server: &Server) -> Value {
    let body = json!({"keep_last": 1, "dry_run": false});
    let (status, answer) = server.post("/v1/namespaces/n/tables/t/expire", &body).await;
    assert_eq!(status, 200, "{answer}");
    answer["snapshots"].clone()
}

fn page(token: &Value) -> Value {
    json!({"page_size": 2, "page_token": token})
}

#[tokio::test]
async fn a_plan_holds_its_snapshot_until_it_is_read() {
    let clock = SetClock::new();
    let server = server(&clock).await;
    let (_, first) = server.post(PLAN, &page(&Value::Null)).await;
    replace_all(&server).await;
    clock.pass_ms(LEASE_MS - 1);
    assert_eq!(expire(&server).await, json!([]));
    // The page renews the lease.
    let (status, second) = server.post(PLAN, &page(&first["next_page_token"])).await;
    assert_eq!((status, names(&second)), (200, vec!["c".to_owned(), "d".to_owned()]));
    clock.pass_ms(LEASE_MS - 1);
    assert_eq!(expire(&server).await, json!([]));
    let (status, third) = server.post(PLAN, &page(&second["next_page_token"])).await;
    assert_eq!((status, names(&third)), (200, vec!["e".to_owned()]));
    clock.pass_ms(1);
    assert_eq!(expire(&server).await, json!([1]));
}

#[tokio::test]
async fn a_token_that_was_let_lie_is_stale() {
    let clock = SetClock::new();
    let server = server(&clock).await;
    let (_, first) = server.post(PLAN, &page(&Value::Null)).await;
    replace_all(&server).await;
    clock.pass_ms(LEASE_MS);
    assert_eq!(expire(&server).await, json!([1]));
    let (status, problem) = server.post(PLAN, &page(&first["next_page_token"])).await;
    assert_eq!((status, &problem["type"]), (410, &json!("/problems/stale-page-token")));
}

#[tokio::test]
async fn a_listing_of_files_holds_its_snapshot() {
    let clock = SetClock::new();
    let server = server(&clock).await;
    let (_, first) = server.get(&format!("{FILES}?page_size=3")).await;
    replace_all(&server).await;
    assert_eq!(expire(&server).await, json!([]));
    let token = first["next_page_token"].as_str().unwrap();
    let (status, second) = server.get(&format!("{FILES}?page_size=3&page_token={token}")).await;
    assert_eq!((status, names(&second)), (200, vec!["d".to_owned(), "e".to_owned()]));
}

#[tokio::test]
async fn an_answer_of_one_page_holds_nothing() {
    let clock = SetClock::new();
    let server = server(&clock).await;
    server.post(PLAN, &json!({"page_size": 5})).await;
    server.get(&format!("{FILES}?page_size=5")).await;
    replace_all(&server).await;
    assert_eq!(expire(&server).await, json!([1]));
}

#[tokio::test]
async fn a_page_of_a_table_that_was_made_anew_is_stale() {
    let server = server(&SetClock::new()).await;
    let changes = "/v1/namespaces/n/tables/t/changes?from=0&to=1&page_size=2";
    let (_, plan) = server.post(PLAN, &page(&Value::Null)).await;
    let (_, files) = server.get(&format!("{FILES}?page_size=2")).await;
    let (_, changed) = server.get(changes).await;
    assert_eq!(server.delete("/v1/namespaces/n/tables/t").await.0, 204);
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c", "d", "e"], &[]).await;
    let token = |answer: &Value| answer["next_page_token"].as_str().unwrap().to_owned();
    let answers = [
        server.post(PLAN, &page(&plan["next_page_token"])).await,
        server.get(&format!("{FILES}?page_size=2&page_token={}", token(&files))).await,
        server.get(&format!("{changes}&page_token={}", token(&changed))).await,
    ];
    for (status, problem) in answers {
        assert_eq!((status, &problem["type"]), (410, &json!("/problems/stale-page-token")), "{problem}");
    }
}
