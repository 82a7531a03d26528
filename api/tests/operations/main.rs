//! `prunus check`, `backup` and `restore` as an operator runs them, beside a server and without one.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

mod under_load;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const PRUNUS: &str = env!("CARGO_BIN_EXE_prunus");

/// A server on a free port, which is killed when this is dropped.
struct Server(Child, String);

impl Server {
    fn start(data: &Path) -> Self {
        let mut serve = Command::new(PRUNUS);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--power-loss-may-lose-commits", "--data-dir"]).arg(data);
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self(child, url)
    }

    fn create_namespace(&self, name: &str) {
        let route = format!("{}/v1/namespaces", self.1);
        let request = reqwest::Client::new().post(route).json(&serde_json::json!({"name": name}));
        let answer = tokio::runtime::Runtime::new().unwrap().block_on(request.send()).unwrap();
        assert_eq!(answer.status(), 201);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A data folder whose catalog has the namespace `alpha`, and a backup of it that was made while the server ran.
struct Catalog {
    folder: tempfile::TempDir,
}

impl Catalog {
    fn new() -> Self {
        let catalog = Self { folder: tempfile::tempdir().unwrap() };
        let server = Server::start(&catalog.data());
        server.create_namespace("alpha");
        let output = catalog.run("backup", &["--to", catalog.backup().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        server.create_namespace("beta");
        drop(server);
        catalog
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn backup(&self) -> PathBuf {
        self.folder.path().join("backup.db")
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Output {
        Command::new(PRUNUS).arg(command).arg("--data-dir").arg(self.data()).args(arguments).output().unwrap()
    }

    fn restore(&self, arguments: &[&str]) -> Output {
        self.run("restore", &[&["--from", self.backup().to_str().unwrap()], arguments].concat())
    }

    /// Whether the server that is started on it lets the namespace be made anew.
    fn lacks(&self, namespace: &str) -> bool {
        let server = Server::start(&self.data());
        let route = format!("{}/v1/namespaces/{namespace}", server.1);
        let answer = tokio::runtime::Runtime::new().unwrap().block_on(reqwest::get(route)).unwrap();
        answer.status() == 404
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn a_sound_catalog_is_exit_code_0() {
    let output = Catalog::new().run("check", &[]);
    assert_eq!(
        (output.status.code(), said(&output).as_str()),
        (Some(0), "nothing is wrong: 0 tables, 0 manifests, 0 files\n")
    );
}

#[test]
fn a_damaged_catalog_is_exit_code_5() {
    let catalog = Catalog::new();
    catalog.restore(&["--replace"]);
    let path = catalog.data().join("prunus.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // The name stands in the row, in the index of the names of namespaces, and in the journal. That of the index is not the one in the
    // row then.
    let named: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"alpha")).collect();
    assert_eq!(named.len(), 3, "{named:?}");
    bytes[named[1]] = b'A';
    std::fs::write(&path, bytes).unwrap();
    for arguments in [&[][..], &["--json"]] {
        let output = catalog.run("check", arguments);
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        assert!(said(&output).contains("sqlite_autoindex_namespace_1"), "{output:?}");
    }
}

#[test]
fn a_catalog_in_use_is_neither_checked_nor_replaced() {
    let catalog = Catalog::new();
    let _server = Server::start(&catalog.data());
    for output in [catalog.run("check", &[]), catalog.restore(&["--replace"])] {
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(said(&output).contains("is in use by another process"), "{output:?}");
    }
}

#[test]
fn a_restored_catalog_is_that_of_the_backup_and_the_old_one_is_kept() {
    let catalog = Catalog::new();
    assert!(!catalog.lacks("beta"));
    let refused = catalog.restore(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("--replace"), "{refused:?}");
    let restored = catalog.restore(&["--replace"]);
    assert_eq!(restored.status.code(), Some(0), "{restored:?}");
    assert!(catalog.data().join("prunus.db.before-restore-1").exists());
    assert!(catalog.lacks("beta") && !catalog.lacks("alpha"));
}

#[test]
fn a_folder_without_a_catalog_is_told_apart_from_a_sound_one() {
    let catalog = Catalog { folder: tempfile::tempdir().unwrap() };
    let output = catalog.run("check", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("there is no store in"), "{output:?}");
    assert!(!catalog.data().exists());
}
