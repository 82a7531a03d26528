//! Data files as columns: many of them are read for an answer, and nothing is put together for each.

use std::sync::Arc;

use arrow::array::{Array, Int64Array, StringArray, StringBuilder, UInt64Array};
use rusqlite::Row;

use crate::data_file::{DataFileRow, FixedPart, Partition, decode_partition};
use crate::distinct::{Distinct, DistinctBuilder};
use crate::leaf_set::{FileLeaf, LeafSetReader};
use crate::transaction::ReadTransaction;
use crate::{FileId, ManifestId, Result, SnapshotId};

/// The most files that are read as columns at a time: then all that is said of them has room in an array.
pub const MAX_FILES_PER_READ: usize = 65_536;

/// About how long a path is.
const PATH_BYTES: usize = 96;

/// Data files as they are stored, without their statistics: what [`DataFileRow`] is of one file. All columns are of one length.
#[derive(Clone, Debug)]
pub struct DataFileColumns {
    /// The [`FileId`]s; no slot is null.
    pub file_id: Int64Array,
    /// Their paths, as they were registered; no slot is null.
    pub path: StringArray,
    /// Their sizes in bytes; no slot is null.
    pub size_bytes: UInt64Array,
    /// How many rows they have; null is unknown.
    pub row_count: UInt64Array,
    /// What the object store called their content; null is unknown.
    pub etag: StringArray,
    /// When the objects were written, in milliseconds since 1970-01-01T00:00Z; null is unknown.
    pub last_modified_ms: Int64Array,
    /// The leaves of their own schemas; none where the catalog did not read the file.
    pub leaves: Distinct<Arc<[FileLeaf]>>,
    /// The values that they have in every row.
    pub partition: Distinct<Partition>,
    /// The [`SnapshotId`]s that they are live from; no slot is null.
    pub added_snapshot: Int64Array,
    /// The first [`SnapshotId`]s that they are not live in any more; null while they are live.
    pub removed_snapshot: Int64Array,
    /// The [`ManifestId`]s that they are in; null while they are in the tail.
    pub manifest_id: Int64Array,
}

impl ReadTransaction<'_> {
    /// The data files of these ids, up to [`MAX_FILES_PER_READ`], in the same order, whether live or not. Ids that follow each
    /// other closely are read for much less than others.
    ///
    /// # Errors
    /// [`crate::Error::FileNotFound`], [`crate::Error::Sqlite`], [`crate::Error::DamagedRow`].
    ///
    /// # Panics
    /// With more files.
    pub fn load_data_file_columns(&self, file_ids: &[FileId]) -> Result<DataFileColumns> {
        assert!(file_ids.len() <= MAX_FILES_PER_READ, "columns have room for so many files");
        let mut columns = Builder::with_capacity(file_ids.len());
        self.visit_data_files(file_ids, |file_id, row| columns.push(self, file_id, row))?;
        Ok(columns.finish())
    }
}

impl DataFileColumns {
    /// How many files there are.
    pub fn len(&self) -> usize {
        self.file_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of the files; `None` beyond the last one.
    pub fn row(&self, index: usize) -> Option<DataFileRow> {
        let signed = |column: &Int64Array| column.is_valid(index).then(|| column.value(index));
        // Both are as long as all other columns.
        let (leaves, partition) = (self.leaves.get(index)?, self.partition.get(index)?);
        Some(DataFileRow {
            file_id: FileId(self.file_id.value(index)),
            path: self.path.value(index).to_owned(),
            size_bytes: self.size_bytes.value(index),
            row_count: self.row_count.is_valid(index).then(|| self.row_count.value(index)),
            etag: self.etag.is_valid(index).then(|| self.etag.value(index).to_owned()),
            last_modified_ms: signed(&self.last_modified_ms),
            leaves: Arc::clone(leaves),
            partition: partition.clone(),
            added_snapshot: SnapshotId(self.added_snapshot.value(index)),
            removed_snapshot: signed(&self.removed_snapshot).map(SnapshotId),
            manifest_id: signed(&self.manifest_id).map(ManifestId),
        })
    }
}

struct Builder {
    file_id: Vec<i64>,
    path: StringBuilder,
    size_bytes: Vec<u64>,
    row_count: Vec<Option<u64>>,
    etag: StringBuilder,
    last_modified_ms: Vec<Option<i64>>,
    leaf_sets: LeafSetReader,
    leaves: DistinctBuilder<i64, Arc<[FileLeaf]>>,
    partition: DistinctBuilder<Vec<u8>, Partition>,
    added_snapshot: Vec<i64>,
    removed_snapshot: Vec<Option<i64>>,
    manifest_id: Vec<Option<i64>>,
}

impl Builder {
    fn with_capacity(files: usize) -> Self {
        Self {
            file_id: Vec::with_capacity(files),
            path: StringBuilder::with_capacity(files, files * PATH_BYTES),
            size_bytes: Vec::with_capacity(files),
            row_count: Vec::with_capacity(files),
            etag: StringBuilder::with_capacity(files, 0),
            last_modified_ms: Vec::with_capacity(files),
            leaf_sets: LeafSetReader::default(),
            leaves: DistinctBuilder::with_capacity(files),
            partition: DistinctBuilder::with_capacity(files),
            added_snapshot: Vec::with_capacity(files),
            removed_snapshot: Vec::with_capacity(files),
            manifest_id: Vec::with_capacity(files),
        }
    }

    fn push(&mut self, transaction: &ReadTransaction<'_>, file_id: FileId, row: &Row<'_>) -> Result<()> {
        let fixed = FixedPart::of_row(row, file_id)?;
        self.leaves.push(&fixed.leaf_set_id, || self.leaf_sets.load(transaction, fixed.leaf_set_id))?;
        self.partition.push(fixed.partition, || decode_partition(fixed.partition, file_id))?;
        self.file_id.push(file_id.0);
        self.path.append_value(fixed.path);
        self.size_bytes.push(fixed.size_bytes);
        self.row_count.push(fixed.row_count);
        self.etag.append_option(fixed.etag);
        self.last_modified_ms.push(fixed.last_modified_ms);
        self.added_snapshot.push(fixed.added_snapshot.0);
        self.removed_snapshot.push(row.get(9)?);
        self.manifest_id.push(row.get(10)?);
        Ok(())
    }

    fn finish(mut self) -> DataFileColumns {
        DataFileColumns {
            file_id: self.file_id.into(),
            path: self.path.finish(),
            size_bytes: self.size_bytes.into(),
            row_count: self.row_count.into(),
            etag: self.etag.finish(),
            last_modified_ms: self.last_modified_ms.into(),
            leaves: self.leaves.finish(),
            partition: self.partition.finish(),
            added_snapshot: self.added_snapshot.into(),
            removed_snapshot: self.removed_snapshot.into(),
            manifest_id: self.manifest_id.into(),
        }
    }
}
