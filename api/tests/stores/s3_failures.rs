//! A real S3 server that lets no one in, dies, comes back, or has other objects than a moment before.

use std::time::Duration;

use futures::{StreamExt, stream};

use crate::parquet_file::of_ids;
use crate::prunus_process::{Imported, Prunus};
use crate::s3_server::{Bucket, S3Server};

/// Puts so many files below `t/`.
async fn fill(bucket: &Bucket, files: i64) {
    let put = async |number: i64| {
        bucket.put(&format!("t/{number:03}.parquet"), of_ids(number * 10..number * 10 + 10)).await;
    };
    stream::iter(0..files).for_each_concurrent(16, put).await;
}

/// Waits until the table has so many files.
async fn wait_for_files(prunus: &Prunus, files: u64) {
    while prunus.files().await < files {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn a_wrong_secret_of_the_import_is_told_with_the_prefix() {
    let Some(server) = S3Server::shared().await else { return };
    let bucket = server.new_bucket();
    fill(&bucket, 2).await;
    let prunus = Prunus::start(server.environment());
    prunus.create_table().await;
    let wrong = server.environment_with_secret("not-the-secret");
    let Imported { exit, stderr, .. } = prunus.import_with(&wrong, &["n.t", &bucket.location("t/")]).await;
    let problem: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    let expected = format!("`{}` cannot be listed: the store refuses access", bucket.location("t/"));
    assert_eq!((exit, problem["detail"].as_str()), (2, Some(&*expected)), "{stderr}");
    assert_eq!(prunus.files().await, 0);
}

#[tokio::test]
async fn a_wrong_secret_of_the_server_is_told_with_each_file() {
    let Some(server) = S3Server::shared().await else { return };
    let bucket = server.new_bucket();
    fill(&bucket, 3).await;
    let prunus = Prunus::start(server.environment_with_secret("not-the-secret"));
    prunus.create_table().await;
    let path = bucket.location("t/001.parquet");
    let (status, problem) = prunus.append([path.clone()]).await;
    let fault = &problem["faults"][0];
    let told = ["path", "message"].map(|key| fault[key].as_str().unwrap());
    assert_eq!((status, told), (422, [path.as_str(), "the store refuses access"]));

    let imported = prunus.import_with(&server.environment(), &["n.t", &bucket.location("t/")]).await;
    assert_eq!((imported.exit, imported.counts()), (4, [0, 0, 0, 3]), "{}", imported.stderr);
    assert_eq!(prunus.files().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_lost_its_store_says_what_it_did_and_is_taken_up_later() {
    const FILES: i64 = 300;
    let Some(mut server) = S3Server::start().await else { return };
    let bucket = server.new_bucket();
    fill(&bucket, FILES).await;
    let prunus = Prunus::start(server.environment());
    prunus.create_table().await;
    let prefix = bucket.location("t/");
    let arguments = ["n.t", "--batch", "1", &prefix];
    let (broken, ()) = tokio::join!(prunus.import(&arguments), async {
        wait_for_files(&prunus, 20).await;
        server.kill();
    });
    assert_eq!(broken.exit, 3, "{broken:?}");
    let problem: serde_json::Value = serde_json::from_str(&broken.stderr).unwrap();
    assert_eq!(problem["type"], "/problems/storage-unavailable", "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains(&prefix), "{problem}");
    let [imported, rest @ ..] = broken.counts();
    assert_eq!((imported, rest), (prunus.files().await, [0; 3]), "{broken:?}");
    assert!((20..FILES as u64).contains(&imported), "{imported}");

    server.start_again().await;
    let second = prunus.import(&["n.t", &prefix]).await;
    assert_eq!((second.exit, second.counts()), (0, [FILES as u64 - imported, imported, 0, 0]), "{}", second.stderr);
    assert_eq!(prunus.files().await, FILES as u64);
}

#[tokio::test]
async fn an_object_that_is_replaced_after_the_listing_is_registered_as_it_is_when_read() {
    const FILES: i64 = 200;
    let Some(server) = S3Server::shared().await else { return };
    let bucket = server.new_bucket();
    fill(&bucket, FILES).await;
    let prunus = Prunus::start(server.environment());
    prunus.create_table().await;
    let prefix = bucket.location("t/");
    let arguments = ["n.t", "--batch", "1", &prefix];
    let last = format!("t/{:03}.parquet", FILES - 1);
    let (imported, files_before) = tokio::join!(prunus.import(&arguments), async {
        wait_for_files(&prunus, 5).await;
        bucket.put(&last, of_ids(1_000_000..1_000_123)).await;
        prunus.files().await
    });
    assert!(files_before < FILES as u64, "it was replaced too late");
    assert_eq!((imported.exit, imported.counts()), (0, [FILES as u64, 0, 0, 0]), "{imported:?}");
    assert_eq!(prunus.plan("id = 1000050").await, [bucket.location(&last)]);
    assert_eq!(prunus.plan(&format!("id = {}", FILES * 10 - 1)).await, [""; 0]);
    let (_, file) = prunus.get(&format!("/v1/namespaces/n/tables/t/files?path={}", bucket.location(&last))).await;
    let (size, etag) = bucket.head(&last).await;
    let registered =
        (file["size_bytes"].as_u64().unwrap(), file["row_count"].as_u64().unwrap(), file["etag"].as_str().unwrap());
    assert_eq!(registered, (size, 123, etag.as_str()));
    let again = prunus.import(&["n.t", &prefix]).await;
    assert_eq!((again.exit, again.counts()), (0, [0, FILES as u64, 0, 0]));
}
