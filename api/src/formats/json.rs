//! JSON that is written field by field: a file takes no memory of its own on the way.

use arrow::array::{Array, Int64Array, UInt64Array};
use prunus_catalog::{DataFileColumns, NamedPartition};
use serde::Serialize;
use serde_json::Value;

use super::WriteError;
use crate::wire;

/// What follows the last file of a page.
pub(super) const END: &[u8] = b"]}";

/// The head of a page, whose fields are those of an object, up to where the first file follows.
pub(super) fn head(fields: &impl Serialize) -> Result<Vec<u8>, WriteError> {
    let mut out = serde_json::to_vec(fields)?;
    out.pop();
    out.extend_from_slice(b",\"files\":[");
    Ok(out)
}

/// A number or a string.
pub(super) fn value(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), WriteError> {
    Ok(serde_json::to_writer(out, value)?)
}

/// The beginning of a file, as all answers have it; the files before it are there.
pub(super) fn file_start(out: &mut Vec<u8>, rows: &DataFileColumns, index: usize) -> Result<(), WriteError> {
    if !matches!(out.last(), Some(b'[')) {
        out.push(b',');
    }
    out.extend_from_slice(b"{\"file_id\":");
    value(out, &rows.file_id.value(index))?;
    out.extend_from_slice(b",\"path\":");
    value(out, rows.path.value(index))?;
    out.extend_from_slice(b",\"size_bytes\":");
    value(out, &rows.size_bytes.value(index))?;
    out.extend_from_slice(b",\"row_count\":");
    value(out, &known(&rows.row_count, index))?;
    if rows.etag.is_valid(index) {
        out.extend_from_slice(b",\"etag\":");
        value(out, rows.etag.value(index))?;
    }
    Ok(())
}

/// A number of a column; `None` where it is null.
fn known(column: &UInt64Array, index: usize) -> Option<u64> {
    column.is_valid(index).then(|| column.value(index))
}

/// The same of ids and times.
pub(super) fn known_id(column: &Int64Array, index: usize) -> Option<i64> {
    column.is_valid(index).then(|| column.value(index))
}

/// The field of a file that its partition constants are, with the comma before it; nothing where it has none.
pub(super) fn partition_field(partition: &NamedPartition) -> Vec<u8> {
    let json = wire::partition_json(partition);
    object_field("partition", json.into_iter().collect())
}

/// A field that is an object, with the comma before it; nothing where that is empty.
pub(super) fn object_field(name: &str, object: serde_json::Map<String, Value>) -> Vec<u8> {
    if object.is_empty() { Vec::new() } else { format!(",\"{name}\":{}", Value::Object(object)).into_bytes() }
}
