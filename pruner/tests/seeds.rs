//! Every seed of the fuzz targets, and with them every input that ever made one fail, goes through what the targets do.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

use std::fs;
use std::path::Path;

#[path = "support/fuzzed.rs"]
mod fuzzed;

/// Runs `target` on every seed of a folder, and says how many there were.
fn replay(target: fn(&[u8]), folder: &str) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(folder);
    let seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for seed in &seeds {
        println!("{}", seed.display());
        target(&fs::read(seed).unwrap());
    }
    seeds.len()
}

#[test]
fn sql_seeds_are_read_written_and_planned() {
    assert!(replay(fuzzed::sql, "sql") > 30);
}

#[test]
fn iceberg_seeds_are_read_written_and_planned() {
    assert!(replay(fuzzed::iceberg_json, "iceberg_json") > 30);
}
