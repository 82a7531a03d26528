//! What plans have read is not kept beyond a repair.

use std::collections::BTreeMap;

use prunus_manifest::{ColumnRepair, FileId, FileRepair, RepairOutcome, SnapshotId, TableId};
use prunus_statistics::{Bound, ColumnStatistics, FieldId, FileColumn, Precision, PrimitiveType, Provenance, Value};

use crate::schema::{NewField, NewType};
use crate::{
    AddedFile, Catalog, CatalogOptions, CommitRequest, Filter, NewTable, Operation, PlanRequest, SchemaSource,
    TableIdent,
};

/// A table of a manifest of two files and a tail of one, of which nothing is known.
async fn catalog(folder: &tempfile::TempDir) -> (Catalog, TableIdent) {
    let options = CatalogOptions { manifest_target_files: 2, ..CatalogOptions::default() };
    let catalog = Catalog::open(folder.path(), options).await.unwrap();
    let ident: TableIdent = "n.t".parse().unwrap();
    catalog.create_namespace(ident.namespace.clone(), [].into()).await.unwrap();
    let field = NewField {
        id: Some(FieldId(1)),
        name: "id".to_owned(),
        field_type: NewType::Primitive(PrimitiveType::Int64),
        nullable: true,
        default: None,
        doc: None,
    };
    let table = NewTable {
        ident: ident.clone(),
        schema: SchemaSource::Fields(vec![field]),
        location: Some("/data".to_owned()),
        cluster_by: None,
        properties: [("verification".to_owned(), "declared".to_owned())].into(),
    };
    catalog.create_table(table).await.unwrap();
    let file = |path: &str| AddedFile { path: path.to_owned(), size_bytes: Some(1), ..AddedFile::default() };
    let commit = CommitRequest {
        operation: Operation::Append,
        base_snapshot: None,
        add: ["a", "b", "c"].map(file).into(),
        remove: Vec::new(),
        filter: None,
        nan_order: prunus_pruner::NanOrder::Any,
        summary: [].into(),
    };
    catalog.commit(ident.clone(), commit).await.unwrap();
    catalog.wait_for_maintenance().await.unwrap();
    (catalog, ident)
}

/// Says of a file that its only number is this.
fn repair(catalog: &Catalog, file_id: FileId, number: i128) {
    let bound = Bound { value: Value::Integer(number), precision: Precision::Exact, provenance: Provenance::Scanned };
    let statistics = ColumnStatistics { min: Some(bound.clone()), max: Some(bound), ..ColumnStatistics::default() };
    let page = |tx: &prunus_manifest::ReadTransaction<'_>| tx.load_file_statistics(file_id);
    let before = catalog.store.read(page).unwrap().columns.remove(&FieldId(1));
    let column = ColumnRepair { column_type: PrimitiveType::Int64, before, after: FileColumn::Present(statistics) };
    let repair: FileRepair = [(FieldId(1), column)].into();
    let outcomes = catalog.store.repair(TableId(1), &BTreeMap::from([(file_id, repair)])).unwrap();
    assert_eq!(outcomes, [(file_id, RepairOutcome::Repaired)].into());
}

/// The ids of the files that a plan keeps.
async fn planned(catalog: &Catalog, ident: &TableIdent, filter: &str) -> Vec<i64> {
    let request = PlanRequest { filter: Some(Filter::Sql(filter.to_owned())), ..PlanRequest::default() };
    let plan = catalog.plan(ident.clone(), request).await.unwrap();
    assert_eq!(plan.snapshot_id, SnapshotId(1));
    plan.files.iter().map(|file| file.entry.row.file_id.0).collect()
}

#[tokio::test]
async fn a_plan_sees_what_was_repaired_in_a_manifest_and_in_the_tail() {
    let folder = tempfile::tempdir().unwrap();
    let (catalog, ident) = catalog(&folder).await;
    assert_eq!(planned(&catalog, &ident, "id = 7").await, [1, 2, 3]);
    repair(&catalog, FileId(1), 5);
    assert_eq!(planned(&catalog, &ident, "id = 7").await, [2, 3]);
    repair(&catalog, FileId(3), 6);
    assert_eq!(planned(&catalog, &ident, "id = 7").await, [2]);
    // By its zone the whole manifest goes.
    repair(&catalog, FileId(2), 6);
    assert_eq!(planned(&catalog, &ident, "id = 7").await, [0_i64; 0]);
    // What was wrong comes back.
    repair(&catalog, FileId(2), 7);
    repair(&catalog, FileId(3), 7);
    assert_eq!(planned(&catalog, &ident, "id = 7").await, [2, 3]);
}
