//! A request is told everything that is wrong with it at once, each fault with its place.

use reqwest::Method;
use serde_json::{Value, json};

use super::written;
use crate::server::Server;

const T: &str = "/v1/namespaces/n/tables/t";

async fn server() -> Server {
    let server = Server::start(8).await;
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "amount", "type": "float64"}]);
    let table =
        json!({"schema": {"fields": fields}, "location": server.path(""), "properties": {"verification": "declared"}});
    server.create_table("t", table).await;
    server
}

/// Sends a request that is refused: the status, and the places of the faults.
async fn refused(server: &Server, method: Method, route: &str, body: Value) -> (u16, Vec<String>) {
    let headers = [("content-type", "application/json")];
    let (status, _, answer) = server.send_raw(method, route, &headers, written(&body)).await;
    let problem: Value = serde_json::from_slice(&answer).unwrap();
    let faults = problem["faults"].as_array().unwrap_or_else(|| panic!("{problem}"));
    assert!(!faults.is_empty(), "{problem}");
    (status, faults.iter().map(|fault| fault["at"].as_str().unwrap_or_default().to_owned()).collect())
}

fn places(places: &[&str]) -> Vec<String> {
    places.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn of_a_new_table_name_types_location_columns_and_properties() {
    let server = server().await;
    let fields = json!([{"name": "a", "type": "int33"}, {"name": "b", "type": "int8", "default": 999}, {"name": "b", "type": "date"}]);
    let body = json!({"name": "a.b", "schema": {"fields": fields}, "location": "relative", "cluster_by": ["zz"],
        "properties": {"verification": "no", "string_bound_bytes": "0"}});
    let (status, at) = refused(&server, Method::POST, "/v1/namespaces/n/tables", body).await;
    let expected = [
        "name",
        "schema.fields[0]",
        "schema.fields[1]",
        "location",
        "schema",
        "properties.verification",
        "properties.string_bound_bytes",
    ];
    assert_eq!((status, at), (422, places(&expected)));
    let body = json!({"name": "u", "schema_from": server.path("gone.parquet"), "location": "relative",
        "properties": {"nan_counts": "never"}});
    let (status, at) = refused(&server, Method::POST, "/v1/namespaces/n/tables", body).await;
    assert_eq!((status, at), (422, places(&["schema_from", "location", "properties.nan_counts"])));
    let fields = json!([{"name": "a", "type": "int32"}]);
    let body = json!({"name": "u", "schema": {"fields": fields}, "location": "relative", "cluster_by": ["b", "c"],
        "properties": {"statistics.d": "none", "statistics.a": "some"}});
    let (status, at) = refused(&server, Method::POST, "/v1/namespaces/n/tables", body).await;
    let expected = ["location", "cluster_by", "cluster_by", "properties.statistics.a", "properties.statistics.d"];
    assert_eq!((status, at), (422, places(&expected)));
}

#[tokio::test]
async fn of_a_change_of_a_table_name_columns_and_properties() {
    let server = server().await;
    let body = json!({"rename": "t", "schema": [
        {"op": "add", "name": "x", "type": "int33"}, {"op": "drop", "column": "idd"}, {"op": "widen", "column": "id", "type": "long"},
    ], "properties": {"verification": "no"}});
    let (status, at) = refused(&server, Method::PATCH, T, body).await;
    let expected = ["rename", "schema[0]", "schema[2]", "schema[1]", "properties.verification"];
    assert_eq!((status, at), (422, places(&expected)));
    let body =
        json!({"rename": "t", "cluster_by": ["idd"], "properties": {"verification": "no", "statistics.zz": "none"}});
    let (status, at) = refused(&server, Method::PATCH, T, body).await;
    let expected = ["rename", "cluster_by", "properties.verification", "properties.statistics.zz"];
    assert_eq!((status, at), (422, places(&expected)));
}

#[tokio::test]
async fn of_a_commit_its_shape_its_files_and_its_filter() {
    let server = server().await;
    let add = json!([
        {"path": "a", "size_bytes": 1, "columns": {"id": {"min": []}, "amuont": {"null_count": 1}}},
        {"path": "b", "partition": {"id": {}, "amount": "x"}},
        {"path": "c", "size_bytes": 1},
    ]);
    let body = json!({"operation": "overwrite", "add": add, "remove": [""], "filter": "idd = 1"});
    let (status, at) = refused(&server, Method::POST, &format!("{T}/commits"), body).await;
    let expected = ["base_snapshot", "remove[0]", "add[0]", "add[0]", "add[1]", "add[1]", "add[1]", "filter"];
    assert_eq!((status, at), (422, places(&expected)));
    assert_eq!(server.get(T).await.1["current_snapshot"], 0);
}

#[tokio::test]
async fn of_a_transaction_all_commits() {
    let server = server().await;
    let bad = json!({"path": "a", "size_bytes": 1, "columns": {"idd": {}}});
    let body = json!({"commits": [
        {"table": "n.t", "operation": "append", "add": [bad]},
        {"table": "n.t", "operation": "delete", "add": [bad]},
    ]});
    let (status, at) = refused(&server, Method::POST, "/v1/transactions", body).await;
    let expected =
        ["commits[1].table", "commits[0].add[0]", "commits[1].add", "commits[1].remove", "commits[1].add[0]"];
    assert_eq!((status, at), (422, places(&expected)));
}

#[tokio::test]
async fn of_a_plan_times_zone_columns_and_filter() {
    let server = server().await;
    let body = json!({"snapshot_id": 0, "as_of": "x", "page_size": 0, "time_zone": "Mars", "select": ["id", "idd"], "filter": "id = "});
    let (status, at) = refused(&server, Method::POST, &format!("{T}/plan"), body.clone()).await;
    assert_eq!((status, at), (422, places(&["as_of", "page_size", "time_zone", "select", "filter"])));
    let mut body = body;
    body["path"] = "".into();
    let (status, at) = refused(&server, Method::POST, &format!("{T}/explain"), body).await;
    assert_eq!((status, at), (422, places(&["as_of", "page_size", "path", "time_zone", "select", "filter"])));
}

#[tokio::test]
async fn of_a_query_string_all_parameters_and_of_a_path_all_parts() {
    let server = server().await;
    let get = async |route: &str| refused(&server, Method::GET, route, Value::Null).await;
    assert_eq!(
        get(&format!("{T}/files?snapshot=1&page_size=x&path=a&path=b")).await,
        (400, places(&["snapshot", "page_size", "path"]))
    );
    assert_eq!(get(&format!("{T}/changes?to=x")).await, (400, places(&["to", "from"])));
    assert_eq!(
        get(&format!("{T}/files?as_of=x&page_size=0&path=a")).await,
        (422, places(&["as_of", "page_size", "path"]))
    );
    assert_eq!(
        get(&format!("{T}/orphans?older_than=x&page_size=0")).await,
        (422, places(&["older_than", "page_size"]))
    );
    let parts = places(&["namespace", "table", "snapshot_id"]);
    assert_eq!(get("/v1/namespaces/a..b/tables/%22/snapshots/x").await, (400, parts));
}

#[tokio::test]
async fn of_an_expiry_both_limits() {
    let server = server().await;
    let body = json!({"older_than": "yesterday", "keep_last": 0});
    let (status, at) = refused(&server, Method::POST, &format!("{T}/expire"), body).await;
    assert_eq!((status, at), (422, places(&["older_than", "keep_last"])));
}

#[tokio::test]
async fn of_a_body_every_fault_of_form() {
    let server = server().await;
    let body = json!({"operaton": "append", "add": [{"pth": "a"}, {"path": "b", "row_count": "many"}], "remove": [1]});
    let (status, at) = refused(&server, Method::POST, &format!("{T}/commits"), body).await;
    let expected = ["add[0].pth", "add[0].path", "add[1].row_count", "operaton", "remove[0]", "operation"];
    let (mut at, mut expected) = (at, places(&expected));
    at.sort();
    expected.sort();
    assert_eq!((status, at), (400, expected));
}
