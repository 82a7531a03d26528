//! Commits, beside the bare transactions that are their floor.

use std::ops::Range;
use std::time::{Duration, Instant};

use prunus_catalog::{Catalog, CatalogOptions, TableIdent};
use serde_json::json;

use crate::bare::Bare;
use crate::client::Server;
use crate::table::{COLUMNS, append, create_table, file_json};
use crate::{milliseconds, rate, row};

/// How many commits stand between the first and the last that are timed.
const COMMITS: usize = 100_000;
/// How many are timed at a time.
const PART: usize = 1_000;
const WRITERS: usize = 64;

pub(crate) async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    let ident = create_table(&catalog).await;
    one_after_another(&catalog, &ident, 0..100).await;
    let mut bare = Bare::create(&folder.path().join("bare.db"), &folder.path().join("prunus.db"));
    compare_one_writer(&catalog, &ident, &mut bare, 100).await;
    at_once(&catalog, &ident, 100 + 5 * PART..COMMITS).await;
    (0..COMMITS - 5 * PART).step_by(WRITERS).for_each(|_| bare.commit(WRITERS));
    compare_one_writer(&catalog, &ident, &mut bare, COMMITS).await;
    compare_many_writers(&catalog, &ident, &mut bare, COMMITS + 5 * PART).await;
    big_commit(&catalog, &ident).await;
    drop(catalog);
    over_http(folder.path()).await;
}

/// In turns of equal length, so that whatever else the machine does touches both.
async fn compare_one_writer(catalog: &Catalog, ident: &TableIdent, bare: &mut Bare, first: usize) {
    let (mut ours, mut floor) = (Duration::ZERO, Duration::ZERO);
    for part in 0..5 {
        let from = first + part * PART;
        ours += one_after_another(catalog, ident, from..from + PART).await;
        let started = Instant::now();
        (0..PART).for_each(|_| bare.commit(1));
        floor += started.elapsed();
    }
    report(first, "commits of one file, one writer", 5 * PART, ours, floor);
}

async fn compare_many_writers(catalog: &Catalog, ident: &TableIdent, bare: &mut Bare, first: usize) {
    const COUNT: usize = 16 * PART;
    let (mut ours, mut floor) = (Duration::ZERO, Duration::ZERO);
    for part in 0..5 {
        let from = first + part * COUNT;
        ours += at_once(catalog, ident, from..from + COUNT).await;
        let started = Instant::now();
        (0..COUNT / WRITERS).for_each(|_| bare.commit(WRITERS));
        floor += started.elapsed();
    }
    report(first, "commits of one file, 64 writers", 5 * COUNT, ours, floor);
}

fn report(before: usize, what: &str, count: usize, ours: Duration, floor: Duration) {
    let (ours, floor) = (rate(count, ours), rate(count, floor));
    let figure = format!("{ours:.0}/s, {:.0} % of bare SQLite ({floor:.0}/s)", 100.0 * ours / floor);
    row(before, what, &figure);
}

async fn one_after_another(catalog: &Catalog, ident: &TableIdent, numbers: Range<usize>) -> Duration {
    let requests: Vec<_> = numbers.map(|number| append(number..number + 1, 0)).collect();
    let started = Instant::now();
    for request in requests {
        catalog.commit(ident.clone(), request).await.unwrap();
    }
    started.elapsed()
}

async fn at_once(catalog: &Catalog, ident: &TableIdent, numbers: Range<usize>) -> Duration {
    let mut requests: Vec<_> = numbers.map(|number| append(number..number + 1, 0)).collect();
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    let share = requests.len().div_ceil(WRITERS);
    while !requests.is_empty() {
        let own = requests.split_off(requests.len().saturating_sub(share));
        let (catalog, ident) = (catalog.clone(), ident.clone());
        tasks.spawn(async move {
            for request in own {
                catalog.commit(ident.clone(), request).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    started.elapsed()
}

async fn big_commit(catalog: &Catalog, ident: &TableIdent) {
    const FILES: usize = 100_000;
    catalog.wait_for_maintenance().await.unwrap();
    let request = append(10_000_000..10_000_000 + FILES, 0);
    let started = Instant::now();
    catalog.commit(ident.clone(), request).await.unwrap();
    row(FILES, "one commit of so many files", &milliseconds(started.elapsed()));
    catalog.wait_for_maintenance().await.unwrap();
    row(FILES, "the same until all are sealed", &milliseconds(started.elapsed()));
}

async fn over_http(folder: &std::path::Path) {
    const COUNT: usize = 20_000;
    let server = Server::start(folder).await;
    let route = "/v1/namespaces/bench/tables/t/commits";
    let request = |number| server.post(route, &json!({"operation": "append", "add": [file_json(number)]}));
    let requests = (20_000_000..20_000_000 + COUNT).map(request).collect();
    let time = server.send_all(requests, WRITERS, 201).await;
    row(COMMITS, "commits of one file over HTTP, 64 connections", &format!("{:.0}/s", rate(COUNT, time)));
    assert_eq!(COLUMNS.len(), 10);
}
