//! Forgetting: the rows of files that no retained snapshot names are deleted.
//!
//! A file is needed while some retained snapshot lies from the one that added it up to before the one that removed it. So
//! those that are not needed were added and removed inside one gap between the retained ones. An entry of a manifest is
//! marked as forgotten when its row goes; a manifest goes when the last of its entries is.

use std::collections::{BTreeSet, HashSet};

use rusqlite::{Row, params};

use crate::data_file::path_hash;
use crate::expire::{Bounded, Gap};
use crate::install::{CHANGE_LAYOUT, DELETE_MANIFEST};
use crate::manifest::Removal;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{FileId, ManifestId, Result, TableId};

/// How many gaps one call of [`WriteTransaction::forget_files`] looks into at most. Each takes a walk over all manifests of the
/// table, and commits wait meanwhile.
pub const MAX_GAPS_PER_STEP: usize = 16;

/// A file that no retained snapshot names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnneededFile {
    /// Its path.
    pub path: String,
    manifest_id: Option<ManifestId>,
    removal: Removal,
}

impl UnneededFile {
    /// Its id.
    pub fn file_id(&self) -> FileId {
        self.removal.file_id
    }
}

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// How many files.
    pub files: u64,
    /// The paths that no file of any table has any more, ascending. A later commit may name them again.
    pub removable: Vec<String>,
    /// How many of the gaps, from the first on, hold nothing to forget any more: the next call goes on after them.
    pub done_gaps: usize,
    /// Whether the gap after them is known to hold more.
    pub more: bool,
}

// CROSS JOIN is SQLite's word for joining in the order that is written.
const LIST_UNNEEDED_OF_MANIFESTS: &str = "
    SELECT f.path, f.manifest_id, f.file_id, f.removed_snapshot
    FROM manifest m INDEXED BY manifest_by_table CROSS JOIN data_file f INDEXED BY data_file_removed
    WHERE m.table_id = ?1 AND m.removed_files > 0 AND m.first_added_snapshot <= ?3 AND m.last_added_snapshot >= ?2
        AND f.manifest_id = m.manifest_id AND f.removed_snapshot > ?2 AND f.removed_snapshot <= ?3 + 1
        AND f.added_snapshot >= ?2
    ORDER BY m.manifest_id, f.removed_snapshot, f.file_id
    LIMIT ?4";

const LIST_UNNEEDED_OF_TAIL: &str = "
    SELECT path, manifest_id, file_id, removed_snapshot
    FROM data_file INDEXED BY data_file_tail_removed
    WHERE table_id = ?1 AND manifest_id IS NULL AND removed_snapshot > ?2 AND removed_snapshot <= ?3 + 1
        AND added_snapshot >= ?2
    ORDER BY removed_snapshot, file_id
    LIMIT ?4";

const LIST_BY_PATH: &str = "
    SELECT file_id
    FROM data_file INDEXED BY data_file_by_path
    WHERE path_hash = ?1 AND path = ?2";

const DELETE_FILE: &str = "
    DELETE FROM data_file
    WHERE file_id = ?1";

impl ReadTransaction<'_> {
    /// Up to `limit` files that lie wholly in the gaps, in the order in which they are forgotten.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_unneeded_files(&self, table_id: TableId, gaps: &[Gap], limit: u32) -> Result<Bounded<UnneededFile>> {
        let (files, _) = self.list_in_gaps(table_id, gaps, limit)?;
        Ok(Bounded::cut(files, limit))
    }

    /// Up to one file more than `limit`, and how many gaps, from the first on, hold no file beyond these.
    fn list_in_gaps(&self, table_id: TableId, gaps: &[Gap], limit: u32) -> Result<(Vec<UnneededFile>, usize)> {
        let (mut files, mut done_gaps) = (Vec::new(), 0);
        let read_max = i64::from(limit) + 1;
        for gap in gaps {
            for sql in [LIST_UNNEEDED_OF_MANIFESTS, LIST_UNNEEDED_OF_TAIL] {
                let rest = read_max.saturating_sub_unsigned(files.len() as u64);
                files.extend(self.query_all(sql, params![table_id, gap.first, gap.last, rest], unneeded_file)?);
            }
            if files.len() as u64 > u64::from(limit) {
                break;
            }
            done_gaps += 1;
        }
        Ok((files, done_gaps))
    }

    /// The paths of these files that no other file has, in whichever table; ascending, each once.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn list_removable_paths(&self, files: &[UnneededFile]) -> Result<Vec<String>> {
        let going: HashSet<FileId> = files.iter().map(|file| file.removal.file_id).collect();
        let paths: BTreeSet<&String> = files.iter().map(|file| &file.path).collect();
        let mut removable = Vec::with_capacity(paths.len());
        for path in paths {
            if self.files_of_path(path)?.iter().all(|file_id| going.contains(file_id)) {
                removable.push(path.clone());
            }
        }
        Ok(removable)
    }

    /// Whether a file of any table other than these has this path, whatever snapshots name it.
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn is_named(&self, path: &str, except: &BTreeSet<FileId>) -> Result<bool> {
        Ok(self.files_of_path(path)?.iter().any(|file_id| !except.contains(file_id)))
    }

    fn files_of_path(&self, path: &str) -> Result<Vec<FileId>> {
        self.query_all(LIST_BY_PATH, params![path_hash(path), path], |row| Ok(row.get(0)?))
    }
}

impl WriteTransaction<'_> {
    /// Deletes the rows of up to `limit` files that lie wholly in the gaps, which are those between the retained snapshots. Of
    /// these it looks into the first [`MAX_GAPS_PER_STEP`].
    ///
    /// # Errors
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn forget_files(&self, table_id: TableId, gaps: &[Gap], limit: u32) -> Result<Forgotten> {
        let gaps = gaps.get(..MAX_GAPS_PER_STEP).unwrap_or(gaps);
        let (files, done_gaps) = self.list_in_gaps(table_id, gaps, limit)?;
        let Bounded { items, more } = Bounded::cut(files, limit);
        let removable = self.list_removable_paths(&items)?;
        let mut touched = BTreeSet::new();
        let mut tail_files = 0_i64;
        for file in &items {
            self.execute(DELETE_FILE, [file.removal.file_id])?;
            if let Some(manifest_id) = file.manifest_id {
                self.insert_forgotten(manifest_id, file.removal)?;
                touched.insert(manifest_id);
            } else {
                tail_files += 1;
            }
        }
        if !touched.is_empty() {
            self.note_hollow(table_id);
        }
        let manifests = self.delete_forgotten(touched)?;
        if tail_files > 0 || manifests > 0 {
            self.execute(CHANGE_LAYOUT, params![table_id, tail_files])?;
        }
        Ok(Forgotten { files: items.len() as u64, removable, done_gaps, more })
    }

    /// Deletes those of the manifests that have no entry left; says how many.
    fn delete_forgotten(&self, touched: BTreeSet<ManifestId>) -> Result<u64> {
        let mut deleted = 0;
        for manifest_id in touched {
            if self.is_forgotten(manifest_id)? {
                self.execute(DELETE_MANIFEST, [manifest_id])?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }
}

fn unneeded_file(row: &Row<'_>) -> Result<UnneededFile> {
    Ok(UnneededFile {
        path: row.get(0)?,
        manifest_id: row.get(1)?,
        removal: Removal { file_id: row.get(2)?, removed_snapshot: row.get(3)? },
    })
}
