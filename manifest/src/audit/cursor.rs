//! How far what works in the background has come in a table. One number says it for all files, so nothing is stored for each.

use rusqlite::params;

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{FileId, Result, SnapshotId, TableId};

/// What looks at all files of a table, in the order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CursorKind {
    /// What counts NaNs where no one has.
    NanCounts,
    /// What makes statistics exact that are loose or the writer's word.
    Loose,
}

impl CursorKind {
    const fn name(self) -> &'static str {
        match self {
            Self::NanCounts => "nan_counts",
            Self::Loose => "loose",
        }
    }
}

/// A table with files that have not been looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueForAudit {
    /// The table.
    pub table_id: TableId,
    /// Its newest snapshot.
    pub snapshot_id: SnapshotId,
    /// The file to go on from.
    pub from: FileId,
    /// The newest file that there is.
    pub last: FileId,
}

const LIST_DUE: &str = "
    SELECT t.table_id, t.current_snapshot, coalesce(c.next_file_id, 0),
        (SELECT max(f.file_id) FROM data_file f INDEXED BY data_file_by_table WHERE f.table_id = t.table_id) AS last_file_id
    FROM lake_table t LEFT JOIN audit_cursor c ON c.table_id = t.table_id AND c.kind = ?1
    WHERE last_file_id >= coalesce(c.next_file_id, 0)
    ORDER BY t.table_id";

const SELECT_CURSOR: &str = "
    SELECT next_file_id
    FROM audit_cursor
    WHERE table_id = ?1 AND kind = ?2";

const SET_CURSOR: &str = "
    INSERT INTO audit_cursor (table_id, kind, next_file_id)
    VALUES (?1, ?2, ?3)
    ON CONFLICT (table_id, kind) DO UPDATE SET next_file_id = excluded.next_file_id";

/// Below 0 it counts the resets: who began at one beginning does not advance another.
const RESET_CURSOR: &str = "
    INSERT INTO audit_cursor (table_id, kind, next_file_id)
    VALUES (?1, ?2, -1)
    ON CONFLICT (table_id, kind) DO UPDATE SET next_file_id = min(next_file_id, 1) - 1";

/// Where a cursor begins: before all files.
const FIRST: FileId = FileId(0);

impl ReadTransaction<'_> {
    /// The tables that have files which have not been looked at, by their ids.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_due_for_audit(&self, kind: CursorKind) -> Result<Vec<DueForAudit>> {
        self.query_all(LIST_DUE, [kind.name()], |row| {
            Ok(DueForAudit { table_id: row.get(0)?, snapshot_id: row.get(1)?, from: row.get(2)?, last: row.get(3)? })
        })
    }

    /// The file to go on from: all below it have been looked at. 0 or less where none has been, also of a table that is gone.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn load_audit_cursor(&self, table_id: TableId, kind: CursorKind) -> Result<FileId> {
        let stored = self.query_first(SELECT_CURSOR, params![table_id, kind.name()], |row| Ok(row.get(0)?))?;
        Ok(stored.unwrap_or(FIRST))
    }
}

impl WriteTransaction<'_> {
    /// Notes that the files from `from` up to before `to` have been looked at, if the cursor still stands at `from`; says
    /// where it stands now. So who was reset meanwhile does not undo that.
    ///
    /// # Errors
    /// [`Error::TableGone`](crate::Error::TableGone), [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn advance_audit_cursor(
        &self,
        table_id: TableId,
        kind: CursorKind,
        from: FileId,
        to: FileId,
    ) -> Result<FileId> {
        self.load_head(table_id)?;
        let current = self.load_audit_cursor(table_id, kind)?;
        if current != from {
            return Ok(current);
        }
        self.execute(SET_CURSOR, params![table_id, kind.name(), to])?;
        Ok(to)
    }

    /// Has all files of a table looked at again, and whoever looks at some of them now look again as well.
    ///
    /// # Errors
    /// [`Error::TableGone`](crate::Error::TableGone), [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn reset_audit_cursor(&self, table_id: TableId, kind: CursorKind) -> Result<()> {
        self.load_head(table_id)?;
        self.execute(RESET_CURSOR, params![table_id, kind.name()])?;
        Ok(())
    }
}
