//! Statistics as a writer declares them, and what becomes of them beside what the file's footer says.

use std::cmp::Ordering;

use prunus_statistics::{Bound, ColumnStatistics, Count, Literal, Precision, PrimitiveType, Provenance, Value};

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

/// What holds of a column when the footer says one thing and the writer another. Where the footer speaks, it holds: a looser
/// declaration adds nothing, a tighter one is not taken, since nothing but reading the column could decide. Where the footer
/// is silent the declaration stands. One that the footer refutes is a fault.
pub(crate) fn reconcile(
    footer: ColumnStatistics,
    declared: ColumnStatistics,
    column_type: PrimitiveType,
) -> Result<ColumnStatistics, Vec<Fault>> {
    let mut faults = Vec::new();
    for (what, footer, declared) in
        [("null_count", footer.null_count, declared.null_count), ("nan_count", footer.nan_count, declared.nan_count)]
    {
        if let (Some(footer), Some(declared)) = (footer, declared)
            && footer.value != declared.value
        {
            let fault = Fault::new(format!("{what} differs from the file's"));
            faults.push(fault.with_evidence(declared.value.to_string(), format!("the footer says {}", footer.value)));
        }
    }
    let disjoint = |declared: &Option<Bound>, footer: &Option<Bound>, beyond: Ordering| match (declared, footer) {
        (Some(declared), Some(footer)) if declared.precision != Precision::Estimate => {
            declared.value.compare(&footer.value) == Some(beyond)
        }
        _ => false,
    };
    let shown = |value: &Option<Bound>| {
        value.as_ref().map(|bound| bound.value.display(column_type).to_string()).unwrap_or_default()
    };
    for (message, declared, footer, beyond) in [
        ("min lies above every value of the file", &declared.min, &footer.max, Ordering::Greater),
        ("max lies below every value of the file", &declared.max, &footer.min, Ordering::Less),
    ] {
        if disjoint(declared, footer, beyond) {
            let fault = Fault::new(message);
            faults.push(
                fault.with_evidence(shown(declared), format!("the footer bounds the values by {}", shown(footer))),
            );
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(ColumnStatistics {
        min: footer.min.or(declared.min),
        max: footer.max.or(declared.max),
        null_count: footer.null_count.or(declared.null_count),
        nan_count: footer.nan_count.or(declared.nan_count),
    })
}

/// Whether a declaration is tighter than the footer on some side, so that only reading the column could decide.
pub(crate) fn is_tighter(declared: &ColumnStatistics, footer: &ColumnStatistics) -> bool {
    let inside = |declared: &Option<Bound>, footer: &Option<Bound>, inward: Ordering| match (declared, footer) {
        (Some(declared), Some(footer)) if declared.precision != Precision::Estimate => {
            declared.value.compare(&footer.value) == Some(inward)
        }
        _ => false,
    };
    inside(&declared.min, &footer.min, Ordering::Greater) || inside(&declared.max, &footer.max, Ordering::Less)
}

/// Whether a constant lies outside what is known of the column, or is null where no row is.
pub(crate) fn refutes_constant(statistics: &ColumnStatistics, constant: Option<&Value>) -> bool {
    let Some(constant) = constant else {
        return statistics.min.as_ref().is_some_and(|bound| bound.precision == Precision::Exact)
            || statistics.null_count.is_some_and(|count| count.value == 0);
    };
    let beyond = |bound: &Option<Bound>, beyond: Ordering| {
        bound.as_ref().is_some_and(|bound| {
            bound.precision != Precision::Estimate && constant.compare(&bound.value) == Some(beyond)
        })
    };
    beyond(&statistics.min, Ordering::Less)
        || beyond(&statistics.max, Ordering::Greater)
        || statistics.null_count.is_some_and(|count| count.value > 0)
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

    #[test]
    fn where_the_footer_speaks_it_holds() {
        let both = footer(Some(1), Some(9), Some(0));
        assert_eq!(reconcile(both.clone(), declared(Some(2), Some(20), Some(0)), INT), Ok(both));
    }

    #[test]
    fn where_the_footer_is_silent_the_declaration_stands() {
        assert_eq!(
            reconcile(footer(None, None, None), declared(Some(2), Some(3), Some(1)), INT),
            Ok(declared(Some(2), Some(3), Some(1)))
        );
    }

    #[test]
    fn what_the_footer_refutes_is_a_fault() {
        let file = footer(Some(1), Some(9), Some(0));
        let messages = |claim| -> Vec<String> {
            reconcile(file.clone(), claim, INT).unwrap_err().into_iter().map(|fault| fault.message).collect()
        };
        assert_eq!(
            messages(declared(Some(10), Some(20), Some(1))),
            ["null_count differs from the file's", "min lies above every value of the file",]
        );
        assert_eq!(messages(declared(None, Some(0), None)), ["max lies below every value of the file"]);
    }

    #[test]
    fn a_constant_outside_the_file_is_refuted() {
        let file = footer(Some(1), Some(9), Some(0));
        assert!(!refutes_constant(&file, Some(&Value::Integer(9))));
        assert!(refutes_constant(&file, Some(&Value::Integer(10))));
        assert!(refutes_constant(&file, None));
        assert!(refutes_constant(&footer(None, None, Some(1)), Some(&Value::Integer(1))));
        assert!(!refutes_constant(&footer(None, None, None), None));
    }

    #[test]
    fn a_bound_of_another_type_is_a_fault() {
        let bound = |value| Some(DeclaredBound { value, precision: Precision::Exact });
        let claim = DeclaredStatistics { min: bound(Literal::Text("x".to_owned())), ..Default::default() };
        assert_eq!(claim.typed(INT).unwrap_err()[0].message, "min is not a value of type int32");
    }
}
