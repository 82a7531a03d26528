//! What lists and maps hold: bounds of their items, which prune tests of what is in them.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Int64Array, Int64Builder, ListArray, ListBuilder, MapBuilder, RecordBatch, StringBuilder,
    StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Int64Type};
use parquet::data_type::Int64Type as ParquetInt64;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::rows::{self, Numbers};
use crate::server::{Server, append, faults, names};

/// A row: lists of integers and of strings, a map, and a list in a struct.
#[derive(Clone, Debug, Default)]
struct Row {
    ints: Option<Vec<Option<i64>>>,
    tags: Option<Vec<Option<String>>>,
    scores: Option<BTreeMap<String, Option<i64>>>,
    /// `None`: the struct is null.
    inner: Option<Option<Vec<Option<i64>>>>,
}

const ROWS: usize = 150;

/// Rows of file number `file`, whose values are around ten times that number. Some files hold nothing but empty and null lists.
fn rows_of(file: u64) -> Vec<Row> {
    let numbers = &mut Numbers(file);
    let value = |numbers: &mut Numbers| i64::try_from(file * 10 + numbers.below(12)).unwrap();
    let some = |numbers: &mut Numbers| file % 7 != 3 && numbers.below(6) > 0;
    let row = |_| {
        let list = |numbers: &mut Numbers| -> Option<Vec<Option<i64>>> {
            if numbers.below(8) == 0 {
                return None;
            }
            let len = if some(numbers) { numbers.below(4) } else { 0 };
            Some((0..len).map(|_| (numbers.below(9) > 0).then(|| value(numbers))).collect())
        };
        let ints = list(numbers);
        let tags =
            list(numbers).map(|list| list.into_iter().map(|item| item.map(|item| format!("t{item:04}"))).collect());
        let scores = list(numbers)
            .map(|list| list.into_iter().flatten().map(|item| (format!("k{item:04}"), Some(item))).collect());
        Row { ints, tags, scores, inner: (numbers.below(5) > 0).then(|| list(numbers)) }
    };
    (0..ROWS).map(row).collect()
}

fn int_lists<'r>(lists: impl Iterator<Item = Option<&'r Vec<Option<i64>>>>) -> ListArray {
    ListArray::from_iter_primitive::<Int64Type, _, _>(lists.map(|list| list.cloned()))
}

fn batch(rows: &[Row]) -> RecordBatch {
    let mut tags = ListBuilder::new(StringBuilder::new());
    let mut scores = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for row in rows {
        match &row.tags {
            Some(list) => tags.append_value(list.iter().map(Option::as_deref)),
            None => tags.append_null(),
        }
        for (key, score) in row.scores.iter().flatten() {
            scores.keys().append_value(key);
            scores.values().append_option(*score);
        }
        scores.append(row.scores.is_some()).unwrap();
    }
    let inner = int_lists(rows.iter().map(|row| row.inner.as_ref().and_then(Option::as_ref)));
    let of_struct = Field::new("ints", inner.data_type().clone(), true);
    let is_there = NullBuffer::from_iter(rows.iter().map(|row| row.inner.is_some()));
    let structs = StructArray::new(vec![of_struct].into(), vec![Arc::new(inner)], Some(is_there));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("ints", Arc::new(int_lists(rows.iter().map(|row| row.ints.as_ref())))),
        ("tags", Arc::new(tags.finish())),
        ("scores", Arc::new(scores.finish())),
        ("s", Arc::new(structs)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

/// What a filter is on a row.
type Meets = Box<dyn Fn(&Row) -> Option<bool>>;

struct Case {
    filter: String,
    meets: Meets,
}

fn holds<T: PartialEq>(list: Option<&Vec<Option<T>>>, value: &T) -> Option<bool> {
    list.map(|list| list.iter().flatten().any(|item| item == value))
}

/// Tests of each column for a value, their negations and their conjunctions.
fn cases(value: i64) -> Vec<Case> {
    let case = |filter: String, meets: Meets| Case { filter, meets };
    let (tag, key) = (format!("t{value:04}"), format!("k{value:04}"));
    let (for_any, for_values, for_not) = (tag.clone(), key.clone(), tag.clone());
    vec![
        case(format!("array_has(ints, {value})"), Box::new(move |row| holds(row.ints.as_ref(), &value))),
        case(format!("'{tag}' = ANY(tags)"), Box::new(move |row| holds(row.tags.as_ref(), &for_any))),
        case(
            format!("map_contains_key(scores, '{key}')"),
            Box::new(move |row| row.scores.as_ref().map(|scores| scores.contains_key(&for_values))),
        ),
        case(
            format!("map_contains_value(scores, {value})"),
            Box::new(move |row| row.scores.as_ref().map(|scores| scores.values().any(|score| *score == Some(value)))),
        ),
        case(
            format!("list_contains(s.ints, {value})"),
            Box::new(move |row| holds(row.inner.as_ref().and_then(Option::as_ref), &value)),
        ),
        case(
            format!("array_has(ints, {value}) AND array_has(ints, {})", value + 1),
            Box::new(move |row| Some(holds(row.ints.as_ref(), &value)? && holds(row.ints.as_ref(), &(value + 1))?)),
        ),
        case(
            format!("NOT array_has(tags, '{tag}')"),
            Box::new(move |row| holds(row.tags.as_ref(), &for_not).map(|held| !held)),
        ),
    ]
}

/// Files of lists in several commits, so that some are in manifests and some in the tail. Every sixth has no statistics.
async fn table(server: &Server, files: u64) -> Vec<(String, Vec<Row>)> {
    let mut all = Vec::new();
    for file in 0..files {
        let path = server.path(format!("f{file:02}.parquet"));
        let statistics = if file % 6 == 5 { EnabledStatistics::None } else { EnabledStatistics::Chunk };
        let rows = rows_of(file);
        rows::write(path.as_ref(), &batch(&rows), statistics);
        all.push((path, rows));
    }
    server.create_table("t", json!({"schema_from": all[0].0})).await;
    for chunk in all.chunks(5) {
        server.commit("t", append(chunk.iter().map(|(path, _)| path))).await;
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn no_file_with_a_list_that_holds_the_value_is_skipped() {
    let server = Server::start(4).await;
    let files = table(&server, 22).await;
    let (mut pruned, mut kept_in_vain) = (0, 0);
    for value in (0..230).step_by(13) {
        for Case { filter, meets } in cases(value) {
            let plan = server.plan("t", &json!({"filter": filter})).await;
            let kept = names(&plan);
            for (path, rows) in &files {
                let is_kept = kept.contains(&path.rsplit('/').next().unwrap().to_owned());
                let matches = rows.iter().any(|row| meets(row) == Some(true));
                assert!(is_kept || !matches, "{filter} holds of a row of {path}");
                pruned += usize::from(!is_kept);
                kept_in_vain += usize::from(is_kept && !matches);
            }
            for file in plan["files"].as_array().unwrap() {
                assert_eq!(file["verdict"], "some", "{filter}: rows may be null");
            }
        }
    }
    // Of each file that has bounds nearly all that can be pruned is; the rest is what has none.
    assert!(pruned > 1_200 && kept_in_vain < pruned, "{pruned} pruned, {kept_in_vain} kept in vain");
}

#[tokio::test]
async fn items_are_shown_with_their_bounds_and_no_counts() {
    let server = Server::start(4).await;
    let files = table(&server, 2).await;
    let (path, rows) = &files[1];
    let (_, file) = server.get(&format!("/v1/namespaces/n/tables/t/files?path={path}")).await;
    let values: Vec<i64> = rows.iter().flat_map(|row| row.ints.iter().flatten().flatten()).copied().collect();
    let ints = &file["columns"]["ints.element"];
    assert_eq!((&ints["min"], &ints["max"]), (&json!(values.iter().min()), &json!(values.iter().max())));
    assert_eq!(
        (&ints["min_precision"], &ints["null_count"], &ints["nan_count"]),
        (&json!("bound"), &Value::Null, &Value::Null)
    );
    let keys: Vec<&String> = file["columns"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ints.element", "s.ints.element", "scores.key", "scores.value", "tags.element"]);
    let (_, coverage) = server.get("/v1/namespaces/n/tables/t/columns").await;
    let names: Vec<(&str, &str)> = coverage["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| (column["name"].as_str().unwrap(), column["type"].as_str().unwrap()))
        .collect();
    let expected = [
        ("ints", "list"),
        ("ints.element", "int64"),
        ("tags", "list"),
        ("tags.element", "string"),
        ("scores", "map"),
        ("scores.key", "string"),
        ("scores.value", "int64"),
        ("s", "struct"),
        ("s.ints", "list"),
        ("s.ints.element", "int64"),
    ];
    assert_eq!(names, expected);
    let statistics = &coverage["columns"][1]["statistics"];
    assert_eq!((&statistics["min"]["bound"]["files"], statistics.get("null_count")), (&json!(2), None));
}

#[tokio::test]
async fn a_filter_that_misses_bounds_of_items_is_told_of_at_these() {
    let server = Server::start(4).await;
    table(&server, 6).await;
    server.plan("t", &json!({"filter": "array_has(ints, 999)"})).await;
    let (_, coverage) = server.get("/v1/namespaces/n/tables/t/columns").await;
    for column in coverage["columns"].as_array().unwrap() {
        let reasons: Vec<&Value> = column["obstacles"].as_array().unwrap().iter().map(|met| &met["reason"]).collect();
        let expected = if column["name"] == "ints.element" { vec!["without_statistics"] } else { vec![] };
        assert_eq!(reasons, expected, "{column}");
    }
}

#[tokio::test]
async fn an_item_is_no_column_of_a_filter() {
    let server = Server::start(4).await;
    table(&server, 1).await;
    let (status, problem) = server.post("/v1/namespaces/n/tables/t/plan", &json!({"filter": "ints.element = 1"})).await;
    assert_eq!((status, faults(&problem).len()), (422, 1));
    assert!(faults(&problem)[0].contains("unknown column `ints.element`"), "{problem}");
}

#[tokio::test]
async fn a_table_from_before_items_had_bounds_keeps_its_files() {
    let server = Server::start(2).await;
    let path = server.path("old.parquet");
    rows::write(path.as_ref(), &batch(&rows_of(0)), EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path})).await;
    // Such a table's schema names no items among the columns that carry statistics.
    let store = rusqlite::Connection::open(server.store().join("prunus.db")).unwrap();
    assert_eq!(store.execute("DELETE FROM schema_column", []).unwrap(), 5);
    let filter = json!({"filter": "array_has(ints, 999)"});
    server.commit("t", append([&path])).await;
    assert_eq!(names(&server.plan("t", &filter).await), Vec::<String>::new());
    let second = server.path("second.parquet");
    rows::write(second.as_ref(), &batch(&rows_of(1)), EnabledStatistics::Chunk);
    server.commit("t", append([&second])).await;
    // Once they are in a manifest nothing is known of them any more.
    let plan = server.plan("t", &filter).await;
    assert_eq!(names(&plan), ["old.parquet", "second.parquet"]);
    assert_eq!(plan["metrics"]["manifests_considered"], 1);
    let (_, coverage) = server.get("/v1/namespaces/n/tables/t/columns").await;
    assert_eq!(coverage["columns"][1]["statistics"]["min"]["unknown"]["files"], 2);
}

#[tokio::test]
async fn a_file_is_explained_by_the_bounds_of_items() {
    let server = Server::start(4).await;
    let files = table(&server, 1).await;
    let body = json!({"path": files[0].0, "filter": "array_has(ints, 999)"});
    let (status, explained) = server.post("/v1/namespaces/n/tables/t/explain", &body).await;
    assert_eq!((status, &explained["verdict"]), (200, &json!("none")), "{explained}");
    let conjunct = &explained["conjuncts"][0];
    assert!(conjunct["statistics"]["ints.element"]["max"].is_i64(), "{explained}");
    let sentence = conjunct["sentence"].as_str().unwrap();
    assert!(sentence.contains("`ints.element` runs from 0 to 11"), "{sentence}");
}

fn struct_lists(rows: &[&[(i64, i64)]]) -> ArrayRef {
    let column = |pick: fn(&(i64, i64)) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().copied().flatten().map(pick)))
    };
    let field = |name: &str| Arc::new(Field::new(name, DataType::Int64, true));
    let items = StructArray::from(vec![(field("a"), column(|pair| pair.0)), (field("b"), column(|pair| pair.1))]);
    let element = Arc::new(Field::new("element", items.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.len()));
    Arc::new(ListArray::new(element, offsets, Arc::new(items), None))
}

#[tokio::test]
async fn parts_of_structs_in_lists_have_bounds_of_their_own() {
    let server = Server::start(4).await;
    let path = server.path("a.parquet");
    let lists = struct_lists(&[&[(1, 50), (9, 40)], &[], &[(5, 60)]]);
    let batch = RecordBatch::try_from_iter_with_nullable([("l", lists, true)]).unwrap();
    rows::write(path.as_ref(), &batch, EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path})).await;
    server.commit("t", append([&path])).await;
    let (_, file) = server.get(&format!("/v1/namespaces/n/tables/t/files?path={path}")).await;
    let bounds = |name: &str| [file["columns"][name]["min"].as_i64(), file["columns"][name]["max"].as_i64()];
    assert_eq!((bounds("l.element.a"), bounds("l.element.b")), ([Some(1), Some(9)], [Some(40), Some(60)]));
    let plan = server.plan("t", &json!({"filter": "array_has(l, 5)"})).await;
    assert_eq!((names(&plan).len(), &plan["metrics"]["conjuncts"][0]["prunable"]), (1, &json!(false)));
}

/// Writes one leaf of 64-bit integers with the levels of its values.
fn write_levels(path: &str, message: &str, values: &[i64], definition: &[i16], repetition: &[i16]) {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    let mut row_group = writer.next_row_group().unwrap();
    let mut column = row_group.next_column().unwrap().unwrap();
    column.typed::<ParquetInt64>().write_batch(values, Some(definition), Some(repetition)).unwrap();
    column.close().unwrap();
    row_group.close().unwrap();
    writer.close().unwrap();
}

#[tokio::test]
async fn lists_of_older_forms_prune_too() {
    let server = Server::start(2).await;
    let fields = json!([{"name": "l", "type": {"type": "list", "element": "int64"}}]);
    server.create_table("t", json!({"schema": {"fields": fields}})).await;
    let [two_levels, bare, nulls] = ["two.parquet", "bare.parquet", "nulls.parquet"].map(|name| server.path(name));
    // Rows: [1, 5], null, []; then [7], [], [9]; then null, null.
    let message = "message m { optional group l (LIST) { repeated int64 array; } }";
    write_levels(&two_levels, message, &[1, 5], &[2, 2, 0, 1], &[0, 1, 0, 0]);
    write_levels(&bare, "message m { repeated int64 l; }", &[7, 9], &[1, 0, 1], &[0, 0, 0]);
    write_levels(&nulls, message, &[], &[0, 0], &[0, 0]);
    server.commit("t", append([two_levels, bare, nulls])).await;
    for (value, expected) in [
        (5, ["nulls.parquet", "two.parquet"].to_vec()),
        (8, vec!["bare.parquet", "nulls.parquet"]),
        (6, vec!["nulls.parquet"]),
    ] {
        // No count proves that a list holds nothing.
        assert_eq!(names(&server.plan("t", &json!({"filter": format!("array_has(l, {value})")})).await), expected);
    }
}

#[tokio::test]
async fn a_file_without_the_list_holds_no_element() {
    let server = Server::start(2).await;
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "l", "type": {"type": "list", "element": "int64"}}]);
    server.create_table("t", json!({"schema": {"fields": fields}})).await;
    let ids = || -> ArrayRef { Arc::new(Int64Array::from(vec![1, 2])) };
    let list = || -> ArrayRef { Arc::new(int_lists([Some(&vec![Some(1)]), None].into_iter())) };
    let write = |name: &str, columns: Vec<(&str, ArrayRef)>| {
        let path = server.path(name);
        let columns = columns.into_iter().map(|(name, array)| (name, array, true));
        rows::write(
            path.as_ref(),
            &RecordBatch::try_from_iter_with_nullable(columns).unwrap(),
            EnabledStatistics::Chunk,
        );
        path
    };
    let paths = [
        write("without.parquet", vec![("id", ids())]),
        write("with.parquet", vec![("id", ids()), ("l", list())]),
        write("respelled.parquet", vec![("id", ids()), ("L", list())]),
        write("single.parquet", vec![("id", ids()), ("l", ids())]),
    ];
    server.commit("t", append(&paths)).await;
    for (filter, expected) in [
        ("array_has(l, 1)", vec!["respelled.parquet", "single.parquet", "with.parquet"]),
        ("array_has(l, 2)", vec!["respelled.parquet", "single.parquet"]),
        ("array_has(l, 1) IS UNKNOWN", vec!["respelled.parquet", "single.parquet", "with.parquet", "without.parquet"]),
        ("array_has(l, 2) IS NOT TRUE", vec!["respelled.parquet", "single.parquet", "with.parquet", "without.parquet"]),
    ] {
        assert_eq!(names(&server.plan("t", &json!({"filter": filter})).await), expected, "{filter}");
    }
    let (_, file) = server.get(&format!("/v1/namespaces/n/tables/t/files?path={}", paths[0])).await;
    assert_eq!(file["absent_columns"], json!(["l.element"]));
}

#[tokio::test]
async fn items_may_be_declared_but_not_their_counts() {
    let server = Server::start(2).await;
    let fields = json!([
        {"name": "l", "type": {"type": "list", "element": "float64"}},
        {"name": "m", "type": {"type": "map", "key": "string", "value": "int64"}},
    ]);
    server.create_table("t", json!({"schema": {"fields": fields}, "properties": {"verification": "declared"}})).await;
    let file = |name: &str, columns: Value| json!({"path": format!("s3://nowhere/{name}"), "size_bytes": 1, "row_count": 2, "columns": columns});
    let mut gone = file("gone", json!({}));
    gone["absent_columns"] = json!(["l.element"]);
    let add = json!([
        file(
            "a",
            json!({"l.element": {"min": 1, "max": 5, "null_count": 2, "nan_count": 9}, "m.key": {"min": "a", "max": "c"}})
        ),
        file("b", json!({"l.element": {"min": 6, "max": 9}, "m.value": {"min": 1, "max": 1}})),
        gone,
    ]);
    let answer = server.commit("t", json!({"operation": "append", "add": add})).await;
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["warnings"][0]["column"], "l.element");
    for (filter, expected) in [
        ("array_has(l, 7.5)", vec!["b"]),
        ("array_has(l, 1) OR map_contains_value(m, 1)", vec!["a", "b", "gone"]),
        ("map_contains_key(m, 'd')", vec!["b", "gone"]),
        ("map_contains_value(m, 2)", vec!["a", "gone"]),
    ] {
        assert_eq!(names(&server.plan("t", &json!({"filter": filter})).await), expected, "{filter}");
    }
    let lies = json!({"operation": "append", "add": [
        file("c", json!({"l": {"min": 1}, "m.element": {"min": 1}, "l.element": {"min": "x"}})),
    ]});
    let (status, problem) = server.try_commit("t", &lies).await;
    let expected = [
        "c: l: column `l` is nested; what is in it is named like `l.element`".to_owned(),
        "c: l.element: min is not a value of type float64".to_owned(),
        "c: m.element: unknown column `m.element`, did you mean `l.element`?".to_owned(),
    ];
    assert_eq!((status, faults(&problem)), (422, expected.to_vec()));
}

#[tokio::test]
async fn a_file_that_holds_the_list_by_a_former_name_may_hold_the_element() {
    let server = Server::start(2).await;
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1)])]);
    let columns: Vec<(&str, ArrayRef)> = vec![("id", Arc::new(Int64Array::from(vec![1]))), ("l", Arc::new(list))];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    let path = server.path("a.parquet");
    rows::write(path.as_ref(), &batch.unwrap(), EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path})).await;
    let rename = json!({"schema": [{"op": "rename", "column": "l", "to": "m"}]});
    assert_eq!(server.patch("/v1/namespaces/n/tables/t", &rename).await.0, 200);
    server.commit("t", append([&path])).await;
    for filter in ["array_has(m, 1)", "array_has(m, 2)"] {
        assert_eq!(names(&server.plan("t", &json!({"filter": filter})).await), ["a.parquet"], "{filter}");
    }
}

#[tokio::test]
async fn elements_that_are_read_have_exact_bounds_of_their_own() {
    let server = Server::start(2).await;
    let rows = rows_of(4);
    let path = server.path("a.parquet");
    rows::write(path.as_ref(), &batch(&rows), EnabledStatistics::None);
    let body = json!({"schema_from": path, "properties": {"verification": "scan", "statistics.tags.element": "none"}});
    server.create_table("t", body).await;
    server.commit("t", append([&path])).await;
    let values = || rows.iter().filter_map(|row| row.ints.as_ref()).flatten().flatten();
    let (_, file) = server.get(&format!("/v1/namespaces/n/tables/t/files?path={path}")).await;
    let element = &file["columns"]["ints.element"];
    assert_eq!((&element["min"], &element["max"]), (&json!(values().min()), &json!(values().max())));
    assert_eq!((&element["min_precision"], &element["provenance"]["max"]), (&json!("exact"), &json!("scanned")));
    assert!(element["null_count"].is_null());
    assert!(file["columns"].get("tags.element").is_none(), "{file}");
    for (filter, expected) in [
        ("array_has(ints, 39)", &[][..]),
        ("array_has(ints, 40)", &["a.parquet"]),
        ("array_has(tags, 'a')", &["a.parquet"]),
    ] {
        assert_eq!(names(&server.plan("t", &json!({"filter": filter})).await), expected, "{filter}");
    }
}
