//! Backups that are made while a server commits, tags, expires and plans: each restores to a sound catalog that plans what the
//! server does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::{PRUNUS, Server, said};

/// How many backups are made, each while the load goes on.
const BACKUPS: usize = 4;

/// More files than a manifest has, so that there are manifests and a tail.
const FIRST_FILES: u64 = 4_200;

/// How many of the newest snapshots are kept, beside those with a tag.
const KEPT: u64 = 6;

const TABLES: [&str; 2] = ["t", "u"];

/// Of a file of the number `n`, `id` is from 10 `n` to 10 `n` + 9, and `part` is known of every second one alone.
const FILTERS: [Option<&str>; 5] = [
    None,
    Some("id < 500"),
    Some("id BETWEEN 20000 AND 20050 OR id >= 42000"),
    Some("part = 'odd'"),
    Some("NOT (id > 100 AND part IS NULL)"),
];

/// A server's routes.
struct Api {
    url: String,
    client: Client,
}

impl Api {
    fn of(server: &Server) -> Self {
        Self { url: server.1.clone(), client: Client::new() }
    }

    async fn send(&self, method: Method, route: &str, body: Option<Value>) -> (u16, Value) {
        let request = self.client.request(method, format!("{}/v1/{route}", self.url));
        let request = body.iter().fold(request, reqwest::RequestBuilder::json);
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// The answer to a change, or to a plan, that must succeed.
    async fn does(&self, method: Method, route: &str, body: Value) -> Value {
        let (status, answer) = self.send(method, route, Some(body)).await;
        assert!((200..300).contains(&status), "{route}: {status} {answer}");
        answer
    }

    async fn get(&self, route: &str) -> Value {
        let (status, answer) = self.send(Method::GET, route, None).await;
        assert_eq!(status, 200, "{route}: {answer}");
        answer
    }

    /// The files of a plan; `None` where the snapshot is gone.
    async fn planned(&self, table: &str, snapshot: &Value, filter: Option<&str>) -> Option<Value> {
        let body = json!({"snapshot_id": snapshot, "filter": filter, "page_size": 100_000});
        let (status, mut plan) = self.send(Method::POST, &route(table, "plan"), Some(body)).await;
        match status {
            200 => Some(plan["files"].take()),
            404 | 410 => None,
            status => panic!("{status} {plan}"),
        }
    }

    async fn create_tables(&self) {
        self.does(Method::POST, "namespaces", json!({"name": "n"})).await;
        for table in TABLES {
            let fields = json!([{"name": "id", "type": "int64"}, {"name": "part", "type": "string"}]);
            let table = json!({
                "name": table, "schema": {"fields": fields}, "location": format!("s3://nowhere/{table}/"), "cluster_by": ["id"],
                "properties": {"verification": "declared"},
            });
            self.does(Method::POST, "namespaces/n/tables", table).await;
        }
        let files: Vec<Value> = (0..FIRST_FILES).map(|number| file("first", number)).collect();
        self.does(Method::POST, &route("t", "commits"), json!({"operation": "append", "add": files})).await;
    }
}

fn route(table: &str, rest: &str) -> String {
    format!("namespaces/n/tables/{table}/{rest}")
}

fn file(series: &str, number: u64) -> Value {
    let mut columns = json!({"id": {"min": number * 10, "max": number * 10 + 9, "null_count": 0}});
    if number % 2 == 1 {
        columns["part"] = json!({"min": "odd", "max": "odd", "null_count": number % 4 / 2});
    }
    json!({"path": format!("{series}/{number}"), "size_bytes": 100, "row_count": 10, "columns": columns})
}

/// Runs one kind of work until it is told to stop, so many times at least; `number` counts.
async fn until(stop: &AtomicBool, work: impl AsyncFn(u64)) {
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) || number < 3 {
        work(number).await;
        number += 1;
    }
}

/// Appends to `t`, and removes every second file of that again.
async fn commits(api: &Api, stop: &AtomicBool) {
    until(stop, async |number| {
        let append = json!({"operation": "append", "add": [file("a", 2 * number), file("a", 2 * number + 1)]});
        api.does(Method::POST, &route("t", "commits"), append).await;
        let delete = json!({"operation": "delete", "remove": [format!("a/{}", 2 * number)]});
        api.does(Method::POST, &route("t", "commits"), delete).await;
    })
    .await;
}

/// Appends to both tables at once.
async fn transactions(api: &Api, stop: &AtomicBool) {
    until(stop, async |number| {
        let commit =
            |table: &str| json!({"table": format!("n.{table}"), "operation": "append", "add": [file("b", number)]});
        api.does(Method::POST, "transactions", json!({"commits": TABLES.map(commit)})).await;
    })
    .await;
}

/// Gives tags, which move, and lets old snapshots go.
async fn tags_and_expires(api: &Api, stop: &AtomicBool) {
    until(stop, async |number| {
        for table in TABLES {
            let newest = api.get(&route(table, "snapshots?page_size=1")).await["snapshots"][0]["snapshot_id"].take();
            // It may have gone meanwhile.
            let tag = route(table, &format!("tags/moves-{}", number % 3));
            api.send(Method::PUT, &tag, Some(json!({"snapshot_id": newest}))).await;
            let expire = json!({"keep_last": KEPT, "dry_run": false});
            api.does(Method::POST, &route(table, "expire"), expire).await;
        }
    })
    .await;
}

async fn plans(api: &Api, stop: &AtomicBool) {
    until(stop, async |number| {
        let filter = FILTERS[usize::try_from(number).unwrap() % FILTERS.len()];
        api.does(Method::POST, &route("t", "plan"), json!({"filter": filter, "dry_run": number % 2 == 0})).await;
    })
    .await;
}

async fn prunus(command: &'static str, data: &Path, arguments: [&'static str; 1], file: PathBuf) -> Output {
    let mut process = Command::new(PRUNUS);
    process.arg(command).arg("--data-dir").arg(data).args(arguments).arg(file);
    tokio::task::spawn_blocking(move || process.output().unwrap()).await.unwrap()
}

/// Makes a backup of what has the tag `backup-NUMBER` at least.
async fn back_up(api: &Api, data: &Path, number: usize, to: PathBuf) {
    for table in TABLES {
        // The newest may be let go before it has its tag, once others have come.
        loop {
            let newest = api.get(&route(table, "snapshots?page_size=1")).await["snapshots"][0]["snapshot_id"].take();
            let tag = route(table, &format!("tags/backup-{number}"));
            if api.send(Method::PUT, &tag, Some(json!({"snapshot_id": newest}))).await.0 == 201 {
                break;
            }
        }
    }
    let output = prunus("backup", data, ["--to"], to).await;
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

/// Holds a restored catalog against the server that it is a copy of: what is in both is the same.
async fn compare(live: &Api, restored: &Api, number: usize) {
    for table in TABLES {
        let tag = restored.get(&route(table, &format!("tags/backup-{number}"))).await;
        let listed = restored.get(&route(table, "snapshots?page_size=100000")).await;
        let snapshots: Vec<&Value> =
            listed["snapshots"].as_array().unwrap().iter().map(|snapshot| &snapshot["snapshot_id"]).collect();
        assert!(snapshots.contains(&&tag["snapshot_id"]), "what was answered before the backup began is in it");
        let mut compared = 0;
        for snapshot in snapshots {
            for filter in FILTERS {
                let copied = restored.planned(table, snapshot, filter).await;
                assert!(copied.is_some(), "{table} {snapshot}");
                let Some(files) = live.planned(table, snapshot, filter).await else { break };
                assert_eq!(copied, Some(files), "{table} {snapshot} {filter:?}");
                compared += 1;
            }
        }
        assert!(compared >= FILTERS.len(), "{table}: nothing was compared");
        is_told(restored, table).await;
    }
}

/// The journal tells of the newest commit, and of none that is not there.
async fn is_told(restored: &Api, table: &str) {
    let current = restored.get(&format!("namespaces/n/tables/{table}")).await["current_snapshot"].take();
    let told = restored.get(&format!("journal?table=n.{table}&page_size=100000")).await;
    let commits = told["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["operation"].as_str().unwrap().starts_with("commit"));
    let told: Vec<i64> = commits.map(|entry| entry["to_snapshot"].as_i64().unwrap()).collect();
    assert!(told.iter().copied().eq((1..=current.as_i64().unwrap()).rev()), "{table} {current}: {told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_is_sound_and_plans_what_the_server_does() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Server::start(&data);
    let live = Api::of(&server);
    live.create_tables().await;
    let stop = AtomicBool::new(false);
    let backup = |number: usize| folder.path().join(format!("backup-{number}.db"));
    let backups = async {
        for number in 0..BACKUPS {
            back_up(&live, &data, number, backup(number)).await;
        }
        stop.store(true, Ordering::Relaxed);
    };
    tokio::join!(
        commits(&live, &stop),
        transactions(&live, &stop),
        tags_and_expires(&live, &stop),
        plans(&live, &stop),
        backups,
    );
    for number in 0..BACKUPS {
        let empty = folder.path().join(format!("restored-{number}"));
        let output = prunus("restore", &empty, ["--from"], backup(number)).await;
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let output = Command::new(PRUNUS).arg("check").arg("--data-dir").arg(&empty).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        compare(&live, &Api::of(&Server::start(&empty)), number).await;
    }
}
