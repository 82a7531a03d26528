//! Statistics that the writer declares: beside a footer, and alone.

use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, append, faults, names};

const FIELDS: &str = r#"[
    {"name": "id", "type": "int64"}, {"name": "x", "type": "float64"}, {"name": "s", "type": "string"},
    {"name": "d", "type": "decimal(9,2)"}, {"name": "t", "type": "timestamptz(ms)"}
]"#;

async fn declared_table(server: &Server) {
    let fields: Value = serde_json::from_str(FIELDS).unwrap();
    server.create_table("t", json!({"schema": {"fields": fields}, "properties": {"verification": "declared"}})).await;
}

fn file(name: &str, columns: &Value) -> Value {
    json!({"path": format!("s3://nowhere/{name}"), "size_bytes": 100, "row_count": 10, "columns": columns})
}

#[tokio::test]
async fn the_writers_word_prunes_where_files_are_not_read() {
    let server = Server::start(2).await;
    declared_table(&server).await;
    let files = [
        file(
            "a",
            &json!({"id": {"min": 1, "max": 5, "null_count": 0}, "x": {"min": 0.5, "max": "Infinity", "nan_count": 0}}),
        ),
        file("b", &json!({"id": {"min": "6", "max": 9}, "s": {"min": "a", "max": "b", "null_count": 0}})),
        file(
            "c",
            &json!({"id": {"min": 10, "max": 20, "min_precision": "estimate"}, "d": {"min": "1.50", "max": "2.50"}}),
        ),
        json!({"path": "s3://nowhere/d", "size_bytes": 1, "absent_columns": ["x"], "columns": {
            "t": {"min": "2024-01-01T00:00:00Z", "max": "2024-01-02T00:00:00.000Z", "null_count": 0},
        }}),
    ];
    server.commit("t", json!({"operation": "append", "add": files})).await;
    for (filter, expected) in [
        ("id = 3", vec!["a", "c", "d"]),
        ("id >= 15", vec!["c", "d"]),
        ("id IS NULL", vec!["b", "c", "d"]),
        ("x < 0", vec!["b", "c"]),
        ("x IS NULL", vec!["a", "b", "c", "d"]),
        ("s > 'b'", vec!["a", "c", "d"]),
        ("d = 3", vec!["a", "b", "d"]),
        ("t < TIMESTAMP WITH TIME ZONE '2023-12-31 23:00:00Z'", vec!["a", "b", "c"]),
    ] {
        assert_eq!(names(&server.plan("t", &json!({"filter": filter})).await), expected, "{filter}");
    }
    let plan = server.plan("t", &json!({})).await;
    assert_eq!(plan["metrics"]["files_of_unknown_rows"], 1);
    let (_, detail) = server.get("/v1/namespaces/n/tables/t/files?path=s3://nowhere/c").await;
    let id = &detail["columns"]["id"];
    assert_eq!(
        (&id["min"], &id["min_precision"], &id["max_precision"]),
        (&json!(10), &json!("estimate"), &json!("bound"))
    );
    assert_eq!(id["provenance"]["max"], "declared");
    assert!(id["null_count"].is_null());
}

/// How many files are pruned, and how many of these on the writer's word alone.
async fn pruned(server: &Server, filter: &str) -> (u64, u64) {
    let metrics = &server.plan("t", &json!({"filter": filter})).await["metrics"];
    (metrics["files_pruned"].as_u64().unwrap(), metrics["files_pruned_as_declared"].as_u64().unwrap())
}

#[tokio::test]
async fn what_is_pruned_on_the_writers_word_alone_is_counted() {
    for manifest_target_files in [2, 8] {
        let server = Server::start(manifest_target_files).await;
        let vouched_for = server.path("v.parquet");
        rows::write(vouched_for.as_ref(), &rows::batch(0, 100), EnabledStatistics::Chunk);
        let silent = server.path("s.parquet");
        rows::write(silent.as_ref(), &rows::batch(0, 100), EnabledStatistics::None);
        server.create_table("t", json!({"schema_from": vouched_for})).await;
        let claims = json!({"path": silent, "columns": {"id": {"min": 0, "max": 200}}});
        server.commit("t", json!({"operation": "append", "add": [{"path": vouched_for}, claims]})).await;
        assert_eq!(pruned(&server, "id > 500").await, (2, 1));
        assert_eq!(pruned(&server, "id > 50").await, (0, 0));
        assert_eq!(pruned(&server, "noise > 5000").await, (1, 0));
        assert_eq!(pruned(&server, "id > 500 AND noise > 5000").await, (2, 1));
        assert_eq!(pruned(&server, "id > 500").await, (2, 1));
    }
}

#[tokio::test]
async fn nonsense_is_taken_as_unknown_with_a_warning() {
    let server = Server::start(2).await;
    declared_table(&server).await;
    let columns = json!({"id": {"min": 9, "max": 1}, "x": {"min": "NaN", "max": 1.0, "null_count": 11}});
    let answer = server.commit("t", json!({"operation": "append", "add": [file("a", &columns)]})).await;
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 3, "{answer}");
    assert_eq!(names(&server.plan("t", &json!({"filter": "id = 100 AND x < 0"})).await), ["a"]);
}

#[tokio::test]
async fn a_declaration_that_is_none_is_refused() {
    let server = Server::start(2).await;
    declared_table(&server).await;
    let add = json!([
        file("a", &json!({"id": {"min": "x"}, "nope": {"min": 1}})),
        {"path": "s3://nowhere/b"},
        {"path": "s3://nowhere/c", "size_bytes": 1, "absent_columns": ["id"], "columns": {"id": {"min": 1}}},
        {"path": "s3://nowhere/d", "size_bytes": 1, "partition": {"t": "yesterday"}},
    ]);
    let (status, problem) = server.try_commit("t", &json!({"operation": "append", "add": add})).await;
    assert_eq!(status, 422);
    assert_eq!(
        faults(&problem),
        [
            "a: id: min is not a value of type int64",
            "a: nope: unknown column `nope`",
            "b: size_bytes is needed, since the table's files are not read",
            "c: id: the column is declared absent and has statistics",
            "d: t: the partition value 'yesterday' is not of type timestamptz(ms)",
        ]
    );
    assert_eq!(
        server
            .try_commit("t", &json!({"operation": "append", "add": [{"path": "/a", "columns": {"id": {"min": [1]}}}]}))
            .await
            .0,
        422
    );
}

#[tokio::test]
async fn a_footer_refutes_what_is_false_and_fills_what_is_missing() {
    let server = Server::start(2).await;
    let path = server.path("a.parquet");
    rows::write(path.as_ref(), &rows::batch(0, 100), EnabledStatistics::Chunk);
    server.create_table("t", json!({"schema_from": path})).await;
    let commit = |file: Value| json!({"operation": "append", "add": [file]});
    let lies = json!({"path": path, "row_count": 99, "size_bytes": 5, "absent_columns": ["opt"], "columns": {
        "id": {"min": 5000, "null_count": 3}, "name": {"max": "a"},
    }});
    let (status, problem) = server.try_commit("t", &commit(lies)).await;
    assert_eq!(status, 422);
    assert_eq!(
        faults(&problem),
        [
            "a.parquet: size_bytes differs from the file's",
            "a.parquet: row_count differs from the file's",
            "a.parquet: id: null_count differs from the file's",
            "a.parquet: id: min lies above every value of the file",
            "a.parquet: name: max lies below every value of the file",
            "a.parquet: opt: the file holds the column",
        ]
    );
    assert_eq!(problem["faults"][1]["evidence"], "the file has 100");
    // Only reading the data decides on a tighter bound, and it does. The NaN count, which the footer leaves out, is taken.
    let tighter = json!({"path": path, "columns": {"id": {"min": 118}}});
    let (status, problem) = server.try_commit("t", &commit(tighter)).await;
    assert_eq!((status, faults(&problem)), (422, vec!["a.parquet: id: min lies above a value of the file".to_owned()]));
    let claims = json!({"path": path, "columns": {"id": {"max": 1000}, "f64": {"nan_count": 0}}});
    let answer = server.commit("t", commit(claims)).await;
    assert_eq!(answer["warnings"], json!([]));
    assert_eq!(names(&server.plan("t", &json!({"filter": "id < 20"})).await), ["a.parquet"]);
    assert_eq!(names(&server.plan("t", &json!({"filter": "id > 500"})).await), Vec::<String>::new());
    assert_eq!(names(&server.plan("t", &json!({"filter": "f64 > 500"})).await), Vec::<String>::new());
    assert_eq!(server.try_commit("t", &append([&path])).await.0, 409);
}
