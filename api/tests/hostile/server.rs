//! A server in this process, with the limits that a test sets.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use prunus::settings::{LimitSettings, Settings};
use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::client::{Answer, Client, SOON};

/// How often others were answered: each time by another commit.
static ALIVE: AtomicU64 = AtomicU64::new(0);

pub(crate) const TABLES: &str = "/v1/namespaces/n/tables";
pub(crate) const COMMITS: &str = "/v1/namespaces/n/tables/t/commits";
pub(crate) const PLAN: &str = "/v1/namespaces/n/tables/t/plan";

/// A running server, with the table `n.t` whose files are not read.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<io::Result<()>>,
    folder: TempDir,
}

impl Server {
    pub(crate) async fn start(limits: LimitSettings) -> Self {
        Self::start_with(Settings { limits, ..Settings::default() }).await
    }

    pub(crate) async fn start_with(settings: Settings) -> Self {
        let server = Self::start_empty(settings).await;
        create_table(server.address).await;
        server
    }

    /// Without the table.
    pub(crate) async fn start_empty(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(prunus::serve(catalog, listener, settings, async {
            let _ = stopped.await;
        }));
        Self { address, stop, task, folder }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    pub(crate) async fn get(&self, route: &str) -> Answer {
        self.client().await.get(route).await
    }

    pub(crate) async fn post(&self, route: &str, body: &Value) -> Answer {
        post(self.address, route, body).await
    }

    /// That others are answered.
    pub(crate) async fn check_alive(&self) {
        assert_eq!(self.get("/healthz").await.status, 200);
        let planned = self.post(PLAN, &json!({"filter": "id = 1"})).await;
        assert_eq!(planned.status, 200, "{:?}", planned.json());
        let number = ALIVE.fetch_add(1, Ordering::Relaxed);
        let committed = self.post(COMMITS, &append(&[format!("alive-{number}")])).await;
        assert_eq!(committed.status, 201, "{:?}", committed.json());
    }

    /// Tells it to stop; what it does then can be waited for.
    pub(crate) fn stop(self) -> Stopping {
        self.stop.send(()).unwrap();
        Stopping { task: self.task, _folder: self.folder }
    }
}

/// A server that stops.
pub(crate) struct Stopping {
    task: JoinHandle<io::Result<()>>,
    _folder: TempDir,
}

impl Stopping {
    /// Returns when it has.
    pub(crate) async fn stopped(self) {
        timeout(SOON, self.task).await.expect("the server stops").unwrap().unwrap();
    }
}

pub(crate) async fn post(address: SocketAddr, route: &str, body: &Value) -> Answer {
    let mut client = Client::connect(address).await;
    client.post(route, "", body.to_string()).await;
    client.answer().await.unwrap()
}

pub(crate) async fn create_table(address: SocketAddr) {
    let namespace = post(address, "/v1/namespaces", &json!({"name": "n"})).await;
    assert_eq!(namespace.status, 201, "{:?}", namespace.json());
    let table = json!({
        "name": "t", "location": "/data/", "properties": {"verification": "declared"},
        "schema": {"fields": [{"name": "id", "type": "int64"}]},
    });
    let table = post(address, TABLES, &table).await;
    assert_eq!(table.status, 201, "{:?}", table.json());
}

/// A commit that adds files of these names.
pub(crate) fn append(names: &[String]) -> Value {
    let file = |name: &String| json!({"path": name, "size_bytes": 7});
    json!({"operation": "append", "add": names.iter().map(file).collect::<Vec<_>>()})
}
