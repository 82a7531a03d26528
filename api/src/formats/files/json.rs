//! Listed files as JSON: [`crate::wire::FileJson`].

use prunus_catalog::FileChunk;

use crate::formats::WriteError;
use crate::formats::json::{file_start, known_id, partition_field, value};
use crate::wire;

/// About how much a file takes.
pub(super) const FILE_BYTES: usize = 256;

/// Writes files behind others, or behind the head.
pub(super) fn write_files(out: &mut Vec<u8>, chunk: &FileChunk) -> Result<(), WriteError> {
    let (rows, partitions) = (&chunk.rows, chunk.partitions.map(partition_field));
    for index in 0..rows.len() {
        file_start(out, rows, index)?;
        out.extend_from_slice(partitions.get(index).map_or(b"", Vec::as_slice));
        if let Some(time_ms) = known_id(&rows.last_modified_ms, index) {
            out.extend_from_slice(b",\"last_modified\":");
            value(out, &wire::to_rfc3339(time_ms))?;
        }
        out.extend_from_slice(b",\"added_snapshot\":");
        value(out, &rows.added_snapshot.value(index))?;
        if let Some(snapshot_id) = known_id(&rows.removed_snapshot, index) {
            out.extend_from_slice(b",\"removed_snapshot\":");
            value(out, &snapshot_id)?;
        }
        if let Some(manifest_id) = known_id(&rows.manifest_id, index) {
            out.extend_from_slice(b",\"manifest_id\":");
            value(out, &manifest_id)?;
        }
        out.push(b'}');
    }
    Ok(())
}
