//! Audits with repair while everything else goes on: whatever is repaired and whatever is known by then, no plan loses a row.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arrow::array::{ArrayRef, Date32Array, Float64Array, Int32Array, RecordBatch};
use parquet::file::properties::EnabledStatistics;
use prunus_catalog::{AuditBudget, CatalogOptions};
use serde_json::{Value, json};

use super::{AUDITS, end, found};
use crate::rows::{self, Numbers};
use crate::server::{Server, append, names};

const ROUNDS: u64 = 60;
const ROWS: i32 = 10;
/// The days of a file begin with its number, on from this one.
const FIRST_DAY: i32 = 19_000;

/// The file of this number: its own integers, its own day, and floats of which one is NaN.
fn write(server: &Server, number: i32, statistics: EnabledStatistics) -> String {
    let ids = number * ROWS..(number + 1) * ROWS;
    let x = (0..ROWS).map(|row| if row == 0 { f64::NAN } else { f64::from(row) });
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int32Array::from_iter_values(ids))),
        ("x", Arc::new(Float64Array::from_iter_values(x))),
        ("d", Arc::new(Date32Array::from(vec![FIRST_DAY + number; ROWS as usize]))),
    ];
    let path = server.path(format!("{number}.parquet"));
    rows::write(path.as_ref(), &RecordBatch::try_from_iter(columns).unwrap(), statistics);
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_plan_loses_a_row_while_audits_repair() {
    let audit_budget = AuditBudget::of_bytes_per_second(1 << 30);
    let options = CatalogOptions { manifest_target_files: 4, audit_budget, ..CatalogOptions::default() };
    let server = Arc::new(Server::start_with(options).await);
    let fields =
        json!([{"name": "id", "type": "int32"}, {"name": "x", "type": "float64"}, {"name": "d", "type": "date"}]);
    server.create_table("t", json!({"schema": {"fields": fields}, "cluster_by": ["id"]})).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let plans = Arc::new(AtomicU64::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for reader in 0..2 {
        let (server, is_over, plans) = (server.clone(), is_over.clone(), plans.clone());
        tasks.spawn(async move {
            let mut numbers = Numbers(reader);
            while !is_over.load(Ordering::Relaxed) {
                plans.fetch_add(plan_both(&server, &mut numbers).await, Ordering::Relaxed);
            }
        });
    }
    let of_audits = (server.clone(), is_over.clone());
    tasks.spawn(async move { audit_for_ever(&of_audits.0, &of_audits.1).await });
    change(&server).await;
    is_over.store(true, Ordering::Relaxed);
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    assert!(plans.load(Ordering::Relaxed) > 50, "{plans:?}");
    server.assert_sound().await;
}

/// Adds, removes, rewrites and brings back files, changes columns, groups anew and expires.
async fn change(server: &Server) {
    let numbers = &mut Numbers(99);
    let mut live: Vec<String> = Vec::new();
    let table = "/v1/namespaces/n/tables/t";
    for round in 0..ROUNDS {
        let first = i32::try_from(round).unwrap() * 4;
        let statistics = if round % 3 == 0 { EnabledStatistics::Chunk } else { EnabledStatistics::None };
        let paths: Vec<String> = (first..first + 4).map(|number| write(server, number, statistics)).collect();
        retry(server, &format!("{table}/commits"), &append(&paths)).await;
        live.extend(paths);
        if round % 5 == 4 {
            let gone = live.swap_remove(numbers.below(live.len() as u64) as usize);
            retry(server, &format!("{table}/commits"), &json!({"operation": "delete", "remove": [gone]})).await;
        }
        match round % 10 {
            1 => {
                alter(server, json!([{"op": "add", "name": format!("z{round}"), "type": "int64", "default": 7}])).await
            }
            // Files that come have the former name.
            3 => {
                alter(server, json!([{"op": "rename", "column": "x", "to": "y"}])).await;
                tokio::time::sleep(Duration::from_millis(numbers.below(30))).await;
                alter(server, json!([{"op": "rename", "column": "y", "to": "x"}])).await;
            }
            4 => alter(server, json!([{"op": "drop", "column": format!("z{}", round - 3)}])).await,
            5 => retry(server, &format!("{table}/regroup"), &json!({})).await,
            6 => retry(server, &format!("{table}/expire"), &json!({"keep_last": 5, "dry_run": false})).await,
            // The same rows, and other bytes.
            7 => _ = write(server, first, EnabledStatistics::Page),
            8 => {
                let (_, snapshots) = server.get(&format!("{table}/snapshots")).await;
                let newest = snapshots["snapshots"][0]["snapshot_id"].clone();
                retry(server, &format!("{table}/rollback"), &json!({"snapshot_id": newest})).await;
            }
            _ => {}
        }
        if round == ROUNDS / 2 {
            alter(server, json!([{"op": "widen", "column": "d", "type": "timestamp"}])).await;
            alter(server, json!([{"op": "widen", "column": "id", "type": "int64"}])).await;
        }
    }
}

/// Sends a request until the table stands still for it.
async fn retry(server: &Server, route: &str, body: &Value) {
    loop {
        let (status, answer) = server.post(route, body).await;
        match status {
            200 | 201 => return,
            _ => assert_eq!(answer["retryable"], true, "{route} {body} {answer}"),
        }
    }
}

async fn alter(server: &Server, schema: Value) {
    loop {
        let (status, answer) = server.patch("/v1/namespaces/n/tables/t", &json!({"schema": schema})).await;
        match status {
            200 => return,
            _ => assert_eq!(answer["retryable"], true, "{answer}"),
        }
    }
}

async fn audit_for_ever(server: &Server, is_over: &AtomicBool) {
    let mut audits = 0_u64;
    while !is_over.load(Ordering::Relaxed) || audits < 3 {
        let mode = if audits.is_multiple_of(2) { "scan" } else { "footer" };
        let (status, begun) = server.post(AUDITS, &json!({"mode": mode, "repair": true})).await;
        assert_eq!(status, 202, "{begun}");
        let ended = end(server, &begun).await;
        assert_eq!(ended["state"], "done", "{ended}");
        let others: Vec<String> = found(&ended).into_iter().filter(|line| !line.starts_with("changed ")).collect();
        assert_eq!(others, Vec::<String>::new(), "{ended}");
        audits += 1;
    }
}

/// Plans a stretch of integers or a day with pruning and without; says how many plans there were.
async fn plan_both(server: &Server, numbers: &mut Numbers) -> u64 {
    let route = "/v1/namespaces/n/tables/t/plan";
    let number = i32::try_from(numbers.below(ROUNDS * 4)).unwrap();
    let day = json!(format!("d = TIMESTAMP '{} 00:00:00'", day_of(number)));
    let ids = json!(format!("id >= {} AND id < {}", number * ROWS + 3, number * ROWS + 7));
    let filter = if numbers.below(2) == 0 { day } else { ids };
    let (status, pruned) = server.post(route, &json!({"filter": filter})).await;
    if status != 200 {
        assert_eq!(pruned["retryable"], true, "{pruned}");
        return 0;
    }
    let all = json!({"filter": filter, "prune": false, "snapshot_id": pruned["snapshot_id"]});
    let (status, all) = server.post(route, &all).await;
    if status == 404 {
        return 0;
    }
    let (kept, all): (BTreeSet<_>, BTreeSet<_>) =
        (names(&pruned).into_iter().collect(), names(&all).into_iter().collect());
    let name = format!("{number}.parquet");
    assert_eq!(kept.contains(&name), all.contains(&name), "{filter} {pruned}");
    1
}

fn day_of(number: i32) -> String {
    let days = Date32Array::from(vec![FIRST_DAY + number]);
    arrow::util::display::array_value_to_string(&days, 0).unwrap()
}
