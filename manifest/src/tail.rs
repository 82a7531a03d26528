//! The tail: the newest entries of a table, not yet sealed into a manifest.

use prunus_statistics::FileStatistics;
use rusqlite::{Row, params};

use crate::builder::Entry;
use crate::entry_block::EntryIdentity;
use crate::ids::Unsigned;
use crate::manifest::Removal;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, FileId, Result, SnapshotId, TableId, checked};

/// A file in the tail.
#[derive(Clone, Debug, PartialEq)]
pub struct TailEntry {
    /// Its id.
    pub file_id: FileId,
    /// How many rows it has; `None` is unknown.
    pub row_count: Option<u64>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The snapshot that it is live from.
    pub added_snapshot: SnapshotId,
    /// The first snapshot that it is not live in any more; `None` while it is live.
    pub removed_snapshot: Option<SnapshotId>,
    /// What is known of its columns, as it was registered, in their newest types.
    pub statistics: FileStatistics,
}

impl TailEntry {
    pub(crate) fn identity(&self) -> EntryIdentity {
        let Self { file_id, row_count, size_bytes, added_snapshot, .. } = *self;
        EntryIdentity { file_id, row_count, size_bytes, added_snapshot }
    }
}

impl From<TailEntry> for Entry {
    fn from(entry: TailEntry) -> Self {
        Self { identity: entry.identity(), statistics: entry.statistics }
    }
}

const LIST_TAIL: &str = "
    SELECT f.file_id, f.row_count, f.size_bytes, f.added_snapshot, f.removed_snapshot, s.statistics
    FROM data_file f INDEXED BY data_file_tail LEFT JOIN tail_statistics s ON s.file_id = f.file_id
    WHERE f.table_id = ?1 AND f.manifest_id IS NULL AND f.file_id > ?2
    ORDER BY f.file_id
    LIMIT ?3";

const LIST_TAIL_REMOVALS: &str = "
    SELECT file_id, removed_snapshot
    FROM data_file INDEXED BY data_file_tail_removed
    WHERE table_id = ?1 AND removed_snapshot > ?2 AND manifest_id IS NULL AND removed_snapshot IS NOT NULL
    ORDER BY removed_snapshot, file_id";

const COUNT_TAIL_REMOVALS: &str = "
    SELECT count(*)
    FROM data_file INDEXED BY data_file_tail_removed
    WHERE table_id = ?1 AND manifest_id IS NULL AND removed_snapshot IS NOT NULL";

const UPDATE_STATISTICS: &str = "
    UPDATE tail_statistics
    SET statistics = ?2
    WHERE file_id = ?1";

impl WriteTransaction<'_> {
    /// Says something else of a file of the tail; of one that is not there any more, nothing. Whoever does raises the table's
    /// statistics generation.
    pub(crate) fn update_tail_statistics(&self, file_id: FileId, statistics: &EncodedStatistics) -> Result<()> {
        self.execute(UPDATE_STATISTICS, params![file_id, statistics.bytes()])?;
        Ok(())
    }
}

impl ReadTransaction<'_> {
    /// The whole tail of a table in the order of arrival, removed files among it.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_tail(&self, table_id: TableId) -> Result<Vec<TailEntry>> {
        self.list_tail_after(table_id, None)
    }

    /// What came into the tail after a file (`None`: all of it), in the order of arrival. Until the table's layout changes,
    /// nothing else does.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_tail_after(&self, table_id: TableId, after: Option<FileId>) -> Result<Vec<TailEntry>> {
        let values = params![table_id, after.unwrap_or(FileId(0)), i64::MAX];
        self.query_all(LIST_TAIL, values, tail_entry)
    }

    /// The files of the tail that are not live any more in the newest snapshot and were in this one, by when they went.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn list_tail_removals(&self, table_id: TableId, after: SnapshotId) -> Result<Vec<Removal>> {
        self.query_all(LIST_TAIL_REMOVALS, params![table_id, after], |row| {
            Ok(Removal { file_id: row.get(0)?, removed_snapshot: row.get(1)? })
        })
    }

    /// How many files of the tail are not live any more in the newest snapshot.
    pub(crate) fn count_tail_removals(&self, table_id: TableId) -> Result<u64> {
        let count = self.query_first(COUNT_TAIL_REMOVALS, [table_id], |row| Ok(row.get::<_, Unsigned>(0)?.0))?;
        Ok(count.unwrap_or(0))
    }

    pub(crate) fn list_oldest_of_tail(&self, table_id: TableId, limit: u64) -> Result<Vec<TailEntry>> {
        self.query_all(LIST_TAIL, params![table_id, FileId(0), Unsigned(limit)], tail_entry)
    }
}

fn tail_entry(row: &Row<'_>) -> Result<TailEntry> {
    let file_id: FileId = row.get(0)?;
    // Missing ones read as no bytes, and those fit no checksum.
    let statistics = row.get_ref(5)?.as_blob_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default();
    Ok(TailEntry {
        file_id,
        row_count: row.get::<_, Option<Unsigned>>(1)?.map(|rows| rows.0),
        size_bytes: row.get::<_, Unsigned>(2)?.0,
        added_snapshot: row.get(3)?,
        removed_snapshot: row.get(4)?,
        statistics: decode_statistics(statistics, file_id)?,
    })
}

/// What the statistics of the tail are called where they are damaged.
pub(crate) const STATISTICS: &str = "statistics of a data file";

/// The statistics of a file as they are stored. Encoding takes a fifth of the time of a small commit, so it is done before the
/// transaction, in which all others wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedStatistics(Vec<u8>);

impl EncodedStatistics {
    /// Encodes them.
    ///
    /// # Errors
    /// [`Error::Encode`].
    pub fn new(statistics: &FileStatistics) -> Result<Self> {
        Ok(Self(checked::seal(&statistics.encode().map_err(Error::encode)?)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

pub(crate) fn decode_statistics(bytes: &[u8], file_id: FileId) -> Result<FileStatistics> {
    let statistics = checked::open(bytes).and_then(|bytes| Ok(FileStatistics::decode(bytes)?));
    statistics.map_err(Error::damaged_row(STATISTICS, file_id.0))
}
