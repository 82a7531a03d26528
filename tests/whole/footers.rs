//! What is taken from footers: columns by id and name, absent ones, types that widen.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Float64Array, Int32Array, Int64Array, NullArray, RecordBatch, StructArray};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, append, faults, names};

fn write(server: &Server, name: &str, columns: Vec<(Field, ArrayRef)>) -> String {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let path = server.path(name);
    rows::write(path.as_ref(), &batch, EnabledStatistics::Chunk);
    path
}

fn with_id(field: Field, id: i32) -> Field {
    field.with_metadata(HashMap::from([("PARQUET:field_id".to_owned(), id.to_string())]))
}

fn int64(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

fn values(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn fields(fields: Value) -> Value {
    json!({"schema": {"fields": fields}})
}

#[tokio::test]
async fn field_ids_of_the_file_are_kept() {
    let server = Server::start(4).await;
    let path = write(&server, "f.parquet", vec![(with_id(int64("a"), 7), values([1])), (int64("b"), values([2]))]);
    let table = server.create_table("t", json!({"schema_from": path})).await;
    let ids: Vec<_> = table["schema"]["fields"].as_array().unwrap().iter().map(|field| field["id"].clone()).collect();
    assert_eq!(ids, [7, 8]);
    server.commit("t", append([path])).await;
}

#[tokio::test]
async fn a_column_that_the_file_does_not_hold_is_known_to_be_null() {
    let server = Server::start(4).await;
    let old = write(&server, "old.parquet", vec![(int64("a"), values([1, 2]))]);
    let new = write(&server, "new.parquet", vec![(int64("a"), values([1])), (int64("b"), values([5]))]);
    let columns = json!([{"name": "a", "type": "int64"}, {"name": "b", "type": "int64"}, {"name": "c", "type": "int64", "default": 9}]);
    server.create_table("t", fields(columns)).await;
    server.commit("t", append([old, new])).await;
    for (filter, expected) in [
        ("b = 5", vec!["new.parquet"]),
        ("b IS NULL", vec!["old.parquet"]),
        ("b IS NOT NULL", vec!["new.parquet"]),
        ("c = 9", vec!["new.parquet", "old.parquet"]),
        ("c <> 9", vec![]),
        ("c IS NULL", vec![]),
    ] {
        assert_eq!(names(&server.plan("t", &json!({"filter": filter})).await), expected, "{filter}");
    }
}

#[tokio::test]
async fn columns_whose_id_and_name_disagree_are_refused() {
    let server = Server::start(4).await;
    server
        .create_table(
            "t",
            fields(json!([{"id": 1, "name": "a", "type": "int64"}, {"id": 2, "name": "b", "type": "int64"}])),
        )
        .await;
    for (name, columns) in [
        ("swapped", vec![with_id(int64("a"), 2), with_id(int64("b"), 1)]),
        ("renamed", vec![with_id(int64("z"), 1)]),
        ("other-id", vec![with_id(int64("a"), 5)]),
        ("case", vec![int64("A")]),
    ] {
        let columns = columns.into_iter().map(|field| (field, values([1]))).collect();
        let path = write(&server, &format!("{name}.parquet"), columns);
        let (status, problem) = server.try_commit("t", &append([path])).await;
        assert_eq!(status, 422, "{name}: {problem}");
        assert!(faults(&problem)[0].starts_with(&format!("{name}.parquet: a: ")), "{problem}");
    }
}

#[tokio::test]
async fn narrower_files_widen_and_wider_ones_are_refused() {
    let server = Server::start(4).await;
    let narrow = write(
        &server,
        "narrow.parquet",
        vec![(Field::new("a", DataType::Int32, true), Arc::new(Int32Array::from(vec![1, 9])))],
    );
    let wide = write(
        &server,
        "wide.parquet",
        vec![(Field::new("a", DataType::Float64, true), Arc::new(Float64Array::from(vec![1.0])))],
    );
    server.create_table("t", fields(json!([{"name": "a", "type": "int64"}]))).await;
    server.commit("t", append([narrow])).await;
    assert_eq!(names(&server.plan("t", &json!({"filter": "a > 9"})).await), Vec::<String>::new());
    let (status, problem) = server.try_commit("t", &append([wide])).await;
    assert_eq!(status, 422);
    let faults = faults(&problem);
    assert!(faults[0].contains("float64") && faults[0].contains("int64"), "{faults:?}");
}

#[tokio::test]
async fn leaves_of_structs_prune() {
    let server = Server::start(4).await;
    let paths: Vec<String> = (0..3)
        .map(|file| {
            let inner: ArrayRef = values([file * 10, file * 10 + 5]);
            let array = StructArray::from(vec![(Arc::new(int64("x.y")), inner)]);
            let field = Field::new("s", array.data_type().clone(), true);
            write(&server, &format!("f{file}.parquet"), vec![(field, Arc::new(array))])
        })
        .collect();
    server.create_table("t", json!({"schema_from": paths[0]})).await;
    server.commit("t", append(&paths)).await;
    assert_eq!(names(&server.plan("t", &json!({"filter": "s.\"x.y\" = 15"})).await), ["f1.parquet"]);
    let plan = server.plan("t", &json!({"filter": "s IS NULL"})).await;
    assert_eq!(names(&plan).len(), 3);
    assert_eq!(plan["metrics"]["conjuncts"][0]["prunable"], false);
}

#[tokio::test]
async fn a_file_must_hold_what_the_table_requires_and_something_of_it_at_all() {
    let server = Server::start(4).await;
    let columns = json!([{"name": "a", "type": "int64"}, {"name": "r", "type": "int64", "nullable": false}, {"name": "p", "type": "int64"}]);
    server.create_table("t", fields(columns)).await;
    let lacking = write(&server, "lacking.parquet", vec![(int64("a"), values([1]))]);
    let foreign = write(&server, "foreign.parquet", vec![(int64("z"), values([1]))]);
    let (status, problem) = server.try_commit("t", &append([&lacking, &foreign])).await;
    let required = "the file does not hold the column, which may not be null and has no default";
    assert_eq!(
        (status, faults(&problem)),
        (
            422,
            vec![
                format!("lacking.parquet: r: {required}"),
                format!("foreign.parquet: r: {required}"),
                "foreign.parquet: the file holds none of the table's columns".to_owned(),
            ]
        )
    );
    let whole = json!({"operation": "append", "add": [{"path": lacking, "partition": {"r": 5}}]});
    server.commit("t", whole).await;
}

#[tokio::test]
async fn a_column_of_nothing_but_nulls_has_no_type_to_make_a_table_with_and_goes_with_any() {
    let server = Server::start(4).await;
    let null = |name: &str| (Field::new(name, DataType::Null, true), Arc::new(NullArray::new(3)) as ArrayRef);
    let untyped = write(&server, "untyped.parquet", vec![(int64("id"), values(0..3)), null("note"), null("other")]);
    let create = json!({"name": "t", "schema_from": untyped});
    server.post("/v1/namespaces", &json!({"name": "n"})).await;
    let (status, problem) = server.post("/v1/namespaces/n/tables", &create).await;
    let fault = |column: &str| {
        let message = format!(
            "column `{column}` has no type in this file: all of it is null; name a file that has one, or give the schema"
        );
        json!({"path": untyped, "column": column, "at": "schema_from", "evidence": "null", "message": message})
    };
    assert_eq!((status, &problem["faults"]), (422, &json!([fault("note"), fault("other")])));
    let fields =
        json!([{"name": "id", "type": "int64"}, {"name": "note", "type": "string"}, {"name": "other", "type": "date"}]);
    server.create_table("t", json!({"schema": {"fields": fields}})).await;
    server.commit("t", append([&untyped])).await;
    assert_eq!(names(&server.plan("t", &json!({"filter": "note = 'x'"})).await), Vec::<String>::new());
    assert_eq!(names(&server.plan("t", &json!({"filter": "note IS NULL"})).await), ["untyped.parquet"]);
}
