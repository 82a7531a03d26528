//! The typed loops over bounds: where may a value pass a test, where may one fail it.
//!
//! For values between `min` and `max` and a range from `lower` to `upper`: one may lie within unless `max` lies below the
//! lower end or `min` above the upper one; one may lie outside unless both bounds are known to lie within. A bound that is
//! not known leaves its side open.

use arrow::array::{Array, BinaryArray};

use crate::mask::Mask;
use crate::program::{End, ValueTest};

/// A value as bounds hold it.
pub(crate) trait Item: Copy + PartialOrd {
    /// How many values there are from `self` to `last`, both included, where that can be counted.
    fn count_to(self, last: Self) -> Option<u128>;
}

macro_rules! integer_items {
    ($($integer:ty),*) => {$(
        impl Item for $integer {
            fn count_to(self, last: Self) -> Option<u128> {
                let steps = i128::from(last).checked_sub(i128::from(self))?;
                u128::try_from(steps).ok()?.checked_add(1)
            }
        }
    )*};
}
integer_items!(i32, i64, u64, i128);

impl Item for f64 {
    fn count_to(self, _last: Self) -> Option<u128> {
        None
    }
}

impl Item for &[u8] {
    fn count_to(self, _last: Self) -> Option<u128> {
        None
    }
}

/// One side of the bounds, a value per container.
pub(crate) trait Side: Copy {
    type Item: Item;
    fn get(self, index: usize) -> Option<Self::Item>;
    fn mask(self, test: impl Fn(Self::Item) -> bool) -> Mask;
}

impl<T: Item> Side for &[T] {
    type Item = T;

    fn get(self, index: usize) -> Option<T> {
        <[T]>::get(self, index).copied()
    }

    fn mask(self, test: impl Fn(T) -> bool) -> Mask {
        Mask::of_slice(self, test)
    }
}

impl<'a> Side for &'a BinaryArray {
    type Item = &'a [u8];

    fn get(self, index: usize) -> Option<&'a [u8]> {
        (index < self.len()).then(|| self.value(index))
    }

    fn mask(self, test: impl Fn(&'a [u8]) -> bool) -> Mask {
        Mask::from_fn(self.len(), |index| test(self.value(index)))
    }
}

/// Both sides of the bounds, and where they are known.
#[derive(Clone, Copy)]
pub(crate) struct KnownBounds<'a, S> {
    pub(crate) min: S,
    pub(crate) max: S,
    pub(crate) min_known: &'a Mask,
    pub(crate) max_known: &'a Mask,
}

/// Whether the test is one of equality that a float zero passes.
pub(crate) fn equals_zero(test: &ValueTest<f64>) -> bool {
    match test {
        ValueTest::Range { lower: Some(lower), upper: Some(upper) } => lower.low == 0.0 && upper.high == 0.0,
        ValueTest::Range { .. } => false,
        ValueTest::In(values) => values.contains(&0.0),
    }
}

impl<S: Side> KnownBounds<'_, S> {
    /// The containers in which some value may pass the test.
    pub(crate) fn may_pass(&self, test: &ValueTest<S::Item>) -> Mask {
        match test {
            ValueTest::Range { lower, upper } => {
                let above = lower.as_ref().map(|end| self.max_where(|max| end.admits(end.low, max, |a, b| a < b)));
                let below = upper.as_ref().map(|end| self.min_where(|min| end.admits(end.high, min, |a, b| a > b)));
                let everywhere = || Mask::all(self.min_known.len());
                above.unwrap_or_else(everywhere).and(&below.unwrap_or_else(everywhere))
            }
            ValueTest::In(values) => Mask::from_fn(self.min_known.len(), |index| {
                let first = self.known_min(index).map_or(0, |min| values.partition_point(|value| *value < min));
                let candidate = values.get(first);
                candidate.is_some_and(|value| self.known_max(index).is_none_or(|max| *value <= max))
            }),
        }
    }

    /// The containers in which some value may fail the test.
    pub(crate) fn may_fail(&self, test: &ValueTest<S::Item>) -> Mask {
        match test {
            ValueTest::Range { lower, upper } => {
                let below = lower.as_ref().map(|end| self.min_where(|min| !end.admits(end.high, min, |a, b| a < b)));
                let above = upper.as_ref().map(|end| self.max_where(|max| !end.admits(end.low, max, |a, b| a > b)));
                let nowhere = || Mask::none(self.min_known.len());
                below.unwrap_or_else(nowhere).or(&above.unwrap_or_else(nowhere))
            }
            ValueTest::In(values) => {
                Mask::from_fn(self.min_known.len(), |index| match (self.known_min(index), self.known_max(index)) {
                    (Some(min), Some(max)) => !all_listed(values, min, max),
                    _ => true,
                })
            }
        }
    }

    /// Where the upper bound passes, or is not known.
    fn max_where(&self, test: impl Fn(S::Item) -> bool) -> Mask {
        self.max.mask(test).or(&self.max_known.clone().complement())
    }

    /// Where the lower bound passes, or is not known.
    fn min_where(&self, test: impl Fn(S::Item) -> bool) -> Mask {
        self.min.mask(test).or(&self.min_known.clone().complement())
    }

    fn known_min(&self, index: usize) -> Option<S::Item> {
        if self.min_known.contains(index) { self.min.get(index) } else { None }
    }

    fn known_max(&self, index: usize) -> Option<S::Item> {
        if self.max_known.contains(index) { self.max.get(index) } else { None }
    }
}

impl<T: Item> End<T> {
    /// Whether a value lies on the inner side of the end, or on it where it is included; `outside` says that a value lies
    /// beyond another.
    fn admits(&self, end: T, value: T, outside: impl Fn(T, T) -> bool) -> bool {
        if self.inclusive { !outside(value, end) } else { outside(end, value) }
    }
}

/// Whether every value from `min` to `max` is in the sorted list.
fn all_listed<T: Item>(values: &[T], min: T, max: T) -> bool {
    let first = values.partition_point(|value| *value < min);
    let beyond = values.partition_point(|value| *value <= max);
    let listed = beyond.saturating_sub(first);
    if min == max {
        return listed > 0;
    }
    min.count_to(max).is_some_and(|count| count == listed as u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(value: i32, inclusive: bool) -> End<i32> {
        End { low: value, high: value, inclusive }
    }

    fn check(test: &ValueTest<i32>, min: Option<i32>, max: Option<i32>, expected: (bool, bool)) {
        let known = |bound: Option<i32>| Mask::from_fn(1, |_| bound.is_some());
        let (min_known, max_known) = (known(min), known(max));
        let (mins, maxs) = ([min.unwrap_or(0)], [max.unwrap_or(0)]);
        let bounds = KnownBounds { min: &mins[..], max: &maxs[..], min_known: &min_known, max_known: &max_known };
        let answer = (bounds.may_pass(test).contains(0), bounds.may_fail(test).contains(0));
        assert_eq!(answer, expected, "{test:?} on {min:?}..{max:?}");
    }

    #[test]
    fn an_upper_end_is_held_against_both_bounds() {
        let below = ValueTest::Range { lower: None, upper: Some(end(5, false)) };
        check(&below, Some(5), Some(9), (false, true));
        check(&below, Some(4), Some(5), (true, true));
        check(&below, Some(1), Some(4), (true, false));
        check(&below, None, Some(4), (true, false));
        check(&below, Some(5), None, (false, true));
        check(&below, None, None, (true, true));
        let up_to = ValueTest::Range { lower: None, upper: Some(end(5, true)) };
        check(&up_to, Some(5), Some(5), (true, false));
        check(&up_to, Some(6), None, (false, true));
    }

    #[test]
    fn a_lower_end_is_held_against_both_bounds() {
        let above = ValueTest::Range { lower: Some(end(5, false)), upper: None };
        check(&above, Some(1), Some(5), (false, true));
        check(&above, Some(5), Some(6), (true, true));
        check(&above, Some(6), Some(9), (true, false));
        let from = ValueTest::Range { lower: Some(end(5, true)), upper: None };
        check(&from, Some(5), None, (true, false));
        check(&from, None, Some(4), (false, true));
    }

    #[test]
    fn a_literal_between_two_values_proves_neither_equality() {
        let between = || Some(End { low: 4, high: 5, inclusive: true });
        let equal = ValueTest::Range { lower: between(), upper: between() };
        check(&equal, Some(4), Some(4), (true, true));
        check(&equal, Some(5), Some(5), (true, true));
        check(&equal, Some(6), Some(9), (false, true));
        check(&equal, Some(1), Some(3), (false, true));
    }

    #[test]
    fn a_list_is_probed_in_its_gaps() {
        let listed = ValueTest::In(vec![1, 2, 3, 9]);
        check(&listed, Some(4), Some(8), (false, true));
        check(&listed, Some(3), Some(8), (true, true));
        check(&listed, Some(1), Some(3), (true, false));
        check(&listed, Some(9), Some(9), (true, false));
        check(&listed, Some(10), None, (false, true));
        check(&listed, None, Some(0), (false, true));
        check(&listed, None, None, (true, true));
        check(&ValueTest::In(vec![]), None, None, (false, true));
    }
}
