//! The containers that are worked on together, few enough for their bounds to stay in the cache between two tests of them.

use crate::kernels::BLOCK_WORDS;
use crate::mask::Mask;

/// How many words of 64 containers a tile has at most.
const WORDS: usize = 16 * BLOCK_WORDS;

/// A set of containers among those of one tile: the ones that are still to be told apart. Tests take containers from it and
/// look at no others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    /// The word of a mask at which the tile begins.
    first_word: usize,
    /// How many of the words lie within the set of all containers; those behind are zero.
    used: usize,
    live: [u64; WORDS],
}

impl Tile {
    /// The tiles of a mask, in order, with what is in the mask live.
    pub(crate) fn over(mask: &Mask) -> impl Iterator<Item = Self> + '_ {
        (0..).step_by(WORDS).zip(mask.words().chunks(WORDS)).map(|(first_word, words)| {
            let mut live = [0; WORDS];
            for (live, word) in live.iter_mut().zip(words) {
                *live = *word;
            }
            Self { first_word, used: words.len(), live }
        })
    }

    /// Writes the set into its place in a mask over all containers.
    pub(crate) fn store(&self, mask: &mut Mask) {
        let words = mask.words_mut().get_mut(self.first_word..).unwrap_or_default();
        for (word, live) in words.iter_mut().zip(self.words()) {
            *word = *live;
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.words().iter().fold(0, |any, word| any | word) == 0
    }

    /// Whether the container at an index among all containers is in the set.
    pub(crate) fn contains(&self, index: usize) -> bool {
        let word = (index / 64).checked_sub(self.first_word).and_then(|word| self.live.get(word));
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    pub(crate) fn clear(&mut self) {
        self.words_mut().fill(0);
    }

    /// Leaves those that are not in another set of the same tile.
    pub(crate) fn and_not(&mut self, other: &Self) {
        self.combine(other.words(), |live, other| live & !other);
    }

    /// Adds those of another set of the same tile.
    pub(crate) fn or(&mut self, other: &Self) {
        self.combine(other.words(), |live, other| live | other);
    }

    /// Leaves those that are in the mask.
    pub(crate) fn and_mask(&mut self, mask: &Mask) {
        let words = self.words_of(mask);
        self.combine(words, |live, word| live & word);
    }

    /// Leaves those that are not in the mask.
    pub(crate) fn and_not_mask(&mut self, mask: &Mask) {
        let words = self.words_of(mask);
        self.combine(words, |live, word| live & !word);
    }

    /// Leaves those for which `test` holds of their index among all containers.
    pub(crate) fn retain(&mut self, mut test: impl FnMut(usize) -> bool) {
        for (at, word) in (self.first_word..).zip(self.words_mut()) {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                *word &= !(u64::from(!test(at * 64 + bit as usize)) << bit);
            }
        }
    }

    /// The words, 64 containers each.
    pub(crate) fn words(&self) -> &[u64] {
        self.live.get(..self.used).unwrap_or_default()
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        self.live.get_mut(..self.used).unwrap_or_default()
    }

    /// The tile's words of a mask over all containers.
    pub(crate) fn words_of<'m>(&self, mask: &'m Mask) -> &'m [u64] {
        mask.words().get(self.first_word..self.first_word + self.used).unwrap_or_default()
    }

    /// The tile's part of what stands for a block of containers each.
    pub(crate) fn blocks_of<'b, T>(&self, blocks: &'b [T]) -> &'b [T] {
        let first = self.first_word / BLOCK_WORDS;
        blocks.get(first..first + self.used.div_ceil(BLOCK_WORDS)).unwrap_or_default()
    }

    /// How many containers are in the set.
    pub(crate) fn count(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    fn combine(&mut self, others: &[u64], combine: impl Fn(u64, u64) -> u64) {
        for (live, other) in self.words_mut().iter_mut().zip(others) {
            *live = combine(*live, *other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_a_mask_and_write_back_to_it() {
        for len in [0, 1, 64, 65, WORDS * 64 - 1, WORDS * 64, WORDS * 64 + 1, 3 * WORDS * 64 + 70] {
            let third = Mask::from_fn(len, |index| index % 3 == 0);
            let mut written = Mask::none(len);
            for mut tile in Tile::over(&third) {
                assert_eq!(tile.words_of(&third), tile.words());
                tile.retain(|index| index % 2 == 0);
                tile.store(&mut written);
            }
            assert_eq!(written, Mask::from_fn(len, |index| index % 6 == 0));
        }
    }
}
