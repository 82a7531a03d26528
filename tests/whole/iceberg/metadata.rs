//! A table as Iceberg's metadata.

use serde_json::{Value, json};

use super::{TABLE, check_refused};
use crate::clock::SetClock;
use crate::server::Server;

async fn load(server: &Server, query: &str) -> Value {
    let (status, mut answer) = server.get(&format!("{TABLE}{query}")).await;
    assert_eq!(status, 200, "{answer}");
    // Some versions of DuckDB make a secret of whatever stands there.
    assert_eq!(answer["config"], json!({}));
    answer["metadata"].take()
}

#[tokio::test]
async fn a_table_has_its_schema_and_its_snapshots() {
    let clock = SetClock::new();
    let server = Server::start_at(&clock).await;
    let table = server.create_declared("t").await;
    server.change("t", &["a", "b"], &[]).await;
    clock.pass_ms(1_000);
    server.change("t", &["c"], &["a"]).await;
    server.put("/v1/namespaces/n/tables/t/tags/first", &json!({"snapshot_id": 1})).await;
    let metadata = load(&server, "").await;
    assert_eq!((&metadata["format-version"], &metadata["table-uuid"]), (&json!(2), &table["table_id"]));
    let id = json!({"id": 1, "name": "id", "type": "long", "required": false});
    assert_eq!(metadata["schemas"], json!([{"type": "struct", "schema-id": 1, "fields": [id]}]));
    assert_eq!((&metadata["current-schema-id"], &metadata["last-column-id"]), (&json!(1), &json!(1)));
    assert_eq!(metadata["partition-specs"], json!([{"spec-id": 0, "fields": []}]));
    assert_eq!((&metadata["current-snapshot-id"], &metadata["last-sequence-number"]), (&json!(2), &json!(2)));
    let (first, second) = (SetClock::START_MS, SetClock::START_MS + 1_000);
    assert_eq!(metadata["last-updated-ms"], second);
    let log = json!([{"snapshot-id": 1, "timestamp-ms": first}, {"snapshot-id": 2, "timestamp-ms": second}]);
    assert_eq!(metadata["snapshot-log"], log);
    let refs = json!({"main": {"snapshot-id": 2, "type": "branch"}, "first": {"snapshot-id": 1, "type": "tag"}});
    assert_eq!(metadata["refs"], refs);
    let newest = &metadata["snapshots"][1];
    assert_eq!((&newest["snapshot-id"], &newest["parent-snapshot-id"]), (&json!(2), &json!(1)));
    let summary = &newest["summary"];
    assert_eq!((&summary["operation"], &summary["total-data-files"]), (&json!("overwrite"), &json!("2")));
    assert_eq!((&summary["total-records"], &summary["deleted-data-files"]), (&json!("2"), &json!("1")));
    assert_eq!(metadata["snapshots"][0].get("parent-snapshot-id"), None);
}

#[tokio::test]
async fn a_snapshot_names_a_manifest_list_that_is_not_there() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    let metadata = load(&server, "").await;
    let list = metadata["snapshots"][0]["manifest-list"].as_str().unwrap();
    let expected =
        format!("file://{}/metadata/snap-1-is-planned-by-the-server-alone.avro", server.path("").trim_end_matches('/'));
    assert_eq!(list, expected);
    assert!(!std::path::Path::new(list.trim_start_matches("file://")).exists());
}

#[tokio::test]
async fn an_empty_table_has_no_current_snapshot() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let metadata = load(&server, "").await;
    assert_eq!(metadata.get("current-snapshot-id"), None);
    assert_eq!((&metadata["snapshots"], &metadata["refs"]), (&json!([]), &json!({})));
}

#[tokio::test]
async fn a_table_without_a_place_of_its_own_names_what_is_nowhere() {
    let server = Server::start(2).await;
    let body =
        json!({"schema": {"fields": [{"name": "id", "type": "int64"}]}, "properties": {"verification": "declared"}});
    server.create_table("t", body).await;
    let path = server.path("a");
    server.commit("t", json!({"operation": "append", "add": [{"path": path, "size_bytes": 1, "row_count": 1}]})).await;
    let metadata = load(&server, "").await;
    assert_eq!(metadata["location"], "file:///nowhere");
    assert!(metadata["snapshots"][0]["manifest-list"].as_str().unwrap().starts_with("file:///nowhere/metadata/"));
}

#[tokio::test]
async fn only_named_snapshots_are_told_of_to_who_asks_for_these() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    for name in ["a", "b", "c"] {
        server.change("t", &[name], &[]).await;
    }
    server.put("/v1/namespaces/n/tables/t/tags/first", &json!({"snapshot_id": 1})).await;
    let ids = |metadata: &Value| -> Vec<i64> {
        let snapshots = metadata["snapshots"].as_array().unwrap();
        snapshots.iter().map(|snapshot| snapshot["snapshot-id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids(&load(&server, "?snapshots=refs").await), [1, 3]);
    assert_eq!(ids(&load(&server, "?snapshots=all").await), [1, 2, 3]);
    check_refused(&server.get(&format!("{TABLE}?snapshots=some")).await, 400, "BadRequestException");
}

#[tokio::test]
async fn the_name_mapping_is_always_there_and_has_former_names() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let set = json!({"properties": {"schema.name-mapping.default": "[]", "owner": "me"}});
    server.alter("t", &set).await;
    server.alter("t", &json!({"schema": [{"op": "rename", "column": "id", "to": "key"}]})).await;
    let metadata = load(&server, "").await;
    let mapping = metadata["properties"]["schema.name-mapping.default"].as_str().unwrap();
    let mapping: Value = serde_json::from_str(mapping).unwrap();
    assert_eq!(mapping, json!([{"field-id": 1, "names": ["key", "id"]}]));
    assert_eq!(metadata["properties"]["owner"], "me");
    assert_eq!(metadata["schemas"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn schemas_are_those_that_snapshots_had() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    for name in ["x", "y"] {
        server.alter("t", &json!({"schema": [{"op": "add", "name": name, "type": "string"}]})).await;
    }
    let metadata = load(&server, "").await;
    let ids: Vec<&Value> = metadata["schemas"].as_array().unwrap().iter().map(|schema| &schema["schema-id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(3)]);
    assert_eq!((&metadata["snapshots"][0]["schema-id"], &metadata["current-schema-id"]), (&json!(1), &json!(3)));
    assert_eq!(metadata["last-column-id"], 3);
}

#[tokio::test]
async fn a_table_that_iceberg_has_no_words_for_is_refused_with_every_reason() {
    let server = Server::start(2).await;
    let fields = json!([
        {"name": "id", "type": "int64"}, {"name": "u", "type": "uint32"}, {"name": "n", "type": "timestamp(ns)"},
        {"name": "a.b", "type": "string"},
    ]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.path("")})).await;
    let answer = server.get(TABLE).await;
    check_refused(&answer, 400, "ValidationException");
    let message = answer.1["error"]["message"].as_str().unwrap();
    for reason in ["table n.t", "`u` is of type uint32", "`n` is of type timestamp(ns)", "`a.b` has a dot"] {
        assert!(message.contains(reason), "{message}");
    }
    assert!(!message.contains("`id`"), "{message}");
}
