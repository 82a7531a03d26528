//! Requests whose end two readers may see in different places: none of them hides another request.

use prunus::settings::LimitSettings;

use crate::client::post_head;
use crate::server::{PLAN, Server};

/// What would be answered with 404 if it were taken for a request.
const HIDDEN: &str = "GET /v2 HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// The statuses of all that is answered, until the connection ends.
async fn answered(server: &Server, headers: &str, body: &str) -> Vec<u16> {
    let mut client = server.client().await;
    client.send(post_head(PLAN, headers) + body).await;
    let mut statuses = Vec::new();
    while let Some(answer) = client.answer().await {
        statuses.push(answer.status);
    }
    statuses
}

#[tokio::test]
async fn lengths_that_contradict_each_other_are_refused() {
    let server = Server::start(LimitSettings::default()).await;
    let body = format!("{{}}{HIDDEN}");
    for headers in [
        "content-length: 2\r\ncontent-length: 3\r\n",
        "content-length: 2, 3\r\n",
        "content-length: +2\r\n",
        "content-length: -2\r\n",
        "content-length: 0x2\r\n",
        "content-length: 2 2\r\n",
        "content-length: 99999999999999999999999999\r\n",
        "content-length : 2\r\n",
        "content-length:\r\n 2\r\n",
    ] {
        assert_eq!(answered(&server, headers, &body).await, [400], "{headers}");
    }
    server.check_alive().await;
}

#[tokio::test]
async fn transfer_codings_other_than_chunked_are_refused() {
    let server = Server::start(LimitSettings::default()).await;
    let body = format!("2\r\n{{}}\r\n0\r\n\r\n{HIDDEN}");
    for headers in [
        "transfer-encoding: identity\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
        "transfer-encoding : chunked\r\n",
        "transfer-encoding: \x0bchunked\r\n",
    ] {
        assert_eq!(answered(&server, headers, &body).await, [400], "{headers}");
    }
    server.check_alive().await;
}

#[tokio::test]
async fn chunks_come_before_a_length_and_nothing_is_read_behind_them() {
    let server = Server::start(LimitSettings::default()).await;
    let body = format!("2\r\n{{}}\r\n0\r\n\r\n{HIDDEN}");
    for headers in [
        "transfer-encoding: chunked\r\ncontent-length: 2\r\n",
        "content-length: 2\r\ntransfer-encoding: chunked\r\n",
        "content-length: 12\r\ntransfer-encoding: chunked\r\n",
    ] {
        assert_eq!(answered(&server, headers, &body).await, [200], "{headers}");
    }
    server.check_alive().await;
}

#[tokio::test]
async fn chunks_of_wrong_sizes_are_refused() {
    let server = Server::start(LimitSettings::default()).await;
    for body in [
        "3\r\n{}\r\n0\r\n\r\n",
        "1\r\n{}\r\n0\r\n\r\n",
        "z\r\n{}\r\n0\r\n\r\n",
        "-2\r\n{}\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        "2\n{}\n0\n\n",
        "\r\n{}\r\n0\r\n\r\n",
    ] {
        let answered = answered(&server, "transfer-encoding: chunked\r\n", &format!("{body}{HIDDEN}")).await;
        assert_eq!(answered, [400], "{body}");
    }
    server.check_alive().await;
}

#[tokio::test]
async fn endless_extensions_and_trailers_of_chunks_are_refused() {
    let server = Server::start(LimitSettings::default()).await;
    let extension = format!("2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(100_000));
    let trailers = format!("2\r\n{{}}\r\n0\r\n{}\r\n", "a: b\r\n".repeat(20_000));
    for body in [extension, trailers] {
        assert_eq!(answered(&server, "transfer-encoding: chunked\r\n", &body).await, [400]);
    }
    server.check_alive().await;
}
