//! What becomes of a commit whose store fails.

use std::time::Duration;

use prunus_catalog::{MAX_REQUESTS_AT_ONCE, MAX_RETRIES};
use serde_json::Value;

use crate::file_server::{FileServer, Trouble};
use crate::parquet_file::{of_ids, with_long_footer};
use crate::prunus_process::Prunus;

async fn start() -> (Prunus, FileServer) {
    let prunus = Prunus::start(Vec::new());
    prunus.create_table().await;
    (prunus, FileServer::start(Duration::ZERO).await)
}

/// The messages of a problem's faults, each behind its path.
fn faults(problem: &Value) -> Vec<String> {
    let text = |fault: &Value, key: &str| fault[key].as_str().unwrap().to_owned();
    let faults = problem["faults"].as_array().unwrap();
    faults.iter().map(|fault| format!("{}: {}", text(fault, "path"), text(fault, "message"))).collect()
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let (prunus, store) = start().await;
    let cases: [(&str, &[Trouble]); 7] = [
        ("500", &[Trouble::Status(500)]),
        ("503", &[Trouble::Status(503)]),
        ("429", &[Trouble::Status(429)]),
        ("408", &[Trouble::Status(408)]),
        ("hang-up", &[Trouble::HangUp]),
        ("hang-up-in-body", &[Trouble::HangUpInBody]),
        ("one-after-another", &[Trouble::HangUp, Trouble::Status(503), Trouble::HangUpInBody, Trouble::Status(500)]),
    ];
    for (name, troubles) in cases {
        let path = store.put(name, of_ids(0..10));
        store.fail(troubles.iter().copied());
        let (status, answer) = prunus.append([path]).await;
        assert_eq!((status, store.take_counts().requests), (201, troubles.len() + 1), "{name}: {answer}");
    }
    assert_eq!(prunus.files().await, 7);
}

#[tokio::test]
async fn what_will_not_pass_is_told_at_once() {
    let (prunus, store) = start().await;
    for (status, requests, message) in [
        (401, 1, "the store refuses access"),
        (403, 1, "the store refuses access"),
        (404, 1, "there is no such file"),
        // It may be the form of the request that is bad: so the same is asked for in another.
        (400, 2, "the store answers with status 400"),
    ] {
        let path = store.put("a", of_ids(0..10));
        store.fail_always(Some(Trouble::Status(status)));
        let (answered, problem) = prunus.append([path.clone()]).await;
        assert_eq!((answered, faults(&problem)), (422, vec![format!("{path}: {message}")]));
        assert_eq!(store.take_counts().requests, requests, "{status}");
    }
    assert_eq!(prunus.files().await, 0);
}

#[tokio::test]
async fn a_store_that_goes_on_failing_is_given_up_and_may_be_asked_again() {
    let (prunus, store) = start().await;
    let path = store.put("a", of_ids(0..10));
    store.fail_always(Some(Trouble::Status(503)));
    let (status, problem) = prunus.append([path.clone()]).await;
    assert_eq!((status, problem["retryable"].as_bool()), (503, Some(true)), "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains(&path), "{problem}");
    assert_eq!((store.take_counts().requests, prunus.files().await), (MAX_RETRIES + 1, 0));
    store.fail_always(None);
    assert_eq!(prunus.append([path]).await.0, 201);
}

#[tokio::test]
async fn a_commit_ends_at_the_first_file_whose_store_does_not_answer() {
    let (prunus, store) = start().await;
    let paths: Vec<String> = (0..300).map(|file| store.put(&file.to_string(), of_ids(0..10))).collect();
    store.fail_always(Some(Trouble::HangUp));
    let (status, problem) = prunus.append(paths).await;
    assert_eq!(status, 503, "{problem}");
    let requests = store.take_counts().requests;
    assert!(requests <= MAX_REQUESTS_AT_ONCE * (MAX_RETRIES + 1), "{requests}");
}

#[tokio::test]
async fn a_file_that_is_replaced_between_two_reads_is_not_registered() {
    let (prunus, store) = start().await;
    let path = store.put("a", with_long_footer(0..10, 100_000));
    store.replace_when_read("a", with_long_footer(5..10, 100_000));
    let (status, problem) = prunus.append([path.clone()]).await;
    assert_eq!((status, problem["retryable"].as_bool()), (503, Some(true)), "{problem}");
    assert_eq!(prunus.files().await, 0);
    assert_eq!(prunus.append([path]).await.0, 201);
}

#[tokio::test]
async fn footers_of_any_length_are_read() {
    let (prunus, store) = start().await;
    let paths: Vec<String> = [10_000, 70_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000]
        .into_iter()
        .enumerate()
        .map(|(file, padding)| {
            store.put(&file.to_string(), with_long_footer(file as i64 * 10..file as i64 * 10 + 10, padding))
        })
        .collect();
    let (status, answer) = prunus.append(paths.clone()).await;
    assert_eq!(status, 201, "{answer}");
    assert_eq!(prunus.plan("id = 35").await, paths[3..4]);
}
