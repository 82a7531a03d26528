//! The names and ids that data files give their own leaves. Most files of a table share one set, so each stands once.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::params;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, Result, TableId, checked};

/// A leaf of a data file's own schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLeaf {
    /// Its names in the file, from the top down.
    pub path: Vec<String>,
    /// The field id that the file gives it, if it gives one.
    pub field_id: Option<i32>,
}

/// What a set is called where it is damaged.
pub(crate) const LEAVES: &str = "leaves of data files";

const SELECT_BY_HASH: &str = "
    SELECT leaf_set_id, leaves
    FROM leaf_set INDEXED BY leaf_set_by_hash
    WHERE table_id = ?1 AND hash = ?2";

const SELECT_BY_ID: &str = "
    SELECT leaves
    FROM leaf_set
    WHERE leaf_set_id = ?1";

const INSERT_LEAF_SET: &str = "
    INSERT INTO leaf_set (table_id, hash, leaves)
    VALUES (?1, ?2, ?3)";

/// The sets of one table that a commit has stored or found.
pub(crate) struct LeafSetWriter<'t, 'c> {
    transaction: &'t WriteTransaction<'c>,
    table_id: TableId,
    known: HashMap<Vec<u8>, i64>,
}

impl<'t, 'c> LeafSetWriter<'t, 'c> {
    pub(crate) fn new(transaction: &'t WriteTransaction<'c>, table_id: TableId) -> Self {
        Self { transaction, table_id, known: HashMap::new() }
    }

    /// The id of the set, which is stored if it is new.
    pub(crate) fn ensure(&mut self, leaves: &[FileLeaf]) -> Result<i64> {
        let bytes = checked::pack(leaves).map_err(Error::encode)?;
        if let Some(id) = self.known.get(&bytes) {
            return Ok(*id);
        }
        let hash = xxh3_64(&bytes).cast_signed();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let stored = self.transaction.query_all(SELECT_BY_HASH, params![self.table_id, hash], read)?;
        let id = match stored.into_iter().find(|(_, stored)| *stored == bytes) {
            Some((id, _)) => id,
            None => self.transaction.insert(INSERT_LEAF_SET, params![self.table_id, hash, bytes])?,
        };
        self.known.insert(bytes, id);
        Ok(id)
    }
}

/// The sets that a listing has read: rows of one set share it.
#[derive(Default)]
pub(crate) struct LeafSetReader {
    known: HashMap<i64, Arc<[FileLeaf]>>,
}

impl LeafSetReader {
    pub(crate) fn load(&mut self, transaction: &ReadTransaction<'_>, id: i64) -> Result<Arc<[FileLeaf]>> {
        if let Some(leaves) = self.known.get(&id) {
            return Ok(Arc::clone(leaves));
        }
        let bytes: Vec<u8> = transaction
            .query_first(SELECT_BY_ID, [id], |row| Ok(row.get(0)?))?
            .ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let leaves: Arc<[FileLeaf]> = decode(&bytes, id)?.into();
        self.known.insert(id, Arc::clone(&leaves));
        Ok(leaves)
    }
}

pub(crate) fn decode(bytes: &[u8], id: i64) -> Result<Vec<FileLeaf>> {
    checked::unpack(bytes).map_err(Error::damaged_row(LEAVES, id))
}
