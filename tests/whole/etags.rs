//! A client that has a table's description learns cheaply whether it still holds.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

const TABLE: &str = "/v1/namespaces/n/tables/t";

async fn table() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server
}

/// The tag of the table as it is.
async fn tag(server: &Server) -> String {
    let response = server.request(Method::GET, TABLE).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.headers()["etag"].to_str().unwrap().to_owned()
}

/// The status and the body of an answer to a client that knows the table by a tag.
async fn ask(server: &Server, tag: &str) -> (u16, String) {
    let response = server.request(Method::GET, TABLE).header("if-none-match", tag).send().await.unwrap();
    assert!(response.headers().contains_key("etag"));
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test]
async fn a_table_that_is_as_it_was_is_not_sent_again() {
    let server = table().await;
    let tag = tag(&server).await;
    assert_eq!(ask(&server, &tag).await, (304, String::new()));
    assert_eq!(ask(&server, &format!("\"x\", {tag}")).await.0, 304);
    assert_eq!(ask(&server, "*").await.0, 304);
    let (status, body) = ask(&server, "\"x\"").await;
    assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()["name"].clone()), (200, json!("t")));
}

#[tokio::test]
async fn whatever_changes_the_table_changes_its_tag() {
    let server = table().await;
    let mut tags = vec![tag(&server).await];
    server.change("t", &["a", "b"], &[]).await;
    tags.push(tag(&server).await);
    for change in [
        json!({"properties": {"owner": "me"}}),
        json!({"cluster_by": ["id"]}),
        json!({"schema": [{"op": "add", "name": "b", "type": "date"}]}),
    ] {
        server.alter("t", &change).await;
        tags.push(tag(&server).await);
    }
    let all: std::collections::BTreeSet<&String> = tags.iter().collect();
    assert_eq!(all.len(), tags.len(), "{tags:?}");
    for old in tags.split_last().unwrap().1 {
        assert_eq!(ask(&server, old).await.0, 200);
    }
}

#[tokio::test]
async fn a_change_is_answered_with_the_new_tag() {
    let server = table().await;
    let response = server.request(Method::PATCH, TABLE).json(&json!({"properties": {"owner": "me"}}));
    let response = response.send().await.unwrap();
    let answered = response.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(ask(&server, &answered).await.0, 304);
}

#[tokio::test]
async fn a_change_that_is_answered_again_has_its_tag_again() {
    let server = table().await;
    let mut answers = Vec::new();
    for _ in 0..2 {
        let request = server.request(Method::PATCH, TABLE).header("idempotency-key", "k");
        let response = request.json(&json!({"properties": {"owner": "me"}})).send().await.unwrap();
        answers.push((response.headers()["etag"].clone(), response.headers().contains_key("idempotency-replayed")));
    }
    assert_eq!(answers[0].0, answers[1].0);
    assert_eq!((answers[0].1, answers[1].1), (false, true));
    assert_eq!(ask(&server, answers[1].0.to_str().unwrap()).await.0, 304);
}

#[tokio::test]
async fn mended_statistics_are_another_table_to_clients() {
    let server = Server::start(2).await;
    let path = server.path("a.parquet");
    crate::rows::write(path.as_ref(), &crate::rows::batch(0, 20), parquet::file::properties::EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path, "properties": {"nan_counts": "unknown"}})).await;
    server.commit("t", crate::server::append([path])).await;
    let before = tag(&server).await;
    let (status, audit) = server.post(&format!("{TABLE}/audits"), &json!({"mode": "scan", "repair": true})).await;
    assert_eq!(status, 202, "{audit}");
    let route = format!("{TABLE}/audits/{}", audit["audit_id"]);
    while server.get(&route).await.1["state"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let (_, table) = server.get(TABLE).await;
    assert_eq!((&table["statistics_generation"], &table["current_snapshot"]), (&json!(1), &json!(1)), "{table}");
    assert_ne!(tag(&server).await, before);
}
