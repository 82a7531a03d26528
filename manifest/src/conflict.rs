//! What a commit is held against before anything is written: every path at fault is found.

use std::collections::HashSet;

use rusqlite::{Row, params};

use crate::commit::{NewCommit, NewDataFile};
use crate::data_file::{DataFileRow, path_hash};
use crate::error::{Conflict, ConflictReason};
use crate::ids::Unsigned;
use crate::transaction::ReadTransaction;
use crate::{FileId, Result, SnapshotId};

/// A file that a path names, or named.
#[derive(Clone)]
pub(crate) struct KnownFile {
    pub(crate) file_id: FileId,
    pub(crate) size_bytes: u64,
    pub(crate) row_count: Option<u64>,
    etag: Option<String>,
    added_snapshot: SnapshotId,
    is_live: bool,
}

impl From<&DataFileRow> for KnownFile {
    fn from(file: &DataFileRow) -> Self {
        Self {
            file_id: file.file_id,
            size_bytes: file.size_bytes,
            row_count: file.row_count,
            etag: file.etag.clone(),
            added_snapshot: file.added_snapshot,
            is_live: file.removed_snapshot.is_none(),
        }
    }
}

const SELECT_BY_PATH: &str = "
    SELECT file_id, size_bytes, row_count, etag, added_snapshot, removed_snapshot IS NULL
    FROM data_file INDEXED BY data_file_by_path
    WHERE table_id = ?1 AND path_hash = ?2 AND path = ?3";

/// The files that the commit removes, or all that is wrong with its paths.
pub(crate) fn check_paths(
    transaction: &ReadTransaction<'_>,
    commit: &NewCommit,
) -> Result<std::result::Result<Vec<KnownFile>, Vec<Conflict>>> {
    let mut conflicts = Vec::new();
    let mut named = HashSet::with_capacity(commit.add.len() + commit.remove.len());
    let mut refuse = |path: &str, reason| conflicts.push(Conflict { path: path.to_owned(), reason });
    for file in &commit.add {
        let known = known_files(transaction, commit, &file.path)?;
        if !named.insert(file.path.as_str()) {
            refuse(&file.path, ConflictReason::NamedTwice);
        } else if let Some(reason) = fault_of_added(file, &known) {
            refuse(&file.path, reason);
        }
    }
    let mut removed = Vec::with_capacity(commit.remove.len());
    for path in &commit.remove {
        let live = known_files(transaction, commit, path)?.into_iter().find(|known| known.is_live);
        let base = commit.base_snapshot;
        match live {
            _ if !named.insert(path) => refuse(path, ConflictReason::NamedTwice),
            None => refuse(path, ConflictReason::NotLive),
            Some(live) if base.is_some_and(|base| live.added_snapshot > base) => {
                refuse(path, ConflictReason::NotLiveAtBase);
            }
            Some(live) => removed.push(live),
        }
    }
    Ok(if conflicts.is_empty() { Ok(removed) } else { Err(conflicts) })
}

/// A path may come back, but never with another content: a snapshot that names it would read the wrong rows.
fn fault_of_added(file: &NewDataFile, known: &[KnownFile]) -> Option<ConflictReason> {
    let is_same = |known: &KnownFile| known.size_bytes == file.size_bytes && known.etag == file.etag;
    if known.iter().any(|known| known.is_live) {
        Some(ConflictReason::AlreadyLive)
    } else if !known.iter().all(is_same) {
        Some(ConflictReason::ObjectChanged)
    } else {
        None
    }
}

fn known_files(transaction: &ReadTransaction<'_>, commit: &NewCommit, path: &str) -> Result<Vec<KnownFile>> {
    transaction.query_all(SELECT_BY_PATH, params![commit.table_id, path_hash(path), path], known_file)
}

fn known_file(row: &Row<'_>) -> Result<KnownFile> {
    Ok(KnownFile {
        file_id: row.get(0)?,
        size_bytes: row.get::<_, Unsigned>(1)?.0,
        row_count: row.get::<_, Option<Unsigned>>(2)?.map(|rows| rows.0),
        etag: row.get(3)?,
        added_snapshot: row.get(4)?,
        is_live: row.get(5)?,
    })
}
