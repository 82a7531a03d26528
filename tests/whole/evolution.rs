//! Tables whose names, order, properties and columns change, with files from before and after.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Decimal128Array, Float32Array, Int32Array, Int64Array, RecordBatch, StringArray,
    StructArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{Field, Schema};
use parquet::file::properties::EnabledStatistics;
use reqwest::Method;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, append, faults, names, names_in};

const TABLE: &str = "/v1/namespaces/n/tables/t";

/// A column of a file: its name, its field id (0: none), its values.
pub(crate) type FileColumn<'a> = (&'a str, i32, ArrayRef);

pub(crate) fn write(server: &Server, name: &str, columns: Vec<FileColumn<'_>>) -> String {
    let field = |(name, id, array): &FileColumn<'_>| {
        let field = Field::new(*name, array.data_type().clone(), true);
        match id {
            0 => field,
            id => field.with_metadata(HashMap::from([("PARQUET:field_id".to_owned(), id.to_string())])),
        }
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
    let path = server.path(name);
    std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
    rows::write(path.as_ref(), &RecordBatch::try_new(Arc::new(schema), arrays).unwrap(), EnabledStatistics::Chunk);
    path
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn body(fields: Value) -> Value {
    json!({"schema": {"fields": fields}})
}

/// A table of the integers `a` and `b`, whose manifests are made of two files.
async fn server() -> Server {
    let server = Server::start(2).await;
    server.create_table("t", body(json!([{"name": "a", "type": "int32"}, {"name": "b", "type": "int32"}]))).await;
    server
}

/// Appends files of `a` and `b`, each of one row.
async fn append_rows(server: &Server, rows: &[(&str, i32, i32)]) {
    let file = |(name, a, b): &(&str, i32, i32)| {
        write(server, &format!("{name}.parquet"), vec![("a", 0, ints([*a])), ("b", 0, ints([*b]))])
    };
    server.commit("t", append(rows.iter().map(file))).await;
}

async fn alter(server: &Server, changes: Value) -> Value {
    server.alter("t", &json!({"schema": changes})).await
}

async fn refused(server: &Server, body: Value) -> (u16, Vec<String>) {
    let (status, problem) = server.patch(TABLE, &body).await;
    let at = |fault: &Value| fault["at"].as_str().unwrap_or_default().to_owned();
    let places: Vec<String> = problem["faults"].as_array().unwrap().iter().map(at).collect();
    (status, places.into_iter().zip(faults(&problem)).map(|(at, fault)| format!("{at} {fault}")).collect())
}

async fn check(server: &Server, filter: &str, expected: &[&str]) {
    let plan = server.plan("t", &json!({"filter": filter})).await;
    let names: Vec<String> = names(&plan).iter().map(|name| name.trim_end_matches(".parquet").to_owned()).collect();
    assert_eq!(names, expected, "{filter}");
}

async fn check_at(server: &Server, snapshot_id: i64, filter: &str, expected: &[&str]) {
    let plan = server.plan("t", &json!({"filter": filter, "snapshot_id": snapshot_id})).await;
    let names: Vec<String> = names(&plan).iter().map(|name| name.trim_end_matches(".parquet").to_owned()).collect();
    assert_eq!(names, expected, "{filter} at {snapshot_id}");
}

/// What the files of a plan call their columns, by the names of the files.
async fn calls(server: &Server, body: Value) -> HashMap<String, Value> {
    let plan = server.plan("t", &body).await;
    let columns = plan["files"].as_array().unwrap().iter().map(|file| file["columns"].clone());
    let names = names_in(&plan["files"]).into_iter().map(|name| name.trim_end_matches(".parquet").to_owned());
    names.zip(columns).collect()
}

#[tokio::test]
async fn an_added_column_is_null_in_every_file_that_was_there() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    let table = alter(&server, json!([{"op": "add", "name": "c", "type": "int32", "after": "a"}])).await;
    let fields: Vec<&str> =
        table["schema"]["fields"].as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap()).collect();
    assert_eq!((&table["schema"]["schema_id"], fields), (&json!(2), vec!["a", "c", "b"]));
    // Two files are in a manifest, one is in the tail.
    check(&server, "c = 5", &[]).await;
    check(&server, "c IS NULL", &["1", "2", "3"]).await;
    let path = write(&server, "4.parquet", vec![("a", 0, ints([4])), ("c", 0, ints([5]))]);
    server.commit("t", append([path])).await;
    check(&server, "c = 5", &["4"]).await;
    check(&server, "c IS NULL", &["1", "2", "3"]).await;
    server.assert_sound().await;
}

#[tokio::test]
async fn an_added_column_with_a_default_is_that_in_every_file_that_was_there() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    let change = json!([{"op": "add", "name": "c", "type": "string", "nullable": false, "default": "x"}]);
    alter(&server, change).await;
    check(&server, "c = 'x' AND a > 1", &["2", "3"]).await;
    check(&server, "c <> 'x'", &[]).await;
    check(&server, "c IS NULL", &[]).await;
    let plan = server.plan("t", &json!({"filter": "c = 'x'"})).await;
    assert_eq!(plan["metrics"]["files_all"], 3);
    server.assert_sound().await;
}

#[tokio::test]
async fn a_plan_that_was_made_before_files_were_looked_into_is_not_remembered() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20)]).await;
    // No block says anything of the column when it is first asked for, in whichever order the two come.
    let (status, _) = server.patch(TABLE, &json!({"schema": [{"op": "add", "name": "c", "type": "int32"}]})).await;
    assert_eq!(status, 200);
    server.plan("t", &json!({"filter": "c = 5"})).await;
    server.alter("t", &json!({})).await;
    check(&server, "c = 5", &[]).await;
}

#[tokio::test]
async fn a_file_that_holds_a_column_that_came_later_is_not_taken_for_one_that_does_not() {
    let server = server().await;
    append_rows(&server, &[("plain", 1, 10)]).await;
    for (name, column) in [("name", ("c", 0)), ("case", ("C", 0)), ("id", ("z", 3)), ("other-id", ("c", 9))] {
        let columns = vec![("a", 0, ints([1])), (column.0, column.1, ints([5]))];
        server.commit("t", append([write(&server, &format!("{name}.parquet"), columns)])).await;
    }
    let nested = StructArray::from(vec![(Arc::new(Field::new("x", longs([1]).data_type().clone(), true)), longs([1]))]);
    let columns: Vec<FileColumn<'_>> = vec![("a", 0, ints([1])), ("c", 0, Arc::new(nested))];
    server.commit("t", append([write(&server, "nested.parquet", columns)])).await;
    alter(&server, json!([{"op": "add", "name": "c", "type": "int32"}])).await;
    for filter in ["c = 5", "c IS NULL"] {
        let mut expected = vec!["case", "id", "name", "nested", "other-id", "plain"];
        expected.retain(|name| filter == "c IS NULL" || *name != "plain");
        check(&server, filter, &expected).await;
    }
    server.assert_sound().await;
}

#[tokio::test]
async fn a_folder_that_goes_by_a_column_that_came_later_may_be_its_value() {
    let server = server().await;
    let path = write(&server, "c=7/f.parquet", vec![("a", 0, ints([1]))]);
    server.commit("t", append([path])).await;
    alter(&server, json!([{"op": "add", "name": "c", "type": "int32"}])).await;
    check(&server, "c = 7", &["f"]).await;
}

#[tokio::test]
async fn a_file_that_was_not_read_may_hold_a_column_that_came_later() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["x", "y", "z"], &[]).await;
    alter(&server, json!([{"op": "add", "name": "c", "type": "int64"}])).await;
    check(&server, "c = 5", &["x", "y", "z"]).await;
    let file = json!({"path": "w", "size_bytes": 7, "row_count": 1, "absent_columns": ["c"]});
    server.commit("t", json!({"operation": "append", "add": [file]})).await;
    check(&server, "c = 5", &["x", "y", "z"]).await;
    check(&server, "c IS NULL", &["w", "x", "y", "z"]).await;
    server.assert_sound().await;
}

#[tokio::test]
async fn a_file_that_was_not_read_calls_its_columns_as_the_table_did_then() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["x"], &[]).await;
    alter(&server, json!([{"op": "rename", "column": "id", "to": "key"}])).await;
    let columns = json!({"key": {"min": 1, "max": 1, "null_count": 0}});
    let file = json!({"path": "y", "size_bytes": 7, "row_count": 1, "columns": columns});
    server.commit("t", json!({"operation": "append", "add": [file]})).await;
    let called = calls(&server, json!({"filter": "key > 0"})).await;
    assert_eq!((&called["x"], &called["y"]), (&json!({"#1": "id"}), &Value::Null));
    // Another column of the old name is none that the file has.
    alter(&server, json!([{"op": "add", "name": "id", "type": "int64"}])).await;
    assert_eq!(calls(&server, json!({})).await["x"], json!({"#1": "id", "#2": null}));
    check(&server, "id = 5", &["x", "y"]).await;
}

#[tokio::test]
async fn a_renamed_column_keeps_all_that_was_known_of_it() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    alter(&server, json!([{"op": "rename", "column": "b", "to": "c"}])).await;
    check(&server, "c = 20", &["2"]).await;
    assert_eq!(calls(&server, json!({"filter": "c = 20"})).await["2"], json!({"#2": "b"}));
    let (status, problem) = server.post(&format!("{TABLE}/plan"), &json!({"filter": "b = 20"})).await;
    assert_eq!(status, 422, "{problem}");
    // A plan of what was before has the name of before.
    check_at(&server, 1, "b = 20", &["2"]).await;
    assert_eq!(calls(&server, json!({"snapshot_id": 1})).await["2"], Value::Null);
}

#[tokio::test]
async fn a_file_with_a_former_name_is_taken_by_its_id_or_refused() {
    let server = server().await;
    alter(&server, json!([{"op": "rename", "column": "b", "to": "c"}])).await;
    let with_id = write(&server, "id.parquet", vec![("a", 1, ints([1])), ("b", 2, ints([20]))]);
    server.commit("t", append([with_id])).await;
    check(&server, "c = 20", &["id"]).await;
    check(&server, "c IS NULL", &[]).await;
    assert_eq!(calls(&server, json!({})).await["id"], json!({"#2": "b"}));
    let without = write(&server, "without.parquet", vec![("a", 0, ints([1])), ("b", 0, ints([20]))]);
    let (status, problem) = server.try_commit("t", &append([without])).await;
    let message = "column `c`: the file has no such column, but `b`, its former name, without a field id";
    assert_eq!((status, faults(&problem)), (422, vec![format!("without.parquet: c: {message}")]));
    let (status, problem) = server
        .try_commit("t", &append([write(&server, "case.parquet", vec![("a", 0, ints([1])), ("B", 0, ints([2]))])]))
        .await;
    assert_eq!(status, 422, "{problem}");
}

#[tokio::test]
async fn former_names_of_structs_count() {
    let server = Server::start(2).await;
    let inner = json!({"type": "struct", "fields": [{"name": "x", "type": "int64"}]});
    server.create_table("t", body(json!([{"name": "a", "type": "int32"}, {"name": "s", "type": inner}]))).await;
    let file = |name: &str, outer: &str| {
        let array =
            StructArray::from(vec![(Arc::new(Field::new("x", longs([1]).data_type().clone(), true)), longs([7]))]);
        write(&server, name, vec![("a", 0, ints([1])), (outer, 0, Arc::new(array))])
    };
    server.commit("t", append([file("1.parquet", "s")])).await;
    alter(&server, json!([{"op": "rename", "column": "s", "to": "t"}])).await;
    check(&server, "t.x = 7", &["1"]).await;
    check(&server, "t.x = 8", &[]).await;
    assert_eq!(calls(&server, json!({})).await["1"], json!({"#3": "s.x"}));
    let (status, problem) = server.try_commit("t", &append([file("2.parquet", "s")])).await;
    assert_eq!(status, 422, "{problem}");
    server.commit("t", append([file("3.parquet", "t")])).await;
    check(&server, "t.x = 7", &["1", "3"]).await;
    // A column that comes into it later is looked for under all its names, too.
    alter(&server, json!([{"op": "add", "name": "t.y", "type": "int64", "default": 3}])).await;
    check(&server, "t.y = 4", &[]).await;
    check(&server, "t.y = 3", &["1", "3"]).await;
    check(&server, "t.y IS NULL", &["1", "3"]).await;
}

#[tokio::test]
async fn a_dropped_column_is_unknown_but_for_plans_of_before() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    alter(&server, json!([{"op": "drop", "column": "b"}])).await;
    let (status, _) = server.post(&format!("{TABLE}/plan"), &json!({"filter": "b = 20"})).await;
    assert_eq!(status, 422);
    check_at(&server, 1, "b = 20", &["2"]).await;
    check(&server, "a = 1", &["1"]).await;
}

#[tokio::test]
async fn a_name_that_is_added_again_is_another_column() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    alter(&server, json!([{"op": "drop", "column": "b"}])).await;
    let table = alter(&server, json!([{"op": "add", "name": "b", "type": "int32"}])).await;
    assert_eq!(table["schema"]["fields"][1]["id"], 3);
    // What the old column was says nothing, and nobody is told to read it.
    check(&server, "b = 99", &["1", "2", "3"]).await;
    assert_eq!(calls(&server, json!({})).await["1"], json!({"#3": null}));
    append_rows(&server, &[("4", 4, 40)]).await;
    check(&server, "b = 99", &["1", "2", "3"]).await;
    check(&server, "b = 40", &["1", "2", "3", "4"]).await;
    let path = write(&server, "5.parquet", vec![("a", 1, ints([1])), ("b", 2, ints([5]))]);
    let (status, problem) = server.try_commit("t", &append([path])).await;
    let message = "column `b`: the file's column of that name has the field id #2 instead of #3";
    assert_eq!((status, faults(&problem)), (422, vec![format!("5.parquet: b: {message}")]));
    server.assert_sound().await;
}

#[tokio::test]
async fn names_that_are_swapped_stay_with_their_columns() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    let swap = json!([{"op": "rename", "column": "a", "to": "t"}, {"op": "rename", "column": "b", "to": "a"},
        {"op": "rename", "column": "t", "to": "b"}]);
    alter(&server, swap).await;
    check(&server, "b = 2", &["2"]).await;
    check(&server, "a = 20", &["2"]).await;
    assert_eq!(calls(&server, json!({})).await["2"], json!({"#1": "a", "#2": "b"}));
    append_rows(&server, &[("4", 40, 4)]).await;
    check(&server, "b = 4", &["4"]).await;
    assert_eq!(calls(&server, json!({"filter": "b = 4"})).await["4"], Value::Null);
}

#[tokio::test]
async fn a_chain_of_renames_adds_and_widenings_mixes_up_nothing() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    alter(&server, json!([{"op": "rename", "column": "a", "to": "c"}])).await;
    alter(&server, json!([{"op": "add", "name": "a", "type": "int32"}])).await;
    let path = write(&server, "4.parquet", vec![("c", 0, ints([4])), ("b", 0, ints([40])), ("a", 0, ints([400]))]);
    server.commit("t", append([path])).await;
    alter(&server, json!([{"op": "widen", "column": "c", "type": "int64"}])).await;
    let wide = write(&server, "5.parquet", vec![("c", 0, longs([1 << 40])), ("a", 0, ints([500]))]);
    server.commit("t", append([wide])).await;
    check(&server, "c = 2", &["2"]).await;
    check(&server, "c > 4", &["5"]).await;
    check(&server, "c = 1099511627776", &["5"]).await;
    check(&server, "a = 500", &["1", "2", "3", "5"]).await;
    alter(&server, json!([{"op": "drop", "column": "a"}, {"op": "rename", "column": "c", "to": "a"}])).await;
    check(&server, "a = 2", &["2"]).await;
    check(&server, "a = 4", &["4"]).await;
    assert_eq!(calls(&server, json!({})).await["4"], json!({"#1": "c"}));
    check_at(&server, 1, "a = 2", &["2"]).await;
    check_at(&server, 2, "c = 4 AND a = 400", &["4"]).await;
    server.assert_sound().await;
}

#[tokio::test]
async fn a_column_is_not_given_a_name_that_files_have_for_something_else() {
    let server = server().await;
    let path = write(&server, "1.parquet", vec![("a", 0, ints([1])), ("z", 0, ints([10]))]);
    server.commit("t", append([path])).await;
    check(&server, "b IS NULL", &["1"]).await;
    let message =
        "files of the table do not hold the column, but another one of that name, which they would be read for";
    let rename = |to: &str| json!({"schema": [{"op": "make_nullable", "column": "a"}, {"op": "rename", "column": "b", "to": to}]});
    assert_eq!(refused(&server, rename("z")).await, (422, vec![format!("schema[1] z: {message}")]));
    assert_eq!(refused(&server, rename("Z")).await, (422, vec![format!("schema[1] Z: {message}")]));
    server.alter("t", &rename("y")).await;
}

/// Plans of the first snapshot, whose columns are narrower, each with the one file that it keeps.
async fn check_as_before(server: &Server, filters: impl Fn(i32) -> [String; 4]) {
    for number in 1..=3 {
        for filter in filters(number) {
            let filter = filter.replace("TIMESTAMP", "DATE").replace(" 00:00:00", "");
            check_at(server, 1, &filter, &[&number.to_string()]).await;
        }
    }
}

#[tokio::test]
async fn widened_columns_are_pruned_by_what_was_known_of_narrower_files() {
    let server = Server::start(2).await;
    let fields = json!([{"name": "i", "type": "int32"}, {"name": "f", "type": "float32"}, {"name": "m", "type": "decimal(9,2)"},
        {"name": "d", "type": "date"}, {"name": "k", "type": "int32"}]);
    server.create_table("t", body(fields)).await;
    let narrow = |number: i32| {
        let decimal = Decimal128Array::from(vec![i128::from(number) * 100]).with_precision_and_scale(9, 2).unwrap();
        write(
            &server,
            &format!("{number}.parquet"),
            vec![
                ("i", 0, ints([number])),
                ("f", 0, Arc::new(Float32Array::from(vec![number as f32 + 0.5]))),
                ("m", 0, Arc::new(decimal)),
                ("d", 0, Arc::new(Date32Array::from(vec![number]))),
            ],
        )
    };
    server.commit("t", append([narrow(1), narrow(2), narrow(3)])).await;
    let widen = |column: &str, to: &str| json!({"op": "widen", "column": column, "type": to});
    let changes =
        json!([widen("i", "int64"), widen("f", "float64"), widen("m", "decimal(30,2)"), widen("d", "timestamp(us)")]);
    alter(&server, changes).await;
    // Of the old files two are in a manifest and one is in the tail.
    let day = |number: i32| format!("d = TIMESTAMP '1970-01-0{} 00:00:00'", number + 1);
    let filters =
        |number: i32| [format!("i = {number}"), format!("f = {number}.5"), format!("m = {number}"), day(number)];
    for number in 1..=3 {
        for filter in filters(number) {
            check(&server, &filter, &[&number.to_string()]).await;
        }
    }
    check_as_before(&server, filters).await;
    let decimal = Decimal128Array::from(vec![10_i128.pow(20)]).with_precision_and_scale(30, 2).unwrap();
    let wide = write(
        &server,
        "wide.parquet",
        vec![
            ("i", 0, longs([1 << 40])),
            ("f", 0, Arc::new(arrow::array::Float64Array::from(vec![1e300]))),
            ("m", 0, Arc::new(decimal)),
            ("d", 0, Arc::new(TimestampMicrosecondArray::from(vec![86_400_000_000 * 9 + 1]))),
        ],
    );
    server.commit("t", append([wide, narrow(4)])).await;
    for filter in ["i > 4", "f BETWEEN 5 AND 1e301", "m > 4", "d > TIMESTAMP '1970-01-05 00:00:00'"] {
        check(&server, filter, &["wide"]).await;
    }
    // Now all are in manifests of the new types, and what is asked of before is of the old ones.
    server.post(&format!("{TABLE}/regroup"), &json!({"cluster_by": ["k"]})).await;
    check_as_before(&server, filters).await;
    let path = server.path("3.parquet");
    for filter in ["i = 3", "m = 3", "d = DATE '1970-01-04'"] {
        let body = json!({"path": path, "filter": filter, "snapshot_id": 1});
        let (status, explained) = server.post(&format!("{TABLE}/explain"), &body).await;
        assert_eq!((status, &explained["verdict"]), (200, &json!("all")), "{explained}");
    }
    check_at(&server, 1, "d < DATE '1970-01-02'", &[]).await;
    server.assert_sound().await;
}

#[tokio::test]
async fn files_that_are_narrower_than_the_table_register_and_wider_ones_are_refused_with_the_column() {
    let server = server().await;
    alter(&server, json!([{"op": "widen", "column": "a", "type": "int64"}])).await;
    append_rows(&server, &[("1", 1, 10)]).await;
    check(&server, "a = 1", &["1"]).await;
    let wide = write(&server, "2.parquet", vec![("a", 0, ints([1])), ("b", 0, longs([10]))]);
    let (status, problem) = server.try_commit("t", &append([wide])).await;
    let message = "column `b`: the file's type int64 does not convert to the table's int32; it would if the column were widened to \
                   int64 (`widen` in a PATCH of the table)";
    assert_eq!((status, faults(&problem)), (422, vec![format!("2.parquet: b: {message}")]));
}

#[tokio::test]
async fn a_date_that_files_have_partition_values_of_stays_a_date() {
    let server = Server::start(2).await;
    let fields = json!([{"name": "a", "type": "int32"}, {"name": "d", "type": "date"}, {"name": "e", "type": "date"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.path("")})).await;
    let path = write(&server, "d=1970-01-02/1.parquet", vec![("a", 0, ints([1]))]);
    server.commit("t", append([path])).await;
    let widen = |column: &str| json!({"schema": [{"op": "widen", "column": column, "type": "timestamp(us)"}]});
    let message = "files of the table have partition values of the column, and those cannot become timestamps";
    assert_eq!(refused(&server, widen("d")).await, (422, vec![format!("schema[0] d: {message}")]));
    server.alter("t", &widen("e")).await;
    check(&server, "d = DATE '1970-01-02'", &["1"]).await;
}

#[tokio::test]
async fn a_float_that_files_have_partition_values_of_stays_as_wide_as_it_is() {
    let server = Server::start(2).await;
    let fields =
        json!([{"name": "a", "type": "int32"}, {"name": "f", "type": "float32"}, {"name": "g", "type": "float32"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.path("")})).await;
    let path = write(&server, "f=0.1/1.parquet", vec![("a", 0, ints([1]))]);
    server.commit("t", append([path])).await;
    let widen = |column: &str| json!({"schema": [{"op": "widen", "column": column, "type": "float64"}]});
    let message = "files of the table have partition values of the column, and those cannot become wider floats";
    assert_eq!(refused(&server, widen("f")).await, (422, vec![format!("schema[0] f: {message}")]));
    server.alter("t", &widen("g")).await;
    check(&server, "f = 0.1", &["1"]).await;
}

#[tokio::test]
async fn a_folder_by_a_former_name_is_no_value_and_not_passed_over() {
    let server = Server::start(2).await;
    let fields = json!([{"name": "a", "type": "int32"}, {"name": "p", "type": "int32"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.path("")})).await;
    server.commit("t", append([write(&server, "p=1/1.parquet", vec![("a", 0, ints([1]))])])).await;
    alter(&server, json!([{"op": "rename", "column": "p", "to": "q"}])).await;
    check(&server, "q = 1", &["1"]).await;
    check(&server, "q = 2", &[]).await;
    let (status, problem) =
        server.try_commit("t", &append([write(&server, "p=2/2.parquet", vec![("a", 0, ints([1]))])])).await;
    assert_eq!((status, problem["faults"][0]["column"].as_str()), (422, Some("q")), "{problem}");
    server.commit("t", append([write(&server, "q=2/2.parquet", vec![("a", 0, ints([1]))])])).await;
    check(&server, "q = 2", &["2"]).await;
}

#[tokio::test]
async fn a_rollback_to_before_a_column_brings_back_files_that_are_looked_into() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    let gone: Vec<String> = (1..=3).map(|number| server.path(format!("{number}.parquet"))).collect();
    server.commit("t", json!({"operation": "delete", "remove": gone})).await;
    alter(&server, json!([{"op": "add", "name": "c", "type": "int32"}, {"op": "rename", "column": "b", "to": "z"}]))
        .await;
    let (status, answer) = server.post(&format!("{TABLE}/rollback"), &json!({"snapshot_id": 1})).await;
    assert_eq!(status, 201, "{answer}");
    server.alter("t", &json!({})).await;
    check(&server, "c = 5", &[]).await;
    check(&server, "c IS NULL", &["1", "2", "3"]).await;
    check(&server, "z = 20", &["2"]).await;
    server.assert_sound().await;
}

#[tokio::test]
async fn a_table_gets_another_name_and_stays_the_same_table() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10)]).await;
    server.post("/v1/namespaces", &json!({"name": "m"})).await;
    let before = server.get(TABLE).await.1;
    let (status, table) = server.patch(TABLE, &json!({"rename": "m.u"})).await;
    assert_eq!((status, &table["namespace"], &table["name"]), (200, &json!("m"), &json!("u")));
    assert_eq!((&table["table_id"], &table["files"]), (&before["table_id"], &json!(1)));
    assert_eq!(server.get(TABLE).await.0, 404);
    // What is kept of tables in memory is of the name that they had.
    let body = append([server.path("1.parquet")]);
    assert_eq!(server.try_commit("t", &body).await.0, 404);
    assert_eq!(server.post("/v1/namespaces/m/tables/u/commits", &body).await.0, 409);
    server.create_table("t", body_of_one_column()).await;
    server.commit("t", body).await;
    assert_eq!(server.get("/v1/namespaces/m/tables/u").await.1["current_snapshot"], 1);
}

fn body_of_one_column() -> Value {
    body(json!([{"name": "a", "type": "int32"}]))
}

#[tokio::test]
async fn a_name_that_is_taken_or_has_no_namespace_is_refused_with_all_else() {
    let server = server().await;
    server.create_table("u", body_of_one_column()).await;
    let with = |rename: &str| json!({"rename": rename, "properties": {"owner": "me"}, "schema": [{"op": "drop", "column": "b"}]});
    assert_eq!(server.patch(TABLE, &with("n.u")).await.0, 409);
    assert_eq!(server.patch(TABLE, &with("nowhere.u")).await.0, 404);
    assert_eq!(server.patch(TABLE, &with("u")).await.0, 422);
    let (_, table) = server.get(TABLE).await;
    assert_eq!((&table["properties"], &table["schema"]["schema_id"]), (&json!({}), &json!(1)));
    assert_eq!(server.patch("/v1/namespaces/n/tables/v", &json!({})).await.0, 404);
    assert_eq!(server.patch(TABLE, &json!({"rename": "n.t"})).await.0, 200);
}

#[tokio::test]
async fn properties_are_set_and_removed_and_act_on_the_next_commit() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10)]).await;
    let set = json!({"properties": {"verification": "declared", "owner": "me"}});
    let table = server.alter("t", &set).await;
    assert_eq!(table["properties"], set["properties"]);
    let unread = json!({"operation": "append", "add": [{"path": "/nowhere/f.parquet", "size_bytes": 3}]});
    server.commit("t", unread).await;
    let table = server.alter("t", &json!({"properties": {"verification": null, "absent": null}})).await;
    assert_eq!(table["properties"], json!({"owner": "me"}));
    let unread = json!({"operation": "append", "add": [{"path": "/nowhere/g.parquet", "size_bytes": 3}]});
    assert_eq!(server.try_commit("t", &unread).await.0, 422);
    let (status, faults) = refused(&server, json!({"properties": {"verification": "no"}, "cluster_by": ["z"]})).await;
    assert_eq!((status, faults.len()), (422, 2), "{faults:?}");
}

#[tokio::test]
async fn the_order_is_of_the_new_columns_and_loses_those_that_go() {
    let server = server().await;
    let table = server.alter("t", &json!({"cluster_by": ["b", "a"]})).await;
    assert_eq!(table["cluster_by"], json!(["b", "a"]));
    let table =
        alter(&server, json!([{"op": "rename", "column": "a", "to": "c"}, {"op": "drop", "column": "b"}])).await;
    assert_eq!(table["cluster_by"], json!(["c"]));
    let both = json!({"cluster_by": ["d"], "schema": [{"op": "add", "name": "d", "type": "date"}]});
    assert_eq!(server.alter("t", &both).await["cluster_by"], json!(["d"]));
}

#[tokio::test]
async fn every_fault_of_a_request_is_named() {
    let server = server().await;
    let changes = json!({"schema": [{"op": "drop", "column": "z"}, {"op": "widen", "column": "a", "type": "int8"}],
        "properties": {"nan_counts": "no"}});
    assert_eq!(
        refused(&server, changes).await,
        (
            422,
            vec![
                "schema[0] z: unknown column `z`".to_owned(),
                "schema[1] a: int32 does not widen to int8, which does not hold all its values in their order"
                    .to_owned(),
                "properties.nan_counts `no` is none of `background`, `at_commit`, `unknown`".to_owned(),
            ]
        )
    );
    assert_eq!(server.get(TABLE).await.1["schema"]["schema_id"], 1);
}

#[tokio::test]
async fn a_change_that_is_sent_again_is_made_once() {
    let server = server().await;
    let add = json!({"schema": [{"op": "add", "name": "c", "type": "int32"}]});
    let (first, replayed) = server.send_keyed(Method::PATCH, TABLE, "k", Some(&add)).await;
    assert_eq!((first.0, replayed), (200, false));
    assert_eq!(server.send_keyed(Method::PATCH, TABLE, "k", Some(&add)).await, (first, true));
    let other = json!({"schema": [{"op": "drop", "column": "c"}]});
    assert_eq!(server.send_keyed(Method::PATCH, TABLE, "k", Some(&other)).await.0.0, 422);
    assert_eq!(server.get(TABLE).await.1["schema"]["schema_id"], 2);
    // After a rename as well, though the name that it was sent to is no table's any more.
    let rename = json!({"rename": "n.u"});
    let (first, _) = server.send_keyed(Method::PATCH, TABLE, "l", Some(&rename)).await;
    assert_eq!(server.send_keyed(Method::PATCH, TABLE, "l", Some(&rename)).await, (first, true));
}

#[tokio::test]
async fn pages_of_a_plan_go_on_after_the_columns_changed() {
    let server = server().await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    let plan = json!({"filter": "b > 0", "page_size": 1});
    let (_, page) = server.post(&format!("{TABLE}/plan"), &plan).await;
    alter(&server, json!([{"op": "rename", "column": "b", "to": "c"}])).await;
    let next = json!({"filter": "b > 0", "page_size": 1, "page_token": page["next_page_token"]});
    let (status, page) = server.post(&format!("{TABLE}/plan"), &next).await;
    assert_eq!((status, names_in(&page["files"])), (200, vec!["2.parquet".to_owned()]), "{page}");
    assert_eq!(page["schema"]["schema_id"], 1);
}

#[tokio::test]
async fn strings_that_came_late_are_known_beside_their_neighbours() {
    // Files from before and after the column share manifests, however they are grouped.
    let server = Server::start(4).await;
    server.create_table("t", body(json!([{"name": "a", "type": "int32"}, {"name": "b", "type": "int32"}]))).await;
    append_rows(&server, &[("1", 1, 10), ("2", 2, 20), ("3", 3, 30)]).await;
    alter(&server, json!([{"op": "add", "name": "s", "type": "string"}])).await;
    let file = |number: i32| {
        let text = Arc::new(StringArray::from(vec![format!("s{number}")]));
        write(&server, &format!("{number}.parquet"), vec![("a", 0, ints([number])), ("s", 0, text)])
    };
    server.commit("t", append((4..=9).map(file))).await;
    check(&server, "s = 's4'", &["4"]).await;
    check(&server, "s IS NULL", &["1", "2", "3"]).await;
    server.post(&format!("{TABLE}/regroup"), &json!({"cluster_by": ["b"]})).await;
    check(&server, "s = 's4'", &["4"]).await;
    check(&server, "s IS NULL", &["1", "2", "3"]).await;
    server.assert_sound().await;
}
