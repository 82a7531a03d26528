//! Arrow IPC streams in pieces, and the columns that all of them have.
//!
//! Every message of a stream begins with the same marker. A reader takes a stream that ends between two messages for a whole one,
//! so each piece ends with the marker of the message that follows: one that breaks off is in the middle of a message.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, MapArray, MapBuilder, MapFieldNames, RecordBatch, StringArray,
    StringBuilder,
};
use arrow::datatypes::{DataType, Field, Int8Type, Int32Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, write_message};
use prunus_catalog::{DataFileColumns, Distinct, NamedPartition};
use serde_json::Value;

use crate::wire;

/// What every message begins with.
const MARKER: [u8; 4] = [0xff; 4];

/// What follows the marker where no message follows.
pub(super) const END: &[u8] = &[0; 4];

/// The names of the fields within a map, as the format has them.
const ENTRY: &str = "entries";
const KEY: &str = "key";
const VALUE: &str = "value";

/// The head of a stream: its schema, and the dictionaries that all its batches share, which are those of a batch without rows.
pub(super) fn head(schema: &Schema, dictionaries: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let (options, mut tracker) = (IpcWriteOptions::default(), DictionaryTracker::new(true));
    let generator = IpcDataGenerator::default();
    let mut out = Vec::new();
    write_message(
        &mut out,
        generator.schema_to_bytes_with_dictionary_tracker(schema, &mut tracker, &options),
        &options,
    )?;
    let (encoded, _) = generator.encode(dictionaries, &mut tracker, &options, &mut IpcWriteContext::default())?;
    for dictionary in encoded {
        write_message(&mut out, dictionary, &options)?;
    }
    out.extend_from_slice(&MARKER);
    Ok(out)
}

/// The piece that a batch is. A column with a dictionary in the head is one of places here: as a message both are the same.
pub(super) fn piece(batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let (options, mut tracker) = (IpcWriteOptions::default(), DictionaryTracker::new(true));
    let generator = IpcDataGenerator::default();
    let (_, encoded) = generator.encode(batch, &mut tracker, &options, &mut IpcWriteContext::default())?;
    let mut out = Vec::with_capacity(encoded.ipc_message.len() + encoded.arrow_data.len() + 64);
    write_message(&mut out, encoded, &options)?;
    out.drain(..MARKER.len());
    out.extend_from_slice(&MARKER);
    Ok(out)
}

/// A schema with what is said of the whole page.
pub(super) fn schema(
    fields: Vec<Field>,
    metadata: impl IntoIterator<Item = (&'static str, Option<String>)>,
) -> SchemaRef {
    let known = metadata.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Arc::new(Schema::new_with_metadata(fields, known.collect::<HashMap<_, _>>()))
}

/// The fields of a file that all answers begin with.
pub(super) fn file_fields() -> Vec<Field> {
    vec![
        Field::new("file_id", DataType::Int64, false),
        Field::new("path", DataType::Utf8, false),
        Field::new("size_bytes", DataType::UInt64, false),
        Field::new("row_count", DataType::UInt64, true),
        Field::new("etag", DataType::Utf8, true),
    ]
}

/// The columns of [`file_fields`].
pub(super) fn file_columns(rows: &DataFileColumns) -> Vec<ArrayRef> {
    vec![
        Arc::new(rows.file_id.clone()),
        Arc::new(rows.path.clone()),
        Arc::new(rows.size_bytes.clone()),
        Arc::new(rows.row_count.clone()),
        Arc::new(rows.etag.clone()),
    ]
}

/// The field of texts by name; a value may be null.
pub(super) fn map_field(name: &str) -> Field {
    let entries = Field::new_struct(
        ENTRY,
        vec![Field::new(KEY, DataType::Utf8, false), Field::new(VALUE, DataType::Utf8, true)],
        false,
    );
    Field::new(name, DataType::Map(Arc::new(entries), false), false)
}

/// The column of a [`map_field`].
pub(super) fn map_column(column: &Distinct<Vec<(String, Option<String>)>>) -> Result<MapArray, ArrowError> {
    let names = MapFieldNames { entry: ENTRY.to_owned(), key: KEY.to_owned(), value: VALUE.to_owned() };
    let mut builder = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    for index in column.indices() {
        for (key, value) in column.values().get(*index).into_iter().flatten() {
            builder.keys().append_value(key);
            builder.values().append_option(value.as_ref());
        }
        builder.append(true)?;
    }
    Ok(builder.finish())
}

/// Partition constants as texts: those of the JSON, without the quotes of its strings.
pub(super) fn partition_texts(partition: &NamedPartition) -> Vec<(String, Option<String>)> {
    let text = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    wire::partition_json(partition).into_iter().map(|(key, value)| (key, text(value))).collect()
}

/// A column of few different texts, by their places among these.
pub(super) fn small_dictionary(places: Int8Array, texts: StringArray) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::<Int8Type>::try_new(places, Arc::new(texts))?))
}

/// The same of more.
pub(super) fn dictionary(places: Int32Array, texts: StringArray) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(places, Arc::new(texts))?))
}

/// The type of a dictionary's column.
pub(super) fn dictionary_type(places: DataType) -> DataType {
    DataType::Dictionary(Box::new(places), Box::new(DataType::Utf8))
}
