//! Rules about the workspace that a compiler does not hold.

#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

mod arrows;
mod documents;
mod names;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files that git would track below the root, as paths relative to it: none of `target`, none that are hidden but `.ci`.
fn files() -> Vec<PathBuf> {
    fn walk(folder: &Path, root: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if name == "target" || (name.starts_with('.') && name != ".ci") {
                continue;
            }
            if path.is_dir() {
                walk(&path, root, files);
            } else {
                files.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    let mut files = Vec::new();
    walk(&root(), &root(), &mut files);
    files.sort();
    files
}
