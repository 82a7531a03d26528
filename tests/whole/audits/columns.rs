//! Audits of files that were registered before columns were renamed, dropped, added or widened.

use std::sync::Arc;

use arrow::array::{ArrayRef, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array, ListArray, StringArray};
use arrow::datatypes::Int32Type;
use serde_json::{Value, json};

use super::{audit, column, found};
use crate::evolution::write;
use crate::server::{Server, append, names};

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

/// A table of these columns with manifests of two files.
async fn table(fields: Value, properties: Value) -> Server {
    let server = Server::start(2).await;
    let location = server.path("");
    server
        .create_table("t", json!({"schema": {"fields": fields}, "properties": properties, "location": location}))
        .await;
    server
}

fn a_and_b() -> Value {
    json!([{"name": "a", "type": "int32"}, {"name": "b", "type": "int32"}])
}

/// Registers a file of the columns `a`, 1 and 2, and `b`, 10 and 20, and three more to make manifests.
async fn with_files(server: &Server) -> String {
    let file = |name: &str| write(server, name, vec![("a", 0, ints([1, 2])), ("b", 0, ints([10, 20]))]);
    let paths = ["1.parquet", "2.parquet", "3.parquet"].map(file);
    server.commit("t", append(&paths)).await;
    paths[0].clone()
}

/// Audits in both ways, with repair, and expects nothing to be found.
async fn sound(server: &Server) -> Value {
    for mode in ["footer", "scan"] {
        let audit = audit(server, json!({"mode": mode, "repair": true})).await;
        assert_eq!(found(&audit), Vec::<String>::new(), "{mode}");
    }
    server.assert_sound().await;
    audit(server, json!({"mode": "scan"})).await
}

async fn planned(server: &Server, filter: &str) -> Vec<String> {
    names(&server.plan("t", &json!({"filter": filter})).await)
}

#[tokio::test]
async fn a_renamed_column_is_found_by_its_former_name() {
    let server = table(a_and_b(), json!({})).await;
    let path = with_files(&server).await;
    server.alter("t", &json!({"schema": [{"op": "rename", "column": "b", "to": "c"}]})).await;
    sound(&server).await;
    let c = column(&server, &path, "c").await;
    assert_eq!((&c["min"], &c["max"], &c["min_precision"]), (&json!(10), &json!(20), &json!("exact")));
}

#[tokio::test]
async fn names_that_were_swapped_are_found_where_they_were() {
    let server = table(a_and_b(), json!({})).await;
    let path = with_files(&server).await;
    for (from, to) in [("a", "x"), ("b", "a"), ("x", "b")] {
        server.alter("t", &json!({"schema": [{"op": "rename", "column": from, "to": to}]})).await;
    }
    sound(&server).await;
    assert_eq!(column(&server, &path, "a").await["min"], 10);
    assert_eq!(planned(&server, "b = 2").await.len(), 3);
}

#[tokio::test]
async fn a_column_that_was_dropped_and_added_again_is_not_taken_for_the_old_one() {
    let server = table(a_and_b(), json!({})).await;
    let path = with_files(&server).await;
    server.alter("t", &json!({"schema": [{"op": "drop", "column": "b"}]})).await;
    server.alter("t", &json!({"schema": [{"op": "add", "name": "b", "type": "int32"}]})).await;
    sound(&server).await;
    assert!(column(&server, &path, "b").await["min"].is_null());
    assert_eq!(planned(&server, "b IS NULL").await.len(), 3);
}

#[tokio::test]
async fn a_column_that_files_held_before_the_table_stays_unknown() {
    let server = table(json!([{"name": "a", "type": "int32"}]), json!({})).await;
    let path = with_files(&server).await;
    server.alter("t", &json!({"schema": [{"op": "add", "name": "b", "type": "int32"}]})).await;
    sound(&server).await;
    assert!(column(&server, &path, "b").await["min"].is_null());
    // It would be another column's once this one is renamed and its name is given away.
    server.alter("t", &json!({"schema": [{"op": "rename", "column": "b", "to": "c"}]})).await;
    server.alter("t", &json!({"schema": [{"op": "add", "name": "b", "type": "int32"}]})).await;
    sound(&server).await;
    for filter in ["b = 30", "b IS NULL", "c = 30", "c IS NULL"] {
        assert_eq!(planned(&server, filter).await.len(), 3, "{filter}");
    }
}

#[tokio::test]
async fn a_folder_by_the_name_of_a_late_column_may_be_its_value() {
    let server = table(a_and_b(), json!({})).await;
    let path = write(&server, "k=1/f.parquet", vec![("a", 0, ints([1])), ("b", 0, ints([2]))]);
    server.commit("t", append([&path])).await;
    server.alter("t", &json!({"schema": [{"op": "add", "name": "k", "type": "string"}]})).await;
    sound(&server).await;
    assert_eq!(planned(&server, "k = '1'").await, ["f.parquet"]);
}

#[tokio::test]
async fn constants_and_defaults_are_not_refuted_by_files_without_the_column() {
    for verification in ["footer", "declared"] {
        let fields = json!([{"name": "a", "type": "int32"}, {"name": "day", "type": "date"}]);
        let server = table(fields, json!({"verification": verification})).await;
        let path = write(&server, "day=2024-01-31/f.parquet", vec![("a", 0, ints([1, 2]))]);
        let size_bytes = std::fs::metadata(&path).unwrap().len();
        let add = json!([{"path": path, "size_bytes": size_bytes, "row_count": 2}]);
        server.commit("t", json!({"operation": "append", "add": add})).await;
        server.alter("t", &json!({"schema": [{"op": "add", "name": "d", "type": "int32", "default": 7}]})).await;
        sound(&server).await;
        assert_eq!(planned(&server, "day = DATE '2024-01-31' AND d = 7").await, ["f.parquet"], "{verification}");
        assert_eq!(planned(&server, "day = DATE '2024-02-01'").await.len(), 0, "{verification}");
        assert_eq!(column(&server, &path, "day").await["provenance"]["min"], "constant");
    }
}

#[tokio::test]
async fn the_values_of_a_column_count_more_than_the_folder_of_a_file_that_holds_it() {
    let fields = json!([{"name": "a", "type": "int32"}, {"name": "k", "type": "int32"}]);
    let server = table(fields, json!({"verification": "declared"})).await;
    let path = write(&server, "k=7/f.parquet", vec![("a", 0, ints([1, 2])), ("k", 0, ints([7, 9]))]);
    let size_bytes = std::fs::metadata(&path).unwrap().len();
    let add = json!([{"path": path, "size_bytes": size_bytes}]);
    server.commit("t", json!({"operation": "append", "add": add})).await;
    assert_eq!(planned(&server, "k = 9").await.len(), 0);
    let audit = audit(&server, json!({"mode": "footer", "repair": true})).await;
    assert_eq!(planned(&server, "k = 9").await, ["f.parquet"], "{audit}");
}

#[tokio::test]
async fn statistics_in_a_narrower_type_than_the_columns_are_held_against_the_file_in_the_wider() {
    let fields =
        json!([{"name": "i", "type": "int32"}, {"name": "f", "type": "float32"}, {"name": "d", "type": "date"}]);
    let server = table(fields, json!({})).await;
    let columns = || -> Vec<(&str, i32, ArrayRef)> {
        vec![
            ("i", 0, ints([1, 2])),
            ("f", 0, Arc::new(Float32Array::from(vec![0.1, f32::NAN]))),
            ("d", 0, Arc::new(Date32Array::from(vec![19_000, 19_001]))),
        ]
    };
    let paths: Vec<String> = (0..3).map(|file| write(&server, &format!("{file}.parquet"), columns())).collect();
    server.commit("t", append(&paths)).await;
    let widen = [("i", "int64"), ("f", "float64"), ("d", "timestamp")];
    let widen: Vec<Value> =
        widen.iter().map(|(column, to)| json!({"op": "widen", "column": column, "type": to})).collect();
    server.alter("t", &json!({"schema": widen})).await;
    sound(&server).await;
    let (f, d) = (column(&server, &paths[0], "f").await, column(&server, &paths[0], "d").await);
    assert_eq!((&f["min"], &f["nan_count"]), (&json!(f64::from(0.1_f32)), &json!(1)));
    assert_eq!((&d["min"], &d["min_precision"]), (&json!("2022-01-08T00:00:00.000000"), &json!("exact")));
    assert_eq!(planned(&server, "d = TIMESTAMP '2022-01-09 00:00:00'").await.len(), 3);
}

#[tokio::test]
async fn lists_and_structs_are_no_obstacle() {
    let list = json!({"type": "list", "element": "int32"});
    let inner = json!({"type": "struct", "fields": [{"name": "x", "type": "float64"}]});
    let fields = json!([{"name": "a", "type": "int64"}, {"name": "l", "type": list}, {"name": "s", "type": inner}]);
    let server = table(fields, json!({})).await;
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None]);
    let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(f64::NAN), None]));
    let x_field = Arc::new(arrow::datatypes::Field::new("x", arrow::datatypes::DataType::Float64, true));
    let structs = arrow::array::StructArray::from(vec![(x_field, x)]);
    let columns: Vec<(&str, i32, ArrayRef)> =
        vec![("a", 0, Arc::new(Int64Array::from(vec![1, 2]))), ("l", 0, Arc::new(lists)), ("s", 0, Arc::new(structs))];
    let path = write(&server, "f.parquet", columns);
    server.commit("t", append([&path])).await;
    sound(&server).await;
    let x = column(&server, &path, "s.x").await;
    assert_eq!((&x["nan_count"], &x["null_count"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_leaf_of_another_type_than_a_late_column_keeps_the_others_from_nothing() {
    let server = table(json!([{"name": "a", "type": "int32"}]), json!({})).await;
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let path = write(&server, "f.parquet", vec![("a", 0, ints([1, 2])), ("b", 0, text)]);
    server.commit("t", append([&path])).await;
    server.alter("t", &json!({"schema": [{"op": "add", "name": "b", "type": "int32"}]})).await;
    let audit = audit(&server, json!({"mode": "scan", "repair": true})).await;
    assert_eq!(found(&audit), Vec::<String>::new());
    assert_eq!(column(&server, &path, "a").await["min_precision"], "exact");
}
