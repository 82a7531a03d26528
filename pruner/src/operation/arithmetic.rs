//! Arithmetic. Integers are checked in their own width: beyond it engines wrap, widen, give null or fail, and nothing is
//! known of the result.

use prunus_statistics::Value;

use super::{Operation, Side, float, integer};
use crate::domain::Domain;
use crate::interval::Interval;

/// The largest unscaled decimal.
const MAX_DECIMAL: i128 = 10_i128.pow(38) - 1;

/// `-x` and `abs(x)`.
pub(super) fn unary(operation: Operation, domain: Domain, operand: &Interval) -> Interval {
    match domain {
        Domain::Float { .. } => {
            let negated = |value: &Option<Value>| value.as_ref().and_then(float).map(|value| Value::Float(-value));
            let (low, high) = (negated(&operand.high), negated(&operand.low));
            let negative = operand.clone().with_bounds(low, high);
            if operation == Operation::Abs { absolute(operand, negative, Value::Float(0.0)) } else { negative }
        }
        Domain::Integer { smallest, largest } => whole_unary(operation, operand, (smallest, largest)),
        Domain::Decimal { .. } => whole_unary(operation, operand, (-MAX_DECIMAL, MAX_DECIMAL)),
        _ => Interval::anything(false),
    }
}

fn whole_unary(operation: Operation, operand: &Interval, (smallest, largest): (i128, i128)) -> Interval {
    let Some((low, high)) = ends(operand) else { return overflowed(operand.clone()) };
    let (Some(negative_low), Some(negative_high)) = (high.checked_neg(), low.checked_neg()) else {
        return overflowed(operand.clone());
    };
    if negative_low < smallest || negative_high > largest {
        return overflowed(operand.clone());
    }
    let (low, high) = (Some(Value::Integer(negative_low)), Some(Value::Integer(negative_high)));
    let negative = operand.clone().with_bounds(low, high);
    if operation == Operation::Abs { absolute(operand, negative, Value::Integer(0)) } else { negative }
}

/// The absolute value: of what lies on one side of zero that side, else from zero to the further end.
fn absolute(operand: &Interval, negative: Interval, zero: Value) -> Interval {
    let at_least_zero = |interval: &Interval| {
        interval.low.as_ref().is_some_and(|low| low.compare(&zero).is_some_and(std::cmp::Ordering::is_ge))
    };
    if at_least_zero(operand) {
        return operand.clone();
    }
    if at_least_zero(&negative) {
        return negative;
    }
    let hull = operand.clone().hull(negative);
    let high = hull.high.clone();
    hull.with_bounds(Some(zero), high)
}

/// `left op right`, both of one domain. The result of dividing integers is of floats, since engines divide exactly or
/// truncate.
pub(super) fn binary(operation: Operation, domain: Domain, left: &Interval, right: &Interval) -> Interval {
    let both = Interval {
        low: None,
        high: None,
        may_be_null: left.may_be_null || right.may_be_null,
        may_be_nan: left.may_be_nan || right.may_be_nan,
        may_be_value: left.may_be_value && right.may_be_value,
    };
    match domain {
        Domain::Float { loose } => floats(operation, both, left, right, loose),
        Domain::Real => floats(operation, both, left, right, true),
        Domain::Integer { smallest, largest } => whole_binary(operation, both, left, right, (smallest, largest)),
        Domain::Decimal { .. } if operation == Operation::Divide => overflowed(both),
        Domain::Decimal { .. } => whole_binary(operation, both, left, right, (-MAX_DECIMAL, MAX_DECIMAL)),
        _ => Interval::anything(true),
    }
}

fn whole_binary(
    operation: Operation,
    both: Interval,
    left: &Interval,
    right: &Interval,
    width: (i128, i128),
) -> Interval {
    match (operation, ends(left), ends(right)) {
        (Operation::Remainder, _, _) => remainder(both, left, right),
        (Operation::Divide, Some(left), Some(right)) => divide_integers(both, left, right, width),
        (Operation::Divide, _, _) => Interval { may_be_nan: true, ..overflowed(both) },
        (_, Some(left), Some(right)) => wholes(operation, both, (left, right), width),
        _ => overflowed(both),
    }
}

/// Nothing is known but whether there may be a row with a value; it may have become null.
fn overflowed(interval: Interval) -> Interval {
    interval.with_bounds(None, None).or_null()
}

/// The ends of whole numbers. What is not known may lie beyond their width, since some engines widen what overflows.
fn ends(interval: &Interval) -> Option<(i128, i128)> {
    Some((integer(interval.low.as_ref()?)?, integer(interval.high.as_ref()?)?))
}

fn wholes(
    operation: Operation,
    both: Interval,
    ((a_low, a_high), (b_low, b_high)): ((i128, i128), (i128, i128)),
    (smallest, largest): (i128, i128),
) -> Interval {
    let corners = match operation {
        Operation::Add => [a_low.checked_add(b_low), a_high.checked_add(b_high)].to_vec(),
        Operation::Subtract => [a_low.checked_sub(b_high), a_high.checked_sub(b_low)].to_vec(),
        _ => {
            [(a_low, b_low), (a_low, b_high), (a_high, b_low), (a_high, b_high)].map(|(a, b)| a.checked_mul(b)).to_vec()
        }
    };
    let Some(corners) = corners.into_iter().collect::<Option<Vec<i128>>>() else { return overflowed(both) };
    match (corners.iter().min(), corners.iter().max()) {
        (Some(low), Some(high)) if *low >= smallest && *high <= largest => {
            both.with_bounds(Some(Value::Integer(*low)), Some(Value::Integer(*high)))
        }
        _ => overflowed(both),
    }
}

/// Exactly or truncated: from the floor of the least quotient to the ceiling of the greatest.
fn divide_integers(
    both: Interval,
    (a_low, a_high): (i128, i128),
    (b_low, b_high): (i128, i128),
    width: (i128, i128),
) -> Interval {
    if b_low <= 0 && b_high >= 0 {
        return Interval { may_be_nan: true, ..overflowed(both) };
    }
    let corners = [(a_low, b_low), (a_low, b_high), (a_high, b_low), (a_high, b_high)];
    let quotients = corners.map(|(a, b)| (a.div_euclid(b), a.rem_euclid(b) != 0, b > 0));
    // The floor of a quotient is the euclidean one for a divisor above zero, else one less where it does not come out even.
    let floors =
        quotients.map(|(quotient, uneven, positive)| if uneven && !positive { quotient - 1 } else { quotient });
    let ceilings =
        quotients.map(|(quotient, uneven, positive)| if uneven && positive { quotient + 1 } else { quotient });
    match (floors.into_iter().min(), ceilings.into_iter().max()) {
        (Some(low), Some(high)) if low >= width.0 && high <= width.1 => {
            both.with_bounds(Some(to_float(low, Side::Low)), Some(to_float(high, Side::High)))
        }
        _ => overflowed(both),
    }
}

/// An integer as the nearest float that is not above (`Low`) or not below it.
#[expect(clippy::cast_precision_loss, reason = "the neighbour on the wanted side is then taken")]
pub(super) fn to_float(value: i128, side: Side) -> Value {
    let nearest = value as f64;
    let exact = value.unsigned_abs() < 1 << 53;
    Value::Float(match side {
        _ if exact => nearest,
        Side::Low => nearest.next_down(),
        Side::High => nearest.next_up(),
    })
}

/// `x % c` for a constant `c` above zero, with the sign of `x`: rising where quotient and sign are the same at both ends.
fn remainder(both: Interval, left: &Interval, right: &Interval) -> Interval {
    let Some(divisor) = right.pinned().and_then(integer).filter(|divisor| *divisor > 0) else {
        return overflowed(both);
    };
    let (low, high) = match ends(left) {
        Some((low, high)) if low / divisor == high / divisor && (low >= 0 || high <= 0) => {
            (low % divisor, high % divisor)
        }
        _ => {
            // It has the sign of the dividend and lies no further from zero.
            let low = left.low.as_ref().and_then(integer).unwrap_or(i128::MIN);
            let high = left.high.as_ref().and_then(integer).unwrap_or(i128::MAX);
            (low.min(0).max(1 - divisor), high.max(0).min(divisor - 1))
        }
    };
    both.with_bounds(Some(Value::Integer(low)), Some(Value::Integer(high)))
}

/// Floats by IEEE 754, whose rounding is monotone. An unknown end may be infinite.
fn floats(operation: Operation, both: Interval, left: &Interval, right: &Interval, loose: bool) -> Interval {
    let ends = |interval: &Interval| {
        let low = interval.low.as_ref().and_then(float).unwrap_or(f64::NEG_INFINITY);
        let high = interval.high.as_ref().and_then(float).unwrap_or(f64::INFINITY);
        (low, high)
    };
    let ((a_low, a_high), (b_low, b_high)) = (ends(left), ends(right));
    let corners = [(a_low, b_low), (a_low, b_high), (a_high, b_low), (a_high, b_high)];
    let holds_zero = |low: f64, high: f64| low <= 0.0 && high >= 0.0;
    let is_infinite = |low: f64, high: f64| low.is_infinite() || high.is_infinite();
    let results = match operation {
        Operation::Add => corners.map(|(a, b)| a + b),
        Operation::Subtract => corners.map(|(a, b)| a - b),
        // Zero times infinity is NaN.
        Operation::Multiply
            if (holds_zero(a_low, a_high) && is_infinite(b_low, b_high))
                || (holds_zero(b_low, b_high) && is_infinite(a_low, a_high)) =>
        {
            [f64::NAN; 4]
        }
        Operation::Multiply => corners.map(|(a, b)| a * b),
        Operation::Divide if !holds_zero(b_low, b_high) => corners.map(|(a, b)| a / b),
        _ => [f64::NAN; 4],
    };
    if results.iter().any(|result| result.is_nan()) {
        let divides = matches!(operation, Operation::Divide | Operation::Remainder);
        let may_be_null = both.may_be_null || divides;
        return Interval { may_be_nan: true, may_be_null, ..both.with_bounds(None, None) };
    }
    let low = results.into_iter().fold(f64::INFINITY, f64::min);
    let high = results.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if loose { (outward(low, Side::Low), outward(high, Side::High)) } else { (low, high) };
    both.with_bounds(Some(Value::Float(low)), Some(Value::Float(high)))
}

/// The next 32-bit float beyond, since some engines compute in that precision.
#[expect(clippy::cast_possible_truncation, reason = "the neighbour beyond is then taken")]
pub(super) fn outward(value: f64, side: Side) -> f64 {
    let near = value as f32;
    match side {
        Side::Low => f64::from(near.next_down()).min(value),
        Side::High => f64::from(near.next_up()).max(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT8: Domain = Domain::Integer { smallest: -128, largest: 127 };

    fn between(low: i128, high: i128) -> Interval {
        Interval::between(Value::Integer(low), Value::Integer(high))
    }

    fn floats(low: f64, high: f64) -> Interval {
        Interval::between(Value::Float(low), Value::Float(high))
    }

    #[track_caller]
    fn check(operation: Operation, domain: Domain, left: &Interval, right: &Interval, expected: &Interval) {
        assert_eq!(&operation.apply(domain, &[left.clone(), right.clone()]), expected);
    }

    #[test]
    fn integers_are_checked_in_their_own_width() {
        check(Operation::Add, INT8, &between(1, 5), &between(10, 20), &between(11, 25));
        check(Operation::Subtract, INT8, &between(1, 5), &between(10, 20), &between(-19, -5));
        check(Operation::Multiply, INT8, &between(-3, 2), &between(-4, 5), &between(-15, 12));
        let unknown = Interval::anything(false);
        check(Operation::Add, INT8, &between(100, 120), &between(10, 10), &unknown);
        let open = between(1, 5).with_bounds(Some(Value::Integer(1)), None);
        check(Operation::Add, INT8, &open, &between(1, 1), &unknown);
        assert_eq!(Operation::Negate.apply(INT8, &[between(-128, 5)]), unknown);
        assert_eq!(Operation::Negate.apply(INT8, &[between(-3, 5)]), between(-5, 3));
        assert_eq!(Operation::Abs.apply(INT8, &[between(-3, 5)]), between(0, 5));
        assert_eq!(Operation::Abs.apply(INT8, &[between(-5, -3)]), between(3, 5));
    }

    #[test]
    fn integer_division_is_exact_or_truncated() {
        check(Operation::Divide, INT8, &between(-7, 7), &between(2, 2), &floats(-4.0, 4.0));
        check(Operation::Divide, INT8, &between(7, 9), &between(-2, -2), &floats(-5.0, -3.0));
        check(Operation::Divide, INT8, &between(6, 6), &between(3, 3), &floats(2.0, 2.0));
        check(Operation::Divide, INT8, &between(1, 2), &between(0, 3), &Interval::anything(true));
    }

    #[test]
    fn a_remainder_rises_within_one_quotient() {
        check(Operation::Remainder, INT8, &between(16, 23), &between(8, 8), &between(0, 7));
        check(Operation::Remainder, INT8, &between(17, 19), &between(8, 8), &between(1, 3));
        check(Operation::Remainder, INT8, &between(7, 9), &between(8, 8), &between(0, 7));
        check(Operation::Remainder, INT8, &between(-9, 9), &between(8, 8), &between(-7, 7));
        check(Operation::Remainder, INT8, &between(-3, -1), &between(8, 8), &between(-3, -1));
        check(Operation::Remainder, INT8, &between(1, 9), &between(-8, 8), &Interval::anything(false));
    }

    #[test]
    fn floats_may_make_nan_of_infinities() {
        let exact = Domain::Float { loose: false };
        check(Operation::Add, exact, &floats(1.0, 2.0), &floats(0.5, 0.5), &floats(1.5, 2.5));
        let unknown = Interval { may_be_null: false, ..Interval::anything(true) };
        check(Operation::Subtract, exact, &floats(1.0, f64::INFINITY), &floats(1.0, f64::INFINITY), &unknown);
        check(Operation::Multiply, exact, &floats(0.0, 1.0), &floats(1.0, f64::INFINITY), &unknown);
        check(Operation::Divide, exact, &floats(1.0, 2.0), &floats(-1.0, 1.0), &Interval::anything(true));
    }
}
