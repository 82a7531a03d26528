//! Tokens as they are given and taken away.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::api::{Answer, Api};

async fn create(api: &Api, token: &str, name: &str, grants: &[&str]) -> Answer {
    api.post("/v1/tokens", token, &json!({"name": name, "grants": grants})).await
}

fn names(answer: &Answer) -> Vec<String> {
    let tokens = answer.json()["tokens"].as_array().unwrap().clone();
    tokens.iter().map(|token| token["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_token_opens_what_it_was_given_for() {
    let api = Api::new().await;
    let created = create(&api, &api.root, "new", &["reader:p"]).await;
    assert_eq!(
        (created.status, &created.headers["cache-control"]),
        (StatusCode::CREATED, &"no-store".parse().unwrap())
    );
    let json = created.json();
    assert_eq!((&json["created_by"], &json["grants"]), (&json!("root"), &json!(["reader:p"])));
    let secret = json["secret"].as_str().unwrap();
    assert_eq!(api.get("/v1/namespaces/p.own", secret).await.status, StatusCode::OK);
    assert_eq!(api.get("/v1/namespaces/other", secret).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_revoked_token_stops_at_once_and_its_name_stays_taken() {
    let api = Api::new().await;
    let token = api.token("gone", &["reader"]).await;
    assert_eq!(api.get("/v1/namespaces", &token).await.status, StatusCode::OK);
    assert_eq!(api.delete("/v1/tokens/gone", &api.root).await.status, StatusCode::NO_CONTENT);
    assert_eq!(api.get("/v1/namespaces", &token).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(create(&api, &api.root, "gone", &["reader"]).await.status, StatusCode::CONFLICT);
    assert_eq!(api.delete("/v1/tokens/gone", &api.root).await.status, StatusCode::NO_CONTENT);
    assert_eq!(api.delete("/v1/tokens/never", &api.root).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_secret_is_not_taken_for_a_name() {
    let api = Api::new().await;
    let refused = create(&api, &api.root, "prunus_x", &["reader"]).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["faults"][0]["at"]), (422, &json!("name")));
    // It may stand there from before, and is to be revoked like any other.
    assert_eq!(api.delete("/v1/tokens/prunus_x", &api.root).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_last_admin_of_everything_is_not_revoked() {
    let api = Api::new().await;
    api.token("of-p", &["admin:p"]).await;
    let refused = api.delete("/v1/tokens/root", &api.root).await;
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(refused.status == 422 && detail.contains("create another first"), "{detail}");
    assert_eq!(api.get("/v1/namespaces", &api.root).await.status, StatusCode::OK);
    let short = json!({"name": "short", "grants": ["admin"], "expires_at": "2024-01-31T12:00:10Z"});
    api.does("/v1/tokens", &short).await;
    api.clock.pass_ms(10_000);
    assert_eq!(api.delete("/v1/tokens/root", &api.root).await.status, 422);
    api.token("other", &["admin"]).await;
    assert_eq!(api.delete("/v1/tokens/root", &api.root).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_token_ends_by_the_clock_of_the_catalog() {
    let api = Api::new().await;
    let new = json!({"name": "short", "grants": ["reader"], "expires_at": "2024-01-31T12:00:10Z"});
    let secret = api.does("/v1/tokens", &new).await["secret"].as_str().unwrap().to_owned();
    api.clock.pass_ms(9_999);
    assert_eq!(api.get("/v1/namespaces", &secret).await.status, StatusCode::OK);
    api.clock.pass_ms(1);
    assert_eq!(api.get("/v1/namespaces", &secret).await.status, StatusCode::UNAUTHORIZED);
    let past = json!({"name": "past", "grants": ["reader"], "expires_at": "2024-01-31T12:00:10Z"});
    let refused = api.post("/v1/tokens", &api.root, &past).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["faults"][0]["at"]), (422, &json!("expires_at")));
}

#[tokio::test]
async fn nobody_grants_beyond_themselves() {
    let api = Api::new().await;
    let admin = api.token("admin-of-p", &["admin:p", "writer"]).await;
    for (name, grants, expected) in [
        ("within", &["admin:p", "reader:p.own"][..], 201),
        ("later", &["writer:p.not.yet"], 201),
        ("beside", &["reader:p", "reader:other"], 403),
        ("everywhere", &["reader"], 403),
        ("alike", &["reader:px"], 403),
    ] {
        assert_eq!(create(&api, &admin, name, grants).await.status.as_u16(), expected, "{name}");
    }
}

#[tokio::test]
async fn an_admin_of_a_namespace_knows_its_tokens_alone() {
    let api = Api::new().await;
    let admin = api.token("admin-of-p", &["admin:p"]).await;
    api.token("inside", &["reader:p.own"]).await;
    api.token("outside", &["reader:other"]).await;
    api.token("both", &["reader:other", "reader:p"]).await;
    assert_eq!(names(&api.get("/v1/tokens", &admin).await), ["admin-of-p", "inside"]);
    assert_eq!(names(&api.get("/v1/tokens", &api.root).await), ["admin-of-p", "both", "inside", "outside", "root"]);
    let mut told = Vec::new();
    for name in ["outside", "both", "root", "never"] {
        let answer = api.delete(&format!("/v1/tokens/{name}"), &admin).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{name}");
        told.push(answer.json()["detail"].clone());
    }
    assert!(told.windows(2).all(|two| two[0] == two[1]), "{told:?}");
    assert_eq!(api.delete("/v1/tokens/inside", &admin).await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn tokens_are_listed_page_by_page() {
    let api = Api::new().await;
    let admin = api.token("admin-of-p", &["admin:p"]).await;
    for name in ["a", "b", "c"] {
        api.token(name, &["reader:other"]).await;
        api.token(&format!("{name}-p"), &["reader:p"]).await;
    }
    let (mut listed, mut next) = (Vec::new(), String::new());
    loop {
        let page = api.get(&format!("/v1/tokens?page_size=1{next}"), &admin).await;
        listed.extend(names(&page));
        match page.json().get("next_page_token").and_then(Value::as_str) {
            Some(token) => next = format!("&page_token={token}"),
            None => break,
        }
    }
    assert_eq!(listed, ["a-p", "admin-of-p", "b-p", "c-p"]);
}

#[tokio::test]
async fn a_key_is_its_principals_own() {
    let api = Api::new().await;
    let writers = [api.token("one", &["admin"]).await, api.token("two", &["admin"]).await];
    let mut answers = Vec::new();
    for token in [&writers[0], &writers[0], &writers[1]] {
        let request = axum::http::Request::post("/v1/namespaces").header("idempotency-key", "k");
        let request =
            request.header("authorization", format!("Bearer {token}")).header("content-type", "application/json");
        let answer = api.answer(request.body(json!({"name": "new"}).to_string().into()).unwrap()).await;
        answers.push((answer.status.as_u16(), answer.headers.contains_key("idempotency-replayed")));
    }
    assert_eq!(answers, [(201, false), (201, true), (409, false)]);
}

#[tokio::test]
async fn a_table_is_renamed_by_who_may_write_in_both_namespaces() {
    let api = Api::new().await;
    let own = api.token("own", &["writer:p.own"]).await;
    let both = api.token("both", &["writer:p.own", "writer:other"]).await;
    let rename = json!({"rename": "other.u"});
    let path = "/v1/namespaces/p.own/tables/t";
    let renames = async |token: &str| api.send(Method::PATCH, path, Some(token), Some(&rename)).await.status.as_u16();
    assert_eq!((renames(&own).await, renames(&both).await), (403, 200));
}

#[tokio::test]
async fn a_transaction_is_for_who_may_write_in_all_of_its_namespaces() {
    let api = Api::new().await;
    let own = api.token("own", &["writer:p.own", "reader:other"]).await;
    let file = json!([{"path": "a.parquet", "size_bytes": 1, "row_count": 1}]);
    let commit = |table: &str| json!({"table": table, "operation": "append", "add": file});
    let both = json!({"commits": [commit("p.own.t"), commit("other.t")]});
    assert_eq!(api.post("/v1/transactions", &own, &both).await.status, StatusCode::FORBIDDEN);
    assert_eq!(api.get("/v1/namespaces/p.own/tables/t", &own).await.json()["current_snapshot"], 0);
    let one = json!({"commits": [commit("p.own.t")]});
    assert_eq!(api.post("/v1/transactions", &own, &one).await.status, StatusCode::CREATED);
}
