//! Commits: files in, files out, one snapshot more.

use std::collections::BTreeMap;

use prunus_statistics::FileStatistics;
use rusqlite::params;

use crate::conflict::{self, KnownFile};
use crate::data_file::{self, FixedPart, Partition};
use crate::ids::Unsigned;
use crate::leaf_set::{FileLeaf, LeafSetWriter};
use crate::snapshot::{Operation, SnapshotRow};
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, ManifestId, Result, SchemaId, SnapshotId, TableId, Totals, tail};

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
    pub statistics: FileStatistics,
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

/// What a commit needs to know of its table.
pub(crate) struct Head {
    pub(crate) current_snapshot: SnapshotId,
    pub(crate) schema_id: SchemaId,
    tail_files: u64,
}

const SELECT_HEAD: &str = "
    SELECT current_snapshot, schema_id, tail_files
    FROM lake_table
    WHERE table_id = ?1";

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
    WHERE file_id = ?1";

const COUNT_REMOVALS: &str = "
    UPDATE manifest
    SET removed_files = removed_files + ?2, removed_rows = removed_rows + ?3,
        removed_files_of_unknown_rows = removed_files_of_unknown_rows + ?4, removed_bytes = removed_bytes + ?5
    WHERE manifest_id = ?1";

impl WriteTransaction<'_> {
    /// Adds and removes files, as one snapshot.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::SchemaMoved`]; [`Error::SnapshotNotFound`] if the base is none of the table's;
    /// [`Error::Conflict`] with every path at fault; [`Error::RowSumsDiffer`] for a replace; [`Error::TotalsOverflow`];
    /// [`Error::Sqlite`].
    pub fn commit(&self, commit: &NewCommit) -> Result<Committed> {
        let table_id = commit.table_id;
        let head = self.load_head(table_id)?;
        self.check_head(commit, &head)?;
        let removed = conflict::check_paths(self, commit)?
            .map_err(|conflicts| Error::Conflict { current_snapshot: head.current_snapshot, conflicts })?;
        if commit.operation == Operation::Replace {
            check_row_sums(commit, &removed)?;
        }
        self.record(commit, &removed, &head)
    }

    /// Writes a change that was checked: its snapshot, its files, the table's new head.
    pub(crate) fn record(&self, commit: &NewCommit, removed: &[KnownFile], head: &Head) -> Result<Committed> {
        let table_id = commit.table_id;
        let snapshot = self.next_snapshot(commit, removed, head)?;
        self.insert_snapshot(table_id, &snapshot)?;
        self.insert_files(commit, snapshot.snapshot_id)?;
        self.remove_files(table_id, removed, snapshot.snapshot_id)?;
        let tail_files = head.tail_files + snapshot.added_files;
        self.execute(UPDATE_HEAD, params![table_id, snapshot.snapshot_id, Unsigned(tail_files)])?;
        self.note_tail(table_id, tail_files);
        Ok(Committed {
            snapshot_id: snapshot.snapshot_id,
            committed_at_ms: snapshot.committed_at_ms,
            added_files: snapshot.added_files,
            removed_files: snapshot.removed_files,
            totals: snapshot.totals,
            tail_files,
        })
    }

    fn check_head(&self, commit: &NewCommit, head: &Head) -> Result<()> {
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

    fn next_snapshot(&self, commit: &NewCommit, removed: &[KnownFile], head: &Head) -> Result<SnapshotRow> {
        let parent = head.current_snapshot;
        let (mut totals, not_before_ms) = match parent {
            SnapshotId::EMPTY => (Totals::default(), i64::MIN),
            parent => {
                let parent = self.load_snapshot(commit.table_id, parent)?;
                (parent.totals, parent.committed_at_ms)
            }
        };
        let overflow = || Error::TotalsOverflow(commit.table_id);
        for file in removed {
            totals = totals.without(file.size_bytes, file.row_count).ok_or_else(overflow)?;
        }
        for file in &commit.add {
            totals = totals.with(file.size_bytes, file.row_count).ok_or_else(overflow)?;
        }
        Ok(SnapshotRow {
            snapshot_id: SnapshotId(parent.0 + 1),
            parent,
            operation: commit.operation,
            committed_at_ms: commit.committed_at_ms.max(not_before_ms),
            schema_id: commit.schema_id,
            added_files: commit.add.len() as u64,
            removed_files: removed.len() as u64,
            totals,
            summary: commit.summary.clone(),
        })
    }

    fn insert_files(&self, commit: &NewCommit, snapshot_id: SnapshotId) -> Result<()> {
        let mut leaf_sets = LeafSetWriter::new(self, commit.table_id);
        for file in &commit.add {
            let leaf_set_id = leaf_sets.ensure(&file.leaves)?;
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
            self.execute(INSERT_STATISTICS, params![file_id, tail::encode_statistics(&file.statistics)?])?;
        }
        Ok(())
    }

    fn remove_files(&self, table_id: TableId, removed: &[KnownFile], snapshot_id: SnapshotId) -> Result<()> {
        let mut by_manifest: BTreeMap<ManifestId, Totals> = BTreeMap::new();
        for file in removed {
            self.execute(REMOVE_FILE, params![file.file_id, snapshot_id])?;
            if let Some(manifest_id) = file.manifest_id {
                let totals = by_manifest.entry(manifest_id).or_default();
                *totals = totals.with(file.size_bytes, file.row_count).ok_or(Error::TotalsOverflow(table_id))?;
            }
        }
        by_manifest.into_iter().try_for_each(|(manifest_id, removed)| count_removals(self, manifest_id, removed))
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
        let head = self.query_first(SELECT_HEAD, [table_id], |row| {
            Ok(Head { current_snapshot: row.get(0)?, schema_id: row.get(1)?, tail_files: row.get::<_, Unsigned>(2)?.0 })
        })?;
        head.ok_or(Error::TableGone(table_id))
    }
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
