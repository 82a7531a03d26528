//! Planned files as columns.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int8Array, Int32Array, RecordBatch, StringArray, new_empty_array};
use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::error::ArrowError;
use prunus_catalog::{Filter, PlannedChunk, PlannedPage, Verdict};

use super::PlanHead;
use crate::formats::{WriteError, ipc};

/// The columns of few different texts.
const VERDICT: &str = "verdict";
const RESIDUAL: &str = "residual";

/// The verdicts, each at its place.
const VERDICTS: [&str; 2] = ["some", "all"];

pub(super) fn begin(head: &PlanHead, page: &PlannedPage, first: &PlannedChunk) -> Result<Vec<u8>, WriteError> {
    let metadata = [
        ("snapshot_id", Some(head.snapshot_id.to_string())),
        ("schema", Some(serde_json::to_string(&head.schema)?)),
        ("metrics", head.metrics.as_ref().map(serde_json::to_string).transpose()?),
        ("next_page_token", head.next_page_token.clone()),
    ];
    let mut out = ipc::head(&ipc::schema(fields(Texts::InDictionaries), metadata), &dictionaries(page)?)?;
    if !first.verdicts.is_empty() {
        out.extend_from_slice(&chunk(first)?);
    }
    Ok(out)
}

pub(super) fn chunk(chunk: &PlannedChunk) -> Result<Vec<u8>, WriteError> {
    Ok(ipc::piece(&batch(chunk)?)?)
}

/// How columns of few different texts are written.
#[derive(Clone, Copy)]
enum Texts {
    InDictionaries,
    /// Within a batch they are the places alone: the dictionaries are those of the head.
    AsPlaces,
}

impl Texts {
    fn data_type(self, places: DataType) -> DataType {
        match self {
            Self::InDictionaries => ipc::dictionary_type(places),
            Self::AsPlaces => places,
        }
    }
}

fn fields(texts: Texts) -> Vec<Field> {
    let mut fields = ipc::file_fields();
    fields.extend([
        Field::new(VERDICT, texts.data_type(DataType::Int8), false),
        Field::new(RESIDUAL, texts.data_type(DataType::Int32), true),
        ipc::map_field("partition"),
        ipc::map_field("columns"),
    ]);
    fields
}

/// No file, with the texts of all files of a page.
fn dictionaries(page: &PlannedPage) -> Result<RecordBatch, ArrowError> {
    let schema = ipc::schema(fields(Texts::InDictionaries), []);
    let text = |filter: &Arc<Filter>| match &**filter {
        Filter::Sql(text) => text.clone(),
        Filter::Iceberg(json) => json.to_string(),
    };
    let residuals = StringArray::from_iter_values(page.residuals().iter().map(text));
    let with_texts = |field: &Arc<Field>| match field.name().as_str() {
        VERDICT => ipc::small_dictionary(Int8Array::new_null(0), StringArray::from_iter_values(VERDICTS)),
        RESIDUAL => ipc::dictionary(Int32Array::new_null(0), residuals.clone()),
        _ => Ok(new_empty_array(field.data_type())),
    };
    let columns = schema.fields().iter().map(with_texts).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema, columns)
}

fn batch(chunk: &PlannedChunk) -> Result<RecordBatch, ArrowError> {
    let schema: SchemaRef = ipc::schema(fields(Texts::AsPlaces), []);
    let names = chunk.columns.map(|names| names.iter().map(|(id, name)| (id.to_string(), name.clone())).collect());
    let mut columns = ipc::file_columns(&chunk.files.rows);
    columns.extend([
        verdicts(&chunk.verdicts),
        residuals(chunk)?,
        Arc::new(ipc::map_column(&chunk.files.partitions.map(ipc::partition_texts))?),
        Arc::new(ipc::map_column(&names)?),
    ]);
    RecordBatch::try_new(schema, columns)
}

fn verdicts(verdicts: &[Verdict]) -> ArrayRef {
    let place = |verdict: &Verdict| match verdict {
        // A plan lists no file of which no row matches; filtering would be right even there.
        Verdict::None | Verdict::Some => 0,
        Verdict::All => 1,
    };
    Arc::new(Int8Array::from_iter_values(verdicts.iter().map(place)))
}

fn residuals(chunk: &PlannedChunk) -> Result<ArrayRef, ArrowError> {
    let place = |place: &Option<usize>| {
        let place = place.map(i32::try_from).transpose();
        place.map_err(|error| ArrowError::ExternalError(error.into()))
    };
    Ok(Arc::new(chunk.residuals.iter().map(place).collect::<Result<Int32Array, _>>()?))
}
