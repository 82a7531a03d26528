//! Statistics as they arrive, made harmless: what contradicts itself becomes unknown.
//!
//! These are the steps N1, N3, N4 and N6 of the pruning rules. Each only weakens knowledge, so that a claim which cannot be
//! true never proves anything. N2 (zeros of either sign are one) holds by the order of [`Value`]; N5 and N7 are states of a
//! [`crate::ZoneMap`].

use std::cmp::Ordering;

use crate::{Bound, ColumnStatistics, Precision, PrimitiveType};

/// Something in a column's statistics that cannot be, and was taken as unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    /// A bound is no value of the column's type.
    #[error("a bound is not a value of the column's type")]
    WrongType,
    /// A bound is NaN.
    #[error("a bound is NaN")]
    NanBound,
    /// The lower bound lies above the upper bound.
    #[error("min is above max")]
    Inverted,
    /// The counts exceed the number of rows.
    #[error("null_count and nan_count exceed row_count")]
    ImpossibleCount,
    /// Every row is said to be null or NaN, and yet there are bounds.
    #[error("null_count and nan_count leave no row for a value but there are bounds")]
    BoundsWithoutValues,
}

/// Takes as unknown whatever in `statistics` cannot be true, and says what that was.
pub fn normalise(statistics: &mut ColumnStatistics, column_type: PrimitiveType, row_count: Option<u64>) -> Vec<Defect> {
    let mut defects = Vec::new();
    // A bound that proves nothing of values still speaks of some.
    let bounded = speaks_of_values(statistics);
    if !column_type.is_float() {
        statistics.nan_count = None;
    }
    for bound in [&mut statistics.min, &mut statistics.max] {
        if let Some(defect) = bound.as_ref().and_then(|bound| defect_of(bound, column_type)) {
            defects.push(defect);
            *bound = None;
        }
    }
    if inverted(statistics) {
        defects.push(Defect::Inverted);
        statistics.min = None;
        statistics.max = None;
    }
    if let Some(defect) = impossible_counts(statistics, bounded, row_count) {
        defects.push(defect);
        statistics.null_count = None;
        statistics.nan_count = None;
    }
    defects
}

fn defect_of(bound: &Bound, column_type: PrimitiveType) -> Option<Defect> {
    if !bound.value.fits(column_type) {
        Some(Defect::WrongType)
    } else if bound.value.is_nan() {
        Some(Defect::NanBound)
    } else {
        None
    }
}

/// Whether the bounds exclude every value; an estimate excludes none.
fn inverted(statistics: &ColumnStatistics) -> bool {
    let trusted = |side: &Option<Bound>| side.clone().filter(|bound| bound.precision != Precision::Estimate);
    match (trusted(&statistics.min), trusted(&statistics.max)) {
        (Some(min), Some(max)) => min.value.compare(&max.value) == Some(Ordering::Greater),
        _ => false,
    }
}

/// Whether there is a bound other than those that some writers store where there is no value: blank ones, and NaN where there
/// are NaNs.
fn speaks_of_values(statistics: &ColumnStatistics) -> bool {
    let has_nans = statistics.nan_count.is_some_and(|count| count.value > 0);
    [&statistics.min, &statistics.max].into_iter().flatten().any(|bound| {
        let stands_for_none = bound.value.is_blank() || (has_nans && bound.value.is_nan());
        bound.precision != Precision::Estimate && !stands_for_none
    })
}

fn impossible_counts(statistics: &ColumnStatistics, bounded: bool, row_count: Option<u64>) -> Option<Defect> {
    let rows = row_count?;
    let nulls = statistics.null_count.map(|count| count.value);
    let nans = statistics.nan_count.map(|count| count.value);
    let sum = nulls.unwrap_or(0).checked_add(nans.unwrap_or(0));
    if sum.is_none_or(|sum| sum > rows) {
        return Some(Defect::ImpossibleCount);
    }
    (rows > 0 && sum == Some(rows) && bounded).then_some(Defect::BoundsWithoutValues)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Count, Provenance, Value};

    fn statistics(min: Option<Value>, max: Option<Value>, nulls: Option<u64>, nans: Option<u64>) -> ColumnStatistics {
        let provenance = Provenance::Declared;
        let bound = |value| Bound { value, precision: Precision::Bound, provenance };
        let count = |value| Count { value, provenance };
        ColumnStatistics {
            min: min.map(bound),
            max: max.map(bound),
            null_count: nulls.map(count),
            nan_count: nans.map(count),
        }
    }

    fn check(mut given: ColumnStatistics, column_type: PrimitiveType, expected: &ColumnStatistics, defects: &[Defect]) {
        assert_eq!(normalise(&mut given, column_type, Some(10)), defects);
        assert_eq!(&given, expected);
    }

    #[test]
    fn a_nan_bound_is_unknown_on_its_side_only() {
        let float = |value| Some(Value::Float(value));
        check(
            statistics(float(f64::NAN), float(2.0), None, None),
            PrimitiveType::Float64,
            &statistics(None, float(2.0), None, None),
            &[Defect::NanBound],
        );
    }

    #[test]
    fn inverted_bounds_are_unknown_on_both_sides() {
        let integer = |value| Some(Value::Integer(value));
        check(
            statistics(integer(3), integer(2), Some(0), None),
            PrimitiveType::Int32,
            &statistics(None, None, Some(0), None),
            &[Defect::Inverted],
        );
    }

    #[test]
    fn zeros_of_different_sign_are_not_inverted() {
        let float = |value| Some(Value::Float(value));
        let zeros = statistics(float(0.0), float(-0.0), None, None);
        check(zeros.clone(), PrimitiveType::Float32, &zeros, &[]);
    }

    #[test]
    fn impossible_counts_are_unknown() {
        check(
            statistics(None, None, Some(11), None),
            PrimitiveType::Int32,
            &statistics(None, None, None, None),
            &[Defect::ImpossibleCount],
        );
        check(
            statistics(None, None, Some(6), Some(5)),
            PrimitiveType::Float32,
            &statistics(None, None, None, None),
            &[Defect::ImpossibleCount],
        );
        check(
            statistics(None, None, Some(u64::MAX), Some(u64::MAX)),
            PrimitiveType::Float32,
            &statistics(None, None, None, None),
            &[Defect::ImpossibleCount],
        );
    }

    #[test]
    fn all_nulls_beside_bounds_contradict() {
        let integer = |value| Some(Value::Integer(value));
        check(
            statistics(integer(1), integer(2), Some(10), None),
            PrimitiveType::Int32,
            &statistics(integer(1), integer(2), None, None),
            &[Defect::BoundsWithoutValues],
        );
        let blank = statistics(integer(0), integer(0), Some(10), None);
        check(blank.clone(), PrimitiveType::Int32, &blank, &[]);
    }

    #[test]
    fn bounds_that_were_dropped_contradict_all_nulls_too() {
        let integer = |value| Some(Value::Integer(value));
        check(
            statistics(integer(3), integer(2), Some(10), None),
            PrimitiveType::Int32,
            &statistics(None, None, None, None),
            &[Defect::Inverted, Defect::BoundsWithoutValues],
        );
    }

    #[test]
    fn an_estimate_does_not_void_the_other_bound() {
        let mut guessed = statistics(Some(Value::Integer(3)), Some(Value::Integer(2)), None, None);
        guessed.max.iter_mut().for_each(|bound| bound.precision = Precision::Estimate);
        check(guessed.clone(), PrimitiveType::Int32, &guessed, &[]);
    }

    #[test]
    fn nans_beside_bounds_leave_no_room_for_the_bounded_values() {
        let float = |value| Some(Value::Float(value));
        check(
            statistics(float(1.0), float(5.0), Some(0), Some(10)),
            PrimitiveType::Float64,
            &statistics(float(1.0), float(5.0), None, None),
            &[Defect::BoundsWithoutValues],
        );
        check(
            statistics(float(f64::NAN), float(f64::NAN), Some(0), Some(10)),
            PrimitiveType::Float64,
            &statistics(None, None, Some(0), Some(10)),
            &[Defect::NanBound, Defect::NanBound],
        );
    }

    #[test]
    fn a_bound_of_another_type_is_unknown() {
        check(
            statistics(Some(Value::Integer(300)), Some(Value::Bytes(vec![])), None, None),
            PrimitiveType::Int8,
            &statistics(None, None, None, None),
            &[Defect::WrongType, Defect::WrongType],
        );
    }
}
