//! Readers plan fixed snapshots while writers commit, manifests are sealed and grouped anew, and snapshots expire: every plan is
//! what the snapshot was when it was committed, or says that the snapshot is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use prunus_catalog::{
    AddedFile, Catalog, CatalogOptions, CommitRequest, DeclaredBound, DeclaredStatistics, Error, ExpireRequest,
    ExpireRun, Filter, NanOrder, NewTable, Operation, PlanRequest, RegroupRequest, SchemaSource, SnapshotId,
    SnapshotRef, TableIdent,
};
use prunus_statistics::{Literal, Number, Precision};
use serde_json::json;
use tokio::sync::Mutex;

/// The writer goes on until so much has been seen of it.
const COMMITS: u64 = 200;
const PLANS: u64 = 500;
const PLANS_OF_EXPIRED: u64 = 5;
/// It fails if this is not enough.
const COMMITS_MAX: u64 = 5_000;
const READERS: u64 = 6;
/// The values of the files lie below.
const VALUES: u64 = 1_000;

/// The values of the live files of each snapshot; a file holds one value in all its rows, and is named after it.
type Model = Arc<Mutex<BTreeMap<i64, BTreeSet<u64>>>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_plan_is_that_of_its_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let options = CatalogOptions { manifest_target_files: 4, ..CatalogOptions::default() };
    let catalog = Catalog::open(folder.path(), options).await.unwrap();
    let ident = create_table(&catalog).await;
    let model = Model::default();
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::new(Seen::default());
    let mut readers = tokio::task::JoinSet::new();
    for reader in 0..READERS {
        let (catalog, ident, model, is_over) = (catalog.clone(), ident.clone(), model.clone(), is_over.clone());
        let seen = seen.clone();
        readers.spawn(async move {
            let mut chance = Chance(reader + 1);
            while !is_over.load(Ordering::Relaxed) {
                seen.count(plan_once(&catalog, &ident, &model, &mut chance).await);
                tokio::task::yield_now().await;
            }
        });
    }
    let background = tokio::spawn(regroup_and_expire(catalog.clone(), ident.clone(), is_over.clone()));
    write(&catalog, &ident, &model, &seen).await;
    is_over.store(true, Ordering::Relaxed);
    while let Some(reader) = readers.join_next().await {
        reader.unwrap();
    }
    background.await.unwrap();
    catalog.wait_for_maintenance().await.unwrap();
    assert!(seen.is_enough(), "{seen:?}");
}

/// How many plans there were.
#[derive(Debug, Default)]
struct Seen {
    planned: AtomicU64,
    expired: AtomicU64,
}

impl Seen {
    fn count(&self, read: Read) {
        match read {
            Read::Planned => self.planned.fetch_add(1, Ordering::Relaxed),
            Read::Gone => self.expired.fetch_add(1, Ordering::Relaxed),
            Read::NothingYet => 0,
        };
    }

    fn is_enough(&self) -> bool {
        self.planned.load(Ordering::Relaxed) >= PLANS && self.expired.load(Ordering::Relaxed) >= PLANS_OF_EXPIRED
    }
}

async fn create_table(catalog: &Catalog) -> TableIdent {
    let ident: TableIdent = "n.t".parse().unwrap();
    catalog.create_namespace("n".parse().unwrap(), BTreeMap::new()).await.unwrap();
    let field: prunus_catalog::FieldJson = serde_json::from_value(json!({"name": "v", "type": "int64"})).unwrap();
    let table = NewTable {
        ident: ident.clone(),
        schema: SchemaSource::Fields(vec![field.to_new_field().unwrap()]),
        location: Some("/data/".to_owned()),
        cluster_by: Some(vec!["v".to_owned()]),
        properties: BTreeMap::from([("verification".to_owned(), "declared".to_owned())]),
    };
    catalog.create_table(table).await.unwrap();
    ident
}

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// One commit after another: some files come, some of the live ones go.
async fn write(catalog: &Catalog, ident: &TableIdent, model: &Model, seen: &Seen) {
    let mut chance = Chance(7);
    let mut live = BTreeSet::new();
    for commit in 0..COMMITS_MAX {
        if commit >= COMMITS && seen.is_enough() {
            break;
        }
        let add: BTreeSet<u64> = (0..1 + chance.below(5)).map(|_| chance.below(VALUES)).collect();
        let add: BTreeSet<u64> = add.difference(&live).copied().collect();
        let remove: BTreeSet<u64> = live.iter().copied().filter(|_| chance.below(20) == 0).collect();
        if add.is_empty() && remove.is_empty() {
            continue;
        }
        let request = CommitRequest {
            operation: Operation::Overwrite,
            base_snapshot: None,
            add: add.iter().map(|value| file(*value)).collect(),
            remove: remove.iter().map(u64::to_string).collect(),
            filter: None,
            nan_order: NanOrder::Any,
            summary: BTreeMap::new(),
        };
        live.retain(|value| !remove.contains(value));
        live.extend(add);
        let committed = catalog.commit(ident.clone(), request).await.unwrap();
        assert_eq!(committed.totals.files, live.len() as u64);
        model.lock().await.insert(committed.snapshot_id.0, live.clone());
    }
}

fn file(value: u64) -> AddedFile {
    let bound =
        Some(DeclaredBound { value: Literal::Number(Number::new(value.into(), 0)), precision: Precision::Exact });
    let column = DeclaredStatistics { min: bound.clone(), max: bound, null_count: Some(0), nan_count: None };
    AddedFile {
        path: value.to_string(),
        size_bytes: Some(100 + value),
        row_count: Some(value),
        columns: BTreeMap::from([("v".to_owned(), column)]),
        ..AddedFile::default()
    }
}

/// What a reader saw.
enum Read {
    Planned,
    Gone,
    NothingYet,
}

/// Plans a range of values in a snapshot that was committed some time.
async fn plan_once(catalog: &Catalog, ident: &TableIdent, model: &Model, chance: &mut Chance) -> Read {
    let (snapshot_id, files) = {
        let model = model.lock().await;
        // Mostly one of the last ones.
        let reach = if chance.below(4) == 0 { 40 } else { 4 };
        let back = chance.below(reach);
        let Some((snapshot_id, files)) = model.iter().rev().nth(back.try_into().unwrap()) else {
            return Read::NothingYet;
        };
        (*snapshot_id, files.clone())
    };
    let first = chance.below(VALUES);
    let end = first + 1 + chance.below(100);
    let request = PlanRequest {
        filter: Some(Filter::Sql(format!("v >= {first} AND v < {end}"))),
        snapshot: SnapshotRef::Id(SnapshotId(snapshot_id)),
        ..PlanRequest::default()
    };
    let plan = match catalog.plan(ident.clone(), request).await {
        Ok(plan) => plan,
        Err(Error::NotFound { what: "snapshot", .. }) => return Read::Gone,
        Err(error) => panic!("{error:?}"),
    };
    let found: BTreeSet<String> = plan.files.iter().map(|file| file.entry.row.path.clone()).collect();
    let expected: BTreeSet<String> = files.range(first..end).map(|value| format!("file:///data/{value}")).collect();
    assert_eq!(found, expected, "snapshot {snapshot_id}, values {first} to {end}");
    assert_eq!(plan.files.len(), expected.len());
    assert_eq!(plan.metrics.files_considered, files.len() as u64);
    Read::Planned
}

async fn regroup_and_expire(catalog: Catalog, ident: TableIdent, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        catalog.regroup(ident.clone(), RegroupRequest::default()).await.unwrap();
        let request = ExpireRequest { older_than_ms: None, keep_last: Some(10), run: ExpireRun::Real };
        catalog.expire(ident.clone(), request).await.unwrap();
    }
}
