//! Random batches through Arrow's Parquet writer with random settings, and back: what is registered from the footer may not
//! contradict the rows, and what is read from the data is exactly what they hold.
//!
//! `PRUNUS_ROUNDS` times the usual number of files is written, from the seed `PRUNUS_SEED`.

mod columns;
mod settings;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use parquet::arrow::ArrowWriter;
use prunus_catalog::collect::{
    ChunkFault, FileLeaf, Footer, LeafScan, MAX_EXACT_BOUND_BYTES, ScanError, ScanFor, footer_range, metadata_within,
    scan,
};
use prunus_catalog::{Location, Storage};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, Precision, PrimitiveType, Provenance, Value, cut_to_limit, parse_value,
};
use serde_json::{Value as Json, json};

use crate::rows::Numbers;
use crate::server::{Server, append};
use columns::{Column, Leaf, columns};

const FILES: u64 = 12;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |value| value.parse().unwrap())
}

/// Writes a file of random columns with random settings, and says what is in it and how it was written.
fn write(path: &Path, seed: u64) -> (Vec<Column>, String) {
    let numbers = &mut Numbers(seed);
    let rows = [0, 1, 7, 400][numbers.below(4) as usize];
    let columns = columns(numbers, rows);
    let fields: Vec<_> = columns.iter().map(|column| column.field.clone()).collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = columns.iter().map(|column| Arc::clone(&column.array)).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    let (properties, settings) = settings::draw(numbers, &columns);
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    (columns, format!("seed {seed}, {rows} rows, {settings}"))
}

/// What a leaf's values come to: the smallest and the largest but for NaN, and how many are null and NaN.
struct Truth {
    ends: Option<(Value, Value)>,
    nulls: u64,
    nans: u64,
}

impl Truth {
    fn of(leaf: &Leaf) -> Self {
        let nulls = leaf.values.iter().filter(|value| value.is_none()).count() as u64;
        let nans = leaf.values.iter().flatten().filter(|value| value.is_nan()).count() as u64;
        let mut values: Vec<&Value> = leaf.values.iter().flatten().filter(|value| !value.is_nan()).collect();
        values.sort_by(|a, b| in_order(a, b));
        let ends = values.first().zip(values.last()).map(|(min, max)| ((*min).clone(), (*max).clone()));
        Self { ends, nulls, nans }
    }

    fn statistics(self, leaf: &Leaf, column_type: PrimitiveType) -> ColumnStatistics {
        let bound = |value| Bound { value, precision: Precision::Exact, provenance: Provenance::Scanned };
        let count = |value| Count { value, provenance: Provenance::Scanned };
        let (min, max) = self.ends.unzip();
        let mut statistics = ColumnStatistics {
            min: min.map(bound),
            max: max.map(bound),
            null_count: (!leaf.in_list).then(|| count(self.nulls)),
            nan_count: (!leaf.in_list && column_type.is_float()).then(|| count(self.nans)),
        };
        // Of longer values no more than this is kept.
        cut_to_limit(&mut statistics, column_type, MAX_EXACT_BOUND_BYTES);
        statistics
    }
}

/// The order of two values that are not NaN, -0.0 before +0.0.
fn in_order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        _ => a.compare(b).unwrap(),
    }
}

fn leaves(columns: &[Column]) -> impl Iterator<Item = &Leaf> {
    columns.iter().flat_map(|column| &column.leaves)
}

#[tokio::test]
async fn what_a_footer_gives_never_contradicts_the_rows() {
    let seed = number("PRUNUS_SEED", 1);
    let (mut bounds, mut counts) = (0, 0);
    for round in 0..FILES * number("PRUNUS_ROUNDS", 1) {
        let server = Server::start(4).await;
        let path = server.path("f.parquet");
        let (columns, written) = write(path.as_ref(), seed.wrapping_mul(1_000_003).wrapping_add(round));
        server.create_table("t", json!({"schema_from": path})).await;
        server.commit("t", append([&path])).await;
        let (status, file) = server.get(&format!("/v1/namespaces/n/tables/t/files?path={path}")).await;
        assert_eq!(status, 200, "{file}");
        let types = leaf_types(Path::new(&path));
        for leaf in leaves(&columns).filter(|leaf| !leaf.in_list) {
            let place = || format!("{} {written}", leaf.path.join("."));
            let known = &file["columns"][leaf.path.join(".")];
            let truth = Truth::of(leaf);
            for (side, beyond) in [("min", Ordering::Greater), ("max", Ordering::Less)] {
                let Some(bound) = value_of(&known[side], types[&leaf.path]) else { continue };
                bounds += 1;
                let end = truth.ends.as_ref().map(|(min, max)| if side == "min" { min } else { max });
                let compared = end.map(|end| bound.compare(end));
                assert!(compared.is_none_or(|order| order != Some(beyond)), "{side} {} of {}", known[side], place());
                assert!(compared != Some(None), "{side} {} of {}", known[side], place());
            }
            for (name, count) in [("null_count", truth.nulls), ("nan_count", truth.nans)] {
                if let Some(known) = known[name].as_u64() {
                    counts += 1;
                    assert_eq!(known, count, "{name} of {}", place());
                }
            }
        }
    }
    assert!(bounds > 0 && counts > 0);
}

fn value_of(json: &Json, column_type: PrimitiveType) -> Option<Value> {
    let text = match json {
        Json::Null => return None,
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some(parse_value(&text, column_type).unwrap())
}

/// Runs `test` on the footer of a file.
fn with_footer<T>(path: &Path, test: impl FnOnce(&Footer<'_>) -> T) -> T {
    let file = std::fs::read(path).unwrap();
    let size = file.len() as u64;
    let range = footer_range(&file, size).unwrap();
    test(&Footer::parse(metadata_within(&file, size, &range).unwrap()).unwrap())
}

fn leaf_types(path: &Path) -> BTreeMap<Vec<String>, PrimitiveType> {
    let type_of = |leaf: &FileLeaf| (leaf.path.clone(), leaf.column_type.unwrap());
    with_footer(path, |footer| footer.leaves().iter().map(type_of).collect())
}

#[test]
fn what_is_read_is_exactly_what_the_rows_hold() {
    let seed = number("PRUNUS_SEED", 1);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (storage, folder) = (Storage::from_environment(), tempfile::tempdir().unwrap());
    for round in 0..FILES * number("PRUNUS_ROUNDS", 1) {
        let path = folder.path().join("f.parquet");
        let (columns, written) = write(&path, seed.wrapping_mul(1_000_003).wrapping_add(round));
        with_footer(&path, |footer| {
            let all: Vec<usize> = (0..footer.leaves().len()).collect();
            let read = |what| {
                runtime.block_on(async {
                    let location = Location::parse(path.to_str().unwrap(), None).unwrap();
                    let object = storage.head(&location).await.unwrap();
                    scan(&storage, &object, footer, &all, what).await
                })
            };
            let everything = read(ScanFor::Everything).unwrap_or_else(|error| panic!("{error:?} {written}"));
            let nans = read(ScanFor::NanCount).unwrap();
            for (index, (leaf, file_leaf)) in leaves(&columns).zip(footer.leaves()).enumerate() {
                assert_eq!(leaf.path, file_leaf.path);
                let expected = Truth::of(leaf).statistics(leaf, file_leaf.column_type.unwrap());
                let place = || format!("{} {written}", leaf.path.join("."));
                assert_eq!(shown(&nans.get(&index).map(nan_count)), shown(&expected.nan_count), "{}", place());
                assert_eq!(shown(&everything[&index]), shown(&LeafScan::Everything(expected)), "{}", place());
            }
        });
    }
}

/// The footer is the undamaged one; of the data about one byte in so many is changed.
const BYTES_PER_CHANGE: usize = 200;

#[test]
fn changed_data_is_an_error_or_is_read_and_no_reader_fails() {
    let seed = number("PRUNUS_SEED", 1);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (storage, folder) = (Storage::from_environment(), tempfile::tempdir().unwrap());
    let numbers = &mut Numbers(seed);
    let mut refused = 0;
    for round in 0..FILES * number("PRUNUS_ROUNDS", 1) {
        let path = folder.path().join("f.parquet");
        let (_, written) = write(&path, seed.wrapping_mul(1_000_003).wrapping_add(round));
        let mut file = std::fs::read(&path).unwrap();
        let footer_start = footer_range(&file, file.len() as u64).unwrap().start as usize;
        with_footer(&path, |footer| {
            for window in file[..footer_start].chunks_mut(BYTES_PER_CHANGE) {
                let place = numbers.below(window.len() as u64) as usize;
                window[place] ^= 1 << numbers.below(8);
            }
            std::fs::write(&path, &file).unwrap();
            let location = Location::parse(path.to_str().unwrap(), None).unwrap();
            for leaf in 0..footer.leaves().len() {
                let read = runtime.block_on(async {
                    let object = storage.head(&location).await.unwrap();
                    scan(&storage, &object, footer, &[leaf], ScanFor::Everything).await
                });
                let failed = matches!(&read, Err(ScanError::Chunk { fault: ChunkFault::ReaderFailed, .. }));
                assert!(!failed, "leaf {leaf} {written}");
                refused += usize::from(read.is_err());
            }
        });
    }
    assert!(refused > 0);
}

/// Values as they are shown for people: so zeros differ by their sign.
fn shown(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn nan_count(scan: &LeafScan) -> Count {
    match scan {
        LeafScan::Everything(statistics) => statistics.nan_count.unwrap(),
        LeafScan::NanCount(count) => *count,
    }
}
