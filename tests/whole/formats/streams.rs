//! Pages that are sent chunk by chunk.

use std::sync::Arc;

use prunus_catalog::{CatalogOptions, FILES_PER_CHUNK, LEASE_MS};
use serde_json::{Value, json};

use super::FILES;
use super::answer::{ARROW, get, parse, parses, plan, post};
use crate::clock::SetClock;
use crate::server::Server;

pub(super) const CHUNK: usize = FILES_PER_CHUNK;

async fn fill(server: &Server, count: usize) {
    server.create_declared("t").await;
    let file = |number: usize| {
        json!({"path": format!("{number:06}.parquet"), "size_bytes": number, "row_count": 1,
            "columns": {"id": {"min": number, "max": number + 10, "null_count": 0}}})
    };
    let add: Vec<Value> = (0..count).map(file).collect();
    server.commit("t", json!({"operation": "append", "add": add})).await;
}

/// A table of so many files.
pub(super) async fn large_table(count: usize) -> Server {
    let server = Server::start(4096).await;
    fill(&server, count).await;
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_end_at_chunks_or_beside_them_join_to_the_whole() {
    let count = 2 * CHUNK + 1;
    let server = large_table(count).await;
    let expected: Vec<String> = (0..count).map(|number| format!("{number:06}.parquet")).collect();
    for accept in ["application/json", ARROW] {
        for page_size in [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, count, count + 1] {
            let (mut planned, mut listed) = (Vec::new(), Vec::new());
            let (mut body, mut route) =
                (json!({"filter": "id >= 0", "page_size": page_size}), format!("{FILES}?page_size={page_size}"));
            loop {
                let (page, files) = (plan(&server, &body, accept).await, get(&server, &route, accept).await);
                assert_eq!(page.head.get("metrics").is_some(), planned.is_empty(), "{accept} {page_size}");
                planned.extend(page.names());
                listed.extend(files.names());
                body["page_token"] = page.head["next_page_token"].clone();
                match files.head["next_page_token"].as_str() {
                    Some(token) => route = format!("{FILES}?page_size={page_size}&page_token={token}"),
                    None => break,
                }
            }
            assert!(body["page_token"].is_null() && planned == expected && listed == expected, "{accept} {page_size}");
        }
    }
}

#[tokio::test]
async fn a_page_of_one_chunk_has_its_length() {
    let server = large_table(CHUNK + 1).await;
    for accept in ["application/json", ARROW] {
        for (page_size, expected) in [(CHUNK, true), (CHUNK + 1, false)] {
            let answer = post(&server, &json!({"page_size": page_size})).header("accept", accept).send().await.unwrap();
            assert_eq!(answer.headers().contains_key("content-length"), expected, "{accept} {page_size}");
        }
    }
}

/// What arrives of an answer, and whether it ends as it should.
async fn arrives(mut answer: reqwest::Response) -> (Vec<u8>, bool) {
    assert_eq!(answer.status(), 200);
    let mut arrived = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(bytes)) => arrived.extend_from_slice(&bytes),
            Ok(None) => return (arrived, true),
            Err(_) => return (arrived, false),
        }
    }
}

#[tokio::test]
async fn an_answer_that_fails_in_the_middle_is_broken_off_and_no_shorter_one() {
    let server = large_table(3 * CHUNK).await;
    let store = rusqlite::Connection::open(server.store().join("prunus.db")).unwrap();
    let lost = "DELETE FROM data_file WHERE file_id = (SELECT max(file_id) FROM data_file)";
    assert_eq!(store.execute(lost, []).unwrap(), 1);
    for accept in ["application/json", ARROW] {
        for encoding in ["identity", "gzip", "zstd"] {
            let request = post(&server, &json!({"filter": "id >= 0", "page_size": 3 * CHUNK}));
            let answer = request.header("accept", accept).header("accept-encoding", encoding).send().await.unwrap();
            let (arrived, is_whole) = arrives(answer).await;
            assert!(!is_whole, "{accept} {encoding}");
            assert!(arrived.len() > 1000 && (encoding != "identity" || !parses(&arrived, accept)), "{accept}");
        }
    }
}

#[tokio::test]
async fn what_reads_of_an_answer_that_was_cut_has_all_files() {
    let server = large_table(CHUNK + 1).await;
    for accept in ["application/json", ARROW] {
        let answer = post(&server, &json!({"page_size": CHUNK + 1})).header("accept", accept).send().await.unwrap();
        let (whole, is_whole) = arrives(answer).await;
        assert!(is_whole && parses(&whole, accept), "{accept}");
        for cut in (1..40).chain((40..whole.len()).step_by(49_999)) {
            let arrived = &whole[..whole.len() - cut];
            // The last bytes of a stream say that it is over, and are no part of a file.
            assert!(!parses(arrived, accept) || parse(arrived, accept).files.len() == CHUNK + 1, "{accept} {cut}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_being_sent_holds_its_snapshot() {
    let clock = SetClock::new();
    let server =
        Server::start_with(CatalogOptions { clock: Arc::clone(&clock) as _, ..CatalogOptions::default() }).await;
    fill(&server, CHUNK + 1).await;
    let mut answer = post(&server, &json!({"filter": "id >= 0", "page_size": CHUNK + 1}))
        .header("accept", ARROW)
        .send()
        .await
        .unwrap();
    let mut arrived = answer.chunk().await.unwrap().unwrap().to_vec();
    server.change("t", &["a"], &["000000.parquet"]).await;
    clock.pass_ms(LEASE_MS - 1);
    let expire = json!({"keep_last": 1, "dry_run": false});
    let (status, expired) = server.post("/v1/namespaces/n/tables/t/expire", &expire).await;
    assert_eq!((status, &expired["snapshots"]), (200, &json!([])), "{expired}");
    let (rest, is_whole) = arrives(answer).await;
    arrived.extend(rest);
    assert!(is_whole);
    assert_eq!(parse(&arrived, ARROW).files.len(), CHUNK + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_or_does_not_read_holds_nobody_up() {
    let server = large_table(2 * CHUNK).await;
    let body = json!({"filter": "id >= 0", "page_size": 2 * CHUNK});
    // More than the store has readers.
    let mut unread = Vec::new();
    for _ in 0..2 * prunus_catalog::MAX_READERS {
        unread.push(post(&server, &body).send().await.unwrap());
        drop(post(&server, &body).send().await.unwrap());
    }
    assert_eq!(plan(&server, &body, ARROW).await.files.len(), 2 * CHUNK);
    drop(unread);
}
