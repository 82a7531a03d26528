//! Tags: names that people give to snapshots. A snapshot that has one is never expired.

use rusqlite::{Row, params};

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, Result, SnapshotId, TableId};

/// The most tags that a table has.
pub const MAX_TAGS_PER_TABLE: u32 = 10_000;

/// A tag as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRow {
    /// Its name, unique in its table.
    pub name: String,
    /// The snapshot that it names.
    pub snapshot_id: SnapshotId,
    /// When it was given to this snapshot, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
}

/// What became of a tag that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagChange {
    /// There was none of this name.
    Created,
    /// It names this snapshot now, and another one before.
    Moved {
        /// Which one.
        from: SnapshotId,
    },
    /// It named this snapshot already, and stays as it was.
    Unchanged,
}

const SELECT_TAG: &str = "
    SELECT name, snapshot_id, created_at_ms
    FROM tag
    WHERE table_id = ?1 AND name = ?2";

const LIST_TAGS: &str = "
    SELECT name, snapshot_id, created_at_ms
    FROM tag
    WHERE table_id = ?1 AND name > ?2
    ORDER BY name
    LIMIT ?3";

const LIST_TAGS_OF_SNAPSHOT: &str = "
    SELECT name
    FROM tag INDEXED BY tag_by_snapshot
    WHERE table_id = ?1 AND snapshot_id = ?2
    ORDER BY name";

const COUNT_TAGS: &str = "
    SELECT count(*)
    FROM tag
    WHERE table_id = ?1";

const SET_TAG: &str = "
    INSERT INTO tag (table_id, name, snapshot_id, created_at_ms)
    VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (table_id, name) DO UPDATE SET snapshot_id = excluded.snapshot_id, created_at_ms = excluded.created_at_ms";

const DELETE_TAG: &str = "
    DELETE FROM tag
    WHERE table_id = ?1 AND name = ?2";

impl ReadTransaction<'_> {
    /// The tag of this name.
    ///
    /// # Errors
    /// [`Error::TagNotFound`], [`Error::Sqlite`].
    pub fn load_tag(&self, table_id: TableId, name: &str) -> Result<TagRow> {
        self.get_tag(table_id, name)?.ok_or_else(|| Error::TagNotFound { table_id, name: name.to_owned() })
    }

    /// Up to `limit` tags of a table in the order of their names, from the first one after `after` (`""`: from the first).
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn list_tags(&self, table_id: TableId, after: &str, limit: u32) -> Result<Vec<TagRow>> {
        self.query_all(LIST_TAGS, params![table_id, after, limit], tag_row)
    }

    /// The names of the tags of one snapshot, in their order.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn list_tags_of_snapshot(&self, table_id: TableId, snapshot_id: SnapshotId) -> Result<Vec<String>> {
        self.query_all(LIST_TAGS_OF_SNAPSHOT, params![table_id, snapshot_id], |row| Ok(row.get(0)?))
    }

    fn get_tag(&self, table_id: TableId, name: &str) -> Result<Option<TagRow>> {
        self.query_first(SELECT_TAG, params![table_id, name], tag_row)
    }
}

impl WriteTransaction<'_> {
    /// Gives a tag to a snapshot, and takes it from the one that had it. `now_ms` is in milliseconds since
    /// 1970-01-01T00:00Z.
    ///
    /// # Errors
    /// [`Error::SnapshotNotFound`], also for [`SnapshotId::EMPTY`], which needs no protection; [`Error::TooManyTags`],
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn set_tag(
        &self,
        table_id: TableId,
        name: &str,
        snapshot_id: SnapshotId,
        now_ms: i64,
    ) -> Result<(TagRow, TagChange)> {
        self.load_snapshot(table_id, snapshot_id)?;
        let change = match self.get_tag(table_id, name)? {
            Some(tag) if tag.snapshot_id == snapshot_id => return Ok((tag, TagChange::Unchanged)),
            Some(tag) => TagChange::Moved { from: tag.snapshot_id },
            None => TagChange::Created,
        };
        if change == TagChange::Created && self.count_tags(table_id)? >= MAX_TAGS_PER_TABLE {
            return Err(Error::TooManyTags(table_id));
        }
        self.execute(SET_TAG, params![table_id, name, snapshot_id, now_ms])?;
        Ok((TagRow { name: name.to_owned(), snapshot_id, created_at_ms: now_ms }, change))
    }

    /// Takes a tag away. Its snapshot may be expired from then on.
    ///
    /// # Errors
    /// [`Error::TagNotFound`], [`Error::Sqlite`].
    pub fn delete_tag(&self, table_id: TableId, name: &str) -> Result<()> {
        match self.execute(DELETE_TAG, params![table_id, name])? {
            0 => Err(Error::TagNotFound { table_id, name: name.to_owned() }),
            _ => Ok(()),
        }
    }

    fn count_tags(&self, table_id: TableId) -> Result<u32> {
        Ok(self.query_first(COUNT_TAGS, [table_id], |row| Ok(row.get(0)?))?.unwrap_or(0))
    }
}

fn tag_row(row: &Row<'_>) -> Result<TagRow> {
    Ok(TagRow { name: row.get(0)?, snapshot_id: row.get(1)?, created_at_ms: row.get(2)? })
}
