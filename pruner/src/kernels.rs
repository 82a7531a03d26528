//! Bounds against tests of values: where may a value pass, where may one fail.
//!
//! For values between `min` and `max` and a range from `lower` to `upper`: one may lie within unless `max` lies below the
//! lower end or `min` above the upper one; one may lie outside unless both bounds are known to lie within. A bound that is
//! not known leaves its side open.

mod byte_bounds;
mod compare;
mod list;

pub(crate) use byte_bounds::ByteBounds;
pub(crate) use compare::zeros;
pub(crate) use list::SortedList;

use crate::mask::Mask;
use crate::program::{End, ValueTest};
use crate::tile::Tile;

/// A value of a test.
pub(crate) trait Item: PartialOrd {
    /// The value as bounds hold it.
    type View<'a>: Copy + PartialOrd
    where
        Self: 'a;

    fn view(&self) -> Self::View<'_>;

    /// A number that never falls while values rise. Values that are not ordered have any. Of bytes it tells what comes after
    /// `prefix`, which should be the beginning of most.
    fn key(view: Self::View<'_>, prefix: &[u8]) -> u64;

    /// The beginning that two values share, as a prefix of keys.
    fn common_prefix(_a: Self::View<'_>, _b: Self::View<'_>) -> Vec<u8> {
        Vec::new()
    }

    /// How many values there are from the first to the last, both included, where that can be counted.
    fn count(_first: Self::View<'_>, _last: Self::View<'_>) -> Option<u128> {
        None
    }
}

macro_rules! integer_items {
    ($($integer:ty),*) => {$(
        impl Item for $integer {
            type View<'a> = Self;

            fn view(&self) -> Self {
                *self
            }

            fn key(view: Self, _prefix: &[u8]) -> u64 {
                SIGN ^ i64::try_from(view).unwrap_or(if view < 0 { i64::MIN } else { i64::MAX }).cast_unsigned()
            }

            fn count(first: Self, last: Self) -> Option<u128> {
                let steps = i128::from(last).checked_sub(i128::from(first))?;
                u128::try_from(steps).ok()?.checked_add(1)
            }
        }
    )*};
}
integer_items!(i32, i64, i128);

/// The highest bit of a word: set in negative numbers, and added to make these come before the others.
const SIGN: u64 = 1 << 63;

impl Item for u64 {
    type View<'a> = Self;

    fn view(&self) -> Self {
        *self
    }

    fn key(view: Self, _prefix: &[u8]) -> u64 {
        view
    }

    fn count(first: Self, last: Self) -> Option<u128> {
        Some(u128::from(last.checked_sub(first)?) + 1)
    }
}

impl Item for f64 {
    type View<'a> = Self;

    fn view(&self) -> Self {
        *self
    }

    fn key(view: Self, _prefix: &[u8]) -> u64 {
        // Adding zero makes the negative zero a positive one, which it equals.
        let bits = (view + 0.0).to_bits();
        if bits & SIGN == 0 { bits | SIGN } else { !bits }
    }
}

impl Item for Vec<u8> {
    type View<'a> = &'a [u8];

    fn view(&self) -> &[u8] {
        self
    }

    fn key(view: &[u8], prefix: &[u8]) -> u64 {
        byte_bounds::key(view, prefix)
    }

    fn common_prefix(a: &[u8], b: &[u8]) -> Vec<u8> {
        a.iter().zip(b).take_while(|(a, b)| a == b).map(|(byte, _)| *byte).collect()
    }
}

/// How a bound stands to the end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Lt,
    LtEq,
    Gt,
    GtEq,
}

impl Relation {
    pub(crate) fn holds<T: PartialOrd + ?Sized>(self, value: &T, end: &T) -> bool {
        match self {
            Self::Lt => value < end,
            Self::LtEq => value <= end,
            Self::Gt => value > end,
            Self::GtEq => value >= end,
        }
    }
}

/// One side of the bounds, a value per container.
pub(crate) trait Side {
    type Item: Item;

    /// The bound of a container; any value where it is not known.
    fn get(&self, index: usize) -> Option<<Self::Item as Item>::View<'_>>;

    /// Takes from `live` the containers whose bound is known and does not stand in `relation` to `end`.
    fn keep(&self, live: &mut Tile, known: &Mask, relation: Relation, end: &Self::Item);
}

impl<T: Copy + 'static> Side for [T]
where
    T: for<'a> Item<View<'a> = T>,
{
    type Item = T;

    fn get(&self, index: usize) -> Option<T> {
        <[T]>::get(self, index).copied()
    }

    fn keep(&self, live: &mut Tile, known: &Mask, relation: Relation, end: &T) {
        let (known, values) = (live.words_of(known), live.part_of(self));
        compare::keep(live.words_mut(), known, values, relation, *end);
    }
}

/// Both sides of the bounds, and where they are known.
pub(crate) struct KnownBounds<'a, S: ?Sized> {
    pub(crate) min: &'a S,
    pub(crate) max: &'a S,
    pub(crate) min_known: &'a Mask,
    pub(crate) max_known: &'a Mask,
}

/// Whether the test is one of equality that a float zero passes.
pub(crate) fn equals_zero(test: &ValueTest<f64>) -> bool {
    match test {
        ValueTest::Range { lower: Some(lower), upper: Some(upper) } => lower.low == 0.0 && upper.high == 0.0,
        ValueTest::Range { .. } => false,
        ValueTest::In(list) => list.any_between(0.0, 0.0),
    }
}

impl<S: Side + ?Sized> KnownBounds<'_, S> {
    /// Leaves the containers in which some value may pass the test.
    pub(crate) fn may_pass<'t>(&'t self, test: &'t ValueTest<S::Item>, live: &mut Tile) {
        match test {
            ValueTest::Range { lower, upper } => {
                if let Some(End { low, inclusive, .. }) = lower {
                    let relation = if *inclusive { Relation::GtEq } else { Relation::Gt };
                    self.max.keep(live, self.max_known, relation, low);
                }
                if let Some(End { high, inclusive, .. }) = upper {
                    let relation = if *inclusive { Relation::LtEq } else { Relation::Lt };
                    self.min.keep(live, self.min_known, relation, high);
                }
            }
            ValueTest::In(list) => {
                let (Some(least), Some(greatest)) = (list.first(), list.last()) else { return live.clear() };
                self.max.keep(live, self.max_known, Relation::GtEq, least);
                self.min.keep(live, self.min_known, Relation::LtEq, greatest);
                // With one bound not known, the ends of the list have said all.
                self.retain_known(live, |min, max| list.may_be_between(min, max));
                self.retain_known(live, |min, max| list.any_between(min, max));
            }
        }
    }

    /// Leaves the containers in which some value may fail the test.
    pub(crate) fn may_fail<'t>(&'t self, test: &'t ValueTest<S::Item>, live: &mut Tile) {
        match test {
            ValueTest::Range { lower, upper } => {
                let mut within = *live;
                if let Some(End { high, inclusive, .. }) = lower {
                    let relation = if *inclusive { Relation::Lt } else { Relation::LtEq };
                    let mut below = within;
                    self.min.keep(&mut below, self.min_known, relation, high);
                    within.and_not(&below);
                }
                if let Some(End { low, inclusive, .. }) = upper {
                    let relation = if *inclusive { Relation::Gt } else { Relation::GtEq };
                    let mut above = within;
                    self.max.keep(&mut above, self.max_known, relation, low);
                    within.and_not(&above);
                }
                live.and_not(&within);
            }
            ValueTest::In(list) => self.retain_known(live, |min, max| !list.all_between(min, max)),
        }
    }

    /// Leaves, of the containers whose bounds are both known, those whose bounds pass.
    fn retain_known<'t>(
        &'t self,
        live: &mut Tile,
        test: impl Fn(<S::Item as Item>::View<'t>, <S::Item as Item>::View<'t>) -> bool,
    ) {
        let mut known = *live;
        known.and_mask(self.min_known);
        known.and_mask(self.max_known);
        live.and_not(&known);
        known.retain(|index| match (self.min.get(index), self.max.get(index)) {
            (Some(min), Some(max)) => test(min, max),
            _ => true,
        });
        live.or(&known);
    }
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
        let run = |narrow: &dyn Fn(&mut Tile)| {
            let mut live = Tile::over(&Mask::all(1)).next().unwrap();
            narrow(&mut live);
            !live.is_none()
        };
        let answer = (run(&|live| bounds.may_pass(test, live)), run(&|live| bounds.may_fail(test, live)));
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
        let listed = ValueTest::In(SortedList::new(vec![1, 2, 3, 9]));
        check(&listed, Some(4), Some(8), (false, true));
        check(&listed, Some(3), Some(8), (true, true));
        check(&listed, Some(1), Some(3), (true, false));
        check(&listed, Some(9), Some(9), (true, false));
        check(&listed, Some(10), None, (false, true));
        check(&listed, None, Some(0), (false, true));
        check(&listed, None, None, (true, true));
        check(&ValueTest::In(SortedList::new(vec![])), None, None, (false, true));
    }

    /// Bounds of more containers than a tile has, anywhere from 0 to 999 and close to each other, some not known.
    fn many(len: usize) -> (Vec<i64>, Vec<i64>, Mask, Mask) {
        let value = |seed: usize, index: usize| i64::try_from((index * 7_919 + seed) * 104_729 % 1_000).unwrap();
        let min: Vec<i64> = (0..len).map(|index| value(1, index)).collect();
        let max = min.iter().enumerate().map(|(index, min)| min + value(2, index) % 20).collect();
        (min, max, Mask::from_fn(len, |index| index % 7 != 3), Mask::from_fn(len, |index| index % 11 != 5))
    }

    fn over_tiles(len: usize, narrow: impl Fn(&mut Tile)) -> Mask {
        let mut kept = Mask::none(len);
        for mut live in Tile::over(&Mask::from_fn(len, |index| index % 13 != 1)) {
            narrow(&mut live);
            live.store(&mut kept);
        }
        kept
    }

    #[test]
    fn loops_answer_as_single_comparisons_do() {
        for len in [1, 63, 64, 65, 4_095, 4_096, 4_097, 9_000] {
            let (min, _, known, _) = many(len);
            let small: Vec<i32> = min.iter().map(|value| i32::try_from(*value).unwrap()).collect();
            let floats: Vec<f64> = small.iter().map(|value| f64::from(*value)).collect();
            for relation in [Relation::Lt, Relation::LtEq, Relation::Gt, Relation::GtEq] {
                let expected = Mask::from_fn(len, |index| {
                    index % 13 != 1 && (!known.contains(index) || relation.holds(&min[index], &500))
                });
                assert_eq!(over_tiles(len, |live| min[..].keep(live, &known, relation, &500)), expected);
                assert_eq!(over_tiles(len, |live| small[..].keep(live, &known, relation, &500)), expected);
                assert_eq!(over_tiles(len, |live| floats[..].keep(live, &known, relation, &500.0)), expected);
            }
        }
    }

    #[test]
    fn lists_answer_as_searches_of_all_their_values_do() {
        for (len, step) in [(65, 1), (4_097, 3), (9_000, 40), (9_000, 999)] {
            let (min, max, min_known, max_known) = many(len);
            let bounds = KnownBounds { min: &min[..], max: &max[..], min_known: &min_known, max_known: &max_known };
            let values: Vec<i64> = (100..900).step_by(step).collect();
            let list = ValueTest::In(SortedList::new(values.clone()));
            let known = |index| {
                let known = |value: &[i64], mask: &Mask, open| if mask.contains(index) { value[index] } else { open };
                (known(&min, &min_known, i64::MIN), known(&max, &max_known, i64::MAX))
            };
            let passes = |index: usize| {
                let (min, max) = known(index);
                index % 13 != 1 && values.iter().any(|value| min <= *value && *value <= max)
            };
            let fails = |index: usize| {
                let (min, max) = known(index);
                index % 13 != 1
                    && (min == i64::MIN || max == i64::MAX || (min..=max).any(|value| !values.contains(&value)))
            };
            assert_eq!(over_tiles(len, |live| bounds.may_pass(&list, live)), Mask::from_fn(len, passes));
            assert_eq!(over_tiles(len, |live| bounds.may_fail(&list, live)), Mask::from_fn(len, fails));
        }
    }
}
