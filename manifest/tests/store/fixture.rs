//! A store in a folder of its own, with one table.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::PathBuf;

use prunus_manifest::{
    ColumnRepair, Committed, DataFileRow, EncodedStatistics, Error, Expiry, FileId, FileLeaf, Forgotten, InspectedFile,
    NewCommit, NewDataFile, NewRollback, NewTable, Operation, PreparedRollback, ReadLateColumns, ReadTransaction,
    RepairOutcome, SchemaColumn, SchemaId, SnapshotId, Store, StoreOptions, TableId, TableRow, TagChange, TagRow,
    WriteTransaction,
};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, FileStatistics, Precision, PrimitiveType, Provenance, Value,
};
use tempfile::TempDir;

pub(crate) const NUMBER: SchemaColumn = SchemaColumn { field_id: FieldId(1), column_type: PrimitiveType::Int64 };
pub(crate) const NAME: SchemaColumn = SchemaColumn { field_id: FieldId(2), column_type: PrimitiveType::String };
pub(crate) const SCHEMA: SchemaId = SchemaId(1);

pub(crate) struct Fixture {
    folder: TempDir,
    options: StoreOptions,
    store: Option<Store>,
    pub(crate) table: TableRow,
}

impl Fixture {
    /// A store that seals so many files into a manifest.
    pub(crate) fn with_target(manifest_target_files: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { manifest_target_files, ..StoreOptions::default() };
        let store = Store::open_with(&folder.path().join("store.db"), &options).unwrap();
        let table = store
            .write(|tx| {
                tx.create_namespace("sales", &BTreeMap::new(), 1)?;
                tx.create_table(&new_table("orders"))
            })
            .unwrap();
        Self { folder, options, store: Some(store), table }
    }

    pub(crate) fn new() -> Self {
        Self::with_target(4096)
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    pub(crate) fn close(&mut self) {
        self.store = None;
    }

    pub(crate) fn reopen(&mut self) {
        self.close();
        self.store = Some(Store::open_with(&self.path(), &self.options).unwrap());
    }

    pub(crate) fn reopen_with_target(&mut self, manifest_target_files: u32) {
        self.options.manifest_target_files = manifest_target_files;
        self.reopen();
    }

    pub(crate) fn reopen_with_late_columns(&mut self, late_columns: ReadLateColumns) {
        self.options.late_columns = Some(late_columns);
        self.reopen();
    }

    pub(crate) fn table_id(&self) -> TableId {
        self.table.table_id
    }

    pub(crate) fn commit(&self, commit: NewCommit) -> Result<Committed, Error> {
        self.store().write(move |tx| tx.commit(&commit))
    }

    pub(crate) fn change(&self, operation: Operation, add: Vec<NewDataFile>, remove: &[&str]) -> NewCommit {
        NewCommit {
            table_id: self.table_id(),
            base_snapshot: None,
            schema_id: SCHEMA,
            operation,
            add,
            remove: remove.iter().map(ToString::to_string).collect(),
            summary: BTreeMap::new(),
            committed_at_ms: 1000,
        }
    }

    pub(crate) fn append(&self, paths: &[&str]) -> Committed {
        let files = paths.iter().map(|path| file(path)).collect();
        self.commit(self.change(Operation::Append, files, &[])).unwrap()
    }

    pub(crate) fn delete(&self, paths: &[&str]) -> Committed {
        self.commit(self.change(Operation::Delete, vec![], paths)).unwrap()
    }

    /// Appends and deletes, one after the other, each at a time of its own: the time of snapshot n is 1000 + n.
    pub(crate) fn commit_timed(&self, add: &[&str], remove: &[&str]) -> Committed {
        let next = self.load_table().current_snapshot.0 + 1;
        let change = self.change(Operation::Overwrite, add.iter().map(|path| file(path)).collect(), remove);
        self.commit(NewCommit { committed_at_ms: 1000 + next, ..change }).unwrap()
    }

    pub(crate) fn load_table(&self) -> TableRow {
        self.store().read(|tx| tx.load_table_by_id(self.table_id())).unwrap()
    }

    pub(crate) fn set_tag(&self, name: &'static str, snapshot_id: i64) -> Result<(TagRow, TagChange), Error> {
        let table_id = self.table_id();
        self.store().write(move |tx| tx.set_tag(table_id, name, SnapshotId(snapshot_id), 77))
    }

    pub(crate) fn roll_back(&self, snapshot_id: i64) -> Result<Committed, Error> {
        let prepared = self.prepare_rollback(snapshot_id)?;
        self.store().write(move |tx| tx.roll_back(&prepared))
    }

    pub(crate) fn prepare_rollback(&self, snapshot_id: i64) -> Result<PreparedRollback, Error> {
        let rollback = NewRollback {
            table_id: self.table_id(),
            snapshot_id: SnapshotId(snapshot_id),
            committed_at_ms: 1001 + self.load_table().current_snapshot.0,
        };
        self.store().read(|tx| tx.prepare_rollback(&rollback))
    }

    /// Expires all but the newest `keep_last`.
    pub(crate) fn expiry(&self, keep_last: u32) -> Expiry {
        let keep_last = NonZeroU32::new(keep_last).unwrap();
        Expiry { table_id: self.table_id(), older_than_ms: None, keep_last, leased: BTreeSet::new() }
    }

    /// Expires and forgets, a few at a time, and says what went: snapshots, number of files, paths that are not named any
    /// more. The dry run before must have said the same.
    pub(crate) fn expire(&self, expiry: &Expiry) -> Expired {
        let foreseen = self.foresee(expiry);
        let mut expired = Expired::default();
        let mut more = true;
        while more {
            let expiry = expiry.clone();
            let step = self.store().write(move |tx| tx.expire_snapshots(&expiry, 2)).unwrap();
            expired.snapshots.extend(step.items.iter().map(|snapshot_id| snapshot_id.0));
            more = step.more;
        }
        let table_id = self.table_id();
        let mut gaps = self.store().read(|tx| tx.list_gaps(table_id, &[])).unwrap();
        while !gaps.is_empty() {
            let left = gaps.clone();
            let step = self.store().write(move |tx| tx.forget_files(table_id, &left, 2)).unwrap();
            expired.files += step.files;
            expired.removable.extend(step.removable);
            gaps.drain(..step.done_gaps);
        }
        expired.removable.sort();
        assert_eq!(expired, foreseen);
        expired
    }

    pub(crate) fn forget(&self, limit: u32) -> Forgotten {
        let table_id = self.table_id();
        let step = move |tx: &WriteTransaction<'_>| tx.forget_files(table_id, &tx.list_gaps(table_id, &[])?, limit);
        self.store().write(step).unwrap()
    }

    fn foresee(&self, expiry: &Expiry) -> Expired {
        let foresee = |tx: &ReadTransaction<'_>| {
            let snapshots = tx.list_expirable(expiry, u32::MAX)?.items;
            let gaps = tx.list_gaps(expiry.table_id, &snapshots)?;
            let files = tx.list_unneeded_files(expiry.table_id, &gaps, u32::MAX)?.items;
            let snapshots = snapshots.into_iter().map(|snapshot_id| snapshot_id.0).collect();
            Ok::<_, Error>(Expired {
                snapshots,
                removable: tx.list_removable_paths(&files)?,
                files: files.len() as u64,
            })
        };
        self.store().read(foresee).unwrap()
    }

    /// Files that are live in a snapshot, with their statistics.
    pub(crate) fn inspect(&self, snapshot_id: SnapshotId) -> Vec<InspectedFile> {
        let table_id = self.table_id();
        self.store().read(|tx| tx.list_inspected_files(table_id, snapshot_id, FileId(0), u32::MAX)).unwrap()
    }

    /// Repairs the number column of these to what it is after so many repairs.
    pub(crate) fn repair(&self, files: &[InspectedFile], times: u8) -> BTreeMap<FileId, RepairOutcome> {
        let repair = |file: &InspectedFile| {
            let after = repaired_statistics(&file.row.path, times).columns.remove(&NUMBER.field_id).unwrap();
            let before = file.statistics.columns.get(&NUMBER.field_id).cloned();
            let column = ColumnRepair { column_type: NUMBER.column_type, before, after };
            (file.row.file_id, [(NUMBER.field_id, column)].into())
        };
        self.store().repair(self.table_id(), &files.iter().map(repair).collect()).unwrap()
    }

    pub(crate) fn retained(&self) -> Vec<i64> {
        let rows = self.store().read(|tx| tx.list_snapshots(self.table_id(), None, u32::MAX)).unwrap();
        rows.into_iter().rev().map(|row| row.snapshot_id.0).collect()
    }

    pub(crate) fn live_files(&self, snapshot_id: SnapshotId) -> Vec<DataFileRow> {
        self.store().read(|tx| tx.list_live_files(self.table_id(), snapshot_id, None, u32::MAX)).unwrap()
    }

    pub(crate) fn live_paths(&self, snapshot_id: SnapshotId) -> Vec<String> {
        self.live_files(snapshot_id).into_iter().map(|file| file.path).collect()
    }
}

/// What an expiry did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expired {
    pub(crate) snapshots: Vec<i64>,
    pub(crate) files: u64,
    pub(crate) removable: Vec<String>,
}

pub(crate) fn new_table(name: &str) -> NewTable {
    NewTable {
        namespace: "sales".to_owned(),
        name: name.to_owned(),
        uuid: format!("uuid of {name}"),
        location: Some("s3://bucket/orders".to_owned()),
        schema: "{\"fields\":[]}".to_owned(),
        columns: vec![NUMBER, NAME],
        last_field_id: FieldId(2),
        cluster_by: vec![NUMBER.field_id],
        properties: [("owner".to_owned(), "ann".to_owned())].into(),
        created_at_ms: 5,
    }
}

/// A file of ten rows, with statistics that depend on its path.
pub(crate) fn file(path: &str) -> NewDataFile {
    NewDataFile {
        path: path.to_owned(),
        size_bytes: 100,
        row_count: Some(10),
        etag: Some(format!("etag of {path}")),
        last_modified_ms: Some(7),
        leaves: vec![
            FileLeaf {
                path: vec!["number".to_owned()],
                field_id: Some(1),
                column: None,
                file_type: None,
                group_ids: Vec::new(),
            },
            FileLeaf {
                path: vec!["person".to_owned(), "name".to_owned()],
                field_id: None,
                column: None,
                file_type: None,
                group_ids: Vec::new(),
            },
        ],
        partition: [(FieldId(9), Some(Value::Integer(1))), (FieldId(10), None)].into(),
        statistics: EncodedStatistics::new(&statistics_of(path)).unwrap(),
    }
}

/// The statistics of the file of this path after it was repaired so often; 0 is as it was registered.
pub(crate) fn repaired_statistics(path: &str, times: u8) -> FileStatistics {
    let mut statistics = statistics_of(path);
    if times > 0 {
        let first = i128::from(path.bytes().next().unwrap_or(0));
        let number = between(Value::Integer(first + i128::from(times)), Value::Integer(first + 10));
        statistics.columns.insert(NUMBER.field_id, scanned(number));
    }
    statistics
}

/// The same, as somebody has read it in the data.
pub(crate) fn scanned(column: FileColumn) -> FileColumn {
    let FileColumn::Present(mut statistics) = column else { return column };
    for bound in [&mut statistics.min, &mut statistics.max].into_iter().flatten() {
        (bound.precision, bound.provenance) = (Precision::Exact, Provenance::Scanned);
    }
    for count in [&mut statistics.null_count, &mut statistics.nan_count].into_iter().flatten() {
        count.provenance = Provenance::Scanned;
    }
    FileColumn::Present(statistics)
}

/// The statistics of the file of this path.
pub(crate) fn statistics_of(path: &str) -> FileStatistics {
    let first = i128::from(path.bytes().next().unwrap_or(0));
    let number = between(Value::Integer(first), Value::Integer(first + 10));
    let name = between(Value::Bytes(path.into()), Value::Bytes(format!("{path}~").into()));
    FileStatistics { columns: [(FieldId(1), number), (FieldId(2), name)].into() }
}

pub(crate) fn between(min: Value, max: Value) -> FileColumn {
    let provenance = Provenance::Footer;
    let bound = |value| Some(Bound { value, precision: Precision::Bound, provenance });
    let null_count = Some(Count { value: 0, provenance });
    FileColumn::Present(ColumnStatistics { min: bound(min), max: bound(max), null_count, nan_count: None })
}
