//! Every kind of problem that the server knows is answered by some request, and told on a page of its own.

use std::collections::BTreeSet;

use prunus_catalog::LEASE_MS;
use reqwest::Method;
use serde_json::{Value, json};

use crate::clock::SetClock;
use crate::server::Server;

const T: &str = "/v1/namespaces/n/tables/t";

/// Those that no request alone brings about, and where they are tested.
const BY_OTHER_MEANS: [&str; 15] = [
    // Requests must need a token, or come by another name: `api/tests/access/matrix.rs`, `api/tests/access/host.rs`.
    "unauthorized",
    "forbidden",
    "misdirected-request",
    // The schema must change between the reading of a commit's files and its transaction: `catalog/tests/moved.rs`.
    "schema-moved",
    // Others must commit faster than a filter is checked, again and again: `catalog/tests/moved.rs`.
    "table-moved",
    // The object store must fail for half a minute: `api/tests/stores/failures.rs`.
    "storage-unavailable",
    // The disk must be full: `manifest/tests/full_disk/main.rs`, and its status in `api/src/problem/kind.rs`.
    "store-full",
    // The store must be unreadable as a whole: `tests/whole/operating.rs`.
    "not-ready",
    // The client or the server must be slow, or there must be many: `api/tests/hostile/main.rs`.
    "body-too-slow",
    "request-timeout",
    "too-many-large-bodies",
    "too-many-connections",
    // The server must be told to stop: `api/tests/hostile/shutdown.rs`.
    "shutting-down",
    // More must be asked at once than the server takes: `tests/whole/overload.rs`.
    "too-many-requests",
    "overloaded",
];

/// A request: method, route, headers, body.
type Asked<'a> = (Method, &'a str, &'a [(&'a str, &'a str)], String);

const JSON: (&str, &str) = ("content-type", "application/json");

/// A server whose first snapshot is expired though a page of it was read, with the token of the next.
async fn server() -> (Server, String) {
    let clock = SetClock::new();
    let server = Server::start_at(&clock).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
    let (_, first) = server.get(&format!("{T}/files?page_size=2")).await;
    clock.pass_ms(LEASE_MS);
    server.change("t", &["d"], &["a", "b", "c"]).await;
    let (status, _) = server.post(&format!("{T}/expire"), &json!({"keep_last": 1, "dry_run": false})).await;
    assert_eq!(status, 200);
    let key = [("idempotency-key", "taken"), JSON];
    server.send_raw(Method::PUT, &format!("{T}/tags/x"), &key, json!({"snapshot_id": 2}).to_string()).await;
    (server, first["next_page_token"].as_str().unwrap().to_owned())
}

/// Whether a request is answered with this kind of problem.
async fn check(server: &Server, name: &str, (method, route, headers, body): Asked<'_>) {
    let (status, content_type, body) = server.send_raw(method.clone(), route, headers, body).await;
    assert_eq!(content_type, "application/problem+json", "{name}");
    let problem: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        (&problem["type"], &problem["status"]),
        (&json!(format!("/problems/{name}")), &json!(status)),
        "{problem}"
    );
    let (status, kind) = server.get(problem["type"].as_str().unwrap()).await;
    assert_eq!(status, 200, "{name}");
    for key in ["type", "title", "status", "retryable"] {
        assert_eq!(kind[key], problem[key], "{name}");
    }
    // What the page promises is there.
    for field in kind["fields"].as_array().unwrap() {
        let field = field["name"].as_str().unwrap();
        assert!(field == "fault_count" || !problem[field].is_null(), "{name} without {field}: {problem}");
    }
}

#[tokio::test]
async fn every_kind_of_problem_is_answered_by_some_request() {
    let (server, token) = server().await;
    let (plan, commits, tag) = (format!("{T}/plan"), format!("{T}/commits"), format!("{T}/tags/x"));
    let stale = format!("{T}/files?page_size=2&page_token={token}");
    let (queried, foreign) = (format!("{T}/files?sise=1"), format!("{T}/files?page_token=00"));
    let long = "k".repeat(256);
    let long_key = [("idempotency-key", long.as_str()), JSON];
    let append = json!({"operation": "append", "add": [{"path": "d", "size_bytes": 7}]}).to_string();
    let as_of = json!({"as_of": "2024-01-31T12:00:01Z"}).to_string();
    let none = String::new;
    let cases: Vec<(&str, Asked<'_>)> = vec![
        ("malformed-body", (Method::POST, &plan, &[JSON], json!({"filtr": "id = 1"}).to_string())),
        ("malformed-query", (Method::GET, &queried, &[], none())),
        ("malformed-header", (Method::POST, &commits, &long_key, append.clone())),
        ("malformed-path", (Method::GET, "/v1/namespaces/a%2Fb", &[], none())),
        ("foreign-page-token", (Method::GET, &foreign, &[], none())),
        ("not-found", (Method::GET, "/v1/namespaces/n/tables/none", &[], none())),
        ("no-such-route", (Method::GET, "/v2", &[], none())),
        ("method-not-allowed", (Method::DELETE, "/healthz", &[], none())),
        ("not-acceptable", (Method::GET, T, &[("accept", "text/csv")], none())),
        ("conflict", (Method::POST, &commits, &[JSON], append.clone())),
        ("already-exists", (Method::POST, "/v1/namespaces", &[JSON], json!({"name": "n"}).to_string())),
        ("namespace-not-empty", (Method::DELETE, "/v1/namespaces/n", &[], none())),
        ("expired", (Method::POST, &plan, &[JSON], as_of)),
        ("stale-page-token", (Method::GET, &stale, &[], none())),
        ("body-too-large", (Method::POST, &plan, &[JSON], " ".repeat(prunus::MAX_BODY_BYTES + 1))),
        ("unsupported-media-type", (Method::POST, &plan, &[("content-type", "text/plain")], "{}".to_owned())),
        ("unsupported-encoding", (Method::POST, &plan, &[JSON, ("content-encoding", "br")], "{}".to_owned())),
        ("invalid-request", (Method::POST, &plan, &[JSON], json!({"page_size": 0}).to_string())),
        ("invalid-filter", (Method::POST, &plan, &[JSON], json!({"filter": "idd = 1"}).to_string())),
        (
            "idempotency-key-reused",
            (Method::PUT, &tag, &[("idempotency-key", "taken"), JSON], json!({"snapshot_id": 1}).to_string()),
        ),
        ("internal", (Method::GET, T, &[], none())),
    ];
    let mut answered: BTreeSet<&str> = BY_OTHER_MEANS.into();
    for (name, asked) in cases {
        if name == "internal" {
            let store = rusqlite::Connection::open(server.store().join("prunus.db")).unwrap();
            assert_eq!(store.execute("UPDATE lake_table SET properties = 'no JSON'", []).unwrap(), 1);
        }
        check(&server, name, asked).await;
        assert!(answered.insert(name), "{name} is brought about, and said not to be");
    }
    let (_, all) = server.get("/problems").await;
    let known = all["problems"].as_array().unwrap().iter();
    let known: BTreeSet<&str> =
        known.map(|kind| kind["type"].as_str().unwrap().strip_prefix("/problems/").unwrap()).collect();
    assert_eq!(answered, known);
}

#[tokio::test]
async fn a_failure_of_the_inside_shows_nothing_of_it() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let store = rusqlite::Connection::open(server.store().join("prunus.db")).unwrap();
    store.execute("UPDATE lake_table SET properties = 'no JSON'", []).unwrap();
    let (status, problem) = server.get(T).await;
    assert_eq!((status, &problem["detail"]), (500, &json!("the server failed; its log has more under the request id")));
    assert!(!problem.to_string().contains("JSON") && !problem.to_string().contains("prunus.db"), "{problem}");
}

#[tokio::test]
async fn a_problem_is_told_as_a_page_to_whoever_looks_at_pages() {
    let server = Server::start(2).await;
    let browser = [("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];
    for (route, part) in [("/problems/conflict", "current_snapshot"), ("/problems", "href=\"/problems/conflict\"")] {
        for accept in [&browser[..], &[("accept", "text/html")]] {
            let (status, content_type, body) = server.send_raw(Method::GET, route, accept, String::new()).await;
            assert_eq!((status, content_type.as_str()), (200, "text/html; charset=utf-8"));
            assert!(String::from_utf8(body).unwrap().contains(part));
        }
    }
    let (status, problem) = server.get("/problems/conflct").await;
    let detail = "problem `conflct` does not exist, did you mean `conflict`?";
    assert_eq!((status, &problem["detail"]), (404, &json!(detail)));
}
