//! Tables, their schemas and their snapshots.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use rusqlite::Row;
use serde::de::IgnoredAny;

use super::sums::{Rows, Sums, TableRows};
use super::{AllRead, Check, Difference, Fault, Findings, Place, SumOf};
use crate::snapshot::{self, SnapshotRow};
use crate::table::TableRow;
use crate::{Result, SchemaId, SnapshotId, TableId, json};

const LIST_TABLES: &str = "
    SELECT table_id
    FROM lake_table
    ORDER BY table_id";

const LIST_SCHEMAS: &str = "
    SELECT schema_id, schema
    FROM table_schema
    WHERE table_id = ?1
    ORDER BY schema_id";

const LIST_SNAPSHOTS: &str = "
    SELECT snapshot_id, parent, operation, committed_at_ms, schema_id, added_files, removed_files, files, rows,
        files_of_unknown_rows, bytes, summary
    FROM snapshot
    WHERE table_id = ?1
    ORDER BY snapshot_id";

/// A table, and what its snapshots are held against.
pub(super) struct CheckedTable {
    pub(super) row: TableRow,
    schemas: BTreeSet<SchemaId>,
}

impl Check<'_> {
    /// The namespaces, and the tables with their schemas.
    pub(super) fn check_tables(&mut self) -> Vec<CheckedTable> {
        let namespaces = self.reader.tx.list_namespaces("", u32::MAX);
        self.reader.findings.take(Place::default(), namespaces);
        let mut ids: Vec<TableId> = Vec::new();
        self.reader.each_row(Place::default(), LIST_TABLES, [], |_, row| {
            ids.push(row.get(0)?);
            Ok(())
        });
        ids.into_iter().filter_map(|table_id| self.check_table(table_id)).collect()
    }

    fn check_table(&mut self, table_id: TableId) -> Option<CheckedTable> {
        let place = Place::table(table_id);
        let columns = self.reader.tx.list_columns(table_id);
        self.reader.findings.take(place, columns);
        let mut schemas = BTreeSet::new();
        self.reader.each_row(place, LIST_SCHEMAS, [table_id], |findings, row| {
            let schema_id: SchemaId = row.get(0)?;
            schemas.insert(schema_id);
            let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let read = json::read::<IgnoredAny>(text, "text of a schema", schema_id.0);
            findings.take(place.schema(schema_id), read);
            Ok(())
        });
        let row = self.reader.tx.load_table_by_id(table_id);
        let row = self.reader.findings.take(place, row)?;
        if !schemas.contains(&row.schema_id) {
            self.reader.findings.add(place, Fault::NoSchema(row.schema_id));
        }
        Some(CheckedTable { row, schemas })
    }

    /// The snapshots of a table and the length of its tail, held against the sums over its files.
    pub(super) fn check_snapshots(&mut self, table: &CheckedTable, rows: &Rows) {
        let table_id = table.row.table_id;
        let none = TableRows::default();
        let TableRows { tail_files, changes } = rows.tables.get(&table_id).unwrap_or(&none);
        let mut history = History { table, changes, live: Sums::default(), before: None, sums_known: rows.all_read };
        let place = Place::table(table_id);
        self.reader.each_row(place, LIST_SNAPSHOTS, [table_id], |findings, row| history.check(row, findings));
        if *tail_files != table.row.tail_files && rows.all_read == AllRead::Yes {
            let difference = Difference { stored: table.row.tail_files, found: *tail_files };
            self.reader.findings.add(place, Fault::TailFiles(difference));
        }
    }
}

/// A table's snapshots, one after another.
struct History<'a> {
    table: &'a CheckedTable,
    changes: &'a BTreeMap<SnapshotId, Sums>,
    /// What is live in the snapshot that was looked at last.
    live: Sums,
    before: Option<SnapshotRow>,
    sums_known: AllRead,
}

impl History<'_> {
    fn check(&mut self, row: &Row<'_>, findings: &mut Findings) -> Result<()> {
        let snapshot = snapshot::snapshot_row(row)?;
        let place = Place::table(self.table.row.table_id).snapshot(snapshot.snapshot_id);
        let (parent, current) = (snapshot.parent, self.table.row.current_snapshot);
        if parent >= snapshot.snapshot_id || parent < SnapshotId::EMPTY || snapshot.snapshot_id > current {
            findings.add(place, Fault::SnapshotOrder { parent, current });
        }
        if self.before.as_ref().is_some_and(|before| before.committed_at_ms > snapshot.committed_at_ms) {
            findings.add(place, Fault::SnapshotTime);
        }
        if !self.table.schemas.contains(&snapshot.schema_id) {
            findings.add(place, Fault::NoSchema(snapshot.schema_id));
        }
        // The changes of snapshots that are expired are among them.
        let after = self.before.as_ref().map_or(Bound::Unbounded, |before| Bound::Excluded(before.snapshot_id));
        let changes = self.changes.range((after, Bound::Unbounded));
        let changes = changes.take_while(|(changed_in, _)| **changed_in <= snapshot.snapshot_id);
        self.live = changes.fold(self.live, |live, (_, change)| live.plus(*change));
        let found = self.live.totals();
        if found != snapshot.totals && self.sums_known == AllRead::Yes {
            let difference = Difference { stored: snapshot.totals, found };
            findings.add(place, Fault::Sums { of: SumOf::Snapshot, difference });
        }
        self.before = Some(snapshot);
        Ok(())
    }
}
