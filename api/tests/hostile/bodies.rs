//! Bodies that do not arrive, are too large, or are no JSON.

use std::time::Duration;

use prunus::settings::LimitSettings;
use serde_json::json;
use tokio::time::Instant;

use crate::client::post_head;
use crate::server::{COMMITS, PLAN, Server, append};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_given_up() {
    let server = Server::start(LimitSettings { body_seconds: 1, ..LimitSettings::default() }).await;
    let mut slow = Vec::new();
    for key in ["", "idempotency-key: k\r\n"].repeat(50) {
        let mut client = server.client().await;
        client.send(post_head(COMMITS, &format!("{key}content-length: 1000\r\n")) + "{").await;
        slow.push(client);
    }
    let started = Instant::now();
    server.check_alive().await;
    // A byte now and then does not help.
    let mut dripping = server.client().await;
    dripping.send(post_head(COMMITS, "content-length: 1000\r\n")).await;
    while dripping.is_open().await {
        dripping.send(" ").await;
        assert!(started.elapsed() < 10 * SECOND);
    }
    for mut client in slow {
        let answer = client.answer().await.unwrap();
        assert_eq!(answer.problem(), (408, "body-too-slow".to_owned()));
        assert_eq!(answer.header("connection"), Some("close"));
        client.ended().await;
    }
    server.check_alive().await;
}

#[tokio::test]
async fn an_answer_begins_in_time_or_is_a_problem() {
    let server = Server::start(LimitSettings { request_seconds: 1, ..LimitSettings::default() }).await;
    let mut client = server.client().await;
    client.send(post_head(COMMITS, "content-length: 1000\r\n") + "{").await;
    let answer = client.answer().await.unwrap();
    assert_eq!(answer.problem(), (503, "request-timeout".to_owned()));
    // What took too long once is not to be asked for again at once.
    assert_eq!(answer.header("retry-after"), None);
    server.check_alive().await;
}

#[tokio::test]
async fn a_body_is_read_up_to_the_limit_that_is_set() {
    const LIMIT: usize = 1_000;
    let server = Server::start(LimitSettings { body_bytes: LIMIT, ..LimitSettings::default() }).await;
    let body = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
    let chunked = |bytes: usize| {
        let body = body(bytes);
        let (one, other) = body.split_at(500);
        format!("{:x}\r\n{one}\r\n{:x}\r\n{other}\r\n0\r\n\r\n", one.len(), other.len())
    };
    for (bytes, expected) in [(LIMIT, 200), (LIMIT + 1, 413)] {
        let mut client = server.client().await;
        client.post(PLAN, "", body(bytes)).await;
        let answer = client.answer().await.unwrap();
        assert_eq!(answer.status, expected, "{bytes}");
        assert!(expected == 200 || answer.json()["detail"] == "the body is larger than 1000 bytes");
        let mut client = server.client().await;
        client.send(post_head(PLAN, "transfer-encoding: chunked\r\n") + &chunked(bytes)).await;
        assert_eq!(client.answer().await.unwrap().status, expected, "{bytes}");
    }
    server.check_alive().await;
}

#[tokio::test]
async fn more_than_the_code_can_bear_cannot_be_set() {
    let server = Server::start(LimitSettings { body_bytes: usize::MAX, ..LimitSettings::default() }).await;
    let mut client = server.client().await;
    client.send(post_head(PLAN, &format!("content-length: {}\r\n", prunus::MAX_BODY_BYTES + 1))).await;
    assert_eq!(client.answer().await.unwrap().status, 413);
}

#[tokio::test]
async fn a_client_that_waits_to_be_told_is_told() {
    let server = Server::start(LimitSettings { body_bytes: 1_000, ..LimitSettings::default() }).await;
    let mut client = server.client().await;
    client.send(post_head(PLAN, "expect: 100-continue\r\ncontent-length: 2\r\n")).await;
    assert_eq!(client.answer().await.unwrap().status, 100);
    client.send("{}").await;
    assert_eq!(client.answer().await.unwrap().status, 200);
    // What will be refused is not asked for.
    client.send(post_head(PLAN, "expect: 100-continue\r\ncontent-length: 2000\r\n")).await;
    assert_eq!(client.answer().await.unwrap().status, 413);
    client.ended().await;
}

#[tokio::test]
async fn the_answer_reaches_a_client_whose_body_is_not_read() {
    let server = Server::start(LimitSettings { body_bytes: 1_000, ..LimitSettings::default() }).await;
    for _ in 0..20 {
        let mut client = server.client().await;
        client.post(PLAN, "", vec![b' '; 4 << 20]).await;
        assert_eq!(client.answer().await.unwrap().problem(), (413, "body-too-large".to_owned()));
    }
}

#[tokio::test]
async fn what_is_no_json_is_refused() {
    let server = Server::start(LimitSettings::default()).await;
    let deep = "[".repeat(10_000_000);
    let deep_filter = format!("{{\"filter\": {}", "{\"type\": \"not\", \"child\": ".repeat(100_000));
    for body in [
        &b"\xff\xfe"[..],
        b"{\"filter\": \"\xff\"}",
        b"{\"filter\": \"\\ud800\"}",
        deep.as_bytes(),
        deep_filter.as_bytes(),
        b"{",
    ] {
        let mut client = server.client().await;
        client.post(PLAN, "", body).await;
        assert_eq!(client.answer().await.unwrap().problem(), (400, "malformed-body".to_owned()));
    }
    server.check_alive().await;
}

#[tokio::test]
async fn a_list_of_many_values_is_planned_up_to_the_limit_of_filters() {
    let server = Server::start(LimitSettings::default()).await;
    let list = |values: usize| {
        let values: Vec<String> = (0..values).map(|value| value.to_string()).collect();
        json!({"filter": format!("id IN ({})", values.join(","))})
    };
    assert_eq!(server.post(PLAN, &list(100_000)).await.status, 200);
    let bytes: usize = LimitSettings::default().filter_bytes;
    let beyond = server.post(PLAN, &list(bytes / 6)).await;
    assert_eq!(beyond.problem(), (422, "invalid-filter".to_owned()));
    server.check_alive().await;
}

#[tokio::test]
async fn large_bodies_wait_for_room_and_small_ones_do_not() {
    const LIMIT: usize = 8 << 20;
    let limits = LimitSettings { body_bytes: LIMIT, body_seconds: 4, ..LimitSettings::default() };
    let server = Server::start(limits).await;
    // More than there is room for, and the last of none of them comes.
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut client = server.client().await;
        let head = post_head(COMMITS, &format!("content-length: {LIMIT}\r\n"));
        slow.push(tokio::spawn(async move {
            client.send([head.as_bytes(), &vec![b' '; LIMIT - 1]].concat()).await;
            client.answer().await.unwrap().problem()
        }));
    }
    tokio::time::sleep(SECOND).await;
    let names: Vec<String> = (0..1_000).map(|number| format!("{number:0200}")).collect();
    let mut waiting = server.client().await;
    waiting.post(COMMITS, "", append(&names).to_string()).await;
    server.check_alive().await;
    // Once those are given up, there is room for it.
    assert_eq!(waiting.answer().await.unwrap().status, 201);
    for slow in slow {
        let (status, name) = slow.await.unwrap();
        assert!(name == "too-many-large-bodies" || name == "body-too-slow", "{status} {name}");
    }
}
