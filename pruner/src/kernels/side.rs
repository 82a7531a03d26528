//! Both sides of a column's bounds, and short keys of them, so that most are told apart without being read.
//!
//! A key is a bound's place among all of the column's, in 16 bits: it never falls while bounds rise. For each block of
//! containers the least and the greatest key stand aside. A test looks at these first, then at the block's keys, and at the
//! bounds themselves only where a key equals that of the value tested for: for a million containers it reads at most 2 MB of
//! each side instead of 8, and next to nothing where containers are clustered by the column.

use arrow::array::{Array, ArrowPrimitiveType, BinaryArray, PrimitiveArray};

use super::alphabet::Alphabet;
use super::compare::{self, Block, Cut, Direction, Extremes, SideOf};
use super::{Item, Relation};
use crate::mask::Mask;
use crate::tile::Tile;

/// A value per container; any value where the bound is not known.
pub(crate) trait Values {
    type Item: Item;

    fn len(&self) -> usize;

    /// How much memory they take.
    fn size_bytes(&self) -> usize;

    fn get(&self, index: usize) -> Option<<Self::Item as Item>::View<'_>>;

    /// Writes the key of each.
    fn write_keys(&self, scale: &Scale, keys: &mut [u16]);
}

/// The bounds of both sides; what a slot holds where its bound is not known does not matter.
#[derive(Clone, Debug)]
pub(crate) struct Sides<A> {
    pub(crate) min: Side<A>,
    pub(crate) max: Side<A>,
    pub(super) scale: Scale,
}

/// The bounds of one side.
#[derive(Clone, Debug)]
pub(crate) struct Side<A> {
    values: A,
    pub(crate) known: Mask,
    /// Slots without a known bound have the key of one that is known.
    pub(super) keys: Vec<Block>,
    extremes: Vec<Extremes>,
}

/// How values become keys: their numbers' distance from `base`, in steps of a power of two. Values beyond either end have the
/// first or the last key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    alphabet: Alphabet,
    base: u64,
    shift: u32,
}

impl<A: Values> Sides<A> {
    pub(crate) fn new([min, max]: [A; 2], [min_known, max_known]: [Mask; 2]) -> Self {
        let scale = Scale::of([(&min, &min_known), (&max, &max_known)]);
        Self { min: Side::new(min, min_known, &scale), max: Side::new(max, max_known, &scale), scale }
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.min.size_bytes() + self.max.size_bytes()
    }
}

impl<A: Values> Side<A> {
    fn new(values: A, known: Mask, scale: &Scale) -> Self {
        let mut keys = vec![0; known.words().len().next_multiple_of(compare::BLOCK_WORDS) * 64];
        values.write_keys(scale, &mut keys);
        let (blocks, _) = keys.as_chunks_mut::<{ 64 * compare::BLOCK_WORDS }>();
        let blocks = blocks.iter_mut().zip(known.words().chunks(compare::BLOCK_WORDS));
        let keys: Vec<Block> = blocks.map(|(keys, known)| compare::block(keys, known)).collect();
        let extremes = compare::extremes(&keys);
        Self { values, known, keys, extremes }
    }

    fn size_bytes(&self) -> usize {
        self.values.size_bytes() + size_of_val(self.keys.as_slice()) + size_of_val(self.extremes.as_slice())
    }

    /// The bound of a container; any value where it is not known.
    pub(crate) fn get(&self, index: usize) -> Option<<A::Item as Item>::View<'_>> {
        self.values.get(index)
    }

    /// Takes from `live` the containers whose bound is known and does not stand in `relation` to `end`.
    pub(super) fn keep(&self, live: &mut Tile, scale: &Scale, relation: Relation, end: &A::Item) {
        let cut = scale.cut::<A::Item>(relation, end.view());
        let mut tied = *live;
        let tile = SideOf {
            known: live.words_of(&self.known),
            keys: live.blocks_of(&self.keys),
            extremes: live.blocks_of(&self.extremes),
        };
        compare::keep(live.words_mut(), tied.words_mut(), tile, cut);
        if cut.may_tie && !tied.is_none() {
            tied.retain(|index| self.get(index).is_some_and(|value| !relation.holds(&value, &end.view())));
            live.and_not(&tied);
        }
    }
}

impl Scale {
    /// How many bounds are looked at to learn where most lie. Any scale is right; a good one makes keys differ.
    const SAMPLES: usize = 128;
    const LAST_KEY: u64 = u16::MAX as u64;

    fn of<A: Values>(sides: [(&A, &Mask); 2]) -> Self {
        let mut views = Vec::with_capacity(2 * Self::SAMPLES);
        for (values, known) in sides {
            let step = (values.len() / Self::SAMPLES).max(1);
            let places = (0..values.len()).step_by(step).filter(|index| known.contains(*index));
            views.extend(places.filter_map(|index| values.get(index)));
        }
        let alphabet = A::Item::alphabet(&views);
        let mut keys: Vec<u64> = views.into_iter().map(|view| A::Item::key(view, &alphabet)).collect();
        keys.sort_unstable();
        // A few that lie far out would make one key of all others.
        let beyond = keys.len() / 50;
        let (Some(first), Some(last)) = (keys.get(beyond), keys.iter().nth_back(beyond)) else {
            return Self { alphabet, base: 0, shift: 48 };
        };
        let span = last - first;
        let shift = (u64::BITS - (span / (Self::LAST_KEY - Self::LAST_KEY / 8)).leading_zeros()).min(48);
        let room = (Self::LAST_KEY << shift).saturating_sub(span);
        Self { alphabet, base: first.saturating_sub(room / 2), shift }
    }

    /// The key of a value: of two values the lesser never has the greater key.
    pub(super) fn key<T: Item>(&self, view: T::View<'_>) -> u16 {
        self.place(T::key(view, &self.alphabet))
    }

    #[expect(clippy::inline_always, reason = "outside of its caller it would be compiled without the instruction set")]
    #[inline(always)]
    pub(super) fn place(&self, key: u64) -> u16 {
        u16::try_from((key.saturating_sub(self.base) >> self.shift).min(Self::LAST_KEY)).unwrap_or(u16::MAX)
    }

    /// Which keys stand in `relation` to a value.
    fn cut<T: Item>(&self, relation: Relation, end: T::View<'_>) -> Cut {
        let key = self.key::<T>(end);
        let direction = match relation {
            Relation::Lt | Relation::LtEq => Direction::UpTo,
            Relation::Gt | Relation::GtEq => Direction::From,
        };
        // Where each value has a key of its own, equal keys are equal values.
        let may_tie = !T::EXACT_KEYS || self.shift > 0 || key == 0 || key == u16::MAX;
        let key = match relation {
            Relation::Lt if !may_tie => key - 1,
            Relation::Gt if !may_tie => key + 1,
            _ => key,
        };
        Cut { direction, key, may_tie }
    }
}

impl<P: ArrowPrimitiveType> Values for PrimitiveArray<P>
where
    P::Native: for<'a> Item<View<'a> = P::Native>,
{
    type Item = P::Native;

    fn len(&self) -> usize {
        Array::len(self)
    }

    fn size_bytes(&self) -> usize {
        self.get_array_memory_size()
    }

    fn get(&self, index: usize) -> Option<P::Native> {
        self.values().get(index).copied()
    }

    fn write_keys(&self, scale: &Scale, keys: &mut [u16]) {
        compare::write_keys(self.values(), scale, keys);
    }
}

impl Values for BinaryArray {
    type Item = Vec<u8>;

    fn len(&self) -> usize {
        Array::len(self)
    }

    fn size_bytes(&self) -> usize {
        self.get_array_memory_size()
    }

    fn get(&self, index: usize) -> Option<&[u8]> {
        (index < Array::len(self)).then(|| self.value(index))
    }

    fn write_keys(&self, scale: &Scale, keys: &mut [u16]) {
        for (index, key) in (0..Array::len(self)).zip(keys) {
            *key = scale.place(scale.alphabet.number(self.value(index)));
        }
    }
}
