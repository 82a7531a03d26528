//! The binary as a server, on a free port and with a data folder of its own.

use std::path::Path;

use tempfile::TempDir;

use crate::binary::{Served, prunus, serve};

/// A running server.
pub(crate) struct Server {
    served: Served,
    folder: TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// One that needs tokens.
    pub(crate) fn start_with_tokens() -> (Self, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("catalog");
        std::fs::create_dir(&data).unwrap();
        let tokens = [("all", "admin"), ("other", "reader:other")].map(|(name, grant)| token(&data, name, grant));
        let allowed = folder.path().join("data").display().to_string();
        (Self::start_in(folder, &["--require-tokens", "--allow-location", &allowed]), tokens.to_vec())
    }

    fn start_with(arguments: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), arguments)
    }

    fn start_in(folder: TempDir, arguments: &[&str]) -> Self {
        let mut serve = serve(&folder.path().join("catalog"));
        serve.args(["--power-loss-may-lose-commits"]).args(arguments);
        std::fs::create_dir(folder.path().join("data")).unwrap();
        Self { served: Served::start(serve), folder }
    }

    pub(crate) fn url(&self) -> &str {
        &self.served.url
    }

    /// The folder for data files.
    pub(crate) fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }
}

fn token(data: &Path, name: &str, grant: &str) -> String {
    let mut create = prunus();
    create.args(["token", "create", name, "--grant", grant, "--data-dir"]).arg(data);
    let output = create.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().find(|word| word.starts_with("prunus_")).unwrap().to_owned()
}
