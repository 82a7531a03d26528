//! Commits to several tables, all or none.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Answer, Server};

const TRANSACTIONS: &str = "/v1/transactions";

/// The tables `n.a`, `n.b` and `n.c`, whose files are not read.
async fn server() -> Server {
    let server = Server::start(2).await;
    for name in ["a", "b", "c"] {
        let fields = json!([{"name": "x", "type": "int64"}]);
        let table = json!({"schema": {"fields": fields}, "properties": {"verification": "declared"}});
        server.create_table(name, table).await;
    }
    server
}

/// A file whose `x` is one value.
fn file(name: &str, x: i64) -> Value {
    json!({"path": format!("s3://nowhere/{name}"), "size_bytes": 1, "columns": {"x": {"min": x, "max": x}}})
}

fn append(table: &str, name: &str, x: i64) -> Value {
    json!({"table": format!("n.{table}"), "operation": "append", "add": [file(name, x)]})
}

/// An overwrite of the rows below 10 that adds a file.
fn overwrite(table: &str, base: u64, name: &str) -> Value {
    json!({"table": format!("n.{table}"), "operation": "overwrite", "base_snapshot": base, "filter": "x < 10",
        "add": [file(name, 50)]})
}

async fn transact(server: &Server, commits: impl IntoIterator<Item = Value>) -> Answer {
    let commits: Vec<Value> = commits.into_iter().collect();
    server.post(TRANSACTIONS, &json!({"commits": commits})).await
}

/// The newest snapshots of the three tables.
async fn heads(server: &Server) -> [u64; 3] {
    let mut heads = [0; 3];
    for (head, name) in heads.iter_mut().zip(["a", "b", "c"]) {
        let (_, table) = server.get(&format!("/v1/namespaces/n/tables/{name}")).await;
        *head = table["current_snapshot"].as_u64().unwrap();
    }
    heads
}

fn faults_at(problem: &Value) -> Vec<&str> {
    let faults = problem["faults"].as_array().unwrap_or_else(|| panic!("{problem}"));
    faults.iter().map(|fault| fault["at"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_transaction_makes_a_snapshot_of_each_table() {
    let server = server().await;
    server.commit("b", json!({"operation": "append", "add": [file("f", 1)]})).await;
    let (status, answer) = transact(&server, [append("b", "g", 2), append("a", "f", 3)]).await;
    assert_eq!(status, 201, "{answer}");
    let [b, a] = &answer["commits"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&b["table"], &b["snapshot_id"], &b["added_files"]), (&json!("n.b"), &json!(2), &json!(1)));
    assert_eq!((&a["table"], &a["snapshot_id"], &a["warnings"]), (&json!("n.a"), &json!(1), &json!([])));
    assert_eq!(a["committed_at"], b["committed_at"]);
    assert_eq!(heads(&server).await, [1, 2, 0]);
}

#[tokio::test]
async fn a_conflict_names_its_table_and_leaves_all_as_they_were() {
    let server = server().await;
    server.commit("b", json!({"operation": "append", "add": [file("f", 1)]})).await;
    let (status, problem) = transact(&server, [append("a", "f", 1), append("b", "f", 1), append("c", "f", 1)]).await;
    assert_eq!((status, &problem["type"], &problem["table"]), (409, &json!("/problems/conflict"), &json!("n.b")));
    assert_eq!(problem["detail"], "n.b: the commit conflicts with snapshot 1");
    assert_eq!(problem["conflicts"][0]["path"], "s3://nowhere/f");
    assert_eq!(heads(&server).await, [0, 1, 0]);
}

#[tokio::test]
async fn each_filter_is_held_against_its_own_table() {
    let server = server().await;
    for (table, x) in [("a", 5), ("b", 70)] {
        server.commit(table, json!({"operation": "append", "add": [file("since", x)]})).await;
    }
    let (status, problem) = transact(&server, [overwrite("b", 0, "g"), overwrite("a", 0, "g")]).await;
    assert_eq!((status, &problem["table"]), (409, &json!("n.a")));
    assert_eq!(problem["conflicts"][0]["reason"], "may_match");
    assert_eq!(heads(&server).await, [1, 1, 0]);
    let (status, answer) = transact(&server, [overwrite("b", 0, "g"), overwrite("a", 1, "g")]).await;
    assert_eq!((status, heads(&server).await), (201, [2, 2, 0]), "{answer}");
}

#[tokio::test]
async fn faults_of_all_commits_come_together_with_their_place() {
    let server = server().await;
    let no_statistic =
        json!({"table": "n.a", "operation": "append", "add": [file("f", 1), {"path": "s3://nowhere/g"}]});
    let no_filter =
        json!({"table": "n.b", "operation": "overwrite", "base_snapshot": 0, "filter": "y = 1", "add": [file("f", 1)]});
    let no_shape = json!({"table": "n.c", "operation": "delete"});
    let (status, problem) = transact(&server, [no_statistic, no_filter, no_shape]).await;
    assert_eq!((status, &problem["type"]), (422, &json!("/problems/invalid-request")));
    assert_eq!(faults_at(&problem), ["commits[0].add[1]", "commits[1].filter", "commits[2].remove"]);
    assert_eq!(problem["faults"][1]["column"], "y");
    assert_eq!(heads(&server).await, [0; 3]);
}

#[tokio::test]
async fn faults_that_the_store_finds_have_their_place_too() {
    let server = server().await;
    let with_rows =
        |name: &str, rows: u64| json!({"path": format!("s3://nowhere/{name}"), "size_bytes": 1, "row_count": rows});
    server.commit("b", json!({"operation": "append", "add": [with_rows("f", 10)]})).await;
    let replace =
        json!({"table": "n.b", "operation": "replace", "add": [with_rows("g", 9)], "remove": ["s3://nowhere/f"]});
    let (status, problem) = transact(&server, [append("a", "f", 1), replace]).await;
    assert_eq!((status, faults_at(&problem)), (422, vec!["commits[1].add"]));
    assert_eq!(heads(&server).await, [0, 1, 0]);
}

#[tokio::test]
async fn a_table_that_is_not_there_is_named() {
    let server = server().await;
    let (status, problem) = transact(&server, [append("a", "f", 1), append("none", "f", 1)]).await;
    assert_eq!((status, &problem["table"]), (404, &json!("n.none")));
    assert_eq!(heads(&server).await, [0; 3]);
}

#[tokio::test]
async fn a_table_stands_in_a_transaction_once() {
    let server = server().await;
    let (status, problem) = transact(&server, [append("a", "f", 1), append("b", "f", 1), append("a", "g", 1)]).await;
    assert_eq!((status, faults_at(&problem)), (422, vec!["commits[2].table"]));
    assert_eq!(heads(&server).await, [0; 3]);
}

#[tokio::test]
async fn a_transaction_holds_to_its_limits() {
    let server = server().await;
    let (status, problem) = transact(&server, []).await;
    assert_eq!((status, faults_at(&problem)), (422, vec!["commits"]));
    let commits = |count: usize| (0..count).map(|number| append(&format!("none{number}"), "f", 1));
    let limit = prunus_catalog::MAX_TABLES_PER_TRANSACTION;
    assert_eq!(transact(&server, commits(limit)).await.0, 404);
    let (status, problem) = transact(&server, commits(limit + 1)).await;
    assert_eq!((status, faults_at(&problem)), (422, vec!["commits"]));
}

#[tokio::test]
async fn the_files_of_all_commits_are_counted_together() {
    let server = server().await;
    let half = prunus_catalog::MAX_FILES_PER_COMMIT / 2;
    let delete = |table: &str, count: usize| {
        let remove: Vec<String> = (0..count).map(|number| format!("/{number}")).collect();
        json!({"table": format!("n.{table}"), "operation": "delete", "remove": remove})
    };
    assert_eq!(transact(&server, [delete("a", half), delete("b", half)]).await.0, 409);
    let (status, problem) = transact(&server, [delete("a", half), delete("b", half + 1)]).await;
    assert_eq!((status, faults_at(&problem)), (422, vec!["commits"]));
}

#[tokio::test]
async fn unknown_fields_of_a_commit_are_named() {
    let server = server().await;
    let mut commit = append("a", "f", 1);
    commit["add"][0]["rows"] = 1.into();
    let (status, problem) = transact(&server, [append("b", "f", 1), commit]).await;
    assert_eq!((status, faults_at(&problem)), (400, vec!["commits[1].add[0].rows"]));
}

#[tokio::test]
async fn a_transaction_that_is_sent_again_is_made_once() {
    let server = server().await;
    let body = json!({"commits": [append("a", "f", 1), append("b", "f", 1)]});
    let send = async || server.send_keyed(Method::POST, TRANSACTIONS, "k", Some(&body)).await;
    let (first, replayed) = send().await;
    assert_eq!((first.0, replayed), (201, false));
    assert_eq!(send().await, (first, true));
    assert_eq!(heads(&server).await, [1, 1, 0]);
}

#[tokio::test]
async fn tables_move_together() {
    let server = &server().await;
    let transactions = (0..24).map(|number| async move {
        let tables = if number % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
        let commits = tables.map(|table| append(table, &number.to_string(), number));
        assert_eq!(transact(server, commits).await.0, 201);
    });
    futures::future::join_all(transactions).await;
    let mut files = Vec::new();
    for snapshot in 0..=24 {
        let mut of_tables = Vec::new();
        for table in ["a", "b"] {
            let route = format!("/v1/namespaces/n/tables/{table}/files?snapshot_id={snapshot}");
            of_tables.push(crate::server::names(&server.get(&route).await.1));
        }
        assert_eq!(of_tables[0], of_tables[1], "{snapshot}");
        files = of_tables.remove(0);
    }
    assert_eq!(files.len(), 24);
}
