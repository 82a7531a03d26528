//! The rows of data files, each read once and in the order in which they lie.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Row;

use super::sums::{ManifestRows, Rows, TableRows};
use super::{AllRead, Check, CheckProgress, Fault, Findings, Place, ROWS_PER_STEP};
use crate::data_file::{self, FixedPart};
use crate::entry_block::EntryIdentity;
use crate::{FileId, ManifestId, Result, SnapshotId, TableId, leaf_set};

const LIST_LEAF_SETS: &str = "
    SELECT leaf_set_id, table_id, leaves
    FROM leaf_set
    ORDER BY leaf_set_id";

const LIST_HEADS: &str = "
    SELECT table_id, current_snapshot
    FROM lake_table
    ORDER BY table_id";

const COUNT_FILES: &str = "SELECT count(*) FROM data_file";

const LIST_FILES: &str = "
    SELECT file_id, path, size_bytes, row_count, etag, last_modified_ms, leaf_set_id, partition, added_snapshot,
        removed_snapshot, manifest_id, checksum, table_id, path_hash
    FROM data_file
    ORDER BY file_id";

// Paths that are there once, most of them, are told apart by the index alone.
const LIST_PATHS_LIVE_TWICE: &str = "
    WITH twice AS MATERIALIZED (
        SELECT path_hash, table_id
        FROM data_file INDEXED BY data_file_by_path
        GROUP BY path_hash, table_id
        HAVING count(*) > 1)
    SELECT a.table_id, a.file_id, b.file_id
    FROM twice t
        CROSS JOIN data_file a INDEXED BY data_file_by_path
            ON a.path_hash = t.path_hash AND a.table_id = t.table_id
        CROSS JOIN data_file b INDEXED BY data_file_by_path
            ON b.path_hash = t.path_hash AND b.table_id = t.table_id AND b.file_id > a.file_id AND b.path = a.path
    WHERE (a.removed_snapshot IS NULL OR a.removed_snapshot > b.added_snapshot)
        AND (b.removed_snapshot IS NULL OR b.removed_snapshot > a.added_snapshot)";

/// What the row of a file is held against.
struct Known {
    leaf_sets: BTreeSet<(i64, TableId)>,
    heads: BTreeMap<TableId, SnapshotId>,
}

impl Check<'_> {
    /// Checks every row of a data file; says what they add up to.
    pub(super) fn check_files(&mut self) -> Rows {
        let known = Known { leaf_sets: self.check_leaf_sets(), heads: self.list_heads() };
        let of = self.reader.count(COUNT_FILES);
        let mut rows = Rows { files: 0, manifests: BTreeMap::new(), tables: BTreeMap::new(), all_read: AllRead::Yes };
        let all_read = self.reader.each_row(Place::default(), LIST_FILES, [], |findings, row| {
            if rows.files.is_multiple_of(ROWS_PER_STEP) {
                (self.progress)(CheckProgress::Files { done: rows.files, of });
            }
            rows.files += 1;
            check_row(row, &known, &mut rows, findings)
        });
        if all_read == AllRead::No {
            rows.all_read = AllRead::No;
        }
        self.check_paths();
        rows
    }

    fn check_leaf_sets(&mut self) -> BTreeSet<(i64, TableId)> {
        let mut leaf_sets = BTreeSet::new();
        self.reader.each_row(Place::default(), LIST_LEAF_SETS, [], |findings, row| {
            let (id, table_id) = (row.get(0)?, row.get(1)?);
            leaf_sets.insert((id, table_id));
            let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
            findings.take(Place::table(table_id), leaf_set::decode(bytes, id));
            Ok(())
        });
        leaf_sets
    }

    fn list_heads(&mut self) -> BTreeMap<TableId, SnapshotId> {
        let mut heads = BTreeMap::new();
        self.reader.each_row(Place::default(), LIST_HEADS, [], |_, row| {
            heads.insert(row.get(0)?, row.get(1)?);
            Ok(())
        });
        heads
    }

    fn check_paths(&mut self) {
        self.reader.each_row(Place::default(), LIST_PATHS_LIVE_TWICE, [], |findings, row| {
            let place = Place::table(row.get(0)?).file(row.get(1)?);
            findings.add(place, Fault::PathTwice { other: row.get(2)? });
            Ok(())
        });
    }
}

/// Checks one row and adds it to the sums.
fn check_row(row: &Row<'_>, known: &Known, rows: &mut Rows, findings: &mut Findings) -> Result<()> {
    let file_id: FileId = row.get(0)?;
    let table_id: TableId = row.get(12)?;
    let place = Place::table(table_id).file(file_id);
    let Some(fixed) = findings.take(place, FixedPart::of_row(row, file_id)) else {
        rows.all_read = AllRead::No;
        return Ok(());
    };
    findings.take(place, data_file::decode_partition(fixed.partition, file_id));
    if row.get::<_, i64>(13)? != data_file::path_hash(fixed.path) {
        findings.add(place, Fault::PathHash);
    }
    if !known.leaf_sets.contains(&(fixed.leaf_set_id, table_id)) {
        findings.add(place, Fault::NoLeafSet(fixed.leaf_set_id));
    }
    let (added, removed): (_, Option<SnapshotId>) = (fixed.added_snapshot, row.get(9)?);
    // A row of a table that is not there is a finding of SQLite's check already.
    if let Some(current) = known.heads.get(&table_id).copied()
        && !(SnapshotId::EMPTY < added
            && added <= current
            && removed.is_none_or(|removed| added < removed && removed <= current))
    {
        findings.add(place, Fault::FileSnapshots { added, removed, current });
    }
    let file = EntryIdentity {
        file_id,
        row_count: fixed.row_count,
        size_bytes: fixed.size_bytes,
        added_snapshot: fixed.added_snapshot,
    };
    rows.add(table_id, row.get(10)?, file, removed);
    Ok(())
}

impl Rows {
    fn add(
        &mut self,
        table_id: TableId,
        manifest_id: Option<ManifestId>,
        file: EntryIdentity,
        removed_snapshot: Option<SnapshotId>,
    ) {
        let TableRows { tail_files, changes } = self.tables.entry(table_id).or_default();
        changes.entry(file.added_snapshot).or_default().add(file);
        if let Some(removed) = removed_snapshot {
            changes.entry(removed).or_default().subtract(file);
        }
        let Some(manifest_id) = manifest_id else {
            *tail_files += 1;
            return;
        };
        let ManifestRows { files, digest, removed } = self.manifests.entry(manifest_id).or_default();
        *files += 1;
        *digest = digest.wrapping_add(file.digest());
        if removed_snapshot.is_some() {
            removed.add(file);
        }
    }
}
