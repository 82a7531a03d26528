//! Limits that an operator sets: each at the limit and one beyond, over HTTP, and what `/v1/config` tells of them.

use prunus_catalog::{CatalogOptions, Limits, MAX_NOTES, MAX_SELECTED_COLUMNS};
use serde_json::{Value, json};

use crate::server::{Server, faults};

const PLAN: &str = "/v1/namespaces/n/tables/t/plan";

async fn server(limits: Limits) -> Server {
    let server = Server::start_with(CatalogOptions { limits, ..CatalogOptions::default() }).await;
    server.create_declared("t").await;
    server
}

/// The only fault of a request that is refused for its content.
async fn fault(server: &Server, route: &str, body: &Value) -> String {
    let (status, problem) = server.post(route, body).await;
    assert_eq!(status, 422, "{problem}");
    let found = faults(&problem);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

async fn is_planned(server: &Server, body: &Value) -> bool {
    server.post(PLAN, body).await.0 == 200
}

#[tokio::test]
async fn a_filter_has_as_many_bytes_as_the_limit() {
    let server = server(Limits { filter_bytes: 30, ..Limits::default() }).await;
    let sql = |bytes: usize| json!({"filter": format!("id = {}", "1".repeat(bytes - 5))});
    assert!(is_planned(&server, &sql(30)).await);
    assert_eq!(fault(&server, PLAN, &sql(31)).await, "the filter has 31 bytes, more than 30");
    let iceberg = |name: &str| json!({"filter": {"type": "is-null", "term": name}});
    assert!(is_planned(&server, &iceberg("id")).await);
    assert_eq!(fault(&server, PLAN, &iceberg("idx")).await, "the filter has 31 bytes, more than 30");
}

#[tokio::test]
async fn a_filter_has_as_many_words_as_the_limit() {
    let server = server(Limits { filter_words: 5, ..Limits::default() }).await;
    assert!(is_planned(&server, &json!({"filter": "id = 1 AND id = 2"})).await);
    let beyond = fault(&server, PLAN, &json!({"filter": "id = 1 AND NOT id = 2"})).await;
    assert_eq!(beyond, "the filter is too complex: more than 5 words and operators");
    let test = json!({"type": "is-null", "term": "id"});
    let and = |left: &Value| json!({"filter": {"type": "and", "left": left, "right": test}});
    let three = and(&and(&test)["filter"]);
    assert!(is_planned(&server, &three).await);
    let beyond = fault(&server, PLAN, &and(&three["filter"])).await;
    assert_eq!(beyond, "the filter is too complex: more than 5 tests and connectives");
}

#[tokio::test]
async fn a_filter_is_nested_as_deep_as_the_limit() {
    let server = server(Limits { filter_depth: 10, ..Limits::default() }).await;
    let nested = |depth: usize| {
        let test = json!({"type": "is-null", "term": "id"});
        json!({"filter": (0..depth).fold(test, |child, _| json!({"type": "not", "child": child}))})
    };
    assert!(is_planned(&server, &nested(10)).await);
    assert_eq!(fault(&server, PLAN, &nested(11)).await, "the filter is too complex: more than 10 levels of nesting");
    let parentheses = |depth: usize| json!({"filter": format!("{}id = 1{}", "(".repeat(depth), ")".repeat(depth))});
    assert!(is_planned(&server, &parentheses(2)).await);
    assert_eq!(
        fault(&server, PLAN, &parentheses(11)).await,
        "the filter is too complex: more than 10 levels of nesting"
    );
}

#[tokio::test]
async fn the_filter_of_a_commit_has_the_limits_of_a_plan() {
    let server = server(Limits { filter_words: 3, ..Limits::default() }).await;
    server.change("t", &["a"], &[]).await;
    let commit =
        |filter: &str| json!({"operation": "overwrite", "base_snapshot": 1, "remove": ["a"], "filter": filter});
    let beyond = fault(&server, "/v1/namespaces/n/tables/t/commits", &commit("id = 1 AND id = 2")).await;
    assert_eq!(beyond, "the filter is too complex: more than 3 words and operators");
    assert_eq!(server.try_commit("t", &commit("id = 1")).await.0, 201);
}

#[tokio::test]
async fn a_page_is_as_large_as_the_limit() {
    let server = server(Limits { page_size: 2, ..Limits::default() }).await;
    server.change("t", &["a", "b", "c"], &[]).await;
    let (_, plan) = server.post(PLAN, &json!({})).await;
    assert_eq!(plan["files"].as_array().unwrap().len(), 2, "a page that is not asked for in a size is no larger");
    assert!(is_planned(&server, &json!({"page_size": 2})).await);
    assert_eq!(fault(&server, PLAN, &json!({"page_size": 3})).await, "page_size is not from 1 to 2");
    for listing in ["files", "snapshots", "manifests", "tags", "changes?from=0"] {
        let separator = if listing.contains('?') { '&' } else { '?' };
        let route = |size: u32| format!("/v1/namespaces/n/tables/t/{listing}{separator}page_size={size}");
        assert_eq!(server.get(&route(2)).await.0, 200, "{listing}");
        let (status, problem) = server.get(&route(3)).await;
        assert_eq!((status, faults(&problem)), (422, vec!["page_size is not from 1 to 2".to_owned()]), "{listing}");
    }
}

#[tokio::test]
async fn a_commit_has_as_many_files_as_the_limit() {
    let server = server(Limits { files_per_commit: 3, ..Limits::default() }).await;
    server.change("t", &["a", "b", "c"], &[]).await;
    let file = |path: &str| json!({"path": path, "size_bytes": 1});
    let beyond = json!({"operation": "overwrite", "add": [file("d"), file("e")], "remove": ["a", "b"]});
    let refused = fault(&server, "/v1/namespaces/n/tables/t/commits", &beyond).await;
    assert_eq!(refused, "a commit adds and removes at most 3 files, and this one 4");
    let commit = |table: &str| json!({"table": table, "operation": "append", "add": [file("f"), file("g")]});
    server.create_declared("u").await;
    let both = json!({"commits": [commit("n.t"), commit("n.u")]});
    let refused = fault(&server, "/v1/transactions", &both).await;
    assert_eq!(refused, "a transaction adds and removes at most 3 files, and this one 4");
}

#[tokio::test]
async fn notes_and_lists_have_limits() {
    let server = server(Limits::default()).await;
    let notes = |count: usize| (0..count).map(|number| (number.to_string(), json!("x"))).collect::<Value>();
    let add = json!([{"path": "a", "size_bytes": 1}]);
    let commit = |count| json!({"operation": "append", "add": add, "summary": notes(count)});
    let beyond = fault(&server, "/v1/namespaces/n/tables/t/commits", &commit(MAX_NOTES + 1)).await;
    assert_eq!(beyond, "1001 entries are more than 1000");
    assert_eq!(server.try_commit("t", &commit(MAX_NOTES)).await.0, 201);
    let namespace = |count| json!({"name": format!("n{count}"), "properties": notes(count)});
    assert_eq!(fault(&server, "/v1/namespaces", &namespace(MAX_NOTES + 1)).await, "1001 entries are more than 1000");
    assert_eq!(server.post("/v1/namespaces", &namespace(MAX_NOTES)).await.0, 201);
    let properties = |count| json!({"properties": notes(count)});
    let (status, problem) = server.patch("/v1/namespaces/n/tables/t", &properties(MAX_NOTES + 1)).await;
    assert_eq!((status, faults(&problem).len()), (422, 1), "{problem}");
    let select = |count| json!({"select": vec!["id"; count]});
    assert!(is_planned(&server, &select(MAX_SELECTED_COLUMNS)).await);
    let beyond = fault(&server, PLAN, &select(MAX_SELECTED_COLUMNS + 1)).await;
    assert_eq!(beyond, "10001 columns are more than 10000");
    let absent = json!([{"path": "b", "size_bytes": 1, "absent_columns": vec!["id"; 10_001]}]);
    let commit = json!({"operation": "append", "add": absent});
    let beyond = fault(&server, "/v1/namespaces/n/tables/t/commits", &commit).await;
    assert_eq!(beyond, "10001 absent_columns are more than 10000");
}

#[tokio::test]
async fn the_config_tells_the_limits_that_hold() {
    let limits = Limits { filter_bytes: 100, plans_waiting: 5, changes_waiting: usize::MAX, ..Limits::default() };
    let (_, config) = server(limits).await.get("/v1/config").await;
    let told = |name: &str| config["limits"][name].as_u64();
    assert_eq!((told("filter_bytes"), told("plans_waiting"), told("plans_at_once")), (Some(100), Some(5), Some(16)));
    assert_eq!(told("changes_waiting"), Some(prunus_catalog::MAX_CHANGES_WAITING as u64));
}
