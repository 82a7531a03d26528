//! The report of how much is known of each column, and of the filters that met what is not.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, Int64Builder, ListBuilder, RecordBatch, StructArray};
use arrow::datatypes::{DataType, Field};
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::clock::SetClock;
use crate::rows;
use crate::server::{Server, append};

const COLUMNS: &str = "/v1/namespaces/n/tables/t/columns";

async fn coverage(server: &Server, query: &str) -> Value {
    let (status, coverage) = server.get(&format!("{COLUMNS}{query}")).await;
    assert_eq!(status, 200, "{coverage}");
    coverage
}

fn column<'c>(coverage: &'c Value, name: &str) -> &'c Value {
    let columns = coverage["columns"].as_array().unwrap();
    columns.iter().find(|column| column["name"] == name).unwrap_or_else(|| panic!("{name} in {coverage}"))
}

/// The number of files at each of these places of a column's statistics.
fn files<const N: usize>(coverage: &Value, name: &str, places: [&str; N]) -> [u64; N] {
    let statistics = &column(coverage, name)["statistics"];
    places.map(|place| {
        let found = &statistics.pointer(place).unwrap_or_else(|| panic!("{place} in {statistics}"));
        found.get("files").unwrap_or(found).as_u64().unwrap()
    })
}

fn write(server: &Server, name: &str, columns: Vec<(&str, ArrayRef)>, statistics: EnabledStatistics) -> String {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    let path = server.path(name);
    rows::write(path.as_ref(), &RecordBatch::try_from_iter_with_nullable(columns).unwrap(), statistics);
    path
}

fn ids(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn floats(values: &[Option<f64>]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

/// Four files, two of them in a manifest: one with statistics, one without, one of nulls alone, one whose NaNs are declared and
/// that has neither `later` nor `day`.
async fn four_kinds(server: &Server) {
    let fields = json!([
        {"name": "id", "type": "int64"}, {"name": "x", "type": "float64"}, {"name": "later", "type": "int64"},
        {"name": "day", "type": "date"},
    ]);
    server.create_table("t", json!({"schema": {"fields": fields}, "location": server.path("")})).await;
    let (known, unknown) = (EnabledStatistics::Chunk, EnabledStatistics::None);
    let values = floats(&[Some(1.0), Some(2.0)]);
    let with =
        write(server, "a.parquet", vec![("id", ids([0, 10])), ("x", values.clone()), ("later", ids([1, 1]))], known);
    let without =
        write(server, "b.parquet", vec![("id", ids([5, 6])), ("x", values.clone()), ("later", ids([1, 1]))], unknown);
    server.commit("t", append([with, without])).await;
    let of_nulls: ArrayRef = Arc::new(Int64Array::from(vec![None, None]));
    let columns = vec![("id", of_nulls), ("x", floats(&[None, None])), ("later", ids([2, 3]))];
    let nulls = write(server, "c.parquet", columns, known);
    let declared = write(server, "d.parquet", vec![("id", ids([10, 20])), ("x", values)], known);
    let add = json!([
        {"path": nulls},
        {"path": declared, "columns": {"x": {"nan_count": 0}}, "partition": {"day": "2026-01-01"}},
    ]);
    server.commit("t", json!({"operation": "append", "add": add})).await;
}

const SIDES: [&str; 6] =
    ["/without_values", "/absent", "/min/exact", "/min/bound", "/min/unknown", "/min/provenance/footer"];

#[tokio::test]
async fn each_file_counts_by_what_is_known_of_it() {
    let server = Server::start(2).await;
    four_kinds(&server).await;
    let coverage = coverage(&server, "").await;
    assert_eq!((&coverage["files"], &coverage["snapshot_id"]), (&json!(4), &json!(2)));
    assert_eq!(files(&coverage, "id", SIDES), [1, 0, 0, 2, 1, 2]);
    assert_eq!(files(&coverage, "x", SIDES), [1, 0, 0, 2, 1, 2]);
    assert_eq!(files(&coverage, "later", SIDES), [1, 1, 0, 2, 1, 2]);
    assert_eq!(files(&coverage, "day", SIDES), [3, 3, 1, 0, 0, 0]);
    assert_eq!(files(&coverage, "day", ["/min/provenance/constant", "/null_count/known"]), [1, 4]);
    let counts = ["/null_count/known", "/null_count/unknown", "/null_count/provenance/footer"];
    assert_eq!(files(&coverage, "id", counts), [3, 1, 3]);
    let nans = ["/nan_count/unknown", "/nan_count/provenance/declared"];
    // Where every row is null none is NaN.
    assert_eq!(files(&coverage, "x", nans), [2, 1]);
    assert!(column(&coverage, "id")["statistics"].get("nan_count").is_none());
    assert_eq!(column(&coverage, "id")["statistics"]["min"]["bound"]["share"], 0.5);
    assert_eq!((&column(&coverage, "x")["id"], &column(&coverage, "x")["type"]), (&json!("#2"), &json!("float64")));
}

#[tokio::test]
async fn overlap_counts_the_files_that_a_value_hits() {
    let server = Server::start(2).await;
    four_kinds(&server).await;
    let coverage = coverage(&server, "").await;
    // [0, 10] and [10, 20] meet at 10, and the file without bounds may hold anything: 2, 3, 3, 2.
    assert_eq!(column(&coverage, "id")["statistics"]["overlap"], json!({"mean": 2.5, "max": 3}));
    assert_eq!(column(&coverage, "day")["statistics"]["overlap"], json!({"mean": 1.0, "max": 1}));
}

#[tokio::test]
async fn an_older_snapshot_is_covered_as_it_was() {
    let server = Server::start(2).await;
    four_kinds(&server).await;
    let remove = json!({"operation": "delete", "remove": [server.path("a.parquet")]});
    server.commit("t", remove).await;
    for (query, expected) in
        [("?snapshot_id=0", [0, 0, 0]), ("?snapshot_id=1", [2, 1, 1]), ("?snapshot_id=2", [4, 2, 1]), ("", [3, 1, 1])]
    {
        let coverage = coverage(&server, query).await;
        let [known, unknown] = files(&coverage, "id", ["/min/bound", "/min/unknown"]);
        assert_eq!([coverage["files"].as_u64().unwrap(), known, unknown], expected, "{query}");
    }
    assert_eq!(column(&coverage(&server, "?snapshot_id=0").await, "id")["statistics"]["min"]["bound"]["share"], 0.0);
    assert_eq!(server.get(&format!("{COLUMNS}?snapshot_id=9")).await.0, 404);
    assert_eq!(server.get(&format!("{COLUMNS}?snapshot=1")).await.0, 400);
    assert_eq!(server.get("/v1/namespaces/n/tables/nope/columns").await.0, 404);
}

#[tokio::test]
async fn nested_columns_are_named_and_carry_nothing_themselves() {
    let server = Server::start(2).await;
    let inner = StructArray::from(vec![(Arc::new(Field::new("a.b", DataType::Int64, true)), ids([1, 2]))]);
    let mut list = ListBuilder::new(Int64Builder::new());
    list.append_value([Some(1)]);
    list.append_value([None]);
    let columns = vec![("s", Arc::new(inner) as ArrayRef), ("l", Arc::new(list.finish()))];
    let path = write(&server, "a.parquet", columns, EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path})).await;
    server.commit("t", append([path])).await;
    let coverage = coverage(&server, "").await;
    for (name, column_type) in [("s", "struct"), ("l", "list")] {
        let column = column(&coverage, name);
        assert_eq!((&column["type"], &column["statistics"]), (&json!(column_type), &Value::Null));
    }
    assert_eq!(files(&coverage, "s.\"a.b\"", ["/min/bound"]), [1]);
}

#[tokio::test]
async fn a_guess_is_told_from_a_bound() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let file = |name: &str, precision: &str| {
        json!({"path": name, "size_bytes": 1, "columns": {"id": {
            "min": 1, "min_precision": precision, "max": 9, "max_precision": "exact",
        }}})
    };
    let add = json!([file("a", "exact"), file("b", "bound"), file("c", "estimate")]);
    server.commit("t", json!({"operation": "append", "add": add})).await;
    let coverage = coverage(&server, "").await;
    let places = ["/min/exact", "/min/bound", "/min/estimate", "/min/unknown", "/min/provenance/declared"];
    assert_eq!(files(&coverage, "id", places), [1, 1, 1, 0, 2]);
    assert_eq!(files(&coverage, "id", ["/max/exact", "/max/provenance/declared", "/null_count/unknown"]), [3, 3, 3]);
}

/// What the listings of single files say of a column's statistic, as `[known, declared, footer, constant]`.
fn counted(details: &[Value], name: &str, statistic: &str) -> [u64; 4] {
    let mut counted = [0; 4];
    for detail in details {
        let statistics = &detail["columns"][name];
        counted[0] += u64::from(!statistics[statistic].is_null());
        for (index, provenance) in ["declared", "footer", "constant"].iter().enumerate() {
            counted[index + 1] += u64::from(statistics["provenance"][statistic] == *provenance);
        }
    }
    counted
}

#[tokio::test(flavor = "multi_thread")]
async fn the_report_is_what_the_files_say_one_by_one() {
    let server = Server::start(5).await;
    let mut paths = Vec::new();
    for file in 0..23 {
        let path = server.path(format!("f{file:02}.parquet"));
        let statistics = if file % 4 == 1 { EnabledStatistics::None } else { EnabledStatistics::Chunk };
        rows::write(path.as_ref(), &rows::batch(file, 70), statistics);
        paths.push(path);
    }
    server.create_table("t", json!({"schema_from": paths[0]})).await;
    for chunk in paths.chunks(6) {
        server.commit("t", append(chunk)).await;
    }
    server.commit("t", json!({"operation": "delete", "remove": [paths[2], paths[22]]})).await;
    let mut details = Vec::new();
    for path in paths.iter().filter(|path| **path != paths[2] && **path != paths[22]) {
        details.push(server.get(&format!("/v1/namespaces/n/tables/t/files?path={path}")).await.1);
    }
    let coverage = coverage(&server, "").await;
    assert_eq!(coverage["files"], 21);
    for covered in coverage["columns"].as_array().unwrap() {
        let name = covered["name"].as_str().unwrap();
        for statistic in ["min", "max", "null_count"] {
            let known = if statistic == "null_count" { "known" } else { "bound" };
            let places = [known, "provenance/declared", "provenance/footer", "provenance/constant"];
            let places = places.map(|place| format!("/{statistic}/{place}"));
            let reported = files(&coverage, name, places.each_ref().map(String::as_str));
            assert_eq!(reported, counted(&details, name, statistic), "{name} {statistic}");
        }
        let all = ["/without_values", "/min/exact", "/min/bound", "/min/estimate", "/min/unknown"];
        assert_eq!(files(&coverage, name, all).iter().sum::<u64>(), 21, "{name}");
        let mean = covered["statistics"]["overlap"]["mean"].as_f64().unwrap();
        let max = files(&coverage, name, ["/overlap/max"])[0];
        assert!(mean >= 1.0 && mean <= max as f64 && max <= 21, "{name}");
    }
    // Each file's own hundred and a fifth of the next, and six files without statistics; noise is everywhere.
    assert!(files(&coverage, "id", ["/overlap/max"])[0] <= 8);
    assert_eq!(files(&coverage, "noise", ["/overlap/max"]), [21]);
}

async fn plan(server: &Server, body: Value) {
    server.plan("t", &body).await;
}

#[tokio::test]
async fn filters_that_met_an_obstacle_are_told_of_by_column() {
    let clock = SetClock::new();
    let server = Server::start_at(&clock).await;
    four_kinds(&server).await;
    assert_eq!(coverage(&server, "").await["obstacles_since"], "2024-01-31T12:00:00.000Z");
    clock.pass_ms(2_000);
    plan(&server, json!({"filter": "id > 7 AND x > 1"})).await;
    clock.pass_ms(1_000);
    plan(&server, json!({"filter": "id = 999"})).await;
    plan(&server, json!({"filter": "abs(id) + later > 5 OR lower(day) = 'x'"})).await;
    let coverage = coverage(&server, "").await;
    let met = |reason: &str, plans: u64, last: u64, example: &str| json!({"reason": reason, "plans": plans, "last_at": format!("2024-01-31T12:00:0{last}.000Z"), "example": example});
    let unsupported = met("unsupported", 1, 3, "abs(id) + later > 5 OR lower(day) = 'x'");
    let expected = json!([unsupported, met("without_statistics", 2, 3, "id = 999")]);
    assert_eq!(column(&coverage, "id")["obstacles"], expected);
    let expected = json!([met("without_statistics", 1, 2, "x > 1"), met("nan_count_unknown", 1, 2, "x > 1")]);
    assert_eq!(column(&coverage, "x")["obstacles"], expected);
    assert_eq!(column(&coverage, "later")["obstacles"], json!([unsupported]));
}

#[tokio::test]
async fn plans_that_did_not_prune_by_choice_or_need_met_no_obstacle() {
    let server = Server::start(2).await;
    four_kinds(&server).await;
    plan(&server, json!({"filter": "id > 7", "prune": false})).await;
    plan(&server, json!({"filter": "id > 7", "snapshot_id": 0})).await;
    plan(&server, json!({"filter": "day > DATE '2000-01-01'"})).await;
    let coverage = coverage(&server, "").await;
    for covered in coverage["columns"].as_array().unwrap() {
        assert_eq!(covered["obstacles"], json!([]), "{covered}");
    }
}

#[tokio::test]
async fn all_pages_of_a_plan_are_one_plan() {
    let server = Server::start(2).await;
    four_kinds(&server).await;
    plan(&server, json!({"filter": "id >= 0", "page_size": 1})).await;
    plan(&server, json!({"filter": "id >= 0", "dry_run": true})).await;
    assert_eq!(column(&coverage(&server, "").await, "id")["obstacles"][0]["plans"], 2);
}
