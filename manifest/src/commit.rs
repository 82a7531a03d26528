//! Commits: files in, files out, one snapshot more.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rusqlite::{Row, params};

use crate::conflict::{self, KnownFile};
use crate::data_file::{self, FixedPart, Partition};
use crate::ids::Unsigned;
use crate::leaf_set::FileLeaf;
use crate::snapshot::{Operation, SnapshotRow};
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{EncodedStatistics, Error, ManifestId, Result, SchemaId, SnapshotId, TableId, Totals};

/// A data file to be added.
#[derive(Clone, Debug)]
pub struct NewDataFile {
    /// Its path, normalised: two spellings would be two files.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// How many rows it has; `None` is unknown.
    pub row_count: Option<u64>,
    /// What the object store calls this content; `None` is unknown.
    pub etag: Option<String>,
    /// When the object was written, in milliseconds since 1970-01-01T00:00Z; `None` is unknown.
    pub last_modified_ms: Option<i64>,
    /// The leaves of its own schema; none where the file was not read.
    pub leaves: Vec<FileLeaf>,
    /// The values that it has in every row.
    pub partition: Partition,
    /// What is known of its columns. A column that the file is known not to hold and that has a default stands here as that
    /// constant; the store knows no defaults and takes an absent column as null.
    pub statistics: EncodedStatistics,
}

/// A change of a table.
#[derive(Clone, Debug)]
pub struct NewCommit {
    /// The table.
    pub table_id: TableId,
    /// The snapshot that the change was worked out from: what is removed must have been live in it.
    pub base_snapshot: Option<SnapshotId>,
    /// The schema that the statistics were made for; it must be the current one.
    pub schema_id: SchemaId,
    /// What the change means. The store holds a replace to keeping its rows and leaves the rest to the caller.
    pub operation: Operation,
    /// The files to be added.
    pub add: Vec<NewDataFile>,
    /// The paths of the files to be removed.
    pub remove: Vec<String>,
    /// What the writer notes.
    pub summary: BTreeMap<String, String>,
    /// Now, in milliseconds since 1970-01-01T00:00Z. A clock that went back gives the snapshot its parent's time.
    pub committed_at_ms: i64,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The new snapshot.
    pub snapshot_id: SnapshotId,
    /// Its time, in milliseconds since 1970-01-01T00:00Z.
    pub committed_at_ms: i64,
    /// How many files were added.
    pub added_files: u64,
    /// How many files were removed.
    pub removed_files: u64,
    /// What is live in the table now.
    pub totals: Totals,
    /// How many entries the tail has now, removed ones counted.
    pub tail_files: u64,
}

/// A commit that nothing stands in the way of, in the transaction that it was checked in. Where several are to be recorded
/// together, check all of them first: so one that is refused has left nothing to be undone. They must be of one table each.
#[must_use = "nothing is written before it is recorded"]
pub struct CheckedCommit<'t> {
    tx: &'t WriteTransaction<'t>,
    commit: &'t NewCommit,
    removed: Cow<'t, [KnownFile]>,
    snapshot: SnapshotRow,
    /// How many entries the tail will have.
    tail_files: u64,
}

/// What a commit needs to know of its table.
pub(crate) struct Head {
    pub(crate) current_snapshot: SnapshotId,
    pub(crate) schema_id: SchemaId,
    tail_files: u64,
    /// When the current snapshot was committed; the empty table was at no time.
    committed_at_ms: Option<i64>,
    /// What is live in the current snapshot.
    totals: Totals,
}

// Together with the current snapshot, which the empty table does not have: commits are few statements.
const SELECT_HEAD: &str = "
    SELECT t.current_snapshot, t.schema_id, t.tail_files, s.committed_at_ms, s.files, s.rows, s.files_of_unknown_rows,
        s.bytes
    FROM lake_table t
        LEFT JOIN snapshot s ON s.table_id = t.table_id AND s.snapshot_id = t.current_snapshot
    WHERE t.table_id = ?1";

const UPDATE_HEAD: &str = "
    UPDATE lake_table
    SET current_snapshot = ?2, tail_files = ?3
    WHERE table_id = ?1";

const INSERT_FILE: &str = "
    INSERT INTO data_file (table_id, path, path_hash, size_bytes, row_count, etag, last_modified_ms, leaf_set_id,
        partition, added_snapshot, checksum)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

const INSERT_STATISTICS: &str = "
    INSERT INTO tail_statistics (file_id, statistics)
    VALUES (?1, ?2)";

const REMOVE_FILE: &str = "
    UPDATE data_file
    SET removed_snapshot = ?2
    WHERE file_id = ?1
    RETURNING manifest_id";

const COUNT_REMOVALS: &str = "
    UPDATE manifest
    SET removed_files = removed_files + ?2, removed_rows = removed_rows + ?3,
        removed_files_of_unknown_rows = removed_files_of_unknown_rows + ?4, removed_bytes = removed_bytes + ?5
    WHERE manifest_id = ?1";

impl WriteTransaction<'_> {
    /// Adds and removes files, as one snapshot.
    ///
    /// # Errors
    /// As [`WriteTransaction::check_commit`] and [`CheckedCommit::record`].
    pub fn commit(&self, commit: &NewCommit) -> Result<Committed> {
        self.check_commit(commit, None)?.record()
    }

    /// Holds a commit against its table; writes nothing. `checked_up_to` is the snapshot up to which its writer has held it
    /// against all others, if that matters: what came after it, nobody has looked at.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::HeadMoved`] if the table has a newer snapshot than `checked_up_to`;
    /// [`Error::SchemaMoved`]; [`Error::SnapshotNotFound`] if the base is none of the table's; [`Error::Conflict`] with every
    /// path at fault; [`Error::RowSumsDiffer`] for a replace; [`Error::TotalsOverflow`]; [`Error::Sqlite`].
    pub fn check_commit<'t>(
        &'t self,
        commit: &'t NewCommit,
        checked_up_to: Option<SnapshotId>,
    ) -> Result<CheckedCommit<'t>> {
        let head = self.load_head(commit.table_id)?;
        if let Some(checked_up_to) = checked_up_to {
            head.check_unmoved(checked_up_to)?;
        }
        self.check_head(commit, &head)?;
        let removed = conflict::check_paths(self, commit)?
            .map_err(|conflicts| Error::Conflict { current_snapshot: head.current_snapshot, conflicts })?;
        if commit.operation == Operation::Replace {
            check_row_sums(commit, &removed)?;
        }
        CheckedCommit::new(self, commit, removed.into(), &head)
    }

    pub(crate) fn check_head(&self, commit: &NewCommit, head: &Head) -> Result<()> {
        if head.schema_id != commit.schema_id {
            return Err(Error::SchemaMoved { expected: commit.schema_id, current: head.schema_id });
        }
        match commit.base_snapshot {
            Some(base) if base != head.current_snapshot && base != SnapshotId::EMPTY => {
                self.load_snapshot(commit.table_id, base).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn insert_files(&self, commit: &NewCommit, snapshot_id: SnapshotId) -> Result<()> {
        let mut last: Option<(&[FileLeaf], i64)> = None;
        for file in &commit.add {
            // A commit's files have the same leaves as a rule.
            let leaf_set_id = match last {
                Some((leaves, id)) if leaves == file.leaves => id,
                _ => self.ensure_leaf_set(commit.table_id, &file.leaves)?,
            };
            last = Some((&file.leaves, leaf_set_id));
            let partition = data_file::encode_partition(&file.partition)?;
            let fixed = FixedPart {
                path: &file.path,
                size_bytes: file.size_bytes,
                row_count: file.row_count,
                etag: file.etag.as_deref(),
                last_modified_ms: file.last_modified_ms,
                leaf_set_id,
                partition: &partition,
                added_snapshot: snapshot_id,
            };
            let values = params![
                commit.table_id,
                file.path,
                data_file::path_hash(&file.path),
                Unsigned(file.size_bytes),
                file.row_count.map(Unsigned),
                file.etag,
                file.last_modified_ms,
                leaf_set_id,
                partition,
                snapshot_id,
                fixed.checksum(),
            ];
            let file_id = self.insert(INSERT_FILE, values)?;
            self.execute(INSERT_STATISTICS, params![file_id, file.statistics.bytes()])?;
        }
        Ok(())
    }

    fn remove_files(&self, table_id: TableId, removed: &[KnownFile], snapshot_id: SnapshotId) -> Result<()> {
        let mut by_manifest: BTreeMap<ManifestId, Totals> = BTreeMap::new();
        for file in removed {
            // Its row says where the file is now: it may have moved since it was looked at.
            let manifest_id: Option<Option<ManifestId>> =
                self.query_first(REMOVE_FILE, params![file.file_id, snapshot_id], |row| Ok(row.get(0)?))?;
            if let Some(manifest_id) = manifest_id.ok_or(Error::FileNotFound(file.file_id))? {
                let totals = by_manifest.entry(manifest_id).or_default();
                *totals = totals.with(file.size_bytes, file.row_count).ok_or(Error::TotalsOverflow(table_id))?;
            }
        }
        by_manifest.into_iter().try_for_each(|(manifest_id, removed)| count_removals(self, manifest_id, removed))
    }
}

impl<'t> CheckedCommit<'t> {
    /// A commit whose removed files are live, and whose added ones may be added, in this head.
    pub(crate) fn new(
        tx: &'t WriteTransaction<'t>,
        commit: &'t NewCommit,
        removed: Cow<'t, [KnownFile]>,
        head: &Head,
    ) -> Result<Self> {
        let snapshot = next_snapshot(commit, &removed, head)?;
        let tail_files = head.tail_files + snapshot.added_files;
        Ok(Self { tx, commit, removed, snapshot, tail_files })
    }

    /// Writes the commit: its snapshot, its files, the table's new head.
    ///
    /// # Errors
    /// [`Error::TotalsOverflow`], [`Error::FileNotFound`], [`Error::Sqlite`].
    pub fn record(self) -> Result<Committed> {
        let Self { tx, commit, removed, snapshot, tail_files } = self;
        let table_id = commit.table_id;
        tx.insert_snapshot(table_id, &snapshot)?;
        tx.insert_files(commit, snapshot.snapshot_id)?;
        tx.remove_files(table_id, &removed, snapshot.snapshot_id)?;
        tx.execute(UPDATE_HEAD, params![table_id, snapshot.snapshot_id, Unsigned(tail_files)])?;
        tx.note_tail(table_id, tail_files);
        Ok(Committed {
            snapshot_id: snapshot.snapshot_id,
            committed_at_ms: snapshot.committed_at_ms,
            added_files: snapshot.added_files,
            removed_files: snapshot.removed_files,
            totals: snapshot.totals,
            tail_files,
        })
    }
}

impl Head {
    /// That the table's newest snapshot is the one up to which a change was looked at.
    pub(crate) fn check_unmoved(&self, checked_up_to: SnapshotId) -> Result<()> {
        if self.current_snapshot == checked_up_to {
            return Ok(());
        }
        Err(Error::HeadMoved { checked_up_to, current: self.current_snapshot })
    }
}

/// Notes that these of a manifest's files are not live any more.
pub(crate) fn count_removals(tx: &WriteTransaction<'_>, manifest_id: ManifestId, removed: Totals) -> Result<()> {
    let values = params![
        manifest_id,
        Unsigned(removed.files),
        Unsigned(removed.rows),
        Unsigned(removed.files_of_unknown_rows),
        Unsigned(removed.bytes),
    ];
    tx.execute(COUNT_REMOVALS, values)?;
    Ok(())
}

impl ReadTransaction<'_> {
    pub(crate) fn load_head(&self, table_id: TableId) -> Result<Head> {
        let head = self.query_first(SELECT_HEAD, [table_id], head)?.ok_or(Error::TableGone(table_id))?;
        if head.committed_at_ms.is_none() && head.current_snapshot != SnapshotId::EMPTY {
            return Err(Error::SnapshotNotFound { table_id, snapshot_id: head.current_snapshot });
        }
        Ok(head)
    }
}

fn head(row: &Row<'_>) -> Result<Head> {
    let sum = |column| Ok::<_, Error>(row.get::<_, Option<Unsigned>>(column)?.map_or(0, |sum| sum.0));
    Ok(Head {
        current_snapshot: row.get(0)?,
        schema_id: row.get(1)?,
        tail_files: row.get::<_, Unsigned>(2)?.0,
        committed_at_ms: row.get(3)?,
        totals: Totals { files: sum(4)?, rows: sum(5)?, files_of_unknown_rows: sum(6)?, bytes: sum(7)? },
    })
}

fn next_snapshot(commit: &NewCommit, removed: &[KnownFile], head: &Head) -> Result<SnapshotRow> {
    let overflow = || Error::TotalsOverflow(commit.table_id);
    let mut totals = head.totals;
    for file in removed {
        totals = totals.without(file.size_bytes, file.row_count).ok_or_else(overflow)?;
    }
    for file in &commit.add {
        totals = totals.with(file.size_bytes, file.row_count).ok_or_else(overflow)?;
    }
    let not_before_ms = head.committed_at_ms.unwrap_or(i64::MIN);
    Ok(SnapshotRow {
        snapshot_id: SnapshotId(head.current_snapshot.0 + 1),
        parent: head.current_snapshot,
        operation: commit.operation,
        committed_at_ms: commit.committed_at_ms.max(not_before_ms),
        schema_id: commit.schema_id,
        added_files: commit.add.len() as u64,
        removed_files: removed.len() as u64,
        totals,
        summary: commit.summary.clone(),
    })
}

/// Both sums must be the same, unless a file has no known row count.
fn check_row_sums(commit: &NewCommit, removed: &[KnownFile]) -> Result<()> {
    let plus = |sum: u64, rows: Option<u64>| rows.map(|rows| sum.saturating_add(rows));
    let added = commit.add.iter().try_fold(0, |sum, file| plus(sum, file.row_count));
    let removed = removed.iter().try_fold(0, |sum, file| plus(sum, file.row_count));
    match (added, removed) {
        (Some(added), Some(removed)) if added != removed => Err(Error::RowSumsDiffer { added, removed }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::{Arc, Mutex};

    use rusqlite::trace::{TraceEvent, TraceEventCodes};

    use super::*;
    use crate::{database, sample};

    /// The first words of each statement that the job runs, on a store with a table.
    fn statements_of(job: impl FnOnce(&WriteTransaction<'_>, TableId)) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let mut connection =
            database::open_writer(&folder.path().join("store.db"), crate::PowerLoss::LosesNothing).unwrap();
        let statements = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&statements);
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(_, sql) = event {
                let words: Vec<&str> = sql.split_whitespace().take(3).collect();
                seen.lock().unwrap().push(words.join(" "));
            }
        };
        connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).unwrap();
        let known = RefCell::default();
        let tx = WriteTransaction::new(&connection, 4096, &known);
        let table_id = sample::create_table(&tx);
        tx.commit(&sample::append(table_id, &["first"])).unwrap();
        statements.lock().unwrap().clear();
        job(&tx, table_id);
        statements.lock().unwrap().clone()
    }

    #[test]
    fn an_append_of_one_file_is_six_statements() {
        let statements = statements_of(|tx, table_id| {
            tx.commit(&sample::append(table_id, &["second"])).unwrap();
        });
        let expected = [
            "SELECT t.current_snapshot, t.schema_id,",
            "SELECT file_id, size_bytes,",
            "INSERT INTO snapshot",
            "INSERT INTO data_file",
            "INSERT INTO tail_statistics",
            "UPDATE lake_table SET",
        ];
        assert_eq!(statements, expected);
    }

    #[test]
    fn a_commit_that_is_checked_and_not_recorded_writes_nothing() {
        let statements = statements_of(|tx, table_id| {
            drop(tx.check_commit(&sample::append(table_id, &["second"]), None).unwrap());
        });
        assert_eq!(statements, ["SELECT t.current_snapshot, t.schema_id,", "SELECT file_id, size_bytes,"]);
    }
}
