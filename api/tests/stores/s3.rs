//! Import, plans and orphans over a real S3 server.

use serde_json::Value;

use crate::parquet_file::of_ids;
use crate::prunus_process::Prunus;
use crate::s3_server::S3Server;

const FILES: i64 = 40;

/// The content of the file of this number.
fn content(number: i64) -> Vec<u8> {
    of_ids(number * 100..number * 100 + 100)
}

#[tokio::test]
async fn files_below_a_prefix_are_imported_and_planned() {
    let Some(server) = S3Server::shared().await else { return };
    let bucket = server.new_bucket();
    for number in 0..FILES {
        bucket.put(&format!("t/day={}/part-{number:02}.parquet", number / 10), content(number)).await;
    }
    bucket.put("t/_temporary/part.parquet", content(0)).await;
    bucket.put("t/notes.txt", b"no data".to_vec()).await;
    bucket.put("tables/other.parquet", content(0)).await;
    let prunus = Prunus::start(server.environment());

    let first = prunus.import(&["n.t", &bucket.location("t/"), "--create"]).await;
    assert_eq!((first.exit, first.counts()), (0, [FILES as u64, 0, 0, 0]), "{}", first.stderr);
    let known = ["rows", "passed_over"].map(|key| first.summary[key].as_i64().unwrap());
    assert_eq!(known, [FILES * 100, 2]);
    assert_eq!(prunus.plan("id = 1234").await, [bucket.location("t/day=1/part-12.parquet")]);
    assert_eq!(prunus.plan("day = '3'").await.len(), 10);

    let path = bucket.location("t/day=1/part-12.parquet");
    let (_, file) = prunus.get(&format!("/v1/namespaces/n/tables/t/files?path={path}")).await;
    let (size, etag) = bucket.head("t/day=1/part-12.parquet").await;
    assert_eq!((file["size_bytes"].as_u64().unwrap(), file["etag"].as_str().unwrap()), (size, etag.as_str()));

    let again = prunus.import(&["n.t", &bucket.location("t/")]).await;
    assert_eq!((again.exit, again.counts()), (0, [0, FILES as u64, 0, 0]));
}

#[tokio::test]
async fn objects_that_no_table_names_are_listed() {
    let Some(server) = S3Server::shared().await else { return };
    let bucket = server.new_bucket();
    bucket.put("t/registered é.parquet", content(0)).await;
    let prunus = Prunus::start(server.environment());
    assert_eq!(prunus.import(&["n.t", &bucket.location("t/"), "--create"]).await.exit, 0);
    let orphans = [bucket.put("t/a b+c%20.parquet", content(1)).await, bucket.put("t/below/日本", content(2)).await];
    let (status, answer) = prunus.get("/v1/namespaces/n/tables/t/orphans?older_than=2999-01-01T00:00:00Z").await;
    assert_eq!(status, 200, "{answer}");
    let path = |orphan: &Value| orphan["path"].as_str().unwrap().to_owned();
    let mut listed: Vec<String> = answer["orphans"].as_array().unwrap().iter().map(path).collect();
    listed.sort();
    assert_eq!(listed, orphans);
}

#[tokio::test]
async fn odd_keys_are_taken_as_they_are() {
    const NAMES: [&str; 14] = [
        "a b",
        "a%20b",
        "a%2520b",
        "100%",
        "a+b",
        "a&b=c;d",
        "é",
        "e\u{301}",
        "日本",
        "ask?",
        "hash#1",
        "tilde~[x]{y}",
        "quote'\"",
        "comma,(at@)!$*:",
    ];
    let Some(server) = S3Server::shared().await else { return };
    let bucket = server.new_bucket();
    let mut paths = Vec::new();
    for (number, name) in NAMES.iter().enumerate() {
        paths.push(bucket.put(&format!("odd/{name}.parquet"), content(number as i64)).await);
    }
    let prunus = Prunus::start(server.environment());
    let listed = prunus.import(&["n.t", &bucket.location("odd/"), "--create"]).await;
    assert_eq!((listed.exit, listed.counts()), (0, [14, 0, 0, 0]), "{} {}", listed.stderr, listed.summary);
    for (number, path) in paths.iter().enumerate() {
        assert_eq!(prunus.plan(&format!("id = {}", number * 100 + 50)).await, [path.as_str()]);
    }
    let one_by_one = prunus.import(&[vec!["n.t".to_owned()], paths].concat()).await;
    assert_eq!((one_by_one.exit, one_by_one.counts()), (0, [0, 14, 0, 0]), "{}", one_by_one.summary);
}
