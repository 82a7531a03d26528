//! Scans, planned for clients of Iceberg: in parts, held while they are read, and refused where a client would read something else.

use std::collections::BTreeSet;

use prunus_catalog::LEASE_MS;
use serde_json::{Value, json};

use crate::clock::SetClock;
use crate::server::Server;

const TABLE: &str = "/iceberg/v1/namespaces/n/tables/t";

async fn ask(server: &Server, what: &str, body: &Value) -> (u16, Value) {
    server.post(&format!("{TABLE}/{what}"), body).await
}

/// A plan that is made.
#[track_caller]
fn made((status, answer): (u16, Value)) -> Value {
    assert_eq!(status, 200, "{answer}");
    answer
}

#[track_caller]
fn check_refused((status, answer): (u16, Value), expected: u16, exception: &str, words: &str) {
    assert_eq!((status, &answer["error"]["type"]), (expected, &json!(exception)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{words}: {answer}");
}

/// The names of the files of an answer.
fn files(answer: &Value) -> Vec<String> {
    let name = |task: &Value| task["data-file"]["file-path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    answer["file-scan-tasks"].as_array().unwrap().iter().map(name).collect()
}

fn residuals(answer: &Value) -> Vec<Value> {
    answer["file-scan-tasks"].as_array().unwrap().iter().map(|task| task["residual-filter"].clone()).collect()
}

fn next(answer: &Value) -> Value {
    json!({"plan-task": answer["plan-tasks"][0]})
}

/// Files of a table with pages of at most 4,096 of them: so many, each with its number as its only value.
async fn add_numbered(server: &Server, numbers: std::ops::Range<u32>) {
    let file = |number: u32| {
        json!({"path": format!("{number:05}.parquet"), "size_bytes": 100, "row_count": 3,
            "columns": {"id": {"min": number, "max": number, "null_count": 0}}})
    };
    server.commit("t", json!({"operation": "append", "add": numbers.map(file).collect::<Vec<_>>()})).await;
}

/// A table of files a to c, of a row each.
async fn small(server: &Server) {
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
}

#[tokio::test]
async fn a_long_plan_is_complete_while_the_table_changes() {
    let server = Server::start(4_000).await;
    server.create_declared("t").await;
    add_numbered(&server, 0..10_000).await;
    let first = made(ask(&server, "plan", &json!({})).await);
    add_numbered(&server, 10_000..10_010).await;
    server.commit("t", json!({"operation": "delete", "remove": ["09999.parquet"]})).await;
    let (mut found, mut answer) = (files(&first), first);
    while answer["plan-tasks"].is_array() {
        assert_eq!(answer["plan-tasks"].as_array().unwrap().len(), 1);
        answer = made(ask(&server, "tasks", &next(&answer)).await);
        found.extend(files(&answer));
    }
    assert_eq!(found.len(), 10_000);
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), (0..10_000).map(|n| format!("{n:05}.parquet")).collect());
}

#[tokio::test]
async fn a_plan_has_all_that_clients_need() {
    let server = Server::start(2).await;
    small(&server).await;
    let plan =
        made(ask(&server, "plan", &json!({"unknown": 1, "filter": {"type": "lt", "term": "id", "value": 98}})).await);
    assert_eq!((&plan["status"], plan.get("plan-tasks")), (&json!("completed"), None));
    let path = format!("file://{}", server.path("a"));
    let file = json!({"content": "data", "file-path": path, "file-format": "parquet", "spec-id": 0, "partition": [],
        "file-size-in-bytes": 7, "record-count": 1});
    assert_eq!(plan["file-scan-tasks"], json!([{"data-file": file, "residual-filter": true}]));
}

#[tokio::test]
async fn what_is_left_to_filter_is_told_in_the_form_of_the_filter() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let file = |path: &str, min: u32, max: u32, nulls: u32| json!({"path": path, "size_bytes": 7, "row_count": 9, "columns": {"id": {"min": min, "max": max, "null_count": nulls}}});
    let add = json!([file("a", 1, 5, 0), file("b", 4, 9, 0), file("c", 8, 9, 1)]);
    server.commit("t", json!({"operation": "append", "add": add})).await;
    let plan = async |filter: &Value| made(ask(&server, "plan", &json!({"filter": filter})).await);
    let less = json!({"type": "lt", "term": "id", "value": 6});
    let found = plan(&less).await;
    assert_eq!((files(&found), residuals(&found)), (vec!["a".to_owned(), "b".to_owned()], vec![json!(true), less]));
    // A row without a value may match or not, as engines have it.
    let not_eq = json!({"type": "not-eq", "term": "id", "value": 7});
    let found = plan(&not_eq).await;
    assert_eq!(residuals(&found), [json!(true), not_eq.clone(), not_eq]);
    let found = made(ask(&server, "plan", &json!({})).await);
    assert_eq!(residuals(&found), [json!(true), json!(true), json!(true)]);
}

#[tokio::test]
async fn a_plan_can_be_fetched_until_it_is_cancelled() {
    let server = Server::start(4_000).await;
    server.create_declared("t").await;
    add_numbered(&server, 0..4_100).await;
    let plan = made(ask(&server, "plan", &json!({})).await);
    let route = format!("{TABLE}/plan/{}", plan["plan-id"].as_str().unwrap());
    add_numbered(&server, 5_000..5_001).await;
    assert_eq!(files(&made(server.get(&route).await)), files(&plan));
    assert_eq!(server.delete(&route).await.0, 204);
    check_refused(server.get(&route).await, 404, "NoSuchPlanIdException", "");
    check_refused(server.delete(&route).await, 404, "NoSuchPlanIdException", "");
    check_refused(ask(&server, "tasks", &next(&plan)).await, 404, "NoSuchPlanTaskException", "");
}

#[tokio::test]
async fn a_plan_of_a_long_filter_is_only_cancelled_by_its_id() {
    let server = Server::start(2).await;
    small(&server).await;
    let filter = json!({"type": "in", "term": "id", "values": (0..5_000).collect::<Vec<_>>()});
    let plan = made(ask(&server, "plan", &json!({"filter": filter})).await);
    let route = format!("{TABLE}/plan/{}", plan["plan-id"].as_str().unwrap());
    check_refused(server.get(&route).await, 404, "NoSuchPlanIdException", "too long");
    assert_eq!(server.delete(&route).await.0, 204);
    check_refused(server.delete(&route).await, 404, "NoSuchPlanIdException", "");
}

#[tokio::test]
async fn what_was_never_given_out_is_no_plan_and_no_task() {
    let server = Server::start(2).await;
    small(&server).await;
    for id in ["x", "00", "5b5d"] {
        let route = format!("{TABLE}/plan/{id}");
        check_refused(server.get(&route).await, 404, "NoSuchPlanIdException", "");
        check_refused(server.delete(&route).await, 404, "NoSuchPlanIdException", "");
        check_refused(ask(&server, "tasks", &json!({"plan-task": id})).await, 404, "NoSuchPlanTaskException", "");
    }
}

#[tokio::test]
async fn ids_end_with_the_lease() {
    let clock = SetClock::new();
    let server = Server::start_at(&clock).await;
    server.create_declared("t").await;
    add_numbered(&server, 0..8_200).await;
    let first = made(ask(&server, "plan", &json!({})).await);
    clock.pass_ms(LEASE_MS - 1);
    let second = made(ask(&server, "tasks", &next(&first)).await);
    clock.pass_ms(1);
    check_refused(ask(&server, "tasks", &next(&first)).await, 404, "NoSuchPlanTaskException", "expired");
    let route = format!("{TABLE}/plan/{}", first["plan-id"].as_str().unwrap());
    check_refused(server.get(&route).await, 404, "NoSuchPlanIdException", "expired");
    assert_eq!(files(&made(ask(&server, "tasks", &next(&second)).await)).len(), 8_200 - 2 * 4_096);
}

#[tokio::test]
async fn ids_are_of_one_table() {
    let server = Server::start(4_000).await;
    server.create_declared("t").await;
    add_numbered(&server, 0..4_100).await;
    server.create_declared("u").await;
    let plan = made(ask(&server, "plan", &json!({})).await);
    let id = plan["plan-id"].as_str().unwrap();
    let other = "/iceberg/v1/namespaces/n/tables/u";
    check_refused(server.get(&format!("{other}/plan/{id}")).await, 404, "NoSuchPlanIdException", "another table");
    check_refused(server.post(&format!("{other}/tasks"), &next(&plan)).await, 404, "NoSuchPlanTaskException", "");
    assert_eq!(server.delete("/v1/namespaces/n/tables/t").await.0, 204);
    server.create_declared("t").await;
    add_numbered(&server, 0..4_100).await;
    check_refused(server.get(&format!("{TABLE}/plan/{id}")).await, 404, "NoSuchPlanIdException", "another table");
    check_refused(ask(&server, "tasks", &next(&plan)).await, 404, "NoSuchPlanTaskException", "another table");
}

#[tokio::test]
async fn a_range_of_appends_has_what_they_added() {
    let server = Server::start(2).await;
    small(&server).await;
    add_numbered(&server, 0..2).await;
    add_numbered(&server, 2..3).await;
    let range = |start: i64, end: i64| json!({"start-snapshot-id": start, "end-snapshot-id": end});
    assert_eq!(files(&made(ask(&server, "plan", &range(1, 2)).await)), ["00000.parquet", "00001.parquet"]);
    assert_eq!(files(&made(ask(&server, "plan", &range(2, 3)).await)), ["00002.parquet"]);
    assert_eq!(files(&made(ask(&server, "plan", &range(3, 3)).await)), Vec::<String>::new());
    check_refused(ask(&server, "plan", &range(0, 2)).await, 400, "BadRequestException", "snapshot 1 is no append");
    check_refused(ask(&server, "plan", &range(3, 2)).await, 400, "BadRequestException", "not before");
    check_refused(ask(&server, "plan", &json!({"start-snapshot-id": 1})).await, 400, "BadRequestException", "together");
    let both = json!({"snapshot-id": 1, "start-snapshot-id": 1, "end-snapshot-id": 2});
    check_refused(ask(&server, "plan", &both).await, 400, "BadRequestException", "exclude");
}

#[tokio::test]
async fn enough_rows_end_a_plan() {
    let server = Server::start(2).await;
    small(&server).await;
    let plan = |rows: u64, filter: Value| json!({"min-rows-requested": rows, "filter": filter});
    assert_eq!(files(&made(ask(&server, "plan", &plan(2, json!(true))).await)), ["a", "b"]);
    assert_eq!(files(&made(ask(&server, "plan", &plan(9, json!(true))).await)), ["a", "b", "c"]);
    // Of none of these is it known that its row matches.
    let unknown =
        json!({"type": "eq", "term": {"type": "transform", "transform": "bucket[4]", "term": "id"}, "value": 3});
    assert_eq!(files(&made(ask(&server, "plan", &plan(1, unknown)).await)), ["a", "b", "c"]);
}

#[tokio::test]
async fn names_are_held_against_the_schema() {
    let server = Server::start(2).await;
    small(&server).await;
    let test = |name: &str| json!({"filter": {"type": "eq", "term": name, "value": 97}, "case-sensitive": false});
    assert_eq!(files(&made(ask(&server, "plan", &test("ID")).await)), ["a"]);
    check_refused(ask(&server, "plan", &test("none")).await, 400, "BadRequestException", "none");
    let exact = json!({"filter": {"type": "eq", "term": "ID", "value": 97}});
    check_refused(ask(&server, "plan", &exact).await, 400, "BadRequestException", "ID");
    check_refused(ask(&server, "plan", &json!({"select": ["id", "x"]})).await, 400, "BadRequestException", "x");
    server.alter("t", &json!({"schema": [{"op": "add", "name": "Id", "type": "int64"}]})).await;
    check_refused(ask(&server, "plan", &test("id")).await, 400, "BadRequestException", "several");
}

#[tokio::test]
async fn a_snapshot_that_is_not_there_is_not_found() {
    let server = Server::start(2).await;
    small(&server).await;
    check_refused(ask(&server, "plan", &json!({"snapshot-id": 9})).await, 404, "NoSuchSnapshotException", "9");
}

#[tokio::test]
async fn a_file_of_unknown_rows_is_named() {
    let server = Server::start(2).await;
    small(&server).await;
    server.commit("t", json!({"operation": "append", "add": [{"path": "z", "size_bytes": 7}]})).await;
    check_refused(ask(&server, "plan", &json!({})).await, 400, "ValidationException", "/z` cannot be planned");
}
