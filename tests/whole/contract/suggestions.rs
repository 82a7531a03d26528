//! A name that there is not is answered with the one that was probably meant, wherever a request has names.

use reqwest::Method;
use serde_json::{Value, json};

use super::written;
use crate::server::{Server, faults};

async fn server() -> Server {
    let server = Server::start(8).await;
    for name in ["sales", "stock"] {
        server.post("/v1/namespaces", &json!({"name": name})).await;
    }
    let fields = json!([
        {"name": "amount", "type": "int64"},
        {"name": "place", "type": {"type": "struct", "fields": [{"name": "city", "type": "string"}]}},
        {"name": "tags", "type": {"type": "list", "element": "string"}},
    ]);
    let table = json!({"name": "orders", "schema": {"fields": fields}, "location": server.path(""),
        "properties": {"verification": "declared"}});
    let (status, answer) = server.post("/v1/namespaces/sales/tables", &table).await;
    assert_eq!(status, 201, "{answer}");
    server
}

const T: &str = "/v1/namespaces/sales/tables/orders";

#[tokio::test]
async fn of_tables_and_namespaces() {
    let server = server().await;
    let detail = async |method: Method, route: &str, body: Value| {
        let headers = [("content-type", "application/json")];
        let (status, _, answer) = server.send_raw(method, route, &headers, written(&body)).await;
        let problem: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!((status, &problem["type"]), (404, &json!("/problems/not-found")), "{problem}");
        problem["detail"].as_str().unwrap().to_owned()
    };
    let near = "table `sales.order` does not exist, did you mean `sales.orders`?";
    let of_table = |rest: &str| format!("/v1/namespaces/sales/tables/order{rest}");
    let append = json!({"operation": "append", "add": [{"path": "a", "size_bytes": 1}]});
    for (method, rest, body) in [
        (Method::GET, "", Value::Null),
        (Method::DELETE, "", Value::Null),
        (Method::PATCH, "", json!({})),
        (Method::POST, "/plan", json!({})),
        (Method::POST, "/plan", json!({"filter": "amount ="})),
        (Method::POST, "/explain", json!({"path": "a"})),
        (Method::POST, "/commits", append.clone()),
        (Method::POST, "/rollback", json!({"snapshot_id": 0})),
        (Method::POST, "/regroup", json!({})),
        (Method::POST, "/expire", json!({"keep_last": 1})),
        (Method::POST, "/audits", json!({"mode": "footer"})),
        (Method::PUT, "/tags/x", json!({"snapshot_id": 0})),
        (Method::GET, "/tags", Value::Null),
        (Method::GET, "/files", Value::Null),
        (Method::GET, "/snapshots", Value::Null),
        (Method::GET, "/changes?from=0", Value::Null),
        (Method::GET, "/columns", Value::Null),
        (Method::GET, "/manifests", Value::Null),
        (Method::GET, "/manifests/1", Value::Null),
        (Method::GET, "/audits", Value::Null),
        (Method::GET, "/orphans", Value::Null),
    ] {
        assert_eq!(detail(method, &of_table(rest), body).await, near, "{rest}");
    }
    let elsewhere = "table `stock.orders` does not exist, did you mean `sales.orders`?";
    assert_eq!(detail(Method::GET, "/v1/namespaces/stock/tables/orders", Value::Null).await, elsewhere);
    let nothing = "table `stock.zebra` does not exist";
    assert_eq!(detail(Method::GET, "/v1/namespaces/stock/tables/zebra", Value::Null).await, nothing);
    let namespace = "namespace `sale` does not exist, did you mean `sales`?";
    assert_eq!(detail(Method::GET, "/v1/namespaces/sale", Value::Null).await, namespace);
    assert_eq!(detail(Method::GET, "/v1/namespaces/sale/tables/orders", Value::Null).await, namespace);
    let mut commit = append;
    commit["table"] = "sales.ordes".into();
    let of_transaction = detail(Method::POST, "/v1/transactions", json!({"commits": [commit]})).await;
    assert_eq!(of_transaction, "sales.ordes: table `sales.ordes` does not exist, did you mean `sales.orders`?");
}

#[tokio::test]
async fn of_columns_wherever_one_is_named() {
    let server = server().await;
    let told = async |method: Method, rest: &str, body: Value| {
        let headers = [("content-type", "application/json")];
        let (status, _, answer) = server.send_raw(method, &format!("{T}{rest}"), &headers, written(&body)).await;
        let problem: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(status, 422, "{problem}");
        faults(&problem).concat()
    };
    let near = "amont: unknown column `amont`, did you mean `amount`?";
    let in_file = |file: Value| json!({"operation": "append", "add": [file]});
    let of_file = |extra: Value| {
        let mut file = json!({"path": "a", "size_bytes": 1});
        file.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        in_file(file)
    };
    for (method, rest, body) in [
        (Method::POST, "/plan", json!({"filter": "amont = 1"})),
        (Method::POST, "/plan", json!({"select": ["amont"]})),
        (Method::POST, "/regroup", json!({"cluster_by": ["amont"]})),
        (Method::PATCH, "", json!({"cluster_by": ["amont"]})),
        (Method::PATCH, "", json!({"properties": {"statistics.amont": "none"}})),
        (Method::PATCH, "", json!({"schema": [{"op": "drop", "column": "amont"}]})),
        (Method::PATCH, "", json!({"schema": [{"op": "rename", "column": "amont", "to": "x"}]})),
    ] {
        assert_eq!(told(method, rest, body).await, near, "{rest}");
    }
    for extra in
        [json!({"partition": {"amont": 1}}), json!({"absent_columns": ["amont"]}), json!({"columns": {"amont": {}}})]
    {
        assert_eq!(told(Method::POST, "/commits", of_file(extra)).await, format!("a: {near}"));
    }
    let after = json!({"schema": [{"op": "move", "column": "amount", "after": "plce"}]});
    let expected = "amount: there is no column `plce` beside it to come after, did you mean `place`?";
    assert_eq!(told(Method::PATCH, "", after).await, expected);
    let nested = told(Method::PATCH, "", json!({"cluster_by": ["place", "tags", "place.citi"]})).await;
    let expected = "place: column `place` is nested; what is in it is named like `place.city`\
        tags: column `tags` is nested; what is in it is named like `tags.element`\
        place.citi: unknown column `place.citi`, did you mean `place.city`?";
    assert_eq!(nested, expected);
    let item = told(Method::PATCH, "", json!({"schema": [{"op": "drop", "column": "tags.element"}]})).await;
    assert_eq!(item, "tags.element: what is in the list or map `tags` cannot be changed");
}

#[tokio::test]
async fn of_types_and_values_of_properties() {
    let server = server().await;
    let body = json!({"name": "u", "schema": {"fields": [{"name": "a", "type": "int"}]}, "properties": {"verification": "foter"}});
    let (_, problem) = server.post("/v1/namespaces/sales/tables", &body).await;
    assert_eq!(
        faults(&problem),
        [
            "field `a`: unknown type `int`, did you mean `int32`?",
            "`foter` is none of `footer`, `scan`, `declared`; did you mean `footer`?",
        ]
    );
}
