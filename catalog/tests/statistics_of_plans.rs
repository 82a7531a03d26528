//! The statistics of files that were planned, read after the table's layout changed.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]

use std::collections::BTreeSet;
use std::sync::Arc;

use prunus_catalog::{
    AddedFile, Catalog, CatalogOptions, CommitRequest, DeclaredBound, DeclaredStatistics, FieldJson, Filter, NewTable,
    PlanRequest, RegroupRequest, SchemaSource, TableIdent,
};
use prunus_statistics::{FieldId, FileColumn, FileStatistics, Literal, Number, Precision, Value};

fn ident() -> TableIdent {
    "n.t".parse().unwrap()
}

/// A file whose only column is of one value.
fn file(value: i64) -> AddedFile {
    let bound = || {
        let value = Literal::Number(Number::parse(&value.to_string()).unwrap());
        Some(DeclaredBound { value, precision: Precision::Exact })
    };
    let statistics = DeclaredStatistics { min: bound(), max: bound(), null_count: Some(0), nan_count: None };
    AddedFile {
        path: format!("s3://nowhere/{value}"),
        size_bytes: Some(1),
        row_count: Some(1),
        columns: [("id".to_owned(), statistics)].into(),
        ..AddedFile::default()
    }
}

/// Appends files of these values, and waits until they are sealed.
async fn append(catalog: &Catalog, values: &[i64]) {
    catalog.commit(ident(), CommitRequest::append(values.iter().map(|value| file(*value)))).await.unwrap();
    catalog.wait_for_maintenance().await.unwrap();
}

fn minimum(known: &FileStatistics) -> Option<Value> {
    match known.columns.get(&FieldId(1)) {
        Some(FileColumn::Present(column)) => column.min.as_ref().map(|bound| bound.value.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn the_statistics_of_planned_files_are_read_from_where_they_are_now() {
    let folder = tempfile::tempdir().unwrap();
    let options = CatalogOptions { manifest_target_files: 4, ..CatalogOptions::default() };
    let catalog = Catalog::open(folder.path(), options).await.unwrap();
    catalog.create_namespace("n".parse().unwrap(), [].into()).await.unwrap();
    let field: FieldJson = serde_json::from_str(r#"{"name": "id", "type": "int64"}"#).unwrap();
    let schema = SchemaSource::Fields(vec![field.to_new_field().unwrap()]);
    let properties = [("verification".to_owned(), "declared".to_owned())].into();
    let table = NewTable { properties, ..NewTable::new(ident(), schema) };
    catalog.create_table(table).await.unwrap();
    // Manifests that overlap, so that there is something to group anew; and a tail.
    append(&catalog, &[1, 9, 2, 8]).await;
    append(&catalog, &[3, 7, 4, 6]).await;
    append(&catalog, &[5]).await;
    let request = PlanRequest::of(Filter::Sql("id > 0".to_owned()));
    let (page, chunk) = catalog.plan_page(ident(), request, |_, chunk| chunk.clone()).await.unwrap();
    let before = chunk.files.rows.manifest_id.clone();
    catalog.regroup(ident(), RegroupRequest { cluster_by: Some(vec!["id".to_owned()]), dry_run: false }).await.unwrap();
    append(&catalog, &[10, 11, 12]).await;
    let (_, after) = catalog
        .plan_page(ident(), PlanRequest::of(Filter::Sql("id < 10".to_owned())), |_, chunk| chunk.clone())
        .await
        .unwrap();
    assert_ne!(before, after.files.rows.manifest_id);
    let read = |_: &_, _: &_, known: &[FileStatistics]| known.iter().map(minimum).collect::<Vec<_>>();
    let found = Arc::new(page).with_statistics(chunk, BTreeSet::from([FieldId(1)]), read).await.unwrap();
    let expected = [1, 9, 2, 8, 3, 7, 4, 6, 5].map(|value| Some(Value::Integer(value)));
    assert_eq!(found, expected);
}
