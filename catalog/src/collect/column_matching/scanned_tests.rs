//! What becomes of a leaf that was read.

use prunus_statistics::{Bound, Count, Precision, Provenance};

use super::super::test_footer::{BYTE_ARRAY, DOUBLE, INT32, INT64, INT96, TestChunk, TestElement, TestFooter};
use super::*;

fn column(column_type: &str) -> TableColumn {
    TableColumn {
        id: FieldId(1),
        path: vec!["x".to_owned()],
        former_paths: Vec::new(),
        column_type: column_type.parse().unwrap(),
        default: None,
    }
}

fn scanned(min: Value, max: Value) -> ColumnStatistics {
    let bound = |value| Some(Bound { value, precision: Precision::Exact, provenance: Provenance::Scanned });
    let count = |value| Some(Count { value, provenance: Provenance::Scanned });
    ColumnStatistics { min: bound(min), max: bound(max), null_count: count(1), nan_count: None }
}

/// What is known of the only column after its leaf was read with this result, as the values and whether they are exact.
fn after_scan(file: &TestFooter, column_type: &str, scan: ColumnStatistics) -> [Option<(Value, bool)>; 2] {
    let bytes = file.encode();
    let footer = Footer::parse(&bytes).unwrap();
    let scans = BTreeMap::from([(0, LeafScan::Everything(scan))]);
    let collected = match_scanned_columns(&footer, &scans, &[column(column_type)], 4).unwrap();
    let Some(FileColumn::Present(found)) = collected.columns.get(&FieldId(1)) else { panic!("{collected:?}") };
    [&found.min, &found.max]
        .map(|bound| bound.as_ref().map(|bound| (bound.value.clone(), bound.precision == Precision::Exact)))
}

#[test]
fn what_was_read_counts_before_the_footer() {
    let chunk = TestChunk::of("x", INT32, 5).bounds(&[3, 0, 0, 0], &[4, 0, 0, 0]).nulls(0);
    let file = TestFooter::flat(vec![TestElement::leaf("x", INT32)]).row_group(5, vec![chunk]);
    let read = scanned(Value::Integer(1), Value::Integer(9));
    assert_eq!(
        after_scan(&file, "decimal(20,2)", read),
        [Some((Value::Integer(100), true)), Some((Value::Integer(900), true))]
    );
    assert_eq!(after_scan(&file, "int32", ColumnStatistics::default()), [None, None]);
}

#[test]
fn a_nan_count_that_was_read_leaves_the_rest_to_the_footer() {
    let chunk = TestChunk::of("x", DOUBLE, 5).bounds(&1.0_f64.to_le_bytes(), &2.0_f64.to_le_bytes()).nulls(1);
    let file = TestFooter::flat(vec![TestElement::leaf("x", DOUBLE)]).row_group(5, vec![chunk]);
    let bytes = file.encode();
    let footer = Footer::parse(&bytes).unwrap();
    let nans = Count { value: 2, provenance: Provenance::Scanned };
    let scans = BTreeMap::from([(0, LeafScan::NanCount(nans))]);
    let collected = match_scanned_columns(&footer, &scans, &[column("float64")], 64).unwrap();
    let expected = ColumnStatistics { nan_count: Some(nans), ..footer.leaf_statistics(0) };
    assert!(expected.min.is_some());
    assert_eq!(collected.columns[&FieldId(1)], FileColumn::Present(expected));
}

#[test]
fn a_bound_that_was_read_stays_exact_only_where_it_is_not_rounded_or_cut() {
    let times = TestFooter::flat(vec![TestElement::leaf("x", INT64).converted(10)]);
    assert_eq!(
        after_scan(&times, "timestamptz(ms)", scanned(Value::Integer(1_000), Value::Integer(5_001))),
        [Some((Value::Integer(1), true)), Some((Value::Integer(6), false))]
    );
    let strings = TestFooter::flat(vec![TestElement::leaf("x", BYTE_ARRAY).converted(0)]);
    let text = |text: &[u8]| Value::Bytes(text.to_vec());
    let read = || scanned(text(b"a\xff"), text(b"wxyz"));
    assert_eq!(after_scan(&strings, "string", read()), [Some((text(b"a"), false)), Some((text(b"wxyz"), true))]);
    assert_eq!(after_scan(&strings, "binary", read()), [Some((text(b"a\xff"), true)), Some((text(b"wxyz"), true))]);
}

#[test]
fn an_int96_beyond_the_tables_range_bounds_nothing() {
    let file = TestFooter::flat(vec![TestElement::leaf("x", INT96)]);
    // The year 9999 is beyond 64 bits of nanoseconds.
    let read = || scanned(Value::Integer(0), Value::Integer(253_402_214_400_000_000_000));
    assert_eq!(after_scan(&file, "timestamp(ns)", read()), [None, None]);
    let microseconds = Some((Value::Integer(253_402_214_400_000_000), true));
    assert_eq!(after_scan(&file, "timestamp(us)", read()), [Some((Value::Integer(0), true)), microseconds]);
}
