//! A writer who lies about its files, in every way that a commit has room for, under each policy of verification.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, faults, names};

/// Ten rows: `id` is 10 to 19, `x` 0.5 to 9.5 but for a NaN in the first row, `s` is `b` to `k`, `opt` null in the first row.
fn batch() -> RecordBatch {
    let x = (0..10_u8).map(|row| if row == 0 { f64::NAN } else { f64::from(row) + 0.5 });
    let s = (b'b'..=b'k').map(|letter| char::from(letter).to_string());
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from_iter_values(10..20))),
        ("x", Arc::new(Float64Array::from_iter_values(x))),
        ("s", Arc::new(StringArray::from_iter_values(s))),
        ("opt", Arc::new((0..10).map(|row| (row > 0).then_some(row)).collect::<Int64Array>())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap()
}

/// A lie and what shows it, for each file: one whose footer has statistics, and one whose footer has none.
struct Lie {
    claims: Value,
    /// The message where the footer has statistics, or the column is read because of them.
    by_footer: Option<&'static str>,
    /// The message where the footer says nothing of values.
    by_silent_footer: Option<&'static str>,
    /// The message where the data is read.
    by_data: &'static str,
}

fn lies() -> Vec<Lie> {
    let of_column = |column: &str, statistics: Value| json!({"columns": {column: statistics}});
    let always = |claims: Value, message| Lie {
        claims,
        by_footer: Some(message),
        by_silent_footer: Some(message),
        by_data: message,
    };
    let by_statistics =
        |claims: Value, message| Lie { claims, by_footer: Some(message), by_silent_footer: None, by_data: message };
    let by_data = |claims: Value, message| Lie { claims, by_footer: None, by_silent_footer: None, by_data: message };
    vec![
        always(json!({"row_count": 11}), "row_count differs from the file's"),
        always(json!({"size_bytes": 11}), "size_bytes differs from the file's"),
        always(json!({"absent_columns": ["s"]}), "s: the file holds the column"),
        always(of_column("id", json!({"min": "ten"})), "id: min is not a value of type int64"),
        by_statistics(of_column("id", json!({"null_count": 1})), "id: null_count differs from the file's"),
        by_statistics(of_column("opt", json!({"null_count": 0})), "opt: null_count differs from the file's"),
        by_statistics(of_column("id", json!({"null_count": 10})), "id: null_count differs from the file's"),
        by_statistics(of_column("id", json!({"min": 100})), "id: min lies above every value of the file"),
        by_statistics(of_column("s", json!({"max": "a"})), "s: max lies below every value of the file"),
        by_statistics(of_column("id", json!({"min": 12})), "id: min lies above a value of the file"),
        by_statistics(of_column("s", json!({"max": "jz"})), "s: max lies below a value of the file"),
        by_statistics(of_column("x", json!({"max": 9.25})), "x: max lies below a value of the file"),
        by_statistics(
            of_column("id", json!({"min": 5, "min_precision": "exact"})),
            "id: min is said to be exact, and lies below every value of the file",
        ),
        by_statistics(json!({"partition": {"id": 50}}), "id: the partition value lies outside the file's values"),
        by_data(of_column("x", json!({"nan_count": 0})), "x: nan_count differs from the file's"),
        by_data(json!({"partition": {"id": 12}}), "id: the partition value lies outside the file's values"),
    ]
}

struct Lied {
    server: Server,
    with_statistics: String,
    silent: String,
}

async fn server() -> Lied {
    let server = Server::start(4).await;
    let (with_statistics, silent) = (server.path("f.parquet"), server.path("silent.parquet"));
    rows::write(with_statistics.as_ref(), &batch(), EnabledStatistics::Chunk);
    rows::write(silent.as_ref(), &batch(), EnabledStatistics::None);
    Lied { server, with_statistics, silent }
}

impl Lied {
    async fn table(&self, name: &str, properties: Value) {
        let body = json!({"schema_from": self.silent, "properties": properties});
        self.server.create_table(name, body).await;
    }

    /// Tells a lie of a file: what was refused, `None` if it was believed.
    async fn tell(&self, table: &str, path: &str, claims: &Value) -> Option<Vec<String>> {
        let mut file = claims.clone();
        file["path"] = path.into();
        let (status, answer) = self.server.try_commit(table, &json!({"operation": "append", "add": [file]})).await;
        match status {
            201 => {
                self.server.commit(table, json!({"operation": "delete", "remove": [path]})).await;
                None
            }
            422 => {
                assert!(
                    answer["faults"].as_array().unwrap().iter().all(|fault| fault["claim"].is_string()),
                    "{answer}"
                );
                Some(faults(&answer))
            }
            _ => panic!("{answer}"),
        }
    }

    async fn check(&self, table: &str, path: &str, claims: &Value, expected: Option<&str>) {
        let name = path.rsplit('/').next().unwrap();
        let expected = expected.map(|message| vec![format!("{name}: {message}")]);
        assert_eq!(self.tell(table, path, claims).await, expected, "{claims}");
    }
}

#[tokio::test]
async fn every_lie_is_caught_where_the_data_is_read() {
    let lied = server().await;
    lied.table("t", json!({"verification": "scan"})).await;
    for Lie { claims, by_data, .. } in lies() {
        lied.check("t", &lied.with_statistics, &claims, Some(by_data)).await;
        lied.check("t", &lied.silent, &claims, Some(by_data)).await;
    }
}

#[tokio::test]
async fn a_footer_catches_what_it_or_the_column_refutes() {
    let lied = server().await;
    lied.table("t", json!({"nan_counts": "unknown"})).await;
    for Lie { claims, by_footer, by_silent_footer, .. } in lies() {
        lied.check("t", &lied.with_statistics, &claims, by_footer).await;
        lied.check("t", &lied.silent, &claims, by_silent_footer).await;
    }
}

#[tokio::test]
async fn a_false_count_of_nans_is_caught_where_they_are_counted() {
    let lied = server().await;
    lied.table("t", json!({"nan_counts": "at_commit"})).await;
    let claims = json!({"columns": {"x": {"nan_count": 0}}});
    lied.check("t", &lied.with_statistics, &claims, Some("x: nan_count differs from the file's")).await;
}

#[tokio::test]
async fn what_is_claimed_of_files_that_are_not_read_is_believed_and_marked() {
    let lied = server().await;
    lied.table("t", json!({"verification": "declared"})).await;
    let claims =
        json!({"size_bytes": 1, "row_count": 11, "columns": {"id": {"min": 100, "max": 200, "null_count": 0}}});
    lied.check("t", &lied.silent, &claims, None).await;
    let file = json!({"path": lied.silent, "size_bytes": 1, "row_count": 11, "columns": claims["columns"]});
    lied.server.commit("t", json!({"operation": "append", "add": [file]})).await;
    let route = format!("/v1/namespaces/n/tables/t/files?path={}", lied.silent);
    let (_, detail) = lied.server.get(&route).await;
    assert_eq!(detail["columns"]["id"]["provenance"]["min"], "declared", "{detail}");
}

#[tokio::test]
async fn a_true_declaration_that_is_tighter_is_taken_from_the_data() {
    let lied = server().await;
    lied.table("t", json!({})).await;
    // Loose on one side, so that the file itself proves more; the bounds of the footer are as tight as can be.
    let file = json!({"path": lied.with_statistics, "columns": {"id": {"min": 0, "max": 19}}});
    let answer = lied.server.commit("t", json!({"operation": "append", "add": [file]})).await;
    assert_eq!(answer["warnings"], json!([]));
    assert!(names(&lied.server.plan("t", &json!({"filter": "id < 10"})).await).is_empty());
}

#[tokio::test]
async fn statistics_of_a_column_that_keeps_none_are_not_kept() {
    let lied = server().await;
    let properties = json!({"verification": "scan", "statistics.id": "none", "statistics.s": "counts"});
    lied.table("t", properties).await;
    lied.server.commit("t", json!({"operation": "append", "add": [{"path": lied.silent}]})).await;
    let route = format!("/v1/namespaces/n/tables/t/files?path={}", lied.silent);
    let (_, detail) = lied.server.get(&route).await;
    let columns = &detail["columns"];
    assert!(columns.get("id").is_none_or(|id| id["min"].is_null() && id["null_count"].is_null()), "{columns}");
    assert_eq!((&columns["s"]["min"], &columns["s"]["null_count"]), (&Value::Null, &json!(0)));
    assert_eq!((&columns["opt"]["min"], &columns["opt"]["min_precision"]), (&json!(1), &json!("exact")));
    assert_eq!(columns["x"]["provenance"]["nan_count"], "scanned");
    let unknown = json!({"schema_from": lied.silent, "properties": {"statistics.nope": "none"}, "name": "u"});
    assert_eq!(lied.server.post("/v1/namespaces/n/tables", &unknown).await.0, 422);
}

#[tokio::test]
async fn a_bound_is_not_taken_where_the_file_has_values_beyond_the_type() {
    let server = Server::start(4).await;
    // Microseconds of the years 1970 and 9999, of which nanoseconds hold the first.
    let times = TimestampMicrosecondArray::from(vec![0, 253_370_764_800_000_000]);
    let columns: [(&str, ArrayRef); 1] = [("t", Arc::new(times))];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true))).unwrap();
    let path = server.path("a.parquet");
    rows::write(path.as_ref(), &batch, EnabledStatistics::Chunk);
    for (table, verification) in [("f", "footer"), ("s", "scan")] {
        let fields = json!([{"name": "t", "type": "timestamp(ns)"}]);
        let body = json!({"schema": {"fields": fields}, "properties": {"verification": verification}});
        server.create_table(table, body).await;
        let file = json!({"path": path, "columns": {"t": {"max": "1980-01-01T00:00:00"}}});
        let answer = server.commit(table, json!({"operation": "append", "add": [file]})).await;
        assert_eq!(answer["warnings"].as_array().map(Vec::len), Some(1), "{answer}");
        let plan = server.plan(table, &json!({"filter": "t > TIMESTAMP '1990-01-01 00:00:00'"})).await;
        assert_eq!(names(&plan), ["a.parquet"]);
    }
}
