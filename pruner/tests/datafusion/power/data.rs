//! A table to prune: containers of a few rows each, whose columns cover narrow ranges of one wide domain.

use std::cmp::Ordering;

use prunus_pruner::{Column, ZoneMaps};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, Precision, PrimitiveType, Provenance, TimeUnit, Value, ZoneMap,
};

use super::super::computed::generate::Random;
use super::super::plain::rows::Row;
use super::super::session::Rows;
use super::super::zones::zone_maps;

pub(crate) const CONTAINERS: usize = 400;
/// Places in the domain of each column: container ranges begin somewhere below.
pub(crate) const DOMAIN: usize = 100;
/// 2024-01-01.
const FIRST_DAY: i128 = 19_723;
const HOUR_MICROSECONDS: i128 = 3_600_000_000;

const COLUMNS: [(&str, PrimitiveType); 10] = [
    ("i", PrimitiveType::Int32),
    ("j", PrimitiveType::Int32),
    ("n", PrimitiveType::Int32),
    ("f", PrimitiveType::Float64),
    ("h", PrimitiveType::Float64),
    ("d", PrimitiveType::Decimal { precision: 9, scale: 2 }),
    ("s", PrimitiveType::String),
    ("t", PrimitiveType::Timestamp(TimeUnit::Microsecond)),
    ("u", PrimitiveType::Date),
    ("b", PrimitiveType::Boolean),
];

pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) containers: Vec<Vec<Row>>,
    pub(crate) row_counts: Vec<Option<u64>>,
    /// By column, then by container.
    pub(crate) zones: Vec<Vec<ZoneMap>>,
    pub(crate) rows: Rows,
    pub(crate) maps: ZoneMaps,
}

impl Table {
    pub(crate) fn new(random: &mut Random) -> Self {
        let column = |(id, (name, column_type)): (i32, &(&str, PrimitiveType))| Column {
            id: FieldId(id),
            path: vec![(*name).to_owned()],
            column_type: Some(*column_type),
            items: Vec::new(),
        };
        let columns: Vec<Column> = (1..).zip(&COLUMNS).map(column).collect();
        let containers: Vec<Vec<Row>> = (0..CONTAINERS).map(|_| container(random)).collect();
        let row_counts: Vec<Option<u64>> = containers.iter().map(|rows| Some(rows.len() as u64)).collect();
        let zones: Vec<Vec<ZoneMap>> = (0..COLUMNS.len())
            .map(|column| containers.iter().map(|rows| zone(random, column, rows)).collect())
            .collect();
        let maps = zone_maps(&columns, &row_counts, &zones);
        let rows = Rows::new(&columns, &containers);
        Self { columns, containers, row_counts, zones, rows, maps }
    }
}

/// Rows whose values lie within a few places from the container's own; the column `j` lies around `i`.
fn container(random: &mut Random) -> Vec<Row> {
    let count = 2 + random.below(5);
    let mut rows: Vec<Row> = vec![Vec::new(); count];
    let own = random.below(DOMAIN);
    for (column, (name, _)) in COLUMNS.iter().enumerate() {
        let start = if column < 2 { (own + random.below(9)).saturating_sub(4) } else { random.below(DOMAIN) };
        let width = [1, 2, 3, 6][random.below(4)];
        // One container in eight has nulls, of `n` every other, and one in forty nothing else.
        let nulls = if random.below(40) == 0 {
            1
        } else if random.below(if *name == "n" { 2 } else { 8 }) == 0 {
            3
        } else {
            0
        };
        // One container in eight has NaNs in `h`.
        let nans = *name == "h" && random.below(8) == 0;
        for row in &mut rows {
            let place = start + random.below(width);
            let is_null = nulls > 0 && random.below(nulls) == 0;
            let is_nan = nans && random.below(2) == 0;
            row.push((!is_null).then(|| if is_nan { Value::Float(f64::NAN) } else { value(random, name, place) }));
        }
    }
    rows
}

fn value(random: &mut Random, column: &str, place: usize) -> Value {
    let whole = place as i128;
    match column {
        "f" | "h" => Value::Float(place as f64 + random.below(4) as f64 / 4.0),
        "d" => Value::Integer(whole * 100 + random.below(4) as i128 * 25),
        "s" => Value::Bytes(format!("k{place:03}{}", ["", "a", "ab", "b"][random.below(4)]).into_bytes()),
        "t" => Value::Integer(
            (FIRST_DAY + whole * 3) * 24 * HOUR_MICROSECONDS + random.below(24) as i128 * HOUR_MICROSECONDS,
        ),
        "u" => Value::Integer(FIRST_DAY + whole * 3),
        // Half of the containers have both.
        "b" => Value::Boolean(place.is_multiple_of(2)),
        _ => Value::Integer(whole),
    }
}

/// Bounds and counts of a column: one in sixteen of each is not known, nor is every other NaN count of `h`.
fn zone(random: &mut Random, column: usize, rows: &[Row]) -> ZoneMap {
    let (name, column_type) = COLUMNS[column];
    let cells: Vec<&Value> = rows.iter().filter_map(|row| row[column].as_ref()).collect();
    let values: Vec<&Value> = cells.iter().copied().filter(|value| !value.is_nan()).collect();
    let extreme = |outward: Ordering| {
        values.iter().copied().reduce(|a, b| if b.compare(a) == Some(outward) { b } else { a }).cloned()
    };
    let mut bound = |value: Option<Value>| {
        let known = random.below(16) > 0;
        value.filter(|_| known).map(|value| Bound {
            value,
            precision: Precision::Bound,
            provenance: Provenance::Footer,
        })
    };
    let (min, max) = (bound(extreme(Ordering::Less)), bound(extreme(Ordering::Greater)));
    let mut count = |value: usize, unknown_in: usize| {
        (random.below(unknown_in) > 0).then_some(Count { value: value as u64, provenance: Provenance::Footer })
    };
    let null_count = count(rows.len() - cells.len(), 16);
    let nan_count = count(cells.len() - values.len(), if name == "h" { 2 } else { usize::MAX });
    let statistics = ColumnStatistics { min, max, null_count, nan_count };
    ZoneMap::of_file(Some(&FileColumn::Present(statistics)), column_type, Some(rows.len() as u64))
}
