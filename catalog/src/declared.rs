//! Statistics as a writer declares them, and what becomes of them beside what the file itself says.

use std::cmp::Ordering;

use prunus_statistics::{
    Bound, ColumnStatistics, Count, Defect, Literal, Precision, PrimitiveType, Provenance, Value, normalise,
};

use crate::Fault;
use crate::schema_json::value_from_literal;

/// What a writer declares of one column of a file; what is absent is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeclaredStatistics {
    /// The lower bound.
    pub min: Option<DeclaredBound>,
    /// The upper bound.
    pub max: Option<DeclaredBound>,
    /// How many rows are null.
    pub null_count: Option<u64>,
    /// How many rows are NaN.
    pub nan_count: Option<u64>,
}

/// A declared bound, not yet of its column's type.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredBound {
    /// The value as it was written.
    pub value: Literal,
    /// How far it may be trusted.
    pub precision: Precision,
}

impl DeclaredStatistics {
    /// The declaration in the column's type.
    ///
    /// # Errors
    /// A fault for each bound that is no value of the type.
    pub(crate) fn typed(&self, column_type: PrimitiveType) -> Result<ColumnStatistics, Vec<Fault>> {
        let provenance = Provenance::Declared;
        let mut faults = Vec::new();
        let mut bound = |side: &str, declared: &Option<DeclaredBound>| {
            let DeclaredBound { value, precision } = declared.as_ref()?;
            let typed = value_from_literal(value, column_type);
            if typed.is_none() {
                let fault = Fault::new(format!("{side} is not a value of type {column_type}"));
                faults.push(fault.with_evidence(value.to_string(), format!("the column's type is {column_type}")));
            }
            Some(Bound { value: typed?, precision: *precision, provenance })
        };
        let (min, max) = (bound("min", &self.min), bound("max", &self.max));
        let count = |value: Option<u64>| value.map(|value| Count { value, provenance });
        let statistics =
            ColumnStatistics { min, max, null_count: count(self.null_count), nan_count: count(self.nan_count) };
        if faults.is_empty() { Ok(statistics) } else { Err(faults) }
    }
}

/// A statistic that the file contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refutation {
    /// Which: `min`, `max`, `null_count`, `nan_count`; several where only together they cannot be.
    pub(crate) statistic: &'static str,
    /// What is wrong with it.
    pub(crate) message: String,
    /// What was claimed.
    pub(crate) claim: String,
    /// What shows that it is false.
    pub(crate) evidence: String,
}

impl From<Refutation> for Fault {
    fn from(refutation: Refutation) -> Self {
        Self::new(refutation.message).with_evidence(refutation.claim, refutation.evidence)
    }
}

/// What holds of a column of which the file says one thing and the writer another. Where the file speaks, it holds: a looser
/// declaration adds nothing. Where it is silent the declaration stands. One that the file refutes is a fault.
///
/// A declaration that is tighter than the file's bounds is no fault and not taken: only reading the column decides, see
/// [`is_tighter`].
pub(crate) fn reconcile(
    known: &ColumnStatistics,
    declared: ColumnStatistics,
    column: Column,
) -> Result<ColumnStatistics, Vec<Refutation>> {
    let holds_no_value = is_valueless(known, column);
    let mut refuted = refuted_counts(known, &declared);
    for side in [Side::Min, Side::Max] {
        let Some(claim) = side.own(&declared).filter(|bound| bound.precision != Precision::Estimate) else { continue };
        if let Some((message, evidence)) = side.refuted(claim, known, holds_no_value, column) {
            let claim = claim.value.display(column.column_type).to_string();
            refuted.push(Refutation { statistic: side.name(), message: message.to_owned(), claim, evidence });
        }
    }
    if !refuted.is_empty() {
        return Err(refuted);
    }
    let claimed = declared.clone();
    let bound = |known: Option<Bound>, declared: Option<Bound>| if holds_no_value { None } else { known.or(declared) };
    let mut both = ColumnStatistics {
        min: bound(known.min.clone(), declared.min),
        max: bound(known.max.clone(), declared.max),
        null_count: known.null_count.or(declared.null_count),
        nan_count: known.nan_count.or(declared.nan_count),
    };
    // Each is possible by itself, so what is not possible together is the writer's fault.
    let defects = normalise(&mut both, column.column_type, column.row_count);
    let refuted = |defect: &Defect| Refutation {
        statistic: "all",
        message: format!("with what the file is known to hold, {defect}"),
        claim: describe(&claimed, column.column_type),
        evidence: describe(known, column.column_type),
    };
    if defects.is_empty() { Ok(both) } else { Err(defects.iter().map(refuted).collect()) }
}

/// Whether a declaration is tighter on some side than bounds of which it is not known that the values reach them, so that only
/// reading the column decides.
pub(crate) fn is_tighter(declared: &ColumnStatistics, known: &ColumnStatistics) -> bool {
    [Side::Min, Side::Max].into_iter().any(|side| match (side.own(declared), side.own(known)) {
        (Some(declared), Some(known)) => {
            declared.precision != Precision::Estimate
                && known.precision != Precision::Exact
                && declared.value.compare(&known.value) == Some(side.inward())
        }
        _ => false,
    })
}

/// The column of a file that statistics are of.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) column_type: PrimitiveType,
    /// How many rows the file has; `None` if that is not known.
    pub(crate) row_count: Option<u64>,
}

#[derive(Clone, Copy)]
enum Side {
    Min,
    Max,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    fn own(self, statistics: &ColumnStatistics) -> Option<&Bound> {
        match self {
            Self::Min => statistics.min.as_ref(),
            Self::Max => statistics.max.as_ref(),
        }
    }

    fn other(self, statistics: &ColumnStatistics) -> Option<&Bound> {
        match self {
            Self::Min => Self::Max.own(statistics),
            Self::Max => Self::Min.own(statistics),
        }
    }

    /// How a bound that lies further in than another compares with it.
    fn inward(self) -> Ordering {
        match self {
            Self::Min => Ordering::Greater,
            Self::Max => Ordering::Less,
        }
    }

    /// What is wrong with a declared bound, and what shows it.
    fn refuted(
        self,
        claim: &Bound,
        known: &ColumnStatistics,
        holds_no_value: bool,
        column: Column,
    ) -> Option<(&'static str, String)> {
        let lies = |bound: Option<&Bound>, ordering: Ordering| {
            let bound = bound.filter(|bound| bound.precision != Precision::Estimate)?;
            (claim.value.compare(&bound.value) == Some(ordering)).then(|| bound.clone())
        };
        let message = |of_min, of_max| match self {
            Self::Min => of_min,
            Self::Max => of_max,
        };
        let shown = |bound: &Bound| evidence(bound, column.column_type);
        if let Some(bound) = lies(self.other(known), self.inward()) {
            let message = message("min lies above every value of the file", "max lies below every value of the file");
            return Some((message, shown(&bound)));
        }
        let own = self.own(known);
        if let Some(bound) = lies(own.filter(|bound| bound.precision == Precision::Exact), self.inward()) {
            let message = message("min lies above a value of the file", "max lies below a value of the file");
            return Some((message, shown(&bound)));
        }
        if claim.precision != Precision::Exact {
            return None;
        }
        if holds_no_value {
            let message = message("min is said to be exact", "max is said to be exact");
            return Some((message, "the file holds nulls and NaNs only".to_owned()));
        }
        let bound = lies(own, self.inward().reverse())?;
        let message = message(
            "min is said to be exact, and lies below every value of the file",
            "max is said to be exact, and lies above every value of the file",
        );
        Some((message, shown(&bound)))
    }
}

fn refuted_counts(known: &ColumnStatistics, declared: &ColumnStatistics) -> Vec<Refutation> {
    let counts =
        [("null_count", known.null_count, declared.null_count), ("nan_count", known.nan_count, declared.nan_count)];
    let differ = |(statistic, known, declared): (&'static str, Option<Count>, Option<Count>)| {
        let (known, declared) = known.zip(declared).filter(|(known, declared)| known.value != declared.value)?;
        Some(Refutation {
            statistic,
            message: format!("{statistic} differs from the file's"),
            claim: declared.value.to_string(),
            evidence: format!("{} {}", source(known.provenance), known.value),
        })
    };
    counts.into_iter().filter_map(differ).collect()
}

/// Whether all rows are known to be null or NaN.
pub(crate) fn is_valueless(known: &ColumnStatistics, column: Column) -> bool {
    let Some(rows) = column.row_count else { return false };
    let nulls = known.null_count.map(|count| count.value);
    let nans = if column.column_type.is_float() { known.nan_count.map(|count| count.value) } else { Some(0) };
    nulls == Some(rows) || nulls.zip(nans).is_some_and(|(nulls, nans)| nulls.checked_add(nans) == Some(rows))
}

fn source(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Scanned => "the data holds",
        Provenance::Footer | Provenance::Declared | Provenance::Constant => "the footer says",
    }
}

fn evidence(bound: &Bound, column_type: PrimitiveType) -> String {
    let value = bound.value.display(column_type);
    match (bound.provenance, bound.precision) {
        (_, Precision::Exact) => format!("{} {value}", source(bound.provenance)),
        (Provenance::Scanned, _) => format!("the data is bounded by {value}"),
        _ => format!("the footer bounds the values by {value}"),
    }
}

/// What is known of a column, as evidence.
pub(crate) fn describe(statistics: &ColumnStatistics, column_type: PrimitiveType) -> String {
    let bound = |bound: &Option<Bound>| {
        bound.as_ref().map_or("unknown".to_owned(), |bound| bound.value.display(column_type).to_string())
    };
    let count = |count: Option<Count>| count.map_or("an unknown number of".to_owned(), |count| count.value.to_string());
    let mut text = format!(
        "min {}, max {}, {} nulls",
        bound(&statistics.min),
        bound(&statistics.max),
        count(statistics.null_count)
    );
    if column_type.is_float() {
        text = format!("{text}, {} NaNs", count(statistics.nan_count));
    }
    text
}

/// Whether what is known of a column contradicts that it has this value in every row (`None`: null).
pub(crate) fn refutes_constant(statistics: &ColumnStatistics, constant: Option<&Value>) -> bool {
    let exact = |bound: &&Bound| bound.precision == Precision::Exact;
    let exact: Vec<&Bound> = [&statistics.min, &statistics.max].into_iter().flatten().filter(exact).collect();
    let some = |count: Option<Count>| count.is_some_and(|count| count.value > 0);
    let Some(constant) = constant else {
        return !exact.is_empty()
            || some(statistics.nan_count)
            || statistics.null_count.is_some_and(|count| count.value == 0);
    };
    let beyond = |bound: &Option<Bound>, beyond: Ordering| {
        bound.as_ref().is_some_and(|bound| {
            bound.precision != Precision::Estimate && constant.compare(&bound.value) == Some(beyond)
        })
    };
    beyond(&statistics.min, Ordering::Less)
        || beyond(&statistics.max, Ordering::Greater)
        || exact.iter().any(|bound| constant.compare(&bound.value) != Some(Ordering::Equal))
        || some(statistics.null_count)
        || (some(statistics.nan_count) && !constant.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: PrimitiveType = PrimitiveType::Int32;

    fn statistics(
        min: Option<i128>,
        max: Option<i128>,
        nulls: Option<u64>,
        provenance: Provenance,
    ) -> ColumnStatistics {
        let bound = |value| Bound { value: Value::Integer(value), precision: Precision::Bound, provenance };
        let null_count = nulls.map(|value| Count { value, provenance });
        ColumnStatistics { min: min.map(bound), max: max.map(bound), null_count, nan_count: None }
    }

    fn footer(min: Option<i128>, max: Option<i128>, nulls: Option<u64>) -> ColumnStatistics {
        statistics(min, max, nulls, Provenance::Footer)
    }

    fn declared(min: Option<i128>, max: Option<i128>, nulls: Option<u64>) -> ColumnStatistics {
        statistics(min, max, nulls, Provenance::Declared)
    }

    const INTS: Column = Column { column_type: INT, row_count: Some(20) };

    fn exact(min: i128, max: i128, provenance: Provenance) -> ColumnStatistics {
        let mut both = statistics(Some(min), Some(max), Some(0), provenance);
        both.min.iter_mut().chain(&mut both.max).for_each(|bound| bound.precision = Precision::Exact);
        both
    }

    /// What is wrong with a claim, as message and evidence.
    fn refuted(known: &ColumnStatistics, claim: ColumnStatistics) -> Vec<(String, String)> {
        let faults = reconcile(known, claim, INTS).err().unwrap_or_default();
        faults.into_iter().map(|refutation| (refutation.message, refutation.evidence)).collect()
    }

    fn check(known: &ColumnStatistics, claim: ColumnStatistics, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(refuted(known, claim), expected);
    }

    #[test]
    fn where_the_footer_speaks_it_holds() {
        let both = footer(Some(1), Some(9), Some(0));
        assert_eq!(reconcile(&both, declared(Some(2), Some(20), Some(0)), INTS), Ok(both));
    }

    #[test]
    fn where_the_footer_is_silent_the_declaration_stands() {
        assert_eq!(
            reconcile(&footer(None, None, None), declared(Some(2), Some(3), Some(1)), INTS),
            Ok(declared(Some(2), Some(3), Some(1)))
        );
    }

    #[test]
    fn what_the_footer_refutes_is_a_fault() {
        let file = footer(Some(1), Some(9), Some(0));
        check(
            &file,
            declared(Some(10), Some(20), Some(1)),
            &[
                ("null_count differs from the file's", "the footer says 0"),
                ("min lies above every value of the file", "the footer bounds the values by 9"),
            ],
        );
        check(
            &file,
            declared(None, Some(0), None),
            &[("max lies below every value of the file", "the footer bounds the values by 1")],
        );
    }

    #[test]
    fn a_value_that_is_said_to_occur_beyond_the_footers_bounds_is_a_fault() {
        let message = "min is said to be exact, and lies below every value of the file";
        check(
            &footer(Some(1), Some(9), None),
            exact(0, 9, Provenance::Declared),
            &[(message, "the footer bounds the values by 1")],
        );
    }

    #[test]
    fn what_the_data_refutes_is_a_fault() {
        let data = exact(1, 9, Provenance::Scanned);
        check(&data, declared(Some(2), None, None), &[("min lies above a value of the file", "the data holds 1")]);
        check(&data, declared(None, Some(8), None), &[("max lies below a value of the file", "the data holds 9")]);
        let message = "max is said to be exact, and lies above every value of the file";
        check(&data, exact(1, 10, Provenance::Declared), &[(message, "the data holds 9")]);
        check(&data, declared(Some(0), Some(10), Some(0)), &[]);
    }

    #[test]
    fn a_value_that_is_said_to_occur_among_nulls_is_a_fault() {
        let nulls = footer(None, None, Some(20));
        let evidence = "the file holds nulls and NaNs only";
        check(
            &nulls,
            ColumnStatistics { null_count: None, ..exact(1, 2, Provenance::Declared) },
            &[("min is said to be exact", evidence), ("max is said to be exact", evidence)],
        );
        assert_eq!(reconcile(&nulls, declared(Some(1), Some(2), None), INTS), Ok(nulls));
    }

    #[test]
    fn counts_that_are_possible_only_without_each_other_are_a_fault() {
        let float = Column { column_type: PrimitiveType::Float64, row_count: Some(20) };
        let nans = Count { value: 11, provenance: Provenance::Declared };
        let claim = ColumnStatistics { nan_count: Some(nans), ..Default::default() };
        let refuted = reconcile(&footer(None, None, Some(10)), claim, float).unwrap_err();
        assert_eq!(refuted[0].evidence, "min unknown, max unknown, 10 nulls, an unknown number of NaNs");
    }

    #[test]
    fn only_bounds_that_values_may_not_reach_leave_something_to_decide() {
        let claim = declared(Some(2), None, None);
        assert!(is_tighter(&claim, &footer(Some(1), None, None)));
        assert!(!is_tighter(&claim, &footer(Some(2), None, None)));
        assert!(!is_tighter(&claim, &footer(None, Some(9), None)));
        assert!(!is_tighter(&claim, &exact(1, 9, Provenance::Scanned)));
        let mut guess = claim;
        guess.min.iter_mut().for_each(|bound| bound.precision = Precision::Estimate);
        assert!(!is_tighter(&guess, &footer(Some(1), None, None)));
    }

    #[test]
    fn a_constant_outside_the_file_is_refuted() {
        let file = footer(Some(1), Some(9), Some(0));
        assert!(!refutes_constant(&file, Some(&Value::Integer(9))));
        assert!(refutes_constant(&file, Some(&Value::Integer(10))));
        assert!(refutes_constant(&file, None));
        assert!(refutes_constant(&footer(None, None, Some(1)), Some(&Value::Integer(1))));
        assert!(!refutes_constant(&footer(None, None, None), None));
        let data = exact(1, 9, Provenance::Scanned);
        assert!(refutes_constant(&data, Some(&Value::Integer(9))));
        assert!(!refutes_constant(&exact(9, 9, Provenance::Scanned), Some(&Value::Integer(9))));
    }

    #[test]
    fn a_bound_of_another_type_is_a_fault() {
        let bound = |value| Some(DeclaredBound { value, precision: Precision::Exact });
        let claim = DeclaredStatistics { min: bound(Literal::Text("x".to_owned())), ..Default::default() };
        assert_eq!(claim.typed(INT).unwrap_err()[0].message, "min is not a value of type int32");
    }
}
