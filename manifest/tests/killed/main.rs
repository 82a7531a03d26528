//! A process that commits, seals and repairs is killed at any moment: what it was told is committed or repaired is so, whole, and
//! the journal tells of it; nothing is there by half.
//!
//! It stands alone in its process. A process that is made takes along the open files of all threads for an instant, and the
//! lock of a store that another test closes in that instant would still be held.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use prunus_manifest::{
    ColumnRepair, CursorKind, DataFileRow, EncodedStatistics, Error, FileId, InspectedFile, JournalDetail,
    JournalEntry, JournalFilter, NewCommit, NewDataFile, NewTable, Operation, ReadTransaction, SchemaColumn,
    SnapshotId, Store, StoreOptions, TableRow, Totals, WriteTransaction,
};
use prunus_statistics::{
    Bound, ColumnStatistics, FieldId, FileColumn, FileStatistics, Precision, PrimitiveType, Provenance, Value,
};

const KILLS: usize = 20;

/// How long a process lives after its first commit at most.
const LIFE_MAX_MICROS: u64 = 80_000;

/// Where the process that is to be killed finds its store; the test's own process has no such variable.
const STORE_OF_CHILD: &str = "PRUNUS_TEST_KILLED_STORE";
/// How many files a manifest has that it makes.
const TARGET_OF_CHILD: &str = "PRUNUS_TEST_KILLED_TARGET";

/// Each has a thread of its own, so that commits share transactions.
const TABLES: [&str; 3] = ["one", "two", "three"];

/// What each commit adds, and what the next one removes of it.
const ADDED: usize = 5;
const REMOVED: usize = 2;

/// So few that nearly every commit makes a tail due, and that no commit ends where a manifest does. They differ from one
/// process to the next, so that some find manifests that are small.
const TARGET_FILES: [u32; 3] = [7, 16, 4];

const COLUMN: SchemaColumn = SchemaColumn { field_id: FieldId(1), column_type: PrimitiveType::String };

const SIZE_BYTES: u64 = 100;

/// The table whose files are repaired, by its place, and how many files one repair has.
const REPAIRED: usize = 1;
const FILES_PER_REPAIR: u32 = 20;

#[test]
fn what_was_acknowledged_outlives_a_kill() {
    if let Some(path) = std::env::var_os(STORE_OF_CHILD) {
        let target_files = std::env::var(TARGET_OF_CHILD).unwrap().parse().unwrap();
        commit_until_killed(&open(Path::new(&path), target_files));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    create_tables(&path);
    let (mut known, mut repaired_before) = (BTreeMap::new(), FileId(0));
    for target_files in TARGET_FILES.into_iter().cycle().take(kills()) {
        let said = run_and_kill(&path, target_files);
        known.extend(acks(&said));
        repaired_before = repaired(&said).chain([repaired_before]).max().unwrap();
        check_store(&path);
        let store = open(&path, target_files);
        for (index, name) in TABLES.iter().enumerate() {
            // A table that was not heard of this time stands where it stood.
            let acknowledged = known.get(&index).copied().unwrap_or(0);
            known.insert(index, check_table(&store, name, acknowledged));
        }
        check_repairs(&store, repaired_before);
    }
    let store = open(&path, TARGET_FILES[0]);
    store.wait_for_maintenance().unwrap();
    check_repairs(&store, repaired_before);
    assert!(repaired_before > FileId(0) || kills() < KILLS);
    for (index, name) in TABLES.iter().enumerate() {
        check_table(&store, name, known[&index]);
        let table = load_table(&store, name);
        assert!(table.tail_files < u64::from(TARGET_FILES[0]));
        let manifests = store.read(|tx| tx.list_manifests(table.table_id)).unwrap();
        let sealed: u64 = manifests.iter().map(|manifest| manifest.totals.files).sum();
        assert_eq!(sealed + table.tail_files, files_added(known[&index]));
    }
}

fn open(path: &Path, manifest_target_files: u32) -> Store {
    let options = StoreOptions { manifest_target_files, ..StoreOptions::default() };
    Store::open_with(path, &options).unwrap()
}

fn create_tables(path: &Path) {
    let store = open(path, TARGET_FILES[0]);
    store.write(|tx| tx.create_namespace("sales", &BTreeMap::new(), 1)).unwrap();
    for name in TABLES {
        store.write(move |tx| tx.create_table(&new_table(name))).unwrap();
    }
}

fn new_table(name: &str) -> NewTable {
    NewTable {
        namespace: "sales".to_owned(),
        name: name.to_owned(),
        uuid: format!("uuid of {name}"),
        location: None,
        schema: "{}".to_owned(),
        columns: vec![COLUMN],
        last_field_id: COLUMN.field_id,
        cluster_by: vec![COLUMN.field_id],
        properties: BTreeMap::new(),
        created_at_ms: 1,
    }
}

fn load_table(store: &Store, name: &str) -> TableRow {
    store.read(|tx| tx.load_table("sales", name)).unwrap()
}

/// The work of the child: one thread for each table commits and says so, for ever, one groups a table anew, and one repairs
/// another and says so.
fn commit_until_killed(store: &Store) -> ! {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let table_id = load_table(store, TABLES[0]).table_id;
            loop {
                store.regroup(table_id).unwrap();
            }
        });
        scope.spawn(|| repair_for_ever(store));
        for (index, name) in TABLES.iter().enumerate() {
            scope.spawn(move || {
                let table = load_table(store, name);
                for snapshot in table.current_snapshot.0 + 1.. {
                    let commit = commit_of(&table, snapshot);
                    let entry = entry_of(name, snapshot);
                    let committed = store.write(move |tx| {
                        let committed = tx.commit(&commit)?;
                        tx.append_journal(&entry)?;
                        Ok::<_, Error>(committed)
                    });
                    assert_eq!(committed.unwrap().snapshot_id, SnapshotId(snapshot));
                    say(&format!("ack {index} {snapshot}\n"));
                }
            });
        }
    });
    panic!("every snapshot id is taken");
}

fn repair_for_ever(store: &Store) -> ! {
    let table_id = load_table(store, TABLES[REPAIRED]).table_id;
    let mut from = store.read(|tx| tx.load_audit_cursor(table_id, CursorKind::Loose)).unwrap();
    loop {
        let table = load_table(store, TABLES[REPAIRED]);
        let page = |tx: &ReadTransaction<'_>| {
            tx.list_inspected_files(table.table_id, table.current_snapshot, from, FILES_PER_REPAIR)
        };
        let files = store.read(page).unwrap();
        let repairs =
            files.iter().map(|file| (file.row.file_id, [(COLUMN.field_id, repair_of(file))].into())).collect();
        store.repair(table.table_id, &repairs).unwrap();
        if let Some(last) = files.last() {
            let to = FileId(last.row.file_id.0 + 1);
            let advance =
                move |tx: &WriteTransaction<'_>| tx.advance_audit_cursor(table_id, CursorKind::Loose, from, to);
            from = store.write(advance).unwrap();
            say(&format!("repaired {from}\n"));
        }
    }
}

fn repair_of(file: &InspectedFile) -> ColumnRepair {
    let before = file.statistics.columns.get(&COLUMN.field_id).cloned();
    let after = statistics_from(&file.row.path, Provenance::Scanned).columns.remove(&COLUMN.field_id).unwrap();
    ColumnRepair { column_type: COLUMN.column_type, before, after }
}

/// In one piece. Where nobody listens any more, this panics and ends the process.
fn say(line: &str) {
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn path_of(snapshot: i64, number: usize) -> String {
    format!("{snapshot:04}/{number}")
}

/// The last file of each commit has no known row count, and it is removed by the next.
fn row_count(number: usize) -> Option<u64> {
    (number != ADDED - 1).then_some(10)
}

fn is_removed_by_the_next(number: usize) -> bool {
    number >= ADDED - REMOVED
}

fn commit_of(table: &TableRow, snapshot: i64) -> NewCommit {
    let added = (0..ADDED).map(|number| file(path_of(snapshot, number), row_count(number))).collect();
    let removed = (0..ADDED).filter(|number| snapshot > 1 && is_removed_by_the_next(*number));
    NewCommit {
        table_id: table.table_id,
        base_snapshot: None,
        schema_id: table.schema_id,
        operation: Operation::Overwrite,
        add: added,
        remove: removed.map(|number| path_of(snapshot - 1, number)).collect(),
        summary: BTreeMap::new(),
        committed_at_ms: 1000,
    }
}

/// What the journal is told of a commit.
fn entry_of(table: &str, snapshot: i64) -> JournalEntry {
    JournalEntry {
        at_ms: 1000,
        principal: String::new(),
        request_id: String::new(),
        operation: "commit".into(),
        namespace: Some("sales".to_owned()),
        table: Some(table.to_owned()),
        from_snapshot: Some(SnapshotId(snapshot - 1)),
        to_snapshot: Some(SnapshotId(snapshot)),
        detail: JournalDetail::new(),
    }
}

/// The journal tells of each commit of a table once, and of no other.
fn check_journal(store: &Store, name: &str, current: i64) {
    let table = Some(("sales".to_owned(), name.to_owned()));
    let filter = JournalFilter { table, ..JournalFilter::default() };
    let (mut told, mut before) = (Vec::new(), None);
    loop {
        let page = store.read(|tx| tx.list_journal(&filter, before, u32::MAX)).unwrap();
        told.extend(page.rows.into_iter().map(|row| row.entry));
        before = page.next_before;
        if before.is_none() {
            break;
        }
    }
    assert!(told.iter().eq((1..=current).rev().map(|snapshot| entry_of(name, snapshot)).collect::<Vec<_>>().iter()));
}

fn file(path: String, row_count: Option<u64>) -> NewDataFile {
    NewDataFile {
        statistics: EncodedStatistics::new(&statistics_of(&path)).unwrap(),
        path,
        size_bytes: SIZE_BYTES,
        row_count,
        etag: None,
        last_modified_ms: None,
        leaves: Vec::new(),
        partition: BTreeMap::new(),
    }
}

fn statistics_of(path: &str) -> FileStatistics {
    statistics_from(path, Provenance::Footer)
}

/// Of a file whose every value is its path.
fn statistics_from(path: &str, provenance: Provenance) -> FileStatistics {
    let bound = Bound { value: Value::Bytes(path.into()), precision: Precision::Exact, provenance };
    let column = ColumnStatistics { min: Some(bound.clone()), max: Some(bound), null_count: None, nan_count: None };
    FileStatistics { columns: [(COLUMN.field_id, FileColumn::Present(column))].into() }
}

fn files_added(snapshot: i64) -> u64 {
    snapshot.unsigned_abs() * ADDED as u64
}

/// What is live after that many commits.
fn expected_paths(snapshot: i64) -> BTreeSet<String> {
    let live = |added: i64| {
        (0..ADDED)
            .filter(move |number| added == snapshot || !is_removed_by_the_next(*number))
            .map(move |number| path_of(added, number))
    };
    (1..=snapshot).flat_map(live).collect()
}

/// Kills the child even where the test fails before.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Lets a process commit for a while and kills it; gives back what it said.
fn run_and_kill(path: &Path, target_files: u32) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "what_was_acknowledged_outlives_a_kill", "--nocapture"])
        .env(STORE_OF_CHILD, path)
        .env(TARGET_OF_CHILD, target_files.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut child = Killed(child);
    let mut said = String::new();
    while acks(&said).next().is_none() {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "ended by itself: {said}");
    }
    // The standard library's only source of chance.
    let chance = RandomState::new().hash_one(());
    std::thread::sleep(Duration::from_micros(chance % LIFE_MAX_MICROS));
    let ended = child.0.try_wait().unwrap();
    drop(child);
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(ended, None, "ended by itself: {said}");
    said
}

/// Whole lines: one without an end was never said.
fn lines(said: &str) -> impl Iterator<Item = &str> {
    said.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

/// The tables and snapshots that were said to be committed.
fn acks(said: &str) -> impl Iterator<Item = (usize, i64)> {
    lines(said).filter_map(|line| {
        let (index, snapshot) = line.strip_prefix("ack ")?.split_once(' ')?;
        Some((index.parse().ok()?, snapshot.parse().ok()?))
    })
}

/// The files before which all were said to be repaired.
fn repaired(said: &str) -> impl Iterator<Item = FileId> {
    lines(said).filter_map(|line| Some(FileId(line.strip_prefix("repaired ")?.parse().ok()?)))
}

fn check_store(path: &Path) {
    let report = prunus_manifest::check(path, &mut |_| ()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// Files are as they were registered, or repaired; those that were said or noted to be repaired are.
fn check_repairs(store: &Store, repaired_before: FileId) {
    let table = load_table(store, TABLES[REPAIRED]);
    let all =
        |tx: &ReadTransaction<'_>| tx.list_inspected_files(table.table_id, table.current_snapshot, FileId(0), u32::MAX);
    let noted_before = store.read(|tx| tx.load_audit_cursor(table.table_id, CursorKind::Loose)).unwrap();
    assert!(noted_before >= repaired_before);
    for InspectedFile { row, statistics } in store.read(all).unwrap() {
        if row.file_id < noted_before || statistics != statistics_of(&row.path) {
            assert_eq!(statistics, statistics_from(&row.path, Provenance::Scanned));
        }
    }
}

/// How often a process is killed: as often as the variable of this name says.
fn kills() -> usize {
    std::env::var("PRUNUS_KILLS").map_or(KILLS, |kills| kills.parse().unwrap())
}

/// Holds a table against what its snapshot must hold; says which that is.
fn check_table(store: &Store, name: &str, acknowledged: i64) -> i64 {
    let table_and_live = |tx: &ReadTransaction<'_>| {
        let table = tx.load_table("sales", name)?;
        let current = table.current_snapshot;
        let live = tx.list_live_files(table.table_id, current, None, u32::MAX)?;
        check_snapshots(tx, &table, &live)?;
        check_entries(tx, &table, &live)?;
        Ok::<_, Error>((current.0, live))
    };
    let (current, live) = store.read(table_and_live).unwrap();
    check_journal(store, name, current);
    // The one commit that was under way may have become durable before its answer was read.
    assert!(
        (acknowledged..=acknowledged + 1).contains(&current),
        "{acknowledged} was acknowledged, {current} is there"
    );
    let paths: Vec<_> = live.into_iter().map(|file| file.path).collect();
    assert_eq!(BTreeSet::from_iter(&paths).len(), paths.len());
    assert_eq!(BTreeSet::from_iter(paths), expected_paths(current));
    current
}

fn check_snapshots(tx: &ReadTransaction<'_>, table: &TableRow, live: &[DataFileRow]) -> Result<(), Error> {
    let snapshots = tx.list_snapshots(table.table_id, None, u32::MAX)?;
    let ids: Vec<_> = snapshots.iter().map(|snapshot| snapshot.snapshot_id.0).collect();
    assert_eq!(ids, (1..=table.current_snapshot.0).rev().collect::<Vec<_>>());
    let totals = snapshots.first().map(|newest| newest.totals).unwrap_or_default();
    assert_eq!(totals, sum(live.iter().map(|file| file.row_count)));
    Ok(())
}

/// Every live file is found once, in a manifest or in the tail, with its statistics; every sum is right.
fn check_entries(tx: &ReadTransaction<'_>, table: &TableRow, live: &[DataFileRow]) -> Result<(), Error> {
    let mut found = BTreeSet::new();
    for manifest in tx.list_manifests(table.table_id)? {
        let removals = tx.list_removals(manifest.manifest_id)?;
        let removed: BTreeSet<i64> = removals.iter().map(|removal| removal.file_id.0).collect();
        let entries = tx.load_entry_block(&manifest)?;
        let files: Vec<_> = entries.file_ids().values().iter().copied().zip(entries.row_counts()).collect();
        assert_eq!(manifest.totals, sum(files.iter().map(|(_, row_count)| *row_count)));
        let (gone, kept): (Vec<_>, Vec<_>) = files.into_iter().partition(|(id, _)| removed.contains(id));
        assert_eq!(manifest.removed, sum(gone.iter().map(|(_, row_count)| *row_count)));
        assert_eq!(gone.len(), removed.len());
        found.extend(kept.into_iter().map(|(id, _)| id));
        assert_eq!(tx.load_column_block(&manifest, COLUMN)?.len() as u64, manifest.totals.files);
    }
    let tail = tx.list_tail(table.table_id)?;
    assert_eq!(tail.len() as u64, table.tail_files);
    found.extend(tail.iter().filter(|entry| entry.removed_snapshot.is_none()).map(|entry| entry.file_id.0));
    assert_eq!(found, live.iter().map(|file| file.file_id.0).collect());
    // The newest ones suffice: the others do not change any more, unless they are repaired.
    let is_repaired = table.name == TABLES[REPAIRED];
    for newest in live.iter().rev().take(4 * ADDED).filter(|_| !is_repaired) {
        assert_eq!(tx.load_file_statistics(newest.file_id)?, statistics_of(&newest.path));
    }
    Ok(())
}

fn sum(row_counts: impl Iterator<Item = Option<u64>>) -> Totals {
    row_counts.fold(Totals::default(), |sum, row_count| Totals {
        files: sum.files + 1,
        rows: sum.rows + row_count.unwrap_or(0),
        files_of_unknown_rows: sum.files_of_unknown_rows + u64::from(row_count.is_none()),
        bytes: sum.bytes + SIZE_BYTES,
    })
}
