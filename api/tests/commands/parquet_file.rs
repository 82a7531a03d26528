//! Parquet files with an integer `id` and a float `price`.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Float64Array, Int32Array, RecordBatch};
use parquet::arrow::ArrowWriter;

/// Writes a file with a row for each id.
pub(crate) fn write(path: &Path, ids: Range<i32>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let prices = Float64Array::from_iter_values(ids.clone().map(|id| f64::from(id) / 2.0));
    let columns = [("id", Arc::new(Int32Array::from_iter_values(ids)) as _), ("price", Arc::new(prices) as _)];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}
