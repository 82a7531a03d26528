//! The example of a catalog in a program of one's own does what it says.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is not as it should be")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;

/// The example as cargo builds it with the tests of the crate.
fn example() -> Command {
    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples").join("embed");
    assert!(example.exists(), "`cargo build -p prunus-catalog --example embed` makes {}", example.display());
    Command::new(example)
}

fn write(folder: &Path, name: &str, first: i64) -> PathBuf {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(first..first + 100));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let path = folder.join(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    path
}

fn run(filter: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let paths = [0, 100, 200].map(|first| write(folder.path(), &format!("{first}.parquet"), first));
    let catalog = folder.path().join("catalog");
    std::fs::create_dir(&catalog).unwrap();
    example().arg(catalog).arg(filter).args(paths).output().unwrap()
}

#[test]
fn files_are_registered_and_planned() {
    let output = run("id BETWEEN 120 AND 250");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "3 files with 300 rows are registered",
            "100.parquet (Some rows may match)",
            "200.parquet (Some rows may match)",
            "1 files need not be read",
        ]
    );
}

#[test]
fn a_filter_that_cannot_be_planned_ends_it() {
    let output = run("nothing = 1");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("Filter"), "{output:?}");
}
