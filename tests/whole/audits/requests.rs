//! What is asked of audits over HTTP: pages of findings, keys, what is refused.

use parquet::file::properties::EnabledStatistics;
use reqwest::Method;
use serde_json::{Value, json};

use super::{AUDITS, audit, end, found, table, write};
use crate::server::{Server, append, faults};

#[tokio::test]
async fn findings_come_in_pages_and_audits_in_a_list() {
    let server = Server::start(64).await;
    table(&server, json!({"verification": "declared"})).await;
    let files: Vec<Value> =
        (0..5).map(|number| json!({"path": format!("/nowhere/{number}"), "size_bytes": 1})).collect();
    server.commit("t", json!({"operation": "append", "add": files})).await;
    let first = audit(&server, json!({"mode": "footer"})).await;
    let second = audit(&server, json!({"mode": "footer"})).await;
    let (_, listed) = server.get(AUDITS).await;
    let ids: Vec<&Value> = listed["audits"].as_array().unwrap().iter().map(|audit| &audit["audit_id"]).collect();
    assert_eq!(ids, [&second["audit_id"], &first["audit_id"]]);
    let route = format!("{AUDITS}/{}?page_size=2", first["audit_id"]);
    let mut paths = Vec::new();
    let (_, mut page) = server.get(&route).await;
    loop {
        paths.extend(found(&page));
        let Some(token) = page["next_page_token"].as_str() else { break };
        page = server.get(&format!("{route}&page_token={token}")).await.1;
    }
    assert_eq!(paths.len(), 5);
    assert_eq!(server.get(&format!("{AUDITS}/99")).await.0, 404);
    assert_eq!(server.get(&format!("{AUDITS}/x")).await.0, 400);
    // One that is over stays as it is.
    let (status, ended) = server.delete(&format!("{AUDITS}/{}", first["audit_id"])).await;
    assert_eq!((status, &ended["state"]), (200, &json!("done")));
}

#[tokio::test]
async fn an_audit_under_a_key_is_begun_once() {
    let server = Server::start(64).await;
    table(&server, json!({})).await;
    let body = json!({"mode": "footer"});
    let first = server.send_keyed(Method::POST, AUDITS, "k", Some(&body)).await;
    assert_eq!((first.0.0, first.1), (202, false));
    // It is told as it was begun, however it stands by now.
    end(&server, &first.0.1).await;
    let again = server.send_keyed(Method::POST, AUDITS, "k", Some(&body)).await;
    assert_eq!(again, (first.0, true));
    let other = server.send_keyed(Method::POST, AUDITS, "k", Some(&json!({"mode": "scan"}))).await;
    assert_eq!((other.0.0, other.1), (422, false));
    assert_eq!(server.get(AUDITS).await.1["audits"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_audit_is_ended_once_under_a_key() {
    let server = Server::start(64).await;
    table(&server, json!({})).await;
    let begun = audit(&server, json!({"mode": "footer"})).await;
    let route = format!("{AUDITS}/{}", begun["audit_id"]);
    let first = server.send_keyed(Method::DELETE, &route, "k", None).await;
    assert_eq!((first.0.0, &first.0.1["state"], first.1), (200, &json!("done"), false));
    let again = server.send_keyed(Method::DELETE, &route, "k", None).await;
    assert_eq!(again, (first.0, true));
}

#[tokio::test]
async fn what_is_not_known_of_a_request_is_refused() {
    let server = Server::start(64).await;
    table(&server, json!({})).await;
    for body in [
        json!({}),
        json!({"mode": "footer", "smaple": 0.5}),
        json!({"mode": "footer", "sample": "1"}),
        json!({"mode": "footer", "repair": 1}),
        json!({"mode": null}),
        json!([]),
    ] {
        let (status, problem) = server.post(AUDITS, &body).await;
        assert_eq!(status, 400, "{body} {problem}");
    }
    let (status, problem) = server.post(AUDITS, &json!({"mode": "footer", "sample": 2})).await;
    assert_eq!((status, faults(&problem)), (422, vec!["the sample is not above 0 and at most 1".to_owned()]));
    let begun = audit(&server, json!({"mode": "footer"})).await;
    let route = format!("{AUDITS}/{}", begun["audit_id"]);
    for (query, status) in [("?page_size=0", 422), ("?page_sise=2", 400), ("?page_token=x", 400)] {
        assert_eq!(server.get(&format!("{route}{query}")).await.0, status, "{query}");
    }
    assert_eq!(server.post("/v1/namespaces/n/tables/u/audits", &json!({"mode": "footer"})).await.0, 404);
    assert_eq!(server.delete(&format!("{AUDITS}/99")).await.0, 404);
}

#[tokio::test]
async fn an_audit_that_is_called_off_keeps_what_it_did() {
    const FILES: i64 = 1_200;
    let server = Server::start(64).await;
    table(&server, json!({})).await;
    let paths: Vec<String> =
        (0..FILES).map(|file| write(&server, &format!("{file}.parquet"), file, EnabledStatistics::Chunk)).collect();
    server.commit("t", append(&paths)).await;
    let (_, begun) = server.post(AUDITS, &json!({"mode": "scan", "repair": true})).await;
    let route = format!("{AUDITS}/{}", begun["audit_id"]);
    while server.get(&route).await.1["files_checked"] == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let (status, ended) = server.delete(&route).await;
    let checked = ended["files_checked"].as_i64().unwrap();
    assert_eq!((status, &ended["state"]), (200, &json!("cancelled")), "{ended}");
    assert!((1..FILES).contains(&checked), "{ended}");
    // What was begun before is not stored afterwards.
    tokio::time::sleep(std::time::Duration::from_millis(1_000)).await;
    let (_, later) = server.get(&route).await;
    assert_eq!((&later["files_checked"], &later["state"]), (&json!(checked), &json!("cancelled")));
    let first = super::column(&server, &paths[0], "id").await;
    assert_eq!(first["min_precision"], "exact");
    server.assert_sound().await;
}
