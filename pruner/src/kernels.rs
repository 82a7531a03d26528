//! Bounds against tests of values: where may a value pass, where may one fail.
//!
//! For values between `min` and `max` and a range from `lower` to `upper`: one may lie within unless `max` lies below the
//! lower end or `min` above the upper one; one may lie outside unless both bounds are known to lie within. A bound that is
//! not known leaves its side open.

mod alphabet;
mod compare;
mod key_table;
mod list;
mod side;

pub(crate) use compare::{BLOCK_WORDS, zeros};
pub(crate) use list::SortedList;
pub(crate) use side::{Side, Sides, Values};

use crate::program::{End, ValueTest};
use crate::tile::Tile;
use alphabet::Alphabet;
use key_table::KeyTable;

/// A value of a test.
pub(crate) trait Item: PartialOrd {
    /// The value as bounds hold it.
    type View<'a>: Copy + PartialOrd
    where
        Self: 'a;

    fn view(&self) -> Self::View<'_>;

    /// A number that never falls while values rise. Values that are not ordered have any.
    fn key(view: Self::View<'_>, alphabet: &Alphabet) -> u64;

    /// Whether values that differ have keys that differ.
    const EXACT_KEYS: bool;

    /// The alphabet of values that are bytes, of which these are some.
    fn alphabet(_samples: &[Self::View<'_>]) -> Alphabet {
        Alphabet::default()
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

            const EXACT_KEYS: bool = size_of::<Self>() <= size_of::<u64>();

            fn view(&self) -> Self {
                *self
            }

            fn key(view: Self, _alphabet: &Alphabet) -> u64 {
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

    const EXACT_KEYS: bool = true;

    fn view(&self) -> Self {
        *self
    }

    fn key(view: Self, _alphabet: &Alphabet) -> u64 {
        view
    }

    fn count(first: Self, last: Self) -> Option<u128> {
        Some(u128::from(last.checked_sub(first)?) + 1)
    }
}

impl Item for f64 {
    type View<'a> = Self;

    const EXACT_KEYS: bool = true;

    fn view(&self) -> Self {
        *self
    }

    fn key(view: Self, _alphabet: &Alphabet) -> u64 {
        // Adding zero makes the negative zero a positive one, which it equals.
        let bits = (view + 0.0).to_bits();
        if bits & SIGN == 0 { bits | SIGN } else { !bits }
    }
}

impl Item for Vec<u8> {
    type View<'a> = &'a [u8];

    const EXACT_KEYS: bool = false;

    fn view(&self) -> &[u8] {
        self
    }

    fn key(view: &[u8], alphabet: &Alphabet) -> u64 {
        alphabet.number(view)
    }

    fn alphabet(samples: &[&[u8]]) -> Alphabet {
        Alphabet::of(samples)
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

/// Whether the test is one of equality that a float zero passes.
pub(crate) fn equals_zero(test: &ValueTest<f64>) -> bool {
    match test {
        ValueTest::Range { lower: Some(lower), upper: Some(upper) } => lower.low == 0.0 && upper.high == 0.0,
        ValueTest::Range { .. } => false,
        ValueTest::In(list) => list.any_between(0.0, 0.0),
    }
}

impl<A: Values> Sides<A> {
    /// Leaves the containers in which some value may pass the test.
    pub(crate) fn may_pass(&self, test: &ValueTest<A::Item>, live: &mut Tile) {
        match test {
            ValueTest::Range { lower, upper } => {
                if let Some(End { low, inclusive, .. }) = lower {
                    self.keep_max(live, if *inclusive { Relation::GtEq } else { Relation::Gt }, low);
                }
                if let Some(End { high, inclusive, .. }) = upper {
                    self.keep_min(live, if *inclusive { Relation::LtEq } else { Relation::Lt }, high);
                }
            }
            ValueTest::In(list) => {
                let (Some(least), Some(greatest)) = (list.first(), list.last()) else { return live.clear() };
                self.keep_max(live, Relation::GtEq, least);
                self.keep_min(live, Relation::LtEq, greatest);
                // With one bound not known, the ends of the list have said all.
                let mut known = self.take_known(live);
                match KeyTable::of(list, &self.scale, &known) {
                    Some(table) => table.keep(&mut known, self),
                    None => self.retain(&mut known, |min, max| list.may_be_between(min, max)),
                }
                self.retain(&mut known, |min, max| list.any_between(min, max));
                live.or(&known);
            }
        }
    }

    /// Leaves the containers in which some value may fail the test.
    pub(crate) fn may_fail(&self, test: &ValueTest<A::Item>, live: &mut Tile) {
        match test {
            ValueTest::Range { lower, upper } => {
                let mut within = *live;
                if let Some(End { high, inclusive, .. }) = lower {
                    within.and_mask(&self.min.known);
                    self.keep_min(&mut within, if *inclusive { Relation::GtEq } else { Relation::Gt }, high);
                }
                if let Some(End { low, inclusive, .. }) = upper {
                    within.and_mask(&self.max.known);
                    self.keep_max(&mut within, if *inclusive { Relation::LtEq } else { Relation::Lt }, low);
                }
                live.and_not(&within);
            }
            ValueTest::In(list) => {
                let mut known = self.take_known(live);
                self.retain(&mut known, |min, max| !list.all_between(min, max));
                live.or(&known);
            }
        }
    }

    fn keep_min(&self, live: &mut Tile, relation: Relation, end: &A::Item) {
        self.min.keep(live, &self.scale, relation, end);
    }

    fn keep_max(&self, live: &mut Tile, relation: Relation, end: &A::Item) {
        self.max.keep(live, &self.scale, relation, end);
    }

    /// Takes those out of which both bounds are known.
    fn take_known(&self, live: &mut Tile) -> Tile {
        let mut known = *live;
        known.and_mask(&self.min.known);
        known.and_mask(&self.max.known);
        live.and_not(&known);
        known
    }

    /// Leaves those whose bounds pass.
    fn retain<'s>(
        &'s self,
        live: &mut Tile,
        test: impl Fn(<A::Item as Item>::View<'s>, <A::Item as Item>::View<'s>) -> bool,
    ) {
        live.retain(|index| match (self.min.get(index), self.max.get(index)) {
            (Some(min), Some(max)) => test(min, max),
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        Array, ArrowPrimitiveType, BinaryArray, Decimal128Array, Float64Array, Int32Array, Int64Array, PrimitiveArray,
    };

    use super::*;
    use crate::mask::Mask;

    fn end(value: i32, inclusive: bool) -> End<i32> {
        End { low: value, high: value, inclusive }
    }

    fn sides<P: ArrowPrimitiveType>(min: &PrimitiveArray<P>, max: &PrimitiveArray<P>) -> Sides<PrimitiveArray<P>>
    where
        PrimitiveArray<P>: Values,
    {
        let known = [min, max].map(|side| Mask::from_fn(side.len(), |index| side.is_valid(index)));
        Sides::new([min.clone(), max.clone()], known)
    }

    fn check(test: &ValueTest<i32>, min: Option<i32>, max: Option<i32>, expected: (bool, bool)) {
        let bounds = sides(&Int32Array::from(vec![min]), &Int32Array::from(vec![max]));
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

    const LENGTHS: [usize; 8] = [1, 63, 64, 65, 4_095, 4_096, 4_097, 9_000];

    /// A few numbers that look drawn.
    fn drawn(seed: usize, index: usize) -> i64 {
        i64::try_from((index * 7_919 + seed) * 104_729 % 1_000).unwrap()
    }

    fn over_tiles(len: usize, narrow: impl Fn(&mut Tile)) -> Mask {
        let mut kept = Mask::none(len);
        for mut live in Tile::over(&Mask::from_fn(len, |index| index % 13 != 1)) {
            narrow(&mut live);
            live.store(&mut kept);
        }
        kept
    }

    /// Holds what ranges leave of bounds against single comparisons, with ends among the bounds and beyond.
    fn check_ranges<A: Values + Clone>(min: &A, max: &A, ends: impl Iterator<Item = A::Item>)
    where
        A::Item: Clone,
    {
        let len = min.len();
        let known = [Mask::from_fn(len, |index| index % 7 != 3), Mask::from_fn(len, |index| index % 11 != 5)];
        let bounds = Sides::new([min.clone(), max.clone()], known.clone());
        for (end, inclusive) in ends.zip([true, false].into_iter().cycle()) {
            let open = || Some(End { low: end.clone(), high: end.clone(), inclusive });
            let stands =
                |side: &A, relation: Relation, index: usize| relation.holds(&side.get(index).unwrap(), &end.view());
            let or = |known: &Mask, index: usize, stands: bool| !known.contains(index) || stands;
            let (at_least, at_most) =
                if inclusive { (Relation::GtEq, Relation::LtEq) } else { (Relation::Gt, Relation::Lt) };
            let (above, below) =
                if inclusive { (Relation::Gt, Relation::Lt) } else { (Relation::GtEq, Relation::LtEq) };
            let mask = |test: &dyn Fn(usize) -> bool| Mask::from_fn(len, |index| index % 13 != 1 && test(index));

            let from = ValueTest::Range { lower: open(), upper: None };
            let passes = mask(&|index| or(&known[1], index, stands(max, at_least, index)));
            assert_eq!(over_tiles(len, |live| bounds.may_pass(&from, live)), passes);
            let fails = mask(&|index| or(&known[0], index, stands(min, below, index)));
            assert_eq!(over_tiles(len, |live| bounds.may_fail(&from, live)), fails);

            let to = ValueTest::Range { lower: None, upper: open() };
            let passes = mask(&|index| or(&known[0], index, stands(min, at_most, index)));
            assert_eq!(over_tiles(len, |live| bounds.may_pass(&to, live)), passes);
            let fails = mask(&|index| or(&known[1], index, stands(max, above, index)));
            assert_eq!(over_tiles(len, |live| bounds.may_fail(&to, live)), fails);
        }
    }

    /// Spreads of numbers, each a column: from few values to the whole type, clustered and not, with a few that lie far out.
    fn spreads() -> Vec<fn(usize) -> i64> {
        vec![
            |index| drawn(1, index),
            |index| i64::try_from(index).unwrap() * 86_400_000_000,
            |index| drawn(2, index) * 9_000_000_000_000_000,
            |index| -drawn(3, index) * 9_000_000_000_000_000,
            |index| drawn(4, index) % 2,
            |_| 7,
            |index| if index % 50 == 0 { i64::MAX - 3 } else { drawn(5, index) },
            |index| if index % 50 == 0 { i64::MIN + 3 } else { drawn(6, index) << 20 },
        ]
    }

    #[test]
    fn loops_answer_as_single_comparisons_do() {
        for (len, value) in LENGTHS.into_iter().flat_map(|len| spreads().into_iter().map(move |spread| (len, spread))) {
            let min: Vec<i64> = (0..len).map(value).collect();
            let max: Vec<i64> = min.iter().enumerate().map(|(index, min)| min + drawn(7, index) % 4).collect();
            let ends = min.iter().chain(&max).copied().step_by((len / 10).max(1)).chain([i64::MIN, 0, i64::MAX]);
            check_ranges(&Int64Array::from(min.clone()), &Int64Array::from(max.clone()), ends.clone());

            let wide = |side: &[i64]| side.iter().map(|value| i128::from(*value) * 3).collect::<Vec<i128>>();
            let array = |side: &[i64]| Decimal128Array::from(wide(side));
            check_ranges(&array(&min), &array(&max), ends.clone().map(|end| i128::from(end) * 3));

            let float = |value: i64| f64::from(i32::try_from(value % 1_000_000).unwrap()) * 1e9;
            let floats = |side: &[i64]| side.iter().map(|value| float(*value)).collect::<Vec<f64>>();
            let array = |side: &[i64]| Float64Array::from(floats(side));
            let infinite = [f64::NEG_INFINITY, -0.0, f64::INFINITY];
            check_ranges(&array(&min), &array(&max), ends.clone().map(float).chain(infinite));

            let text = |value: i64| format!("item-{:020}", i128::from(value) + (1 << 64)).into_bytes();
            let array = |side: &[i64]| side.iter().map(|value| Some(text(*value))).collect::<BinaryArray>();
            let others = ["", "item-", "item-000x", "other"].map(|text| text.as_bytes().to_vec());
            check_ranges(&array(&min), &array(&max), ends.map(text).chain(others));
        }
    }

    #[test]
    fn lists_answer_as_searches_of_all_their_values_do() {
        for (len, step) in LENGTHS.into_iter().flat_map(|len| [1, 3, 40, 999].map(|step| (len, step))) {
            let min = (0..len).map(|index| (index % 7 != 3).then(|| drawn(1, index))).collect::<Int64Array>();
            let max = (0..len).map(|index| (index % 11 != 5).then(|| drawn(1, index) + drawn(2, index) % 20));
            let bounds = sides(&min, &max.collect());
            let values: Vec<i64> = (100..900).step_by(step).collect();
            let list = ValueTest::In(SortedList::new(values.clone()));
            let known = |index: usize| {
                let low = if index % 7 == 3 { i64::MIN } else { drawn(1, index) };
                let high = if index % 11 == 5 { i64::MAX } else { drawn(1, index) + drawn(2, index) % 20 };
                (low, high)
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
