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
/// column of which anything stored is false, nothing that is stored does.
pub(super) fn compare(stored: Option<&FileColumn>, known: Option<&FileColumn>, column: Column) -> Compared {
    let (refuted, now) = match (stored, known) {
        (stored, None) => (Vec::new(), stored.cloned()),
        (None, Some(known)) => (Vec::new(), Some(known.clone())),
        (Some(FileColumn::Absent), Some(FileColumn::Absent)) => (Vec::new(), stored.cloned()),
        // The value of a partition, or the default that stands for the column: the file need not hold it.
        (Some(FileColumn::Present(constant)), Some(known)) if constant.is_constant() && is_no_value(known) => {
            (Vec::new(), stored.cloned())
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
            match reconcile(known, claims(stored, known), column) {
                Err(refuted) => (refuted, Some(FileColumn::Present(known.clone()))),
                // Where there are no values any bounds are true.
                Ok(_) if is_valueless(known, column) => (Vec::new(), Some(FileColumn::Present(known.clone()))),
                Ok(_) => (Vec::new(), Some(FileColumn::Present(better(stored, known)))),
            }
        }
    };
    Compared { refuted, column: now }
}

/// What of the stored statistics is held against the file: not what was found in its data, where that was not read again.
fn claims(stored: &ColumnStatistics, known: &ColumnStatistics) -> ColumnStatistics {
    let is_scanned = |provenance| provenance == Provenance::Scanned;
    let bounds = [&known.min, &known.max].into_iter().flatten().map(|bound| bound.provenance);
    let counts = [known.null_count, known.nan_count].into_iter().flatten().map(|count| count.provenance);
    if bounds.chain(counts).any(is_scanned) {
        return stored.clone();
    }
    let bound = |bound: &Option<Bound>| bound.clone().filter(|bound| !is_scanned(bound.provenance));
    let count = |count: Option<Count>| count.filter(|count| !is_scanned(count.provenance));
    ColumnStatistics {
        min: bound(&stored.min),
        max: bound(&stored.max),
        null_count: count(stored.null_count),
        nan_count: count(stored.nan_count),
    }
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
