//! Filters as clients write them: in both forms, with literals that have no type.

use serde_json::{Value, json};

use super::{names, plan};
use crate::server::Server;

/// Files `low` and `high` of one column, each with bounds of its own and no nulls.
async fn server(column_type: &str, low: [Value; 2], high: [Value; 2]) -> Server {
    let server = Server::start(2).await;
    let fields = json!([{"name": "v", "type": column_type}]);
    let body =
        json!({"schema": {"fields": fields}, "properties": {"verification": "declared"}, "location": server.path("")});
    server.create_table("t", body).await;
    let file = |name: &str, [min, max]: &[Value; 2]| {
        let exact = "exact";
        let v = json!({"min": min, "max": max, "min_precision": exact, "max_precision": exact, "null_count": 0, "nan_count": 0});
        json!({"path": name, "size_bytes": 7, "row_count": 2, "columns": {"v": v}})
    };
    server.commit("t", json!({"operation": "append", "add": [file("low", &low), file("high", &high)]})).await;
    server
}

/// That a literal above all values of `low` and below those of `high` tells them apart, in both forms.
async fn check_literal(column_type: &str, low: [Value; 2], high: [Value; 2], literals: &[Value]) {
    let server = server(column_type, low, high).await;
    for literal in literals {
        let old = json!({"type": "gt-eq", "term": "v", "value": literal});
        let new = json!({"type": "gt-eq", "left": {"type": "reference", "name": "v"}, "right": {"type": "literal", "value": literal}});
        for filter in [old, new] {
            let answer = plan(&server, json!({"filter": filter})).await;
            assert_eq!(names(&answer), ["high"], "{column_type} {filter}");
            assert_eq!(answer["file-scan-tasks"][0]["residual-filter"], true);
        }
    }
}

#[tokio::test]
async fn literals_take_the_type_of_the_column() {
    check_literal("int32", [json!(1), json!(2)], [json!(8), json!(9)], &[json!(5), json!("5")]).await;
    check_literal("int64", [json!(1), json!(2)], [json!(1_i64 << 40), json!(1_i64 << 41)], &[json!(1_i64 << 39)]).await;
    check_literal("float64", [json!(0.5), json!(1.5)], [json!(2.5), json!(3.5)], &[json!(2), json!(2.0), json!("2.0")])
        .await;
    check_literal("float32", [json!(0.5), json!(1.5)], [json!(2.5), json!(3.5)], &[json!(2), json!("2.25")]).await;
    check_literal(
        "decimal(9,2)",
        [json!("0.50"), json!("1.50")],
        [json!("2.50"), json!("3.50")],
        &[json!("2.00"), json!("1.51")],
    )
    .await;
    check_literal(
        "date",
        [json!("2024-01-01"), json!("2024-01-31")],
        [json!("2024-03-01"), json!("2024-03-31")],
        &[json!("2024-02-01"), json!(19_754)],
    )
    .await;
    let (low, high) = ([json!("01:00:00"), json!("02:00:00")], [json!("12:00:00"), json!("13:00:00")]);
    check_literal("time(us)", low, high, &[json!(36_000_000_000_i64), json!("10:00:00")]).await;
    let (low, high) = (
        [json!("2024-01-01T00:00:00"), json!("2024-01-02T00:00:00")],
        [json!("2024-02-01T00:00:00"), json!("2024-02-02T00:00:00")],
    );
    check_literal("timestamp(us)", low, high, &[json!("2024-01-15T00:00:00"), json!(1_705_276_800_000_000_i64)]).await;
    let (low, high) = (
        [json!("2024-01-01T00:00:00Z"), json!("2024-01-02T00:00:00Z")],
        [json!("2024-02-01T00:00:00Z"), json!("2024-02-02T00:00:00Z")],
    );
    check_literal(
        "timestamptz(us)",
        low,
        high,
        &[json!("2024-01-15T00:00:00+00:00"), json!(1_705_276_800_000_000_i64)],
    )
    .await;
    check_literal("string", [json!("a"), json!("b")], [json!("x"), json!("y")], &[json!("m")]).await;
    check_literal("boolean", [json!(false), json!(false)], [json!(true), json!(true)], &[json!(true)]).await;
    let uuid = |digit: char| json!(format!("{0}{0}{0}{0}{0}{0}{0}{0}-0000-0000-0000-000000000000", digit));
    check_literal("uuid", [uuid('1'), uuid('2')], [uuid('8'), uuid('9')], &[uuid('5')]).await;
}

#[tokio::test]
async fn a_literal_that_is_no_value_of_the_column_keeps_the_files() {
    let server = server("int32", [json!(1), json!(2)], [json!(8), json!(9)]).await;
    for literal in [json!("x"), json!(true), json!([1]), json!({"a": 1}), json!("")] {
        let filter = json!({"type": "eq", "term": "v", "value": literal});
        let answer = plan(&server, json!({"filter": filter})).await;
        assert_eq!(names(&answer), ["low", "high"], "{literal}");
        assert_eq!(answer["file-scan-tasks"][0]["residual-filter"], filter);
    }
}

#[tokio::test]
async fn a_residual_is_what_is_not_proven_in_the_form_that_was_sent() {
    let server = server("int32", [json!(1), json!(5)], [json!(6), json!(9)]).await;
    let test = |kind: &str, value: i64| json!({"type": kind, "term": "v", "value": value});
    let and = json!({"type": "and", "left": test("gt", 0), "right": test("lt", 8)});
    let answer = plan(&server, json!({"filter": and})).await;
    let residuals: Vec<&Value> =
        answer["file-scan-tasks"].as_array().unwrap().iter().map(|task| &task["residual-filter"]).collect();
    assert_eq!(residuals, [&json!(true), &test("lt", 8)]);
    assert_eq!(plan(&server, json!({})).await["file-scan-tasks"][0]["residual-filter"], true);
    assert_eq!(plan(&server, json!({"filter": true})).await["file-scan-tasks"][0]["residual-filter"], true);
    assert_eq!(names(&plan(&server, json!({"filter": false})).await), Vec::<&str>::new());
}

#[tokio::test]
async fn rows_that_are_null_keep_their_file_and_are_never_proven_to_match() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let file = |name: &str, nulls: u64| json!({"path": name, "size_bytes": 7, "row_count": 9, "columns": {"id": {"min": 7, "max": 8, "null_count": nulls}}});
    let nulls = json!({"path": "nulls", "size_bytes": 7, "row_count": 9, "columns": {"id": {"null_count": 9}}});
    server.commit("t", json!({"operation": "append", "add": [file("none", 0), file("some", 3), nulls]})).await;
    for filter in [
        json!({"type": "not-eq", "term": "id", "value": 5}),
        json!({"type": "not-in", "term": "id", "values": [5, 6]}),
        json!({"type": "not", "child": {"type": "eq", "term": "id", "value": 5}}),
    ] {
        let answer = plan(&server, json!({"filter": filter})).await;
        let tasks = answer["file-scan-tasks"].as_array().unwrap();
        let residuals: Vec<&Value> = tasks.iter().map(|task| &task["residual-filter"]).collect();
        assert_eq!((names(&answer), residuals[0]), (vec!["none", "some", "nulls"], &json!(true)), "{answer}");
        assert!(residuals[1..].iter().all(|residual| **residual == filter), "{residuals:?}");
    }
}
