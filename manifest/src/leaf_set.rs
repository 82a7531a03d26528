//! The names and ids that data files give their own leaves. Most files of a table share one set, so each stands once.

use std::collections::HashMap;
use std::sync::Arc;

use prunus_statistics::{FieldId, PrimitiveType};
use rusqlite::params;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, Result, TableId, checked};

/// A leaf of a data file's own schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileLeaf {
    /// Its names in the file, from the top down.
    pub path: Vec<String>,
    /// The field id that the file gives it, if it gives one.
    pub field_id: Option<i32>,
    /// The column of the table that it was taken for when the file was registered; `None` if for none. Sets from before tables
    /// could change their columns do not say: then none of their leaves has one.
    #[serde(default)]
    pub column: Option<FieldId>,
    /// The type that it has in the file; `None` where the file was not read, where the type has no name, and in sets from before
    /// this was noted.
    #[serde(default, with = "type_name")]
    pub file_type: Option<PrimitiveType>,
    /// The field ids that the file gives the groups around it, from the top down; empty if it gives none, where it was not read, and
    /// in sets from before this was noted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group_ids: Vec<Option<i32>>,
}

/// A type as its name. One that has a name which is not known here is as good as one that has none.
mod type_name {
    use prunus_statistics::PrimitiveType;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(of: &Option<PrimitiveType>, serializer: S) -> Result<S::Ok, S::Error> {
        of.map(|of| of.to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PrimitiveType>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        Ok(name.and_then(|name| name.parse().ok()))
    }
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

const LIST_LEAF_SETS: &str = "
    SELECT leaf_set_id, leaves
    FROM leaf_set INDEXED BY leaf_set_by_hash
    WHERE table_id = ?1";

const INSERT_LEAF_SET: &str = "
    INSERT INTO leaf_set (table_id, hash, leaves)
    VALUES (?1, ?2, ?3)";

/// How many bytes of sets the writer knows at most; beyond them it starts anew.
const MAX_KNOWN_BYTES: usize = 4 << 20;

/// The sets that the writer has stored or found, kept from commit to commit: nearly every file of a table has one of a few.
///
/// A set that was stored by a job that is rolled back is gone, and its id is given to another one, so whatever is rolled
/// back must be followed by [`KnownLeafSets::forget`].
#[derive(Default)]
pub(crate) struct KnownLeafSets {
    by_table: HashMap<TableId, HashMap<Box<[FileLeaf]>, i64>>,
    size_bytes: usize,
}

impl KnownLeafSets {
    /// Knows nothing any more.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    fn get(&self, table_id: TableId, leaves: &[FileLeaf]) -> Option<i64> {
        self.by_table.get(&table_id)?.get(leaves).copied()
    }

    fn insert(&mut self, table_id: TableId, leaves: &[FileLeaf], id: i64) {
        let below = |leaf: &FileLeaf| {
            let names: usize = leaf.path.iter().map(|name| size_of_val(name) + name.len()).sum();
            names + size_of_val(leaf.group_ids.as_slice())
        };
        let size_bytes = size_of_val(leaves) + leaves.iter().map(below).sum::<usize>();
        if self.size_bytes + size_bytes > MAX_KNOWN_BYTES {
            self.forget();
        }
        self.size_bytes += size_bytes;
        self.by_table.entry(table_id).or_default().insert(leaves.into(), id);
    }
}

impl ReadTransaction<'_> {
    /// The different sets of leaves that files of a table have or had, in no order.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_leaf_sets(&self, table_id: TableId) -> Result<Vec<Vec<FileLeaf>>> {
        self.query_all(LIST_LEAF_SETS, [table_id], |row| {
            decode(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?, row.get(0)?)
        })
    }
}

impl WriteTransaction<'_> {
    /// The id of a set of leaves in a table, which is stored if it is new.
    pub(crate) fn ensure_leaf_set(&self, table_id: TableId, leaves: &[FileLeaf]) -> Result<i64> {
        if let Some(id) = self.leaf_sets().borrow().get(table_id, leaves) {
            return Ok(id);
        }
        let bytes = checked::pack(leaves).map_err(Error::encode)?;
        let hash = xxh3_64(&bytes).cast_signed();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
        let stored = self.query_all(SELECT_BY_HASH, params![table_id, hash], read)?;
        let id = match stored.into_iter().find(|(_, stored)| *stored == bytes) {
            Some((id, _)) => id,
            None => self.insert(INSERT_LEAF_SET, params![table_id, hash, bytes])?,
        };
        self.leaf_sets().borrow_mut().insert(table_id, leaves, id);
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

#[cfg(test)]
mod tests {
    use prunus_statistics::TimeUnit;

    use super::*;

    fn leaf(name: &str) -> FileLeaf {
        let path = vec![name.to_owned()];
        FileLeaf { path, field_id: Some(7), column: None, file_type: None, group_ids: Vec::new() }
    }

    #[test]
    fn a_set_from_before_columns_were_noted_reads() {
        let bytes = checked::pack(&[(vec!["a".to_owned()], Some(7))]).unwrap();
        assert_eq!(decode(&bytes, 1).unwrap(), [leaf("a")]);
    }

    #[test]
    fn a_type_is_stored_by_its_name() {
        let file_type = Some(PrimitiveType::Timestamp(TimeUnit::Nanosecond));
        let leaf = FileLeaf { file_type, group_ids: vec![Some(3), None], ..leaf("a") };
        let bytes = checked::pack(&[&leaf]).unwrap();
        assert_eq!(decode(&bytes, 1).unwrap(), [leaf]);
        let of_type = |name: &str| checked::pack(&[(vec!["a"], 7, None::<i32>, Some(name))]).unwrap();
        assert_eq!(decode(&of_type("int8"), 1).unwrap()[0].file_type, Some(PrimitiveType::Int8));
        assert_eq!(decode(&of_type("a type of a later version"), 1).unwrap()[0].file_type, None);
    }

    #[test]
    fn sets_are_known_by_table() {
        let mut known = KnownLeafSets::default();
        known.insert(TableId(1), &[leaf("a")], 10);
        assert_eq!(known.get(TableId(1), &[leaf("a")]), Some(10));
        assert_eq!(known.get(TableId(2), &[leaf("a")]), None);
    }

    #[test]
    fn sets_are_known_up_to_the_limit() {
        let mut known = KnownLeafSets::default();
        let small = size_of::<FileLeaf>() + size_of::<String>() + 1;
        let large = leaf(&"x".repeat(MAX_KNOWN_BYTES - 2 * small + 1));
        known.insert(TableId(1), std::slice::from_ref(&large), 10);
        known.insert(TableId(1), &[leaf("b")], 11);
        assert_eq!(known.get(TableId(1), &[large]), Some(10));
        known.insert(TableId(1), &[leaf("c")], 12);
        assert_eq!(known.get(TableId(1), &[leaf("b")]), None);
        assert_eq!(known.get(TableId(1), &[leaf("c")]), Some(12));
    }
}
