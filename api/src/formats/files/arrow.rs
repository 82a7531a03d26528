//! Listed files as columns.

use std::sync::Arc;

use arrow::array::{RecordBatch, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, TimeUnit};
use arrow::error::ArrowError;
use prunus_catalog::FileChunk;

use super::FilesHead;
use crate::formats::{WriteError, ipc};

const UTC: &str = "UTC";

pub(super) fn begin(head: &FilesHead, first: &FileChunk) -> Result<Vec<u8>, WriteError> {
    let metadata =
        [("snapshot_id", Some(head.snapshot_id.to_string())), ("next_page_token", head.next_page_token.clone())];
    let batch = batch(first)?;
    let mut out = ipc::head(&ipc::schema(fields(), metadata), &batch)?;
    if batch.num_rows() > 0 {
        out.extend_from_slice(&ipc::piece(&batch)?);
    }
    Ok(out)
}

pub(super) fn chunk(chunk: &FileChunk) -> Result<Vec<u8>, WriteError> {
    Ok(ipc::piece(&batch(chunk)?)?)
}

fn fields() -> Vec<Field> {
    let mut fields = ipc::file_fields();
    fields.extend([
        ipc::map_field("partition"),
        Field::new("last_modified", DataType::Timestamp(TimeUnit::Millisecond, Some(UTC.into())), true),
        Field::new("added_snapshot", DataType::Int64, false),
        Field::new("removed_snapshot", DataType::Int64, true),
        Field::new("manifest_id", DataType::Int64, true),
    ]);
    fields
}

fn batch(chunk: &FileChunk) -> Result<RecordBatch, ArrowError> {
    let rows = &chunk.rows;
    let last_modified: TimestampMillisecondArray = rows.last_modified_ms.reinterpret_cast();
    let mut columns = ipc::file_columns(rows);
    columns.extend([
        Arc::new(ipc::map_column(&chunk.partitions.map(ipc::partition_texts))?) as _,
        Arc::new(last_modified.with_timezone(UTC)) as _,
        Arc::new(rows.added_snapshot.clone()) as _,
        Arc::new(rows.removed_snapshot.clone()) as _,
        Arc::new(rows.manifest_id.clone()) as _,
    ]);
    RecordBatch::try_new(ipc::schema(fields(), []), columns)
}
