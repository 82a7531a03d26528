//! Whether a predicate's text reads as the predicate again: what is left of a filter is handed to engines as that text.
//!
//! Two kinds of parts may read otherwise. What has no rule is written by sqlparser, which may run operators together, so that
//! `- -a` becomes a comment; and sqlparser takes a keyword for a name where nothing else fits, which another place may not do.

use std::ops::ControlFlow;

use sqlparser::keywords::ALL_KEYWORDS;

use crate::{ColumnName, Expression, FilterError, Predicate};

/// Refuses a predicate whose text reads as another one.
pub(super) fn check(
    predicate: &Predicate,
    read: fn(&str) -> Result<Predicate, FilterError>,
) -> Result<(), FilterError> {
    if of_predicate(predicate).is_continue() {
        return Ok(());
    }
    let text = predicate.to_string();
    match read(&text) {
        Ok(again) if again == *predicate => Ok(()),
        // The parentheses of the text may have taken it past a limit.
        Err(FilterError::TooComplex { .. }) => Ok(()),
        _ => Err(FilterError::NotAllowed { what: "an expression whose text reads as another", expression: text }),
    }
}

/// Breaks where a part is that may read otherwise.
fn of_predicate(predicate: &Predicate) -> ControlFlow<()> {
    match predicate {
        Predicate::Constant(_) => ControlFlow::Continue(()),
        Predicate::Column(name) => of_name(name),
        Predicate::Compare { left, right, .. } | Predicate::Distinct { left, right, .. } => {
            of_expression(left)?;
            of_expression(right)
        }
        Predicate::In { expression, list, .. } => {
            of_expression(expression)?;
            list.iter().try_for_each(of_expression)
        }
        Predicate::Between { expression, low, high, .. } => {
            [expression, low, high].into_iter().try_for_each(of_expression)
        }
        Predicate::IsNull { expression, .. }
        | Predicate::Like { expression, .. }
        | Predicate::Holds(expression)
        | Predicate::IsNan(expression)
        | Predicate::StartsWith { expression, .. } => of_expression(expression),
        Predicate::Contains { column, value, .. } => {
            of_name(column)?;
            of_expression(value)
        }
        Predicate::TwoValued { predicate, .. } | Predicate::Is { predicate, .. } | Predicate::Not(predicate) => {
            of_predicate(predicate)
        }
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().try_for_each(of_predicate),
        Predicate::Other(_) => ControlFlow::Break(()),
    }
}

fn of_expression(expression: &Expression) -> ControlFlow<()> {
    match expression {
        Expression::Literal(_) | Expression::Json(_) | Expression::Null | Expression::Interval(_) => {
            ControlFlow::Continue(())
        }
        Expression::Column(name) => of_name(name),
        Expression::Call { arguments, .. } => arguments.iter().try_for_each(of_expression),
        Expression::Cast { expression, .. } => of_expression(expression),
        Expression::Case { branches, otherwise } => {
            for (condition, value) in branches {
                of_predicate(condition)?;
                of_expression(value)?;
            }
            otherwise.iter().try_for_each(|otherwise| of_expression(otherwise))
        }
        Expression::Other(_) => ControlFlow::Break(()),
    }
}

fn of_name(name: &ColumnName) -> ControlFlow<()> {
    let doubtful =
        |text: &str| is_keyword(text) || !text.starts_with(|first: char| first.is_alphabetic() || first == '_');
    if name.parts.iter().any(|part| !part.quoted && doubtful(&part.text)) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Whether a word means something in some place of SQL.
fn is_keyword(word: &str) -> bool {
    ALL_KEYWORDS.binary_search(&word.to_ascii_uppercase().as_str()).is_ok()
}
