//! Parquet files in memory.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;

/// A file with the columns `id`, of these values, and `name`.
pub(crate) fn of_ids(ids: Range<i64>) -> Vec<u8> {
    with_long_footer(ids, 0)
}

/// The same with so many bytes of other metadata in its footer.
pub(crate) fn with_long_footer(ids: Range<i64>, padding_bytes: usize) -> Vec<u8> {
    let names = StringArray::from_iter_values(ids.clone().map(|id| format!("name-{id}")));
    let columns = [("id", Arc::new(Int64Array::from_iter_values(ids)) as _), ("name", Arc::new(names) as _)];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.append_key_value_metadata(KeyValue::new("padding".to_owned(), "x".repeat(padding_bytes)));
    writer.into_inner().unwrap()
}
