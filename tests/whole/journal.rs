//! The journal tells of each change that was asked for once, and of nothing else.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

const TABLE: &str = "/v1/namespaces/n/tables/t";

/// A change: what the API calls it, its request, and what the journal tells of it, but for times and ids.
struct Case {
    operation: &'static str,
    method: Method,
    route: &'static str,
    body: Value,
    told: Vec<Value>,
}

fn case(operation: &'static str, method: Method, route: &'static str, body: Value, told: Value) -> Case {
    let Value::Array(told) = told else { panic!("{told}") };
    Case { operation, method, route, body, told }
}

fn declared(name: &str, location: &str) -> Value {
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "day", "type": "date"}]);
    json!({
        "name": name, "schema": {"fields": fields}, "location": location, "cluster_by": ["id"],
        "properties": {"verification": "declared"},
    })
}

fn append(names: &[&str]) -> Value {
    let add: Vec<Value> = names.iter().map(|name| json!({"path": name, "size_bytes": 7})).collect();
    json!({"operation": "append", "add": add})
}

fn of_table(table: &str, told: &Value) -> Value {
    let mut told = told.clone();
    told["namespace"] = "n".into();
    told["table"] = format!("n.{table}").into();
    told
}

/// Every operation that changes something, in an order in which all succeed. Manifests have two files. An audit of what lies at the
/// silent place goes on until it is cancelled.
fn cases(silent: &str) -> Vec<Case> {
    let (post, put, patch, delete) = (Method::POST, Method::PUT, Method::PATCH, Method::DELETE);
    let t = |told: Value| json!([of_table("t", &told)]);
    let mut commit_u = append(&["u1"]);
    commit_u["table"] = "n.u".into();
    let commit_t = json!({"table": "n.t", "operation": "delete", "remove": ["a"]});
    vec![
        case("create_namespace", post.clone(), "/v1/namespaces", json!({"name": "n"}), json!([{"namespace": "n"}])),
        case(
            "create_token",
            post.clone(),
            "/v1/tokens",
            json!({"name": "ana", "grants": ["reader:n"]}),
            json!([{"detail": {"token": "ana", "grants": ["reader:n"]}}]),
        ),
        case("revoke_token", delete.clone(), "/v1/tokens/ana", Value::Null, json!([{"detail": {"token": "ana"}}])),
        case("create_table", post.clone(), "/v1/namespaces/n/tables", declared("t", "s3://b/t/"), t(json!({}))),
        case(
            "create_table",
            post.clone(),
            "/v1/namespaces/n/tables",
            declared("u", silent),
            json!([of_table("u", &json!({}))]),
        ),
        case(
            "commit",
            post.clone(),
            "/v1/namespaces/n/tables/t/commits",
            append(&["a", "b", "c", "d", "e"]),
            t(json!({
                "from_snapshot": 0, "to_snapshot": 1, "detail": {"operation": "append", "added_files": 5},
            })),
        ),
        case(
            "commit_transaction",
            post.clone(),
            "/v1/transactions",
            json!({"commits": [commit_t, commit_u]}),
            json!([
                of_table(
                    "t",
                    &json!({
                        "from_snapshot": 1, "to_snapshot": 2, "detail": {"operation": "delete", "removed_files": 1},
                    })
                ),
                of_table(
                    "u",
                    &json!({
                        "from_snapshot": 0, "to_snapshot": 1, "detail": {"operation": "append", "added_files": 1},
                    })
                ),
            ]),
        ),
        case(
            "roll_back",
            post.clone(),
            "/v1/namespaces/n/tables/t/rollback",
            json!({"snapshot_id": 1}),
            t(json!({"from_snapshot": 2, "to_snapshot": 3, "detail": {"rolled_back_to": 1, "added_files": 1}})),
        ),
        case(
            "set_tag",
            put.clone(),
            "/v1/namespaces/n/tables/t/tags/x",
            json!({"snapshot_id": 1}),
            t(json!({"to_snapshot": 1, "detail": {"tag": "x"}})),
        ),
        case(
            "set_tag",
            put,
            "/v1/namespaces/n/tables/t/tags/x",
            json!({"snapshot_id": 3}),
            t(json!({"from_snapshot": 1, "to_snapshot": 3, "detail": {"tag": "x"}})),
        ),
        case(
            "delete_tag",
            delete.clone(),
            "/v1/namespaces/n/tables/t/tags/x",
            Value::Null,
            t(json!({"from_snapshot": 3, "detail": {"tag": "x"}})),
        ),
        case(
            "start_audit",
            post.clone(),
            "/v1/namespaces/n/tables/u/audits",
            json!({"mode": "scan", "repair": true}),
            json!([of_table("u", &json!({"detail": {"audit_id": 1, "mode": "scan", "repair": true}}))]),
        ),
        case(
            "cancel_audit",
            delete.clone(),
            "/v1/namespaces/n/tables/u/audits/1",
            Value::Null,
            json!([of_table("u", &json!({"detail": {"audit_id": 1}}))]),
        ),
        case(
            "regroup_manifests",
            post.clone(),
            "/v1/namespaces/n/tables/t/regroup",
            json!({"cluster_by": ["day"]}),
            t(json!({"detail": {"cluster_by": ["day"]}})),
        ),
        case(
            "expire_snapshots",
            post,
            "/v1/namespaces/n/tables/t/expire",
            json!({"keep_last": 1, "dry_run": false}),
            t(json!({"detail": {"expired_snapshots": 2, "forgotten_files": 1}})),
        ),
        case(
            "alter_table",
            patch,
            TABLE,
            json!({
                "rename": "n.v", "properties": {"owner": "secret"}, "cluster_by": ["id"],
                "schema": [{"op": "add", "name": "note", "type": "string"}, {"op": "rename", "column": "day", "to": "date"}],
            }),
            t(json!({
                "detail": {
                    "renamed_to": "n.v", "properties": ["owner"], "cluster_by": ["id"],
                    "schema": ["add note", "rename day to date"],
                },
            })),
        ),
        case(
            "delete_table",
            delete.clone(),
            "/v1/namespaces/n/tables/v",
            Value::Null,
            json!([of_table("v", &json!({"from_snapshot": 3}))]),
        ),
        case(
            "delete_table",
            delete.clone(),
            "/v1/namespaces/n/tables/u",
            Value::Null,
            json!([of_table("u", &json!({"from_snapshot": 1}))]),
        ),
        case("delete_namespace", delete, "/v1/namespaces/n", Value::Null, json!([{"namespace": "n"}])),
    ]
}

/// The journal from the first entry on.
async fn journal(server: &Server, query: &str) -> Vec<Value> {
    let (status, mut listed) = server.get(&format!("/v1/journal{query}")).await;
    assert_eq!((status, listed.get("next_page_token")), (200, None), "{listed}");
    let mut entries = serde_json::from_value::<Vec<Value>>(listed["entries"].take()).unwrap();
    entries.reverse();
    entries
}

/// What differs from run to run is left out.
fn without_ids(mut entry: Value) -> Value {
    let fields = entry.as_object_mut().unwrap();
    for field in ["entry_id", "at", "principal", "request_id"] {
        fields.remove(field);
    }
    entry
}

/// The operations of the document that change something.
async fn changing_operations(server: &Server) -> BTreeSet<String> {
    let document = server.get("/openapi.json").await.1;
    let items = document["paths"].as_object().unwrap().values();
    let operations = items.flat_map(|item| item.as_object().unwrap().iter()).filter(|(method, _)| *method != "get");
    let names = operations.map(|(_, operation)| operation["operationId"].as_str().unwrap().to_owned());
    names.filter(|name| name != "plan_scan" && name != "explain_file").collect()
}

#[tokio::test]
async fn every_operation_that_changes_something_is_told_once() {
    let server = Server::start(2).await;
    // It takes connections, and never answers.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut operations = BTreeSet::new();
    let mut before = 0;
    let cases = cases(&format!("http://{}/u/", silent.local_addr().unwrap()));
    for Case { operation, method, route, body, told } in cases {
        let request = server.request(method, route).header("idempotency-key", format!("{operation} {before}"));
        let request = if body.is_null() { request } else { request.json(&body) };
        let again = request.try_clone().unwrap();
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{operation}: {}", answer.text().await.unwrap());
        // What is answered from before changes nothing. A secret is told once, and no reply that holds it is kept.
        let again = again.send().await.unwrap();
        let is_kept = again.headers().contains_key("idempotency-replayed");
        assert_eq!((is_kept, again.status() == 409), (operation != "create_token", operation == "create_token"));
        // What follows in the background is nobody's change.
        server.wait_for_maintenance().await;
        let entries = journal(&server, "").await;
        let found: Vec<Value> = entries.iter().skip(before).cloned().map(without_ids).collect();
        let expected = told.into_iter().map(|mut entry| {
            entry["operation"] = operation.into();
            entry
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{operation}");
        before = entries.len();
        operations.insert(operation.to_owned());
    }
    assert_eq!(operations, changing_operations(&server).await);
    let entries = journal(&server, "").await;
    assert!(entries.iter().all(|entry| entry["at"].as_str().unwrap() > "2020"), "{entries:?}");
    let ids: Vec<_> = entries.iter().map(|entry| entry["entry_id"].as_i64().unwrap()).collect();
    assert!(ids.iter().copied().eq(1..=i64::try_from(ids.len()).unwrap()), "{ids:?}");
    server.assert_sound().await;
}

#[tokio::test]
async fn what_is_refused_or_changes_nothing_is_not_told() {
    let server = Server::start(2).await;
    server.create_table("t", declared("t", "s3://b/t/")).await;
    server.post("/v1/namespaces/n/tables/t/commits", &append(&["a"])).await;
    server.put(&format!("{TABLE}/tags/x"), &json!({"snapshot_id": 1})).await;
    let before = journal(&server, "").await;
    let post = async |route: &str, body: Value| server.post(&format!("{TABLE}/{route}"), &body).await.0;
    assert_eq!(server.post("/v1/namespaces", &json!({"name": "n"})).await.0, 409);
    assert_eq!(server.delete("/v1/namespaces/n").await.0, 409);
    assert_eq!(post("commits", append(&["a"])).await, 409);
    assert_eq!(post("commits", append(&[])).await, 422);
    assert_eq!(post("rollback", json!({"snapshot_id": 9})).await, 404);
    assert_eq!(post("expire", json!({"keep_last": 1})).await, 200);
    assert_eq!(post("expire", json!({"keep_last": 1, "dry_run": false})).await, 200);
    assert_eq!(post("regroup", json!({"cluster_by": ["day"], "dry_run": true})).await, 200);
    assert_eq!(post("regroup", json!({"cluster_by": ["id"]})).await, 200);
    assert_eq!(post("plan", json!({"filter": "id = 1"})).await, 200);
    assert_eq!(server.put(&format!("{TABLE}/tags/x"), &json!({"snapshot_id": 1})).await.0, 200);
    assert_eq!(server.delete(&format!("{TABLE}/tags/y")).await.0, 404);
    assert_eq!(
        server.patch(TABLE, &json!({"rename": "n.t", "cluster_by": ["id"], "properties": {"none": null}})).await.0,
        200
    );
    assert_eq!(server.patch(TABLE, &json!({"schema": [{"op": "drop", "column": "none"}]})).await.0, 422);
    let transaction = json!({"commits": [
        {"table": "n.t", "operation": "append", "add": [{"path": "b", "size_bytes": 1}]},
        {"table": "n.u", "operation": "append", "add": [{"path": "b", "size_bytes": 1}]},
    ]});
    assert_eq!(server.post("/v1/transactions", &transaction).await.0, 404);
    assert_eq!(journal(&server, "").await, before);
}

#[tokio::test]
async fn an_audit_that_is_over_is_not_cancelled_once_more() {
    let server = Server::start(2).await;
    server.create_table("t", declared("t", "s3://b/t/")).await;
    assert_eq!(server.post(&format!("{TABLE}/audits"), &json!({"mode": "footer"})).await.0, 202);
    let audit = format!("{TABLE}/audits/1");
    while server.get(&audit).await.1["state"] == "running" {
        tokio::task::yield_now().await;
    }
    let before = journal(&server, "").await;
    assert_eq!(server.delete(&audit).await.0, 200);
    assert_eq!(journal(&server, "").await, before);
}

#[tokio::test]
async fn the_journal_is_asked_for_a_part_of_it() {
    let server = Server::start(2).await;
    server.create_table("t", declared("t", "s3://b/t/")).await;
    server.post("/v1/namespaces", &json!({"name": "n.m"})).await;
    server.post("/v1/namespaces", &json!({"name": "nm"})).await;
    server.post("/v1/namespaces/n/tables/t/commits", &append(&["a"])).await;
    let operations = async |query: &str| {
        let entries = journal(&server, query).await;
        entries.iter().map(|entry| entry["operation"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(operations("?table=n.t").await, ["create_table", "commit"]);
    assert_eq!(operations("?namespace=n.m").await, ["create_namespace"]);
    assert_eq!(operations("?namespace=n&operation=create_namespace").await.len(), 2);
    assert_eq!(operations("?principal=nobody").await, [""; 0]);
    assert_eq!(operations("?until=2001-01-01T00:00:00Z").await, [""; 0]);
    assert_eq!(operations("?since=2001-01-01T00:00:00Z").await.len(), 5);

    let (_, first) = server.get("/v1/journal?page_size=3").await;
    let token = first["next_page_token"].as_str().unwrap();
    let (_, second) = server.get(&format!("/v1/journal?page_size=3&page_token={token}")).await;
    let ids = [&first, &second].map(|page| {
        let entries = page["entries"].as_array().unwrap().iter();
        entries.map(|entry| entry["entry_id"].as_i64().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!((ids, second.get("next_page_token")), ([vec![5, 4, 3], vec![2, 1]], None));
    assert_eq!(server.get(&format!("/v1/journal?namespace=n&page_token={token}")).await.0, 400);
    let (status, problem) = server.get("/v1/journal?namespace=a..b&table=t&since=x&until=y&page_size=0").await;
    let at: Vec<_> = problem["faults"].as_array().unwrap().iter().map(|fault| &fault["at"]).collect();
    assert_eq!(
        (status, at),
        (422, ["namespace", "table", "since", "until", "page_size"].map(Value::from).iter().collect())
    );
}
