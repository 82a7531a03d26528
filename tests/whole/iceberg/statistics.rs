//! What is known of columns of the files of a plan.

use serde_json::{Value, json};

use super::plan;
use crate::server::Server;

/// Three files of an int32, a string and a float column, and one of which nothing is known; manifests are made of `target` files.
async fn server(target: u32) -> Server {
    let server = Server::start(target).await;
    let fields =
        json!([{"name": "i", "type": "int32"}, {"name": "s", "type": "string"}, {"name": "f", "type": "float64"}]);
    let body =
        json!({"schema": {"fields": fields}, "properties": {"verification": "declared"}, "location": server.path("")});
    server.create_table("t", body).await;
    let file = |number: i32| {
        let columns = json!({
            "i": {"min": number, "max": 255, "null_count": 0},
            "s": {"min": "a", "max": "z", "max_precision": "estimate"},
            "f": {"min": 0.0, "max": 1.0, "nan_count": 2},
        });
        json!({"path": number.to_string(), "size_bytes": 7, "row_count": 9, "columns": columns})
    };
    let unknown = json!({"path": "unknown", "size_bytes": 7, "row_count": 9});
    server.commit("t", json!({"operation": "append", "add": [file(1), file(2), file(3), unknown]})).await;
    server
}

fn data_files(answer: &Value) -> Vec<Value> {
    answer["file-scan-tasks"].as_array().unwrap().iter().map(|task| task["data-file"].clone()).collect()
}

#[tokio::test]
async fn counts_and_bounds_are_told_of_the_columns_that_are_asked_for() {
    let server = server(100).await;
    let files = data_files(&plan(&server, json!({"stats-fields": ["i", "s", "f"]})).await);
    assert_eq!(files[0]["value-counts"], json!({"keys": [1, 2, 3], "values": [9, 9, 9]}));
    assert_eq!(files[0]["null-value-counts"], json!({"keys": [1], "values": [0]}));
    assert_eq!(files[0]["nan-value-counts"], json!({"keys": [3], "values": [2]}));
    let lower = json!({"keys": [1, 2, 3], "values": ["01000000", "61", "0000000000000080"]});
    assert_eq!(files[0]["lower-bounds"], lower);
    // A guess is no bound.
    let upper = json!({"keys": [1, 3], "values": ["FF000000", "000000000000F03F"]});
    assert_eq!(files[0]["upper-bounds"], upper);
    let only = data_files(&plan(&server, json!({"stats-fields": ["i"]})).await);
    assert_eq!(only[1]["lower-bounds"], json!({"keys": [1], "values": ["02000000"]}));
    assert_eq!(plan(&server, json!({})).await["file-scan-tasks"][0]["data-file"].get("lower-bounds"), None);
}

#[tokio::test]
async fn of_a_file_of_which_nothing_is_known_nothing_is_told() {
    let server = server(100).await;
    let unknown = data_files(&plan(&server, json!({"stats-fields": ["i", "f"]})).await)[3].clone();
    for key in ["null-value-counts", "nan-value-counts", "lower-bounds", "upper-bounds"] {
        assert_eq!(unknown[key], json!({"keys": [], "values": []}), "{key}");
    }
}

#[tokio::test]
async fn the_tail_and_manifests_tell_the_same() {
    let asked = || json!({"stats-fields": ["f", "i", "s"]});
    let (tail, sealed) = (server(100).await, server(2).await);
    let without_paths = |server: &Server, answer: &Value| answer.to_string().replace(&server.path(""), "");
    let (of_tail, of_sealed) = (plan(&tail, asked()).await, plan(&sealed, asked()).await);
    assert_eq!(
        without_paths(&tail, &of_tail["file-scan-tasks"]),
        without_paths(&sealed, &of_sealed["file-scan-tasks"])
    );
}

#[tokio::test]
async fn a_column_that_was_widened_has_bounds_of_its_type_of_today() {
    let server = server(2).await;
    server.alter("t", &json!({"schema": [{"op": "widen", "column": "i", "type": "int64"}]})).await;
    let files = data_files(&plan(&server, json!({"stats-fields": ["i"]})).await);
    assert_eq!(files[0]["lower-bounds"], json!({"keys": [1], "values": ["0100000000000000"]}));
}
