//! Where tables and files may lie, and all the ways in which a path may try to lead elsewhere.

mod changed;
mod lake;
mod swapped;
mod web;

use std::collections::BTreeMap;

use prunus_catalog::{AllowedLocations, CatalogOptions, Location, ObjectStoreOptions};
use serde_json::{Value, json};

use crate::server::{Server, names_in};
use lake::{Lake, ROWS};
use web::Web;

const OUTSIDE: &str = "the path lies outside of the locations that this server allows";

/// What becomes of a spelling.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// It is taken and read.
    Read,
    /// Its text is that of a place that is allowed, and what is there is not: it is named, and never read.
    Named,
    /// It is not even named.
    Refused,
}
use Expected::{Named, Read, Refused};

/// A use of a path in a request.
#[derive(Clone, Copy, Debug)]
enum Use {
    Location,
    SchemaFrom,
    Declared,
    Footer,
    Scan,
}

const USES: [Use; 5] = [Use::Location, Use::SchemaFrom, Use::Declared, Use::Footer, Use::Scan];

impl Use {
    fn is_read(self) -> bool {
        matches!(self, Self::SchemaFrom | Self::Footer | Self::Scan)
    }

    fn at(self) -> &'static str {
        match self {
            Self::Location => "location",
            Self::SchemaFrom => "schema_from",
            Self::Declared | Self::Footer | Self::Scan => "add[0].path",
        }
    }
}

/// A table of one column.
fn table(name: &str, verification: &str) -> Value {
    let fields = json!([{"name": "id", "type": "int64"}]);
    json!({"name": name, "schema": {"fields": fields}, "properties": {"verification": verification}})
}

/// Uses a path in a request for a new table: the status, the answer, and the path as it is registered.
async fn attempt(server: &Server, name: &str, spelling: &str, how: Use) -> (u16, Value, Option<String>) {
    let tables = "/v1/namespaces/n/tables";
    let verification = match how {
        Use::Declared => "declared",
        Use::Scan => "scan",
        _ => "footer",
    };
    let mut body = table(name, verification);
    match how {
        Use::Location => {
            body["location"] = spelling.into();
            let (status, answer) = server.post(tables, &body).await;
            let registered = answer["location"].as_str().map(str::to_owned);
            (status, answer, registered)
        }
        Use::SchemaFrom => {
            let (status, answer) = server.post(tables, &json!({"name": name, "schema_from": spelling})).await;
            (status, answer, None)
        }
        Use::Declared | Use::Footer | Use::Scan => {
            let (status, answer) = server.post(tables, &body).await;
            assert_eq!(status, 201, "{answer}");
            let mut file = json!({"path": spelling});
            if verification == "declared" {
                file["size_bytes"] = 7.into();
            }
            let (status, answer) = server.try_commit(name, &json!({"operation": "append", "add": [file]})).await;
            let plan = server.plan(name, &json!({})).await;
            let row_count = &plan["files"][0]["row_count"];
            assert!(row_count.is_null() || *row_count == ROWS, "{spelling} {plan}");
            let registered = plan["files"][0]["path"].as_str().map(str::to_owned);
            assert_eq!(status == 201, registered.is_some(), "{answer}");
            (status, answer, registered)
        }
    }
}

/// Uses each spelling in each way. `hidden` is what no refusal may show.
async fn check(server: &Server, cases: &[(String, Expected, String)], hidden: &[&str]) {
    server.post("/v1/namespaces", &json!({"name": "n"})).await;
    for (number, (spelling, expected, normal)) in cases.iter().enumerate() {
        for how in USES {
            let name = format!("t{number}_{}", format!("{how:?}").to_lowercase());
            let (status, answer, registered) = attempt(server, &name, spelling, how).await;
            let place = format!("{spelling:?} {how:?} {answer}");
            if *expected == Read || (*expected == Named && !how.is_read()) {
                assert_eq!(status, 201, "{place}");
                if let Some(registered) = registered {
                    assert_eq!(registered, *normal, "{place}");
                }
                continue;
            }
            assert_eq!((status, &answer["faults"][0]["at"]), (422, &json!(placed(how, *expected))), "{place}");
            let text = answer.to_string();
            assert!(!hidden.iter().any(|hidden| text.contains(hidden)), "{place}");
        }
    }
}

/// Where a refusal stands: the path itself is at fault, or the file that is there.
fn placed(how: Use, expected: Expected) -> &'static str {
    if expected == Named && how.at() == "add[0].path" { "add[0]" } else { how.at() }
}

#[tokio::test]
async fn paths_of_this_machine_lead_nowhere_else() {
    let lake = Lake::new();
    let server = Server::start_with(lake.options(&[])).await;
    let (own, outside) = (lake.path("lake"), lake.path("outside"));
    let own_url = format!("file://{own}");
    let read = |spelling: String, name: &str| (spelling, Read, format!("{own_url}/{name}"));
    let named = |name: &str| (format!("{own}/{name}"), Named, format!("{own_url}/{name}"));
    let refused = |spelling: String| (spelling, Refused, String::new());
    let mut cases = vec![
        read(format!("{own}/a.parquet"), "a.parquet"),
        read(format!("file://{own}/a.parquet"), "a.parquet"),
        read(format!("file:{own}/a.parquet"), "a.parquet"),
        read(format!("FILE://localhost{own}/a.parquet"), "a.parquet"),
        read(format!("file://localhost/{own}/a.parquet"), "a.parquet"),
        read(format!("//{own}//sub/./b.parquet"), "sub/b.parquet"),
        read(format!("{own}/near.parquet"), "near.parquet"),
        read(format!("{own}/absolute.parquet"), "absolute.parquet"),
        read(format!("{own}/other.parquet"), "other.parquet"),
        read(format!("{own}/other/o.parquet"), "other/o.parquet"),
        named("out.parquet"),
        named("out-absolute.parquet"),
        named("out/secret.parquet"),
        named("out-folder/secret.parquet"),
        named("chain/secret.parquet"),
        named("nothing.parquet"),
        named(&format!("process{outside}/secret.parquet")),
    ];
    cases.extend(
        [
            format!("{own}/../outside/secret.parquet"),
            format!("{own}/sub/../a.parquet"),
            format!("{own}/.."),
            format!("{outside}/secret.parquet"),
            format!("{own}side/a.parquet"),
            format!("{own}/%2e%2e/outside/secret.parquet"),
            format!("{own}/%2E%2E%2Foutside%2Fsecret.parquet"),
            format!("{own}/..%2foutside%2fsecret.parquet"),
            format!("{own}/%252e%252e/outside/secret.parquet"),
            format!("{own}/..\\outside\\secret.parquet"),
            format!("{own}/%c0%ae%c0%ae/outside/secret.parquet"),
            format!("{own}/\u{ff0e}\u{ff0e}/outside/secret.parquet"),
            format!("{own}/..\u{2215}outside/secret.parquet").replace('\u{2215}', "\u{ff0f}"),
            format!("{own}/a.parquet\0"),
            format!("{own}/\n/a.parquet"),
            format!("file://host{own}/a.parquet"),
            format!("file://127.0.0.1{own}/a.parquet"),
            format!("file:///proc/self/root{own}/a.parquet"),
            format!("file:{}", own.trim_start_matches('/')),
            format!("{}/a.parquet", own.to_uppercase()),
            format!("memory://{own}/a.parquet"),
            format!("ftp://host{own}/a.parquet"),
            format!("data:{own}/a.parquet"),
        ]
        .map(refused),
    );
    check(&server, &cases, &[&lake.path("other")]).await;
}

#[tokio::test]
async fn urls_lead_nowhere_else() {
    let lake = Lake::new();
    let elsewhere = Web::start(lake.folder(""), &[]).await;
    let to = format!("{}/secret.parquet", elsewhere.url);
    let moved = [("moved.parquet", "/secret.parquet".to_owned()), ("away.parquet", to)];
    let web = Web::start(lake.folder(""), &moved).await;
    let options = [("aws_endpoint", &*web.url), ("aws_allow_http", "true"), ("aws_skip_signature", "true")];
    let options: BTreeMap<String, String> = options.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let server = Server::start_with(CatalogOptions {
        object_store_options: ObjectStoreOptions::default().with(&options).unwrap(),
        ..lake.options(&[format!("{}/lake/", web.url), "s3://bucket/lake".to_owned()])
    })
    .await;
    let (url, host) = (&web.url, web.url.trim_start_matches("http://"));
    let port = host.rsplit(':').next().unwrap();
    let read = |spelling: String, normal: String| (spelling, Read, normal);
    let named = |spelling: String| (spelling.clone(), Named, spelling);
    let refused = |spelling: String| (spelling, Refused, String::new());
    let mut cases = vec![
        read(format!("{url}/lake/a.parquet"), format!("{url}/lake/a.parquet")),
        read(format!("HTTP://{host}/lake/sub/b.parquet"), format!("{url}/lake/sub/b.parquet")),
        read("s3://bucket/lake/a.parquet".to_owned(), "s3://bucket/lake/a.parquet".to_owned()),
        read("s3a://bucket/lake/a.parquet".to_owned(), "s3://bucket/lake/a.parquet".to_owned()),
        named(format!("{url}/lake/moved.parquet")),
        named(format!("{url}/lake/away.parquet")),
        named("s3://bucket/lake/moved.parquet".to_owned()),
    ];
    cases.extend(
        [
            format!("{url}/secret.parquet"),
            format!("{url}/lake/../secret.parquet"),
            format!("{url}/lake/./a.parquet"),
            format!("{url}/lake//a.parquet"),
            format!("{url}/lake/%2e%2e/secret.parquet"),
            format!("{url}/lake/..%2fsecret.parquet"),
            format!("{url}/lake/%252e%252e%252fsecret.parquet"),
            format!("{url}/lake\\..\\secret.parquet"),
            format!("{url}/lake/..\\secret.parquet"),
            format!("{url}/lake/..;/secret.parquet"),
            format!("{url}/Lake/a.parquet"),
            format!("{url}/lakeside/a.parquet"),
            format!("{url}/lake/a.parquet?x"),
            format!("{url}/lake/a.parquet?sig=SECRET"),
            format!("{url}/lake/a.parquet#SECRET"),
            format!("http://user:SECRET@{host}/lake/a.parquet"),
            format!("http://SECRET@{host}/lake/a.parquet"),
            format!("https://{host}/lake/a.parquet"),
            "http://127.0.0.1/lake/a.parquet".to_owned(),
            format!("http://127.1:{port}/lake/a.parquet"),
            format!("http://localhost:{port}/lake/a.parquet"),
            format!("http://127.0.0.1:0{port}/lake/a.parquet"),
            format!("http://127.0.0.1.:{port}/lake/a.parquet"),
            format!("{}/secret.parquet", elsewhere.url),
            "s3://bucket/private/secret.parquet".to_owned(),
            "s3://bucket/lake/../private/secret.parquet".to_owned(),
            "s3://bucket/lake/%2e%2e/private/secret.parquet".to_owned(),
            "s3://bucket".to_owned(),
            "s3://Bucket/lake/a.parquet".to_owned(),
            "s3://bucket.evil/lake/a.parquet".to_owned(),
            "s3://key:SECRET@bucket/lake/a.parquet".to_owned(),
            "s3://key:SEC/SECRET@bucket/lake/a.parquet".to_owned(),
            "gs://bucket/lake/a.parquet".to_owned(),
            "az://bucket/lake/a.parquet".to_owned(),
            "abfss://bucket@account.dfs.core.windows.net/lake/a.parquet".to_owned(),
        ]
        .map(refused),
    );
    check(&server, &cases, &[&lake.path("other"), "SECRET"]).await;
    assert!(!web.seen().iter().any(|path| path.contains("secret")), "{:?}", web.seen());
    assert!(elsewhere.seen().is_empty(), "{:?}", elsewhere.seen());
}

#[tokio::test]
async fn what_is_encoded_in_a_key_is_sent_encoded_once_more() {
    let lake = Lake::new();
    let web = Web::start(lake.folder(""), &[]).await;
    // Even where anything is allowed.
    let server = Server::start(2).await;
    server.create_table("t", table("t", "footer")).await;
    for (key, sent) in [
        ("lake/%2e%2e/secret.parquet", "/lake/%252e%252e/secret.parquet"),
        ("lake/..%2fsecret.parquet", "/lake/..%252fsecret.parquet"),
        ("lake/..\\secret.parquet", "/lake/..%5Csecret.parquet"),
    ] {
        let add = json!([{"path": format!("{}/{key}", web.url)}]);
        let (status, problem) = server.try_commit("t", &json!({"operation": "append", "add": add})).await;
        let message = &problem["faults"][0]["message"];
        assert_eq!((status, message), (422, &json!("there is no such file")), "{problem}");
        assert_eq!(web.seen().last().unwrap(), sent);
    }
}

#[tokio::test]
async fn all_faults_of_a_commit_come_with_their_places() {
    let lake = Lake::new();
    let server = Server::start_with(lake.options(&[])).await;
    let mut body = table("t", "footer");
    body["location"] = lake.path("lake/sub").into();
    server.create_table("t", body).await;
    let paths = [
        "b.parquet".to_owned(),
        lake.path("outside/secret.parquet"),
        lake.path("lake/out.parquet"),
        "s3://key:SECRET@bucket/a.parquet".to_owned(),
        ".".to_owned(),
        "./x/.".to_owned(),
        lake.path("lake/sub"),
        lake.path("lake"),
        "https://host/a?sig=SECRET".to_owned(),
    ];
    let add: Vec<Value> = paths.iter().map(|path| json!({"path": path})).collect();
    let (status, problem) = server.try_commit("t", &json!({"operation": "append", "add": add})).await;
    let of_fault = |fault: &Value| ["at", "path", "message"].map(|key| fault[key].as_str().unwrap().to_owned());
    let found: Vec<[String; 3]> = problem["faults"].as_array().unwrap().iter().map(of_fault).collect();
    let credentials = "the path holds a user, a password or a query: what lets into an object store is set where the server \
        runs, and is part of no path";
    let folder = "the path names a folder, not a file";
    let expected = [
        ("add[1].path", &*paths[1], OUTSIDE),
        ("add[2]", &*format!("file://{}", paths[2]), OUTSIDE),
        ("add[3].path", "s3://***@bucket/a.parquet", credentials),
        ("add[4].path", ".", folder),
        ("add[5].path", "./x/.", folder),
        ("add[6].path", &*paths[6], folder),
        ("add[7].path", &*paths[7], folder),
        ("add[8].path", "https://host/a?***", credentials),
    ];
    assert_eq!(
        (status, found),
        (422, expected.map(|(at, path, message)| [at, path, message].map(str::to_owned)).to_vec())
    );
}

#[tokio::test]
async fn a_folder_is_no_file_of_its_table_though_files_are_not_read() {
    let server = Server::start(2).await;
    server.create_declared("t").await;
    for path in [".".to_owned(), "x/.".to_owned(), server.path(""), server.path("").trim_end_matches('/').to_owned()] {
        let add = json!([{"path": path, "size_bytes": 1}]);
        let (status, problem) = server.try_commit("t", &json!({"operation": "append", "add": add})).await;
        assert_eq!((status, &problem["faults"][0]["at"]), (422, &json!("add[0].path")), "{path} {problem}");
    }
}

#[tokio::test]
async fn a_namespace_has_its_own_list_and_those_below_it() {
    let lake = Lake::new();
    let at = |name: &str| Location::parse(&lake.path(name), None).unwrap();
    let allowed = AllowedLocations::below([at("lake")]).in_namespace(&"sales".parse().unwrap(), [at("other")]);
    let server = Server::start_with(CatalogOptions { allowed_locations: allowed, ..CatalogOptions::default() }).await;
    for (namespace, name, expected) in [
        ("n", "lake/a.parquet", 201),
        ("n", "other/o.parquet", 422),
        ("sales", "lake/a.parquet", 422),
        ("sales", "other/o.parquet", 201),
        ("sales.eu", "lake/a.parquet", 422),
        ("sales.eu", "other/o.parquet", 201),
        ("salesman", "other/o.parquet", 422),
    ] {
        server.post("/v1/namespaces", &json!({"name": namespace})).await;
        let table = format!("t{}", name.len());
        let body = json!({"name": table, "schema_from": lake.path(name)});
        let (status, answer) = server.post(&format!("/v1/namespaces/{namespace}/tables"), &body).await;
        assert_eq!(status, expected, "{namespace} {name} {answer}");
    }
}

#[tokio::test]
async fn where_nothing_is_allowed_a_table_has_no_place() {
    let lake = Lake::new();
    let allowed_locations = AllowedLocations::below([]);
    let server = Server::start_with(CatalogOptions { allowed_locations, ..CatalogOptions::default() }).await;
    server.create_table("t", table("t", "declared")).await;
    let add = json!([{"path": lake.path("lake/a.parquet"), "size_bytes": 1}]);
    let (status, problem) = server.try_commit("t", &json!({"operation": "append", "add": add})).await;
    assert_eq!((status, &problem["faults"][0]["message"]), (422, &json!(OUTSIDE)), "{problem}");
}

#[tokio::test]
async fn orphans_outside_are_not_listed() {
    let lake = Lake::new();
    let server = Server::start_with(lake.options(&[])).await;
    let mut body = table("t", "footer");
    body["location"] = lake.path("lake").into();
    server.create_table("t", body).await;
    let (status, answer) = server.get("/v1/namespaces/n/tables/t/orphans?older_than=2999-01-01T00:00:00Z").await;
    assert_eq!(status, 200, "{answer}");
    let mut names = names_in(&answer["orphans"]);
    names.sort();
    assert_eq!(names, ["a.parquet", "absolute.parquet", "b.parquet", "near.parquet", "o.parquet", "other.parquet"]);
}
