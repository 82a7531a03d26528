//! Expiry over HTTP.

use serde_json::{Value, json};

use crate::clock::SetClock;
use crate::server::{Server, names};

const EXPIRE: &str = "/v1/namespaces/n/tables/t/expire";
const HOUR_MS: i64 = 60 * 60 * 1000;

/// A snapshot each hour from 2024-01-31T12:00Z on: 1 has a, 2 has a b, 3 has b c, 4 has c d.
async fn server() -> Server {
    let clock = SetClock::new();
    let server = Server::start_at(&clock).await;
    server.create_declared("t").await;
    for (add, remove) in [(["a"], vec![]), (["b"], vec![]), (["c"], vec!["a"]), (["d"], vec!["b"])] {
        server.change("t", &add, &remove).await;
        clock.pass_ms(HOUR_MS);
    }
    server
}

async fn expire(server: &Server, body: Value) -> Value {
    let (status, answer) = server.post(EXPIRE, &body).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

async fn retained(server: &Server) -> Vec<i64> {
    let (_, answer) = server.get("/v1/namespaces/n/tables/t/snapshots").await;
    answer["snapshots"].as_array().unwrap().iter().map(|row| row["snapshot_id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_dry_run_says_what_the_real_one_does() {
    let server = server().await;
    let dry = expire(&server, json!({"keep_last": 2})).await;
    assert_eq!(retained(&server).await, [4, 3, 2, 1]);
    let expected = json!({"dry_run": true, "snapshots": [1, 2], "forgotten_files": 1, "removable": [format!("file://{}", server.path("a"))], "more": false});
    assert_eq!(dry, expected);
    let mut real = expire(&server, json!({"keep_last": 2, "dry_run": false})).await;
    real["dry_run"] = json!(true);
    assert_eq!(real, dry);
    assert_eq!(retained(&server).await, [4, 3]);
    assert_eq!(names(&server.plan("t", &json!({"snapshot_id": 3})).await), ["b", "c"]);
    assert_eq!(names(&server.plan("t", &json!({"filter": "id > 0"})).await), ["c", "d"]);
}

#[tokio::test]
async fn a_snapshot_goes_when_it_is_older_than_a_time() {
    let server = server().await;
    let at = |hour: i64| format!("2024-01-31T{hour}:00:00Z");
    assert_eq!(expire(&server, json!({"older_than": at(12)})).await["snapshots"], json!([]));
    assert_eq!(expire(&server, json!({"older_than": at(14)})).await["snapshots"], json!([1, 2]));
    assert_eq!(expire(&server, json!({"older_than": at(23)})).await["snapshots"], json!([1, 2, 3]));
    assert_eq!(expire(&server, json!({"older_than": at(23), "keep_last": 3})).await["snapshots"], json!([1]));
}

#[tokio::test]
async fn a_tagged_snapshot_stays() {
    let server = server().await;
    server.put("/v1/namespaces/n/tables/t/tags/x", &json!({"snapshot_id": 2})).await;
    let expired = expire(&server, json!({"keep_last": 1, "dry_run": false})).await;
    assert_eq!((&expired["snapshots"], &expired["forgotten_files"]), (&json!([1, 3]), &json!(0)));
    assert_eq!(names(&server.plan("t", &json!({"snapshot_id": 2})).await), ["a", "b"]);
}

#[tokio::test]
async fn what_is_expired_is_not_found() {
    let server = server().await;
    expire(&server, json!({"keep_last": 1, "dry_run": false})).await;
    assert_eq!(server.get("/v1/namespaces/n/tables/t/snapshots/2").await.0, 404);
    assert_eq!(server.get("/v1/namespaces/n/tables/t/files?snapshot_id=2").await.0, 404);
    assert_eq!(server.post("/v1/namespaces/n/tables/t/plan", &json!({"snapshot_id": 2})).await.0, 404);
    assert_eq!(server.get("/v1/namespaces/n/tables/t/changes?from=2&to=4").await.0, 404);
    assert_eq!(server.post("/v1/namespaces/n/tables/t/rollback", &json!({"snapshot_id": 2})).await.0, 404);
}

#[tokio::test]
async fn a_time_whose_snapshot_is_expired_is_answered_as_gone() {
    let server = server().await;
    server.put("/v1/namespaces/n/tables/t/tags/x", &json!({"snapshot_id": 1})).await;
    expire(&server, json!({"keep_last": 2, "dry_run": false})).await;
    // 2 is gone, so what the table held at 12:30 could be 1 or 2.
    let plan = async |as_of: &str| server.post("/v1/namespaces/n/tables/t/plan", &json!({"as_of": as_of})).await;
    for as_of in ["2024-01-31T12:00:00Z", "2024-01-31T12:30:00Z", "2024-01-31T13:59:59Z"] {
        let (status, problem) = plan(as_of).await;
        assert_eq!((status, &problem["type"]), (410, &json!("/problems/expired")), "{problem}");
        assert_eq!(problem["detail"], format!("what the table held at {as_of} is expired"));
    }
    assert_eq!(plan("2024-01-31T14:00:00Z").await.1["snapshot_id"], 3);
    assert_eq!(plan("2024-01-31T11:59:59Z").await.0, 404);
    let (status, _) = server.get("/v1/namespaces/n/tables/t/files?as_of=2024-01-31T12:30:00Z").await;
    assert_eq!(status, 410);
}

#[tokio::test]
async fn an_expiry_without_limits_is_refused() {
    let server = server().await;
    let status = async |body: Value| server.post(EXPIRE, &body).await.0;
    assert_eq!(status(json!({})).await, 422);
    assert_eq!(status(json!({"dry_run": false})).await, 422);
    assert_eq!(status(json!({"keep_last": 0})).await, 422);
    assert_eq!(status(json!({"older_than": "yesterday"})).await, 422);
    assert_eq!(status(json!({"keep_last": -1})).await, 400);
    assert_eq!(status(json!({"keep_last": 1, "older": "x"})).await, 400);
    assert_eq!(retained(&server).await, [4, 3, 2, 1]);
}

#[tokio::test]
async fn what_is_named_in_another_spelling_or_through_a_link_is_not_removable() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    std::fs::create_dir(server.data().join("real")).unwrap();
    std::fs::write(server.data().join("real/f"), "f").unwrap();
    std::os::unix::fs::symlink(server.data().join("real"), server.data().join("link")).unwrap();
    server.change("t", &["link/f", "a b", "c d", "c%20d", "e"], &[]).await;
    server.change("t", &["real/f", "a%20b"], &["link/f", "a b", "c d", "c%20d", "e"]).await;
    let dry = expire(&server, json!({"keep_last": 1})).await;
    let real = expire(&server, json!({"keep_last": 1, "dry_run": false})).await;
    let expected = ["c d", "c%20d", "e"].map(|name| format!("file://{}", server.path(name)));
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!((&dry["removable"], &real["removable"]), (&json!(expected), &json!(expected)));
    assert_eq!((&dry["forgotten_files"], &real["forgotten_files"]), (&json!(5), &json!(5)));
}

#[tokio::test]
async fn what_was_done_before_a_failure_is_told() {
    let server = server().await;
    let store = rusqlite::Connection::open(server.store().join("prunus.db")).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE DELETE ON data_file BEGIN SELECT RAISE(ABORT, 'no'); END";
    store.execute(refuse, []).unwrap();
    let body = json!({"keep_last": 2, "dry_run": false});
    let first = expire(&server, body.clone()).await;
    assert_eq!(
        (&first["snapshots"], &first["forgotten_files"], &first["more"]),
        (&json!([1, 2]), &json!(0), &json!(true))
    );
    // Nothing was done, so there is nothing to tell but the failure.
    assert_eq!(server.post(EXPIRE, &body).await.0, 500);
    store.execute("DROP TRIGGER refuse", []).unwrap();
    let last = expire(&server, body).await;
    assert_eq!((&last["snapshots"], &last["forgotten_files"], &last["more"]), (&json!([]), &json!(1), &json!(false)));
}

#[tokio::test]
async fn plans_are_whole_while_snapshots_go() {
    const COMMITS: usize = 60;
    let server = Server::start(3).await;
    server.create_declared("t").await;
    let names: Vec<String> = (0..=COMMITS).map(|number| format!("{number:03}")).collect();
    server.change("t", &["x", "y", &names[0]], &[]).await;
    let change = async {
        for pair in names.windows(2) {
            server.change("t", &[&pair[1]], &[&pair[0]]).await;
            expire(&server, json!({"keep_last": 1, "dry_run": false})).await;
        }
    };
    let done = std::cell::Cell::new(false);
    let plan = async {
        while !done.get() {
            // Every snapshot has three files, and the filter keeps all.
            assert_eq!(server.plan("t", &json!({"filter": "id > 0"})).await["files"].as_array().unwrap().len(), 3);
        }
    };
    let change = async {
        change.await;
        done.set(true);
    };
    tokio::join!(change, plan);
    assert_eq!(retained(&server).await.len(), 1);
}
