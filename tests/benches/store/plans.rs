//! Plans, and the room that the table takes.

use std::path::Path;
use std::time::{Duration, Instant};

use prunus_catalog::{Catalog, CatalogOptions, Filter, PlanRequest, TableIdent};
use serde_json::json;

use crate::client::Server;
use crate::table::{append, create_table, place, timestamp};
use crate::{median, milliseconds, row};

/// How many files a commit adds.
const BATCH: usize = 10_000;
/// How many files a manifest is made of: one less is the longest tail that is not sealed.
const MANIFEST: usize = 4_096;
const ROUNDS: usize = 200;

pub(crate) async fn measure(files: usize) {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    let ident = create_table(&catalog).await;
    let started = Instant::now();
    for first in (0..files).step_by(BATCH) {
        let request = append(first..files.min(first + BATCH), files);
        catalog.commit(ident.clone(), request).await.unwrap();
        catalog.wait_for_maintenance().await.unwrap();
    }
    let each = started.elapsed() / files as u32;
    row(files, "commits of 10,000 files each, sealing included, for each file", &milliseconds(each));
    drop(catalog);
    let sealed_bytes = size_bytes(folder.path());
    let column_bytes = largest_column_bytes(folder.path());
    let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    for number in files..(files + 1).next_multiple_of(MANIFEST) - 1 {
        catalog.commit(ident.clone(), append(number..number + 1, files)).await.unwrap();
    }
    let between = |from, to| format!("ts >= {} AND ts < {}", timestamp(from, 0), timestamp(to, 0));
    let one = between(files / 3, files / 3 + 1);
    let thousand = between(files / 3, files / 3 + 1_000);
    let unclustered = format!("id = {}", place(files / 2, files) * 1_000 + 7);
    let plans =
        [("one file by ts", &one, 1), ("1,000 files by ts", &thousand, 1_000), ("one file by id", &unclustered, 1)];
    for (name, filter, kept) in plans {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            times.push(plan(&catalog, &ident, filter, kept).await);
        }
        row(files, &format!("{name}, warm"), &milliseconds(median(times)));
    }
    drop(catalog);
    for (name, filter, kept) in plans {
        let mut times = Vec::new();
        for _ in 0..5 {
            let started = Instant::now();
            let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
            plan(&catalog, &ident, filter, kept).await;
            times.push(started.elapsed());
            drop(catalog);
        }
        row(files, &format!("{name}, cold, opening included"), &milliseconds(median(times)));
    }
    row(files, "size of the sealed database, for each file", &format!("{} bytes", sealed_bytes / files as u64));
    row(files, "of it statistics, for each file in its largest column", &format!("{column_bytes:.1} bytes"));
    check_and_back_up(files, folder.path()).await;
    over_http(files, folder.path(), [&one, &thousand, &unclustered]).await;
}

async fn check_and_back_up(files: usize, folder: &Path) {
    let started = Instant::now();
    let report = prunus_catalog::check(folder, |_| ()).await.unwrap();
    row(files, "a check of all that there is", &milliseconds(started.elapsed()));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let to = folder.join("backup.db");
    let started = Instant::now();
    prunus_catalog::backup(folder, &to).await.unwrap();
    row(files, "a backup", &milliseconds(started.elapsed()));
    std::fs::remove_file(to).unwrap();
}

/// The time of a plan that keeps so many files.
async fn plan(catalog: &Catalog, ident: &TableIdent, filter: &str, kept: u64) -> Duration {
    let request = PlanRequest { filter: Some(Filter::Sql(filter.to_owned())), ..PlanRequest::default() };
    let started = Instant::now();
    let plan = catalog.plan(ident.clone(), request).await.unwrap();
    let time = started.elapsed();
    assert_eq!((plan.metrics.files_kept, plan.files.len() as u64), (kept, kept), "{filter}");
    time
}

async fn over_http(files: usize, folder: &Path, [one, thousand, unclustered]: [&str; 3]) {
    const PLANS: usize = 20_000;
    const CONNECTIONS: usize = 16;
    let server = Server::start(folder).await;
    let request = |filter: &str| server.post("/v1/namespaces/bench/tables/t/plan", &json!({"filter": filter}));
    for filter in [thousand, unclustered, one] {
        server.send_all(vec![request(filter)], 1, 200).await;
    }
    let time = server.send_all(vec![request(one); PLANS], CONNECTIONS, 200).await;
    row(files, "plans of one file by ts over HTTP, 16 connections", &format!("{:.0}/s", crate::rate(PLANS, time)));
    row(files, "most memory that the server had by then", &format!("{} MB", server.memory_max_bytes() / 1_000_000));
}

/// What the statistics of the column that takes most of it take for each file, side block and zone included.
fn largest_column_bytes(folder: &Path) -> f64 {
    const BY_COLUMN: &str = "
        SELECT max(bytes) FROM (SELECT sum(bytes) AS bytes FROM (
            SELECT field_id, length(block) AS bytes FROM column_block
            UNION ALL SELECT field_id, length(block) FROM column_detail
            UNION ALL SELECT field_id, length(zone) FROM manifest_zone) GROUP BY field_id)";
    let store = rusqlite::Connection::open(folder.join("prunus.db")).unwrap();
    let bytes: f64 = store.query_row(BY_COLUMN, [], |row| row.get(0)).unwrap();
    let files: f64 = store.query_row("SELECT sum(files) FROM manifest", [], |row| row.get(0)).unwrap();
    bytes / files
}

fn size_bytes(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}
