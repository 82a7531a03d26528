//! How many requests of a store are in flight while files are registered.

use std::time::Duration;

use prunus_catalog::MAX_REQUESTS_AT_ONCE;

use crate::file_server::FileServer;
use crate::parquet_file::of_ids;
use crate::prunus_process::Prunus;

/// So long that what is done beside waiting is a small part of it.
const DELAY: Duration = Duration::from_millis(150);

/// A store with so many files, that lets each request wait so long, and a server without any.
async fn start(files: usize, delay: Duration) -> (Prunus, FileServer, Vec<String>) {
    let prunus = Prunus::start(Vec::new());
    prunus.create_table().await;
    let store = FileServer::start(delay).await;
    let paths = (0..files).map(|file| store.put(&file.to_string(), of_ids(0..10))).collect();
    (prunus, store, paths)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_has_as_many_requests_in_flight_as_there_may_be() {
    let (prunus, store, paths) = start(320, DELAY).await;
    assert_eq!(prunus.append(paths).await.0, 201);
    let counts = store.take_counts();
    assert_eq!((counts.requests, counts.in_flight_max), (320, MAX_REQUESTS_AT_ONCE));
    let rounds = u32::try_from(320 / MAX_REQUESTS_AT_ONCE).unwrap();
    assert!(counts.reading_time() < DELAY * rounds * 3 / 2, "{:?}", counts.reading_time());
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_at_the_same_time_share_what_may_be_in_flight() {
    let (prunus, store, paths) = start(320, DELAY).await;
    let (a, b) = tokio::join!(prunus.append(paths[..160].to_vec()), prunus.append(paths[160..].to_vec()));
    assert_eq!((a.0, b.0), (201, 201));
    let counts = store.take_counts();
    assert_eq!((counts.requests, counts.in_flight_max), (320, MAX_REQUESTS_AT_ONCE));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_reads_on_while_a_batch_ends() {
    const FILES: usize = 640;
    let (prunus, store, paths) = start(FILES, 2 * DELAY).await;
    assert_eq!(prunus.append(paths.clone()).await.0, 201);
    let whole = store.take_counts().reading_time();
    // A batch alone would take two rounds of requests, the second of which is for a few files.
    let arguments = ["n.u", "--create", "--batch", "40"].map(str::to_owned).to_vec();
    let imported = prunus.import(&[arguments, paths].concat()).await;
    assert_eq!((imported.exit, imported.counts()), (0, [FILES as u64, 0, 0, 0]), "{}", imported.stderr);
    let counts = store.take_counts();
    assert_eq!(counts.in_flight_max, MAX_REQUESTS_AT_ONCE);
    assert!(counts.reading_time() < whole * 3 / 2, "{:?} {whole:?}", counts.reading_time());
}
