//! What was appended from one snapshot to another.

use serde_json::{Value, json};

use super::{TABLE, check_refused, names, plan};
use crate::server::Server;

/// Snapshots 1 to 4 append a, b, c and d.
async fn server() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    for name in ["a", "b", "c", "d"] {
        let id = name.as_bytes()[0];
        let file = json!({"path": name, "size_bytes": 7, "row_count": 1, "columns": {"id": {"min": id, "max": id, "null_count": 0}}});
        server.commit("t", json!({"operation": "append", "add": [file]})).await;
    }
    server
}

fn range(start: i64, end: i64) -> Value {
    json!({"start-snapshot-id": start, "end-snapshot-id": end})
}

#[tokio::test]
async fn a_range_has_what_was_appended_after_its_start_up_to_its_end() {
    let server = server().await;
    assert_eq!(names(&plan(&server, range(1, 3)).await), ["b", "c"]);
    assert_eq!(names(&plan(&server, range(0, 4)).await), ["a", "b", "c", "d"]);
    assert_eq!(names(&plan(&server, range(2, 2)).await), Vec::<&str>::new());
    let mut filtered = range(1, 4);
    filtered["filter"] = json!({"type": "gt", "term": "id", "value": 98});
    assert_eq!(names(&plan(&server, filtered).await), ["c", "d"]);
}

#[tokio::test]
async fn a_range_that_is_none_is_refused() {
    let server = server().await;
    let check = async |body: Value, status: u16, exception: &str| {
        check_refused(&server.post(&format!("{TABLE}/plan"), &body).await, status, exception);
    };
    check(range(3, 1), 400, "BadRequestException").await;
    check(range(1, 9), 404, "NoSuchSnapshotException").await;
    check(json!({"start-snapshot-id": 1}), 400, "BadRequestException").await;
    check(json!({"end-snapshot-id": 1}), 400, "BadRequestException").await;
    check(json!({"snapshot-id": 1, "start-snapshot-id": 1, "end-snapshot-id": 2}), 400, "BadRequestException").await;
}

#[tokio::test]
async fn a_range_in_which_files_went_is_refused() {
    let server = server().await;
    server.change("t", &["e"], &["b"]).await;
    server.commit("t", json!({"operation": "append", "add": [{"path": "f", "size_bytes": 7, "row_count": 1}]})).await;
    let answer = server.post(&format!("{TABLE}/plan"), &range(3, 6)).await;
    check_refused(&answer, 400, "BadRequestException");
    assert!(answer.1["error"]["message"].as_str().unwrap().contains("snapshot 5 is no append"), "{}", answer.1);
    assert_eq!(names(&plan(&server, range(1, 4)).await), ["b", "c", "d"]);
}

#[tokio::test]
async fn a_range_of_which_a_part_is_expired_is_refused() {
    let server = server().await;
    server.put("/v1/namespaces/n/tables/t/tags/x", &json!({"snapshot_id": 1})).await;
    server.post("/v1/namespaces/n/tables/t/expire", &json!({"keep_last": 2, "dry_run": false})).await;
    check_refused(&server.post(&format!("{TABLE}/plan"), &range(1, 4)).await, 404, "NoSuchSnapshotException");
    // What comes before the range may be gone.
    assert_eq!(names(&plan(&server, range(2, 4)).await), ["c", "d"]);
}

#[tokio::test]
async fn a_long_range_comes_in_parts() {
    let server = Server::start(1_000).await;
    server.create_declared("t").await;
    for first in [0, 5_000] {
        let file = |number: u32| json!({"path": format!("{number:05}"), "size_bytes": 7, "row_count": 1});
        let add: Vec<Value> = (first..first + 5_000).map(file).collect();
        server.commit("t", json!({"operation": "append", "add": add})).await;
    }
    let first = plan(&server, range(1, 2)).await;
    let (status, rest) = server.post(&format!("{TABLE}/tasks"), &json!({"plan-task": first["plan-tasks"][0]})).await;
    assert_eq!((status, rest.get("plan-tasks")), (200, None));
    let all = [names(&first), names(&rest)].concat();
    assert_eq!(all, (5_000..10_000).map(|number| format!("{number:05}")).collect::<Vec<_>>());
}
