//! Planned files as columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int8Array, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::error::ArrowError;
use prunus_catalog::{Filter, PlannedChunk, PlannedPage, Verdict};

use super::PlanHead;
use crate::formats::{WriteError, ipc};

/// The verdicts, each at its place.
const VERDICTS: [&str; 2] = ["some", "all"];

pub(super) fn begin(head: &PlanHead, page: &PlannedPage, first: &PlannedChunk) -> Result<Vec<u8>, WriteError> {
    let metadata = [
        ("snapshot_id", Some(head.snapshot_id.to_string())),
        ("schema", Some(serde_json::to_string(&head.schema)?)),
        ("metrics", head.metrics.as_ref().map(serde_json::to_string).transpose()?),
        ("next_page_token", head.next_page_token.clone()),
    ];
    let batch = batch(page, first)?;
    let mut out = ipc::head(&ipc::schema(fields(), metadata), &batch)?;
    if batch.num_rows() > 0 {
        out.extend_from_slice(&ipc::piece(&batch)?);
    }
    Ok(out)
}

pub(super) fn chunk(page: &PlannedPage, chunk: &PlannedChunk) -> Result<Vec<u8>, WriteError> {
    Ok(ipc::piece(&batch(page, chunk)?)?)
}

fn fields() -> Vec<Field> {
    let mut fields = ipc::file_fields();
    fields.extend([
        Field::new("verdict", ipc::dictionary_type(DataType::Int8), false),
        Field::new("residual", ipc::dictionary_type(DataType::Int32), true),
        ipc::map_field("partition"),
        ipc::map_field("columns"),
    ]);
    fields
}

fn batch(page: &PlannedPage, chunk: &PlannedChunk) -> Result<RecordBatch, ArrowError> {
    let schema: SchemaRef = ipc::schema(fields(), []);
    let names = chunk.columns.map(|names| names.iter().map(|(id, name)| (id.to_string(), name.clone())).collect());
    let mut columns = ipc::file_columns(&chunk.files.rows);
    columns.extend([
        verdicts(&chunk.verdicts)?,
        residuals(page, chunk)?,
        Arc::new(ipc::map_column(&chunk.files.partitions.map(ipc::partition_texts))?),
        Arc::new(ipc::map_column(&names)?),
    ]);
    RecordBatch::try_new(schema, columns)
}

fn verdicts(verdicts: &[Verdict]) -> Result<ArrayRef, ArrowError> {
    let place = |verdict: &Verdict| match verdict {
        // A plan lists no file of which no row matches; filtering would be right even there.
        Verdict::None | Verdict::Some => 0,
        Verdict::All => 1,
    };
    let places = Int8Array::from_iter_values(verdicts.iter().map(place));
    ipc::small_dictionary(places, StringArray::from_iter_values(VERDICTS))
}

fn residuals(page: &PlannedPage, chunk: &PlannedChunk) -> Result<ArrayRef, ArrowError> {
    let place = |place: &Option<usize>| {
        let place = place.map(i32::try_from).transpose();
        place.map_err(|error| ArrowError::ExternalError(error.into()))
    };
    let places = chunk.residuals.iter().map(place).collect::<Result<Int32Array, _>>()?;
    let text = |filter: &Arc<Filter>| match &**filter {
        Filter::Sql(text) => text.clone(),
        Filter::Iceberg(json) => json.to_string(),
    };
    ipc::dictionary(places, StringArray::from_iter_values(page.residuals().iter().map(text)))
}
