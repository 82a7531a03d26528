//! Statistics of rows, then made weaker, or made such that they must be distrusted.

use std::cmp::Ordering;

use prunus_pruner::Column;
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FileColumn, Precision, PrimitiveType, Provenance, Value, ZoneMap,
};

use super::choices::Choices;
use super::rows::{Row, palette};

/// What is claimed of a container.
#[derive(Clone, Debug)]
pub(crate) struct Claims {
    pub(crate) row_count: Option<u64>,
    pub(crate) columns: Vec<Option<FileColumn>>,
}

/// Claims about rows that hold, or that normalising must see through.
pub(crate) fn claims(choices: &mut Choices, columns: &[Column], rows: &[Row]) -> Claims {
    let row_count = (!choices.once_in(5)).then_some(rows.len() as u64);
    let columns = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells: Vec<Option<&Value>> = rows.iter().map(|row| row[index].as_ref()).collect();
            column_claim(choices, column.column_type.unwrap(), &cells, row_count)
        })
        .collect();
    Claims { row_count, columns }
}

impl Claims {
    /// The zone map of each column.
    pub(crate) fn zones(&self, columns: &[Column]) -> Vec<ZoneMap> {
        let zone = |(column, claim): (&Column, &Option<FileColumn>)| {
            ZoneMap::of_file(claim.as_ref(), column.column_type.unwrap(), self.row_count)
        };
        columns.iter().zip(&self.columns).map(zone).collect()
    }
}

fn column_claim(
    choices: &mut Choices,
    column_type: PrimitiveType,
    cells: &[Option<&Value>],
    row_count: Option<u64>,
) -> Option<FileColumn> {
    if choices.once_in(12) {
        return None;
    }
    if cells.iter().all(Option::is_none) && choices.once_in(2) {
        return Some(FileColumn::Absent);
    }
    let values: Vec<&Value> = cells.iter().copied().flatten().filter(|value| !value.is_nan()).collect();
    let nulls = cells.iter().filter(|cell| cell.is_none()).count();
    let nans = cells.len() - nulls - values.len();
    let count = |value: usize| Some(Count { value: value as u64, provenance: Provenance::Footer });
    let mut statistics = ColumnStatistics {
        min: side(choices, column_type, &values, Ordering::Less),
        max: side(choices, column_type, &values, Ordering::Greater),
        null_count: if choices.once_in(4) { None } else { count(nulls) },
        nan_count: if choices.once_in(3) { None } else { count(nans) },
    };
    if choices.once_in(12) {
        distort(choices, column_type, &mut statistics, row_count);
    }
    Some(FileColumn::Present(statistics))
}

/// A bound of `values` on one side: tight, loose, a guess, or none.
fn side(choices: &mut Choices, column_type: PrimitiveType, values: &[&Value], outward: Ordering) -> Option<Bound> {
    let further = |a: &&Value, b: &&Value| a.compare(b).unwrap() == outward;
    let extreme = values.iter().copied().reduce(|a, b| if further(&b, &a) { b } else { a });
    let palette = palette(column_type);
    let bound =
        |value: &Value, precision| Some(Bound { value: value.clone(), precision, provenance: Provenance::Footer });
    match (choices.below(8), extreme) {
        (0..=2, Some(extreme)) => bound(extreme, Precision::Exact),
        (3, Some(extreme)) => bound(extreme, Precision::Bound),
        (4 | 5, extreme) => {
            let beyond: Vec<&Value> =
                palette.iter().filter(|value| extreme.is_none_or(|extreme| !further(&extreme, value))).collect();
            bound(beyond[choices.below(beyond.len())], Precision::Bound)
        }
        (6, _) => bound(choices.of(&palette), Precision::Estimate),
        _ => None,
    }
}

/// Makes the statistics impossible, in one of the ways that have been seen in files.
fn distort(
    choices: &mut Choices,
    column_type: PrimitiveType,
    statistics: &mut ColumnStatistics,
    row_count: Option<u64>,
) {
    let palette = palette(column_type);
    let provenance = Provenance::Declared;
    let bound = |value: Value| Some(Bound { value, precision: Precision::Bound, provenance });
    let other = if column_type == PrimitiveType::Boolean { Value::Integer(7) } else { Value::Boolean(true) };
    match choices.below(5) {
        0 => {
            let low = choices.below(palette.len() - 1);
            let (low, high) = (&palette[low], &palette[low + 1 + choices.below(palette.len() - 1 - low)]);
            // Two zeros are one value.
            if low.compare(high) == Some(Ordering::Less) {
                (statistics.min, statistics.max) = (bound(high.clone()), bound(low.clone()));
            }
        }
        1 if column_type.is_float() => statistics.min = bound(Value::Float(f64::NAN)),
        2 => statistics.max = bound(other),
        3 => {
            if let Some(rows) = row_count {
                statistics.null_count = Some(Count { value: rows + 1, provenance });
            }
        }
        _ => {
            let told = [&statistics.min, &statistics.max].into_iter().flatten().any(|bound| {
                let blank = [Value::Boolean(false), Value::Integer(0), Value::Float(0.0), Value::Bytes(Vec::new())];
                bound.precision != Precision::Estimate
                    && blank.iter().all(|blank| blank.compare(&bound.value) != Some(Ordering::Equal))
            });
            if let (Some(rows), true) = (row_count, told) {
                statistics.null_count = Some(Count { value: rows, provenance });
            }
        }
    }
}
