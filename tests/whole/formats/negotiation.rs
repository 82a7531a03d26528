//! Which format is answered.

use serde_json::json;

use super::FILES;
use super::answer::{ARROW, PLAN, post};
use crate::server::Server;

async fn server() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    server
}

#[tokio::test]
async fn the_format_of_more_weight_is_answered() {
    let server = server().await;
    for (accept, expected) in [
        ("*/*", "application/json"),
        ("application/json, application/vnd.apache.arrow.stream", "application/json"),
        ("application/json;q=0.5, application/vnd.apache.arrow.stream", ARROW),
        ("application/json;q=0.5, application/vnd.apache.arrow.stream;q=0.4", "application/json"),
        ("application/vnd.apache.arrow.stream, */*;q=0.1", ARROW),
    ] {
        let answers = [
            post(&server, &json!({})).header("accept", accept).send().await.unwrap(),
            reqwest::Client::new().get(server.url(FILES)).header("accept", accept).send().await.unwrap(),
        ];
        for answer in answers {
            assert_eq!(answer.headers()["content-type"], expected, "{accept}");
        }
    }
}

#[tokio::test]
async fn a_format_that_there_is_not_is_refused() {
    let server = server().await;
    let status = async |route: &str, accept: &str| {
        let client = reqwest::Client::new();
        let request = if route == PLAN { post(&server, &json!({})) } else { client.get(server.url(route)) };
        let answer = request.header("accept", accept).send().await.unwrap();
        if answer.status() != 200 {
            assert_eq!(answer.headers()["content-type"], "application/problem+json");
        }
        answer.status().as_u16()
    };
    for route in [PLAN, FILES] {
        assert_eq!(status(route, "text/csv").await, 406);
        assert_eq!(status(route, "application/json;q=0").await, 406);
        assert_eq!(status(route, ARROW).await, 200);
    }
    for route in ["/v1/namespaces", "/v1/namespaces/n/tables/t/snapshots", "/v1/namespaces/n/tables/t/files?path=a"] {
        assert_eq!(status(route, ARROW).await, 406, "{route}");
        assert_eq!(status(route, "*/*").await, 200, "{route}");
    }
}

#[tokio::test]
async fn a_refusal_is_a_problem_in_whatever_format() {
    let server = server().await;
    let answer = post(&server, &json!({"filter": "nowhere = 1"})).header("accept", ARROW).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["content-type"]),
        (422, &"application/problem+json".parse().unwrap())
    );
}
