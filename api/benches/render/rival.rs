//! SQLite's own shell on a copy of the store: it reads the same rows, on one thread, and writes them or does not.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{median, row};

/// The columns of a plan, those that are the same for all files among them.
const ROWS: &str = "SELECT file_id, path, size_bytes, row_count, etag, 'some' AS verdict, \
    'lower(cat) <> ''x''' AS residual FROM data_file ORDER BY file_id";

/// Touches every one of them and writes nothing.
const READ: &str =
    "SELECT sum(file_id), sum(length(path)), sum(size_bytes), sum(row_count), count(etag) FROM data_file";

pub(crate) fn measure(folder: &Path, files: usize, rounds: usize) {
    let to = tempfile::tempdir().unwrap();
    let copy = to.path().join("copy.db");
    for ending in ["", "-wal"] {
        let from = folder.join(format!("prunus.db{ending}"));
        if from.exists() {
            std::fs::copy(from, to.path().join(format!("copy.db{ending}"))).unwrap();
        }
    }
    for (name, arguments, sql) in [("sqlite3 -json", &["-json"][..], ROWS), ("sqlite3, read alone", &[], READ)] {
        let run = |output: Stdio| {
            let started = Instant::now();
            let done = Command::new("sqlite3").args(arguments).arg(&copy).arg(sql).stdout(output).output();
            (started.elapsed(), done)
        };
        let Ok(first) = run(Stdio::piped()).1 else {
            println!("| {name} is not there | | | |");
            return;
        };
        assert!(first.status.success());
        let times = (0..rounds).map(|_| run(Stdio::null()).0).collect();
        row(name, median(times), files, first.stdout.len());
    }
}
