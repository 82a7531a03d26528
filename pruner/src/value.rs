//! Tests of value expressions: what has no typed kernel is judged container by container, over abstract values.

use std::fmt;

use prunus_statistics::{FieldId, PrimitiveType, Value};

use crate::bind::{BoundColumn, NanOrder, Wildcards};
use crate::domain::Domain;
use crate::interval::Interval;
use crate::operation::Operation;
use crate::outcome::OutcomeSet;
use crate::predicate::CompareOp;
use crate::tile::Tile;
use crate::zone_maps::ZoneMaps;

/// An expression over columns, and what kind of values it has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValueExpression {
    pub(crate) domain: Domain,
    pub(crate) node: ValueNode,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueNode {
    Column(BoundColumn),
    /// The same on every row.
    Constant(Interval),
    Apply(Operation, Vec<ValueExpression>),
    /// The first that is not null.
    Coalesce(Vec<ValueExpression>),
    /// One of the two, and nothing is known of which.
    Either(Box<ValueExpression>, Box<ValueExpression>),
    /// The value behind the first condition that is true, by its place among the test's conditions; else the last.
    Case {
        branches: Vec<(usize, ValueExpression)>,
        otherwise: Box<ValueExpression>,
    },
}

/// A boolean test of value expressions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ValueTest {
    Compare {
        left: ValueExpression,
        op: CompareOp,
        right: ValueExpression,
        nan_order: NanOrder,
    },
    /// The same expression on both sides: equal but for NaN.
    CompareSame {
        operand: ValueExpression,
        op: CompareOp,
        nan_order: NanOrder,
    },
    /// `IS NOT DISTINCT FROM`: equal, or both null; never null.
    NotDistinct {
        left: ValueExpression,
        right: ValueExpression,
        nan_order: NanOrder,
    },
    IsNull(ValueExpression),
    IsNan(ValueExpression),
    /// A boolean expression.
    IsTrue(ValueExpression),
    /// `LIKE`, judged on the one text that all rows have.
    Like {
        operand: ValueExpression,
        pattern: Wildcards,
    },
}

/// Which containers may, and which may not, have rows on which a condition of a CASE is true.
pub(crate) struct Condition {
    pub(crate) may_be_true: Tile,
    pub(crate) may_be_other: Tile,
}

/// A container, and what is known of the conditions in it.
#[derive(Clone, Copy)]
pub(crate) struct Container<'a> {
    pub(crate) zones: &'a ZoneMaps,
    pub(crate) conditions: &'a [Condition],
    pub(crate) index: usize,
}

impl ValueTest {
    /// What the test may be on the rows of a container.
    pub(crate) fn outcomes(&self, container: Container<'_>) -> OutcomeSet {
        match self {
            Self::Compare { left, op, right, nan_order } => {
                left.evaluate(container).compare(*op, &right.evaluate(container), *nan_order)
            }
            Self::CompareSame { operand, op, nan_order } => compare_same(&operand.evaluate(container), *op, *nan_order),
            Self::NotDistinct { left, right, nan_order } => {
                not_distinct(&left.evaluate(container), &right.evaluate(container), *nan_order)
            }
            Self::IsNull(operand) => {
                let operand = operand.evaluate(container);
                when(operand.may_be_null, OutcomeSet::TRUE)
                    | when(operand.may_be_value || operand.may_be_nan, OutcomeSet::FALSE)
            }
            // Of null some engines say false, others null.
            Self::IsNan(operand) => {
                let operand = operand.evaluate(container);
                when(operand.may_be_nan, OutcomeSet::TRUE)
                    | when(operand.may_be_value, OutcomeSet::FALSE)
                    | when(operand.may_be_null, OutcomeSet::FALSE | OutcomeSet::NULL)
            }
            Self::IsTrue(operand) => {
                let truth = Interval::point(Value::Boolean(true));
                operand.evaluate(container).compare(CompareOp::Eq, &truth, NanOrder::Any)
            }
            Self::Like { operand, pattern } => {
                let operand = operand.evaluate(container);
                let matches = match operand.pinned() {
                    Some(Value::Bytes(text)) => pattern.matches(text),
                    _ => None,
                };
                let on_value = match matches {
                    Some(true) => OutcomeSet::TRUE,
                    Some(false) => OutcomeSet::FALSE,
                    None => OutcomeSet::TRUE | OutcomeSet::FALSE,
                };
                when(operand.may_be_value, on_value) | when(operand.may_be_null, OutcomeSet::NULL)
            }
        }
    }

    fn operands(&self) -> Vec<&ValueExpression> {
        match self {
            Self::Compare { left, right, .. } | Self::NotDistinct { left, right, .. } => vec![left, right],
            Self::CompareSame { operand, .. }
            | Self::Like { operand, .. }
            | Self::IsNull(operand)
            | Self::IsNan(operand)
            | Self::IsTrue(operand) => vec![operand],
        }
    }

    /// The columns that the test reads; those of conditions are not among them.
    pub(crate) fn columns(&self) -> Vec<&BoundColumn> {
        let mut columns = Vec::new();
        let mut open = self.operands();
        while let Some(expression) = open.pop() {
            match &expression.node {
                ValueNode::Column(column) => columns.push(column),
                ValueNode::Constant(_) => {}
                ValueNode::Apply(_, operands) | ValueNode::Coalesce(operands) => open.extend(operands),
                ValueNode::Either(one, other) => open.extend([one.as_ref(), other.as_ref()]),
                ValueNode::Case { branches, otherwise } => {
                    open.push(otherwise);
                    open.extend(branches.iter().map(|(_, value)| value));
                }
            }
        }
        columns
    }
}

fn when(may: bool, outcomes: OutcomeSet) -> OutcomeSet {
    if may { outcomes } else { OutcomeSet::NONE }
}

/// `x op x`: on every row with a value the same as `1 op 1`.
fn compare_same(operand: &Interval, op: CompareOp, nan_order: NanOrder) -> OutcomeSet {
    let reflexive = matches!(op, CompareOp::Eq | CompareOp::LtEq | CompareOp::GtEq);
    let on_value = if reflexive { OutcomeSet::TRUE } else { OutcomeSet::FALSE };
    let nan = Interval::nan();
    when(operand.may_be_value, on_value)
        | when(operand.may_be_nan, nan.compare(op, &nan, nan_order))
        | when(operand.may_be_null, OutcomeSet::NULL)
}

impl ValueExpression {
    /// A constant.
    pub(crate) fn constant(domain: Domain, value: Interval) -> Self {
        Self { domain, node: ValueNode::Constant(value) }
    }

    /// What it is on every row, where no column takes part.
    pub(crate) fn as_constant(&self) -> Option<Interval> {
        match &self.node {
            ValueNode::Constant(value) => Some(value.clone()),
            ValueNode::Apply(operation, operands) => {
                let domain = operands.first().map_or(self.domain, |operand| operand.domain);
                let operands: Option<Vec<Interval>> = operands.iter().map(Self::as_constant).collect();
                Some(operation.apply(domain, &operands?))
            }
            _ => None,
        }
    }

    fn evaluate(&self, container: Container<'_>) -> Interval {
        match &self.node {
            ValueNode::Constant(value) => value.clone(),
            ValueNode::Column(column) => container.column(column.id, self.domain, column),
            ValueNode::Apply(operation, operands) => {
                let domain = operands.first().map_or(self.domain, |operand| operand.domain);
                let operands: Vec<Interval> = operands.iter().map(|operand| operand.evaluate(container)).collect();
                operation.apply(domain, &operands)
            }
            ValueNode::Coalesce(operands) => coalesce(operands.iter().map(|operand| operand.evaluate(container))),
            ValueNode::Either(one, other) => one.evaluate(container).hull(other.evaluate(container)),
            ValueNode::Case { branches, otherwise } => case(branches, otherwise, container),
        }
    }
}

impl Container<'_> {
    fn column(self, field: FieldId, domain: Domain, column: &BoundColumn) -> Interval {
        let anything = || Interval::anything(domain.is_float());
        let Some(zones) = self.zones.column(field) else { return anything() };
        let (low, high) = zones.bounds.at(self.index);
        let in_domain = |bound| Domain::from_column(bound, column.column_type);
        Interval {
            low: None,
            high: None,
            may_be_null: zones.may_be_null.contains(self.index),
            may_be_nan: zones.may_be_nan.contains(self.index),
            may_be_value: zones.may_have_value.contains(self.index),
        }
        .with_bounds(low.and_then(in_domain), high.and_then(in_domain))
        .within(integers(column.column_type))
    }
}

/// The integers that a column of integers can hold.
fn integers(column_type: PrimitiveType) -> Option<(i128, i128)> {
    column_type.stored_range().filter(|_| column_type.is_integer())
}

/// Null-safe equality: rule 12.
fn not_distinct(left: &Interval, right: &Interval, nan_order: NanOrder) -> OutcomeSet {
    let equal = left.compare(CompareOp::Eq, right, nan_order);
    let may_hold = |interval: &Interval| interval.may_be_value || interval.may_be_nan;
    let one_null = (left.may_be_null && may_hold(right)) || (right.may_be_null && may_hold(left));
    when(equal.intersects(OutcomeSet::TRUE) || (left.may_be_null && right.may_be_null), OutcomeSet::TRUE)
        | when(equal.intersects(OutcomeSet::FALSE) || one_null, OutcomeSet::FALSE)
}

/// What of each operand can come up: its values, and the next one only where it may be null.
fn coalesce(operands: impl Iterator<Item = Interval>) -> Interval {
    let mut result = Interval { may_be_null: false, may_be_value: false, ..Interval::anything(false) };
    for operand in operands {
        let may_be_null = operand.may_be_null;
        result = result.hull(Interval { may_be_null: false, ..operand });
        if !may_be_null {
            return result;
        }
    }
    result.or_null()
}

/// The hull of the branches that can be reached.
fn case(branches: &[(usize, ValueExpression)], otherwise: &ValueExpression, container: Container<'_>) -> Interval {
    let mut result: Option<Interval> = None;
    let mut add = |value: Interval| result = Some(result.take().map_or(value.clone(), |earlier| earlier.hull(value)));
    for (condition, value) in branches {
        let condition = container.conditions.get(*condition);
        if condition.is_none_or(|condition| condition.may_be_true.contains(container.index)) {
            add(value.evaluate(container));
        }
        if condition.is_some_and(|condition| !condition.may_be_other.contains(container.index)) {
            return result.unwrap_or_else(|| Interval::anything(true));
        }
    }
    add(otherwise.evaluate(container));
    result.unwrap_or_else(|| Interval::anything(true))
}

impl fmt::Display for ValueTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare { left, op, right, .. } => write!(f, "{left} {op} {right}"),
            Self::CompareSame { operand, op, .. } => write!(f, "{operand} {op} itself"),
            Self::NotDistinct { left, right, .. } => write!(f, "{left} is not distinct from {right}"),
            Self::IsNull(operand) => write!(f, "{operand} is null"),
            Self::IsNan(operand) => write!(f, "{operand} is NaN"),
            Self::IsTrue(operand) => write!(f, "{operand} is true"),
            Self::Like { operand, .. } => write!(f, "{operand} is like a pattern"),
        }
    }
}

impl fmt::Display for ValueExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, operands: &[Self]| {
            operands
                .iter()
                .enumerate()
                .try_for_each(|(index, operand)| write!(f, "{}{operand}", if index > 0 { ", " } else { "" }))
        };
        match &self.node {
            ValueNode::Column(column) => write!(f, "{}", column.id),
            ValueNode::Constant(Interval { low: Some(low), high: Some(high), .. }) if low == high => {
                write!(f, "{low:?}")
            }
            ValueNode::Constant(value) => write!(f, "{:?}..{:?}", value.low, value.high),
            ValueNode::Apply(operation, operands) => {
                write!(f, "{operation:?}(")?;
                list(f, operands)?;
                f.write_str(")")
            }
            ValueNode::Coalesce(operands) => {
                f.write_str("coalesce(")?;
                list(f, operands)?;
                f.write_str(")")
            }
            ValueNode::Either(one, other) => write!(f, "either({one}, {other})"),
            ValueNode::Case { branches, otherwise } => {
                f.write_str("case(")?;
                branches.iter().try_for_each(|(condition, value)| write!(f, "{condition}: {value}, "))?;
                write!(f, "{otherwise})")
            }
        }
    }
}
