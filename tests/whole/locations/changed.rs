//! What is registered stays when the configuration changes, and is read no more where it is not allowed any more.

use std::time::Duration;

use prunus_catalog::CatalogOptions;
use serde_json::{Value, json};

use super::lake::Lake;
use super::{OUTSIDE, table};
use crate::server::{Server, append, names};

/// A table of files inside and outside, as a server finds it that was given less than the one before.
async fn with_less(lake: &Lake) -> Server {
    let before = Server::start_with(CatalogOptions::default()).await;
    let mut body = table("t", "footer");
    body["location"] = lake.path("outside").into();
    before.create_table("t", body).await;
    before.commit("t", append([lake.path("lake/a.parquet"), "secret.parquet".to_owned()])).await;
    Server::start_from(&before, lake.options(&[])).await
}

#[tokio::test]
async fn plans_go_on() {
    let lake = Lake::new();
    let server = with_less(&lake).await;
    assert_eq!(names(&server.plan("t", &json!({})).await), ["a.parquet", "secret.parquet"]);
    assert_eq!(names(&server.plan("t", &json!({"filter": "id = 50"})).await), ["secret.parquet"]);
}

#[tokio::test]
async fn commits_may_remove_what_is_outside_and_add_none_of_it() {
    let lake = Lake::new();
    let server = with_less(&lake).await;
    lake.write("outside/more.parquet", 1);
    let (status, problem) = server.try_commit("t", &append(["more.parquet"])).await;
    assert_eq!((status, &problem["faults"][0]["message"]), (422, &json!(OUTSIDE)), "{problem}");
    server.commit("t", json!({"operation": "delete", "remove": ["secret.parquet"]})).await;
    assert_eq!(names(&server.plan("t", &json!({})).await), ["a.parquet"]);
}

#[tokio::test]
async fn orphans_of_a_table_outside_are_not_listed() {
    let lake = Lake::new();
    let server = with_less(&lake).await;
    let (status, problem) = server.get("/v1/namespaces/n/tables/t/orphans").await;
    assert_eq!((status, &problem["faults"][0]["message"]), (422, &json!(OUTSIDE)), "{problem}");
}

#[tokio::test]
async fn audits_say_that_a_file_may_not_be_read() {
    let lake = Lake::new();
    let server = with_less(&lake).await;
    let route = "/v1/namespaces/n/tables/t/audits";
    for mode in ["footer", "scan"] {
        let (status, begun) = server.post(route, &json!({"mode": mode})).await;
        assert_eq!(status, 202, "{begun}");
        let audit = loop {
            let (_, audit) = server.get(&format!("{route}/{}", begun["audit_id"])).await;
            if audit["state"] != "running" {
                break audit;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let found: Vec<&Value> = audit["found"].as_array().unwrap().iter().collect();
        let told = ["kind", "path", "evidence"].map(|key| found[0][key].as_str().unwrap().to_owned());
        let path = format!("file://{}", lake.path("outside/secret.parquet"));
        assert_eq!((found.len(), told), (1, ["unreadable".to_owned(), path, OUTSIDE.to_owned()]), "{audit}");
        assert_eq!((&audit["files_checked"], &audit["state"]), (&json!(2), &json!("done")));
    }
}
