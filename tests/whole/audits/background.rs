//! What is improved where nobody has asked for it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parquet::file::properties::EnabledStatistics;
use prunus_catalog::{AuditBudget, CatalogOptions};
use serde_json::{Value, json};

use super::{column, table, write};
use crate::server::{Server, append};

/// How long is waited for what is to come. Without a commit it is looked for every ten seconds.
const PATIENCE: Duration = Duration::from_secs(60);

async fn server(bytes_per_second: u64) -> Server {
    let audit_budget = AuditBudget::of_bytes_per_second(bytes_per_second);
    Server::start_with(CatalogOptions { manifest_target_files: 2, audit_budget, ..CatalogOptions::default() }).await
}

async fn file(server: &Server, name: &str, path: &str) -> Value {
    let (status, file) = server.get(&format!("/v1/namespaces/n/tables/{name}/files?path={path}")).await;
    assert_eq!(status, 200, "{file}");
    file
}

/// Waits until all that is known of `id` and `x` of a file was read; says how long that took.
async fn wait_until_read(server: &Server, name: &str, path: &str) -> Duration {
    let begun = Instant::now();
    loop {
        let columns = file(server, name, path).await["columns"].take();
        if columns["x"]["nan_count"] == 1 && columns["id"]["min_precision"] == "exact" {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < PATIENCE, "{columns}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn nans_are_counted_and_bounds_made_exact_in_the_background() {
    let server = server(1 << 30).await;
    table(&server, json!({})).await;
    let paths: Vec<String> =
        (0..3).map(|file| write(&server, &format!("{file}.parquet"), file * 10, EnabledStatistics::Chunk)).collect();
    server.commit("t", append(&paths)).await;
    for path in &paths {
        wait_until_read(&server, "t", path).await;
    }
}

#[tokio::test]
async fn new_files_are_noticed_soon() {
    let server = server(1 << 30).await;
    table(&server, json!({})).await;
    // Nothing was found by now.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let path = write(&server, "f.parquet", 0, EnabledStatistics::Chunk);
    server.commit("t", append([&path])).await;
    let took = wait_until_read(&server, "t", &path).await;
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[tokio::test]
async fn no_more_is_read_than_the_budget_allows() {
    const FILES: i64 = 40;
    let begun = Instant::now();
    let server = server(10_000).await;
    table(&server, json!({})).await;
    let mut paths = Vec::new();
    for file in 0..FILES {
        // A commit each, so that files are looked at in several turns.
        let path = write(&server, &format!("{file}.parquet"), file * 10, EnabledStatistics::Chunk);
        server.commit("t", append([&path])).await;
        paths.push(path);
    }
    wait_until_read(&server, "t", paths.last().unwrap()).await;
    let bytes: u64 = paths.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
    // The pause comes after what was read, so the last turn is not in it; each file is read twice, in part.
    let least = Duration::from_secs_f64(bytes as f64 * 0.5 / 10_000.0);
    assert!(begun.elapsed() > least, "{:?} for {bytes} bytes", begun.elapsed());
}

#[tokio::test]
async fn where_the_writers_word_is_taken_nothing_is_read() {
    let server = server(1 << 30).await;
    table(&server, json!({"verification": "declared"})).await;
    let size = |path: &str| std::fs::metadata(path).unwrap().len();
    let path = write(&server, "f.parquet", 10, EnabledStatistics::Chunk);
    let add = json!([{"path": path, "size_bytes": size(&path), "row_count": 10, "columns": {"id": {"min": 12}}}]);
    server.commit("t", json!({"operation": "append", "add": add})).await;
    // Another table is read, which comes after it.
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "x", "type": "float64"}]);
    server.create_table("u", json!({"schema": {"fields": fields}})).await;
    server.commit("u", append([&path])).await;
    wait_until_read(&server, "u", &path).await;
    assert_eq!(column(&server, &path, "id").await["min"], 12);
    // Until the policy is another.
    server.alter("t", &json!({"properties": {"verification": "footer"}})).await;
    wait_until_read(&server, "t", &path).await;
    assert_eq!(column(&server, &path, "id").await["min"], 10);
}

/// A server that lets no one in; says where it is, and counts.
fn closed_store() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            // A connection that nothing is asked on must not hold up the others.
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            });
        }
    });
    (url, requests)
}

#[tokio::test]
async fn a_table_whose_store_fails_rests_and_keeps_no_other_waiting() {
    let server = server(1 << 30).await;
    table(&server, json!({"verification": "declared"})).await;
    let (url, requests) = closed_store();
    let add: Vec<Value> = (0..40).map(|file| json!({"path": format!("{url}/{file}"), "size_bytes": 1})).collect();
    server.commit("t", json!({"operation": "append", "add": add})).await;
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "x", "type": "float64"}]);
    server.create_table("u", json!({"schema": {"fields": fields}})).await;
    server.alter("t", &json!({"properties": {"verification": "footer"}})).await;
    while requests.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let path = write(&server, "f.parquet", 0, EnabledStatistics::Chunk);
    server.commit("u", append([&path])).await;
    let took = wait_until_read(&server, "u", &path).await;
    // Three attempts, after one second and after two, of at most all files and as many probes.
    let asked = requests.load(Ordering::Relaxed);
    assert!(took < Duration::from_secs(8) && asked <= 4 * 80, "{took:?} {asked}");
}

#[tokio::test]
async fn tables_take_turns() {
    const FILES: i64 = 600;
    let server = server(1 << 30).await;
    table(&server, json!({})).await;
    let paths: Vec<String> =
        (0..FILES).map(|file| write(&server, &format!("{file}.parquet"), file, EnabledStatistics::Chunk)).collect();
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "x", "type": "float64"}]);
    server.create_table("u", json!({"schema": {"fields": fields}})).await;
    server.commit("u", append([&paths[0]])).await;
    server.commit("t", append(&paths)).await;
    wait_until_read(&server, "u", &paths[0]).await;
    wait_until_read(&server, "t", paths.last().unwrap()).await;
    server.assert_sound().await;
}
