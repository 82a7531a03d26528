//! What a request has and its route does not read is refused, and nothing of the request happens.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

const TABLE: &str = "/v1/namespaces/n/tables/t";

/// A server with the table `n.t` of one file and one tag, `old`.
async fn server() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b"], &[]).await;
    assert_eq!(server.put(&format!("{TABLE}/tags/old"), &json!({"snapshot_id": 1})).await.0, 201);
    server
}

/// Sends a request with a body, if there is one: the status and the problem.
async fn send(server: &Server, method: Method, route: &str, body: Option<Value>) -> (u16, Value) {
    let mut request = server.request(method, route);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default())
}

#[tokio::test]
async fn a_query_that_no_reading_route_knows_is_refused() {
    let server = server().await;
    for route in [
        "/healthz",
        "/readyz",
        "/metrics",
        "/v1/config",
        "/v1/namespaces",
        "/v1/namespaces/n",
        "/v1/namespaces/n/tables",
        TABLE,
        &format!("{TABLE}/audits"),
        &format!("{TABLE}/snapshots"),
        &format!("{TABLE}/snapshots/1"),
        &format!("{TABLE}/files"),
        &format!("{TABLE}/columns"),
        &format!("{TABLE}/manifests"),
        &format!("{TABLE}/manifests/1"),
        &format!("{TABLE}/tags"),
        &format!("{TABLE}/tags/old"),
    ] {
        assert_eq!(send(&server, Method::GET, route, None).await.0, 200, "{route}");
        let (status, problem) = send(&server, Method::GET, &format!("{route}?nonsense=1"), None).await;
        assert_eq!((status, &problem["type"]), (400, &json!("/problems/malformed-query")), "{route}");
        assert!(problem["detail"].as_str().unwrap().contains("`nonsense`"), "{problem}");
        assert_eq!(send(&server, Method::GET, &format!("{route}?"), None).await.0, 200, "{route}");
    }
}

#[tokio::test]
async fn a_change_with_a_query_does_not_happen() {
    let server = server().await;
    let commit = json!({"operation": "append", "add": [{"path": "c", "size_bytes": 1}]});
    let dry = "?dry_run=true";
    for (method, route, body) in [
        (Method::POST, "/v1/namespaces".to_owned(), Some(json!({"name": "m"}))),
        (Method::POST, "/v1/namespaces/n/tables".to_owned(), Some(json!({"name": "u", "schema": {"fields": []}}))),
        (Method::POST, format!("{TABLE}/commits"), Some(commit)),
        (Method::POST, format!("{TABLE}/rollback"), Some(json!({"snapshot_id": 0}))),
        (Method::POST, format!("{TABLE}/plan"), Some(json!({}))),
        (Method::POST, format!("{TABLE}/expire"), Some(json!({"dry_run": false}))),
        (Method::PATCH, TABLE.to_owned(), Some(json!({"properties": {"a": "b"}}))),
        (Method::PUT, format!("{TABLE}/tags/new"), Some(json!({"snapshot_id": 1}))),
        (Method::DELETE, format!("{TABLE}/tags/old"), None),
        (Method::DELETE, TABLE.to_owned(), None),
    ] {
        let (status, problem) = send(&server, method.clone(), &format!("{route}{dry}"), body).await;
        assert_eq!((status, &problem["type"]), (400, &json!("/problems/malformed-query")), "{method} {route}");
    }
    let (_, table) = server.get(TABLE).await;
    assert_eq!((&table["current_snapshot"], &table["properties"]["a"]), (&json!(1), &Value::Null));
    let (_, tags) = server.get(&format!("{TABLE}/tags")).await;
    assert_eq!(tags["tags"].as_array().unwrap().len(), 1, "{tags}");
    assert_eq!(server.get("/v1/namespaces/m").await.0, 404);
    assert_eq!(server.get("/v1/namespaces/n/tables/u").await.0, 404);
}

#[tokio::test]
async fn a_body_that_nothing_reads_is_refused() {
    let server = server().await;
    for (method, route) in [
        (Method::GET, TABLE.to_owned()),
        (Method::GET, format!("{TABLE}/files")),
        (Method::DELETE, format!("{TABLE}/tags/old")),
        (Method::DELETE, TABLE.to_owned()),
    ] {
        let (status, problem) = send(&server, method.clone(), &route, Some(json!({"dry_run": true}))).await;
        assert_eq!((status, &problem["type"]), (400, &json!("/problems/malformed-body")), "{method} {route}");
        assert_eq!(problem["faults"][0]["message"], format!("a {method} request has no body"));
    }
    assert_eq!(server.get(&format!("{TABLE}/tags/old")).await.0, 200);
    assert_eq!(server.delete(&format!("{TABLE}/tags/old")).await.0, 204);
}

#[tokio::test]
async fn what_is_not_there_is_not_there_with_a_query_either() {
    let server = server().await;
    assert_eq!(server.get("/v1/nothing?a=1").await.0, 404);
    assert_eq!(server.get("/v1/namespaces/m?a=1").await.0, 404);
    assert_eq!(send(&server, Method::DELETE, "/v1/nothing?a=1", Some(json!({}))).await.0, 404);
}

#[tokio::test]
async fn a_method_that_is_not_there_is_not_there_with_a_query_or_a_body_either() {
    let server = server().await;
    let query = format!("{TABLE}/manifests?snapshot_id=0");
    let response = server.request(Method::TRACE, &query).send().await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["allow"]), (405, &"GET,HEAD".parse().unwrap()));
    assert_eq!(send(&server, Method::PUT, &query, None).await.0, 405);
    assert_eq!(send(&server, Method::DELETE, &format!("{TABLE}/manifests"), Some(json!({}))).await.0, 405);
}
