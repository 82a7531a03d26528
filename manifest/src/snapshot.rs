//! Snapshots: the states that a table had.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rusqlite::{Row, params};

use crate::error::FormatError;
use crate::ids::Unsigned;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, Result, SchemaId, SnapshotId, TableId, Totals, json};

/// What a commit means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// New rows.
    Append,
    /// Rows go.
    Delete,
    /// The same rows in other files.
    Replace,
    /// Rows change.
    Overwrite,
}

impl Operation {
    const ALL: [Self; 4] = [Self::Append, Self::Delete, Self::Replace, Self::Overwrite];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Delete => "delete",
            Self::Replace => "replace",
            Self::Overwrite => "overwrite",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Operation {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        Self::ALL
            .into_iter()
            .find(|operation| operation.name() == name)
            .ok_or_else(|| FormatError::UnknownOperation(name.to_owned()))
    }
}

/// A snapshot as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotRow {
    /// Its id.
    pub snapshot_id: SnapshotId,
    /// The snapshot that it was made from; [`SnapshotId::EMPTY`] for the first.
    pub parent: SnapshotId,
    /// What the commit meant.
    pub operation: Operation,
    /// When it was committed, in milliseconds since 1970-01-01T00:00Z; never before its parent.
    pub committed_at_ms: i64,
    /// The table's schema when it was committed.
    pub schema_id: SchemaId,
    /// How many files the commit added.
    pub added_files: u64,
    /// How many files the commit removed.
    pub removed_files: u64,
    /// What is live in it.
    pub totals: Totals,
    /// What the writer noted.
    pub summary: BTreeMap<String, String>,
}

const SELECT_SNAPSHOT: &str = "
    SELECT snapshot_id, parent, operation, committed_at_ms, schema_id, added_files, removed_files, files, rows,
        files_of_unknown_rows, bytes, summary
    FROM snapshot
    WHERE table_id = ?1 AND snapshot_id = ?2";

const SELECT_SNAPSHOT_AT: &str = "
    SELECT snapshot_id, parent, operation, committed_at_ms, schema_id, added_files, removed_files, files, rows,
        files_of_unknown_rows, bytes, summary
    FROM snapshot
    WHERE table_id = ?1 AND committed_at_ms <= ?2
    ORDER BY committed_at_ms DESC, snapshot_id DESC
    LIMIT 1";

const SELECT_NEXT_SNAPSHOT: &str = "
    SELECT snapshot_id
    FROM snapshot
    WHERE table_id = ?1 AND snapshot_id > ?2
    ORDER BY snapshot_id
    LIMIT 1";

const LIST_SNAPSHOTS: &str = "
    SELECT snapshot_id, parent, operation, committed_at_ms, schema_id, added_files, removed_files, files, rows,
        files_of_unknown_rows, bytes, summary
    FROM snapshot
    WHERE table_id = ?1 AND snapshot_id < ?2
    ORDER BY snapshot_id DESC
    LIMIT ?3";

const COUNT_REMOVED: &str = "
    SELECT count(*), ifnull(sum(removed_files), 0)
    FROM snapshot
    WHERE table_id = ?1 AND snapshot_id > ?2 AND snapshot_id <= ?3";

const INSERT_SNAPSHOT: &str = "
    INSERT INTO snapshot (table_id, snapshot_id, parent, operation, committed_at_ms, schema_id, added_files,
        removed_files, files, rows, files_of_unknown_rows, bytes, summary)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

impl ReadTransaction<'_> {
    /// A snapshot by its id; `None` if it was never made or is expired, and for [`SnapshotId::EMPTY`], which has no row.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn get_snapshot(&self, table_id: TableId, snapshot_id: SnapshotId) -> Result<Option<SnapshotRow>> {
        self.query_first(SELECT_SNAPSHOT, params![table_id, snapshot_id], snapshot_row)
    }

    /// A snapshot by its id.
    ///
    /// # Errors
    /// [`Error::SnapshotNotFound`], also for [`SnapshotId::EMPTY`], which has no row; [`Error::Sqlite`],
    /// [`Error::DamagedRow`].
    pub fn load_snapshot(&self, table_id: TableId, snapshot_id: SnapshotId) -> Result<SnapshotRow> {
        self.get_snapshot(table_id, snapshot_id)?.ok_or(Error::SnapshotNotFound { table_id, snapshot_id })
    }

    /// That there is a snapshot of this id; [`SnapshotId::EMPTY`] always is.
    pub(crate) fn check_snapshot(&self, table_id: TableId, snapshot_id: SnapshotId) -> Result<()> {
        if snapshot_id == SnapshotId::EMPTY { Ok(()) } else { self.load_snapshot(table_id, snapshot_id).map(drop) }
    }

    /// The newest snapshot that was committed at or before a time in milliseconds since 1970-01-01T00:00Z; `None` if the
    /// table was empty then. Ids count up without gaps, so where the next one after it is missing, what the table held then
    /// may be that one's content, and is not known any more.
    ///
    /// # Errors
    /// [`Error::SnapshotAtExpired`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn get_snapshot_at(&self, table_id: TableId, time_ms: i64) -> Result<Option<SnapshotRow>> {
        let found = self.query_first(SELECT_SNAPSHOT_AT, params![table_id, time_ms], snapshot_row)?;
        let found_id = found.as_ref().map_or(SnapshotId::EMPTY, |snapshot| snapshot.snapshot_id);
        let next: Option<SnapshotId> =
            self.query_first(SELECT_NEXT_SNAPSHOT, params![table_id, found_id], |row| Ok(row.get(0)?))?;
        match next {
            Some(next) if next.0 != found_id.0 + 1 => Err(Error::SnapshotAtExpired { table_id, time_ms }),
            _ => Ok(found),
        }
    }

    /// How many files the snapshots after `from` up to `to` removed; `None` if one of them is expired, so that it cannot be
    /// told.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn count_removed(&self, table_id: TableId, from: SnapshotId, to: SnapshotId) -> Result<Option<u64>> {
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Unsigned>(1)?.0));
        let counted = self.query_first(COUNT_REMOVED, params![table_id, from, to], read)?;
        Ok(counted.and_then(|(snapshots, files)| (snapshots == to.0 - from.0).then_some(files)))
    }

    /// Up to `limit` snapshots, newest first, from the first one older than `before` (`None`: from the newest).
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_snapshots(
        &self,
        table_id: TableId,
        before: Option<SnapshotId>,
        limit: u32,
    ) -> Result<Vec<SnapshotRow>> {
        let before = before.unwrap_or(SnapshotId(i64::MAX));
        self.query_all(LIST_SNAPSHOTS, params![table_id, before, limit], snapshot_row)
    }
}

impl WriteTransaction<'_> {
    pub(crate) fn insert_snapshot(&self, table_id: TableId, snapshot: &SnapshotRow) -> Result<()> {
        let values = params![
            table_id,
            snapshot.snapshot_id,
            snapshot.parent,
            snapshot.operation.name(),
            snapshot.committed_at_ms,
            snapshot.schema_id,
            Unsigned(snapshot.added_files),
            Unsigned(snapshot.removed_files),
            Unsigned(snapshot.totals.files),
            Unsigned(snapshot.totals.rows),
            Unsigned(snapshot.totals.files_of_unknown_rows),
            Unsigned(snapshot.totals.bytes),
            json::write(&snapshot.summary)?,
        ];
        self.execute(INSERT_SNAPSHOT, values)?;
        Ok(())
    }
}

pub(crate) fn snapshot_row(row: &Row<'_>) -> Result<SnapshotRow> {
    let snapshot_id: SnapshotId = row.get(0)?;
    let operation: String = row.get(2)?;
    let summary: String = row.get(11)?;
    Ok(SnapshotRow {
        snapshot_id,
        parent: row.get(1)?,
        operation: operation.parse().map_err(Error::damaged_row("operation of a snapshot", snapshot_id.0))?,
        committed_at_ms: row.get(3)?,
        schema_id: row.get(4)?,
        added_files: row.get::<_, Unsigned>(5)?.0,
        removed_files: row.get::<_, Unsigned>(6)?.0,
        totals: Totals {
            files: row.get::<_, Unsigned>(7)?.0,
            rows: row.get::<_, Unsigned>(8)?.0,
            files_of_unknown_rows: row.get::<_, Unsigned>(9)?.0,
            bytes: row.get::<_, Unsigned>(10)?.0,
        },
        summary: json::read(&summary, "summary of a snapshot", snapshot_id.0)?,
    })
}
