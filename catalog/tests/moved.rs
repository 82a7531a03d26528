//! Commits with a filter, and rollbacks, whose table moves between their check and their transaction.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock};

use prunus_catalog::{
    AddedFile, Catalog, CatalogOptions, Clock, CommitRequest, Committed, ConflictReason, DeclaredBound,
    DeclaredStatistics, Error, FieldJson, Filter, MAX_COMMIT_ATTEMPTS, NanOrder, NewTable, Operation, SchemaSource,
    SnapshotId, SystemClock, TableCommit, TableIdent,
};
use prunus_statistics::{Literal, Number, Precision};
use tempfile::TempDir;
use tokio::runtime::Handle;
use uuid::Uuid;

/// A clock that adds a file to the table when it is asked for the time, for as long as its script says so.
#[derive(Default)]
struct Meddler {
    catalog: OnceLock<Catalog>,
    script: Mutex<VecDeque<Option<AddedFile>>>,
}

impl std::fmt::Debug for Meddler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meddler")
    }
}

impl Clock for Meddler {
    fn now_ms(&self) -> i64 {
        let mut script = std::mem::take(&mut *self.script.lock().unwrap());
        if let (Some(Some(file)), Some(catalog)) = (script.pop_front(), self.catalog.get()) {
            let (catalog, runtime) = (catalog.clone(), Handle::current());
            // It asks for the time as well, and finds no script.
            let append = move || runtime.block_on(catalog.commit(ident(), append(file))).unwrap();
            std::thread::spawn(append).join().unwrap();
        }
        *self.script.lock().unwrap() = script;
        1
    }

    fn new_uuid(&self) -> Uuid {
        SystemClock.new_uuid()
    }
}

fn ident() -> TableIdent {
    "n.t".parse().unwrap()
}

/// A file whose only column is of one value.
fn file(name: &str, value: i64) -> AddedFile {
    let bound = || {
        let value = Literal::Number(Number::parse(&value.to_string()).unwrap());
        Some(DeclaredBound { value, precision: Precision::Exact })
    };
    let statistics = DeclaredStatistics { min: bound(), max: bound(), null_count: Some(0), nan_count: None };
    AddedFile {
        path: format!("s3://nowhere/{name}"),
        size_bytes: Some(1),
        columns: BTreeMap::from([("a".to_owned(), statistics)]),
        ..AddedFile::default()
    }
}

fn append(file: AddedFile) -> CommitRequest {
    CommitRequest {
        operation: Operation::Append,
        base_snapshot: None,
        add: vec![file],
        remove: Vec::new(),
        filter: None,
        nan_order: NanOrder::Any,
        summary: BTreeMap::new(),
    }
}

async fn catalog() -> (Catalog, Arc<Meddler>, TempDir) {
    let (folder, meddler) = (tempfile::tempdir().unwrap(), Arc::new(Meddler::default()));
    let options = CatalogOptions { clock: Arc::clone(&meddler) as _, ..CatalogOptions::default() };
    let catalog = Catalog::open(folder.path(), options).await.unwrap();
    catalog.create_namespace("n".parse().unwrap(), BTreeMap::new()).await.unwrap();
    let field: FieldJson = serde_json::from_str(r#"{"name": "a", "type": "int64"}"#).unwrap();
    let table = NewTable {
        ident: ident(),
        schema: SchemaSource::Fields(vec![field.to_new_field().unwrap()]),
        location: None,
        cluster_by: None,
        properties: BTreeMap::from([("verification".to_owned(), "declared".to_owned())]),
    };
    catalog.create_table(table).await.unwrap();
    assert!(meddler.catalog.set(catalog.clone()).is_ok());
    (catalog, meddler, folder)
}

/// An overwrite of the rows where `a` is below 10, from the empty table on.
fn overwrite() -> CommitRequest {
    CommitRequest {
        operation: Operation::Overwrite,
        base_snapshot: Some(SnapshotId::EMPTY),
        filter: Some(Filter::Sql("a < 10".to_owned())),
        ..append(file("overwritten", 5))
    }
}

/// A catalog to which these files are added: each between a check and the transaction after it.
async fn catalog_that_moves(files: Vec<AddedFile>) -> (Catalog, Arc<Meddler>, TempDir) {
    let (catalog, meddler, folder) = catalog().await;
    // After each check the time is asked for twice: for the snapshot, and for the reply.
    *meddler.script.lock().unwrap() = files.into_iter().flat_map(|file| [Some(file), None]).collect();
    (catalog, meddler, folder)
}

async fn overwrite_while_added(files: Vec<AddedFile>) -> Result<Committed, Error> {
    let (catalog, meddler, _folder) = catalog_that_moves(files).await;
    let answer = catalog.commit(ident(), overwrite()).await;
    assert!(meddler.script.lock().unwrap().is_empty());
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_comes_after_the_check_and_may_match_conflicts() {
    match overwrite_while_added(vec![file("far", 50), file("near", 9)]).await {
        Err(Error::Conflict { current_snapshot, conflicts }) => {
            assert_eq!(current_snapshot, SnapshotId(2));
            let [conflict] = conflicts.as_slice() else { unreachable!("{conflicts:?}") };
            assert_eq!((conflict.path.as_str(), conflict.reason), ("s3://nowhere/near", ConflictReason::MayMatch));
        }
        other => unreachable!("{other:?}"),
    }
}

fn far_files(count: usize) -> Vec<AddedFile> {
    (0..count).map(|number| file(&format!("far{number}"), 50)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_come_after_the_check_and_cannot_match_let_it_pass() {
    let files = far_files(MAX_COMMIT_ATTEMPTS - 1);
    let expected = SnapshotId(i64::try_from(MAX_COMMIT_ATTEMPTS).unwrap());
    assert_eq!(overwrite_while_added(files).await.unwrap().snapshot_id, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_never_stands_still_is_given_up() {
    assert!(matches!(overwrite_while_added(far_files(MAX_COMMIT_ATTEMPTS)).await, Err(Error::HeadMoved)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_whose_table_moves_is_checked_again() {
    let transaction = || vec![TableCommit { table: ident(), request: overwrite() }];
    let (catalog, _meddler, _folder) = catalog_that_moves(far_files(2)).await;
    let committed = catalog.commit_all(transaction()).await.unwrap();
    assert_eq!(committed.first().unwrap().committed.snapshot_id, SnapshotId(3));

    let (catalog, _meddler, _folder) = catalog_that_moves(vec![file("near", 9)]).await;
    match catalog.commit_all(transaction()).await {
        Err(Error::OfTable { table, source }) => {
            assert_eq!(table, ident());
            assert!(matches!(*source, Error::Conflict { current_snapshot: SnapshotId(1), .. }), "{source:?}");
        }
        other => unreachable!("{other:?}"),
    }
}

/// Empties a table of one file, to which these are added: each between a look at what differs and the transaction after it.
async fn roll_back_while_added(files: Vec<AddedFile>) -> Result<Committed, Error> {
    let (catalog, meddler, _folder) = catalog().await;
    catalog.commit(ident(), append(file("first", 1))).await.unwrap();
    // The time is asked for once at first, and twice after each look.
    let script = files.into_iter().flat_map(|file| [Some(file), None]);
    *meddler.script.lock().unwrap() = std::iter::once(None).chain(script).collect();
    let answer = catalog.roll_back(ident(), SnapshotId::EMPTY).await;
    assert!(meddler.script.lock().unwrap().is_empty());
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_whose_table_moves_takes_what_came_with_it() {
    let committed = roll_back_while_added(far_files(MAX_COMMIT_ATTEMPTS - 1)).await.unwrap();
    assert_eq!((committed.removed_files, committed.totals.files), (MAX_COMMIT_ATTEMPTS as u64, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_of_a_table_that_never_stands_still_is_given_up() {
    assert!(matches!(roll_back_while_added(far_files(MAX_COMMIT_ATTEMPTS)).await, Err(Error::HeadMoved)));
}
