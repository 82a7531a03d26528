//! The entries of a manifest as a block: what a plan needs of a file before it knows whether it needs the file.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, UInt64Type};
use xxhash_rust::xxh3::xxh3_64;

use crate::block;
use crate::error::FormatError;
use crate::{FileId, SnapshotId, TailEntry};

/// What the block holds of one entry, and the file's row says as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryIdentity {
    pub(crate) file_id: FileId,
    pub(crate) row_count: Option<u64>,
    pub(crate) size_bytes: u64,
    pub(crate) added_snapshot: SnapshotId,
}

impl EntryIdentity {
    /// The file's share in the digest of a manifest, which is the sum of such.
    pub(crate) fn digest(self) -> u64 {
        let numbers = [
            self.file_id.0.cast_unsigned(),
            self.row_count.is_some().into(),
            self.row_count.unwrap_or(0),
            self.size_bytes,
            self.added_snapshot.0.cast_unsigned(),
        ];
        xxh3_64(numbers.map(u64::to_le_bytes).as_flattened())
    }
}

/// The entries of a manifest, in its order. All arrays are of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryBlock {
    file_id: Int64Array,
    row_count: UInt64Array,
    size_bytes: UInt64Array,
    added_snapshot: Int64Array,
}

impl EntryBlock {
    pub(crate) fn new(entries: &[EntryIdentity]) -> Self {
        let entries = entries.iter();
        Self {
            file_id: entries.clone().map(|entry| entry.file_id.0).collect::<Vec<_>>().into(),
            row_count: entries.clone().map(|entry| entry.row_count).collect(),
            size_bytes: entries.clone().map(|entry| entry.size_bytes).collect::<Vec<_>>().into(),
            added_snapshot: entries.map(|entry| entry.added_snapshot.0).collect::<Vec<_>>().into(),
        }
    }

    /// The entries of a part of the tail, as a manifest would hold them.
    pub fn of_tail<'e>(tail: impl IntoIterator<Item = &'e TailEntry>) -> Self {
        Self::new(&tail.into_iter().map(TailEntry::identity).collect::<Vec<_>>())
    }

    /// What was given to [`EntryBlock::new`].
    pub(crate) fn identities(&self) -> impl Iterator<Item = EntryIdentity> {
        let ids = self.file_id.values().iter().zip(self.added_snapshot.values());
        let sizes = self.row_count.iter().zip(self.size_bytes.values());
        ids.zip(sizes).map(|((file_id, added_snapshot), (row_count, size_bytes))| EntryIdentity {
            file_id: FileId(*file_id),
            row_count,
            size_bytes: *size_bytes,
            added_snapshot: SnapshotId(*added_snapshot),
        })
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.file_id.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much memory it takes.
    pub fn size_bytes(&self) -> usize {
        self.file_id.get_array_memory_size()
            + self.row_count.get_array_memory_size()
            + self.size_bytes.get_array_memory_size()
            + self.added_snapshot.get_array_memory_size()
    }

    /// The [`FileId`]s; no slot is null.
    pub fn file_ids(&self) -> &Int64Array {
        &self.file_id
    }

    /// How many rows the files have; null is unknown.
    pub fn row_counts(&self) -> &UInt64Array {
        &self.row_count
    }

    /// The sizes in bytes; no slot is null.
    pub fn sizes_bytes(&self) -> &UInt64Array {
        &self.size_bytes
    }

    /// The [`SnapshotId`]s that the files are live from; no slot is null.
    pub fn added_snapshots(&self) -> &Int64Array {
        &self.added_snapshot
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, FormatError> {
        let batch = RecordBatch::try_new(
            Arc::new(schema()),
            vec![
                Arc::new(self.file_id.clone()),
                Arc::new(self.row_count.clone()),
                Arc::new(self.size_bytes.clone()),
                Arc::new(self.added_snapshot.clone()),
            ],
        )?;
        block::write(&batch)
    }

    pub(crate) fn decode(bytes: &[u8], len: usize) -> Result<Self, FormatError> {
        let batch = block::read(bytes, &schema(), len)?;
        let [file_id, row_count, size_bytes, added_snapshot] = batch.columns() else {
            return Err(FormatError::WrongColumns);
        };
        Ok(Self {
            file_id: signed(file_id)?,
            row_count: unsigned(row_count)?,
            size_bytes: unsigned(size_bytes)?,
            added_snapshot: signed(added_snapshot)?,
        })
    }
}

fn schema() -> Schema {
    Schema::new(vec![
        Field::new("file_id", DataType::Int64, false),
        Field::new("row_count", DataType::UInt64, true),
        Field::new("size_bytes", DataType::UInt64, false),
        Field::new("added_snapshot", DataType::Int64, false),
    ])
}

fn signed(array: &dyn Array) -> Result<Int64Array, FormatError> {
    array.as_primitive_opt::<Int64Type>().cloned().ok_or(FormatError::WrongColumns)
}

fn unsigned(array: &dyn Array) -> Result<UInt64Array, FormatError> {
    array.as_primitive_opt::<UInt64Type>().cloned().ok_or(FormatError::WrongColumns)
}
