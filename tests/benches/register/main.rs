//! How much longer does registering files take than reading their footers?
//!
//! `cargo bench -p prunus-tests --bench register` makes 10,000 files of 10 columns, reads their footers with the `parquet` crate
//! alone, on one thread, and registers them: as one commit of the catalog in this process, and over HTTP by one request to a server
//! in a process of its own. The three take turns, each over all files, and what is reported is the median of the rounds and the
//! ratio to the round's reading. A first turn of each, which is not counted, fills the caches and holds what was registered
//! against what was written. Arguments are the numbers of files and of rounds.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a bench may stop at the first fault, and its numbers are small"
)]

#[path = "../store/client.rs"]
#[expect(dead_code, reason = "the other bench measures memory, too")]
mod client;
mod files;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parquet::file::metadata::ParquetMetaDataReader;
use prunus_catalog::{
    AddedFile, Catalog, CatalogOptions, CommitRequest, NamespaceName, NanOrder, NewTable, Operation, SchemaSource,
    TableIdent,
};
use serde_json::json;

use client::Server;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, folder, address] = arguments.as_slice()
        && command == client::SERVE
    {
        return client::serve(folder, address);
    }
    let asked: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let (count, rounds) = (asked.first().copied().unwrap_or(10_000), asked.get(1).copied().unwrap_or(15));
    let folder = tempfile::tempdir().unwrap();
    let paths = files::write(folder.path(), count);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(measure(folder.path(), &paths, rounds));
}

async fn measure(folder: &Path, paths: &[PathBuf], rounds: usize) {
    let [here, remote] = ["here", "remote"].map(|name| folder.join(name));
    let catalog = open(&here, &paths[0], rounds).await;
    drop(open(&remote, &paths[0], rounds).await);
    let server = Server::start(&remote).await;
    let mut times: [Vec<Duration>; 3] = Default::default();
    for round in 0..=rounds {
        let turn = [read(paths), commit(&catalog, round, paths).await, post(&server, round, paths).await];
        if round > 0 {
            times.iter_mut().zip(turn).for_each(|(times, time)| times.push(time));
        }
    }
    println!("| what | files | µs per file | times reading |\n| --- | ---: | ---: | ---: |");
    let names = ["reading with the parquet crate", "a commit in this process", "a commit over HTTP"];
    for (name, of_name) in names.into_iter().zip(&times) {
        let mut ratios: Vec<f64> =
            of_name.iter().zip(&times[0]).map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        let mut sorted = of_name.clone();
        sorted.sort_unstable();
        let each = sorted[rounds / 2].as_secs_f64() * 1e6 / paths.len() as f64;
        println!("| {name} | {} | {each:.1} | {:.2} |", paths.len(), ratios[rounds / 2]);
    }
}

/// A catalog with a table for each round and one more, of the files' schema.
async fn open(folder: &Path, first: &Path, rounds: usize) -> Catalog {
    std::fs::create_dir(folder).unwrap();
    let catalog = Catalog::open(folder, CatalogOptions::default()).await.unwrap();
    let namespace: NamespaceName = "bench".parse().unwrap();
    catalog.create_namespace(namespace, BTreeMap::new()).await.unwrap();
    for round in 0..=rounds {
        let table = NewTable {
            ident: ident(round),
            schema: SchemaSource::File(text(first)),
            location: None,
            cluster_by: None,
            properties: BTreeMap::new(),
        };
        catalog.create_table(table).await.unwrap();
    }
    catalog
}

fn ident(round: usize) -> TableIdent {
    format!("bench.t{round}").parse().unwrap()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn read(paths: &[PathBuf]) -> Duration {
    let started = Instant::now();
    let mut rows = 0;
    for path in paths {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&File::open(path).unwrap()).unwrap();
        rows += metadata.file_metadata().num_rows() as usize;
    }
    let time = started.elapsed();
    assert_eq!(rows, paths.len() * files::ROWS);
    time
}

async fn commit(catalog: &Catalog, round: usize, paths: &[PathBuf]) -> Duration {
    let added = |path: &PathBuf| AddedFile { path: text(path), ..AddedFile::default() };
    let request = CommitRequest {
        operation: Operation::Append,
        base_snapshot: None,
        add: paths.iter().map(added).collect(),
        remove: Vec::new(),
        filter: None,
        nan_order: NanOrder::Any,
        summary: BTreeMap::new(),
    };
    let started = Instant::now();
    let committed = catalog.commit(ident(round), request).await.unwrap();
    let time = started.elapsed();
    assert_eq!(
        (committed.totals.files, committed.totals.rows),
        (paths.len() as u64, (paths.len() * files::ROWS) as u64)
    );
    if round == 0 {
        files::check(catalog, ident(round), &paths[paths.len() / 2], paths.len() / 2).await;
    }
    catalog.wait_for_maintenance().await.unwrap();
    time
}

async fn post(server: &Server, round: usize, paths: &[PathBuf]) -> Duration {
    let add: Vec<_> = paths.iter().map(|path| json!({"path": text(path)})).collect();
    let route = format!("/v1/namespaces/bench/tables/t{round}/commits");
    let request = server.post(&route, &json!({"operation": "append", "add": add}));
    let time = server.send_all(vec![request], 1, 201).await;
    // Sealing, which goes on behind the answer, is not to disturb the next turn.
    tokio::time::sleep(Duration::from_secs(1)).await;
    time
}
