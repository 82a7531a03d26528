//! A session with every command, from an empty catalog on. Whatever the API can do, some command does.

use serde_json::Value;

use crate::routes;
use crate::session::{Reached, Session};

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_reached_by_a_command() {
    let session = Session::with_manifests_of(2).await;
    makes_and_changes_tables(&session);
    commits(&session);
    asks_why(&session);
    looks_back(&session);
    keeps_in_order(&session);
    gives_tokens(&session);
    drops(&session);
    let all = routes::all();
    assert!(all.len() > 20, "{all:?}");
    let missing: Reached = all.difference(&session.reached()).cloned().collect();
    assert_eq!(missing, Reached::new(), "no command reaches these");
}

fn makes_and_changes_tables(session: &Session) {
    assert!(session.shows(&["health"]).0.ends_with(" answers and is ready\n"));
    assert!(session.shows(&["config", "server"]).1["limits"]["page_size"].is_u64());
    session.does(&["namespace", "create", "shop", "--property", "owner=me"]);
    assert_eq!(session.shows(&["namespace", "list"]).0, "shop\n");
    let (_, namespace) = session.shows(&["namespace", "show", "shop"]);
    assert_eq!(namespace["properties"]["owner"], "me");

    let (location, schema_from) = (session.data(""), session.data("a.parquet"));
    let create = ["table", "create", "shop.t", "--schema-from", &schema_from, "--location", &location];
    assert!(session.does(&create).starts_with("created table shop.t\n"));
    let schema = session.file("s.json", r#"{"fields": [{"name": "id", "type": "int32"}]}"#);
    session.does(&["table", "create", "shop.u", "--schema", &schema, "--property", "verification=declared"]);
    assert_eq!(session.shows(&["table", "list", "shop"]).0, "shop.t\nshop.u\n");
    let (_, page) = session.shows(&["table", "list", "shop", "--limit", "1"]);
    assert_eq!(page["tables"].as_array().unwrap().len(), 1);
    session.does(&["namespace", "create", "zoo"]);
    let (text, all) = session.shows(&["table", "list", "--limit", "1"]);
    assert!(text.ends_with("--limit ended the listing\n") && all["more"] == true, "{text}");
    assert_eq!(session.shows(&["table", "list", "--limit", "2"]).1.get("more"), None);
    session.does(&["namespace", "drop", "zoo"]);
    assert_eq!(session.does(&["table", "shop.t"]), session.does(&["table", "show", "shop.t"]));

    session.does(&[
        "table",
        "alter",
        "shop.u",
        "--add-column",
        "note string first",
        "--widen",
        "id int64",
        "--rename",
        "shop.v",
    ]);
    let (_, table) = session.shows(&["table", "show", "shop.v"]);
    let columns: Vec<_> = table["schema"]["fields"].as_array().unwrap().iter().map(|field| &field["name"]).collect();
    assert_eq!(columns, ["note", "id"]);
}

fn commits(session: &Session) {
    let append = ["commit", "shop.t", "--operation", "append", "--idempotency-key", "k", "--add", "a.parquet"];
    let done = session.does(&append);
    assert_eq!(session.does(&append), done, "the reply to the first is given again");
    assert!(done.starts_with("committed snapshot 1 of shop.t: 1 file added"), "{done}");
    session.does(&["import", "shop.t", &session.data("b.parquet"), &session.data("c.parquet")]);
    let commit = session.file("c.json", r#"{"operation": "append", "add": [{"path": "d.parquet"}]}"#);
    session.does(&["commit", "shop.t", "--file", &commit]);
    session.does(&["commit", "shop.t", "--operation", "delete", "--remove", "a.parquet"]);
    let transaction = r#"{"commits": [
        {"table": "shop.t", "operation": "append", "add": [{"path": "a.parquet"}]},
        {"table": "shop.v", "operation": "append", "add": [{"path": "/none/x.parquet", "size_bytes": 9, "row_count": 1}]}
    ]}"#;
    let done = session.does(&["transaction", &session.file("t.json", transaction)]);
    assert!(done.contains("of shop.v: 1 file added"), "{done}");
}

fn asks_why(session: &Session) {
    let (text, planned) = session.shows(&["plan", "shop.t", "--where", "id < 15 AND price < 3", "--select", "id"]);
    assert!(text.contains("pruned") && text.contains("b.parquet"), "{text}");
    assert_eq!(planned["metrics"]["files_considered"], 4);
    let filter = session.file("f.json", r#"{"type": "lt", "term": "id", "value": 5}"#);
    let paths = session.does(&["plan", "shop.t", "--filter-json", &filter, "--quiet"]);
    assert_eq!(paths.lines().count(), 1, "{paths}");
    assert_eq!(session.shows(&["plan", "shop.t", "--where", "id < 5", "--no-prune"]).1["metrics"]["files_kept"], 4);
    assert_eq!(session.shows(&["plan", "shop.t", "--where", "id < 5", "--dry-run"]).1["files"], serde_json::json!([]));

    let (text, explained) = session.shows(&["explain", "shop.t", "d.parquet", "--where", "id < 15"]);
    assert!(text.contains("pruned: the filter is true on no row"), "{text}");
    assert_eq!(explained["verdict"], "none");
    let (text, inspection) = session.shows(&["inspect", "shop.t", "--where", "price < 12 AND id + price > 5"]);
    assert!(text.contains("A file that it keeps") && text.contains("What to do"), "{text}");
    assert!(!inspection["scan"]["explained"].as_array().unwrap().is_empty());
    session.shows(&["inspect", "shop.v"]);
    assert!(session.does(&["table", "columns", "shop.t"]).contains("price"));

    let (text, listed) = session.shows(&["files", "list", "shop.t", "--limit", "2"]);
    assert!(text.contains("--limit ended the listing") && listed["next_page_token"].is_string(), "{text}");
    let (_, file) = session.shows(&["files", "show", "shop.t", "b.parquet"]);
    assert_eq!(file["columns"]["id"]["min"], 10);
}

fn looks_back(session: &Session) {
    let (_, listed) = session.shows(&["snapshots", "shop.t"]);
    let newest = listed["snapshots"][0]["snapshot_id"].as_i64().unwrap();
    assert_eq!(
        session.shows(&["snapshots", "list", "shop.t", "--limit", "1"]).1["snapshots"][0],
        listed["snapshots"][0]
    );
    let (text, shown) = session.shows(&["snapshots", "show", "shop.t", "1"]);
    assert!(text.contains("+ file://") && shown["changes"]["added"].is_array(), "{text}");
    let (text, _) = session.shows(&["changes", "shop.t", "--from", "0", "--to", "1"]);
    assert!(text.ends_with("snapshot 0 to 1: 1 added, 0 removed\n"), "{text}");
    session.does(&["tag", "set", "shop.t", "first", "1"]);
    assert_eq!(session.shows(&["tag", "show", "shop.t", "first"]).1["snapshot_id"], 1);
    assert_eq!(session.shows(&["tag", "list", "shop.t"]).1["tags"][0]["tag"], "first");
    assert_eq!(session.does(&["tag", "shop.t"]), session.does(&["tag", "list", "shop.t"]));
    let by_tag = session.does(&["files", "shop.t", "--snapshot", "first"]);
    assert_eq!(by_tag, session.does(&["files", "list", "shop.t", "--snapshot", "1"]));
    session.does(&["tag", "delete", "shop.t", "first"]);
    let done = session.does(&["rollback", "shop.t", "1"]);
    assert!(done.starts_with(&format!("committed snapshot {} of shop.t", newest + 1)), "{done}");
}

fn keeps_in_order(session: &Session) {
    let (text, _) = session.shows(&["regroup", "shop.t", "--dry-run"]);
    assert!(text.contains("nothing was changed"), "{text}");
    session.does(&["regroup", "shop.t", "--cluster-by", "id"]);
    // All four files are live there, of which some are in a manifest once that is made behind the commits.
    let at = ["--snapshot", "5"];
    let listed = || session.shows(&[&["manifests", "list", "shop.t"][..], &at].concat()).1;
    let made = (0..100).map(|_| listed()["manifests"][0]["manifest_id"].as_i64()).find_map(|made| made).unwrap();
    let (text, shown) = session.shows(&[&["manifests", "show", "shop.t", &made.to_string()][..], &at].concat());
    assert!(text.starts_with("manifest ") && shown["zones"]["id"]["min"].is_i64(), "{text}");
    assert_eq!(session.does(&["manifests", "shop.t"]), session.does(&["manifests", "list", "shop.t"]));

    assert!(session.does(&["audit", "shop.t"]).contains(" is done\n"));
    session.does(&["audit", "start", "shop.t", "--mode", "scan", "--repair"]);
    let begun: Value = serde_json::from_str(&session.does(&["audit", "shop.t", "--detach", "--json"])).unwrap();
    let id = begun["audit_id"].to_string();
    session.shows(&["audit", "show", "shop.t", &id]);
    assert_eq!(session.shows(&["audit", "list", "shop.t"]).1["audits"].as_array().unwrap().len(), 3);
    session.does(&["audit", "cancel", "shop.t", &id]);

    let (text, dry) = session.shows(&["expire", "shop.t", "--keep-last", "1"]);
    assert!(text.contains("say --forget to do it"), "{text}");
    assert_eq!(dry["dry_run"], true);
    session.does(&["expire", "shop.t", "--keep-last", "1", "--forget"]);
    let expired = session.run(&["snapshots", "show", "shop.t", "1"]);
    assert_eq!(expired.code, Some(1), "{expired:?}");
    std::fs::write(session.data("e.parquet"), "never registered").unwrap();
    let (_, orphans) = session.shows(&["orphans", "shop.t", "--older-than", "2999-01-01T00:00:00Z"]);
    assert!(orphans["orphans"].to_string().contains("/e.parquet"), "{orphans}");
}

fn gives_tokens(session: &Session) {
    let create = ["token", "create", "ana", "--grant", "reader:shop", "--expires-in", "1d"];
    let created: Value = serde_json::from_str(&session.does(&[&create[..], &["--json"]].concat())).unwrap();
    assert_eq!(created["grants"], serde_json::json!(["reader:shop"]));
    let (text, listed) = session.shows(&["token", "list"]);
    assert!(text.contains("reader:shop") && listed["tokens"][0]["name"] == "ana", "{text}");
    assert_eq!(session.does(&["token", "revoke", "ana"]), "revoked token ana\n");
}

fn drops(session: &Session) {
    session.does(&["table", "drop", "shop.t"]);
    assert_eq!(session.does(&["table", "drop", "shop.v", "--json"]), "{\n  \"dropped\": \"shop.v\"\n}\n");
    session.does(&["namespace", "drop", "shop"]);
    let (text, told) = session.shows(&["journal", "shop.t", "--since", "1d", "--limit", "1"]);
    assert!(text.ends_with("--limit ended the listing\n"), "{text}");
    assert_eq!(told["entries"][0]["operation"], "delete_table");
    assert!(told["next_page_token"].is_string(), "{told}");
    assert_eq!(session.does(&["namespace", "list"]), "");
}
