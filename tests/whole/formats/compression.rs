//! Answers compressed for those who take it.

use std::io::Read;

use reqwest::Response;
use serde_json::{Value, json};

use super::answer::{ARROW, parse, plan, post};
use super::streams::{CHUNK, large_table};
use crate::server::Server;

fn decompressed(encoding: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match encoding {
        "gzip" => flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut out).map(drop).unwrap(),
        "zstd" => out = zstd::decode_all(bytes).unwrap(),
        other => panic!("{other}"),
    }
    out
}

async fn send(server: &Server, body: &Value, headers: [(&str, &str); 2]) -> Response {
    let [accept, encoding] = headers;
    post(server, body).header(accept.0, accept.1).header(encoding.0, encoding.1).send().await.unwrap()
}

#[tokio::test]
async fn a_compressed_answer_is_the_answer() {
    let server = large_table(CHUNK + 5).await;
    for page_size in [100, CHUNK + 5] {
        let body = json!({"filter": "id >= 0 AND lower('x') = 'x'", "page_size": page_size});
        for accept in ["application/json", ARROW] {
            let plain = plan(&server, &body, accept).await;
            for encoding in ["gzip", "zstd"] {
                let answer = send(&server, &body, [("accept", accept), ("accept-encoding", encoding)]).await;
                assert_eq!(answer.headers()["content-encoding"], encoding);
                let varies: Vec<_> = answer.headers().get_all("vary").iter().collect();
                assert_eq!(varies, ["accept", "accept-encoding"]);
                let bytes = answer.bytes().await.unwrap();
                let page = parse(&decompressed(encoding, &bytes), accept);
                assert_eq!(page.without_timings(), plain.without_timings(), "{accept} {encoding} {page_size}");
            }
        }
    }
}

#[tokio::test]
async fn the_encoding_of_more_weight_is_taken() {
    let server = large_table(20).await;
    for (accepted, expected) in [
        ("gzip, zstd", Some("zstd")),
        ("gzip, zstd;q=0.5", Some("gzip")),
        ("zstd;q=0, gzip;q=0.1", Some("gzip")),
        ("gzip;q=0", None),
        ("br", None),
        ("identity", None),
    ] {
        let answer = send(&server, &json!({}), [("accept", "*/*"), ("accept-encoding", accepted)]).await;
        let encoding = answer.headers().get("content-encoding").map(|encoding| encoding.to_str().unwrap().to_owned());
        assert_eq!(encoding.as_deref(), expected, "{accepted}");
    }
}

#[tokio::test]
async fn what_is_small_stays_as_it_is() {
    let server = large_table(1).await;
    let answer = send(&server, &json!({"dry_run": true}), [("accept", "*/*"), ("accept-encoding", "zstd")]).await;
    assert!(answer.content_length().unwrap() < 1024);
    assert!(answer.headers().get("content-encoding").is_none());
    let answer = reqwest::Client::new()
        .get(server.url("/v1/namespaces"))
        .header("accept-encoding", "gzip")
        .send()
        .await
        .unwrap();
    assert!(answer.headers().get("content-encoding").is_none());
}
