//! Conditions of conditions: connectives, and comparisons with TRUE and FALSE.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value, ValueWithSpan};

use super::convert::{predicate, unsupported, value};
use super::unnested;
use crate::{CompareOp, FilterError, Predicate, TruthValue};

/// A chain of ANDs or of ORs.
pub(super) fn connective(expression: &Expr, op: &BinaryOperator, depth: usize) -> Result<Predicate, FilterError> {
    let mut parts = Vec::new();
    for operand in operands(expression, op) {
        match (predicate(operand, depth + 1)?, op) {
            // What is compared with TRUE may be of the same connective.
            (Predicate::And(more), BinaryOperator::And) | (Predicate::Or(more), BinaryOperator::Or) => {
                parts.extend(more);
            }
            (part, _) => parts.push(part),
        }
    }
    Ok(if *op == BinaryOperator::And { Predicate::And(parts) } else { Predicate::Or(parts) })
}

/// A comparison. A condition that equals (or does not equal) TRUE or FALSE has the outcomes of the condition, null among them,
/// or of its negation.
pub(super) fn comparison(
    whole: &Expr,
    (left, op, right): (&Expr, &BinaryOperator, &Expr),
    depth: usize,
) -> Result<Predicate, FilterError> {
    match (compare_op(op), truth_test(left, right)) {
        (Some(op @ (CompareOp::Eq | CompareOp::NotEq)), Some((tested, truth))) => {
            let tested = predicate(unnested(tested), depth + 1)?;
            Ok(if truth == (op == CompareOp::Eq) { tested } else { Predicate::Not(Box::new(tested)) })
        }
        (Some(op), _) => Ok(Predicate::Compare { left: value(left, depth + 1)?, op, right: value(right, depth + 1)? }),
        (None, _) if is_condition(op) => Ok(Predicate::Other(unsupported(whole))),
        (None, _) => Err(FilterError::NotACondition { expression: whole.to_string() }),
    }
}

/// The condition that is compared with TRUE or FALSE, and with which of them.
pub(super) fn truth_test<'a>(left: &'a Expr, right: &'a Expr) -> Option<(&'a Expr, bool)> {
    let truth = |side: &Expr| match unnested(side) {
        Expr::Value(ValueWithSpan { value: Value::Boolean(value), .. }) => Some(*value),
        _ => None,
    };
    let is_tested = |side: &Expr| is_logical(side) || matches!(unnested(side), Expr::Like { any: false, .. });
    match (truth(left), truth(right)) {
        (None, Some(value)) if is_tested(left) => Some((left, value)),
        (Some(value), None) if is_tested(right) => Some((right, value)),
        _ => None,
    }
}

/// `IS [NOT] DISTINCT FROM`.
pub(super) fn distinct(left: &Expr, right: &Expr, negated: bool, depth: usize) -> Result<Predicate, FilterError> {
    if let Some((tested, truth)) = truth_test(left, right) {
        let predicate = Box::new(predicate(unnested(tested), depth + 1)?);
        let value = if truth { TruthValue::True } else { TruthValue::False };
        return Ok(Predicate::Is { predicate, value, negated: !negated });
    }
    Ok(Predicate::Distinct { left: value(left, depth + 1)?, right: value(right, depth + 1)?, negated })
}

/// The operands of a chain of one connective, without recursing down its left side.
fn operands<'a>(expression: &'a Expr, connective: &BinaryOperator) -> Vec<&'a Expr> {
    let mut operands = Vec::new();
    let mut open = vec![expression];
    while let Some(next) = open.pop() {
        match unnested(next) {
            Expr::BinaryOp { left, op, right } if op == connective => open.extend([right.as_ref(), left.as_ref()]),
            operand => operands.push(operand),
        }
    }
    operands
}

/// Whether an expression is a predicate that pruning has rules for, and no operand.
pub(super) fn is_logical(expression: &Expr) -> bool {
    match unnested(expression) {
        Expr::BinaryOp { op, .. } => matches!(op, BinaryOperator::And | BinaryOperator::Or) || compare_op(op).is_some(),
        Expr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::InList { .. }
        | Expr::Between { .. } => true,
        _ => false,
    }
}

fn compare_op(op: &BinaryOperator) -> Option<CompareOp> {
    Some(match op {
        BinaryOperator::Eq => CompareOp::Eq,
        BinaryOperator::NotEq => CompareOp::NotEq,
        BinaryOperator::Lt => CompareOp::Lt,
        BinaryOperator::LtEq => CompareOp::LtEq,
        BinaryOperator::Gt => CompareOp::Gt,
        BinaryOperator::GtEq => CompareOp::GtEq,
        _ => return None,
    })
}

/// Whether an operator other than the six comparisons may yield a boolean: all but the arithmetic ones.
fn is_condition(op: &BinaryOperator) -> bool {
    !matches!(
        op,
        BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::StringConcat
    )
}
