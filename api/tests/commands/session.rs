//! A server of this process, and the binary that is run against it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::extract::{MatchedPath, Request};
use axum::middleware::{Next, from_fn};
use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::parquet_file;

/// `GET /v1/namespaces` and the like.
pub(crate) type Reached = BTreeSet<String>;

/// A server with an empty catalog and a folder of data files, `a.parquet` to `d.parquet` with ten rows each.
pub(crate) struct Session {
    folder: TempDir,
    url: String,
    reached: Arc<Mutex<Reached>>,
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Session {
    pub(crate) async fn new() -> Self {
        Self::with(CatalogOptions::default()).await
    }

    /// The same with a catalog that makes manifests of so few files.
    pub(crate) async fn with_manifests_of(files: u32) -> Self {
        Self::with(CatalogOptions { manifest_target_files: files, ..CatalogOptions::default() }).await
    }

    async fn with(options: CatalogOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (index, name) in (0_i32..).zip(["a", "b", "c", "d"]) {
            let path = folder.path().join("data").join(format!("{name}.parquet"));
            parquet_file::write(&path, index * 10..index * 10 + 10);
        }
        let catalog = Catalog::open(folder.path(), options).await.unwrap();
        let reached = Arc::new(Mutex::new(Reached::new()));
        let noted = Arc::clone(&reached);
        let note = move |request: Request, next: Next| {
            if let Some(path) = request.extensions().get::<MatchedPath>() {
                noted.lock().unwrap().insert(format!("{} {}", request.method(), path.as_str()));
            }
            next.run(request)
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let auditor = catalog.clone();
        tokio::spawn(async move { auditor.run_audits().await });
        let router = prunus::router(catalog, &prunus::settings::Settings::default()).layer(from_fn(note));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { folder, url, reached }
    }

    /// A path below the folder of data files.
    pub(crate) fn data(&self, name: &str) -> String {
        self.folder.path().join("data").join(name).to_str().unwrap().to_owned()
    }

    /// The path of a new file with this text.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn reached(&self) -> Reached {
        self.reached.lock().unwrap().clone()
    }

    /// The binary, to be run against the server, without a terminal and without what the environment says of colour.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prunus"));
        command.args(arguments).env("PRUNUS_URL", &self.url).stdin(Stdio::null());
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PRUNUS_TOKEN"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments))
    }

    /// Runs a command that must end well; what it printed.
    pub(crate) fn does(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}: {}", ran.stdout);
        assert!(!ran.stdout.contains('\u{1b}'), "{arguments:?} is not plain: {}", ran.stdout);
        ran.stdout
    }

    /// Runs a command that only looks, for people and as JSON; what it printed for people, and the JSON.
    pub(crate) fn shows(&self, arguments: &[&str]) -> (String, Value) {
        let text = self.does(arguments);
        let json = self.does(&[arguments, &["--json"]].concat());
        (text, serde_json::from_str(&json).unwrap())
    }
}

/// Runs a command to its end.
pub(crate) fn ran(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
