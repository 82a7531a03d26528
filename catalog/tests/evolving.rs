//! Commits and rollbacks whose table gets other columns between what they were made ready for and their transaction.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use prunus_catalog::{
    AddedFile, AlterRequest, Catalog, CatalogOptions, Clock, CommitRequest, DeclaredBound, DeclaredStatistics, Error,
    FieldJson, Filter, NanOrder, NewTable, Operation, PlanRequest, SchemaChange, SchemaSource, SnapshotId, SystemClock,
    TableIdent,
};
use prunus_statistics::{Literal, Number, Precision};
use tempfile::TempDir;
use tokio::runtime::Handle;
use uuid::Uuid;

/// A clock that changes the table when it is asked for the time, once for each change.
#[derive(Default)]
struct Meddler {
    catalog: OnceLock<Catalog>,
    changes: Mutex<Vec<AlterRequest>>,
}

impl std::fmt::Debug for Meddler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meddler")
    }
}

impl Clock for Meddler {
    fn now_ms(&self) -> i64 {
        let change = self.changes.lock().unwrap().pop();
        if let (Some(change), Some(catalog)) = (change, self.catalog.get()) {
            let (catalog, runtime) = (catalog.clone(), Handle::current());
            let alter = move || runtime.block_on(catalog.alter_table(ident(), change)).map(drop).unwrap();
            std::thread::spawn(alter).join().unwrap();
        }
        1
    }

    fn new_uuid(&self) -> Uuid {
        SystemClock.new_uuid()
    }
}

fn ident() -> TableIdent {
    "n.t".parse().unwrap()
}

fn rename(names: &[(&str, &str)]) -> AlterRequest {
    let change =
        |(column, to): &(&str, &str)| SchemaChange::Rename { column: (*column).to_owned(), to: (*to).to_owned() };
    AlterRequest { schema: names.iter().map(change).collect(), ..AlterRequest::default() }
}

async fn catalog() -> (Catalog, Arc<Meddler>, TempDir) {
    let (folder, meddler) = (tempfile::tempdir().unwrap(), Arc::new(Meddler::default()));
    let options = CatalogOptions { clock: Arc::clone(&meddler) as _, ..CatalogOptions::default() };
    let catalog = Catalog::open(folder.path(), options).await.unwrap();
    catalog.create_namespace("n".parse().unwrap(), BTreeMap::new()).await.unwrap();
    let fields = ["a", "b"].map(|name| {
        let field: FieldJson = serde_json::from_value(serde_json::json!({"name": name, "type": "int64"})).unwrap();
        field.to_new_field().unwrap()
    });
    let table = NewTable {
        ident: ident(),
        schema: SchemaSource::Fields(fields.into()),
        location: None,
        cluster_by: None,
        properties: BTreeMap::from([("verification".to_owned(), "declared".to_owned())]),
    };
    catalog.create_table(table).await.unwrap();
    assert!(meddler.catalog.set(catalog.clone()).is_ok());
    (catalog, meddler, folder)
}

/// A commit that says of a file that `a` is 5 in every row.
fn commit(name: &str, filter: Option<&str>) -> CommitRequest {
    let bound = || {
        let value = Literal::Number(Number::parse("5").unwrap());
        Some(DeclaredBound { value, precision: Precision::Exact })
    };
    let statistics = DeclaredStatistics { min: bound(), max: bound(), null_count: Some(0), nan_count: None };
    let file = AddedFile {
        path: format!("s3://nowhere/{name}"),
        size_bytes: Some(1),
        columns: BTreeMap::from([("a".to_owned(), statistics)]),
        ..AddedFile::default()
    };
    CommitRequest {
        operation: if filter.is_some() { Operation::Overwrite } else { Operation::Append },
        base_snapshot: filter.map(|_| SnapshotId::EMPTY),
        add: vec![file],
        remove: Vec::new(),
        filter: filter.map(|filter| Filter::Sql(filter.to_owned())),
        nan_order: NanOrder::Any,
        summary: BTreeMap::new(),
    }
}

async fn kept(catalog: &Catalog, filter: &str) -> usize {
    let filter = Some(Filter::Sql(filter.to_owned()));
    catalog.plan(ident(), PlanRequest { filter, ..PlanRequest::default() }).await.unwrap().files.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_was_made_ready_for_other_columns_is_refused() {
    for filter in [None, Some("a < 3")] {
        let (catalog, meddler, _folder) = catalog().await;
        // So that what is known of the table is in memory.
        catalog.commit(ident(), commit("first", None)).await.unwrap();
        // What was said of `a` would be taken for what is called so now.
        *meddler.changes.lock().unwrap() = vec![rename(&[("a", "c"), ("b", "a")])];
        let refused = catalog.commit(ident(), commit("second", filter)).await;
        assert!(matches!(refused, Err(Error::SchemaMoved)), "{refused:?}");
        let table = catalog.load_table(ident()).await.unwrap();
        assert_eq!((table.current_snapshot, table.schema_id.0), (SnapshotId(1), 2));
        catalog.commit(ident(), commit("second", None)).await.unwrap();
        assert_eq!((kept(&catalog, "a = 7").await, kept(&catalog, "c = 7").await), (1, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_is_worked_out_again_when_columns_change() {
    let (catalog, meddler, _folder) = catalog().await;
    catalog.commit(ident(), commit("first", None)).await.unwrap();
    *meddler.changes.lock().unwrap() = vec![rename(&[("a", "c")])];
    let committed = catalog.roll_back(ident(), SnapshotId::EMPTY).await.unwrap();
    assert_eq!((committed.snapshot_id, committed.totals.files), (SnapshotId(2), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_that_meet_are_made_one_after_the_other() {
    let (catalog, meddler, _folder) = catalog().await;
    *meddler.changes.lock().unwrap() = vec![rename(&[("a", "c")])];
    let refused = catalog.alter_table(ident(), rename(&[("a", "d")])).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    catalog.alter_table(ident(), rename(&[("c", "d")])).await.unwrap();
}
