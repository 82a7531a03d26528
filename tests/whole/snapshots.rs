//! Every commit makes a snapshot; older ones can still be planned.

use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, append, names};

/// A table of 20 files in 5 commits of 4, the manifests of 8; then file 3 is removed, and files 4 to 7 are replaced by 30.
async fn server() -> Server {
    let server = Server::start(8).await;
    for file in (0..20).chain([30]) {
        let rows = if file == 30 { 40 } else { 10 };
        rows::write(
            server.path(format!("f{file:02}.parquet")).as_ref(),
            &rows::batch(file, rows),
            EnabledStatistics::Chunk,
        );
    }
    server.create_table("t", json!({"schema_from": server.path("f00.parquet")})).await;
    for first in [0, 4, 8, 12, 16] {
        server.commit("t", append((first..first + 4).map(|file| server.path(format!("f{file:02}.parquet"))))).await;
    }
    server
        .commit("t", json!({"operation": "delete", "remove": [server.path("f03.parquet")], "summary": {"why": "test"}}))
        .await;
    let replaced: Vec<String> = (4..8).map(|file| server.path(format!("f{file:02}.parquet"))).collect();
    let add = json!([{"path": server.path("f30.parquet")}]);
    server.commit("t", json!({"operation": "replace", "add": add, "remove": replaced, "base_snapshot": 6})).await;
    server
}

fn expected(files: impl IntoIterator<Item = u32>) -> Vec<String> {
    files.into_iter().map(|file| format!("f{file:02}.parquet")).collect()
}

#[tokio::test]
async fn a_plan_names_an_older_snapshot() {
    let server = server().await;
    for (snapshot_id, files) in [
        (0, expected([])),
        (1, expected(0..4)),
        (2, expected(0..8)),
        (5, expected(0..20)),
        (6, expected((0..20).filter(|file| *file != 3))),
        (7, expected((0..3).chain(8..20).chain([30]))),
    ] {
        for body in [json!({"snapshot_id": snapshot_id}), json!({"snapshot_id": snapshot_id, "filter": "id >= 0"})] {
            let plan = server.plan("t", &body).await;
            assert_eq!(names(&plan), files, "{body}");
            assert_eq!(plan["metrics"]["files_considered"], files.len(), "{body}");
        }
        let (_, listed) = server.get(&format!("/v1/namespaces/n/tables/t/files?snapshot_id={snapshot_id}")).await;
        assert_eq!(names(&listed), files);
        // A manifest that is pruned as a whole counts its live files, and no other.
        let none = server.plan("t", &json!({"snapshot_id": snapshot_id, "filter": "id < 0"})).await;
        assert_eq!(none["metrics"]["files_pruned"], files.len());
        assert_eq!(none["files"], json!([]));
    }
    let plan = server.plan("t", &json!({})).await;
    assert_eq!(plan["snapshot_id"], 7);
}

#[tokio::test]
async fn what_a_plan_has_read_is_not_read_again_and_removals_are_seen() {
    let server = server().await;
    let body = json!({"filter": "id >= 0"});
    let parts = |plan: &Value| ["parts_read", "parts_cached"].map(|key| plan["metrics"][key].as_u64().unwrap());
    let first = server.plan("t", &body).await;
    let [read, cached] = parts(&first);
    assert!(read > 0 && cached == 0, "{read} {cached}");
    let second = server.plan("t", &body).await;
    assert_eq!(parts(&second), [0, read]);
    assert_eq!(second["files"], first["files"]);

    server.commit("t", json!({"operation": "delete", "remove": [server.path("f00.parquet")]})).await;
    let third = server.plan("t", &body).await;
    // The list of manifests, the removals of one, and of the tail what is new: nothing.
    assert_eq!(parts(&third), [3, read - 3]);
    assert_eq!(names(&third), expected((1..3).chain(8..20).chain([30])));
    let earlier = server.plan("t", &json!({"filter": "id >= 0", "snapshot_id": 7})).await;
    assert_eq!(earlier["files"], first["files"]);

    server.commit("t", append([server.path("f03.parquet")])).await;
    let fourth = server.plan("t", &body).await;
    // Of the tail what is new, and a column of it: a commit that only adds leaves the rest as it is.
    assert_eq!(parts(&fourth)[0], 2);
    assert_eq!(fourth["files"].as_array().unwrap().len(), third["files"].as_array().unwrap().len() + 1);
}

#[tokio::test]
async fn snapshots_are_listed_newest_first() {
    let server = server().await;
    let (_, answer) = server.get("/v1/namespaces/n/tables/t/snapshots?page_size=5").await;
    let ids = |answer: &Value| -> Vec<u64> {
        answer["snapshots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|snapshot| snapshot["snapshot_id"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(ids(&answer), [7, 6, 5, 4, 3]);
    let token = answer["next_page_token"].as_str().unwrap();
    let (_, rest) = server.get(&format!("/v1/namespaces/n/tables/t/snapshots?page_size=5&page_token={token}")).await;
    assert_eq!(ids(&rest), [2, 1]);
    assert!(rest["next_page_token"].is_null());
    let (_, one) = server.get("/v1/namespaces/n/tables/t/snapshots/6").await;
    assert_eq!((&one["parent"], &one["operation"]), (&json!(5), &json!("delete")));
    assert_eq!((&one["added_files"], &one["removed_files"], &one["files"]), (&json!(0), &json!(1), &json!(19)));
    assert_eq!((&one["rows"], &one["summary"]), (&json!(190), &json!({"why": "test"})));
}

#[tokio::test]
async fn a_plan_as_of_a_time_is_of_the_snapshot_before_it() {
    let server = server().await;
    let (_, third) = server.get("/v1/namespaces/n/tables/t/snapshots/3").await;
    let plan = server.plan("t", &json!({"as_of": third["committed_at"]})).await;
    let at_least = plan["snapshot_id"].as_u64().unwrap();
    assert!(at_least >= 3, "{at_least}");
    let (status, _) = server.post("/v1/namespaces/n/tables/t/plan", &json!({"as_of": "2001-01-01T00:00:00Z"})).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_replace_keeps_the_rows_and_a_stale_base_conflicts() {
    let server = server().await;
    rows::write(server.path("x.parquet").as_ref(), &rows::batch(40, 11), EnabledStatistics::Chunk);
    let add = json!([{"path": server.path("x.parquet")}]);
    let replace = |base: u64| json!({"operation": "replace", "base_snapshot": base, "add": add, "remove": [server.path("f30.parquet")]});
    assert_eq!(server.try_commit("t", &replace(7)).await.0, 422);
    let (status, problem) = server.try_commit("t", &replace(5)).await;
    assert_eq!((status, &problem["conflicts"][0]["reason"]), (409, &json!("not_live_at_base")));
}

#[tokio::test]
async fn operations_hold_to_their_shape() {
    let server = server().await;
    let (add, remove) = (json!([{"path": server.path("f03.parquet")}]), json!([server.path("f00.parquet")]));
    for body in [
        json!({"operation": "append"}),
        json!({"operation": "append", "add": add, "remove": remove}),
        json!({"operation": "delete"}),
        json!({"operation": "delete", "add": add, "remove": remove}),
        json!({"operation": "replace", "add": add}),
        json!({"operation": "replace", "remove": remove}),
        json!({"operation": "overwrite"}),
    ] {
        assert_eq!(server.try_commit("t", &body).await.0, 422, "{body}");
    }
    assert_eq!(server.try_commit("t", &json!({"operation": "merge", "add": add})).await.0, 400);
    // A file that was removed and is unchanged may come back.
    server.commit("t", json!({"operation": "overwrite", "add": add})).await;
    assert!(names(&server.plan("t", &json!({})).await).contains(&"f03.parquet".to_owned()));
}
