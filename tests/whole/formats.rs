//! Plans and listings of files as JSON and as Arrow: both say the same, in pages, in streams and compressed, and neither is ever
//! taken for whole where it breaks off.

mod answer;
mod compression;
mod negotiation;
mod streams;

use serde_json::{Value, json};

use crate::server::Server;
use answer::{ARROW, get, plan};

const FILES: &str = "/v1/namespaces/n/tables/t/files";

/// Partition values of all types, a null among them.
const PARTITION: [(&str, &str, &str); 14] = [
    ("flag", "boolean", "true"),
    ("small", "int8", "-5"),
    ("large", "uint64", "18446744073709551615"),
    ("half", "float32", "0.1"),
    ("double", "float64", "\"NaN\""),
    ("money", "decimal(10,2)", "\"12.50\""),
    ("name", "string", "\"a/b \\\"é\\\"\""),
    ("raw", "binary", "\"00ff\""),
    ("key", "uuid", "\"01234567-89ab-cdef-0123-456789abcdef\""),
    ("day", "date", "\"2024-01-31\""),
    ("hour", "time(ms)", "\"12:30:00.250\""),
    ("at", "timestamp(us)", "\"2024-01-31T12:00:00.000001\""),
    ("utc", "timestamptz(s)", "\"2024-01-31T12:00:00Z\""),
    ("none", "int64", "null"),
];

/// A table of three files: the first of known rows and an all of its own, the others partitioned, the last of unknown rows.
async fn table() -> Server {
    let server = Server::start(2).await;
    let field = |(name, kind): (&str, &str)| json!({"name": name, "type": kind});
    let fields: Vec<Value> = [("id", "int64"), ("old", "int64")]
        .into_iter()
        .chain(PARTITION.map(|(name, kind, _)| (name, kind)))
        .map(field)
        .collect();
    let properties = json!({"verification": "declared"});
    let body = json!({"schema": {"fields": fields}, "properties": properties, "location": "s3://b/t/"});
    server.create_table("t", body).await;
    let partition: serde_json::Map<String, Value> =
        PARTITION.iter().map(|(name, _, value)| ((*name).to_owned(), serde_json::from_str(value).unwrap())).collect();
    let bounds = |min: i64, max: i64| json!({"id": {"min": min, "max": max, "null_count": 0}});
    let add = json!([
        {"path": "plain \"1\".parquet", "size_bytes": 10, "row_count": 5, "columns": bounds(0, 9)},
        {"path": "p2.parquet", "size_bytes": 1_u64 << 62, "row_count": 7, "partition": partition, "columns": bounds(5, 50)},
        {"path": "p3.parquet", "size_bytes": 1, "partition": partition},
    ]);
    server.commit("t", json!({"operation": "append", "add": add})).await;
    server.alter("t", &json!({"schema": [{"op": "rename", "column": "old", "to": "new"}]})).await;
    server.alter("t", &json!({"schema": [{"op": "add", "name": "old", "type": "int64"}]})).await;
    server
}

#[tokio::test]
async fn both_formats_say_the_same_of_every_plan() {
    let server = table().await;
    let test = |kind: &str, value: i64| json!({"type": kind, "term": "id", "value": value});
    let iceberg = json!({"type": "and", "left": test("gt-eq", 0), "right": test("lt", 8)});
    let mut verdicts = std::collections::BTreeSet::new();
    for filter in [
        Value::Null,
        json!("id >= 0"),
        json!("id < 10"),
        json!("id < 8 AND lower(name) = 'x'"),
        json!("new = 5"),
        json!("id > 1000 AND flag"),
        iceberg,
        test("lt", 10),
        json!(true),
    ] {
        let mut body = json!({});
        if !filter.is_null() {
            body["filter"] = filter.clone();
        }
        let (as_json, as_arrow) = (plan(&server, &body, "application/json").await, plan(&server, &body, ARROW).await);
        assert_eq!(as_json.without_timings(), as_arrow.without_timings(), "{filter}");
        assert!(as_json.head["metrics"]["files_kept"].is_u64() && as_json.head["schema"]["fields"].is_array());
        verdicts.extend(as_json.files.iter().map(|file| (file["verdict"].to_string(), file["residual"].is_null())));
    }
    assert_eq!(verdicts.len(), 2, "some with a residual, all without: {verdicts:?}");
}

#[tokio::test]
async fn partitions_and_names_in_files_are_in_both() {
    let server = table().await;
    for accept in ["application/json", ARROW] {
        let page = plan(&server, &json!({}), accept).await;
        assert!(page.files[0].get("partition").is_none(), "{accept}");
        let partition = &page.files[1]["partition"];
        for (name, _, value) in PARTITION {
            let value: Value = serde_json::from_str(value).unwrap();
            let text = if value.is_null() {
                Value::Null
            } else {
                json!(value.as_str().map_or(value.to_string(), str::to_owned))
            };
            assert_eq!(partition[name], text, "{accept} {name}");
        }
        assert_eq!(page.files[0]["columns"], json!({"#2": "old", "#17": null}), "{accept}");
        assert_eq!(page.files[2]["row_count"], Value::Null, "{accept}");
    }
}

#[tokio::test]
async fn the_json_is_that_of_the_wire_types() {
    let server = table().await;
    let (_, plan) = server.post("/v1/namespaces/n/tables/t/plan", &json!({"filter": "id < 8", "page_size": 2})).await;
    let read: prunus::wire::PlannedJson = serde_json::from_value(plan.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), plan);
    let (_, files) = server.get(&format!("{FILES}?page_size=2")).await;
    let read: prunus::wire::FilesJson = serde_json::from_value(files.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), files);
}

#[tokio::test]
async fn both_formats_list_the_same_files() {
    let server = table().await;
    server.commit("t", json!({"operation": "delete", "remove": ["p2.parquet"]})).await;
    for query in ["", "?snapshot_id=1", "?snapshot_id=0", "?page_size=1"] {
        let route = format!("{FILES}{query}");
        let (as_json, as_arrow) = (get(&server, &route, "application/json").await, get(&server, &route, ARROW).await);
        assert_eq!(as_json, as_arrow, "{query}");
        assert_eq!(as_json.files.is_empty(), query == "?snapshot_id=0");
    }
    let files = get(&server, &format!("{FILES}?snapshot_id=1"), ARROW).await.files;
    assert_eq!((&files[1]["removed_snapshot"], &files[1]["added_snapshot"]), (&json!(2), &json!(1)));
    assert!(files[0]["manifest_id"].is_i64() && files[2].get("manifest_id").is_none());
}

#[tokio::test]
async fn a_file_that_was_read_has_its_etag_and_time_in_both() {
    let server = Server::start(2).await;
    let path = server.path("a.parquet");
    crate::rows::write(path.as_ref(), &crate::rows::batch(0, 5), parquet::file::properties::EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path})).await;
    server.commit("t", crate::server::append([&path])).await;
    let as_json = get(&server, FILES, "application/json").await;
    assert_eq!(as_json, get(&server, FILES, ARROW).await);
    assert!(as_json.files[0]["last_modified"].is_i64() && as_json.files[0]["etag"].is_string());
}

#[tokio::test]
async fn pages_may_change_their_format_while_the_table_changes() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c", "d", "e"], &[]).await;
    for first in [ARROW, "application/json"] {
        let formats = if first == ARROW {
            [ARROW, "application/json", ARROW]
        } else {
            ["application/json", ARROW, "application/json"]
        };
        let (mut body, mut route) = (
            json!({"filter": "id > 0", "page_size": 2, "snapshot_id": 1}),
            format!("{FILES}?page_size=2&snapshot_id=1"),
        );
        let (mut planned, mut listed) = (Vec::new(), Vec::new());
        for (turn, accept) in formats.into_iter().enumerate() {
            let page = plan(&server, &body, accept).await;
            planned.extend(page.names());
            body["page_token"] = page.head["next_page_token"].clone();
            let page = get(&server, &route, accept).await;
            listed.extend(page.names());
            if let Some(token) = page.head["next_page_token"].as_str() {
                route = format!("{FILES}?page_size=2&snapshot_id=1&page_token={token}");
            }
            server.change("t", &[&format!("{first}{turn}").replace('/', "-")], &[]).await;
        }
        assert_eq!(planned, ["a", "b", "c", "d", "e"], "{first}");
        assert_eq!(listed, planned, "{first}");
        assert!(body["page_token"].is_null());
    }
}

#[tokio::test]
async fn a_repair_between_pages_is_seen_by_the_next() {
    let server = Server::start(2).await;
    let (narrow, wide) = (server.path("a.parquet"), server.path("b.parquet"));
    for (path, first) in [(&narrow, 0), (&wide, 1)] {
        let batch = crate::rows::batch(first, 20);
        crate::rows::write(path.as_ref(), &batch, parquet::file::properties::EnabledStatistics::Chunk);
    }
    server.create_table("t", json!({"schema_from": narrow, "properties": {"verification": "declared"}})).await;
    // Of `b` it is declared that nothing matches, which is false.
    let lie = json!({"id": {"min": -2, "max": -1, "null_count": 0}});
    server.commit("t", json!({"operation": "append", "add": [{"path": narrow, "size_bytes": 1}, {"path": wide, "size_bytes": 1, "columns": lie},
        {"path": server.path("c.parquet"), "size_bytes": 1}]})).await;
    let mut body = json!({"filter": "id >= 0", "page_size": 1});
    let first = plan(&server, &body, ARROW).await;
    assert_eq!(first.names(), ["a.parquet"]);
    body["page_token"] = first.head["next_page_token"].clone();
    assert_eq!(plan(&server, &body, ARROW).await.names(), ["c.parquet"]);
    let (status, audit) =
        server.post("/v1/namespaces/n/tables/t/audits", &json!({"mode": "footer", "repair": true})).await;
    assert_eq!(status, 202, "{audit}");
    let route = format!("/v1/namespaces/n/tables/t/audits/{}", audit["audit_id"]);
    while server.get(&route).await.1["state"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(plan(&server, &body, ARROW).await.names(), ["b.parquet"]);
}
