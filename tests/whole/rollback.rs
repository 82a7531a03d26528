//! Rollbacks over HTTP.

use serde_json::{Value, json};

use crate::server::{Server, names};

const ROLLBACK: &str = "/v1/namespaces/n/tables/t/rollback";

/// Snapshots: 1 has a b c, 2 has b c d.
async fn server() -> Server {
    let server = Server::start(3).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
    server.change("t", &["d"], &["a"]).await;
    server
}

async fn roll_back(server: &Server, snapshot_id: i64) -> (u16, Value) {
    server.post(ROLLBACK, &json!({"snapshot_id": snapshot_id})).await
}

#[tokio::test]
async fn a_rollback_is_a_commit_with_the_old_content() {
    let server = server().await;
    let before = server.plan("t", &json!({"filter": "id >= 0", "snapshot_id": 1})).await;
    let (status, committed) = roll_back(&server, 1).await;
    assert_eq!((status, &committed["snapshot_id"]), (201, &json!(3)), "{committed}");
    assert_eq!((&committed["added_files"], &committed["removed_files"]), (&json!(1), &json!(1)));
    assert_eq!((&committed["rows"], &committed["bytes"]), (&json!(3), &json!(21)));
    let after = server.plan("t", &json!({"filter": "id >= 0"})).await;
    assert_eq!(names(&after), names(&before));
    let (_, snapshot) = server.get("/v1/namespaces/n/tables/t/snapshots/3").await;
    assert_eq!((&snapshot["operation"], &snapshot["parent"]), (&json!("overwrite"), &json!(2)));
    assert_eq!(snapshot["summary"], json!({"rolled_back_to": "1"}));
}

#[tokio::test]
async fn what_comes_back_prunes_as_before() {
    let server = server().await;
    let (_, before) = server.get("/v1/namespaces/n/tables/t/files?snapshot_id=1&path=a").await;
    roll_back(&server, 1).await;
    let plan = server.plan("t", &json!({"filter": format!("id = {}", b'a')})).await;
    assert_eq!((names(&plan), &plan["files"][0]["verdict"]), (vec!["a".to_owned()], &json!("all")));
    let (_, after) = server.get("/v1/namespaces/n/tables/t/files?path=a").await;
    assert_eq!(after["columns"], before["columns"]);
    assert_ne!(after["file_id"], before["file_id"]);
}

#[tokio::test]
async fn a_rollback_to_nothing_empties_the_table() {
    let server = server().await;
    assert_eq!(roll_back(&server, 0).await.0, 201);
    assert_eq!(names(&server.plan("t", &json!({})).await), Vec::<String>::new());
    assert_eq!(names(&server.plan("t", &json!({"snapshot_id": 2})).await), ["b", "c", "d"]);
}

#[tokio::test]
async fn a_rollback_that_changes_nothing_is_a_snapshot_too() {
    let server = server().await;
    for expected in [3, 4] {
        let (status, committed) = roll_back(&server, 2).await;
        assert_eq!((status, &committed["snapshot_id"]), (201, &json!(expected)));
        assert_eq!((&committed["added_files"], &committed["removed_files"]), (&json!(0), &json!(0)));
    }
}

#[tokio::test]
async fn what_is_no_snapshot_is_no_target() {
    let server = server().await;
    assert_eq!(roll_back(&server, 9).await.0, 404);
    assert_eq!(roll_back(&server, -1).await.0, 404);
    assert_eq!(server.post(ROLLBACK, &json!({})).await.0, 400);
    assert_eq!(server.post(ROLLBACK, &json!({"snapshot_id": 1, "tag": "x"})).await.0, 400);
}
