//! Data files: their identity, and the listings of it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prunus_statistics::{FieldId, Value};
use rusqlite::{Row, params};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::FormatError;
use crate::ids::Unsigned;
use crate::leaf_set::{FileLeaf, LeafSetReader};
use crate::transaction::ReadTransaction;
use crate::{Error, FileId, ManifestId, Result, SnapshotId, TableId, checked};

/// The values that a file has in every row, by field; `None` is null.
pub type Partition = BTreeMap<FieldId, Option<Value>>;

/// A data file as it is stored, without its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct DataFileRow {
    /// Its id.
    pub file_id: FileId,
    /// Its path, as it was registered.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// How many rows it has; `None` is unknown.
    pub row_count: Option<u64>,
    /// What the object store called this content; `None` is unknown.
    pub etag: Option<String>,
    /// When the object was written, in milliseconds since 1970-01-01T00:00Z; `None` is unknown.
    pub last_modified_ms: Option<i64>,
    /// The leaves of its own schema; none where the catalog did not read the file.
    pub leaves: Arc<[FileLeaf]>,
    /// The values that it has in every row.
    pub partition: Partition,
    /// The snapshot that it is live from.
    pub added_snapshot: SnapshotId,
    /// The first snapshot that it is not live in any more; `None` while it is live.
    pub removed_snapshot: Option<SnapshotId>,
    /// The manifest that it is in; `None` while it is in the tail.
    pub manifest_id: Option<ManifestId>,
}

/// The furthest that a file's id may lie behind that of the one before it, for both to be read by one range of ids: stepping over
/// so many rows takes no longer than another search.
const MAX_ID_STEP: i64 = 4;

const LIST_BY_IDS: &str = "
    SELECT file_id, path, size_bytes, row_count, etag, last_modified_ms, leaf_set_id, partition, added_snapshot,
        removed_snapshot, manifest_id, checksum
    FROM data_file
    WHERE file_id BETWEEN ?1 AND ?2
    ORDER BY file_id";

const SELECT_LIVE_BY_PATH: &str = "
    SELECT file_id, path, size_bytes, row_count, etag, last_modified_ms, leaf_set_id, partition, added_snapshot,
        removed_snapshot, manifest_id, checksum
    FROM data_file INDEXED BY data_file_by_path
    WHERE table_id = ?1 AND path_hash = ?2 AND path = ?3 AND added_snapshot <= ?4
        AND (removed_snapshot IS NULL OR removed_snapshot > ?4)";

const LIST_LIVE: &str = "
    SELECT file_id, path, size_bytes, row_count, etag, last_modified_ms, leaf_set_id, partition, added_snapshot,
        removed_snapshot, manifest_id, checksum
    FROM data_file INDEXED BY data_file_by_table
    WHERE table_id = ?1 AND file_id > ?2 AND added_snapshot <= ?3
        AND (removed_snapshot IS NULL OR removed_snapshot > ?3)
    ORDER BY file_id
    LIMIT ?4";

const LIST_LIVE_IDS: &str = "
    SELECT file_id
    FROM data_file INDEXED BY data_file_by_table
    WHERE table_id = ?1 AND file_id > ?2 AND added_snapshot <= ?3
        AND (removed_snapshot IS NULL OR removed_snapshot > ?3)
    ORDER BY file_id
    LIMIT ?4";

const HAS_FILE: &str = "
    SELECT EXISTS (SELECT 1 FROM data_file WHERE file_id = ?1 AND table_id = ?2)";

const LIST_PARTITIONS: &str = "
    SELECT file_id, partition
    FROM data_file INDEXED BY data_file_by_table
    WHERE table_id = ?1";

impl ReadTransaction<'_> {
    /// The fields that any file of a table has a partition value of. Reads the row of every file.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_partition_fields(&self, table_id: TableId) -> Result<BTreeSet<FieldId>> {
        let mut fields = BTreeSet::new();
        // Most files are like the one before.
        let mut last = Vec::new();
        self.query_all(LIST_PARTITIONS, [table_id], |row| {
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            if bytes != last {
                last = bytes.to_vec();
                fields.extend(decode_partition(bytes, row.get(0)?)?.into_keys());
            }
            Ok(())
        })?;
        Ok(fields)
    }

    /// Whether a file is one of a table's, live or not.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn has_file(&self, table_id: TableId, file_id: FileId) -> Result<bool> {
        Ok(self.query_first(HAS_FILE, params![file_id, table_id], |row| Ok(row.get(0)?))? == Some(true))
    }

    /// The data files of these ids, in the same order, whether live or not. Ask for a plan's files in chunks, each in a
    /// read of its own: ids stay valid.
    ///
    /// # Errors
    /// [`Error::FileNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn load_data_files(&self, file_ids: &[FileId]) -> Result<Vec<DataFileRow>> {
        let mut leaf_sets = LeafSetReader::default();
        let mut files = Vec::with_capacity(file_ids.len());
        self.visit_data_files(file_ids, |_, row| {
            files.push(self.data_file_row(row, &mut leaf_sets)?);
            Ok(())
        })?;
        Ok(files)
    }

    /// Shows the rows of these files, in the same order.
    pub(crate) fn visit_data_files(
        &self,
        file_ids: &[FileId],
        mut visit: impl FnMut(FileId, &Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection().prepare_cached(LIST_BY_IDS)?;
        for run in file_ids.chunk_by(|a, b| (1..=MAX_ID_STEP).contains(&b.0.saturating_sub(a.0))) {
            let mut rows = statement.query((run.first(), run.last()))?;
            for file_id in run {
                // Between the ids of a run there may be others.
                let row = loop {
                    let row = rows.next()?.ok_or(Error::FileNotFound(*file_id))?;
                    match row.get::<_, FileId>(0)?.cmp(file_id) {
                        Ordering::Less => {}
                        Ordering::Equal => break row,
                        Ordering::Greater => return Err(Error::FileNotFound(*file_id)),
                    }
                };
                visit(*file_id, row)?;
            }
        }
        Ok(())
    }

    /// The file of this path that is live in a snapshot.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn get_live_file(&self, table_id: TableId, snapshot_id: SnapshotId, path: &str) -> Result<Option<DataFileRow>> {
        let mut leaf_sets = LeafSetReader::default();
        let values = params![table_id, path_hash(path), path, snapshot_id];
        self.query_first(SELECT_LIVE_BY_PATH, values, |row| self.data_file_row(row, &mut leaf_sets))
    }

    /// Up to `limit` files that are live in a snapshot, ascending by id, from the first one after `after` (`None`: from the
    /// first).
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_live_files(
        &self,
        table_id: TableId,
        snapshot_id: SnapshotId,
        after: Option<FileId>,
        limit: u32,
    ) -> Result<Vec<DataFileRow>> {
        let mut leaf_sets = LeafSetReader::default();
        let values = params![table_id, after.unwrap_or(FileId(0)), snapshot_id, limit];
        self.query_all(LIST_LIVE, values, |row| self.data_file_row(row, &mut leaf_sets))
    }

    /// The ids of what [`ReadTransaction::list_live_files`] lists.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn list_live_file_ids(
        &self,
        table_id: TableId,
        snapshot_id: SnapshotId,
        after: Option<FileId>,
        limit: u32,
    ) -> Result<Vec<FileId>> {
        let values = params![table_id, after.unwrap_or(FileId(0)), snapshot_id, limit];
        self.query_all(LIST_LIVE_IDS, values, |row| Ok(row.get(0)?))
    }

    fn data_file_row(&self, row: &Row<'_>, leaf_sets: &mut LeafSetReader) -> Result<DataFileRow> {
        let file_id: FileId = row.get(0)?;
        let fixed = FixedPart::of_row(row, file_id)?;
        Ok(DataFileRow {
            file_id,
            path: fixed.path.to_owned(),
            size_bytes: fixed.size_bytes,
            row_count: fixed.row_count,
            etag: fixed.etag.map(ToOwned::to_owned),
            last_modified_ms: fixed.last_modified_ms,
            leaves: leaf_sets.load(self, fixed.leaf_set_id)?,
            partition: decode_partition(fixed.partition, file_id)?,
            added_snapshot: fixed.added_snapshot,
            removed_snapshot: row.get(9)?,
            manifest_id: row.get(10)?,
        })
    }
}

fn damaged<E: Into<FormatError>>(file_id: FileId) -> impl FnOnce(E) -> Error {
    Error::damaged_row("identity of a data file", file_id.0)
}

/// What never changes in the row of a data file.
pub(crate) struct FixedPart<'a> {
    pub(crate) path: &'a str,
    pub(crate) size_bytes: u64,
    pub(crate) row_count: Option<u64>,
    pub(crate) etag: Option<&'a str>,
    pub(crate) last_modified_ms: Option<i64>,
    pub(crate) leaf_set_id: i64,
    /// As it is stored.
    pub(crate) partition: &'a [u8],
    pub(crate) added_snapshot: SnapshotId,
}

impl<'a> FixedPart<'a> {
    /// Of a row whose columns begin with those of the listings here, if it is what was written.
    pub(crate) fn of_row(row: &'a Row<'_>, file_id: FileId) -> Result<Self> {
        let fixed = Self::read(row).map_err(damaged(file_id))?;
        match row.get(11)? {
            Some(stored) if fixed.checksum() != stored => Err(damaged(file_id)(FormatError::Checksum)),
            Some::<i64>(_) | None => Ok(fixed),
        }
    }

    fn read(row: &'a Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            path: row.get_ref(1)?.as_str()?,
            size_bytes: row.get::<_, Unsigned>(2)?.0,
            row_count: row.get::<_, Option<Unsigned>>(3)?.map(|rows| rows.0),
            etag: row.get_ref(4)?.as_str_or_null()?,
            last_modified_ms: row.get(5)?,
            leaf_set_id: row.get(6)?,
            partition: row.get_ref(7)?.as_blob()?,
            added_snapshot: row.get(8)?,
        })
    }

    /// What stands beside them in the row. Each part seeds the hash of the next, so that nothing is put together first.
    pub(crate) fn checksum(&self) -> i64 {
        let known = [self.row_count.is_some(), self.etag.is_some(), self.last_modified_ms.is_some()];
        let [rows_known, etag_known, time_known] = known.map(u64::from);
        let numbers = [
            rows_known | etag_known << 1 | time_known << 2,
            self.size_bytes,
            self.row_count.unwrap_or(0),
            self.last_modified_ms.unwrap_or(0).cast_unsigned(),
            self.leaf_set_id.cast_unsigned(),
            self.added_snapshot.0.cast_unsigned(),
        ];
        let mut hash = xxh3_64(numbers.map(u64::to_le_bytes).as_flattened());
        for bytes in [self.path.as_bytes(), self.etag.unwrap_or_default().as_bytes(), self.partition] {
            hash = xxh3_64_with_seed(bytes, hash);
        }
        hash.cast_signed()
    }
}

/// What stands beside a path so that it is found without an index over the text.
pub(crate) fn path_hash(path: &str) -> i64 {
    xxh3_64(path.as_bytes()).cast_signed()
}

pub(crate) fn encode_partition(partition: &Partition) -> Result<Vec<u8>> {
    checked::pack(partition).map_err(Error::encode)
}

pub(crate) fn decode_partition(bytes: &[u8], file_id: FileId) -> Result<Partition> {
    checked::unpack(bytes).map_err(Error::damaged_row("partition of a data file", file_id.0))
}
