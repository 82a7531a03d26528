//! What is refused, and how that is said to clients of Iceberg.

use serde_json::{Value, json};

use super::{TABLE, check_refused};
use crate::server::Server;

#[track_caller]
fn check(answer: (u16, Value), expected: u16, exception: &str) {
    check_refused(&answer, expected, exception);
}

#[tokio::test]
async fn what_is_not_there_is_named_by_its_exception() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    check(server.get("/iceberg/v1/namespaces/ghost").await, 404, "NoSuchNamespaceException");
    check(server.get("/iceberg/v1/namespaces/n/tables/none").await, 404, "NoSuchTableException");
    check(server.get("/iceberg/v1/none").await, 404, "NotFoundException");
    check(server.get("/iceberg/v1/namespaces/n/views").await, 404, "NotFoundException");
}

#[tokio::test]
async fn what_writers_ask_for_is_not_supported() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    for (route, body) in [
        ("/iceberg/v1/namespaces", json!({"namespace": ["x"]})),
        ("/iceberg/v1/namespaces/n/tables", json!({"name": "x"})),
        (TABLE, json!({"requirements": [], "updates": []})),
    ] {
        check(server.post(route, &body).await, 406, "UnsupportedOperationException");
    }
    check(server.delete(TABLE).await, 406, "UnsupportedOperationException");
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_a_bad_one() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let plan = format!("{TABLE}/plan");
    check(server.post_text(&plan, "application/json", "{".to_owned()).await, 400, "BadRequestException");
    check(server.post_text(&plan, "text/plain", "{}".to_owned()).await, 400, "BadRequestException");
    check(server.get("/iceberg/v1/namespaces?pageToken=x").await, 400, "BadRequestException");
    check(server.get("/iceberg/v1/namespaces?pageToken=&pageSize=0").await, 400, "BadRequestException");
    check(server.get("/iceberg/v1/namespaces/a.b").await, 400, "BadRequestException");
}

#[tokio::test]
async fn a_client_without_a_token_may_say_so() {
    let server = Server::start(2).await;
    let status = async |route: &str, token: &str| {
        let request = server.request(reqwest::Method::GET, route).header("authorization", format!("Bearer {token}"));
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("/iceberg/v1/namespaces", "None").await, 200);
    assert_eq!(status("/iceberg/v1/namespaces", "wrong").await, 401);
    assert_eq!(status("/v1/namespaces", "None").await, 401);
}

#[tokio::test]
async fn reports_are_taken_and_counted() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let report = json!({"report-type": "scan-report", "table-name": "t", "metrics": {}});
    assert_eq!(server.post(&format!("{TABLE}/metrics"), &report).await.0, 204);
    check(server.post("/iceberg/v1/namespaces/n/tables/none/metrics", &report).await, 404, "NoSuchTableException");
    let metrics = server.request(reqwest::Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let route = r#"route="/iceberg/v1/namespaces/{namespace}/tables/{table}/metrics""#;
    assert!(metrics.lines().any(|line| line.contains(route) && line.contains(r#"status="204""#)), "{metrics}");
}
