//! A bit per container, 64 to a word.

/// A set of containers. Bits beyond the last container are always clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    words: Vec<u64>,
    len: usize,
}

impl Mask {
    /// No container of `len`.
    pub fn none(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    /// Every container of `len`.
    pub fn all(len: usize) -> Self {
        let mut mask = Self { words: vec![u64::MAX; len.div_ceil(64)], len };
        mask.clear_beyond();
        mask
    }

    /// The containers for which `test` holds of their index.
    pub fn from_fn(len: usize, test: impl Fn(usize) -> bool) -> Self {
        let word = |start: usize| {
            (start..len.min(start + 64)).fold(0, |word, index| word | u64::from(test(index)) << (index - start))
        };
        Self { words: (0..len).step_by(64).map(word).collect(), len }
    }

    /// The set whose bits are these words; bits beyond the last container may be anything.
    pub(crate) fn from_words(words: Vec<u64>, len: usize) -> Self {
        assert_eq!(words.len(), len.div_ceil(64), "a word for each 64 containers");
        let mut mask = Self { words, len };
        mask.clear_beyond();
        mask
    }

    /// The bits, 64 containers to a word, the first in the lowest bit.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// How many containers there are, in the set or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no containers at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the set holds the container at `index`; false beyond the last.
    pub fn contains(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// How many containers are in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no container is in the set.
    pub fn is_none(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether some container is in both sets.
    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.words.iter().zip(&other.words).any(|(word, other)| word & other != 0)
    }

    /// The indices of the containers in the set, rising.
    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    at * 64 + bit
                })
            })
        })
    }

    /// Those that are in both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b);
        self
    }

    /// Those that are in either.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.combine(other, |a, b| a | b);
        self
    }

    /// Those that are in this one and not in the other.
    #[must_use]
    pub fn and_not(mut self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b);
        self
    }

    /// Those that are not in it.
    #[must_use]
    pub fn complement(mut self) -> Self {
        for word in &mut self.words {
            *word = !*word;
        }
        self.clear_beyond();
        self
    }

    fn combine(&mut self, other: &Self, combine: impl Fn(u64, u64) -> u64) {
        assert_eq!(self.len, other.len, "masks of one set of containers have one length");
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word = combine(*word, *other);
        }
    }

    fn clear_beyond(&mut self) {
        let used = self.len % 64;
        if let Some(last) = self.words.last_mut()
            && used > 0
        {
            *last &= u64::MAX >> (64 - used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_knows_its_containers() {
        for len in [0, 1, 63, 64, 65, 200] {
            let third = Mask::from_fn(len, |index| index % 3 == 0);
            let expected: Vec<usize> = (0..len).filter(|index| index % 3 == 0).collect();
            assert_eq!(third.indices().collect::<Vec<_>>(), expected);
            assert_eq!(third.count(), expected.len());
            assert_eq!(third.clone().complement().count(), len - expected.len());
            assert_eq!(third.clone().or(&third.clone().complement()), Mask::all(len));
            assert!(third.clone().and_not(&third).is_none());
            assert!(!third.contains(len));
            assert_eq!(Mask::from_words(vec![u64::MAX; len.div_ceil(64)], len), Mask::all(len));
        }
    }
}
