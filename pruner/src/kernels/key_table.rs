//! A list of values laid out over the keys of bounds, so that one look tells for most containers that none is between theirs.

use super::list::SortedList;
use super::side::{Scale, Sides};
use super::{Item, Values, compare};
use crate::tile::Tile;

/// For each group of keys the least listed key of it or of those behind it; the last key of all where there is none.
pub(super) struct KeyTable {
    next: Vec<u16>,
    shift: u32,
}

impl KeyTable {
    /// Of so many groups at least most are empty, and at most the table stays in the nearest cache.
    const GROUPS_PER_VALUE: usize = 64;
    const MIN_GROUPS: usize = 1 << 8;
    const MAX_GROUPS: usize = 1 << 14;

    /// The table of a list, unless the list is too long for a table to be worth its price for so few containers.
    pub(super) fn of<T: Item>(list: &SortedList<T>, scale: &Scale, live: &Tile) -> Option<Self> {
        if list.len() * 4 > live.count() {
            return None;
        }
        let groups =
            (list.len() * Self::GROUPS_PER_VALUE).clamp(Self::MIN_GROUPS, Self::MAX_GROUPS).next_power_of_two();
        let shift = u16::BITS - groups.ilog2();
        let mut next = Vec::with_capacity(groups);
        for value in list.values() {
            let key = scale.key::<T>(value.view());
            let beyond = usize::from(key >> shift) + 1;
            if next.len() < beyond {
                next.resize(beyond, key);
            }
        }
        next.resize(groups, u16::MAX);
        Some(Self { next, shift })
    }

    /// Takes the containers between whose bounds no listed value can lie. All bounds must be known.
    pub(super) fn keep<A: Values>(&self, live: &mut Tile, bounds: &Sides<A>) {
        let keys = [live.blocks_of(&bounds.min.keys), live.blocks_of(&bounds.max.keys)];
        compare::keep_listed(live.words_mut(), keys, &self.next, self.shift);
    }
}
