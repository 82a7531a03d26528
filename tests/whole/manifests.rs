//! Manifests over HTTP: what lies where, what plans know of it, and how it is read page by page.

use std::collections::BTreeMap;

use prunus_catalog::LEASE_MS;
use serde_json::{Value, json};

use crate::clock::SetClock;
use crate::rows::Numbers;
use crate::server::{Server, names_in};

const TABLE: &str = "/v1/namespaces/n/tables/t";
const MANIFESTS: &str = "/v1/namespaces/n/tables/t/manifests";

async fn ok(server: &Server, route: &str) -> Value {
    let (status, answer) = server.get(route).await;
    assert_eq!(status, 200, "{route} {answer}");
    answer
}

/// All pages of a listing as one answer: that of the last, with the items of all.
async fn all_pages(server: &Server, route: &str, items: &str) -> Value {
    let first = ok(server, route).await;
    with_later_pages(server, route, first, items).await
}

/// The same, where the first page is there.
async fn with_later_pages(server: &Server, route: &str, mut page: Value, items: &str) -> Value {
    let mut all = Vec::new();
    loop {
        all.extend(page[items].take().as_array().unwrap().iter().cloned());
        let Value::String(token) = page["next_page_token"].take() else {
            page[items] = all.into();
            return page;
        };
        page = ok(server, &format!("{route}&page_token={token}")).await;
    }
}

fn number(json: &Value, key: &str) -> u64 {
    json[key].as_u64().unwrap_or_else(|| panic!("{key} in {json}"))
}

/// Files, rows, bytes and files of unknown rows.
fn totals(json: &Value) -> [u64; 4] {
    ["files", "rows", "bytes", "files_of_unknown_rows"].map(|key| number(json, key))
}

fn sum(all: impl Iterator<Item = [u64; 4]>) -> [u64; 4] {
    all.fold([0; 4], |sum, part| std::array::from_fn(|place| sum[place] + part[place]))
}

/// What a listing of files says of some of them.
fn totals_of(files: &[&Value]) -> [u64; 4] {
    sum(files.iter().map(|file| {
        let rows = file["row_count"].as_u64();
        [1, rows.unwrap_or(0), number(file, "size_bytes"), rows.is_none().into()]
    }))
}

/// A file of which more or less is declared.
fn random_file(numbers: &mut Numbers, path: &str) -> Value {
    let rows = 2 + numbers.below(8);
    let mut columns = serde_json::Map::new();
    let base = i64::try_from(numbers.below(1_000)).unwrap() - 500;
    for (name, is_float) in [("id", false), ("x", true)] {
        let mut statistics = match numbers.below(6) {
            0 => continue,
            1 => json!({"min": base}),
            2 => json!({"null_count": rows}),
            3 => json!({"min": base, "max": base + 9}),
            _ => json!({"min": base, "max": base + 9, "min_precision": "exact", "null_count": numbers.below(2)}),
        };
        if is_float && numbers.below(2) == 0 {
            statistics["nan_count"] = 0.into();
        }
        columns.insert(name.to_owned(), statistics);
    }
    let mut file = json!({"path": path, "size_bytes": 1 + numbers.below(500), "columns": columns});
    if numbers.below(5) > 0 {
        file["row_count"] = rows.into();
    }
    file
}

/// A table of random files, some of them removed again, and the number of its snapshots.
async fn random_table(seed: u64) -> (Server, u64) {
    let numbers = &mut Numbers(seed);
    let server = Server::start(1 + u32::try_from(seed % 5).unwrap()).await;
    let fields = json!([{"name": "id", "type": "int64"}, {"name": "x", "type": "float64"}]);
    let properties = json!({"verification": "declared"});
    let table =
        json!({"schema": {"fields": fields}, "properties": properties, "location": "/data/", "cluster_by": ["id"]});
    server.create_table("t", table).await;
    let (mut live, mut next) = (Vec::new(), 0);
    let snapshots = 4 + numbers.below(6);
    for _ in 0..snapshots {
        let mut remove: Vec<String> = Vec::new();
        while !live.is_empty() && numbers.below(3) == 0 {
            remove.push(live.swap_remove(numbers.below(live.len() as u64) as usize));
        }
        let added: Vec<String> = (next..next + 1 + numbers.below(5)).map(|file| format!("f{file}")).collect();
        next += added.len() as u64;
        let add: Vec<Value> = added.iter().map(|path| random_file(numbers, path)).collect();
        server.commit("t", json!({"operation": "overwrite", "add": add, "remove": remove})).await;
        live.extend(added);
        if numbers.below(6) == 0 {
            assert_eq!(server.post(&format!("{TABLE}/regroup"), &json!({})).await.0, 200);
        }
    }
    (server, snapshots)
}

/// What a file is known to hold of a column, as a zone counts it.
struct Known {
    /// It holds no value that is neither null nor NaN.
    without_values: bool,
    min: Option<f64>,
    max: Option<f64>,
    null_count: Option<u64>,
}

fn known(file: &Value, column: &str) -> Known {
    let (statistics, rows) = (&file["columns"][column], file["row_count"].as_u64());
    let null_count = statistics["null_count"].as_u64();
    let without_values = rows.is_some() && null_count == rows;
    Known { without_values, min: statistics["min"].as_f64(), max: statistics["max"].as_f64(), null_count }
}

/// The outermost of some bounds; unknown as soon as one is.
fn outermost(bounds: Vec<Option<f64>>, outer: fn(f64, f64) -> f64) -> Option<f64> {
    bounds.into_iter().collect::<Option<Vec<f64>>>()?.into_iter().reduce(outer)
}

/// Holds a zone against the files that it is of; with `exactly`, which are all of them.
fn check_zone(zone: &Value, files: &[Known], exactly: bool) {
    let with_values = || files.iter().filter(|file| !file.without_values);
    let (min, max) = (zone["min"].as_f64(), zone["max"].as_f64());
    let mins = || with_values().map(|file| file.min).collect::<Vec<_>>();
    let maxs = || with_values().map(|file| file.max).collect::<Vec<_>>();
    let nulls = files.iter().map(|file| file.null_count).sum::<Option<u64>>();
    if exactly {
        assert_eq!((min, max), (outermost(mins(), f64::min), outermost(maxs(), f64::max)), "{zone}");
        assert_eq!(zone["null_count"].as_u64(), nulls, "{zone}");
    }
    assert!(min.is_none_or(|min| mins().iter().all(|of_file| of_file.is_some_and(|of_file| min <= of_file))), "{zone}");
    assert!(max.is_none_or(|max| maxs().iter().all(|of_file| of_file.is_some_and(|of_file| max >= of_file))), "{zone}");
    let counted = zone["null_count"].as_u64();
    assert!(counted.is_none_or(|counted| nulls.is_some_and(|nulls| nulls <= counted)), "{zone}");
    for (bound, precision) in [("min", "min_precision"), ("max", "max_precision")] {
        let expected = if zone[bound].is_null() { Value::Null } else { json!("bound") };
        assert_eq!(zone[precision], expected, "{zone}");
    }
}

/// Holds one manifest against the files that a snapshot has in it.
async fn check_manifest(server: &Server, snapshot: u64, manifest: &Value, files: &[&Value]) {
    assert_eq!(totals(manifest), totals_of(files), "{manifest}");
    let route = format!("{MANIFESTS}/{}?snapshot_id={snapshot}", manifest["manifest_id"]);
    let first = ok(server, &route).await;
    for (key, value) in manifest.as_object().unwrap() {
        assert_eq!(&first[key], value, "{key} of {first}");
    }
    let listed = all_pages(server, &format!("{route}&page_size=2"), "live_files").await;
    let listed: Vec<&Value> = listed["live_files"].as_array().unwrap().iter().collect();
    assert_eq!(listed, files);
    for column in ["id", "x"] {
        let mut known_of_files = Vec::new();
        for file in files {
            let path = file["path"].as_str().unwrap();
            let detail = ok(server, &format!("{TABLE}/files?snapshot_id={snapshot}&path={path}")).await;
            known_of_files.push(known(&detail, column));
        }
        check_zone(&first["zones"][column], &known_of_files, manifest["entries"].is_null());
    }
}

/// Holds the manifests of a snapshot against its files and its sums.
async fn check_snapshot(server: &Server, snapshot: u64) {
    let files = ok(server, &format!("{TABLE}/files?snapshot_id={snapshot}")).await;
    let mut files_of: BTreeMap<Option<u64>, Vec<&Value>> = BTreeMap::new();
    for file in files["files"].as_array().unwrap() {
        files_of.entry(file["manifest_id"].as_u64()).or_default().push(file);
    }
    let listing = all_pages(server, &format!("{MANIFESTS}?snapshot_id={snapshot}&page_size=2"), "manifests").await;
    assert_eq!(listing["snapshot_id"], snapshot);
    let manifests = listing["manifests"].as_array().unwrap();
    let sums = sum(manifests.iter().map(totals).chain([totals(&listing["tail"])]));
    assert_eq!(sums, totals(&ok(server, &format!("{TABLE}/snapshots/{snapshot}")).await));
    assert_eq!(totals(&listing["tail"]), totals_of(&files_of.remove(&None).unwrap_or_default()));
    let ids: Vec<Option<u64>> = manifests.iter().map(|manifest| Some(number(manifest, "manifest_id"))).collect();
    assert_eq!(ids, files_of.keys().copied().collect::<Vec<_>>());
    for (manifest, files) in manifests.iter().zip(files_of.values()) {
        check_manifest(server, snapshot, manifest, files).await;
    }
}

#[tokio::test]
async fn every_live_file_is_in_one_manifest_or_the_tail_and_within_its_zones() {
    for seed in 0..8 {
        let (server, snapshots) = random_table(seed).await;
        for snapshot in 1..=snapshots {
            check_snapshot(&server, snapshot).await;
        }
        let empty = ok(&server, &format!("{MANIFESTS}?snapshot_id=0")).await;
        assert_eq!((&empty["manifests"], totals(&empty["tail"])), (&json!([]), [0; 4]));
    }
}

/// Snapshot 1 has a to f, in manifests of two files each.
async fn three_manifests(clock: &std::sync::Arc<SetClock>) -> Server {
    let server = Server::start_at(clock).await;
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c", "d", "e", "f"], &[]).await;
    server
}

fn ids(listing: &Value) -> Vec<u64> {
    listing["manifests"].as_array().unwrap().iter().map(|manifest| number(manifest, "manifest_id")).collect()
}

#[tokio::test]
async fn what_is_removed_is_an_entry_and_not_live() {
    let server = three_manifests(&SetClock::new()).await;
    server.change("t", &[], &["a"]).await;
    let newest = ok(&server, MANIFESTS).await;
    assert_eq!((ids(&newest), &newest["snapshot_id"]), (vec![1, 2, 3], &json!(2)));
    let manifest = &newest["manifests"][0];
    assert_eq!((totals(manifest), totals(&manifest["entries"])), ([1, 1, 7, 0], [2, 2, 14, 0]));
    let older = &ok(&server, &format!("{MANIFESTS}?snapshot_id=1")).await["manifests"][0];
    assert_eq!((totals(older), &older["entries"]), ([2, 2, 14, 0], &Value::Null));
    // The zone is what plans have of the manifest, and that covers the removed file.
    let detail = ok(&server, &format!("{MANIFESTS}/1")).await;
    assert_eq!(names_in(&detail["live_files"]), ["b"]);
    let id = json!({
        "min": 97, "max": 98, "min_precision": "bound", "max_precision": "bound", "null_count": 0, "nan_count": null,
        "without_values": false, "declared_files": 2,
    });
    assert_eq!(detail["zones"], json!({"id": id}));
}

#[tokio::test]
async fn the_newest_files_are_in_the_tail() {
    let server = three_manifests(&SetClock::new()).await;
    server.change("t", &["g"], &[]).await;
    let listing = ok(&server, MANIFESTS).await;
    assert_eq!((ids(&listing), totals(&listing["tail"])), (vec![1, 2, 3], [1, 1, 7, 0]));
}

#[tokio::test]
async fn a_snapshot_is_named_by_time() {
    let clock = SetClock::new();
    let server = three_manifests(&clock).await;
    clock.pass_ms(3_600_000);
    server.change("t", &["g", "h"], &["a", "b"]).await;
    let listing = ok(&server, &format!("{MANIFESTS}?as_of=2024-01-31T12:30:00Z")).await;
    assert_eq!((&listing["snapshot_id"], ids(&listing)), (&json!(1), vec![1, 2, 3]));
    let listing = ok(&server, &format!("{MANIFESTS}?as_of=2024-01-31T14:00:00Z")).await;
    assert_eq!((&listing["snapshot_id"], ids(&listing)), (&json!(2), vec![2, 3, 4]));
}

#[tokio::test]
async fn pages_stay_what_they_were_under_commits() {
    let server = three_manifests(&SetClock::new()).await;
    let route = format!("{MANIFESTS}?page_size=1");
    let first = ok(&server, &route).await;
    assert_eq!((ids(&first), &first["tail"]), (vec![1], &Value::Null));
    server.change("t", &["g", "h", "i"], &["c"]).await;
    let all = with_later_pages(&server, &route, first, "manifests").await;
    assert_eq!((ids(&all), &all["snapshot_id"]), (vec![1, 2, 3], &json!(1)));
    assert_eq!(sum(all["manifests"].as_array().unwrap().iter().map(totals)), [6, 6, 42, 0]);
    assert_eq!(totals(&all["tail"]), [0; 4]);
}

#[tokio::test]
async fn a_page_holds_its_snapshot_until_its_lease_ends() {
    for route in [format!("{MANIFESTS}?page_size=1"), format!("{MANIFESTS}/1?page_size=1")] {
        let clock = SetClock::new();
        let server = three_manifests(&clock).await;
        let token = ok(&server, &route).await["next_page_token"].as_str().unwrap().to_owned();
        server.change("t", &["g"], &["a"]).await;
        let expire = async || {
            let body = json!({"keep_last": 1, "dry_run": false});
            server.post(&format!("{TABLE}/expire"), &body).await.1["snapshots"].clone()
        };
        clock.pass_ms(LEASE_MS - 1);
        assert_eq!(expire().await, json!([]));
        clock.pass_ms(1);
        assert_eq!(expire().await, json!([1]));
        let (status, problem) = server.get(&format!("{route}&page_token={token}")).await;
        assert_eq!((status, &problem["type"]), (410, &json!("/problems/stale-page-token")), "{problem}");
        assert_eq!(server.get(&format!("{MANIFESTS}?snapshot_id=1")).await.0, 404);
        assert_eq!(server.get(&format!("{MANIFESTS}/1?snapshot_id=1")).await.0, 404);
    }
}

/// Four manifests of which every two overlap.
async fn overlapping() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    for (low, high) in [("a", "w"), ("b", "x"), ("c", "y"), ("d", "z")] {
        server.change("t", &[low, high], &[]).await;
    }
    let table = json!({"cluster_by": ["id"]});
    server.alter("t", &table).await;
    server
}

#[tokio::test]
async fn a_page_of_a_layout_that_is_gone_is_stale() {
    let server = overlapping().await;
    let routes = [format!("{MANIFESTS}?page_size=1"), format!("{MANIFESTS}/1?page_size=1")];
    let mut tokens = Vec::new();
    for route in &routes {
        tokens.push(ok(&server, route).await["next_page_token"].as_str().unwrap().to_owned());
    }
    let (_, regrouped) = server.post(&format!("{TABLE}/regroup"), &json!({})).await;
    assert!(number(&regrouped, "entries_moved") > 0, "{regrouped}");
    for (route, token) in routes.iter().zip(tokens) {
        let (status, problem) = server.get(&format!("{route}&page_token={token}")).await;
        assert_eq!((status, &problem["type"]), (410, &json!("/problems/stale-page-token")), "{problem}");
    }
    assert_eq!(server.get(&format!("{MANIFESTS}/1")).await.0, 404);
    check_totals_of_regrouped(&server).await;
}

async fn check_totals_of_regrouped(server: &Server) {
    for snapshot in 1..=4 {
        let listing = ok(server, &format!("{MANIFESTS}?snapshot_id={snapshot}")).await;
        assert!(ids(&listing).iter().all(|id| *id > 4), "{listing}");
        let live = sum(listing["manifests"].as_array().unwrap().iter().map(totals));
        assert_eq!(live, [2 * snapshot, 2 * snapshot, 14 * snapshot, 0]);
    }
}

#[tokio::test]
async fn a_manifest_is_one_of_its_own_table() {
    let server = three_manifests(&SetClock::new()).await;
    server.create_declared("u").await;
    server.change("u", &["a", "b"], &[]).await;
    let of_u = ok(&server, "/v1/namespaces/n/tables/u/manifests").await;
    assert_eq!(ids(&of_u), [4]);
    let (status, problem) = server.get(&format!("{MANIFESTS}/4")).await;
    assert_eq!((status, &problem["detail"]), (404, &json!("manifest `4` does not exist")));
    assert_eq!(server.get(&format!("{MANIFESTS}/99")).await.0, 404);
    let (status, problem) = server.get(&format!("{MANIFESTS}/first")).await;
    assert_eq!((status, &problem["type"]), (400, &json!("/problems/malformed-path")));
}

#[tokio::test]
async fn a_manifest_that_a_snapshot_has_nothing_of_is_empty_in_it() {
    let server = three_manifests(&SetClock::new()).await;
    server.change("t", &["g", "h"], &["a", "b"]).await;
    let detail = ok(&server, &format!("{MANIFESTS}/4?snapshot_id=1")).await;
    assert_eq!((totals(&detail), &detail["live_files"]), ([0; 4], &json!([])));
    assert_eq!(totals(&detail["entries"]), [2, 2, 14, 0]);
}

#[tokio::test]
async fn a_token_of_a_table_that_was_made_anew_is_stale() {
    let server = three_manifests(&SetClock::new()).await;
    let token = ok(&server, &format!("{MANIFESTS}?page_size=1")).await["next_page_token"].as_str().unwrap().to_owned();
    assert_eq!(server.delete(TABLE).await.0, 204);
    server.create_declared("t").await;
    server.change("t", &["a", "b", "c", "d"], &[]).await;
    assert_eq!(server.get(&format!("{MANIFESTS}?page_size=1&page_token={token}")).await.0, 410);
}

#[tokio::test]
async fn zones_are_of_lists_maps_and_columns_that_nothing_is_known_of() {
    let server = Server::start(2).await;
    let fields = json!([
        {"name": "l", "type": {"type": "list", "element": "int64"}},
        {"name": "m", "type": {"type": "map", "key": "string", "value": "float64"}},
        {"name": "s", "type": {"type": "struct", "fields": [{"name": "a.b", "type": "date"}]}},
        {"name": "nulls", "type": "float64"},
        {"name": "nothing", "type": "float64"},
    ]);
    let properties = json!({"verification": "declared"});
    server.create_table("t", json!({"schema": {"fields": fields}, "properties": properties, "location": "/d/"})).await;
    let file = |path: &str, low: i64| {
        json!({"path": path, "size_bytes": 1, "row_count": 3, "columns": {
            "l.element": {"min": low, "max": low + 1}, "m.key": {"min": format!("k{low}"), "max": format!("k{low}")},
            "s.\"a.b\"": {"min": format!("2024-01-0{low}"), "max": "2024-02-01", "null_count": 1},
            "nulls": {"null_count": 3},
        }})
    };
    server.commit("t", json!({"operation": "append", "add": [file("a", 1), file("b", 5)]})).await;
    let zones = ok(&server, &format!("{MANIFESTS}/1")).await["zones"].take();
    let bounds = |column: &str| json!([zones[column]["min"], zones[column]["max"], zones[column]["null_count"]]);
    assert_eq!(bounds("l.element"), json!([1, 6, null]));
    assert_eq!(bounds("m.key"), json!(["k1", "k5", null]));
    assert_eq!(bounds("m.value"), json!([null, null, null]));
    assert_eq!(bounds("s.\"a.b\""), json!(["2024-01-01", "2024-02-01", 2]));
    assert_eq!(bounds("nulls"), json!([null, null, 6]));
    let without_values = |column: &str| zones[column]["without_values"].clone();
    assert_eq!((without_values("nulls"), without_values("nothing")), (json!(true), json!(false)));
    let declared = |column: &str| zones[column]["declared_files"].clone();
    assert_eq!((declared("l.element"), declared("nothing")), (json!(2), json!(0)));
    assert_eq!(zones.as_object().unwrap().len(), 6);
}

#[tokio::test]
async fn only_the_first_page_has_the_zones() {
    let server = three_manifests(&SetClock::new()).await;
    let route = format!("{MANIFESTS}/1?page_size=1");
    let first = ok(&server, &route).await;
    assert!(first["zones"].is_object());
    let second = ok(&server, &format!("{route}&page_token={}", first["next_page_token"].as_str().unwrap())).await;
    assert_eq!((&second["zones"], names_in(&second["live_files"])), (&Value::Null, vec!["b".to_owned()]));
    assert_eq!(totals(&second), totals(&first));
}
