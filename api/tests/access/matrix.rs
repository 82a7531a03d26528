//! Every route against every kind of token: what is expected stands here, written by hand, and nowhere else.

use std::collections::BTreeSet;

use axum::http::{Method, StatusCode};
use prunus_catalog::{Grants, NewToken};
use serde_json::{Value, json};

use crate::api::Api;
use crate::clock::SetClock;

/// The columns: first tokens that open nothing, then each role with a grant everywhere, on the namespace that the route is about, on
/// another one, and on the one above it.
const COLUMNS: [&str; 16] = [
    "none",
    "wrong",
    "expired",
    "revoked",
    "reader everywhere",
    "reader of own",
    "reader of other",
    "reader of parent",
    "writer everywhere",
    "writer of own",
    "writer of other",
    "writer of parent",
    "admin everywhere",
    "admin of own",
    "admin of other",
    "admin of parent",
];

/// Method and route, what is in its path for what the document has there, its body, the status where it is let in, and a sign for each
/// column: `+` let in, `?` 401, `-` 403.
type Row = (&'static str, &'static str, &'static str, &'static str, u16, &'static str);

#[rustfmt::skip]
const ROWS: [Row; 58] = [
    ("GET", "/healthz", "", "", 200,                                                    "++++ ++++ ++++ ++++"),
    ("GET", "/readyz", "", "", 200,                                                     "++++ ++++ ++++ ++++"),
    ("GET", "/openapi.json", "", "", 200,                                               "++++ ++++ ++++ ++++"),
    ("GET", "/docs", "", "", 303,                                                       "++++ ++++ ++++ ++++"),
    ("GET", "/docs/", "", "", 200,                                                      "++++ ++++ ++++ ++++"),
    ("GET", "/docs/{file}", "none", "", 404,                                            "++++ ++++ ++++ ++++"),
    ("GET", "/problems", "", "", 200,                                                   "++++ ++++ ++++ ++++"),
    ("GET", "/problems/{name}", "forbidden", "", 200,                                   "++++ ++++ ++++ ++++"),
    ("GET", "/metrics", "", "", 200,                                                    "???? ++++ ++++ ++++"),
    ("GET", "/v1/config", "", "", 200,                                                  "???? ++++ ++++ ++++"),
    ("GET", "/v1/tokens", "", "", 200,                                                  "???? ---- ---- ++++"),
    ("POST", "/v1/tokens", "", r#"{"name": "taken", "grants": ["reader:p.own"]}"#, 409, "???? ---- ---- ++-+"),
    ("DELETE", "/v1/tokens/{token}", "taken", "", 204,                                  "???? ---- ---- ++-+"),
    ("GET", "/v1/journal", "", "", 200,                                                 "???? ---- ---- ++++"),
    ("GET", "/v1/namespaces", "", "", 200,                                              "???? ++++ ++++ ++++"),
    ("POST", "/v1/namespaces", "", r#"{"name": "p.own"}"#, 409,                         "???? ---- ---- ++-+"),
    ("GET", "/v1/namespaces/{namespace}", "", "", 200,                                  "???? ++-+ ++-+ ++-+"),
    ("DELETE", "/v1/namespaces/{namespace}", "", "", 409,                               "???? ---- ---- ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables", "", "", 200,                           "???? ++-+ ++-+ ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables", "", TABLE, 409,                       "???? ---- ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}", "", "", 200,                   "???? ++-+ ++-+ ++-+"),
    ("PATCH", "/v1/namespaces/{namespace}/tables/{table}", "", PROPERTY, 200,           "???? ---- ++-+ ++-+"),
    ("DELETE", "/v1/namespaces/{namespace}/tables/{table}", "none", "", 404,            "???? ---- ---- ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables/{table}/commits", "", REMOVAL, 409,     "???? ---- ++-+ ++-+"),
    ("POST", "/v1/transactions", "", TRANSACTION, 409,                                  "???? ---- ++-+ ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables/{table}/plan", "", "{}", 200,           "???? ++-+ ++-+ ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables/{table}/explain", "", FILE, 404,        "???? ++-+ ++-+ ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables/{table}/regroup", "", DRY_RUN, 200,     "???? ---- ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/audits", "", "", 200,            "???? ++-+ ++-+ ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables/{table}/audits", "", AUDIT, 202,        "???? ---- ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/audits/{audit_id}", "99", "", 404, "???? ++-+ ++-+ ++-+"),
    ("DELETE", "/v1/namespaces/{namespace}/tables/{table}/audits/{audit_id}", "99", "", 404, "???? ---- ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/snapshots", "", "", 200,         "???? ++-+ ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/snapshots/{snapshot_id}", "99", "", 404, "???? ++-+ ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/files", "", "", 200,             "???? ++-+ ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/columns", "", "", 200,           "???? ++-+ ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/manifests", "", "", 200,         "???? ++-+ ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/manifests/{manifest_id}", "99", "", 404, "???? ++-+ ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/changes", "?from=0", "", 200,    "???? ++-+ ++-+ ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables/{table}/rollback", "", SNAPSHOT, 404,   "???? ---- ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/tags", "", "", 200,              "???? ++-+ ++-+ ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/tags/{tag}", "none", "", 404,    "???? ++-+ ++-+ ++-+"),
    ("PUT", "/v1/namespaces/{namespace}/tables/{table}/tags/{tag}", "new", SNAPSHOT, 404, "???? ---- ++-+ ++-+"),
    ("DELETE", "/v1/namespaces/{namespace}/tables/{table}/tags/{tag}", "none", "", 404, "???? ---- ++-+ ++-+"),
    ("POST", "/v1/namespaces/{namespace}/tables/{table}/expire", "", KEEP, 200,         "???? ---- ---- ++-+"),
    ("GET", "/v1/namespaces/{namespace}/tables/{table}/orphans", "", "", 200,           "???? ---- ++-+ ++-+"),
    ("GET", "/iceberg/v1/config", "", "", 200,                                          "???? ++++ ++++ ++++"),
    ("GET", "/iceberg/v1/namespaces", "", "", 200,                                      "???? ++++ ++++ ++++"),
    ("GET", "/iceberg/v1/namespaces/{namespace}", "", "", 200,                          "???? ++-+ ++-+ ++-+"),
    ("HEAD", "/iceberg/v1/namespaces/{namespace}", "", "", 204,                         "???? ++-+ ++-+ ++-+"),
    ("GET", "/iceberg/v1/namespaces/{namespace}/tables", "", "", 200,                   "???? ++-+ ++-+ ++-+"),
    ("GET", "/iceberg/v1/namespaces/{namespace}/tables/{table}", "", "", 200,           "???? ++-+ ++-+ ++-+"),
    ("HEAD", "/iceberg/v1/namespaces/{namespace}/tables/{table}", "", "", 204,          "???? ++-+ ++-+ ++-+"),
    ("POST", "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan", "", "{}", 200,   "???? ++-+ ++-+ ++-+"),
    ("GET", "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan/{plan-id}", "none", "", 404, "???? ++-+ ++-+ ++-+"),
    ("DELETE", "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan/{plan-id}", "none", "", 404, "???? ++-+ ++-+ ++-+"),
    ("POST", "/iceberg/v1/namespaces/{namespace}/tables/{table}/tasks", "", PLAN_TASK, 404, "???? ++-+ ++-+ ++-+"),
    ("POST", "/iceberg/v1/namespaces/{namespace}/tables/{table}/metrics", "", "{}", 204, "???? ++-+ ++-+ ++-+"),
];

const TABLE: &str = r#"{"name": "t", "schema": {"fields": [{"name": "x", "type": "int64"}]}}"#;
const PROPERTY: &str = r#"{"properties": {"owner": "me"}}"#;
const REMOVAL: &str = r#"{"operation": "delete", "remove": ["/data/none.parquet"]}"#;
const TRANSACTION: &str =
    r#"{"commits": [{"table": "p.own.t", "operation": "delete", "remove": ["/data/none.parquet"]}]}"#;
const AUDIT: &str = r#"{"mode": "footer"}"#;
const FILE: &str = r#"{"path": "/data/none.parquet", "filter": "x = 1"}"#;
const DRY_RUN: &str = r#"{"dry_run": true}"#;
const SNAPSHOT: &str = r#"{"snapshot_id": 99}"#;
const PLAN_TASK: &str = r#"{"plan-task": "none"}"#;
const KEEP: &str = r#"{"keep_last": 1, "dry_run": true}"#;

/// The path that is asked for: about `p.own.t`, with `part` for the last variable, or at its end where there is none.
fn path_of(route: &str, part: &str) -> String {
    let last = route.rsplit('/').next().unwrap();
    let is_part = last.starts_with('{') && !part.is_empty();
    let path = if is_part { route.replace(last, part) } else { format!("{route}{part}") };
    let namespace = if is_of_iceberg(route) { "p%1Fown" } else { "p.own" };
    path.replace("{namespace}", namespace).replace("{table}", "t")
}

fn is_of_iceberg(route: &str) -> bool {
    route.starts_with("/iceberg/")
}

/// The tokens of the columns, in their order; an empty text is none.
async fn tokens(api: &Api) -> Vec<Option<String>> {
    let soon = NewToken {
        name: "expired".parse().unwrap(),
        grants: Grants::new(vec!["admin".parse().unwrap()]).unwrap(),
        expires_at_ms: Some(SetClock::START_MS + 1),
    };
    let (_, expired) = api.catalog.create_token(soon).await.unwrap();
    api.clock.pass_ms(1);
    let revoked = api.token("revoked", &["admin"]).await;
    api.catalog.revoke_token("revoked".parse().unwrap()).await.unwrap();
    let wrong = format!("prunus_{}", "x".repeat(43));
    let mut tokens = vec![None, Some(wrong), Some(expired.reveal().to_owned()), Some(revoked)];
    for role in ["reader", "writer", "admin"] {
        for place in ["", ":p.own", ":other", ":p"] {
            let name = format!("{role}{}", place.replace(':', "-"));
            tokens.push(Some(api.token(&name, &[&format!("{role}{place}")]).await));
        }
    }
    tokens
}

#[tokio::test]
async fn every_route_is_open_to_whom_it_should_be() {
    let api = Api::new().await;
    api.token("taken", &["reader:p.own"]).await;
    let tokens = tokens(&api).await;
    assert_eq!(tokens.len(), COLUMNS.len());
    for (method, route, part, body, status_in, signs) in ROWS {
        let (method, path) = (method.parse::<Method>().unwrap(), path_of(route, part));
        let body: Option<Value> = (!body.is_empty()).then(|| serde_json::from_str(body).unwrap());
        let signs: Vec<char> = signs.chars().filter(|sign| *sign != ' ').collect();
        assert_eq!(signs.len(), COLUMNS.len(), "{method} {route}");
        for ((token, column), sign) in tokens.iter().zip(COLUMNS).zip(signs) {
            let answer = api.send(method.clone(), &path, token.as_deref(), body.as_ref()).await;
            let expected = match sign {
                '+' => status_in,
                '?' => 401,
                _ => 403,
            };
            assert_eq!(answer.status.as_u16(), expected, "{method} {path} by {column}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn every_route_of_the_document_is_in_the_matrix() {
    let api = Api::new().await;
    let document = api.get("/openapi.json", &api.root).await.json();
    let described: BTreeSet<(String, String)> =
        document["paths"].as_object().unwrap().iter().flat_map(operations).collect();
    let native = ROWS.iter().filter(|(_, route, ..)| !is_of_iceberg(route));
    let listed: BTreeSet<(String, String)> =
        native.map(|(method, route, ..)| ((*method).to_owned(), (*route).to_owned())).collect();
    assert_eq!(listed, described);
}

#[tokio::test]
async fn every_endpoint_that_clients_of_iceberg_are_told_of_is_in_the_matrix() {
    let api = Api::new().await;
    let config = api.get("/iceberg/v1/config", &api.root).await.json();
    let told = config["endpoints"].as_array().unwrap().iter().map(|endpoint| endpoint.as_str().unwrap().to_owned());
    let of_iceberg = ROWS.iter().filter(|(_, route, ..)| is_of_iceberg(route));
    let endpoint = |method: &str, route: &str| {
        format!("{method} {}", route.trim_start_matches("/iceberg"))
            .replace("/v1/namespaces", "/v1/{prefix}/namespaces")
    };
    let listed: BTreeSet<String> = of_iceberg.map(|(method, route, ..)| endpoint(method, route)).collect();
    assert_eq!(told.collect::<BTreeSet<_>>(), listed);
}

fn operations((path, item): (&String, &Value)) -> Vec<(String, String)> {
    item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())).collect()
}

#[tokio::test]
async fn a_head_needs_what_a_get_needs() {
    let api = Api::new().await;
    let other = api.token("other", &["reader:other"]).await;
    for (token, expected) in [(None, 401), (Some(other.as_str()), 403), (Some(api.root.as_str()), 200)] {
        let answer = api.send(Method::HEAD, "/v1/namespaces/p.own/tables/t", token, None).await;
        assert_eq!(answer.status.as_u16(), expected);
    }
}

#[tokio::test]
async fn what_no_route_takes_is_told_to_anyone() {
    let api = Api::new().await;
    for (method, path, expected) in [(Method::GET, "/v2", 404), (Method::PUT, "/v1/namespaces/p.own", 405)] {
        assert_eq!(api.send(method, path, None, None).await.status.as_u16(), expected, "{path}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_forbidden_as_what_is() {
    let api = Api::new().await;
    let own = api.token("own", &["admin:p.own"]).await;
    for (method, route, part, body, ..) in ROWS.iter().filter(|(_, route, ..)| route.contains("{namespace}")) {
        let body: Option<Value> = (!body.is_empty()).then(|| serde_json::from_str(body).unwrap());
        let mut told = Vec::new();
        for (namespace, table) in [("other", "t"), ("other", "none"), ("ghost", "t")] {
            let route = route.replace("{table}", table);
            let path = path_of(&route, part).replace("/p.own", &format!("/{namespace}"));
            let path = path.replace("/p%1Fown", &format!("/{namespace}"));
            let answer = api.send(method.parse().unwrap(), &path, Some(&own), body.as_ref()).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path}: {answer:?}");
            // The answer to a HEAD has no body.
            let mut problem = if *method == "HEAD" { json!({}) } else { answer.json() };
            problem["request_id"].take();
            told.push(problem.to_string().replace(namespace, "NAMESPACE"));
        }
        assert!(told.windows(2).all(|two| two[0] == two[1]), "{told:?}");
    }
}

#[tokio::test]
async fn a_token_that_opens_nothing_is_not_told_which_it_is() {
    let api = Api::new().await;
    let mut told = Vec::new();
    for token in tokens(&api).await.into_iter().take(4).skip(1) {
        let answer = api.get("/v1/namespaces", &token.unwrap()).await;
        let mut problem = answer.json();
        problem["request_id"].take();
        let mut headers = answer.headers;
        headers.remove("x-request-id");
        assert_eq!(headers["www-authenticate"], "Bearer error=\"invalid_token\"");
        told.push((answer.status, headers, problem));
    }
    assert!(told.windows(2).all(|two| two[0] == two[1]), "{told:?}");
    let none = api.send(Method::GET, "/v1/namespaces", None, None).await;
    assert_eq!(none.headers["www-authenticate"], "Bearer");
}

#[tokio::test]
async fn a_refusal_says_what_is_needed() {
    let api = Api::new().await;
    let reader = api.token("reader", &["reader:p"]).await;
    let told =
        async |path: &str| api.post(path, &reader, &json!({})).await.json()["detail"].as_str().unwrap().to_owned();
    assert_eq!(told("/v1/namespaces/p.own/tables").await, "the role `writer` on namespace `p.own` is needed");
    assert_eq!(told("/v1/tokens").await, "the role `admin` on some namespace is needed");
    assert_eq!(told("/v1/namespaces/a..b/tables").await, "the role `writer` everywhere is needed");
}

#[tokio::test]
async fn a_body_is_not_looked_at_before_the_door() {
    let api = Api::new().await;
    let reader = api.token("reader", &["reader:p"]).await;
    for path in ["/v1/namespaces/p.own/tables/t/commits", "/v1/transactions", "/v1/namespaces", "/v1/tokens"] {
        let answer = api.post(path, &reader, &json!({"no": "such field"})).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
        let answer = api.send(Method::POST, path, None, Some(&json!({"no": "such field"}))).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
    }
}
