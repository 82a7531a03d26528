//! Heads of requests that do not end, are too large, or are none.

use std::time::Duration;

use prunus::settings::LimitSettings;
use tokio::time::Instant;

use crate::client::Client;
use crate::server::Server;

const SECOND: Duration = Duration::from_secs(1);

async fn with_a_second_for_heads() -> Server {
    Server::start(LimitSettings { header_seconds: 1, ..LimitSettings::default() }).await
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_given_up() {
    let server = with_a_second_for_heads().await;
    let started = Instant::now();
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut client = server.client().await;
        client.send("GET /healthz HTTP/1.1\r\nx: ").await;
        slow.push(tokio::spawn(async move {
            for _ in 0..100 {
                client.send("x").await;
                tokio::time::sleep(SECOND / 10).await;
                if !client.is_open().await {
                    return Instant::now();
                }
            }
            panic!("the connection stays")
        }));
    }
    server.check_alive().await;
    for ended in slow {
        let after = ended.await.unwrap() - started;
        assert!((SECOND..5 * SECOND).contains(&after), "{after:?}");
    }
}

#[tokio::test]
async fn a_connection_that_idles_is_closed_and_one_that_is_used_stays() {
    let server = with_a_second_for_heads().await;
    let (mut idle, mut used) = (server.client().await, server.client().await);
    assert_eq!(idle.get("/healthz").await.status, 200);
    for _ in 0..6 {
        assert_eq!(used.get("/healthz").await.status, 200);
        tokio::time::sleep(SECOND / 3).await;
    }
    assert!(!idle.is_open().await);
    assert!(used.is_open().await);
}

/// A request whose head has so many bytes.
fn of_bytes(bytes: usize) -> String {
    let head = |value: &str| format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: {value}\r\n\r\n");
    head(&"x".repeat(bytes - head("").len()))
}

#[tokio::test]
async fn a_head_is_read_up_to_the_limit() {
    const LIMIT: usize = 2_000;
    let server = Server::start(LimitSettings { header_bytes: LIMIT, ..LimitSettings::default() }).await;
    for (bytes, status) in [(LIMIT, 200), (LIMIT + 1, 431)] {
        let mut client = server.client().await;
        client.send(of_bytes(bytes)).await;
        assert_eq!(client.answer().await.unwrap().status, status, "{bytes}");
        assert_eq!(client.is_open().await, status == 200);
    }
    server.check_alive().await;
}

#[tokio::test]
async fn a_head_has_at_most_a_hundred_headers() {
    let server = Server::start(LimitSettings::default()).await;
    for (headers, status) in [(100, 200), (101, 431)] {
        let mut client = server.client().await;
        client.send(format!("GET /healthz HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(headers))).await;
        assert_eq!(client.answer().await.unwrap().status, status, "{headers}");
    }
}

#[tokio::test]
async fn a_request_line_without_end_is_refused() {
    let server = Server::start(LimitSettings::default()).await;
    let mut client = server.client().await;
    client.send(format!("GET /{}", "x".repeat(1 << 20))).await;
    let answer = client.answer().await.unwrap();
    assert_eq!(answer.status, 431);
    client.ended().await;
    server.check_alive().await;
}

/// The status of the first answer, if there is one; after it the connection is closed.
async fn refused(server: &Server, bytes: &[u8]) -> Option<u16> {
    let mut client = server.client().await;
    client.send(bytes).await;
    let status = client.answer().await.map(|answer| answer.status);
    client.ended().await;
    status
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_the_connection_closed() {
    let server = Server::start(LimitSettings::default()).await;
    let check = async |bytes: &[u8], expected: Option<u16>| {
        assert_eq!(refused(&server, bytes).await, expected, "{}", String::from_utf8_lossy(bytes));
    };
    check(b"\0\0\0\0\0\0\0\0\r\n\r\n", Some(400)).await;
    check(b"GET /healthz HTTP/9.9\r\n\r\n", Some(400)).await;
    check(b"GET  /healthz  HTTP/1.1\r\n\r\n", Some(400)).await;
    check(b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n", Some(400)).await;
    check(b"GET /healthz HTTP/1.1\r\nx: a\0b\r\n\r\n", Some(400)).await;
    check(b"GET /healthz HTTP/1.1\r\nx\xff: a\r\n\r\n", Some(400)).await;
    check(b"GET /\x01 HTTP/1.1\r\n\r\n", Some(400)).await;
    check(b"GET /\xff HTTP/1.1\r\n\r\n", Some(400)).await;
    check(b"GET /v1/namespaces?\xff=1 HTTP/1.1\r\n\r\n", Some(400)).await;
    check(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", Some(400)).await;
    server.check_alive().await;
}

#[tokio::test]
async fn http_2_is_not_spoken() {
    let server = Server::start(LimitSettings::default()).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    assert_eq!(refused(&server, preface).await, None);
    let mut client = server.client().await;
    client.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: \r\n\r\n").await;
    assert_eq!(client.answer().await.unwrap().status, 200);
}

#[tokio::test]
async fn paths_and_headers_that_are_no_utf_8_are_problems() {
    let server = Server::start(LimitSettings::default()).await;
    let check = async |request: &[u8], expected: (u16, &str)| {
        let mut client = server.client().await;
        client.send(request).await;
        let (status, name) = client.answer().await.unwrap().problem();
        assert_eq!((status, name.as_str()), expected, "{}", String::from_utf8_lossy(request));
    };
    check(b"GET /v1/namespaces/%FF HTTP/1.1\r\n\r\n", (400, "malformed-path")).await;
    let key = b"DELETE /v1/namespaces/n HTTP/1.1\r\nidempotency-key: \xff\r\n\r\n";
    check(key, (400, "malformed-header")).await;
    let content_type = b"POST /v1/namespaces HTTP/1.1\r\ncontent-type: \xff\r\ncontent-length: 2\r\n\r\n{}";
    check(content_type, (415, "unsupported-media-type")).await;
    server.check_alive().await;
}

#[tokio::test]
async fn garbage_behind_a_request_ends_the_connection_and_not_the_answer() {
    let server = Server::start(LimitSettings::default()).await;
    let mut client: Client = server.client().await;
    let garbage = vec![0xfe; 100_000];
    client.send([b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n", garbage.as_slice()].concat()).await;
    assert_eq!(client.answer().await.unwrap().status, 200);
    assert_eq!(client.answer().await.unwrap().status, 400);
    client.ended().await;
    server.check_alive().await;
}

#[tokio::test]
async fn requests_that_are_sent_ahead_are_answered_in_order() {
    let server = Server::start(LimitSettings::default()).await;
    let mut client = server.client().await;
    client
        .send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v2 HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100))
        .await;
    for _ in 0..100 {
        assert_eq!(client.answer().await.unwrap().status, 200);
        assert_eq!(client.answer().await.unwrap().status, 404);
    }
}
