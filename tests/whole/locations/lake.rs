//! A folder that is allowed, one more, and what lies around them: links of all kinds, and files that nobody may read.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use parquet::file::properties::EnabledStatistics;
use prunus_catalog::{AllowedLocations, CatalogOptions, Location};
use tempfile::TempDir;

use crate::rows;

/// How many rows the files that may be read have.
pub(crate) const ROWS: i64 = 10;
/// How many rows those have that may not.
const SECRET_ROWS: i64 = 77;

pub(crate) struct Lake(TempDir);

impl Lake {
    pub(crate) fn new() -> Self {
        let lake = Self(tempfile::tempdir().unwrap());
        for folder in ["lake/sub", "other", "outside", "lakeside", "bucket/lake", "bucket/private"] {
            std::fs::create_dir_all(lake.folder(folder)).unwrap();
        }
        for file in ["lake/a.parquet", "lake/sub/b.parquet", "other/o.parquet", "bucket/lake/a.parquet"] {
            lake.write(file, ROWS);
        }
        for file in ["outside/secret.parquet", "lakeside/a.parquet", "bucket/private/secret.parquet", "secret.parquet"]
        {
            lake.write(file, SECRET_ROWS);
        }
        lake.link("near.parquet", "sub/b.parquet");
        lake.link("absolute.parquet", lake.path("lake/a.parquet"));
        lake.link("other.parquet", "../other/o.parquet");
        lake.link("other", lake.path("other"));
        lake.link("out.parquet", "../outside/secret.parquet");
        lake.link("out-absolute.parquet", lake.path("outside/secret.parquet"));
        lake.link("out", "../outside");
        lake.link("out-folder", lake.path("outside"));
        lake.link("chain", "sub/../out");
        lake.link("process", "/proc/self/root");
        lake.link("nothing.parquet", "../outside/nothing.parquet");
        lake
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.folder(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, row_count: i64) {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..row_count));
        let batch = RecordBatch::try_from_iter_with_nullable([("id", ids, true)]).unwrap();
        rows::write(&self.folder(name), &batch, EnabledStatistics::Chunk);
    }

    fn link(&self, name: &str, target: impl AsRef<std::path::Path>) {
        symlink(target, self.folder("lake").join(name)).unwrap();
    }

    /// Options of a catalog in which the lake and the other folder are allowed, and these prefixes.
    pub(crate) fn options(&self, prefixes: &[String]) -> CatalogOptions {
        let own = [self.path("lake/"), self.path("other")];
        let locations = own.iter().chain(prefixes).map(|prefix| Location::parse(prefix, None).unwrap());
        CatalogOptions { allowed_locations: AllowedLocations::below(locations), ..CatalogOptions::default() }
    }
}
