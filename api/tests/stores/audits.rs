//! What becomes of an audit whose store fails.

use std::time::Duration;

use serde_json::{Value, json};

use crate::file_server::{FileServer, Trouble};
use crate::parquet_file::{of_ids, with_long_footer};
use crate::prunus_process::Prunus;

const AUDITS: &str = "/v1/namespaces/n/tables/t/audits";

/// A server, and a store with so many files that are registered.
async fn start(files: i64) -> (Prunus, FileServer, Vec<String>) {
    let prunus = Prunus::start(Vec::new());
    prunus.create_table().await;
    let store = FileServer::start(Duration::ZERO).await;
    let paths: Vec<String> =
        (0..files).map(|file| store.put(&file.to_string(), of_ids(file * 10..file * 10 + 10))).collect();
    assert_eq!(prunus.append(paths.clone()).await.0, 201);
    store.take_counts();
    (prunus, store, paths)
}

async fn begin(prunus: &Prunus, request: Value) -> String {
    let (status, begun) = prunus.post(AUDITS, &request).await;
    assert_eq!(status, 202, "{begun}");
    format!("{AUDITS}/{}", begun["audit_id"])
}

/// Waits for the end of an audit.
async fn end(prunus: &Prunus, route: &str) -> Value {
    loop {
        let (_, audit) = prunus.get(route).await;
        if audit["state"] != "running" {
            return audit;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_audit_that_is_let_in_nowhere_asks_for_few_files() {
    let (prunus, store, _) = start(400).await;
    for status in [401, 403] {
        store.fail_always(Some(Trouble::Status(status)));
        let ended = end(&prunus, &begin(&prunus, json!({"mode": "footer"})).await).await;
        assert_eq!((&ended["state"], &ended["files_unreadable"]), (&json!("failed"), &json!(0)), "{ended}");
        let message = ended["message"].as_str().unwrap();
        assert!(message.ends_with(": the store refuses access"), "{message}");
        let requests = store.take_counts().requests;
        assert!(requests < 100, "{requests}");
    }
}

#[tokio::test]
async fn a_file_that_is_refused_while_others_are_given_is_unreadable() {
    let (prunus, store, paths) = start(40).await;
    let audited = [json!({"mode": "footer"}), json!({"mode": "scan", "repair": true})];
    for request in audited {
        // The first requests, whichever files they are of.
        store.fail([Trouble::Status(403); 3]);
        let ended = end(&prunus, &begin(&prunus, request).await).await;
        assert_eq!((&ended["state"], &ended["files_checked"]), (&json!("done"), &json!(40)), "{ended}");
        assert_eq!((&ended["files_unreadable"], &ended["findings"]), (&json!(3), &json!(3)), "{ended}");
    }
    assert_eq!(prunus.plan("id = 395").await, paths[39..]);
}

#[tokio::test]
async fn an_audit_rests_while_its_store_fails_and_goes_on() {
    let (prunus, store, _) = start(600).await;
    store.fail_always(Some(Trouble::Status(503)));
    let route = begin(&prunus, json!({"mode": "scan"})).await;
    while store.take_counts().requests == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(prunus.get(&route).await.1["state"], "running");
    store.fail_always(None);
    let ended = end(&prunus, &route).await;
    assert_eq!((&ended["state"], &ended["files_checked"]), (&json!("done"), &json!(600)), "{ended}");
    assert_eq!(ended["findings"], 0);
}

#[tokio::test]
async fn a_file_that_is_replaced_while_it_is_read_is_looked_at_again() {
    let (prunus, store, _) = start(2).await;
    let path = store.put("long", with_long_footer(0..10, 100_000));
    assert_eq!(prunus.append([path]).await.0, 201);
    store.replace_when_read("long", with_long_footer(5..15, 100_000));
    let ended = end(&prunus, &begin(&prunus, json!({"mode": "scan", "repair": true})).await).await;
    assert_eq!((&ended["state"], &ended["files_changed"]), (&json!("done"), &json!(1)), "{ended}");
    assert_eq!((&ended["found"][0]["kind"], &ended["findings"]), (&json!("changed"), &json!(1)));
}

#[tokio::test]
async fn long_footers_are_read_by_an_audit() {
    let (prunus, store, _) = start(1).await;
    let put = |(file, padding): (usize, usize)| {
        let first = 1_000 + file as i64 * 10;
        store.put(&format!("long-{file}"), with_long_footer(first..first + 10, padding))
    };
    let paths: Vec<String> =
        [70_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000].into_iter().enumerate().map(put).collect();
    assert_eq!(prunus.append(paths.clone()).await.0, 201);
    let ended = end(&prunus, &begin(&prunus, json!({"mode": "scan", "repair": true})).await).await;
    assert_eq!((&ended["state"], &ended["findings"]), (&json!("done"), &json!(0)), "{ended}");
    assert_eq!(ended["files_checked"], 6);
    assert_eq!(prunus.plan("id = 1025").await, paths[2..3]);
}
