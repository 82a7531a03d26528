//! Bounds of bytes, which are compared by their beginnings first: as one number each, so that the loops over numbers do.

use arrow::array::{Array, BinaryArray};

use super::{Relation, Side, compare};
use crate::mask::Mask;
use crate::tile::Tile;

/// One side of the bounds of a column of bytes.
#[derive(Clone, Debug)]
pub(crate) struct ByteBounds {
    values: BinaryArray,
    /// What most values begin with: keys are of what comes after.
    prefix: Vec<u8>,
    /// The key of each value.
    keys: Vec<u64>,
}

/// How many values are looked at to learn what most begin with. Any prefix is right; a good one makes keys differ.
const SAMPLES: usize = 64;

impl ByteBounds {
    pub(crate) fn new(values: BinaryArray) -> Self {
        let step = (values.len() / SAMPLES).max(1);
        let mut samples = values.iter().step_by(step).flatten();
        let first = samples.next().unwrap_or_default();
        let shared = samples.fold(first.len(), |shared, sample| {
            first.iter().take(shared).zip(sample).take_while(|(a, b)| a == b).count()
        });
        let prefix = first.get(..shared).unwrap_or_default().to_vec();
        let keys = (0..values.len()).map(|index| key(values.value(index), &prefix)).collect();
        Self { values, prefix, keys }
    }

    /// The bytes of one container; `None` beyond the last.
    pub(crate) fn value(&self, index: usize) -> Option<&[u8]> {
        (index < self.values.len()).then(|| self.values.value(index))
    }
}

/// The eight bytes after the prefix as a number, zeros for bytes that are not there. Of two values the lesser never has the
/// greater key, whatever the prefix.
pub(super) fn key(value: &[u8], prefix: &[u8]) -> u64 {
    match value.strip_prefix(prefix) {
        Some(rest) => match rest.first_chunk() {
            Some(chunk) => u64::from_be_bytes(*chunk),
            None => rest.iter().fold(0, |key, byte| key << 8 | u64::from(*byte)) << (8 * (8 - rest.len())).min(63),
        },
        None if value < prefix => 0,
        None => u64::MAX,
    }
}

impl Side for ByteBounds {
    type Item = Vec<u8>;

    fn get(&self, index: usize) -> Option<&[u8]> {
        (index < self.values.len()).then(|| self.values.value(index))
    }

    fn keep(&self, live: &mut Tile, known: &Mask, relation: Relation, end: &Vec<u8>) {
        let (known, keys) = (live.words_of(known), live.part_of(&self.keys));
        let mut tied = *live;
        compare::keep_by_key(live.words_mut(), [known, keys], relation, key(end, &self.prefix), tied.words_mut());
        let mut fails = tied;
        fails.retain(|index| self.get(index).is_some_and(|value| !relation.holds(value, end.as_slice())));
        live.and_not(&fails);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(texts: &[&str]) -> BinaryArray {
        texts.iter().map(|text| Some(text.as_bytes())).collect()
    }

    #[test]
    fn keys_rise_with_values_whatever_the_prefix() {
        let sorted = [
            "",
            "\0",
            "a",
            "ab",
            "ab\0",
            "ab\0\0\0\0\0\0\0",
            "ab\0\0\0\0\0\0\0\0",
            "abc",
            "abcdefghij",
            "abd",
            "b",
            "ba",
        ];
        for prefix in ["", "a", "ab", "abc", "abcdefghijk", "b", "z"] {
            let keys: Vec<u64> = sorted.iter().map(|value| key(value.as_bytes(), prefix.as_bytes())).collect();
            assert!(keys.is_sorted(), "after {prefix:?}: {keys:?}");
        }
    }

    #[test]
    fn values_that_share_a_key_are_compared_in_full() {
        let texts = ["", "item-", "item-00000000x", "item-00000000", "item-000000001", "item-1", "items", "other"];
        let side = ByteBounds::new(bytes(&texts));
        for end in texts.iter().chain(&["item-00000000w", "a", "item-0", "zzz"]) {
            for relation in [Relation::Lt, Relation::LtEq, Relation::Gt, Relation::GtEq] {
                let mut live = Tile::over(&Mask::all(texts.len())).next().unwrap();
                side.keep(&mut live, &Mask::all(texts.len()), relation, &end.as_bytes().to_vec());
                let mut kept = Mask::none(texts.len());
                live.store(&mut kept);
                let expected = Mask::from_fn(texts.len(), |index| relation.holds(texts[index], end));
                assert_eq!(kept, expected, "{relation:?} {end}");
            }
        }
    }

    #[test]
    fn the_prefix_is_what_samples_share() {
        let side = ByteBounds::new(bytes(&["key-10", "key-11", "key-2"]));
        assert_eq!(side.prefix, b"key-");
        assert!(ByteBounds::new(bytes(&[])).prefix.is_empty());
        assert_eq!(ByteBounds::new(bytes(&["same", "same"])).prefix, b"same");
    }
}
