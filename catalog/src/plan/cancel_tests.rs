//! Plans that nobody waits for any more, and those that wait for them.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use prunus_statistics::{Literal, Number, Precision};
use tempfile::TempDir;

use super::*;
use crate::{
    AddedFile, CatalogOptions, CommitRequest, DeclaredBound, DeclaredStatistics, FieldJson, Limits, ManifestsRequest,
    NewTable, SchemaSource,
};
use crate::{coverage, manifests};

/// More than a plan looks into in a moment.
const MANIFESTS: usize = 400;

/// A catalog that makes one plan at a time, with a table of many manifests of a file each.
async fn catalog(plans_waiting: usize) -> (Catalog, TableIdent, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { plans_at_once: NonZeroUsize::MIN, plans_waiting, ..Limits::default() };
    let options = CatalogOptions { manifest_target_files: 1, limits, ..CatalogOptions::default() };
    let catalog = Catalog::open(folder.path(), options).await.unwrap();
    let ident: TableIdent = "n.t".parse().unwrap();
    catalog.create_namespace("n".parse().unwrap(), BTreeMap::new()).await.unwrap();
    let field: FieldJson = serde_json::from_str(r#"{"name": "a", "type": "int64"}"#).unwrap();
    let mut table = NewTable::new(ident.clone(), SchemaSource::Fields(vec![field.to_new_field().unwrap()]));
    table.properties = BTreeMap::from([("verification".to_owned(), "declared".to_owned())]);
    catalog.create_table(table).await.unwrap();
    catalog.commit(ident.clone(), CommitRequest::append((0..MANIFESTS).map(file))).await.unwrap();
    catalog.wait_for_maintenance().await.unwrap();
    (catalog, ident, folder)
}

/// One with the values from its number up, so that zones of manifests prune few of them.
fn file(number: usize) -> AddedFile {
    let bound = |value: usize| {
        Some(DeclaredBound { value: Literal::Number(Number::new(value as i128, 0)), precision: Precision::Bound })
    };
    let statistics =
        DeclaredStatistics { min: bound(number), max: bound(number + MANIFESTS), null_count: Some(0), nan_count: None };
    AddedFile {
        size_bytes: Some(1),
        row_count: Some(2),
        columns: BTreeMap::from([("a".to_owned(), statistics)]),
        ..AddedFile::at(format!("s3://b/{number}"))
    }
}

fn scan() -> PlanRequest {
    PlanRequest::of(Filter::Sql(format!("a = {MANIFESTS}")))
}

#[tokio::test]
async fn a_plan_that_nobody_waits_for_stops_and_lets_its_reader_go() {
    let (catalog, ident, _folder) = catalog(1).await;
    let read = || catalog.plan_cache.entry_blocks();
    {
        let mut plan = std::pin::pin!(catalog.plan(ident.clone(), scan()));
        while read() == 0 {
            assert!(futures::poll!(&mut plan).is_pending());
            tokio::task::yield_now().await;
        }
    }
    // There is one turn, and the work has it until its transaction is over.
    let turn = tokio::time::timeout(Duration::from_secs(10), catalog.admission.plan(|| 0)).await.unwrap().unwrap();
    let looked_into = read();
    assert!((1..MANIFESTS).contains(&looked_into), "{looked_into} of {MANIFESTS}");
    drop(turn);
    assert_eq!(catalog.plan(ident, scan()).await.unwrap().metrics.files_kept, MANIFESTS as u64);
    assert_eq!(read(), MANIFESTS);
}

#[tokio::test]
async fn a_plan_beyond_those_that_wait_is_refused_and_others_go_on() {
    let (catalog, ident, _folder) = catalog(2).await;
    let plans = (0..10).map(|_| catalog.plan(ident.clone(), scan()));
    let answers = futures::future::join_all(plans).await;
    let made = answers.iter().filter(|answer| answer.is_ok()).count();
    let refused = answers.iter().filter(|answer| matches!(answer, Err(Error::TooMany { at_once: 1, waiting: 2, .. })));
    assert_eq!((made, refused.count()), (3, 7));
    assert!(catalog.plan(ident, scan()).await.is_ok());
}

#[tokio::test]
async fn a_look_at_a_table_waits_for_no_plan() {
    let (catalog, ident, _folder) = catalog(0).await;
    let _turn = catalog.admission.plan(|| 0).await.unwrap();
    assert!(matches!(catalog.plan(ident.clone(), scan()).await, Err(Error::TooMany { .. })));
    assert!(matches!(catalog.load_coverage(ident.clone(), SnapshotRef::Current).await, Err(Error::TooMany { .. })));
    assert!(catalog.load_table(ident).await.is_ok());
    catalog.check_ready().await.unwrap();
}

#[tokio::test]
async fn listings_that_nobody_waits_for_end_at_their_first_manifest() {
    let (catalog, ident, _folder) = catalog(0).await;
    let cancelled = Cancelled::default();
    drop(cancelled.on_drop());
    let log = &catalog.obstacle_log;
    let covered = catalog.read_here(|tx| coverage::cover(tx, (log, &cancelled), &ident, SnapshotRef::Current));
    assert!(matches!(covered, Err(Error::Cancelled)));
    let request = ManifestsRequest { snapshot: SnapshotRef::Current, after: None, page_size: PageSize::default() };
    let listed = catalog.read_here(|tx| manifests::list(tx, (&catalog.plan_cache, &cancelled), &ident, request));
    assert!(matches!(listed, Err(Error::Cancelled)));
    assert_eq!(catalog.plan_cache.entry_blocks(), 0);
}
