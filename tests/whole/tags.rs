//! Tags over HTTP.

use serde_json::{Value, json};

use crate::server::Server;

const TAGS: &str = "/v1/namespaces/n/tables/t/tags";

async fn server() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a"], &[]).await;
    server.change("t", &["b"], &[]).await;
    server
}

#[tokio::test]
async fn a_tag_is_set_moved_and_taken_away() {
    let server = server().await;
    let route = format!("{TAGS}/release 1");
    let (status, tag) = server.put(&route, &json!({"snapshot_id": 1})).await;
    assert_eq!((status, &tag["tag"], &tag["snapshot_id"]), (201, &json!("release 1"), &json!(1)));
    assert_eq!(server.put(&route, &json!({"snapshot_id": 1})).await, (200, tag));
    assert_eq!(server.put(&route, &json!({"snapshot_id": 2})).await.0, 200);
    assert_eq!(server.get(&route).await.1["snapshot_id"], 2);
    assert_eq!(server.delete(&route).await, (204, Value::Null));
    let (status, problem) = server.get(&route).await;
    assert_eq!((status, &problem["detail"]), (404, &json!("tag `release 1` does not exist")));
    assert_eq!(server.delete(&route).await.0, 404);
}

#[tokio::test]
async fn tags_are_listed_in_pages() {
    let server = server().await;
    for name in ["c", "a", "b"] {
        server.put(&format!("{TAGS}/{name}"), &json!({"snapshot_id": 1})).await;
    }
    let names = |answer: &Value| -> Vec<String> {
        answer["tags"].as_array().unwrap().iter().map(|tag| tag["tag"].as_str().unwrap().to_owned()).collect()
    };
    let (_, first) = server.get(&format!("{TAGS}?page_size=2")).await;
    assert_eq!(names(&first), ["a", "b"]);
    let token = first["next_page_token"].as_str().unwrap();
    let (_, second) = server.get(&format!("{TAGS}?page_size=2&page_token={token}")).await;
    assert_eq!((names(&second), &second["next_page_token"]), (vec!["c".to_owned()], &Value::Null));
}

#[tokio::test]
async fn snapshots_show_their_tags() {
    let server = server().await;
    for name in ["y", "x"] {
        server.put(&format!("{TAGS}/{name}"), &json!({"snapshot_id": 1})).await;
    }
    let (_, snapshots) = server.get("/v1/namespaces/n/tables/t/snapshots").await;
    assert_eq!(snapshots["snapshots"][0]["tags"], json!([]));
    assert_eq!(snapshots["snapshots"][1]["tags"], json!(["x", "y"]));
    let (_, snapshot) = server.get("/v1/namespaces/n/tables/t/snapshots/1").await;
    assert_eq!(snapshot["tags"], json!(["x", "y"]));
}

#[tokio::test]
async fn tags_hold_to_the_rules_of_names() {
    let server = server().await;
    let put = async |name: &str, body: Value| server.put(&format!("{TAGS}/{name}"), &body).await.0;
    let body = json!({"snapshot_id": 1});
    assert_eq!(put(&"n".repeat(255), body.clone()).await, 201);
    assert_eq!(put(&"n".repeat(256), body.clone()).await, 400);
    assert_eq!(put("a.b", body.clone()).await, 400);
    assert_eq!(put("a%2Fb", body.clone()).await, 400);
    assert_eq!(put("a", json!({"snapshot_id": 3})).await, 404);
    assert_eq!(put("a", json!({"snapshot_id": 0})).await, 404);
    assert_eq!(put("a", json!({})).await, 400);
    assert_eq!(put("a", json!({"snapshot_id": 1, "force": true})).await, 400);
    assert_eq!(server.get("/v1/namespaces/n/tables/none/tags").await.0, 404);
}
