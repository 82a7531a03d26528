//! How long does it take to hand out a plan of a million files, and does it take memory?
//!
//! `cargo bench -p prunus --bench render` registers 1,000,000 declared files (paths of 94 bytes, statistics of ten columns) and plans
//! them over HTTP with a filter that keeps every one of them to be filtered on: all pages of 100,000, one after the other, from
//! a server in a process of its own to a client that throws the bytes away; as JSON and as Arrow, plain and in zstd, in turns.
//! It first asserts that both formats agree file by file. Beside them `sqlite3` writes the same columns of the same rows as JSON
//! from a copy of the store, and reads them without writing anything. Before and after, one-file and 1,000-file plans are
//! counted, and the most memory that the server has had.
//!
//! Arguments are the numbers of files and of rounds. `PRUNUS_RENDER_FOLDER` keeps the store there for the next run;
//! `PRUNUS_RENDER_SERVER` is another `prunus` to measure, which may know no Arrow: then `json` is to be the third argument.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "a bench may stop at the first fault, and its numbers are small"
)]

mod agree;
mod rival;
mod server;
#[path = "../../../tests/benches/store/table.rs"]
#[expect(dead_code, reason = "the other bench commits over HTTP and plans by time, too")]
mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::{Value, json};

use server::{Connection, Server};

pub(crate) const ARROW: &str = "application/vnd.apache.arrow.stream";
pub(crate) const JSON: &str = "application/json";

/// How many files a commit adds.
const BATCH: usize = 10_000;
const PAGE: usize = 100_000;
/// True of every file as far as statistics tell, and not wholly to be told from them.
const FILTER: &str = "i1 >= 0 AND lower(cat) <> 'x'";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, folder, address] = arguments.as_slice()
        && command == server::SERVE
    {
        return server::serve(folder, address);
    }
    let numbers: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let (files, rounds) = (numbers.first().copied().unwrap_or(1_000_000), numbers.get(1).copied().unwrap_or(5));
    let formats = if arguments.iter().any(|argument| argument == "json") { vec![JSON] } else { vec![JSON, ARROW] };
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::var_os("PRUNUS_RENDER_FOLDER").map_or(temporary.path().join("store"), PathBuf::from);
    if !folder.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(fill(&folder, files));
    }
    println!("| what | ms | µs per file | bytes |\n| --- | ---: | ---: | ---: |");
    measure(&folder, files, rounds, &formats);
    rival::measure(&folder, files, rounds);
}

async fn fill(folder: &Path, files: usize) {
    let catalog = Catalog::open(folder, CatalogOptions::default()).await.unwrap();
    let ident = table::create_table(&catalog).await;
    for first in (0..files).step_by(BATCH) {
        catalog.commit(ident.clone(), table::append(first..files.min(first + BATCH), files)).await.unwrap();
        catalog.wait_for_maintenance().await.unwrap();
    }
}

fn measure(folder: &Path, files: usize, rounds: usize, formats: &[&'static str]) {
    let server = Server::start(folder);
    let show_memory = |when: &str| {
        println!("| most memory of the server, {when}: {} MB | | | |", server.memory_max_bytes() / 1_000_000);
    };
    let count_small = |when: &str| {
        let between = |from, to| format!("ts >= {} AND ts < {}", table::timestamp(from, 0), table::timestamp(to, 0));
        let (one, thousand) = (files / 3, files.min(files / 3 + 1_000));
        for (name, filter, plans) in
            [("one file", between(one, one + 1), 40_000), ("1,000 files", between(one, thousand), 4_000)]
        {
            let rate = server.rate(&body(&filter, 1_000, None), plans);
            println!("| plans of {name}, 16 connections, {when}: {rate:.0}/s | | | |");
        }
        show_memory(when);
    };
    count_small("before");
    let pages = match formats {
        [JSON] => agree::pages(&server, FILTER, PAGE, JSON),
        _ => agree::pages_of_both(&server, FILTER, PAGE),
    };
    assert_eq!(pages.files, files);
    let kinds: Vec<_> = formats.iter().flat_map(|format| [(*format, "identity"), (*format, "zstd")]).collect();
    let mut times = vec![Vec::new(); kinds.len()];
    let mut bytes = vec![0; kinds.len()];
    for round in 0..=rounds {
        for (index, (accept, encoding)) in kinds.iter().enumerate() {
            let (time, received) = plan(&server, &pages.tokens, accept, encoding);
            bytes[index] = received;
            if round > 0 {
                times[index].push(time);
            }
        }
        if round == 0 {
            show_memory("after a plan of each kind");
        }
    }
    show_memory("after them all");
    for ((accept, encoding), (times, bytes)) in kinds.iter().zip(times.into_iter().zip(bytes)) {
        row(&format!("{accept}, {encoding}"), median(times), files, bytes);
    }
    count_small("after");
}

/// All pages of the plan.
fn plan(server: &Server, tokens: &[Option<String>], accept: &str, encoding: &str) -> (Duration, usize) {
    let mut connection = Connection::open(&server.address);
    let started = Instant::now();
    let mut bytes = 0;
    for token in tokens {
        connection.send(&body(FILTER, PAGE, token.as_deref()), accept, encoding);
        bytes += connection.discard();
    }
    (started.elapsed(), bytes)
}

pub(crate) fn body(filter: &str, page_size: usize, token: Option<&str>) -> Value {
    json!({"filter": filter, "page_size": page_size, "page_token": token})
}

pub(crate) fn row(name: &str, time: Duration, files: usize, bytes: usize) {
    let milliseconds = time.as_secs_f64() * 1e3;
    println!("| {name} | {milliseconds:.0} | {:.2} | {bytes} |", milliseconds * 1e3 / files as f64);
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
