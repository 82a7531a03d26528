//! An admin with a slow query finds out from the API alone why its files were kept.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use serde_json::{Value, json};

use crate::server::Server;

const TABLE: &str = "/v1/namespaces/n/tables/t";
const FILES: i64 = 9;

/// Rows of file number `file`: `id` is clustered by it, `customer` is the same in all of them, of `note` and `region` the footer
/// says nothing, and it counts no NaNs of `ratio`.
fn write(server: &Server, file: i64) -> String {
    const ROWS: i64 = 100;
    let numbers = |value: fn(i64, i64) -> i64| -> ArrayRef {
        Arc::new((0..ROWS).map(|row| Some(value(file, row))).collect::<Int64Array>())
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", numbers(|file, row| file * ROWS + row)),
        ("customer", numbers(|file, row| row * 10 + file)),
        ("note", Arc::new(StringArray::from_iter_values((0..ROWS).map(|row| format!("note {row}"))))),
        ("ratio", Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| (row + 1) as f64 / 100.0)))),
        ("region", numbers(|file, _| file)),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, name == "note")),
    )
    .unwrap();
    let mut properties = WriterProperties::builder();
    for column in ["note", "region"] {
        properties = properties.set_column_statistics_enabled(ColumnPath::from(column), EnabledStatistics::None);
    }
    let path = server.path(format!("f{file}.parquet"));
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

/// Two manifests of four such files, and one in the tail. Their writer declared the bounds of `region`.
async fn server() -> Server {
    let server = Server::start(4).await;
    let table = json!({"schema_from": write(&server, 0), "properties": {"nan_counts": "unknown"}});
    server.create_table("t", table).await;
    for first in [0, 4, 8] {
        let file = |file: i64| {
            let region = json!({"min": file, "max": file, "null_count": 0});
            json!({"path": write(&server, file), "columns": {"region": region}})
        };
        let add: Vec<Value> = (first..FILES.min(first + 4)).map(file).collect();
        server.commit("t", json!({"operation": "append", "add": add})).await;
    }
    server
}

async fn ok(server: &Server, route: &str) -> Value {
    let (status, answer) = server.get(route).await;
    assert_eq!(status, 200, "{route} {answer}");
    answer
}

/// What each step of the way says, from the plan to its statistics.
struct Found {
    plan: Value,
    /// Of the first file that was kept.
    explained: Value,
    /// The manifest of that file.
    manifest: Value,
    /// The column.
    column: Value,
}

/// Goes the whole way, each step by what the one before says.
async fn find_out(server: &Server, filter: &str, column: &str) -> Found {
    let plan = server.plan("t", &json!({"filter": filter})).await;
    let path = plan["files"][0]["path"].clone();
    let snapshot = plan["snapshot_id"].clone();
    let explain = json!({"filter": filter, "path": path, "snapshot_id": snapshot});
    let (status, explained) = server.post(&format!("{TABLE}/explain"), &explain).await;
    assert_eq!(status, 200, "{explained}");
    assert_eq!((&explained["snapshot_id"], &explained["file_id"]), (&snapshot, &plan["files"][0]["file_id"]));
    let listed = ok(server, &format!("{TABLE}/manifests?snapshot_id={snapshot}")).await;
    let is_listed = |manifest: &Value| manifest["manifest_id"] == explained["manifest_id"];
    assert!(listed["manifests"].as_array().unwrap().iter().any(is_listed), "{listed}");
    let route = format!("{TABLE}/manifests/{}?snapshot_id={snapshot}", explained["manifest_id"]);
    let manifest = ok(server, &route).await;
    assert!(manifest["live_files"].as_array().unwrap().iter().any(|file| file["path"] == path), "{manifest}");
    let columns = ok(server, &format!("{TABLE}/columns?snapshot_id={snapshot}")).await;
    let is_of_name = |covered: &&Value| covered["name"] == column;
    let column = columns["columns"].as_array().unwrap().iter().find(is_of_name).unwrap().clone();
    Found { plan, explained, manifest, column }
}

impl Found {
    fn metrics(&self) -> &Value {
        &self.plan["metrics"]
    }

    fn conjunct(&self) -> &Value {
        &self.explained["conjuncts"][0]
    }

    fn sentence(&self) -> &str {
        self.conjunct()["sentence"].as_str().unwrap()
    }

    fn zone(&self, column: &str) -> &Value {
        &self.manifest["zones"][column]
    }
}

#[tokio::test]
async fn a_column_that_files_are_not_clustered_by_overlaps_everywhere() {
    let server = server().await;
    let found = find_out(&server, "customer = 505", "customer").await;
    let metrics = found.metrics();
    assert_eq!(
        (&metrics["manifests_pruned"], &metrics["files_pruned"], &metrics["files_kept"]),
        (&json!(0), &json!(0), &json!(9))
    );
    let conjunct = &metrics["conjuncts"][0];
    // Nothing is missing: the values lie everywhere.
    assert_eq!((&conjunct["prunable"], &conjunct["reason"]), (&json!(true), &Value::Null));
    assert_eq!(found.sentence(), "`customer = 505` may be true: `customer` runs from 0 to 990, it has no nulls");
    assert_eq!((&found.zone("customer")["min"], &found.zone("customer")["max"]), (&json!(0), &json!(993)));
    let overlap = &found.column["statistics"]["overlap"];
    assert_eq!(overlap["max"], 9, "{overlap}");
    assert!(overlap["mean"].as_f64().unwrap() > 4.0, "{overlap}");
}

#[tokio::test]
async fn a_column_that_files_are_clustered_by_prunes_and_does_not_overlap() {
    let server = server().await;
    let found = find_out(&server, "id = 505", "id").await;
    let metrics = found.metrics();
    assert_eq!((&metrics["manifests_pruned"], &metrics["files_kept"]), (&json!(1), &json!(1)));
    assert_eq!(found.sentence(), "`id = 505` may be true: `id` runs from 500 to 599, it has no nulls");
    assert_eq!((&found.zone("id")["min"], &found.zone("id")["max"]), (&json!(400), &json!(799)));
    assert_eq!(found.column["statistics"]["overlap"], json!({"mean": 1.0, "max": 1}));
}

#[tokio::test]
async fn a_column_without_statistics_is_named_by_each_step() {
    let server = server().await;
    let found = find_out(&server, "note = 'x'", "note").await;
    assert_eq!(found.metrics()["conjuncts"][0]["reason"], "no bounds or counts in 9 files");
    assert_eq!(found.sentence(), "`note = 'x'` may be true: the bounds of `note` are not known, it may have nulls");
    let zone = found.zone("note");
    assert_eq!(
        (&zone["min"], &zone["null_count"], &zone["without_values"]),
        (&Value::Null, &Value::Null, &json!(false))
    );
    assert_eq!(found.column["statistics"]["min"]["unknown"], json!({"files": 9, "share": 1.0}));
    let obstacle = &found.column["obstacles"][0];
    assert_eq!((&obstacle["reason"], &obstacle["example"]), (&json!("without_statistics"), &json!("note = 'x'")));
}

#[tokio::test]
async fn a_column_whose_nans_nobody_counted_is_named_by_each_step() {
    let server = server().await;
    let found = find_out(&server, "ratio > 5", "ratio").await;
    assert_eq!(found.metrics()["conjuncts"][0]["reason"], "NaN count unknown in 9 files");
    assert_eq!(
        found.sentence(),
        "`ratio > 5` may be true of NaNs alone: `ratio` runs from 0.01 to 1.0, it has no nulls, it may have NaNs"
    );
    let zone = found.zone("ratio");
    assert_eq!((&zone["max"], &zone["nan_count"]), (&json!(1.0), &Value::Null));
    assert_eq!(found.column["statistics"]["nan_count"]["unknown"]["files"], 9);
    assert_eq!(found.column["obstacles"][0]["reason"], "nan_count_unknown");
    // What it advises.
    let ieee = server.plan("t", &json!({"filter": "ratio > 5", "nan_order": "ieee"})).await;
    assert_eq!(ieee["metrics"]["files_kept"], 0);
}

#[tokio::test]
async fn a_column_that_is_declared_is_named_by_each_step() {
    let server = server().await;
    let found = find_out(&server, "region = 5", "region").await;
    let metrics = found.metrics();
    assert_eq!((&metrics["files_kept"], &metrics["files_pruned_as_declared"]), (&json!(1), &json!(8)));
    assert_eq!(found.sentence(), "`region = 5` is true on every row: every value of `region` is 5, it has no nulls");
    assert_eq!(found.conjunct()["statistics"]["region"]["provenance"]["min"], "declared");
    assert_eq!((&found.zone("region")["declared_files"], &found.zone("id")["declared_files"]), (&json!(4), &json!(0)));
    assert_eq!(found.column["statistics"]["min"]["provenance"]["declared"], 9);
}

#[tokio::test]
async fn a_file_of_the_tail_is_in_no_manifest() {
    let server = server().await;
    let plan = server.plan("t", &json!({"filter": "id = 850"})).await;
    let explain = json!({"filter": "id = 850", "path": plan["files"][0]["path"]});
    let (_, explained) = server.post(&format!("{TABLE}/explain"), &explain).await;
    assert_eq!((&explained["manifest_id"], &explained["file_id"]), (&Value::Null, &json!(9)));
    assert_eq!(ok(&server, &format!("{TABLE}/manifests")).await["tail"]["files"], 1);
}

#[tokio::test]
async fn what_a_snapshot_changed_is_listed_file_by_file() {
    let server = server().await;
    let remove = json!([server.path("f0.parquet"), server.path("f5.parquet")]);
    server.commit("t", json!({"operation": "delete", "remove": remove, "summary": {"why": "test"}})).await;
    assert_eq!(server.put(&format!("{TABLE}/tags/now"), &json!({"snapshot_id": 4})).await.0, 201);
    let mut snapshot = ok(&server, &format!("{TABLE}/snapshots/4")).await;
    assert!(snapshot["committed_at"].take().is_string() && snapshot["bytes"].take().is_u64());
    assert_eq!(
        snapshot,
        json!({
            "snapshot_id": 4, "parent": 3, "operation": "delete", "committed_at": null, "schema_id": 1, "added_files": 0,
            "removed_files": 2, "files": 7, "rows": 700, "files_of_unknown_rows": 0, "bytes": null, "tags": ["now"],
            "summary": {"why": "test"},
        })
    );
    let (from, to) = (&snapshot["parent"], &snapshot["snapshot_id"]);
    let changes = ok(&server, &format!("{TABLE}/changes?from={from}&to={to}")).await;
    assert_eq!(
        (changes["added"].as_array().unwrap().len(), crate::server::names_in(&changes["removed"])),
        (0, vec!["f0.parquet".to_owned(), "f5.parquet".to_owned()])
    );
    let changes = ok(&server, &format!("{TABLE}/changes?from=0&to=1")).await;
    assert_eq!(
        crate::server::names_in(&changes["added"]),
        ["f0", "f1", "f2", "f3"].map(|name| format!("{name}.parquet"))
    );
}
