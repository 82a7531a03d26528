//! How long do plans and commits take, and how much room do they need, as a table grows?
//!
//! `cargo bench -p prunus-tests` prints one table of figures: commits, then plans of tables of 100,000 and of 1,000,000 files;
//! numbers as arguments make tables of so many. A file has 10 columns of declared statistics and a path of 94 bytes; files are
//! clustered by `ts` and by no other column; a tail of 4,095 files is not sealed. Plans and commits go through the catalog, in
//! this process, and over HTTP to a server in a process of its own. Each plan is held to the number of files that it must keep.
//! Commits are compared with a bare SQLite transaction of the same rows, in the same run and on the same disk. Medians; a cold
//! plan opens the database, which the operating system has in its cache.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "a bench may stop at the first fault, and its numbers are small"
)]

mod bare;
mod client;
mod commits;
mod plans;
mod table;

use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, folder, address] = arguments.as_slice()
        && command == client::SERVE
    {
        return client::serve(folder, address);
    }
    let asked: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![100_000, 1_000_000] } else { asked };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("| files | what | figure |\n| ---: | --- | ---: |");
    if !arguments.iter().any(|argument| argument == "plans") {
        runtime.block_on(commits::measure());
    }
    if !arguments.iter().any(|argument| argument == "commits") {
        for files in sizes {
            runtime.block_on(plans::measure(files));
        }
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(files: usize, what: &str, figure: &str) {
    println!("| {files} | {what} | {figure} |");
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}
