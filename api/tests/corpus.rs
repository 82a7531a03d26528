//! `prunus import` over a corpus of real Parquet files of many writers: each goes into a table made from its own schema, or is
//! refused with a reason that a person understands; nothing panics.
#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it should be, its helpers too")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The corpus: where `PRUNUS_CORPUS` says, or beside the repository.
fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os("PRUNUS_CORPUS").map_or_else(beside, PathBuf::from);
    let found = folder.join("corpus.json").exists();
    assert!(found || std::env::var_os("PRUNUS_REQUIRE_CORPUS").is_none(), "there is no corpus in {}", folder.display());
    found.then_some(folder)
}

/// A server that ends with the test.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(data: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prunus"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { process, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What an import of one file came to: its exit code, and what it said of it.
fn import(server: &Server, number: usize, file: &Path) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_prunus"))
        .args(["import", "--create", "--url", &server.url, &format!("corpus.t{number}")])
        .arg(file)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8(said).unwrap())
}

#[test]
fn every_file_is_imported_or_refused_with_a_reason() {
    let Some(corpus) = corpus() else {
        println!("skipped: there is no corpus beside the repository and none in PRUNUS_CORPUS");
        return;
    };
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path());
    let listed = std::fs::read_to_string(corpus.join("corpus.json")).unwrap();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    // Two files whose footers are good have no schema that a table could have.
    let no_table = ["names_duplicate_case_dot_unicode_empty", "types_float16_uuid_json_time"];
    for (number, entry) in listed["files"].as_array().unwrap().iter().enumerate() {
        let name = entry["file"].as_str().unwrap();
        let (code, said) = import(&server, number, &corpus.join(name));
        let expected = entry["expect"]["footer"].as_str().unwrap();
        let tableless = no_table.iter().any(|part| name.contains(part));
        let fits = match expected {
            "ok" if tableless => code == 1,
            "ok" => code == 0,
            "error" => code != 0,
            _ => true,
        };
        assert!(fits, "{name}: expected {expected}, exit code {code}: {said}");
        assert!(code == 0 || (code == 1 && said.len() > 20), "{name}: exit code {code}: {said}");
        assert!(!said.contains("panicked"), "{name}: {said}");
    }
}
