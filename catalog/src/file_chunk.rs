//! The files of a long answer, a chunk at a time.

use std::collections::BTreeMap;

use prunus_manifest::{DataFileColumns, Distinct, FileId, Partition, ReadTransaction};
use prunus_statistics::{PrimitiveType, Value};

use crate::schema::LeafColumn;
use crate::{Result, column_ref};

/// How many files are read for an answer at a time. What an answer takes of memory is that of a few chunks, however long it is.
pub const FILES_PER_CHUNK: usize = 4_096;

/// Partition constants by column key; `None` is null.
pub type NamedPartition = BTreeMap<String, (PrimitiveType, Option<Value>)>;

/// Up to [`FILES_PER_CHUNK`] data files as they are registered.
#[derive(Clone, Debug)]
pub struct FileChunk {
    /// The files.
    pub rows: DataFileColumns,
    /// Their partition constants.
    pub partitions: Distinct<NamedPartition>,
}

impl FileChunk {
    /// Reads it.
    pub(crate) fn load(tx: &ReadTransaction<'_>, file_ids: &[FileId], leaves: &[LeafColumn]) -> Result<Self> {
        let rows = tx.load_data_file_columns(file_ids)?;
        let partitions = rows.partition.map(|partition| named_partition(partition, leaves));
        Ok(Self { rows, partitions })
    }
}

/// How many chunks so many files are; the answer without files is one, too.
pub(crate) fn chunk_count(files: usize, per_chunk: usize) -> usize {
    files.div_ceil(per_chunk).max(1)
}

/// The part of an answer's files that is a chunk of it; none beyond the last chunk.
pub(crate) fn chunk_of<T>(files: &[T], index: usize, per_chunk: usize) -> &[T] {
    files.chunks(per_chunk).nth(index).unwrap_or_default()
}

/// The constants of the columns that a schema has.
pub(crate) fn named_partition(partition: &Partition, leaves: &[LeafColumn]) -> NamedPartition {
    let named = |(id, value): (_, &Option<Value>)| {
        let leaf = leaves.iter().find(|leaf| leaf.id == id)?;
        Some((column_ref::key(&leaf.path), (leaf.column_type, value.clone())))
    };
    partition.iter().filter_map(|(id, value)| named((*id, value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_the_whole() {
        for (files, chunks) in [
            (0, 1),
            (1, 1),
            (FILES_PER_CHUNK, 1),
            (FILES_PER_CHUNK + 1, 2),
            (2 * FILES_PER_CHUNK, 2),
            (2 * FILES_PER_CHUNK + 1, 3),
        ] {
            let all: Vec<usize> = (0..files).collect();
            assert_eq!(chunk_count(files, FILES_PER_CHUNK), chunks, "{files}");
            let joined: Vec<usize> =
                (0..chunks).flat_map(|index| chunk_of(&all, index, FILES_PER_CHUNK)).copied().collect();
            assert_eq!(joined, all, "{files}");
            assert!(chunk_of(&all, chunks, FILES_PER_CHUNK).is_empty(), "{files}");
        }
    }
}
