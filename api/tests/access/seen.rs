//! What a token may not see is named nowhere.

use serde_json::{Value, json};

use crate::api::Api;

async fn namespaces(api: &Api, token: &str, page_size: u32) -> Vec<String> {
    let (mut listed, mut next) = (Vec::new(), String::new());
    loop {
        let page = api.get(&format!("/v1/namespaces?page_size={page_size}{next}"), token).await.json();
        let names = page["namespaces"].as_array().unwrap();
        listed.extend(names.iter().map(|namespace| namespace["name"].as_str().unwrap().to_owned()));
        match page.get("next_page_token").and_then(Value::as_str) {
            Some(token) => next = format!("&page_token={token}"),
            None => return listed,
        }
    }
}

#[tokio::test]
async fn only_namespaces_that_may_be_seen_are_listed() {
    let api = Api::new().await;
    for name in ["a", "a-b", "a.b", "a.b.c", "a0", "ab", "z.y"] {
        api.does("/v1/namespaces", &json!({"name": name})).await;
    }
    let check = async |grants: &[&str], expected: &[&str]| {
        let token = api.token(&grants.join("_").replace(':', "-"), grants).await;
        for page_size in [1, 2, 3, 100] {
            assert_eq!(namespaces(&api, &token, page_size).await, expected, "{grants:?} by {page_size}");
        }
    };
    check(&["reader:a"], &["a", "a.b", "a.b.c"]).await;
    check(&["reader:a", "writer:a-b", "admin:a.b"], &["a", "a-b", "a.b", "a.b.c"]).await;
    check(&["reader:a.b"], &["a.b", "a.b.c"]).await;
    check(&["reader:z", "reader:none"], &["z.y"]).await;
    check(&["reader:none"], &[]).await;
    check(&["reader"], &["a", "a-b", "a.b", "a.b.c", "a0", "ab", "other", "p", "p.own", "z.y"]).await;
}

#[tokio::test]
async fn a_page_token_of_another_widens_nothing() {
    let api = Api::new().await;
    let own = api.token("own", &["reader:p"]).await;
    let first = api.get("/v1/namespaces?page_size=1", &api.root).await.json();
    let token = first["next_page_token"].as_str().unwrap();
    let rest = api.get(&format!("/v1/namespaces?page_token={token}"), &own).await.json();
    let names: Vec<&Value> =
        rest["namespaces"].as_array().unwrap().iter().map(|namespace| &namespace["name"]).collect();
    assert_eq!(names, ["p", "p.own"]);
}

#[tokio::test]
async fn suggestions_name_what_may_be_seen_alone() {
    let api = Api::new().await;
    let table = json!({"name": "orders", "schema": {"fields": [{"name": "x", "type": "int64"}]}});
    api.does("/v1/namespaces/other/tables", &table).await;
    let own = api.token("own", &["admin:p"]).await;
    let told = async |token: &str, path: &str| api.get(path, token).await.json()["detail"].as_str().unwrap().to_owned();
    let elsewhere = "/v1/namespaces/p.own/tables/orders";
    assert!(told(&api.root, elsewhere).await.ends_with("did you mean `other.orders`?"));
    assert_eq!(told(&own, elsewhere).await, "table `p.own.orders` does not exist");
    // In the namespace itself all is told as ever, by reads and by changes.
    assert!(told(&own, "/v1/namespaces/p.ow/tables").await.ends_with("did you mean `p.own`?"));
    let commit = json!({"operation": "delete", "remove": ["x"]});
    let refused = api.post("/v1/namespaces/p.own/tables/orders/commits", &own, &commit).await.json();
    assert_eq!(refused["detail"], "table `p.own.orders` does not exist");
}
