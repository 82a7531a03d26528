//! Pages of every listing hold together while what is listed changes.

use prunus_catalog::LEASE_MS;
use reqwest::Method;
use serde_json::{Value, json};

use crate::clock::SetClock;
use crate::server::{Server, names_in};

const T: &str = "/v1/namespaces/n/tables/t";

/// The next page of a listing.
async fn page(server: &Server, route: &str, token: Option<&str>) -> Value {
    let token = token.map(|token| format!("&page_token={token}")).unwrap_or_default();
    let (status, page) = server.get(&format!("{route}page_size=2{token}")).await;
    assert_eq!(status, 200, "{page}");
    page
}

/// Reads a listing in pages of two, with something done behind the first: the `key` of every item of `list`.
async fn read_while(
    server: &Server,
    route: &str,
    (list, key): (&str, &str),
    change: impl Future<Output = ()>,
) -> Vec<Value> {
    let mut answer = page(server, route, None).await;
    change.await;
    let mut values = Vec::new();
    loop {
        values.extend(answer[list].as_array().unwrap().iter().map(|item| item[key].clone()));
        let Some(token) = answer["next_page_token"].as_str().map(str::to_owned) else { return values };
        answer = page(server, route, Some(&token)).await;
    }
}

#[tokio::test]
async fn names_that_stay_are_listed_once_while_others_come_and_go() {
    let server = &Server::start(2).await;
    for name in ["a", "b", "c", "d", "e"] {
        server.post("/v1/namespaces", &json!({"name": name})).await;
        server.create_declared(name).await;
    }
    let change = async {
        server.post("/v1/namespaces", &json!({"name": "aa"})).await;
        server.post("/v1/namespaces", &json!({"name": "dd"})).await;
        server.delete("/v1/namespaces/b").await;
        server.delete("/v1/namespaces/c").await;
    };
    let namespaces = read_while(server, "/v1/namespaces?", ("namespaces", "name"), change).await;
    assert_eq!(namespaces, ["a", "b", "d", "dd", "e", "n"]);
    let change = async {
        server.create_declared("aa").await;
        server.create_declared("dd").await;
        server.delete("/v1/namespaces/n/tables/a").await;
        server.delete("/v1/namespaces/n/tables/c").await;
    };
    let tables = read_while(server, "/v1/namespaces/n/tables?", ("tables", "name"), change).await;
    assert_eq!(tables, ["a", "b", "d", "dd", "e"]);
}

#[tokio::test]
async fn snapshots_and_tags_are_listed_on_from_where_they_were() {
    let server = &Server::start(2).await;
    server.create_declared("t").await;
    for name in ["a", "b", "c", "d", "e"] {
        server.change("t", &[name], &[]).await;
        server.put(&format!("{T}/tags/{name}"), &json!({"snapshot_id": 1})).await;
    }
    let change = async {
        server.change("t", &["f"], &["a"]).await;
    };
    let snapshots = read_while(server, &format!("{T}/snapshots?"), ("snapshots", "snapshot_id"), change).await;
    assert_eq!(snapshots, [5, 4, 3, 2, 1]);
    let change = async {
        server.put(&format!("{T}/tags/aa"), &json!({"snapshot_id": 1})).await;
        server.delete(&format!("{T}/tags/d")).await;
    };
    let tags = read_while(server, &format!("{T}/tags?"), ("tags", "tag"), change).await;
    assert_eq!(tags, ["a", "b", "c", "e"]);
}

#[tokio::test]
async fn files_and_changes_are_those_of_the_first_page() {
    let server = &Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c", "d", "e"], &[]).await;
    let change = async {
        server.change("t", &["f", "g"], &["c", "d"]).await;
    };
    let files = read_while(server, &format!("{T}/files?"), ("files", "file_id"), change).await;
    assert_eq!(files, [1, 2, 3, 4, 5]);
    let change = async {
        server.change("t", &["h"], &["f"]).await;
    };
    let added = read_while(server, &format!("{T}/changes?from=0&"), ("added", "file_id"), change).await;
    assert_eq!(added, [1, 2, 5, 6, 7]);
}

#[tokio::test]
async fn orphans_and_findings_are_listed_on_from_where_they_were() {
    let server = &Server::start(2).await;
    server.create_declared("t").await;
    for name in ["a", "b", "c", "d", "e"] {
        std::fs::write(server.path(name), name).unwrap();
    }
    let change = async {
        // One that was listed and one that was not are registered, and one comes before all of them.
        server.change("t", &["a", "d"], &[]).await;
        std::fs::write(server.path("A"), "A").unwrap();
    };
    let route = format!("{T}/orphans?older_than=2200-01-01T00:00:00Z&");
    let orphans = read_while(server, &route, ("orphans", "path"), change).await;
    let expected: Vec<Value> = ["a", "b", "c", "e"].map(|name| format!("file://{}", server.path(name)).into()).to_vec();
    assert_eq!(orphans, expected);

    server.change("t", &["v", "w", "x", "y", "z"], &[]).await;
    let (status, audit) = server.post(&format!("{T}/audits"), &json!({"mode": "footer"})).await;
    assert_eq!(status, 202, "{audit}");
    let route = format!("{T}/audits/{}", audit["audit_id"]);
    while server.get(&route).await.1["state"] == "running" {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let (_, whole) = server.get(&route).await;
    let change = async {
        server.change("t", &[], &["v", "x"]).await;
    };
    let found = read_while(server, &format!("{route}?"), ("found", "path"), change).await;
    let all: Vec<Value> = whole["found"].as_array().unwrap().iter().map(|finding| finding["path"].clone()).collect();
    assert!(found.len() > 4, "{whole}");
    assert_eq!(found, all);
}

/// One page of a plan at a time, all of whose files are of the first page's snapshot.
async fn plan_in_pages(server: &Server) -> (Value, Vec<String>) {
    let (mut names, mut token, mut snapshot) = (Vec::new(), Value::Null, Value::Null);
    loop {
        let body = json!({"filter": "id >= 0", "page_size": 3, "page_token": token});
        let (status, mut page) = server.post(&format!("{T}/plan"), &body).await;
        assert_eq!(status, 200, "{page}");
        assert!(snapshot.is_null() || snapshot == page["snapshot_id"]);
        snapshot = page["snapshot_id"].clone();
        names.extend(names_in(&page["files"]));
        token = page["next_page_token"].take();
        if token.is_null() {
            return (snapshot, names);
        }
    }
}

#[tokio::test]
async fn pages_of_plans_and_files_are_of_one_snapshot_while_others_commit() {
    let server = &Server::start(4).await;
    server.create_declared("t").await;
    let name = |number: usize| format!("f{number:03}");
    let first: Vec<String> = (0..12).map(name).collect();
    server.change("t", &first.iter().map(String::as_str).collect::<Vec<_>>(), &[]).await;
    let write = async {
        for number in 0..40 {
            server.change("t", &[&name(number + 12)], &[&name(number)]).await;
        }
    };
    let read = async {
        let mut snapshots = std::collections::BTreeSet::new();
        for _ in 0..30 {
            let (snapshot, names) = plan_in_pages(server).await;
            let head = usize::try_from(snapshot.as_u64().unwrap()).unwrap() - 1;
            assert_eq!(names, (head..head + 12).map(name).collect::<Vec<_>>());
            let nothing = async {};
            let route = format!("{T}/files?snapshot_id={snapshot}&");
            let files = read_while(server, &route, ("files", "path"), nothing).await;
            assert_eq!(names_in(&files.into_iter().map(|path| json!({"path": path})).collect()), names);
            snapshots.insert(head);
        }
        snapshots.len()
    };
    let ((), snapshots) = tokio::join!(write, read);
    assert!(snapshots > 1, "nothing was committed while pages were read");
}

#[tokio::test]
async fn a_page_of_files_that_was_let_lie_is_gone_with_its_snapshot() {
    let clock = SetClock::new();
    let server = Server::start_at(&clock).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
    let first = page(&server, &format!("{T}/files?"), None).await;
    let token = first["next_page_token"].as_str().unwrap();
    server.change("t", &["d"], &["a", "b", "c"]).await;
    let expire = async || {
        let body = json!({"keep_last": 1, "dry_run": false});
        server.post(&format!("{T}/expire"), &body).await.1["snapshots"].clone()
    };
    clock.pass_ms(LEASE_MS - 1);
    assert_eq!(expire().await, json!([]));
    clock.pass_ms(1);
    assert_eq!(expire().await, json!([1]));
    let route = format!("{T}/files?page_size=2&page_token={token}");
    let (status, content_type, body) = server.send_raw(Method::GET, &route, &[], String::new()).await;
    let problem: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, content_type.as_str()), (410, "application/problem+json"));
    assert_eq!(problem["type"], "/problems/stale-page-token");
}
