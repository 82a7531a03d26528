//! Every route that changes something keeps its reply: the same request under its key is answered byte for byte as before, another
//! one is refused.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

/// Sends a request three times under a key of its own: twice as it is, once with another content, which one without a body cannot
/// have. The first answer.
async fn thrice(server: &Server, method: Method, route: &str, body: Option<Value>, expected: u16) -> Value {
    let key = format!("{method} {route}");
    let headers = [("idempotency-key", key.as_str()), ("content-type", "application/json")];
    let other_content = body.as_ref().map(|_| "{\"other\": 0}".to_owned());
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let first = server.send_raw(method.clone(), route, &headers, body.clone()).await;
    assert_eq!(first.0, expected, "{method} {route} {}", String::from_utf8_lossy(&first.2));
    let again = server.send_raw(method.clone(), route, &headers, body).await;
    assert_eq!(again, first, "{method} {route}");
    if let Some(other) = other_content {
        let other = server.send_raw(method.clone(), route, &headers, other).await;
        let problem: Value = serde_json::from_slice(&other.2).unwrap();
        assert_eq!((other.0, &problem["type"]), (422, &json!("/problems/idempotency-key-reused")), "{method} {route}");
    }
    if first.2.is_empty() { Value::Null } else { serde_json::from_slice(&first.2).unwrap() }
}

fn append(name: &str) -> Value {
    json!({"operation": "append", "add": [{"path": name, "size_bytes": 1}]})
}

#[tokio::test]
async fn every_route_that_changes_something_keeps_its_reply() {
    const T: &str = "/v1/namespaces/n/tables/t";
    let server = &Server::start(8).await;
    let of_table = |rest: &str| format!("{T}/{rest}");
    thrice(server, Method::POST, "/v1/namespaces", Some(json!({"name": "n"})), 201).await;
    let table = json!({"name": "t", "schema": {"fields": [{"name": "a", "type": "int64"}]}, "location": "/data",
        "properties": {"verification": "declared"}});
    thrice(server, Method::POST, "/v1/namespaces/n/tables", Some(table), 201).await;
    thrice(server, Method::PATCH, T, Some(json!({"properties": {"owner": "me"}})), 200).await;
    thrice(server, Method::POST, &of_table("commits"), Some(append("x")), 201).await;
    let mut commit = append("y");
    commit["table"] = "n.t".into();
    thrice(server, Method::POST, "/v1/transactions", Some(json!({"commits": [commit]})), 201).await;
    thrice(server, Method::POST, &of_table("rollback"), Some(json!({"snapshot_id": 1})), 201).await;
    thrice(server, Method::PUT, &of_table("tags/x"), Some(json!({"snapshot_id": 1})), 201).await;
    thrice(server, Method::DELETE, &of_table("tags/x"), None, 204).await;
    thrice(server, Method::POST, &of_table("regroup"), Some(json!({})), 200).await;
    thrice(server, Method::POST, &of_table("expire"), Some(json!({"keep_last": 1, "dry_run": false})), 200).await;
    let audit = thrice(server, Method::POST, &of_table("audits"), Some(json!({"mode": "footer"})), 202).await;
    thrice(server, Method::DELETE, &of_table(&format!("audits/{}", audit["audit_id"])), None, 200).await;
    let (_, after) = server.get(T).await;
    assert_eq!(after["current_snapshot"], 3, "each was carried out once: {after}");
    thrice(server, Method::DELETE, T, None, 204).await;
    thrice(server, Method::DELETE, "/v1/namespaces/n", None, 204).await;
}

#[tokio::test]
async fn a_refusal_is_kept_byte_for_byte_but_for_the_id_of_the_request() {
    let server = Server::start(8).await;
    server.create_declared("t").await;
    let headers = [("idempotency-key", "k"), ("content-type", "application/json"), ("x-request-id", "mine")];
    let send = || {
        let body = json!({"operation": "delete", "remove": ["x"]}).to_string();
        server.send_raw(Method::POST, "/v1/namespaces/n/tables/t/commits", &headers, body)
    };
    let first = send().await;
    assert_eq!((first.0, send().await), (409, first));
}
