//! The files that are registered.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use prunus_catalog::{Catalog, SnapshotRef, TableIdent};
use prunus_statistics::{FileColumn, Value};

/// How many rows a file has.
pub(crate) const ROWS: usize = 100;

/// Writes so many files below a folder.
pub(crate) fn write(folder: &Path, count: usize) -> Vec<PathBuf> {
    let folder = folder.join("warehouse/namespace/table/data");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |number| {
        let path = folder.join(format!("part-{number:010}-0123456789abcdef.zstd.parquet"));
        let batch = batch(number);
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    };
    (0..count).map(write).collect()
}

fn batch(number: usize) -> RecordBatch {
    let first = (number * ROWS) as i64;
    let ids = || first..first + ROWS as i64;
    let drawn =
        |seed: i64, limit: i64| ids().map(move |id| ((id.wrapping_mul(2_654_435_761) + seed * 40_503) >> 7) % limit);
    let ints = |seed: i64, limit: i64| drawn(seed, limit).map(|value| value as i32);
    let floats = |seed: i64| drawn(seed, 1_000_000).map(|value| value as f64 / 100.0);
    let columns: [(&str, ArrayRef); 10] = [
        (
            "ts",
            Arc::new(TimestampMicrosecondArray::from_iter_values(
                ids().map(|id| 1_704_067_200_000_000 + id * 1_000_000),
            )),
        ),
        ("id", Arc::new(Int64Array::from_iter_values(ids()))),
        ("s", Arc::new(StringArray::from_iter_values(ids().map(|id| format!("item-{id:011}"))))),
        ("price", Arc::new(Float64Array::from_iter_values(floats(3)))),
        ("d", Arc::new(Date32Array::from_iter_values(ids().map(|id| 19_000 + (id / 86_400) as i32)))),
        ("id32", Arc::new(Int32Array::from_iter_values(ints(5, 1_000_000)))),
        ("qty", Arc::new(Int32Array::from_iter_values(ints(6, 50)))),
        ("f1", Arc::new(Float64Array::from_iter_values(floats(7)))),
        ("i1", Arc::new(Int64Array::from_iter_values(drawn(8, 7_000_000)))),
        ("cat", Arc::new(StringArray::from_iter_values(drawn(9, 100).map(|value| format!("cat-{value:02}"))))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// That a file is registered with the bounds that were written into it.
pub(crate) async fn check(catalog: &Catalog, table: TableIdent, path: &Path, number: usize) {
    let path = path.to_str().unwrap().to_owned();
    let columns = catalog.load_file(table, SnapshotRef::Current, path).await.unwrap().columns;
    let bounded = columns.values().filter(|(_, column)| {
        matches!(column, FileColumn::Present(statistics) if statistics.min.is_some() && statistics.max.is_some())
    });
    assert_eq!(bounded.count(), 10);
    let FileColumn::Present(ids) = &columns["id"].1 else { unreachable!("every file has ids") };
    let first = (number * ROWS) as i64;
    let bounds = [&ids.min, &ids.max].map(|bound| bound.as_ref().unwrap().value.clone());
    assert_eq!(bounds, [Value::Integer(first.into()), Value::Integer((first + ROWS as i64 - 1).into())]);
}
