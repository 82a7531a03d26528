//! Columns that were renamed, dropped and made anew, in scans of snapshots from before.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, append};

const PLAN: &str = "/iceberg/v1/namespaces/n/tables/t/plan";

/// Snapshot 1 has a file without field ids, whose columns are `a` and `b`, both from 1 to 3; then the table changes.
async fn server(changes: &Value) -> Server {
    let server = Server::start(4).await;
    let path = server.data().join("f.parquet");
    let column = || Arc::new(Int64Array::from_iter_values(1..=3)) as _;
    rows::write(
        &path,
        &RecordBatch::try_from_iter([("a", column()), ("b", column())]).unwrap(),
        EnabledStatistics::Chunk,
    );
    let path = path.to_str().unwrap();
    server.create_table("t", json!({"schema_from": path, "location": server.data()})).await;
    server.commit("t", append([path])).await;
    server.alter("t", &json!({"schema": changes})).await;
    server
}

async fn plan(server: &Server, body: Value) -> (u16, Value) {
    server.post(PLAN, &body).await
}

#[track_caller]
fn check_files((status, answer): &(u16, Value), expected: usize) {
    assert_eq!((*status, answer["file-scan-tasks"].as_array().map(Vec::len)), (200, Some(expected)), "{answer}");
}

#[track_caller]
fn check_refused((status, answer): &(u16, Value), words: &str) {
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(*status == 400 && message.contains(words), "{words}: {answer}");
}

#[tokio::test]
async fn a_dropped_column_is_found_by_the_name_that_it_had() {
    let server = server(&json!([{"op": "drop", "column": "a"}])).await;
    for select in [Value::Null, json!(["a"]), json!(["b"])] {
        check_files(&plan(&server, json!({"snapshot-id": 1, "select": select})).await, 1);
    }
    check_refused(&plan(&server, json!({"select": ["a"]})).await, "`a`");
}

#[tokio::test]
async fn a_dropped_column_whose_name_another_one_got_is_not_read_as_null() {
    let changes = json!([{"op": "drop", "column": "a"}, {"op": "add", "name": "a", "type": "int64"}]);
    let server = server(&changes).await;
    for own in [true, false] {
        let body = |select: Value| json!({"snapshot-id": 1, "use-snapshot-schema": own, "select": select});
        check_refused(&plan(&server, body(Value::Null)).await, "`a`");
        check_refused(&plan(&server, body(json!(["a"]))).await, "`a`");
        check_files(&plan(&server, body(json!(["b"]))).await, 1);
    }
}

#[tokio::test]
async fn a_column_of_the_filter_is_not_read_as_null_either() {
    let changes = json!([{"op": "drop", "column": "a"}, {"op": "add", "name": "a", "type": "int64"}]);
    let server = server(&changes).await;
    for operand in [json!("a"), json!({"type": "reference", "name": "a"}), json!({"type": "reference", "id": 1})] {
        let filter = json!({"type": "eq", "left": operand, "right": {"type": "literal", "value": 1}});
        let body = json!({"snapshot-id": 1, "use-snapshot-schema": true, "select": ["b"], "filter": filter});
        check_refused(&plan(&server, body).await, "`a`");
    }
}

#[tokio::test]
async fn a_renamed_column_is_selected_by_the_name_that_it_had() {
    let server = server(&json!([{"op": "rename", "column": "a", "to": "c"}])).await;
    for name in ["a", "c"] {
        check_files(&plan(&server, json!({"snapshot-id": 1, "select": [name]})).await, 1);
    }
    check_files(&plan(&server, json!({"snapshot-id": 1, "use-snapshot-schema": true, "select": ["a"]})).await, 1);
    check_refused(&plan(&server, json!({"snapshot-id": 1, "select": ["none"]})).await, "none");
}

#[tokio::test]
async fn a_name_that_another_column_got_skips_nothing() {
    let changes = json!([{"op": "rename", "column": "a", "to": "c"}, {"op": "rename", "column": "b", "to": "a"}]);
    let server = server(&changes).await;
    let filter = |name: &str| json!({"type": "gt", "term": name, "value": 9});
    let body = |name: &str| json!({"snapshot-id": 1, "filter": filter(name), "select": ["c"]});
    check_files(&plan(&server, body("c")).await, 0);
    // It is kept, and then told to be none that clients can read.
    check_refused(&plan(&server, body("a")).await, "f.parquet");
}

#[tokio::test]
async fn columns_that_are_gone_are_not_taken_for_all() {
    let server = Server::start(4).await;
    let fields =
        json!([{"name": "id", "type": "int64"}, {"name": "day", "type": "date"}, {"name": "d", "type": "int64"}]);
    let body =
        json!({"schema": {"fields": fields}, "properties": {"verification": "declared"}, "location": server.path("")});
    server.create_table("t", body).await;
    let file = json!({"path": "day=2024-01-31/f", "size_bytes": 7, "row_count": 3});
    server.commit("t", json!({"operation": "append", "add": [file]})).await;
    server.alter("t", &json!({"schema": [{"op": "drop", "column": "d"}]})).await;
    for select in [json!(["d"]), json!(["id"]), json!(["d", "id"])] {
        check_files(&plan(&server, json!({"snapshot-id": 1, "select": select})).await, 1);
    }
    for select in [json!(["day"]), json!([]), Value::Null] {
        check_refused(&plan(&server, json!({"snapshot-id": 1, "select": select})).await, "`day`");
    }
}
