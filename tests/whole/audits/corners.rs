//! Audits of what is odd: wrong and unknown counts of rows, columns of which nothing is kept, no columns at all, many lies.

use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use super::{AUDITS, audit, column, declared, found, table, write};
use crate::server::{Server, append, names};

async fn planned(server: &Server, filter: &str) -> usize {
    names(&server.plan("t", &json!({"filter": filter})).await).len()
}

/// A file that says that some rows are null is not taken for one in which all are.
#[tokio::test]
async fn counts_are_not_held_against_a_wrong_number_of_rows() {
    for mode in ["footer", "scan"] {
        let server = Server::start(2).await;
        table(&server, json!({"verification": "declared", "statistics.id": "counts", "statistics.x": "counts"})).await;
        let path = server.path("f.parquet");
        let ids = arrow::array::Int64Array::from(vec![Some(1), Some(2), None, None]);
        let x = arrow::array::Float64Array::from(vec![1.0, 2.0, f64::NAN, f64::NAN]);
        let columns: [(&str, arrow::array::ArrayRef); 2] =
            [("id", std::sync::Arc::new(ids)), ("x", std::sync::Arc::new(x))];
        let batch = arrow::array::RecordBatch::try_from_iter(columns).unwrap();
        crate::rows::write(path.as_ref(), &batch, EnabledStatistics::Chunk);
        let size_bytes = std::fs::metadata(&path).unwrap().len();
        let add = json!([{"path": path, "size_bytes": size_bytes, "row_count": 2}]);
        server.commit("t", json!({"operation": "append", "add": add})).await;
        let audit = audit(&server, json!({"mode": mode, "repair": true})).await;
        assert_eq!(found(&audit), ["refuted f.parquet row_count"]);
        assert_eq!((planned(&server, "id = 1").await, planned(&server, "x < 5").await), (1, 1), "{mode}");
    }
}

#[tokio::test]
async fn a_file_of_unknown_rows_is_read_like_others() {
    let server = Server::start(2).await;
    table(&server, json!({"verification": "declared"})).await;
    let path = write(&server, "f.parquet", 10, EnabledStatistics::None);
    let size_bytes = std::fs::metadata(&path).unwrap().len();
    let add = json!([{"path": path, "size_bytes": size_bytes}]);
    server.commit("t", json!({"operation": "append", "add": add})).await;
    let audit = audit(&server, json!({"mode": "scan", "repair": true})).await;
    assert_eq!((found(&audit), &audit["statistics_repaired"]), (vec![], &json!(2)));
    let id = column(&server, &path, "id").await;
    assert_eq!((&id["min"], &id["max"], &id["null_count"]), (&json!(10), &json!(19), &json!(0)));
    assert_eq!((planned(&server, "id = 15").await, planned(&server, "id = 20").await), (1, 0));
}

#[tokio::test]
async fn of_columns_of_which_nothing_is_kept_nothing_is_stored() {
    let server = Server::start(2).await;
    table(&server, json!({"statistics.id": "none", "statistics.x": "counts"})).await;
    let path = write(&server, "f.parquet", 10, EnabledStatistics::Chunk);
    server.commit("t", append([&path])).await;
    let audit = audit(&server, json!({"mode": "scan", "repair": true})).await;
    assert_eq!(found(&audit), Vec::<String>::new());
    let (id, x) = (column(&server, &path, "id").await, column(&server, &path, "x").await);
    assert!(id["min"].is_null() && id["null_count"].is_null(), "{id}");
    assert!(x["min"].is_null() && x["nan_count"] == 1, "{x}");
}

#[tokio::test]
async fn a_table_without_files_is_done_at_once() {
    let server = Server::start(2).await;
    table(&server, json!({})).await;
    let audit = audit(&server, json!({"mode": "scan", "repair": true})).await;
    assert_eq!((&audit["files"], &audit["files_checked"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn two_hundred_lies_are_found_and_mended_at_once() {
    const FILES: i64 = 200;
    let server = Server::start(64).await;
    table(&server, json!({"verification": "declared"})).await;
    let file = |number: i64| {
        let path = write(&server, &format!("{number}.parquet"), number * 10, EnabledStatistics::Chunk);
        let lie = number * 10 + 5;
        declared(&path, &json!({"id": {"min": lie, "max": lie, "null_count": 0}}))["add"][0].clone()
    };
    let add: Vec<Value> = (0..FILES).map(file).collect();
    server.commit("t", json!({"operation": "append", "add": add})).await;
    assert_eq!(planned(&server, "id = 1000").await, 0);
    let audit = audit(&server, json!({"mode": "scan", "repair": true})).await;
    assert_eq!((&audit["statistics_refuted"], &audit["statistics_repaired"]), (&json!(400), &json!(400)));
    for id in [0, 9, 1000, 1234, 1999] {
        assert_eq!(planned(&server, &format!("id = {id}")).await, 1, "{id}");
    }
    server.assert_sound().await;
}

#[tokio::test]
async fn a_snapshot_that_expires_takes_its_audit_to_what_is_left() {
    let server = Server::start(2).await;
    table(&server, json!({})).await;
    let paths: Vec<String> =
        (0..6).map(|file| write(&server, &format!("{file}.parquet"), file * 10, EnabledStatistics::Chunk)).collect();
    server.commit("t", append(&paths)).await;
    let (status, begun) = server.post(AUDITS, &json!({"mode": "scan", "repair": true})).await;
    assert_eq!(status, 202);
    server.commit("t", json!({"operation": "delete", "remove": paths[..3]})).await;
    let expire = json!({"keep_last": 1, "dry_run": false});
    assert_eq!(server.post("/v1/namespaces/n/tables/t/expire", &expire).await.0, 200);
    let ended = super::end(&server, &begun).await;
    assert_eq!((&ended["state"], found(&ended)), (&json!("done"), vec![]));
    server.assert_sound().await;
}
