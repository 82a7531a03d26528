//! Bodies that are compressed.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use prunus::settings::LimitSettings;
use serde_json::json;

use crate::server::{COMMITS, PLAN, Server, append};

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 3).unwrap()
}

/// What the server answers to a body of this encoding.
async fn answered(server: &Server, route: &str, headers: &str, body: &[u8]) -> (u16, String) {
    let mut client = server.client().await;
    client.post(route, headers, body).await;
    client.answer().await.unwrap().problem()
}

#[tokio::test]
async fn a_compressed_body_is_what_it_holds() {
    let server = Server::start(LimitSettings::default()).await;
    let names: Vec<String> = (0..2_000).map(|number| format!("{number}.parquet")).collect();
    let (one, other) = (append(&names[..1_000]).to_string(), append(&names[1_000..]).to_string());
    let gzipped = answered(&server, COMMITS, "content-encoding: gzip\r\n", &gzip(one.as_bytes())).await;
    assert_eq!(gzipped.0, 201);
    assert_eq!(answered(&server, COMMITS, "content-encoding: zstd\r\n", &zstd(other.as_bytes())).await.0, 201);
    let table = server.get("/v1/namespaces/n/tables/t").await.json();
    assert_eq!(table["files"], 2_000);
}

#[tokio::test]
async fn a_repetition_in_another_encoding_is_the_same_request() {
    let server = Server::start(LimitSettings::default()).await;
    let body = append(&["a".to_owned()]).to_string();
    let key = "idempotency-key: k\r\n";
    assert_eq!(answered(&server, COMMITS, key, body.as_bytes()).await.0, 201);
    let gzipped = format!("{key}content-encoding: gzip\r\n");
    assert_eq!(answered(&server, COMMITS, &gzipped, &gzip(body.as_bytes())).await.0, 201);
    assert_eq!(server.get("/v1/namespaces/n/tables/t").await.json()["files"], 1);
}

#[tokio::test]
async fn the_limit_of_bodies_is_that_of_what_they_hold() {
    const LIMIT: usize = 3_000_000;
    let server = Server::start(LimitSettings { body_bytes: LIMIT, ..LimitSettings::default() }).await;
    let body = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2)).into_bytes();
    for (bytes, expected) in [(LIMIT, (200, "")), (LIMIT + 1, (413, "body-too-large"))] {
        let expected = (expected.0, expected.1.to_owned());
        let gzipped = gzip(&body(bytes));
        assert_eq!(answered(&server, PLAN, "content-encoding: gzip\r\n", &gzipped).await, expected, "{bytes}");
        let zstd = zstd(&body(bytes));
        assert_eq!(answered(&server, PLAN, "content-encoding: zstd\r\n", &zstd).await, expected, "{bytes}");
    }
}

#[tokio::test]
async fn an_encoding_that_is_not_read_is_named() {
    let server = Server::start(LimitSettings::default()).await;
    for encoding in ["br", "deflate", "gzip, gzip", "x\u{1b}", ""] {
        let mut client = server.client().await;
        client.post(PLAN, &format!("content-encoding: {}\r\n", encoding.replace('\u{1b}', "\u{e9}")), "{}").await;
        assert_eq!(client.answer().await.unwrap().problem(), (415, "unsupported-encoding".to_owned()), "{encoding}");
    }
    let plan = json!({"filter": "id = 1"}).to_string();
    assert_eq!(answered(&server, PLAN, "content-encoding: gzip\r\n", plan.as_bytes()).await.0, 400);
}
