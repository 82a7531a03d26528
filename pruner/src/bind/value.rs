//! Value expressions bound to columns: each gets a domain, and two that meet are brought into one.

mod call;
mod cast;
mod moment;
mod unify;

use prunus_statistics::Literal;

use super::{Binder, BoundNode, Wildcards};
use crate::domain::Domain;
use crate::interval::Interval;
use crate::outcome::OutcomeSet;
use crate::predicate::{CompareOp, Expression};
use crate::value::{ValueExpression, ValueNode, ValueTest};
use crate::{IntervalLength, IntervalLiteral};

/// A bound operand: an expression with a domain, or what takes the domain of the operand that it meets.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Typed(ValueExpression),
    Literal(Literal),
    Null,
    Interval(IntervalLength),
}

/// Value expressions on their way into one test, with the conditions of their CASEs.
pub(super) struct ValueBinder<'a, 'b> {
    binder: &'a mut Binder<'b>,
    conditions: Vec<BoundNode>,
}

/// Why an interval has no rule where it stands.
pub(super) fn not_alone(interval: &IntervalLiteral) -> String {
    format!("there is no rule for {interval} but to add it to a date or timestamp or to take it from one")
}

/// Why there is no rule.
type NoRule = String;

impl Binder<'_> {
    /// `left op right` where a side is computed, or both are columns.
    pub(super) fn compare_values(&mut self, left: &Expression, op: CompareOp, right: &Expression) -> BoundNode {
        let nan_order = self.options.nan_order;
        self.value_test(|values| {
            let (bound_left, bound_right) = (values.operand(left)?, values.operand(right)?);
            let same_column = match (&bound_left, &bound_right) {
                (Operand::Typed(left), Operand::Typed(right)) => {
                    matches!(left.node, ValueNode::Column(_)) && left == right
                }
                _ => false,
            };
            let Some((bound_left, bound_right)) = values.unify(bound_left, bound_right)? else { return Ok(None) };
            // What is bound alike is not the same: engines may reckon with one side in another precision.
            Ok(Some(if same_column || left == right {
                ValueTest::CompareSame { operand: bound_left, op, nan_order }
            } else {
                ValueTest::Compare { left: bound_left, op, right: bound_right, nan_order }
            }))
        })
    }

    /// The literal that a literal moved by intervals is, where all engines agree on it.
    pub(super) fn moved_literal(&mut self, expression: &Expression) -> Option<Literal> {
        ValueBinder { binder: self, conditions: Vec::new() }.folded(expression)
    }

    /// An expression against operands that are not all literals: engines bring all of these into one type before they compare,
    /// so that a float among them makes floats, and a decimal decimals, of the others. `None` where all are literals, or where
    /// there is no such type.
    pub(super) fn compare_with_all(
        &mut self,
        expression: &Expression,
        against: &[(CompareOp, &Expression)],
    ) -> Option<Vec<BoundNode>> {
        let is_plain = |operand: &Expression| matches!(operand, Expression::Literal(_) | Expression::Null);
        if against.iter().all(|(_, operand)| is_plain(operand)) {
            return None;
        }
        let (nan_order, faults) = (self.options.nan_order, self.faults.len());
        let mut values = ValueBinder { binder: self, conditions: Vec::new() };
        let all = std::iter::once(expression).chain(against.iter().map(|(_, operand)| *operand));
        let bound = all.map(|operand| values.operand(operand)).collect::<Result<Vec<_>, _>>();
        let Ok(mut bound) = bound.and_then(|operands| values.compared_with_each_other(operands)) else {
            self.faults.truncate(faults);
            return None;
        };
        let conditions = values.conditions;
        let left = bound.remove(0);
        let node = |((op, operand), right): (&(CompareOp, &Expression), ValueExpression)| {
            let (left, op) = (left.clone(), *op);
            let test = if *operand == expression {
                ValueTest::CompareSame { operand: left, op, nan_order }
            } else {
                ValueTest::Compare { left, op, right, nan_order }
            };
            BoundNode::Value(Box::new(test), conditions.clone())
        };
        Some(against.iter().zip(bound).map(node).collect())
    }

    /// `left IS NOT DISTINCT FROM right`.
    pub(super) fn not_distinct(&mut self, left: &Expression, right: &Expression) -> BoundNode {
        let nan_order = self.options.nan_order;
        self.value_test(|values| {
            let (bound_left, bound_right) = (values.operand(left)?, values.operand(right)?);
            let unified = values.unify(bound_left, bound_right)?;
            Ok(unified.map(|(left, right)| ValueTest::NotDistinct { left, right, nan_order }))
        })
    }

    /// `expression IS NULL` of a computed expression.
    pub(super) fn value_is_null(&mut self, expression: &Expression) -> BoundNode {
        self.value_test(|values| match values.operand(expression)? {
            Operand::Typed(expression) => Ok(Some(ValueTest::IsNull(expression))),
            Operand::Literal(_) => Err("there is no rule for a literal that is null".to_owned()),
            Operand::Null => Ok(Some(ValueTest::IsNull(ValueExpression::constant(Domain::Boolean, Interval::null())))),
            Operand::Interval(_) => Err("there is no rule for an interval that is null".to_owned()),
        })
    }

    /// `isnan(expression)` of a computed expression.
    pub(super) fn value_is_nan(&mut self, expression: &Expression) -> BoundNode {
        self.value_test(|values| match values.operand(expression)? {
            Operand::Typed(expression) => Ok(Some(ValueTest::IsNan(expression))),
            _ => Err("there is no rule for isnan of a literal".to_owned()),
        })
    }

    /// `expression LIKE` a pattern that is more than a prefix, or of a computed expression.
    pub(super) fn value_is_like(&mut self, expression: &Expression, pattern: Wildcards) -> BoundNode {
        self.value_test(|values| match values.operand(expression)? {
            Operand::Typed(operand) if operand.domain == Domain::Text => Ok(Some(ValueTest::Like { operand, pattern })),
            _ => Err(format!("`{expression}` is not known to be a text")),
        })
    }

    /// A computed expression that stands as a condition.
    pub(super) fn value_is_true(&mut self, expression: &Expression) -> BoundNode {
        self.value_test(|values| match values.operand(expression)? {
            Operand::Typed(expression) if expression.domain == Domain::Boolean => {
                Ok(Some(ValueTest::IsTrue(expression)))
            }
            _ => Err(format!("`{expression}` is not known to be a condition")),
        })
    }

    /// A test of value expressions; null on every row where it is `None`.
    fn value_test(
        &mut self,
        bind: impl FnOnce(&mut ValueBinder<'_, '_>) -> Result<Option<ValueTest>, NoRule>,
    ) -> BoundNode {
        let mut values = ValueBinder { binder: self, conditions: Vec::new() };
        match bind(&mut values) {
            Ok(Some(test)) => BoundNode::Value(Box::new(test), values.conditions),
            Ok(None) => BoundNode::Constant(OutcomeSet::NULL),
            Err(reason) => BoundNode::Unknown(reason),
        }
    }
}

impl ValueBinder<'_, '_> {
    pub(super) fn operand(&mut self, expression: &Expression) -> Result<Operand, NoRule> {
        Ok(match expression {
            Expression::Column(name) => {
                let column = self.binder.column(name)?;
                Operand::Typed(ValueExpression {
                    domain: Domain::of(column.column_type),
                    node: ValueNode::Column(column),
                })
            }
            Expression::Literal(literal) => Operand::Literal(literal.clone()),
            Expression::Null => Operand::Null,
            Expression::Interval(interval) => Operand::Interval(interval.length()),
            Expression::Call { function, arguments } => Operand::Typed(self.call(*function, arguments)?),
            Expression::Cast { expression, target, kind } => self.cast(expression, *target, *kind)?,
            Expression::Case { branches, otherwise } => Operand::Typed(self.case(branches, otherwise.as_deref())?),
            Expression::Json(literal) => return Err(format!("{literal} meets no column")),
            Expression::Other(other) => return Err(self.binder.unsupported(other)),
        })
    }

    fn case(
        &mut self,
        branches: &[(crate::Predicate, Expression)],
        otherwise: Option<&Expression>,
    ) -> Result<ValueExpression, NoRule> {
        let mut values = Vec::with_capacity(branches.len() + 1);
        let mut conditions = Vec::with_capacity(branches.len());
        for (condition, value) in branches {
            let node = self.binder.node(condition);
            self.conditions.push(node);
            conditions.push(self.conditions.len() - 1);
            values.push(self.operand(value)?);
        }
        values.push(otherwise.map_or(Ok(Operand::Null), |otherwise| self.operand(otherwise))?);
        let mut values = self.unify_all(values)?;
        let otherwise = values.pop().ok_or_else(|| "there is no rule for an empty CASE".to_owned())?;
        let domain = otherwise.domain;
        let branches = conditions.into_iter().zip(values).collect();
        Ok(ValueExpression { domain, node: ValueNode::Case { branches, otherwise: Box::new(otherwise) } })
    }
}

impl ValueExpression {
    /// An operation whose operands stand in one domain.
    pub(super) fn apply(domain: Domain, operation: crate::operation::Operation, operands: Vec<Self>) -> Self {
        Self { domain, node: ValueNode::Apply(operation, operands) }
    }
}
