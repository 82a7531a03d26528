//! The zone map: what pruning may know of one column in one container.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::{Bound, ColumnStatistics, FileColumn, Precision, PrimitiveType, Reading, Value, normalise};

/// Usable knowledge of one column in one container (a manifest, a file, a row group): a lower and an upper bound of the
/// values that are neither null nor NaN, how many rows are null and NaN, and whether any such value occurs at all.
///
/// Built from statistics by dropping what may not be used (estimates, contradictions), so every known part holds. `None` is
/// unknown. Merging two zone maps gives one that holds for both containers together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZoneMap {
    min: Option<Value>,
    max: Option<Value>,
    null_count: Option<u64>,
    nan_count: Option<u64>,
    valueless: bool,
}

impl ZoneMap {
    /// Of a column of which nothing is known.
    pub fn unknown(column_type: PrimitiveType) -> Self {
        let nan_count = if column_type.is_float() { None } else { Some(0) };
        Self { min: None, max: None, null_count: None, nan_count, valueless: false }
    }

    /// Of a column that is null in every row.
    pub fn all_null(row_count: Option<u64>) -> Self {
        Self { min: None, max: None, null_count: row_count, nan_count: Some(0), valueless: true }
    }

    /// Of a column in a data file; `None` if the file says nothing about it.
    pub fn of_file(column: Option<&FileColumn>, column_type: PrimitiveType, row_count: Option<u64>) -> Self {
        match column {
            _ if row_count == Some(0) => Self::all_null(row_count),
            None => Self::unknown(column_type),
            Some(FileColumn::Absent) => Self::all_null(row_count),
            Some(FileColumn::Present(statistics)) => Self::of_statistics(statistics.clone(), column_type, row_count),
        }
    }

    fn of_statistics(mut statistics: ColumnStatistics, column_type: PrimitiveType, row_count: Option<u64>) -> Self {
        normalise(&mut statistics, column_type, row_count);
        let usable = |bound: Option<Bound>| {
            bound.filter(|bound| bound.precision != Precision::Estimate).map(|bound| bound.value)
        };
        let null_count = statistics.null_count.map(|count| count.value);
        let nan_count = if column_type.is_float() { statistics.nan_count.map(|count| count.value) } else { Some(0) };
        if row_count.is_some() && null_count == row_count {
            return Self::all_null(row_count);
        }
        let no_other_rows = match (row_count, null_count, nan_count) {
            (Some(rows), Some(nulls), Some(nans)) => nulls + nans == rows,
            _ => false,
        };
        let (min, max) = if no_other_rows { (None, None) } else { (usable(statistics.min), usable(statistics.max)) };
        Self { min, max, null_count, nan_count, valueless: no_other_rows }
    }

    /// No value that is neither null nor NaN lies below it.
    pub fn min(&self) -> Option<&Value> {
        self.min.as_ref()
    }

    /// No value that is neither null nor NaN lies above it.
    pub fn max(&self) -> Option<&Value> {
        self.max.as_ref()
    }

    /// How many rows are null.
    pub fn null_count(&self) -> Option<u64> {
        self.null_count
    }

    /// How many rows are NaN; zero for a column that is not of floats.
    pub fn nan_count(&self) -> Option<u64> {
        self.nan_count
    }

    /// Whether it is known that no row holds a value that is neither null nor NaN.
    pub fn is_valueless(&self) -> bool {
        self.valueless
    }

    /// The same for readers to whom the column is of another type than this was written as.
    #[must_use]
    pub fn read_as(self, from: PrimitiveType, to: PrimitiveType) -> Self {
        let reading = Reading::of(from, to);
        if from == to {
            return self;
        }
        if reading.is_unknown() {
            return Self::unknown(to);
        }
        let min = self.min.and_then(|min| reading.lower(&min));
        let max = self.max.and_then(|max| reading.upper(&max));
        Self { min, max, ..self }
    }

    /// The zone map of both containers together. A bound is unknown as soon as one of those that may hold values lacks it; a
    /// count is unknown as soon as one of both is.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| a?.checked_add(b?);
        let null_count = sum(self.null_count, other.null_count);
        let nan_count = sum(self.nan_count, other.nan_count);
        let (min, max) = match (self.valueless, other.valueless) {
            (true, _) => (other.min, other.max),
            (_, true) => (self.min, self.max),
            _ => (outer(self.min, other.min, Ordering::Less), outer(self.max, other.max, Ordering::Greater)),
        };
        Self { min, max, null_count, nan_count, valueless: self.valueless && other.valueless }
    }
}

/// Of two bounds of a side the one that lies further out; unknown if one is, or if they cannot be compared.
fn outer(a: Option<Value>, b: Option<Value>, outward: Ordering) -> Option<Value> {
    let (a, b) = (a?, b?);
    match a.compare(&b)? {
        ordering if ordering == outward => Some(a),
        _ => Some(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, Provenance};

    const FLOAT: PrimitiveType = PrimitiveType::Float64;

    fn floats(min: Option<f64>, max: Option<f64>, nulls: Option<u64>, nans: Option<u64>) -> FileColumn {
        let provenance = Provenance::Footer;
        let bound = |value| Bound { value: Value::Float(value), precision: Precision::Bound, provenance };
        let count = |value| Count { value, provenance };
        FileColumn::Present(ColumnStatistics {
            min: min.map(bound),
            max: max.map(bound),
            null_count: nulls.map(count),
            nan_count: nans.map(count),
        })
    }

    fn zone(column: &FileColumn, rows: Option<u64>) -> ZoneMap {
        ZoneMap::of_file(Some(column), FLOAT, rows)
    }

    #[test]
    fn a_file_of_nothing_but_nans_and_nulls_has_no_value() {
        let zone = zone(&floats(None, None, Some(3), Some(7)), Some(10));
        assert!(zone.is_valueless());
        assert_eq!(zone.nan_count(), Some(7));
    }

    #[test]
    fn an_unknown_nan_count_is_not_zero() {
        assert_eq!(zone(&floats(Some(1.0), Some(2.0), Some(0), None), Some(10)).nan_count(), None);
        assert_eq!(ZoneMap::unknown(PrimitiveType::Int8).nan_count(), Some(0));
    }

    #[test]
    fn an_estimate_is_no_bound() {
        let value = Value::Integer(5);
        let bound = Bound { value, precision: Precision::Estimate, provenance: Provenance::Declared };
        let column = FileColumn::Present(ColumnStatistics { min: Some(bound), ..Default::default() });
        assert_eq!(ZoneMap::of_file(Some(&column), PrimitiveType::Int8, Some(1)).min(), None);
    }

    #[test]
    fn a_known_absent_column_is_null_even_where_rows_are_not_counted() {
        let zone = ZoneMap::of_file(Some(&FileColumn::Absent), FLOAT, None);
        assert!(zone.is_valueless());
        assert_eq!(zone.null_count(), None);
    }

    #[test]
    fn a_merged_bound_is_unknown_where_one_file_lacks_it() {
        let whole = zone(&floats(Some(1.0), Some(2.0), Some(1), Some(0)), Some(10));
        let partial = zone(&floats(Some(-1.0), None, Some(2), None), Some(10));
        let merged = whole.merge(partial);
        assert_eq!(merged.min(), Some(&Value::Float(-1.0)));
        assert_eq!(merged.max(), None);
        assert_eq!(merged.null_count(), Some(3));
        assert_eq!(merged.nan_count(), None);
    }

    #[test]
    fn a_file_without_values_leaves_merged_bounds_alone() {
        let whole = zone(&floats(Some(1.0), Some(2.0), Some(0), Some(0)), Some(10));
        let merged = ZoneMap::all_null(Some(4)).merge(whole.clone());
        assert_eq!(merged.min(), whole.min());
        assert_eq!(merged.null_count(), Some(4));
        assert!(!merged.is_valueless());
    }
}
