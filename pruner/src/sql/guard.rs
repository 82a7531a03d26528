//! What a filter on rows may not hold, wherever in it it stands.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Value, visit_expressions};

use crate::{ColumnName, FilterError};

use super::convert::column_name;

/// Refuses parameters, subqueries and window functions.
pub(super) fn check(expression: &Expr) -> Result<(), FilterError> {
    let flow = visit_expressions(expression, |part| match what_is_not_allowed(part) {
        Some(what) => ControlFlow::Break(FilterError::NotAllowed { what, expression: part.to_string() }),
        None => ControlFlow::Continue(()),
    });
    match flow {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn what_is_not_allowed(expression: &Expr) -> Option<&'static str> {
    match expression {
        Expr::Value(value) if matches!(value.value, Value::Placeholder(_)) => Some("a parameter"),
        Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. } => Some("a subquery"),
        Expr::Function(function) if function.over.is_some() => Some("a window function"),
        _ => None,
    }
}

/// The columns that an expression names.
pub(super) fn columns(expression: &Expr) -> Vec<ColumnName> {
    let mut columns = Vec::new();
    let _: ControlFlow<()> = visit_expressions(expression, |part| {
        if let Some(name) = column_name(part)
            && !columns.contains(&name)
        {
            columns.push(name);
        }
        ControlFlow::Continue(())
    });
    columns
}
