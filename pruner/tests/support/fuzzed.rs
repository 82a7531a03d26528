//! What a fuzz target does with its input, and the replay of the seeds with each of theirs: nothing panics, and what was read
//! is written as text that reads as the same.

use prunus_pruner::{
    BindOptions, BoundPredicate, Column, FilterError, IcebergForm, Mask, NanOrder, Obstacles, Predicate,
    PruningProgram, ResidualProgram, Verdict, ZoneMaps,
};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, Precision, Provenance, SessionZone, ZoneMap, parse_value,
};

#[path = "zones.rs"]
mod zones;

/// A filter as SQL text.
pub(crate) fn sql(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(predicate) = Predicate::parse_sql(text) else { return };
    let printed = predicate.to_string();
    match Predicate::parse_sql(&printed) {
        Ok(read) => assert_eq!(read, predicate, "reads back from {printed}"),
        // Parentheses that make a text plain may take it past a limit.
        Err(FilterError::TooComplex { .. } | FilterError::TooLong { .. }) => {}
        Err(error) => panic!("{predicate:?}\nis written as {printed}\nwhich is refused: {error}"),
    }
    plan(&predicate);
}

/// A filter as Iceberg JSON, in either form.
pub(crate) fn iceberg_json(input: &[u8]) {
    let Ok(json) = serde_json::from_slice::<serde_json::Value>(input) else { return };
    let Ok(predicate) = Predicate::parse_iceberg_json(&json) else { return };
    for form in [IcebergForm::of(&json), IcebergForm::Term, IcebergForm::Reference] {
        let Some(written) = predicate.to_iceberg_json(form) else { continue };
        let read = Predicate::parse_iceberg_json(&written);
        assert_eq!(read.as_ref(), Ok(&predicate), "reads back from {written}");
    }
    let _ = predicate.to_string();
    plan(&predicate);
}

/// Binds the predicate, runs it over a few containers, and asks for what can be asked of the result.
fn plan(predicate: &Predicate) {
    let columns = columns();
    let maps = zone_maps(&columns);
    for (nan_order, zone) in [(NanOrder::Any, None), (NanOrder::Ieee, Some("Europe/Paris"))] {
        let zone = zone.and_then(SessionZone::named).unwrap_or_default();
        let options = BindOptions { nan_order, zone };
        let bound = BoundPredicate::bind(predicate, &columns, &options);
        let residuals = ResidualProgram::new(predicate, &columns, &options);
        let (bound, residuals) = match (bound, residuals) {
            (Ok(bound), Ok(residuals)) => (bound, residuals),
            (Err(_), Err(_)) => return,
            (bound, residuals) => panic!("only one is refused: {bound:?} {residuals:?}"),
        };
        let _ = bound.to_string();
        let program = PruningProgram::compile(bound);
        let _ = (program.to_string(), program.columns());
        let selection = program.evaluate(&maps);
        assert_eq!(selection.verdict(EMPTY), Verdict::None, "a container without rows is skipped");
        let left = residuals.evaluate(&maps, &selection);
        for index in 0..CONTAINERS {
            let residual = left.of(index).map(|residual| residual.predicate(predicate).map(|left| left.to_string()));
            assert_eq!(
                residual.is_some(),
                selection.verdict(index) != Verdict::None,
                "only what is kept has a residual"
            );
        }
        let kept = Mask::from_fn(CONTAINERS, |index| selection.verdict(index) != Verdict::None);
        for conjunct in program.conjuncts() {
            let _ = Obstacles::of(conjunct, &maps, &kept).to_string();
        }
    }
}

const CONTAINERS: usize = 4;
/// The container of no rows.
const EMPTY: usize = 3;

/// Columns that each have all that a container can tell of them: a range, one value, nothing.
const COLUMNS: [(&str, &str, [&str; 2]); 12] = [
    ("a", "int32", ["-3", "8"]),
    ("b", "boolean", ["false", "true"]),
    ("c", "int64", ["9007199254740993", "9223372036854775807"]),
    ("d", "decimal(9,2)", ["-1.50", "1.50"]),
    ("e", "uint64", ["0", "18446744073709551615"]),
    ("f", "float64", ["-0.5", "Infinity"]),
    ("g", "float32", ["0.1", "3"]),
    ("s", "string", ["ab", "b"]),
    ("t", "timestamp(us)", ["2024-02-10T03:00:00", "2024-02-29T05:00:00"]),
    ("z", "timestamptz(ns)", ["1969-12-31T23:00:00Z", "2024-03-31T02:30:00Z"]),
    ("u", "date", ["1970-01-01", "2024-02-29"]),
    ("r", "binary", ["00", "ff"]),
];

fn columns() -> Vec<Column> {
    let column = |(id, (name, column_type, _)): (i32, (&str, &str, _))| Column {
        id: FieldId(id),
        path: vec![name.to_owned()],
        column_type: Some(column_type.parse().unwrap()),
        items: Vec::new(),
    };
    let mut columns: Vec<Column> = (1..).zip(COLUMNS).map(column).collect();
    columns.push(Column { id: FieldId(20), path: vec!["l".to_owned()], column_type: None, items: Vec::new() });
    columns
}

fn zone_maps(columns: &[Column]) -> ZoneMaps {
    let none = Some(Count { value: 0, provenance: Provenance::Footer });
    let zones = |(column, (_, _, ends)): (&Column, (_, _, [&str; 2]))| -> Vec<ZoneMap> {
        let column_type = column.column_type.unwrap();
        let bound = |text: &str| {
            let value = parse_value(text, column_type).unwrap();
            Some(Bound { value, precision: Precision::Bound, provenance: Provenance::Footer })
        };
        let between = |min, max, count| ColumnStatistics {
            min: bound(min),
            max: bound(max),
            null_count: count,
            nan_count: count,
        };
        let unknown = ColumnStatistics { min: None, max: None, null_count: None, nan_count: None };
        [between(ends[0], ends[1], None), between(ends[1], ends[1], none), unknown.clone(), unknown]
            .into_iter()
            .zip(ROW_COUNTS)
            .map(|(statistics, rows)| ZoneMap::of_file(Some(&FileColumn::Present(statistics)), column_type, rows))
            .collect()
    };
    let zone_maps: Vec<Vec<ZoneMap>> = columns.iter().zip(COLUMNS).map(zones).collect();
    zones::zone_maps(columns, &ROW_COUNTS, &zone_maps)
}

const ROW_COUNTS: [Option<u64>; CONTAINERS] = [Some(10), Some(10), None, Some(0)];
