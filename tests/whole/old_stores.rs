//! Stores that older versions left: each file under `tests/fixtures` opens, and holds what its README says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prunus_catalog::{
    Catalog, CatalogOptions, Filter, PageSize, PlanRequest, SnapshotId, SnapshotRef, TableIdent, Verdict,
};
use prunus_statistics::{Bound, ColumnStatistics, Count, FileColumn, Precision, PrimitiveType, Provenance, Value};

use crate::clock::SetClock;

mod cargo;
mod readings;

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut stores: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "db")).collect();
    stores.sort();
    stores
}

/// A folder with a copy of a store in the place of a catalog's.
fn folder_with(store: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(store, folder.path().join("prunus.db")).unwrap();
    folder
}

async fn open(folder: &Path) -> Catalog {
    // Stored replies are given for a day.
    let options = CatalogOptions { manifest_target_files: 4, clock: SetClock::new(), ..CatalogOptions::default() };
    Catalog::open(folder, options).await.unwrap()
}

async fn assert_sound(folder: &Path) {
    let report = prunus_catalog::check(folder, |_| ()).await.unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[tokio::test]
async fn every_old_store_is_sound_before_and_after_it_is_brought_up_to_date() {
    let stores = fixtures();
    assert!(!stores.is_empty());
    for store in stores {
        let folder = folder_with(&store);
        assert_sound(folder.path()).await;
        assert_eq!(std::fs::read(&store).unwrap(), std::fs::read(folder.path().join("prunus.db")).unwrap());
        open(folder.path()).await.wait_for_maintenance().await.unwrap();
        assert_sound(folder.path()).await;
    }
}

#[tokio::test]
async fn every_old_store_holds_what_it_held() {
    for store in fixtures() {
        let folder = folder_with(&store);
        holds_what_it_held(&store, &open(folder.path()).await).await;
    }
}

#[tokio::test]
async fn a_backup_of_an_old_store_is_restored() {
    for store in fixtures() {
        let folder = tempfile::tempdir().unwrap();
        let refuse = prunus_catalog::Existing::Refuse;
        assert_eq!(prunus_catalog::restore(folder.path(), &store, refuse).await.unwrap(), None);
        holds_what_it_held(&store, &open(folder.path()).await).await;
    }
}

async fn holds_what_it_held(store: &Path, catalog: &Catalog) {
    match store.file_name().unwrap().to_str().unwrap() {
        "store-0001.db" => holds_the_orders(catalog).await,
        "store-0002.db" => readings::holds_the_readings(catalog).await,
        "store-0003.db" => cargo::holds_the_cargo(catalog).await,
        name => panic!("nobody has written down what {name} holds"),
    }
}

fn orders() -> TableIdent {
    "sales.eu.orders".parse().unwrap()
}

/// What the README says of the first one.
async fn holds_the_orders(catalog: &Catalog) {
    let (namespaces, _) = catalog.list_namespaces(String::new(), PageSize::default()).await.unwrap();
    let named: Vec<_> = namespaces.into_iter().map(|namespace| (namespace.name, namespace.properties)).collect();
    let owner = BTreeMap::from([("owner".to_owned(), "ann".to_owned())]);
    assert_eq!(named, [("empty".to_owned(), BTreeMap::new()), ("sales.eu".to_owned(), owner)]);

    let table = catalog.load_table(orders()).await.unwrap();
    assert_eq!((table.location.as_deref(), table.cluster_by), (Some("s3://bucket/orders/"), vec!["day".to_owned()]));
    assert_eq!((table.totals.files, table.totals.rows, table.totals.files_of_unknown_rows), (8, 470, 1));
    let (snapshots, _) = catalog.list_snapshots(orders(), None, PageSize::default()).await.unwrap();
    let operations: Vec<_> = snapshots.iter().rev().map(|snapshot| snapshot.row.operation.to_string()).collect();
    assert_eq!(operations, ["append", "append", "delete", "replace", "overwrite"]);

    for (snapshot, live) in LIVE.iter().copied() {
        assert_eq!(live_files(catalog, orders(), snapshot).await, live, "snapshot {snapshot}");
        assert_eq!(planned(catalog, orders(), snapshot, None).await.0, live, "snapshot {snapshot}");
    }
    has_the_statistics_of_the_first_file(catalog).await;
    for (filter, kept, all) in PLANS {
        assert_eq!(planned(catalog, orders(), 5, Some(filter)).await, (kept.to_vec(), all.to_vec()), "{filter}");
    }
}

/// The numbers of the live files of each snapshot; files are called `f01.parquet` and so on.
const LIVE: &[(i64, &[u32])] = &[
    (1, &[1, 2, 3, 4, 5, 6]),
    (2, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    (3, &[1, 3, 4, 5, 6, 7, 8, 10, 11]),
    (4, &[1, 4, 5, 6, 7, 8, 10, 11, 30]),
    (5, &[1, 5, 6, 7, 8, 10, 12, 30]),
];

/// Filters on the newest snapshot: which files are kept, and which of them match as a whole. Of the file 30 nothing is known.
const PLANS: &[(&str, &[u32], &[u32])] = &[
    ("day >= DATE '2024-01-06'", &[5, 6, 7, 8, 30], &[5, 6, 7, 8]),
    ("day = DATE '2024-01-04'", &[12, 30], &[12]),
    ("city = 'Rome'", &[30], &[]),
    ("id BETWEEN 100 AND 199", &[1, 30], &[1]),
    ("price > 5.0", &[6, 7, 8, 10, 12, 30], &[]),
];

fn number_of(path: &str) -> u32 {
    let name = path.rsplit('/').next().unwrap().trim_end_matches(".parquet");
    name.trim_start_matches(char::is_alphabetic).parse().unwrap()
}

async fn live_files(catalog: &Catalog, table: TableIdent, snapshot: i64) -> Vec<u32> {
    let snapshot = SnapshotRef::Id(SnapshotId(snapshot));
    let (_, files, _) = catalog.list_files(table, snapshot, None, PageSize::default()).await.unwrap();
    sorted(files.iter().map(|file| number_of(&file.row.path)))
}

/// The kept files, and those of them that match as a whole.
async fn planned(catalog: &Catalog, table: TableIdent, snapshot: i64, filter: Option<&str>) -> (Vec<u32>, Vec<u32>) {
    let request = PlanRequest {
        filter: filter.map(|filter| Filter::Sql(filter.to_owned())),
        snapshot: SnapshotRef::Id(SnapshotId(snapshot)),
        ..PlanRequest::default()
    };
    let plan = catalog.plan(table, request).await.unwrap();
    let number = |file: &prunus_catalog::PlannedFile| number_of(&file.entry.row.path);
    let all = plan.files.iter().filter(|file| file.verdict == Verdict::All);
    (sorted(plan.files.iter().map(number)), sorted(all.map(number)))
}

fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

async fn has_the_statistics_of_the_first_file(catalog: &Catalog) {
    let path = "s3://bucket/orders/day=2024-01-02/f01.parquet".to_owned();
    let file = catalog.load_file(orders(), SnapshotRef::Current, path).await.unwrap();
    assert_eq!((file.entry.row.size_bytes, file.entry.row.row_count), (1001, Some(10)));
    let (provenance, count) = (Provenance::Declared, |value| Some(Count { value, provenance: Provenance::Declared }));
    let bound = |value, precision| Some(Bound { value, precision, provenance });
    let text = |text: &str| Value::Bytes(text.as_bytes().to_vec());
    let id = ColumnStatistics {
        min: bound(Value::Integer(100), Precision::Exact),
        max: bound(Value::Integer(199), Precision::Bound),
        null_count: count(0),
        nan_count: None,
    };
    let price = ColumnStatistics {
        min: bound(Value::Float(0.5), Precision::Bound),
        max: bound(Value::Float(1.0), Precision::Bound),
        null_count: count(1),
        nan_count: count(0),
    };
    let city = ColumnStatistics {
        min: bound(text("c1"), Precision::Bound),
        max: bound(text("c1~"), Precision::Estimate),
        null_count: None,
        nan_count: None,
    };
    let column = |name: &str| file.columns.get(name).cloned();
    assert_eq!(column("id"), Some((PrimitiveType::Int64, FileColumn::Present(id))));
    assert_eq!(column("price"), Some((PrimitiveType::Float64, FileColumn::Present(price))));
    assert_eq!(column("city"), Some((PrimitiveType::String, FileColumn::Present(city))));
    assert_eq!(column("at.ts"), None);
}
