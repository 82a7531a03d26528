//! Changes between two snapshots, over HTTP.

use serde_json::{Value, json};

use crate::server::{Server, names_in};

const CHANGES: &str = "/v1/namespaces/n/tables/t/changes";

/// Snapshots: 1 has a b c, 2 has b c d e, 3 has d e.
async fn server() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
    server.change("t", &["d", "e"], &["a"]).await;
    server.change("t", &[], &["b", "c"]).await;
    server
}

async fn changes(server: &Server, query: &str) -> (Vec<String>, Vec<String>) {
    let (status, answer) = server.get(&format!("{CHANGES}?{query}")).await;
    assert_eq!(status, 200, "{answer}");
    (names_in(&answer["added"]), names_in(&answer["removed"]))
}

fn both(added: &[&str], removed: &[&str]) -> (Vec<String>, Vec<String>) {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    (owned(added), owned(removed))
}

#[tokio::test]
async fn changes_are_the_files_of_one_snapshot_alone() {
    let server = server().await;
    assert_eq!(changes(&server, "from=1&to=2").await, both(&["d", "e"], &["a"]));
    assert_eq!(changes(&server, "from=2&to=1").await, both(&["a"], &["d", "e"]));
    assert_eq!(changes(&server, "from=0&to=1").await, both(&["a", "b", "c"], &[]));
    assert_eq!(changes(&server, "from=3&to=3").await, both(&[], &[]));
}

#[tokio::test]
async fn without_an_end_changes_go_up_to_the_newest() {
    let server = server().await;
    let (_, answer) = server.get(&format!("{CHANGES}?from=1")).await;
    assert_eq!((&answer["from"], &answer["to"]), (&json!(1), &json!(3)));
    assert_eq!((names_in(&answer["added"]), names_in(&answer["removed"])), both(&["d", "e"], &["a", "b", "c"]));
}

#[tokio::test]
async fn a_change_is_a_file_with_all_that_a_listing_says() {
    let server = server().await;
    let (_, answer) = server.get(&format!("{CHANGES}?from=1&to=2")).await;
    let (_, listing) = server.get("/v1/namespaces/n/tables/t/files?snapshot_id=2").await;
    assert_eq!(answer["added"][0], listing["files"][2]);
    assert_eq!(answer["removed"][0]["removed_snapshot"], 2);
}

#[tokio::test]
async fn pages_run_over_both_lists_and_keep_their_end() {
    let server = server().await;
    let (mut added, mut removed, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    let mut query = "from=1&page_size=2".to_owned();
    loop {
        let (status, page) = server.get(&format!("{CHANGES}?{query}")).await;
        assert_eq!((status, &page["to"]), (200, &json!(3)), "{page}");
        sizes.push(page["added"].as_array().unwrap().len() + page["removed"].as_array().unwrap().len());
        added.extend(names_in(&page["added"]));
        removed.extend(names_in(&page["removed"]));
        if sizes.len() == 1 {
            server.change("t", &["f"], &["d"]).await;
        }
        let Some(token) = page["next_page_token"].as_str() else { break };
        query = format!("from=1&page_size=2&page_token={token}");
    }
    assert_eq!((sizes, (added, removed)), (vec![2, 2, 1], both(&["d", "e"], &["a", "b", "c"])));
}

#[tokio::test]
async fn what_is_no_snapshot_has_no_changes() {
    let server = server().await;
    let status = async |query: &str| server.get(&format!("{CHANGES}?{query}")).await.0;
    assert_eq!(status("from=9&to=1").await, 404);
    assert_eq!(status("from=1&to=9").await, 404);
    assert_eq!(status("from=-1&to=1").await, 404);
    assert_eq!(status("to=1").await, 400);
    assert_eq!(status("from=x&to=1").await, 400);
    assert_eq!(status("from=1&to=2&page_size=0").await, 422);
    assert_eq!(status("from=1&to=2&page_token=00").await, 400);
}

#[tokio::test]
async fn a_token_whose_snapshot_is_gone_is_stale() {
    let clock = crate::clock::SetClock::new();
    let server = Server::start_at(&clock).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b"], &[]).await;
    server.change("t", &["c"], &["a"]).await;
    let (_, page) = server.get(&format!("{CHANGES}?from=1&page_size=1")).await;
    let token = page["next_page_token"].as_str().unwrap();
    let expire = json!({"keep_last": 1, "dry_run": false});
    let route = "/v1/namespaces/n/tables/t/expire";
    assert_eq!(server.post(route, &expire).await.1["snapshots"], json!([]));
    clock.pass_ms(prunus_catalog::LEASE_MS);
    assert_eq!(server.post(route, &expire).await.1["snapshots"], json!([1]));
    let (status, problem): (u16, Value) = server.get(&format!("{CHANGES}?from=1&page_size=1&page_token={token}")).await;
    assert_eq!((status, &problem["type"]), (410, &json!("/problems/stale-page-token")));
}
