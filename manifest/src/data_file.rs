//! Data files: their identity, and the listings of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use prunus_statistics::{FieldId, Value};
use rusqlite::{Row, params};
use xxhash_rust::xxh3::xxh3_64;

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

const SELECT_FILE: &str = "
    SELECT file_id, path, size_bytes, row_count, etag, last_modified_ms, leaf_set_id, partition, added_snapshot,
        removed_snapshot, manifest_id
    FROM data_file
    WHERE file_id = ?1";

const SELECT_LIVE_BY_PATH: &str = "
    SELECT file_id, path, size_bytes, row_count, etag, last_modified_ms, leaf_set_id, partition, added_snapshot,
        removed_snapshot, manifest_id
    FROM data_file INDEXED BY data_file_by_path
    WHERE table_id = ?1 AND path_hash = ?2 AND path = ?3 AND added_snapshot <= ?4
        AND (removed_snapshot IS NULL OR removed_snapshot > ?4)";

const LIST_LIVE: &str = "
    SELECT file_id, path, size_bytes, row_count, etag, last_modified_ms, leaf_set_id, partition, added_snapshot,
        removed_snapshot, manifest_id
    FROM data_file INDEXED BY data_file_by_table
    WHERE table_id = ?1 AND file_id > ?2 AND added_snapshot <= ?3
        AND (removed_snapshot IS NULL OR removed_snapshot > ?3)
    ORDER BY file_id
    LIMIT ?4";

impl ReadTransaction<'_> {
    /// The data files of these ids, in the same order, whether live or not. Ask for a plan's files in chunks, each in a
    /// read of its own: ids stay valid.
    ///
    /// # Errors
    /// [`Error::FileNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn load_data_files(&self, file_ids: &[FileId]) -> Result<Vec<DataFileRow>> {
        let mut leaf_sets = LeafSetReader::default();
        let load = |file_id: &FileId| {
            let file = self.query_first(SELECT_FILE, [file_id], |row| self.data_file_row(row, &mut leaf_sets))?;
            file.ok_or(Error::FileNotFound(*file_id))
        };
        file_ids.iter().map(load).collect()
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

    fn data_file_row(&self, row: &Row<'_>, leaf_sets: &mut LeafSetReader) -> Result<DataFileRow> {
        let file_id: FileId = row.get(0)?;
        let partition = row.get_ref(7)?.as_blob().map_err(rusqlite::Error::from)?;
        Ok(DataFileRow {
            file_id,
            path: row.get(1)?,
            size_bytes: row.get::<_, Unsigned>(2)?.0,
            row_count: row.get::<_, Option<Unsigned>>(3)?.map(|rows| rows.0),
            etag: row.get(4)?,
            last_modified_ms: row.get(5)?,
            leaves: leaf_sets.load(self, row.get(6)?)?,
            partition: decode_partition(partition, file_id)?,
            added_snapshot: row.get(8)?,
            removed_snapshot: row.get(9)?,
            manifest_id: row.get(10)?,
        })
    }
}

/// What stands beside a path so that it is found without an index over the text.
pub(crate) fn path_hash(path: &str) -> i64 {
    xxh3_64(path.as_bytes()).cast_signed()
}

pub(crate) fn encode_partition(partition: &Partition) -> Result<Vec<u8>> {
    checked::pack(partition).map_err(Error::encode)
}

fn decode_partition(bytes: &[u8], file_id: FileId) -> Result<Partition> {
    checked::unpack(bytes).map_err(Error::damaged_row("partition of a data file", file_id.0))
}
