//! Rounding to whole numbers, and functions that some mathematical library computes.

use prunus_statistics::Value;

use super::arithmetic::outward;
use super::{Operation, Side, float, integer, rising};
use crate::domain::Domain;
use crate::interval::Interval;

/// `floor`, `ceil` and `round`, in the domain of the operand.
pub(super) fn to_whole(operation: Operation, domain: Domain, operand: &Interval) -> Interval {
    // `round` gives the whole number below or above, as engines see halves.
    let down = |side| operation == Operation::Floor || (operation == Operation::Round && side == Side::Low);
    match domain {
        Domain::Integer { .. } => operand.clone(),
        Domain::Float { .. } | Domain::Real => {
            let image = rising(operand, |value, side| {
                let value = float(value)?;
                Some(Value::Float(if down(side) { value.floor() } else { value.ceil() }))
            });
            if operation == Operation::Round { image } else { as_bigint(image) }
        }
        Domain::Decimal { scale, .. } => rising(operand, |value, side| {
            let (value, unit) = (integer(value)?, 10_i128.checked_pow(scale.into())?);
            let below = value.div_euclid(unit).checked_mul(unit)?;
            let whole = if down(side) || below == value { below } else { below.checked_add(unit)? };
            Some(Value::Integer(whole))
        }),
        _ => Interval::anything(true),
    }
}

/// Some engines give the floor and the ceiling as integers of 64 bits: what lies beyond these becomes their ends, NaN zero.
fn as_bigint(image: Interval) -> Interval {
    const END: f64 = 9_223_372_036_854_775_808.0;
    let low = image.low.as_ref().and_then(float).map(|low| Value::Float(low.min(END.next_down())));
    let high = image.high.as_ref().and_then(float).map(|high| Value::Float(high.max(-END)));
    let image = image.with_bounds(low, high);
    if image.may_be_nan { image.hull(Interval::point(Value::Float(0.0))) } else { image }
}

/// `sqrt`, `ln` and `exp` of floats: rising, and out of their domain NaN, null or an error. Libraries differ in the last
/// digits, so bounds move outward by a few.
pub(super) fn transcendental(operation: Operation, domain: Domain, operand: &Interval) -> Interval {
    let (function, smallest): (fn(f64) -> f64, f64) = match operation {
        Operation::Sqrt => (f64::sqrt, 0.0),
        Operation::Ln => (f64::ln, 0.0),
        _ => (f64::exp, f64::NEG_INFINITY),
    };
    // The logarithm of zero is infinite in some engines, null in others.
    let inside = operand
        .low
        .as_ref()
        .and_then(float)
        .is_some_and(|low| low > smallest || (low >= smallest && operation == Operation::Sqrt));
    let always_inside = inside || smallest == f64::NEG_INFINITY;
    let image = rising(operand, |value, side| {
        let result = function(float(value)?);
        let moved = match side {
            _ if domain != Domain::Float { loose: false } => outward(result, side),
            Side::Low => result.next_down().next_down().next_down().next_down(),
            Side::High => result.next_up().next_up().next_up().next_up(),
        };
        (!moved.is_nan()).then_some(Value::Float(moved))
    });
    if always_inside {
        return image;
    }
    let high = image.high.clone();
    Interval { may_be_null: true, may_be_nan: true, ..image.with_bounds(None, high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(low: f64, high: f64) -> Interval {
        Interval::between(Value::Float(low), Value::Float(high))
    }

    #[test]
    fn rounding_keeps_the_order() {
        let float = Domain::Float { loose: false };
        assert_eq!(Operation::Floor.apply(float, &[floats(-1.5, 2.5)]), floats(-2.0, 2.0));
        assert_eq!(Operation::Ceil.apply(float, &[floats(-1.5, 2.5)]), floats(-1.0, 3.0));
        assert_eq!(Operation::Round.apply(float, &[floats(-1.5, 2.5)]), floats(-2.0, 3.0));
        let decimal = Domain::Decimal { precision: 9, scale: 2 };
        let cents = |low, high| Interval::between(Value::Integer(low), Value::Integer(high));
        assert_eq!(Operation::Floor.apply(decimal, &[cents(-150, 250)]), cents(-200, 200));
        assert_eq!(Operation::Ceil.apply(decimal, &[cents(-150, 200)]), cents(-100, 200));
    }

    #[test]
    fn out_of_the_domain_anything_may_come() {
        let float = Domain::Float { loose: false };
        let root = Operation::Sqrt.apply(float, &[floats(-1.0, 4.0)]);
        assert!(root.may_be_nan && root.may_be_null && root.low.is_none());
        let root = Operation::Sqrt.apply(float, &[floats(4.0, 9.0)]);
        assert!(!root.may_be_nan && !root.may_be_null);
        let (low, high) = (root.low.unwrap(), root.high.unwrap());
        assert!(low.compare(&Value::Float(2.0)).unwrap().is_lt() && high.compare(&Value::Float(3.0)).unwrap().is_gt());
    }
}
