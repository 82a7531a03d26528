//! Plans against rows: what is pruned holds no matching row, what is called wholly matching holds no other.

use std::collections::BTreeSet;

use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use parquet::file::properties::EnabledStatistics;
use serde_json::{Value, json};

use crate::rows;
use crate::server::{Server, append};

const FILES: u64 = 45;

const FILTERS: [&str; 52] = [
    "id = 1234",
    "id <> 1234",
    "id < 700",
    "id <= 700",
    "id > 3900",
    "id >= 3900",
    "1000 > id",
    "id > 1.5",
    "id = 99999999999999999999",
    "id IN (5, 700, 701, 2222)",
    "id NOT IN (5, 700, 701)",
    "id IN (5, NULL)",
    "id NOT IN (5, NULL)",
    "id BETWEEN 1000 AND 1200",
    "id NOT BETWEEN 1000 AND 1200",
    "id BETWEEN 1200 AND 1000",
    "NOT (id BETWEEN 1200 AND 1000)",
    "opt IS NULL",
    "opt IS NOT NULL",
    "opt < 500",
    "NOT (opt < 500)",
    "opt IS NULL OR opt > 4000",
    "(opt < 500) IS TRUE",
    "(opt < 500) IS NOT TRUE",
    "(opt < 500) IS UNKNOWN",
    "opt IS DISTINCT FROM 500",
    "opt IS NOT DISTINCT FROM NULL",
    "small > 290",
    "u32 < 4294966000",
    "u64 >= 18446744073709551000",
    "f64 = 100.0",
    "f64 > 300.0",
    "f64 < 20.0",
    "NOT (f64 <= 300.0)",
    "f64 BETWEEN 100.0 AND 200.0",
    "f64 >= 100.0 AND f64 <= 200.0",
    "f32 < 20.1",
    "flag",
    "NOT flag",
    "flag IS NULL",
    "name = 'n00123-é'",
    "name >= 'n04000'",
    "name < 'n00100' OR name > 'n04300'",
    "name IN ('n00001-é', 'n03003-é', 'zzz')",
    "day = DATE '1970-03-01'",
    "day < '1970-01-01'",
    "at >= TIMESTAMP '1970-01-03 00:00:00'",
    "at BETWEEN '1970-01-01 10:00:00' AND '1970-01-01 20:00:00'",
    "money > 12.345",
    "money = -30.00 OR money >= 250",
    "noise < 3",
    "id > 1000 AND id < 2000 AND name < 'n015' AND (flag OR opt IS NULL)",
];

/// Registers files in several commits, so that some are in manifests and some in the tail; some have no statistics.
async fn table(server: &Server) -> SessionContext {
    // The oracle reads every row: its own pruning is not to be trusted with NaN.
    let config = SessionConfig::new().set_bool("datafusion.execution.parquet.pruning", false);
    let context = SessionContext::new_with_config(config);
    let mut paths = Vec::new();
    for file in 0..FILES {
        let path = server.path(format!("f{file:02}.parquet"));
        let statistics = if file % 11 == 5 { EnabledStatistics::None } else { EnabledStatistics::Chunk };
        rows::write(path.as_ref(), &rows::batch(file, 150), statistics);
        paths.push(path);
    }
    server.create_table("t", json!({"schema_from": paths[0]})).await;
    for chunk in paths.chunks(6) {
        server.commit("t", append(chunk)).await;
    }
    context
}

/// How many rows of the files meet a condition.
async fn count(context: &SessionContext, paths: &[String], condition: &str) -> u64 {
    if paths.is_empty() {
        return 0;
    }
    let frame = context.read_parquet(paths.to_vec(), ParquetReadOptions::default()).await.unwrap();
    let condition = frame.parse_sql_expr(condition).unwrap();
    frame.filter(condition).unwrap().count().await.unwrap() as u64
}

fn paths(plan: &Value, verdict: Option<&str>) -> Vec<String> {
    let files = plan["files"].as_array().unwrap().iter();
    files
        .filter(|file| verdict.is_none_or(|verdict| file["verdict"] == verdict))
        .map(|file| file["path"].as_str().unwrap().strip_prefix("file://").unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_has_the_rows_of_the_plan_that_does_not_prune() {
    let server = Server::start(8).await;
    let context = table(&server).await;
    let (mut pruned, mut all) = (0, 0);
    for filter in FILTERS {
        let plan = server.plan("t", &json!({"filter": filter, "page_size": 7})).await;
        let whole = server.plan("t", &json!({"filter": filter, "prune": false})).await;
        let (kept, every) = (paths(&plan, None), paths(&whole, None));
        assert_eq!(every.len() as u64, FILES, "{filter}");
        assert_eq!(count(&context, &kept, filter).await, count(&context, &every, filter).await, "{filter}");
        let matching = paths(&plan, Some("all"));
        let negated = format!("({filter}) IS NOT TRUE");
        assert_eq!(count(&context, &matching, &negated).await, 0, "{filter}");
        check_metrics(&plan, filter);
        pruned += plan["metrics"]["files_pruned"].as_u64().unwrap();
        all += matching.len();
    }
    // Most of what can be pruned is: a pruner that kept all would pass the rest of this test.
    assert!(pruned > FILTERS.len() as u64 * FILES / 3, "{pruned} files were pruned");
    assert!(all > 200, "{all} files match as a whole");
}

/// The counts of a plan's metrics agree with its files and with each other.
fn check_metrics(plan: &Value, filter: &str) {
    let metrics = &plan["metrics"];
    let number = |key: &str| metrics[key].as_u64().unwrap_or_else(|| panic!("{key} of {metrics}"));
    let files = plan["files"].as_array().unwrap();
    assert_eq!(number("files_considered"), FILES, "{filter}");
    assert_eq!(number("files_kept"), files.len() as u64, "{filter}");
    assert_eq!(number("files_pruned") + number("files_kept"), FILES, "{filter}");
    assert_eq!(number("files_all"), paths(plan, Some("all")).len() as u64, "{filter}");
    assert_eq!(number("rows_kept") + number("rows_pruned"), FILES * 150, "{filter}");
    let by_conjunct: u64 = metrics["conjuncts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|conjunct| conjunct["files_pruned"].as_u64().unwrap())
        .sum();
    assert_eq!(by_conjunct, number("files_pruned"), "{filter}");
    assert!(number("manifests_considered") >= 4, "{filter}");
    let ids: Vec<u64> = files.iter().map(|file| file["file_id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted() && ids.iter().collect::<BTreeSet<_>>().len() == ids.len(), "{filter}");
    for file in files {
        assert_eq!(file["residual"].is_null(), file["verdict"] == "all", "{filter}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_prune_keeps_its_files_and_says_so() {
    let server = Server::start(8).await;
    table(&server).await;
    let plan = server.plan("t", &json!({"filter": "lower(name) = 'x' AND id < 700", "page_size": 1000})).await;
    let conjuncts = plan["metrics"]["conjuncts"].as_array().unwrap();
    assert_eq!(conjuncts[0]["prunable"], false);
    assert_eq!(conjuncts[0]["reason"], "there is no rule for `lower(name)`");
    assert_eq!(conjuncts[1]["prunable"], true);
    assert!(conjuncts[1]["files_pruned"].as_u64().unwrap() > 30);
    let plan = server.plan("t", &json!({"filter": "f64 > 1e300"})).await;
    let reason = plan["metrics"]["conjuncts"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("NaN count unknown in 45 files"), "{reason}");
    assert!(reason.contains("no bounds or counts in 4 files"), "{reason}");
    let ieee = server.plan("t", &json!({"filter": "f64 > 1e300", "nan_order": "ieee"})).await;
    assert!(ieee["metrics"]["files_kept"].as_u64().unwrap() < 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_without_filter_keeps_every_file_as_wholly_matching() {
    let server = Server::start(8).await;
    table(&server).await;
    let plan = server.plan("t", &json!({})).await;
    assert_eq!(paths(&plan, Some("all")).len() as u64, FILES);
    let metrics_only = server.plan("t", &json!({"filter": "id < 0", "dry_run": true})).await;
    assert_eq!(metrics_only["files"], json!([]));
    assert_eq!(metrics_only["metrics"]["files_pruned"], 41);
}
