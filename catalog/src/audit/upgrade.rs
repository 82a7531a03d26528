//! What is stored of a column of a file, held against what the file says now.

use std::cmp::Ordering;

use prunus_statistics::{Bound, ColumnStatistics, Count, FileColumn, Precision, Provenance};

use crate::declared::{Column, Refutation, describe, is_valueless, reconcile};

/// What came of comparing.
#[derive(Debug, PartialEq)]
pub(super) struct Compared {
    /// What of the stored statistics is false.
    pub(super) refuted: Vec<Refutation>,
    /// What is known of the column now; `None` is nothing.
    pub(super) column: Option<FileColumn>,
}

/// Compares what is stored of a column with what the file says of it (`None`: nothing). Of what both know the better stays; of a
/// column of which anything stored is false, nothing that is stored does but what was found in the data.
pub(super) fn compare(stored: Option<&FileColumn>, known: Option<&FileColumn>, column: Column) -> Compared {
    let (refuted, now) = match (stored, known) {
        (stored, None) => (Vec::new(), stored.cloned()),
        (None, Some(known)) => (Vec::new(), Some(known.clone())),
        (Some(FileColumn::Absent), Some(FileColumn::Absent)) => (Vec::new(), stored.cloned()),
        // The value of a partition, or the default that stands for the column: the file need not hold it.
        (Some(FileColumn::Present(constant)), Some(known)) if constant.is_constant() && is_no_value(known) => {
            (Vec::new(), stored.cloned())
        }
        // It does hold it, and readers read it.
        (Some(FileColumn::Present(constant)), Some(FileColumn::Present(known))) if constant.is_constant() => {
            let refuted = reconcile(known, constant.clone(), column).err().unwrap_or_default();
            (refuted, Some(FileColumn::Present(known.clone())))
        }
        (Some(FileColumn::Absent), Some(known @ FileColumn::Present(found))) => {
            let claim = "the file does not hold the column".to_owned();
            (vec![presence(claim, describe(found, column.column_type))], Some(known.clone()))
        }
        (Some(FileColumn::Present(claimed)), Some(FileColumn::Absent)) => {
            let evidence = "the file does not hold the column".to_owned();
            let holds_nothing = is_all_null(claimed, column);
            let refuted =
                if holds_nothing { vec![] } else { vec![presence(describe(claimed, column.column_type), evidence)] };
            (refuted, Some(FileColumn::Absent))
        }
        (Some(FileColumn::Present(stored)), Some(FileColumn::Present(known))) => {
            let (refuted, now) = compare_statistics(stored, known, column);
            (refuted, Some(FileColumn::Present(now)))
        }
    };
    Compared { refuted, column: now }
}

fn compare_statistics(
    stored: &ColumnStatistics,
    known: &ColumnStatistics,
    column: Column,
) -> (Vec<Refutation>, ColumnStatistics) {
    if is_read(known) {
        // What reading the data has not shown is unknown for good, whatever a footer or a writer said.
        let refuted = reconcile(known, stored.clone(), column).err().unwrap_or_default();
        return (refuted, known.clone());
    }
    if is_read(stored) {
        // Nor does a footer know better than the data that was read before.
        return (Vec::new(), better(stored, &only_nan_count(known)));
    }
    let (found, claims) = by_source(stored);
    let known = better(&found, known);
    match reconcile(&known, claims, column) {
        Err(refuted) => (refuted, known),
        // Where there are no values any bounds are true.
        Ok(_) if is_valueless(&known, column) => (Vec::new(), known),
        Ok(_) => (Vec::new(), better(&without_footer(stored), &known)),
    }
}

/// What was not taken from the footer, which is not believed any more in what it does not offer any more.
fn without_footer(stored: &ColumnStatistics) -> ColumnStatistics {
    let bound = |bound: &Option<Bound>| bound.clone().filter(|bound| bound.provenance != Provenance::Footer);
    let count = |count: Option<Count>| count.filter(|count| count.provenance != Provenance::Footer);
    ColumnStatistics {
        min: bound(&stored.min),
        max: bound(&stored.max),
        null_count: count(stored.null_count),
        nan_count: count(stored.nan_count),
    }
}

fn only_nan_count(known: &ColumnStatistics) -> ColumnStatistics {
    ColumnStatistics { nan_count: known.nan_count, ..ColumnStatistics::default() }
}

/// Whether all of a column was read.
fn is_read(known: &ColumnStatistics) -> bool {
    known.null_count.is_some_and(|count| count.provenance == Provenance::Scanned)
}

/// What was found in the data before, which no footer speaks against, and all else.
fn by_source(stored: &ColumnStatistics) -> (ColumnStatistics, ColumnStatistics) {
    let is_found = |provenance| provenance == Provenance::Scanned;
    let part = |wanted: bool| {
        let bound = |bound: &Option<Bound>| bound.clone().filter(|bound| is_found(bound.provenance) == wanted);
        let count = |count: Option<Count>| count.filter(|count| is_found(count.provenance) == wanted);
        ColumnStatistics {
            min: bound(&stored.min),
            max: bound(&stored.max),
            null_count: count(stored.null_count),
            nan_count: count(stored.nan_count),
        }
    };
    (part(true), part(false))
}

fn presence(claim: String, evidence: String) -> Refutation {
    Refutation { statistic: "presence", message: "the file's columns are others".to_owned(), claim, evidence }
}

/// Whether a column has no values of its own in the file.
fn is_no_value(known: &FileColumn) -> bool {
    match known {
        FileColumn::Absent => true,
        FileColumn::Present(statistics) => statistics.is_constant(),
    }
}

/// Whether nothing is claimed but that all rows are null, if that.
fn is_all_null(claimed: &ColumnStatistics, column: Column) -> bool {
    let counted = claimed.null_count.map(|count| count.value);
    claimed.min.is_none() && claimed.max.is_none() && (counted.is_none() || counted == column.row_count)
}

/// Of two that do not contradict each other, statistic by statistic, the one that is vouched for better, or bounds more tightly.
fn better(stored: &ColumnStatistics, known: &ColumnStatistics) -> ColumnStatistics {
    ColumnStatistics {
        min: better_bound(stored.min.as_ref(), known.min.as_ref(), Ordering::Greater),
        max: better_bound(stored.max.as_ref(), known.max.as_ref(), Ordering::Less),
        null_count: better_count(stored.null_count, known.null_count),
        nan_count: better_count(stored.nan_count, known.nan_count),
    }
}

fn better_bound(stored: Option<&Bound>, known: Option<&Bound>, inward: Ordering) -> Option<Bound> {
    let (Some(stored), Some(known)) = (stored, known) else { return known.or(stored).cloned() };
    let is_tighter = stored.precision != Precision::Estimate && stored.value.compare(&known.value) == Some(inward);
    let is_better = known.precision == Precision::Exact
        || (trust(known.provenance) >= trust(stored.provenance) && !is_tighter)
        || stored.precision == Precision::Estimate;
    Some(if is_better { known.clone() } else { stored.clone() })
}

fn better_count(stored: Option<Count>, known: Option<Count>) -> Option<Count> {
    let (Some(from_store), Some(from_file)) = (stored, known) else { return known.or(stored) };
    if trust(from_file.provenance) >= trust(from_store.provenance) { known } else { stored }
}

/// How far a source is to be trusted.
fn trust(provenance: Provenance) -> u8 {
    match provenance {
        Provenance::Declared => 0,
        Provenance::Footer => 1,
        Provenance::Constant => 2,
        Provenance::Scanned => 3,
    }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::{PrimitiveType, Value};

    use super::*;

    const ROWS: u64 = 20;
    const COLUMN: Column = Column { column_type: PrimitiveType::Int64, row_count: Some(ROWS) };

    fn statistics(
        min: Option<i128>,
        max: Option<i128>,
        nulls: Option<u64>,
        provenance: Provenance,
    ) -> ColumnStatistics {
        let precision = if provenance == Provenance::Scanned { Precision::Exact } else { Precision::Bound };
        let bound = |value| Bound { value: Value::Integer(value), precision, provenance };
        let null_count = nulls.map(|value| Count { value, provenance });
        ColumnStatistics { min: min.map(bound), max: max.map(bound), null_count, nan_count: None }
    }

    fn footer(min: i128, max: i128, nulls: Option<u64>) -> ColumnStatistics {
        statistics(Some(min), Some(max), nulls, Provenance::Footer)
    }

    fn declared(min: i128, max: i128, nulls: Option<u64>) -> ColumnStatistics {
        statistics(Some(min), Some(max), nulls, Provenance::Declared)
    }

    fn scanned(min: i128, max: i128, nulls: u64) -> ColumnStatistics {
        statistics(Some(min), Some(max), Some(nulls), Provenance::Scanned)
    }

    /// What comes of comparing: which statistics are refuted, and what is known then.
    fn check(stored: ColumnStatistics, known: ColumnStatistics, refuted: &[&str], now: &ColumnStatistics) {
        let compared = compare(Some(&FileColumn::Present(stored)), Some(&FileColumn::Present(known)), COLUMN);
        let names: Vec<&str> = compared.refuted.iter().map(|refutation| refutation.statistic).collect();
        assert_eq!((names.as_slice(), compared.column), (refuted, Some(FileColumn::Present(now.clone()))));
    }

    #[test]
    fn what_was_found_in_the_data_is_not_given_for_a_footers_word() {
        let found = scanned(10, 30, 0);
        check(found.clone(), footer(0, 40, Some(3)), &[], &found);
        check(found.clone(), footer(50, 60, None), &[], &found);
    }

    #[test]
    fn a_footer_that_says_all_is_null_takes_nothing_that_was_found() {
        let found = scanned(10, 30, 0);
        check(found.clone(), statistics(None, None, Some(ROWS), Provenance::Footer), &[], &found);
    }

    #[test]
    fn what_was_found_in_the_data_outlives_a_lie_about_the_rest() {
        let mut stored = scanned(10, 30, 0);
        stored.null_count = declared(0, 0, Some(7)).null_count;
        let now = ColumnStatistics { null_count: footer(0, 0, Some(3)).null_count, ..stored.clone() };
        check(stored, footer(0, 40, Some(3)), &["null_count"], &now);
    }

    #[test]
    fn what_the_data_does_not_show_is_unknown_whatever_was_said_before() {
        let read = statistics(None, None, Some(0), Provenance::Scanned);
        check(footer(0, 40, Some(0)), read.clone(), &[], &read);
        check(declared(0, 40, None), read.clone(), &[], &read);
    }

    #[test]
    fn a_lie_is_replaced_by_what_the_data_holds() {
        let read = scanned(10, 30, 0);
        check(declared(12, 30, Some(1)), read.clone(), &["null_count", "min"], &read);
    }

    #[test]
    fn of_bounds_that_are_true_the_tighter_stays() {
        let tight = declared(10, 30, None);
        check(tight.clone(), footer(5, 35, None), &[], &tight);
        check(declared(5, 35, None), footer(10, 30, None), &[], &footer(10, 30, None));
    }

    #[test]
    fn a_footer_is_not_believed_in_what_it_does_not_offer_any_more() {
        check(footer(10, 30, Some(0)), footer(5, 35, None), &[], &footer(5, 35, None));
    }

    fn constant(value: i128) -> ColumnStatistics {
        ColumnStatistics::constant(Some(Value::Integer(value)), Some(ROWS))
    }

    #[test]
    fn a_constant_is_not_refuted_by_a_file_without_the_column() {
        let stored = FileColumn::Present(constant(7));
        for known in [None, Some(FileColumn::Absent), Some(FileColumn::Present(constant(8)))] {
            let compared = compare(Some(&stored), known.as_ref(), COLUMN);
            assert_eq!(compared, Compared { refuted: Vec::new(), column: Some(stored.clone()) });
        }
    }

    #[test]
    fn of_a_file_that_holds_the_column_its_own_values_count() {
        check(constant(7), footer(1, 9, Some(0)), &[], &footer(1, 9, Some(0)));
        check(constant(7), footer(8, 9, Some(0)), &["min", "max"], &footer(8, 9, Some(0)));
    }
}
