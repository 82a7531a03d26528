//! Operations on abstract values: section 4 of the pruning rules.
//!
//! An operation that is monotone maps bounds to bounds; where it is not, or where engines differ, the result is what holds for
//! all of them. Nothing here fails: what overflows, or has no value in some engine, is unknown.

mod arithmetic;
mod calendar;
mod conversion;
mod rounding;
mod shift;

use prunus_statistics::Value;

use crate::domain::Domain;
use crate::function::{DatePart, DateUnit};
use crate::interval::Interval;

pub(crate) use calendar::MAX_ZONE_CHANGE_NANOSECONDS;
pub(crate) use conversion::Conversion;
pub(crate) use shift::Shift;

/// What is done with values. Operands of arithmetic are of one domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Convert(Conversion),
    DateTrunc(DateUnit),
    Shift(Shift),
    Extract(DatePart),
    Floor,
    Ceil,
    /// To a whole number, halves up or to the even one, or towards zero: engines differ.
    Round,
    Abs,
    Sqrt,
    Ln,
    Exp,
    Length,
    Greatest,
    Least,
}

impl Operation {
    /// What the operation may give on rows where its operands are what `operands` say; they are of the domain `domain`.
    pub(crate) fn apply(self, domain: Domain, operands: &[Interval]) -> Interval {
        match (self, operands) {
            (Self::Greatest | Self::Least, operands) => extreme(self, operands),
            (Self::Negate | Self::Abs, [operand]) => arithmetic::unary(self, domain, operand),
            (Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder, [left, right]) => {
                arithmetic::binary(self, domain, left, right)
            }
            (Self::Convert(conversion), [operand]) => conversion.apply(operand),
            (Self::Shift(shift), [operand]) => shift.apply(domain, operand),
            (Self::DateTrunc(unit), [operand]) => calendar::truncate(unit, domain, operand),
            (Self::Extract(part), [operand]) => calendar::extract(part, domain, operand),
            (Self::Floor | Self::Ceil | Self::Round, [operand]) => rounding::to_whole(self, domain, operand),
            (Self::Sqrt | Self::Ln | Self::Exp, [operand]) => rounding::transcendental(self, domain, operand),
            (Self::Length, [operand]) => operand.clone().with_bounds(Some(Value::Integer(0)), None),
            _ => Interval::anything(true),
        }
    }
}

/// The greatest or least of its operands. Where one may be null, engines give null or pass it over; where one may be NaN they
/// differ on its place: then the result may be any of them.
fn extreme(operation: Operation, operands: &[Interval]) -> Interval {
    let Some(hull) = operands.iter().cloned().reduce(Interval::hull) else { return Interval::null() };
    let certain = operands.iter().all(|operand| operand.may_be_value && !operand.may_be_null && !operand.may_be_nan);
    if !certain {
        return hull;
    }
    let furthest = |bounds: Vec<Option<Value>>, greatest: bool| {
        bounds.into_iter().reduce(|a, b| {
            let (a, b) = (a?, b?);
            Some(if a.compare(&b)?.is_gt() == greatest { a } else { b })
        })
    };
    let greatest = operation == Operation::Greatest;
    let lows = operands.iter().map(|operand| operand.low.clone()).collect();
    let highs = operands.iter().map(|operand| operand.high.clone()).collect();
    let (low, high) = (furthest(lows, greatest).flatten(), furthest(highs, greatest).flatten());
    hull.with_bounds(low, high)
}

/// Applies a function that never decreases to both bounds; what it has no value for is unknown on that side.
fn rising(operand: &Interval, function: impl Fn(&Value, Side) -> Option<Value>) -> Interval {
    let low = operand.low.as_ref().and_then(|low| function(low, Side::Low));
    let high = operand.high.as_ref().and_then(|high| function(high, Side::High));
    operand.clone().with_bounds(low, high)
}

/// Which bound is computed: the lower one is rounded down, the upper one up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Low,
    High,
}

fn integer(value: &Value) -> Option<i128> {
    if let Value::Integer(value) = value { Some(*value) } else { None }
}

fn float(value: &Value) -> Option<f64> {
    if let Value::Float(value) = value { Some(*value) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_certain_operands_lies_between_the_greatest_ends() {
        let between = |low, high| Interval::between(Value::Integer(low), Value::Integer(high));
        let integers = Domain::Integer { smallest: -100, largest: 100 };
        let greatest = Operation::Greatest.apply(integers, &[between(1, 5), between(3, 4)]);
        assert_eq!(greatest, between(3, 5));
        let least = Operation::Least.apply(integers, &[between(1, 5), between(3, 4)]);
        assert_eq!(least, between(1, 4));
        let doubtful = Operation::Greatest.apply(integers, &[between(1, 5).or_null(), between(3, 4)]);
        assert_eq!(doubtful, between(1, 5).or_null());
    }
}
