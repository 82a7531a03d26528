//! What a server says of its work: that the counts are what happened, and that their number does not grow with what clients invent.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use parquet::file::properties::EnabledStatistics;
use reqwest::Method;
use rusqlite::Connection;
use serde_json::json;

use crate::operating::{metrics, value};
use crate::rows;
use crate::server::{Server, append};

/// The rules for those who watch a server.
const ALERTS: &str = include_str!("../../deploy/prometheus-alerts.yml");

/// The families of a page of metrics: the type of each, and its series, each with its value.
type Families = BTreeMap<String, (String, BTreeMap<String, f64>)>;

/// Reads a page by the rules of the text format: a family has its help, then its type, then its series, all in one place, and
/// no series is there twice.
fn families(page: &str) -> Families {
    let mut families = Families::new();
    let (mut helped, mut current) = (None, String::new());
    for line in page.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(text.len() > 1 && text.ends_with('.'), "{line}");
            helped = Some(name.to_owned());
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(helped.take().as_deref(), Some(name), "a type follows its help");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            let earlier = families.insert(name.to_owned(), (kind.to_owned(), BTreeMap::new()));
            assert!(earlier.is_none(), "{name} is there twice");
            current = name.to_owned();
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
                "{line}"
            );
            let (kind, all) = families.get_mut(&current).unwrap();
            let suffix = name.strip_prefix(current.as_str()).unwrap_or_else(|| panic!("{line} stands in {current}"));
            let is_one =
                if kind == "histogram" { ["_bucket", "_sum", "_count"].contains(&suffix) } else { suffix.is_empty() };
            assert!(is_one, "{line}");
            let value: f64 = value.parse().unwrap();
            assert!(value.is_finite(), "{line}");
            assert!(all.insert(series.to_owned(), value).is_none(), "{series} is there twice");
        }
    }
    families
}

/// The names of all series without their values.
fn series(page: &str) -> BTreeSet<String> {
    families(page).into_values().flat_map(|(_, series)| series.into_keys()).collect()
}

async fn write_files(server: &Server, names: &[&str]) -> Vec<String> {
    let fields = json!([{"name": "id", "type": "int64"}]);
    server.create_table("t", json!({"schema": {"fields": fields}})).await;
    let paths: Vec<String> = names.iter().map(|name| server.path(name)).collect();
    for (file, path) in (0..).zip(&paths) {
        rows::write(path.as_ref(), &rows::batch(file, 100).project(&[0]).unwrap(), EnabledStatistics::Chunk);
    }
    paths
}

#[tokio::test]
async fn the_page_is_as_the_format_wants_it() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
    server.plan("t", &json!({"filter": "id >= 99"})).await;
    let families = families(&metrics(&server).await);
    for (name, (kind, series)) in &families {
        if kind != "histogram" {
            continue;
        }
        for (count, value) in series.iter().filter(|(series, _)| series.starts_with(&format!("{name}_count"))) {
            let labels = count.strip_prefix(&format!("{name}_count")).unwrap().trim_matches(['{', '}']);
            let of_labels = |series: &&String| labels.is_empty() || series.contains(labels);
            let buckets = series.keys().filter(|series| series.contains("_bucket{")).filter(of_labels);
            let last = buckets.filter(|series| series.contains("le=\"+Inf\"")).map(|last| series[last]);
            assert!(last.into_iter().any(|last| last == *value), "{count} {value}");
        }
    }
    assert!(families.len() > 60, "{}", families.len());
}

#[tokio::test]
async fn a_plan_is_counted_by_its_stages_and_what_it_pruned() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c"], &[]).await;
    for _ in 0..2 {
        server.plan("t", &json!({"filter": "id >= 99"})).await;
    }
    assert_eq!(server.post("/v1/namespaces/n/tables/t/plan", &json!({"filter": "what >= 99"})).await.0, 422);
    let page = metrics(&server).await;
    let count = |series: &str| value(&page, &format!("prunus_plan{series}"));
    assert_eq!((count("s_total{outcome=\"done\"}"), count("s_total{outcome=\"refused\"}")), (2.0, 1.0), "{page}");
    for stage in ["bind", "manifests", "files", "entries"] {
        assert_eq!(count(&format!("_stage_duration_seconds_count{{stage=\"{stage}\"}}")), 2.0, "{page}");
    }
    assert_eq!(count("_duration_seconds_count"), 2.0);
    assert!(count("_duration_seconds_sum") > 0.0 && count("_duration_seconds_sum") < 60.0, "{page}");
    assert_eq!((count("_manifests_considered_total"), count("_manifests_pruned_total")), (2.0, 2.0), "{page}");
    assert_eq!((count("_rows_pruned_total"), count("_rows_kept_total")), (4.0, 2.0), "{page}");
    assert_eq!((count("_pruned_bytes_total"), count("_kept_bytes_total")), (28.0, 14.0), "{page}");
    // The second found what the first had read.
    assert!(count("_cache_hits_total") > 0.0 && count("_cache_misses_total") > 0.0, "{page}");
}

#[tokio::test]
async fn a_commit_is_counted_by_its_phases_and_what_came_of_it() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b"], &[]).await;
    server.change("t", &["c"], &["a"]).await;
    assert_eq!(server.try_commit("t", &json!({"operation": "delete", "remove": ["a"]})).await.0, 409);
    assert_eq!(server.try_commit("t", &json!({"operation": "append"})).await.0, 422);
    let page = metrics(&server).await;
    let of = |series: &str| value(&page, &format!("prunus_{series}"));
    for (outcome, count) in [("done", 2.0), ("conflict", 1.0), ("refused", 1.0), ("failed", 0.0)] {
        assert_eq!(of(&format!("commit_requests_total{{outcome=\"{outcome}\"}}")), count, "{outcome} {page}");
    }
    assert_eq!((of("commit_files_added_total"), of("commit_files_removed_total")), (3.0, 1.0), "{page}");
    for (phase, count) in [("read", 4.0), ("wait", 3.0), ("write", 3.0)] {
        assert_eq!(of(&format!("commit_phase_duration_seconds_count{{phase=\"{phase}\"}}")), count, "{phase} {page}");
    }
    assert_eq!((of("table_heads_misses_total"), of("table_heads_hits_total")), (2.0, 2.0), "{page}");
    assert_eq!((of("writer_jobs_waiting"), of("store_readers_waiting")), (0.0, 0.0), "{page}");
    assert!(of("writer_batch_jobs_count") >= 5.0 && of("writer_commit_duration_seconds_count") >= 4.0, "{page}");
    assert_eq!((of("maintenance_steps_total{kind=\"seal\"}"), of("maintenance_failures_total")), (1.0, 0.0), "{page}");
    assert!(of("store_database_bytes") > 0.0 && of("store_wal_bytes") > 0.0, "{page}");
    assert!(of("store_disk_free_bytes") > 0.0, "{page}");
}

#[tokio::test]
async fn a_reply_is_counted_when_it_is_stored_and_when_it_is_given_again() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let commit = json!({"operation": "append", "add": [{"path": "a", "size_bytes": 1}]});
    for _ in 0..3 {
        server.send_keyed(Method::POST, "/v1/namespaces/n/tables/t/commits", "k", Some(&commit)).await;
    }
    let page = metrics(&server).await;
    let of = |name: &str| value(&page, &format!("prunus_replies_{name}_total"));
    assert_eq!((of("stored"), of("replayed")), (1.0, 2.0), "{page}");
}

#[tokio::test]
async fn reads_of_files_are_counted_and_audits_with_what_they_find() {
    let server = Server::start(2).await;
    let paths = write_files(&server, &["a.parquet", "b.parquet"]).await;
    server.commit("t", append(&paths)).await;
    let read = |outcome: &str| {
        format!("prunus_object_store_requests_total{{scheme=\"file\",operation=\"get\",outcome=\"{outcome}\"}}")
    };
    let page = metrics(&server).await;
    assert_eq!(value(&page, &read("ok")), 2.0, "{page}");
    std::fs::remove_file(&paths[1]).unwrap();
    assert_eq!(server.post("/v1/namespaces/n/tables/t/audits", &json!({"mode": "footer"})).await.0, 202);
    let found = "prunus_audit_findings_total{kind=\"missing\"}";
    let page = loop {
        let page = metrics(&server).await;
        if value(&page, found) > 0.0 {
            break page;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!((value(&page, &read("ok")), value(&page, &read("not_found"))), (3.0, 1.0), "{page}");
    assert_eq!((value(&page, found), value(&page, "prunus_audit_files_read_total")), (1.0, 2.0), "{page}");
    assert!(value(&page, "prunus_audit_read_bytes_total") > 0.0, "{page}");
    assert!(value(&page, "prunus_object_store_read_bytes_total{scheme=\"file\"}") > 0.0, "{page}");
    assert_eq!(value(&page, "prunus_object_store_requests_in_flight"), 0.0, "{page}");
}

#[tokio::test]
async fn what_clients_invent_makes_no_series() {
    let server = Server::start(2).await;
    server.create_declared("t0").await;
    let ask = async |number: u32| {
        server.get(&format!("/v1/namespaces/n/tables/t{number}")).await;
        server.get(&format!("/v1/namespaces/n{number}/tables/t")).await;
        server.get(&format!("/nothing/{number}")).await;
        let method = Method::from_bytes(format!("BREW{number}").as_bytes()).unwrap();
        server.request(method, "/v1/namespaces").send().await.unwrap();
        let header = server.request(Method::GET, "/healthz").header(format!("x-{number}"), "x");
        header.header("x-request-id", number.to_string()).send().await.unwrap();
    };
    ask(0).await;
    ask(1).await;
    metrics(&server).await;
    let before = series(&metrics(&server).await);
    for number in 2..30 {
        server.create_declared(&format!("t{number}")).await;
        ask(number).await;
    }
    let after = series(&metrics(&server).await);
    let new: Vec<&String> = after.difference(&before).collect();
    // A namespace that is there is a status that had not been answered.
    let is_of_creating = |series: &&&String| series.contains("route=\"/v1/namespaces\"") && series.contains("409");
    assert_eq!(new.iter().filter(|series| !is_of_creating(series)).count(), 0, "{new:?}");
}

#[tokio::test]
async fn a_database_that_another_program_locks_is_waited_for_and_counted() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    let other = Connection::open(server.store().join("prunus.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commit = json!({"operation": "append", "add": [{"path": "a", "size_bytes": 1}]});
    let committed = server.try_commit("t", &commit);
    let let_go = async {
        while value(&metrics(&server).await, "prunus_store_busy_waits_total") == 0.0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        other.execute_batch("ROLLBACK").unwrap();
    };
    let (committed, ()) = tokio::join!(committed, let_go);
    assert_eq!(committed.0, 201);
}

#[tokio::test]
async fn what_alerts_name_is_there() {
    let server = Server::start(2).await;
    let paths = write_files(&server, &["a.parquet"]).await;
    server.commit("t", append(&paths)).await;
    server.plan("t", &json!({"filter": "id >= 0"})).await;
    let page = metrics(&server).await;
    let families = families(&page);
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = ALERTS.split(|character| !is_of_name(character));
    let named: BTreeSet<&str> =
        words.filter(|word| word.starts_with("prunus_") || word.starts_with("process_")).collect();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        let suffixes = ["_bucket", "_sum", "_count"];
        let histogram = suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
        let is_histogram = |name: &str| families.get(name).is_some_and(|(kind, _)| kind == "histogram");
        assert!(families.contains_key(name) || histogram.is_some_and(is_histogram), "{name} is not in the metrics");
    }
}
