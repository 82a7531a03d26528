//! What each script proves, by the versions of its client.

use crate::clients::{DUCKDB, NEW, OLD, run_to_the_end, script};
use crate::served::Server;

/// Runs a script with the Python that a variable names, on a server of its own.
fn check(variable: &str, name: &str) {
    let Some(mut script) = script(variable, name) else { return };
    let server = Server::start();
    script.args([server.url(), &server.data()]);
    run_to_the_end(script);
}

#[test]
fn pyiceberg_reads_what_the_files_hold() {
    check(NEW, "reads");
}

#[test]
fn pyiceberg_011_reads_what_the_files_hold() {
    check(OLD, "reads");
}

#[test]
fn each_type_is_filtered_as_a_full_read_is() {
    check(NEW, "each_type");
}

#[test]
fn each_type_is_filtered_as_a_full_read_is_by_pyiceberg_011() {
    check(OLD, "each_type");
}

#[test]
fn columns_that_changed_are_read_as_they_are() {
    check(NEW, "evolution");
}

#[test]
fn columns_that_changed_are_read_as_they_are_by_pyiceberg_011() {
    check(OLD, "evolution");
}

#[test]
fn what_would_be_read_wrongly_is_refused() {
    check(NEW, "refused");
}

#[test]
fn what_would_be_read_wrongly_is_refused_to_pyiceberg_011() {
    check(OLD, "refused");
}

#[test]
fn a_long_plan_comes_in_parts_and_is_whole() {
    check(NEW, "paging");
}

#[test]
fn a_long_plan_comes_in_parts_and_is_whole_to_pyiceberg_011() {
    check(OLD, "paging");
}

#[test]
fn frames_of_polars_and_pandas_are_the_table() {
    check(NEW, "frames");
}

#[test]
fn a_token_opens_what_it_is_for() {
    for variable in [NEW, OLD] {
        let Some(mut script) = script(variable, "access") else { return };
        let (server, tokens) = Server::start_with_tokens();
        script.env("TOKEN", &tokens[0]).env("OTHER_TOKEN", &tokens[1]).args([server.url(), &server.data()]);
        run_to_the_end(script);
    }
}

#[test]
fn the_answers_are_as_the_specification_has_them() {
    check(NEW, "answers");
}

#[tokio::test]
async fn duckdb_is_told_that_it_cannot_plan() {
    let Some(mut script) = script(DUCKDB, "duck") else { return };
    let server = Server::start();
    let client = reqwest::Client::new();
    let file = serde_json::json!({"path": "a.parquet", "size_bytes": 9, "row_count": 3});
    let fields = serde_json::json!([{"name": "id", "type": "int64"}]);
    let table = serde_json::json!({
        "name": "t", "location": server.data(), "schema": {"fields": fields}, "properties": {"verification": "declared"},
    });
    for (route, body) in [
        ("/v1/namespaces", serde_json::json!({"name": "n"})),
        ("/v1/namespaces/n/tables", table),
        ("/v1/namespaces/n/tables/t/commits", serde_json::json!({"operation": "append", "add": [file]})),
    ] {
        let answer = client.post(format!("{}{route}", server.url())).json(&body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201, "{}", answer.text().await.unwrap());
    }
    script.arg(server.url());
    run_to_the_end(script);
}
