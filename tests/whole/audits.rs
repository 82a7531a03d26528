//! Audits: what was registered is held against the files, and mended.

mod background;
mod columns;
mod concurrency;
mod corners;
mod requests;

use std::time::Duration;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, append, names};

const AUDITS: &str = "/v1/namespaces/n/tables/t/audits";

/// Begins an audit and waits for its end.
async fn audit(server: &Server, request: Value) -> Value {
    let (status, begun) = server.post(AUDITS, &request).await;
    assert_eq!((status, &begun["state"]), (202, &json!("running")), "{begun}");
    let audit = end(server, &begun).await;
    assert_eq!(audit["state"], "done", "{audit}");
    audit
}

/// Waits for the end of an audit, whichever that is.
async fn end(server: &Server, begun: &Value) -> Value {
    let route = format!("{AUDITS}/{}", begun["audit_id"]);
    loop {
        let (status, audit) = server.get(&route).await;
        assert_eq!(status, 200, "{audit}");
        if audit["state"] != "running" {
            return audit;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What an audit has found: kind, file, column and statistic of each.
fn found(audit: &Value) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().map(str::to_owned);
    let line = |finding: &Value| {
        let path = text(finding, "path").unwrap();
        let name = path.rsplit('/').next().unwrap().to_owned();
        let parts = [text(finding, "kind"), Some(name), text(finding, "column"), text(finding, "statistic")];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    audit["found"].as_array().unwrap().iter().map(line).collect()
}

async fn column(server: &Server, path: &str, column: &str) -> Value {
    let (status, file) = server.get(&format!("/v1/namespaces/n/tables/t/files?path={path}")).await;
    assert_eq!(status, 200, "{file}");
    file["columns"][column].clone()
}

/// Ten rows from `first` on; `x` is NaN in the first.
fn batch(first: i64) -> RecordBatch {
    let x = (0..10_u8).map(|row| if row == 0 { f64::NAN } else { f64::from(row) });
    let columns: [(&str, ArrayRef); 2] = [
        ("id", std::sync::Arc::new(Int64Array::from_iter_values(first..first + 10))),
        ("x", std::sync::Arc::new(Float64Array::from_iter_values(x))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

fn write(server: &Server, name: &str, first: i64, statistics: EnabledStatistics) -> String {
    let path = server.path(name);
    rows::write(path.as_ref(), &batch(first), statistics);
    path
}

async fn table(server: &Server, properties: Value) {
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "x", "type": "float64"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "properties": properties})).await;
}

/// A file of which nothing is known but what is declared.
fn declared(path: &str, columns: &Value) -> Value {
    let size_bytes = std::fs::metadata(path).unwrap().len();
    let file = json!({"path": path, "size_bytes": size_bytes, "row_count": 10, "columns": columns});
    json!({"operation": "append", "add": [file]})
}

#[tokio::test]
async fn files_that_are_as_they_were_are_nothing_to_tell_of() {
    let server = Server::start(2).await;
    table(&server, json!({})).await;
    let paths: Vec<String> =
        (0..5).map(|file| write(&server, &format!("{file}.parquet"), file * 10, EnabledStatistics::Chunk)).collect();
    server.commit("t", append(&paths)).await;
    for mode in ["footer", "scan"] {
        let audit = audit(&server, json!({"mode": mode})).await;
        assert_eq!((found(&audit), &audit["files_checked"]), (vec![], &json!(5)));
        assert_eq!((&audit["findings"], &audit["statistics_repaired"]), (&json!(0), &json!(0)));
    }
}

#[tokio::test]
async fn files_that_are_gone_or_others_are_found() {
    let server = Server::start(2).await;
    table(&server, json!({})).await;
    let names = ["gone", "other", "cut", "same"];
    let paths: Vec<String> =
        names.map(|name| write(&server, &format!("{name}.parquet"), 0, EnabledStatistics::Chunk)).into();
    server.commit("t", append(&paths)).await;
    std::fs::remove_file(&paths[0]).unwrap();
    rows::write(paths[1].as_ref(), &rows::batch(1, 500), EnabledStatistics::Chunk);
    std::fs::write(&paths[2], b"PAR1").unwrap();
    let audit = audit(&server, json!({"mode": "footer", "repair": true})).await;
    assert_eq!(found(&audit), ["missing gone.parquet", "changed other.parquet size_bytes", "unreadable cut.parquet"]);
    assert_eq!(
        ["files_missing", "files_changed", "files_unreadable", "statistics_repaired"].map(|key| audit[key].as_u64()),
        [Some(1), Some(1), Some(1), Some(0)]
    );
}

/// What a lie of the writer comes to under `declared`, and what an audit makes of it.
#[tokio::test]
async fn lies_that_were_believed_are_found_and_mended() {
    let server = Server::start(2).await;
    table(&server, json!({"verification": "declared"})).await;
    let lies = [
        ("min", json!({"id": {"min": 12, "max": 29, "null_count": 0}})),
        ("max", json!({"id": {"min": 0, "max": 15}})),
        ("null_count", json!({"id": {"null_count": 3}})),
        ("nan_count", json!({"x": {"nan_count": 0}})),
    ];
    let mut paths = Vec::new();
    for (name, columns) in &lies {
        let path = write(&server, &format!("{name}.parquet"), 10, EnabledStatistics::Chunk);
        server.commit("t", declared(&path, columns)).await;
        paths.push(path);
    }
    // A row that the lie hides.
    let hidden = json!({"filter": "id = 10"});
    assert!(!names(&server.plan("t", &hidden).await).contains(&"min.parquet".to_owned()));
    let found_by_footer = audit(&server, json!({"mode": "footer"})).await;
    assert_eq!(found(&found_by_footer), ["refuted null_count.parquet id null_count"]);
    let found_by_data = audit(&server, json!({"mode": "scan", "repair": true})).await;
    assert_eq!(
        found(&found_by_data),
        [
            "refuted min.parquet id min",
            "refuted max.parquet id max",
            "refuted null_count.parquet id null_count",
            "refuted nan_count.parquet x nan_count",
        ]
    );
    assert_eq!(found_by_data["found"][0]["claim"], "12");
    assert_eq!(found_by_data["found"][0]["evidence"], "the data holds 10");
    assert_eq!(found_by_data["statistics_repaired"], 8);
    let snapshot = server.plan("t", &hidden).await;
    assert_eq!(names(&snapshot).len(), 4, "{snapshot}");
    for path in &paths {
        let (id, x) = (column(&server, path, "id").await, column(&server, path, "x").await);
        assert_eq!(
            (&id["min"], &id["min_precision"], &id["provenance"]["min"]),
            (&json!(10), &json!("exact"), &json!("scanned"))
        );
        assert_eq!((&x["nan_count"], &x["max"]), (&json!(1), &json!(9.0)));
    }
    assert_eq!(found(&audit(&server, json!({"mode": "scan"})).await), Vec::<String>::new());
}

#[tokio::test]
async fn a_repair_changes_no_snapshot_and_shows_in_the_next_plan() {
    let server = Server::start(2).await;
    table(&server, json!({})).await;
    let paths: Vec<String> =
        (0..5).map(|file| write(&server, &format!("{file}.parquet"), file * 10, EnabledStatistics::None)).collect();
    server.commit("t", append(&paths)).await;
    let filter = json!({"filter": "id = 25"});
    assert_eq!(names(&server.plan("t", &filter).await).len(), 5);
    let (_, mut before) = server.get("/v1/namespaces/n/tables/t").await;
    audit(&server, json!({"mode": "scan", "repair": true})).await;
    assert_eq!(names(&server.plan("t", &filter).await), ["2.parquet"]);
    assert_eq!(names(&server.plan("t", &json!({"filter": "id = 25", "snapshot_id": 1})).await), ["2.parquet"]);
    let (_, mut after) = server.get("/v1/namespaces/n/tables/t").await;
    let generation = |table: &mut Value| table["statistics_generation"].take().as_u64();
    assert!(generation(&mut after) > generation(&mut before));
    assert_eq!(before, after);
}

#[tokio::test]
async fn what_an_audit_of_footers_repairs_is_never_looser() {
    let server = Server::start(2).await;
    table(&server, json!({"verification": "scan"})).await;
    let path = write(&server, "a.parquet", 0, EnabledStatistics::Chunk);
    server.commit("t", append([&path])).await;
    let before = (column(&server, &path, "id").await, column(&server, &path, "x").await);
    let audit = audit(&server, json!({"mode": "footer", "repair": true})).await;
    assert_eq!(audit["statistics_repaired"], 0);
    assert_eq!(before, (column(&server, &path, "id").await, column(&server, &path, "x").await));
}

#[tokio::test]
async fn a_sample_looks_at_a_share_of_the_files() {
    let server = Server::start(64).await;
    table(&server, json!({"verification": "declared"})).await;
    let file = |number: u32| json!({"path": format!("/nowhere/{number}"), "size_bytes": 1});
    let files: Vec<Value> = (0..200).map(file).collect();
    server.commit("t", json!({"operation": "append", "add": files})).await;
    let audit = audit(&server, json!({"mode": "footer", "sample": 0.25})).await;
    let missing = audit["files_missing"].as_u64().unwrap();
    assert!((20..80).contains(&missing), "{missing}");
    assert_eq!(audit["files_checked"], missing);
    for sample in [json!(0), json!(1.5), json!(-1)] {
        assert_eq!(server.post(AUDITS, &json!({"mode": "footer", "sample": sample})).await.0, 422, "{sample}");
    }
    assert_eq!(server.post(AUDITS, &json!({"mode": "all"})).await.0, 400);
}
