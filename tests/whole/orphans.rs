//! Objects that no table names, on the local file system.

use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime};

use parquet::file::properties::EnabledStatistics;
use serde_json::json;

use crate::rows;
use crate::server::{Server, append, names_in};

const ORPHANS: &str = "/v1/namespaces/n/tables/t/orphans";
/// All that is there is older.
const ALL: &str = "older_than=2999-01-01T00:00:00Z";

/// Names that spell oddly; each is a file name of its own.
const ODD: [&str; 14] = [
    "a b.parquet",
    "a%20b.parquet",
    "a%2520b.parquet",
    "100%.parquet",
    "a+b.parquet",
    "a&b=c;d.parquet",
    "é.parquet",
    "e\u{301}.parquet",
    "日本.parquet",
    "dots...",
    ".hidden",
    "back\\slash.parquet",
    "ask?.parquet",
    "tilde~[x]{y}.parquet",
];

async fn orphans(server: &Server, query: &str) -> Vec<String> {
    let (status, answer) = server.get(&format!("{ORPHANS}?{query}")).await;
    assert_eq!(status, 200, "{answer}");
    names_in(&answer["orphans"])
}

fn write(server: &Server, name: &str) {
    let path = server.data().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, name).unwrap();
}

async fn declared_server() -> Server {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    server
}

#[tokio::test]
async fn what_no_table_names_is_listed() {
    let server = declared_server().await;
    server.create_declared("u").await;
    for name in ["live", "removed", "theirs", "below/orphan", "orphan"] {
        write(&server, name);
    }
    server.change("t", &["live", "removed"], &[]).await;
    server.change("t", &[], &["removed"]).await;
    server.change("u", &["theirs"], &[]).await;
    let (_, answer) = server.get(&format!("{ORPHANS}?{ALL}")).await;
    let paths: Vec<_> = answer["orphans"].as_array().unwrap().iter().map(|orphan| orphan["path"].clone()).collect();
    let expected = ["below/orphan", "orphan"].map(|name| json!(format!("file://{}", server.path(name))));
    assert_eq!((paths, &answer["orphans"][1]["size_bytes"]), (expected.to_vec(), &json!(6)));
    assert!(answer["orphans"][0]["last_modified"].is_string());
    // A snapshot that is gone names nothing any more.
    let expire = json!({"keep_last": 1, "dry_run": false});
    server.post("/v1/namespaces/n/tables/t/expire", &expire).await;
    assert_eq!(orphans(&server, ALL).await, ["orphan", "orphan", "removed"]);
}

#[tokio::test]
async fn what_is_young_is_not_listed() {
    let server = declared_server().await;
    for (name, days) in [("young", 2), ("old", 4)] {
        write(&server, name);
        let file = std::fs::File::options().write(true).open(server.data().join(name)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the age of a file is the system's")]
        file.set_modified(SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60)).unwrap();
    }
    assert_eq!(orphans(&server, "").await, ["old"]);
    assert_eq!(orphans(&server, ALL).await, ["old", "young"]);
    assert_eq!(orphans(&server, "older_than=2001-01-01T00:00:00Z").await, Vec::<String>::new());
}

#[tokio::test]
async fn orphans_are_listed_in_pages() {
    let server = declared_server().await;
    let all: Vec<String> = (0..7).map(|number| format!("f{number}")).collect();
    all.iter().for_each(|name| write(&server, name));
    let mut listed = Vec::new();
    let mut query = format!("{ALL}&page_size=3");
    let mut pages = 0;
    loop {
        let (status, page) = server.get(&format!("{ORPHANS}?{query}")).await;
        assert_eq!(status, 200, "{page}");
        listed.extend(names_in(&page["orphans"]));
        pages += 1;
        let Some(token) = page["next_page_token"].as_str() else { break };
        query = format!("{ALL}&page_size=3&page_token={token}");
    }
    assert_eq!((listed, pages), (all, 3));
}

#[tokio::test]
async fn a_table_without_a_location_has_no_orphans() {
    let server = Server::start(2).await;
    server.create_table("t", json!({"schema": {"fields": [{"name": "id", "type": "int64"}]}})).await;
    assert_eq!(server.get(ORPHANS).await.0, 422);
    assert_eq!(server.get(&format!("{ORPHANS}?older_than=yesterday")).await.0, 422);
    assert_eq!(server.get("/v1/namespaces/n/tables/none/orphans").await.0, 404);
}

#[tokio::test]
async fn a_file_of_an_odd_name_that_was_read_is_never_listed() {
    let server = Server::start(4).await;
    let first = server.path("first.parquet");
    rows::write(first.as_ref(), &rows::batch(0, 5), EnabledStatistics::Chunk);
    for name in ODD {
        std::fs::copy(&first, server.path(name)).unwrap();
    }
    server.create_table("t", json!({"schema_from": first, "location": server.path("")})).await;
    server.commit("t", append(ODD.map(|name| server.path(name)))).await;
    assert_eq!(orphans(&server, ALL).await, ["first.parquet"]);
}

#[tokio::test]
async fn an_odd_name_that_is_not_registered_is_listed_as_it_is() {
    let server = declared_server().await;
    for name in ODD {
        write(&server, name);
    }
    let mut expected = ODD.map(str::to_owned);
    expected.sort();
    assert_eq!(orphans(&server, ALL).await, expected);
}

#[tokio::test]
async fn no_spelling_of_a_registered_path_makes_it_an_orphan() {
    let server = declared_server().await;
    let folder = server.path("");
    let folder = folder.trim_end_matches('/');
    for (object, registered) in [
        ("a/b.parquet", "a//b.parquet".to_owned()),
        ("a/c.parquet", "./a/./c.parquet".to_owned()),
        ("a/d.parquet", format!("file:{folder}/a/d.parquet")),
        ("a/e.parquet", format!("FILE://localhost{folder}//a/e.parquet")),
        ("a/f.parquet", format!("//{folder}/a/f.parquet")),
        ("a/dots..", "a/dots..".to_owned()),
        // What a writer spells by its own rules, where its word is taken.
        ("a/g h.parquet", "a/g%20h.parquet".to_owned()),
        ("a/k=1:2.parquet", "a/k=1%3A2.parquet".to_owned()),
        ("a/é.parquet", "a/e\u{301}.parquet".to_owned()),
        ("a/ü.parquet", "a/%C3%BC.parquet".to_owned()),
        ("a/m%20n.parquet", "a/m n.parquet".to_owned()),
    ] {
        write(&server, object);
        server.change("t", &[&registered], &[]).await;
        assert_eq!(orphans(&server, ALL).await, Vec::<String>::new(), "{object} {registered}");
    }
}

#[tokio::test]
async fn a_file_behind_a_link_is_registered_wherever_it_is_reached() {
    let server = declared_server().await;
    for name in ["real/a", "real/b", "real/c"] {
        write(&server, name);
    }
    std::os::unix::fs::symlink(server.data().join("real"), server.data().join("link")).unwrap();
    server.change("t", &["real/a", "link/b"], &[]).await;
    assert_eq!(orphans(&server, ALL).await, ["c", "c"]);
}

#[tokio::test]
async fn a_location_that_is_a_link_lists_what_is_registered_without_it() {
    let server = declared_server().await;
    for name in ["real/a", "real/b"] {
        write(&server, name);
    }
    server.change("t", &["real/a"], &[]).await;
    let link = server.data().join("link");
    std::os::unix::fs::symlink(server.data().join("real"), &link).unwrap();
    let table = json!({"schema": {"fields": [{"name": "id", "type": "int64"}]}, "location": link.to_str().unwrap()});
    server.create_table("u", table).await;
    let (_, answer) = server.get(&format!("/v1/namespaces/n/tables/u/orphans?{ALL}")).await;
    assert_eq!(names_in(&answer["orphans"]), ["b"]);
}

#[tokio::test]
async fn a_name_that_is_no_location_is_said_and_nothing_is_listed() {
    let latin = std::ffi::OsStr::from_bytes(b"latin\xe9.parquet");
    for name in [std::ffi::OsStr::new("line\nbreak.parquet"), latin] {
        let server = declared_server().await;
        write(&server, "orphan");
        std::fs::write(server.data().join(name), "x").unwrap();
        let (status, problem) = server.get(&format!("{ORPHANS}?{ALL}")).await;
        assert_eq!((status, &problem["type"]), (422, &json!("/problems/invalid-request")));
        let message = problem["faults"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("the path cannot be a key of an object store"), "{message}");
    }
}
