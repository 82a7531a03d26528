//! Plans, and how they go on.

use serde_json::{Value, json};

use super::{TABLE, check_refused, names, plan};
use crate::clock::SetClock;
use crate::server::Server;

/// A file whose `id` is a number in every row.
fn file(number: u32) -> Value {
    json!({"path": format!("{number:05}"), "size_bytes": 7, "row_count": 10, "columns": {"id": {"min": number, "max": number, "null_count": 0}}})
}

async fn with_files(server: &Server, count: u32) {
    server.create_declared("t").await;
    let add: Vec<Value> = (0..count).map(file).collect();
    server.commit("t", json!({"operation": "append", "add": add})).await;
}

/// The names of the files of a plan, part after part.
async fn all_names(server: &Server, first: &Value) -> Vec<String> {
    let owned = |answer: &Value| names(answer).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (mut all, mut tasks) = (owned(first), first["plan-tasks"].clone());
    while let Some([task]) = tasks.as_array().map(Vec::as_slice) {
        let (status, part) = server.post(&format!("{TABLE}/tasks"), &json!({"plan-task": task})).await;
        assert_eq!(status, 200, "{part}");
        all.extend(owned(&part));
        tasks = part["plan-tasks"].clone();
    }
    assert_eq!(tasks, Value::Null);
    all
}

#[tokio::test]
async fn a_plan_is_the_files_that_may_match() {
    let server = Server::start(2).await;
    with_files(&server, 5).await;
    let filter = json!({"type": "gt-eq", "term": "id", "value": 3});
    let answer = plan(&server, json!({"filter": filter, "unknown": 1, "select": null})).await;
    let data_file = json!({
        "content": "data", "file-path": format!("file://{}", server.path("00003")), "file-format": "parquet", "spec-id": 0,
        "partition": [], "file-size-in-bytes": 7, "record-count": 10,
    });
    assert_eq!(answer["file-scan-tasks"][0], json!({"data-file": data_file, "residual-filter": true}));
    assert_eq!(names(&answer), ["00003", "00004"]);
    assert_eq!(answer.get("plan-tasks"), None);
}

#[tokio::test]
async fn a_long_plan_is_whole_whatever_becomes_of_the_table() {
    let server = Server::start(3_000).await;
    with_files(&server, 10_000).await;
    let first = plan(&server, json!({"filter": {"type": "gt", "term": "id", "value": -1}})).await;
    assert_eq!(names(&first).len(), 4_096);
    let all: Vec<String> = (0..10_000).map(|number| format!("{number:05}")).collect();
    server.change("t", &["new"], &["00000", "09999"]).await;
    let body = json!({"keep_last": 1, "dry_run": false});
    server.post("/v1/namespaces/n/tables/t/expire", &body).await;
    assert_eq!(all_names(&server, &first).await, all);
    // The same plan once more, by its id.
    let (status, again) = server.get(&format!("{TABLE}/plan/{}", first["plan-id"].as_str().unwrap())).await;
    assert_eq!((status, again.get("plan-id")), (200, None));
    assert_eq!(all_names(&server, &again).await, all);
}

#[tokio::test]
async fn long_filters_make_short_parts_and_ids_without_the_scan() {
    let server = Server::start(100).await;
    with_files(&server, 200).await;
    let term = json!({"type": "transform", "transform": "bucket[4]", "term": "id"});
    let filter = json!({"type": "in", "term": term, "values": (0..10_000).collect::<Vec<i64>>()});
    let first = plan(&server, json!({"filter": filter})).await;
    assert!(names(&first).len() < 100, "{}", names(&first).len());
    assert_eq!(all_names(&server, &first).await.len(), 200);
    let route = format!("{TABLE}/plan/{}", first["plan-id"].as_str().unwrap());
    check_refused(&server.get(&route).await, 404, "NoSuchPlanIdException");
    assert_eq!(server.delete(&route).await.0, 204);
    let task = json!({"plan-task": first["plan-tasks"][0]});
    check_refused(&server.post(&format!("{TABLE}/tasks"), &task).await, 404, "NoSuchPlanTaskException");
}

#[tokio::test]
async fn an_older_snapshot_is_planned_as_it_was() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b"], &[]).await;
    server.change("t", &["c"], &["a"]).await;
    assert_eq!(names(&plan(&server, json!({"snapshot-id": 1})).await), ["a", "b"]);
    assert_eq!(names(&plan(&server, json!({})).await), ["b", "c"]);
    let none = server.post(&format!("{TABLE}/plan"), &json!({"snapshot-id": 9})).await;
    check_refused(&none, 404, "NoSuchSnapshotException");
}

#[tokio::test]
async fn names_are_those_of_today_unless_those_of_the_snapshot_are_asked_for() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "z"], &[]).await;
    server.alter("t", &json!({"schema": [{"op": "rename", "column": "id", "to": "key"}]})).await;
    let old = |name: &str, snapshot_schema: bool| {
        let filter = json!({"type": "eq", "term": name, "value": 122});
        json!({"snapshot-id": 1, "filter": filter, "use-snapshot-schema": snapshot_schema})
    };
    assert_eq!(names(&plan(&server, old("id", true)).await), ["z"]);
    assert_eq!(names(&plan(&server, old("key", false)).await), ["z"]);
    for body in [old("key", true), old("id", false)] {
        check_refused(&server.post(&format!("{TABLE}/plan"), &body).await, 400, "BadRequestException");
    }
}

#[tokio::test]
async fn files_without_ids_are_refused_where_their_names_mean_other_columns_today() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "z"], &[]).await;
    server.alter("t", &json!({"schema": [{"op": "rename", "column": "id", "to": "key"}]})).await;
    server.alter("t", &json!({"schema": [{"op": "add", "name": "id", "type": "int64"}]})).await;
    for (name, snapshot_schema) in [("id", true), ("key", false)] {
        let filter = json!({"type": "eq", "term": name, "value": 122});
        let body = json!({"snapshot-id": 1, "filter": filter, "use-snapshot-schema": snapshot_schema});
        let answer = server.post(&format!("{TABLE}/plan"), &body).await;
        check_refused(&answer, 400, "ValidationException");
        assert!(
            answer.1["error"]["message"].as_str().unwrap().contains("cannot be planned for Iceberg"),
            "{}",
            answer.1
        );
    }
}

#[tokio::test]
async fn case_counts_unless_it_is_not_to() {
    let server = Server::start(2).await;
    with_files(&server, 3).await;
    let body = |sensitive: bool| {
        let filter = json!({"type": "eq", "term": "ID", "value": 1});
        json!({"filter": filter, "select": ["Id"], "case-sensitive": sensitive})
    };
    let answer = plan(&server, body(false)).await;
    assert_eq!((names(&answer), &answer["file-scan-tasks"][0]["residual-filter"]), (vec!["00001"], &json!(true)));
    let answer = server.post(&format!("{TABLE}/plan"), &body(true)).await;
    check_refused(&answer, 400, "BadRequestException");
    assert!(answer.1["error"]["message"].as_str().unwrap().contains("did you mean `id`?"), "{}", answer.1);
}

#[tokio::test]
async fn the_empty_table_before_the_first_snapshot_is_none() {
    let server = Server::start(2).await;
    with_files(&server, 1).await;
    let answer = server.post(&format!("{TABLE}/plan"), &json!({"snapshot-id": 0})).await;
    check_refused(&answer, 404, "NoSuchSnapshotException");
    let empty = Server::start(2).await;
    empty.create_declared("t").await;
    assert_eq!(names(&plan(&empty, json!({})).await), Vec::<&str>::new());
}

#[tokio::test]
async fn a_column_that_is_not_there_is_named() {
    let server = Server::start(2).await;
    with_files(&server, 1).await;
    for body in [
        json!({"select": ["id", "none"]}),
        json!({"stats-fields": ["none"]}),
        json!({"filter": {"type": "is-null", "term": "none"}}),
    ] {
        let answer = server.post(&format!("{TABLE}/plan"), &body).await;
        check_refused(&answer, 400, "BadRequestException");
        assert!(answer.1["error"]["message"].as_str().unwrap().contains("none"), "{}", answer.1);
    }
}

#[tokio::test]
async fn a_plan_may_end_once_it_has_rows_enough() {
    let server = Server::start(1_000).await;
    with_files(&server, 5_000).await;
    let all = |rows: u64| json!({"filter": {"type": "gt", "term": "id", "value": -1}, "min-rows-requested": rows});
    let answer = plan(&server, all(25)).await;
    assert_eq!((names(&answer), answer.get("plan-tasks")), (vec!["00000", "00001", "00002"], None));
    // Also in a later part.
    let first = plan(&server, all(41_000)).await;
    assert_eq!(all_names(&server, &first).await.len(), 4_100);
    assert_eq!(names(&plan(&server, json!({"min-rows-requested": 0})).await).len(), 4_096);
    // Rows that may not match are no rows.
    let odd = json!({"type": "eq", "term": {"type": "transform", "transform": "bucket[4]", "term": "id"}, "value": 1});
    let some = plan(&server, json!({"filter": odd, "min-rows-requested": 25})).await;
    assert_eq!(all_names(&server, &some).await.len(), 5_000);
}

#[tokio::test]
async fn a_file_whose_rows_are_not_counted_is_named() {
    let server = Server::start(2).await;
    with_files(&server, 1).await;
    server.commit("t", json!({"operation": "append", "add": [{"path": "uncounted", "size_bytes": 7}]})).await;
    let answer = server.post(&format!("{TABLE}/plan"), &json!({})).await;
    check_refused(&answer, 400, "ValidationException");
    assert!(answer.1["error"]["message"].as_str().unwrap().contains("uncounted` cannot be planned"), "{}", answer.1);
}

#[tokio::test]
async fn tasks_and_ids_live_as_long_as_a_lease() {
    let clock = SetClock::new();
    let server = Server::start_at(&clock).await;
    with_files(&server, 4_097).await;
    let first = plan(&server, json!({})).await;
    let task = json!({"plan-task": first["plan-tasks"][0]});
    let route = format!("{TABLE}/plan/{}", first["plan-id"].as_str().unwrap());
    clock.pass_ms(prunus_catalog::LEASE_MS - 1);
    assert_eq!(server.post(&format!("{TABLE}/tasks"), &task).await.0, 200);
    assert_eq!(server.get(&route).await.0, 200);
    clock.pass_ms(1);
    check_refused(&server.post(&format!("{TABLE}/tasks"), &task).await, 404, "NoSuchPlanTaskException");
    check_refused(&server.get(&route).await, 404, "NoSuchPlanIdException");
    check_refused(&server.delete(&route).await, 404, "NoSuchPlanIdException");
}

#[tokio::test]
async fn the_plan_of_a_snapshot_that_is_gone_is_gone() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    let first = plan(&server, json!({})).await;
    server.change("t", &["b"], &["a"]).await;
    server.post("/v1/namespaces/n/tables/t/expire", &json!({"keep_last": 1, "dry_run": false})).await;
    let route = format!("{TABLE}/plan/{}", first["plan-id"].as_str().unwrap());
    check_refused(&server.get(&route).await, 404, "NoSuchPlanIdException");
}

#[tokio::test]
async fn a_plan_of_a_filter_as_deep_as_may_be_goes_on() {
    let server = Server::start(5_000).await;
    with_files(&server, 5_000).await;
    let test = |number: i64| json!({"type": "gt-eq", "term": "id", "value": number});
    // A body of 127 levels, one beyond which is refused.
    let filter =
        |levels: i64| (1..levels).fold(test(0), |left, _| json!({"type": "and", "left": left, "right": test(0)}));
    for levels in [100, 124, 125, 126] {
        let (status, first) = server.post(&format!("{TABLE}/plan"), &json!({"filter": filter(levels)})).await;
        assert_eq!(status, 200, "{levels}: {first}");
        assert_eq!(all_names(&server, &first).await.len(), 5_000, "{levels}");
    }
    check_refused(
        &server.post(&format!("{TABLE}/plan"), &json!({"filter": filter(127)})).await,
        400,
        "BadRequestException",
    );
}

#[tokio::test]
async fn statistics_of_many_columns_make_short_parts() {
    let server = Server::start(100).await;
    let fields: Vec<Value> = (0..2_000).map(|number| json!({"name": format!("c{number}"), "type": "int64"})).collect();
    let body =
        json!({"schema": {"fields": fields}, "properties": {"verification": "declared"}, "location": server.path("")});
    server.create_table("t", body).await;
    let file = |number: u32| json!({"path": format!("{number:05}"), "size_bytes": 7, "row_count": 10});
    let add: Vec<Value> = (0..150).map(file).collect();
    server.commit("t", json!({"operation": "append", "add": add})).await;
    let all: Vec<String> = (0..2_000).map(|number| format!("c{number}")).collect();
    let first = plan(&server, json!({"stats-fields": all})).await;
    assert_eq!(names(&first).len(), (1 << 17) / 2_000);
    assert_eq!(all_names(&server, &first).await.len(), 150);
    assert_eq!(names(&plan(&server, json!({"stats-fields": ["c1"]})).await).len(), 150);
}
