//! Planned files as JSON: [`crate::wire::PlannedFileJson`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use prunus_catalog::{PlannedChunk, PlannedPage, Verdict};
use serde_json::Value;

use crate::formats::WriteError;
use crate::formats::json::{file_start, object_field, partition_field};
use crate::wire::FilterJson;

/// About how much a file takes.
pub(super) const FILE_BYTES: usize = 256;

/// Writes files behind others, or behind the head.
pub(super) fn write_files(out: &mut Vec<u8>, page: &PlannedPage, chunk: &PlannedChunk) -> Result<(), WriteError> {
    let residuals = residuals(page, chunk)?;
    let partitions = chunk.files.partitions.map(partition_field);
    let columns = chunk.columns.map(|names| {
        let name = |(id, name): &(prunus_statistics::FieldId, Option<String>)| {
            (id.to_string(), name.clone().map_or(Value::Null, Value::String))
        };
        object_field("columns", names.iter().map(name).collect())
    });
    for (index, (verdict, place)) in chunk.verdicts.iter().zip(&chunk.residuals).enumerate() {
        file_start(out, &chunk.files.rows, index)?;
        out.extend_from_slice(match verdict {
            // A plan lists no file of which no row matches; filtering would be right even there.
            Verdict::None | Verdict::Some => b",\"verdict\":\"some\",\"residual\":",
            Verdict::All => b",\"verdict\":\"all\",\"residual\":",
        });
        let residual = place.as_ref().and_then(|place| residuals.get(place));
        out.extend_from_slice(residual.map_or(b"null", Vec::as_slice));
        for field in [&partitions, &columns] {
            out.extend_from_slice(field.get(index).map_or(b"", Vec::as_slice));
        }
        out.push(b'}');
    }
    Ok(())
}

/// The residuals of a chunk's files, by their place among those of the page: of these there may be many more.
fn residuals(page: &PlannedPage, chunk: &PlannedChunk) -> Result<HashMap<usize, Vec<u8>>, WriteError> {
    let mut written = HashMap::new();
    for place in chunk.residuals.iter().flatten() {
        if let (Entry::Vacant(vacant), Some(filter)) = (written.entry(*place), page.residuals().get(*place)) {
            vacant.insert(serde_json::to_vec(&FilterJson::from(&**filter))?);
        }
    }
    Ok(written)
}
