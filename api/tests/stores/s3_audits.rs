//! Audits over a real S3 server: what is gone or another there, a secret that is wrong by now, a server that dies and comes back.

use std::time::Duration;

use futures::{StreamExt, stream};
use serde_json::{Value, json};

use crate::parquet_file::of_ids;
use crate::prunus_process::{Prunus, Ran};
use crate::s3_server::{Bucket, S3Server};

const AUDITS: &str = "/v1/namespaces/n/tables/t/audits";

/// Puts so many files below `t/`, and registers them.
async fn fill(prunus: &Prunus, bucket: &Bucket, files: i64) {
    let put = async |number: i64| _ = bucket.put(&key(number), content(number)).await;
    stream::iter(0..files).for_each_concurrent(16, put).await;
    let imported = prunus.import(&["n.t", &bucket.location("t/"), "--create"]).await;
    assert_eq!((imported.exit, imported.counts()), (0, [files as u64, 0, 0, 0]), "{}", imported.stderr);
}

fn key(number: i64) -> String {
    format!("t/{number:04}.parquet")
}

fn content(number: i64) -> Vec<u8> {
    of_ids(number * 10..number * 10 + 10)
}

/// Runs `prunus audit` of the table.
async fn audit(prunus: &Prunus, arguments: &[&str]) -> Ran {
    prunus.run(&[&["audit", "--json", "n.t"], arguments].concat()).await
}

/// What was found: kind, key and statistic of each.
fn found(audit: &Value) -> Vec<String> {
    let line = |finding: &Value| {
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let path = text("path");
        let name = path.rsplit('/').next().unwrap();
        format!("{} {name} {}", text("kind"), text("statistic")).trim_end().to_owned()
    };
    audit["found"].as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn objects_that_are_gone_or_others_are_found_and_the_rest_is_made_exact() {
    let Some(server) = S3Server::shared().await else { return };
    let (bucket, prunus) = (server.new_bucket(), Prunus::start(server.environment()));
    fill(&prunus, &bucket, 40).await;
    let sound = audit(&prunus, &["--mode", "scan"]).await;
    assert_eq!((sound.exit, &sound.answer["files_checked"]), (0, &json!(40)), "{}", sound.stderr);
    bucket.remove(&key(3)).await;
    bucket.put(&key(7), of_ids(5_000..5_010)).await;
    // Of the same size, so that only the etag tells.
    bucket.put(&key(12), of_ids(130..140)).await;
    for mode in ["footer", "scan"] {
        let ran = audit(&prunus, &["--mode", mode, "--repair"]).await;
        let expected = ["missing 0003.parquet", "changed 0007.parquet size_bytes", "changed 0012.parquet etag"];
        assert_eq!((ran.exit, found(&ran.answer)), (5, expected.map(str::to_owned).to_vec()), "{mode}");
        assert_eq!(ran.answer["state"], "done");
    }
    let route = |number| format!("/v1/namespaces/n/tables/t/files?path={}", bucket.location(&key(number)));
    assert_eq!(prunus.get(&route(4)).await.1["columns"]["id"]["min_precision"], "exact");
    assert_eq!(prunus.get(&route(12)).await.1["columns"]["id"]["min_precision"], "bound");
    assert_eq!(prunus.plan("id = 45").await, [bucket.location(&key(4))]);
}

#[tokio::test]
async fn an_audit_that_is_not_let_in_fails_and_calls_no_file_unreadable() {
    let Some(server) = S3Server::shared().await else { return };
    let (bucket, mut prunus) = (server.new_bucket(), Prunus::start(server.environment()));
    fill(&prunus, &bucket, 40).await;
    prunus.restart(server.environment_with_secret("not-the-secret"));
    for mode in ["footer", "scan"] {
        let ran = audit(&prunus, &["--mode", mode, "--repair"]).await;
        assert_eq!((ran.exit, found(&ran.answer)), (3, Vec::new()), "{}", ran.answer);
        let message = ran.answer["message"].as_str().unwrap();
        let place = bucket.location("t/");
        assert!(message.starts_with(&format!("the object store failed for `{place}")), "{message}");
        assert!(message.ends_with(": the store refuses access"), "{message}");
    }
    prunus.restart(server.environment());
    assert_eq!(audit(&prunus, &[]).await.exit, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_whose_server_dies_goes_on_when_it_is_back() {
    const FILES: i64 = 1_500;
    let Some(mut server) = S3Server::start().await else { return };
    let (bucket, prunus) = (server.new_bucket(), Prunus::start(server.environment()));
    fill(&prunus, &bucket, FILES).await;
    bucket.remove(&key(1)).await;
    let (status, begun) = prunus.post(AUDITS, &json!({"mode": "footer"})).await;
    assert_eq!(status, 202, "{begun}");
    let route = format!("{AUDITS}/{}", begun["audit_id"]);
    while prunus.get(&route).await.1["files_checked"] == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    server.kill();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (_, audit) = prunus.get(&route).await;
    assert!(audit["files_checked"].as_i64().unwrap() < FILES, "it was killed too late: {audit}");
    assert_eq!(audit["state"], "running");
    server.start_again().await;
    let ended = loop {
        let (_, audit) = prunus.get(&route).await;
        if audit["state"] != "running" {
            break audit;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!((&ended["state"], &ended["files_checked"]), (&json!("done"), &json!(FILES)));
    assert_eq!(found(&ended), ["missing 0001.parquet"]);
}
