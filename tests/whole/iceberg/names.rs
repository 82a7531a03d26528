//! What there is: namespaces by their levels, and the tables in them.

use serde_json::{Value, json};

use crate::server::Server;

/// Namespaces `n`, `a.b` and `a.b.c`, of which `n` has tables `t` and `u`; `a` only holds others.
async fn server() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.create_declared("u").await;
    for name in ["a.b", "a.b.c", "a-b"] {
        assert_eq!(server.post("/v1/namespaces", &json!({"name": name})).await.0, 201);
    }
    server
}

async fn namespaces(server: &Server, query: &str) -> Value {
    let (status, mut answer) = server.get(&format!("/iceberg/v1/namespaces{query}")).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["next-page-token"], Value::Null);
    answer["namespaces"].take()
}

#[tokio::test]
async fn scans_are_planned_by_the_server() {
    let server = Server::start(2).await;
    let (status, config) = server.get("/iceberg/v1/config?warehouse=any").await;
    assert_eq!((status, &config["defaults"]), (200, &json!({})));
    let overrides = json!({"scan-planning-mode": "server", "rest-scan-planning-enabled": "true"});
    assert_eq!(config["overrides"], overrides);
    let plan = json!("POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan");
    assert!(config["endpoints"].as_array().unwrap().contains(&plan));
}

#[tokio::test]
async fn namespaces_are_listed_level_by_level() {
    let server = server().await;
    assert_eq!(namespaces(&server, "").await, json!([["a"], ["a-b"], ["n"]]));
    assert_eq!(namespaces(&server, "?parent=a").await, json!([["a", "b"]]));
    assert_eq!(namespaces(&server, "?parent=a%1Fb").await, json!([["a", "b", "c"]]));
    assert_eq!(namespaces(&server, "?parent=n&unknown=1").await, json!([]));
}

#[tokio::test]
async fn a_level_is_whole_however_much_lies_below_it() {
    let server = Server::start(2).await;
    // A page of names below one, and others that sort between it and these, and behind.
    let below = (0..1_200).map(|number| format!("x.a{number}"));
    for name in below.chain(["x-y", "x-z.q", "x!", "x0", "w", "y.z.q"].map(str::to_owned)) {
        assert_eq!(server.post("/v1/namespaces", &json!({"name": name})).await.0, 201, "{name}");
    }
    let expected = json!([["w"], ["x"], ["x!"], ["x-y"], ["x-z"], ["x0"], ["y"]]);
    assert_eq!(namespaces(&server, "").await, expected);
    assert_eq!(namespaces(&server, "?parent=x").await.as_array().unwrap().len(), 1_200);
    assert_eq!(namespaces(&server, "?parent=y").await, json!([["y", "z"]]));
}

#[tokio::test]
async fn a_parent_that_is_not_there_is_not_found() {
    let server = server().await;
    let (status, answer) = server.get("/iceberg/v1/namespaces?parent=ghost").await;
    assert_eq!((status, &answer["error"]["type"]), (404, &json!("NoSuchNamespaceException")));
}

#[tokio::test]
async fn names_come_in_pages_for_those_who_ask_for_pages() {
    let server = server().await;
    for (route, key, expected) in [
        ("/iceberg/v1/namespaces", "namespaces", json!([["a"], ["a-b"], ["n"]])),
        (
            "/iceberg/v1/namespaces/n/tables",
            "identifiers",
            json!([{"namespace": ["n"], "name": "t"}, {"namespace": ["n"], "name": "u"}]),
        ),
    ] {
        let (mut token, mut found) = (String::new(), Vec::new());
        loop {
            let (_, answer) = server.get(&format!("{route}?pageSize=1&pageToken={token}")).await;
            assert_eq!(answer[key].as_array().unwrap().len(), 1, "{answer}");
            found.push(answer[key][0].clone());
            let Some(next) = answer["next-page-token"].as_str() else { break };
            token = next.to_owned();
        }
        assert_eq!(json!(found), expected);
        assert_eq!(server.get(route).await.1[key], expected);
        assert_eq!(server.get(&format!("{route}?pageToken=")).await.1[key], expected);
    }
}

#[tokio::test]
async fn a_namespace_that_only_holds_others_is_there() {
    let server = server().await;
    let of = |levels: &str| format!("/iceberg/v1/namespaces/{levels}");
    assert_eq!(server.get(&of("a")).await, (200, json!({"namespace": ["a"], "properties": {}})));
    assert_eq!(server.get(&of("a%1Fb")).await, (200, json!({"namespace": ["a", "b"], "properties": {}})));
    assert_eq!(server.get(&of("a/tables")).await, (200, json!({"identifiers": []})));
    assert_eq!(server.get(&of("ghost/tables")).await.0, 404);
    for (levels, status) in [("a", 204), ("a%1Fb", 204), ("n", 204), ("b", 404), ("a%1F", 400), ("a.b", 400)] {
        let answer = server.request(reqwest::Method::HEAD, &of(levels)).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{levels}");
    }
}

#[tokio::test]
async fn a_table_is_asked_for_by_its_name() {
    let server = server().await;
    for (table, status) in [("n/tables/t", 204), ("n/tables/none", 404), ("ghost/tables/t", 404)] {
        let route = format!("/iceberg/v1/namespaces/{table}");
        let answer = server.request(reqwest::Method::HEAD, &route).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{table}");
    }
}
