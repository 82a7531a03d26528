//! Abstract values: what an expression may be on the rows of one container.
//!
//! An abstract value says whether rows may be null, may be NaN, may hold any other value, and between which bounds these
//! others lie. Operations on it give an abstract value that holds for whatever any engine computes row by row; where engines
//! differ, it holds for all of them.

use std::cmp::Ordering;

use prunus_statistics::Value;

use crate::bind::NanOrder;
use crate::outcome::OutcomeSet;
use crate::predicate::CompareOp;

/// What an expression may be on the rows of a container. A bound that is `None` is not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: Option<Value>,
    pub(crate) high: Option<Value>,
    pub(crate) may_be_null: bool,
    pub(crate) may_be_nan: bool,
    /// Whether it may be a value that is neither null nor NaN.
    pub(crate) may_be_value: bool,
}

impl Interval {
    /// Anything at all; NaN only where the expression is of floats.
    pub(crate) fn anything(may_be_nan: bool) -> Self {
        Self { low: None, high: None, may_be_null: true, may_be_nan, may_be_value: true }
    }

    /// Null on every row.
    pub(crate) fn null() -> Self {
        Self { low: None, high: None, may_be_null: true, may_be_nan: false, may_be_value: false }
    }

    /// NaN on every row.
    pub(crate) fn nan() -> Self {
        Self { low: None, high: None, may_be_null: false, may_be_nan: true, may_be_value: false }
    }

    /// Some value from `low` to `high` on every row.
    pub(crate) fn between(low: Value, high: Value) -> Self {
        Self { low: Some(low), high: Some(high), may_be_null: false, may_be_nan: false, may_be_value: true }
    }

    /// This value on every row.
    pub(crate) fn point(value: Value) -> Self {
        Self::between(value.clone(), value)
    }

    /// The one value that all rows with a value have, if that is known.
    pub(crate) fn pinned(&self) -> Option<&Value> {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) if low.compare(high) == Some(Ordering::Equal) => Some(low),
            _ => None,
        }
    }

    /// The one value that all rows have, if that is known.
    pub(crate) fn certain(&self) -> Option<&Value> {
        self.pinned().filter(|_| !self.may_be_null && !self.may_be_nan)
    }

    /// The same rows with other bounds.
    #[must_use]
    pub(crate) fn with_bounds(self, low: Option<Value>, high: Option<Value>) -> Self {
        // Bounds that crossed, as they may where they were wrong to begin with, are no bounds.
        match (&low, &high) {
            (Some(a), Some(b)) if a.compare(b).is_none_or(Ordering::is_gt) => Self { low: None, high: None, ..self },
            _ => Self { low, high, ..self },
        }
    }

    /// The same between ends that are known of all values; bounds that are known stay.
    #[must_use]
    pub(crate) fn within(self, ends: Option<(i128, i128)>) -> Self {
        let low = self.low.clone().or(ends.map(|(smallest, _)| Value::Integer(smallest)));
        let high = self.high.clone().or(ends.map(|(_, largest)| Value::Integer(largest)));
        self.with_bounds(low, high)
    }

    /// The same, and perhaps null.
    #[must_use]
    pub(crate) fn or_null(self) -> Self {
        Self { may_be_null: true, ..self }
    }

    /// What is the one or the other.
    #[must_use]
    pub(crate) fn hull(self, other: Self) -> Self {
        let (low, high) = match (self.may_be_value, other.may_be_value) {
            (false, _) => (other.low, other.high),
            (_, false) => (self.low, self.high),
            _ => (further(self.low, other.low, Ordering::Less), further(self.high, other.high, Ordering::Greater)),
        };
        Self {
            low,
            high,
            may_be_null: self.may_be_null || other.may_be_null,
            may_be_nan: self.may_be_nan || other.may_be_nan,
            may_be_value: self.may_be_value || other.may_be_value,
        }
    }

    /// What `self op other` may be: rule core of section 2 of the pruning rules.
    pub(crate) fn compare(&self, op: CompareOp, other: &Self, nan_order: NanOrder) -> OutcomeSet {
        let mut outcomes = OutcomeSet::NONE;
        if self.may_be_null || other.may_be_null {
            outcomes = outcomes | OutcomeSet::NULL;
        }
        if self.may_be_value && other.may_be_value {
            outcomes = outcomes | self.compare_values(op, other);
        }
        if self.may_be_nan && other.may_be_value {
            outcomes = outcomes | nan_against_value(op, nan_order);
        }
        if self.may_be_value && other.may_be_nan {
            outcomes = outcomes | nan_against_value(op.flipped(), nan_order);
        }
        if self.may_be_nan && other.may_be_nan {
            outcomes = outcomes | nan_against_nan(op, nan_order);
        }
        outcomes
    }

    fn compare_values(&self, op: CompareOp, other: &Self) -> OutcomeSet {
        // Whether `a < b`, or `a <= b`, is not excluded; an unknown bound excludes nothing.
        let may = |a: &Option<Value>, b: &Option<Value>, or_equal: bool| match (a, b) {
            (Some(a), Some(b)) => a.compare(b).is_none_or(|order| order.is_lt() || (or_equal && order.is_eq())),
            _ => true,
        };
        let (may_pass, may_fail) = match op {
            CompareOp::Eq | CompareOp::NotEq => {
                let may_equal = may(&self.low, &other.high, true) && may(&other.low, &self.high, true);
                let may_differ = match (self.pinned(), other.pinned()) {
                    // Some engines tell the zeros of floats apart in equality.
                    (Some(a), Some(b)) => *a == Value::Float(0.0) || a.compare(b) != Some(Ordering::Equal),
                    _ => true,
                };
                if op == CompareOp::Eq { (may_equal, may_differ) } else { (may_differ, may_equal) }
            }
            CompareOp::Lt => (may(&self.low, &other.high, false), may(&other.low, &self.high, true)),
            CompareOp::LtEq => (may(&self.low, &other.high, true), may(&other.low, &self.high, false)),
            CompareOp::Gt => (may(&other.low, &self.high, false), may(&self.low, &other.high, true)),
            CompareOp::GtEq => (may(&other.low, &self.high, true), may(&self.low, &other.high, false)),
        };
        let outcome = |may: bool, outcome: OutcomeSet| if may { outcome } else { OutcomeSet::NONE };
        outcome(may_pass, OutcomeSet::TRUE) | outcome(may_fail, OutcomeSet::FALSE)
    }
}

/// Of two bounds of a side the one that lies further out; unknown if one is.
fn further(a: Option<Value>, b: Option<Value>, outward: Ordering) -> Option<Value> {
    let (a, b) = (a?, b?);
    if a.compare(&b)? == outward { Some(a) } else { Some(b) }
}

/// `NaN op v` by the reader's order; with no order known, what any engine may answer.
pub(crate) fn nan_against_value(op: CompareOp, nan_order: NanOrder) -> OutcomeSet {
    match (op, nan_order) {
        (CompareOp::Eq, _) => OutcomeSet::FALSE,
        (CompareOp::NotEq, _) => OutcomeSet::TRUE,
        (_, NanOrder::Any) => OutcomeSet::TRUE | OutcomeSet::FALSE,
        (CompareOp::Gt | CompareOp::GtEq, NanOrder::Greatest) => OutcomeSet::TRUE,
        (_, NanOrder::Greatest | NanOrder::Ieee) => OutcomeSet::FALSE,
    }
}

/// `NaN op NaN`.
fn nan_against_nan(op: CompareOp, nan_order: NanOrder) -> OutcomeSet {
    let reflexive = matches!(op, CompareOp::Eq | CompareOp::LtEq | CompareOp::GtEq);
    match nan_order {
        NanOrder::Any => OutcomeSet::TRUE | OutcomeSet::FALSE,
        NanOrder::Greatest if reflexive => OutcomeSet::TRUE,
        NanOrder::Ieee if op == CompareOp::NotEq => OutcomeSet::TRUE,
        NanOrder::Greatest | NanOrder::Ieee => OutcomeSet::FALSE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(low: i128, high: i128) -> Interval {
        Interval::between(Value::Integer(low), Value::Integer(high))
    }

    #[track_caller]
    fn check(a: &Interval, op: CompareOp, b: &Interval, expected: &str) {
        assert_eq!(a.compare(op, b, NanOrder::Any).to_string(), expected);
    }

    #[test]
    fn intervals_compare_by_their_ends() {
        let (low, high, wide) = (integers(1, 3), integers(3, 5), integers(0, 9));
        check(&low, CompareOp::Lt, &high, "{true, false}");
        check(&low, CompareOp::LtEq, &high, "{true}");
        check(&high, CompareOp::Lt, &low, "{false}");
        check(&low, CompareOp::Eq, &integers(4, 5), "{false}");
        check(&low, CompareOp::NotEq, &integers(4, 5), "{true}");
        check(&integers(3, 3), CompareOp::Eq, &integers(3, 3), "{true}");
        check(&wide, CompareOp::GtEq, &high, "{true, false}");
        check(&wide.or_null(), CompareOp::GtEq, &integers(0, 0), "{true, null}");
        check(&Interval::null(), CompareOp::Eq, &low, "{null}");
    }

    #[test]
    fn nan_is_judged_by_the_readers_order() {
        let one = Interval::point(Value::Float(1.0));
        let check =
            |op, order, expected: &str| assert_eq!(Interval::nan().compare(op, &one, order).to_string(), expected);
        check(CompareOp::Gt, NanOrder::Any, "{true, false}");
        check(CompareOp::Gt, NanOrder::Greatest, "{true}");
        check(CompareOp::Gt, NanOrder::Ieee, "{false}");
        check(CompareOp::Eq, NanOrder::Any, "{false}");
        check(CompareOp::NotEq, NanOrder::Any, "{true}");
    }

    #[test]
    fn no_bound_proves_that_a_zero_equals_a_zero() {
        let zero = Interval::point(Value::Float(-0.0));
        check(&zero, CompareOp::Eq, &Interval::point(Value::Float(0.0)), "{true, false}");
        check(&zero, CompareOp::GtEq, &Interval::point(Value::Float(0.0)), "{true}");
    }

    #[test]
    fn a_hull_holds_both() {
        let hull = integers(1, 2).hull(Interval::null()).hull(integers(7, 8));
        assert_eq!(hull, integers(1, 8).or_null());
    }
}
