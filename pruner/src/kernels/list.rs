//! Sorted lists of values, with a coarse index that leads to a value's place in few steps however long the list is.

use super::Item;
use super::alphabet::Alphabet;

/// Values in rising order, each once.
#[derive(Clone, Debug)]
pub(crate) struct SortedList<T> {
    values: Vec<T>,
    index: CoarseIndex,
}

/// A table of buckets of keys, evenly wide from the list's first key to its last: which of them have values of the list, and
/// where in the list these begin.
#[derive(Clone, Debug)]
struct CoarseIndex {
    alphabet: Alphabet,
    first_key: u64,
    shift: u32,
    last_bucket: u64,
    /// For each bucket a bit, set if it has a value.
    occupied: Vec<u64>,
    /// For each word of these how many values lie in the buckets before it, and at last how many there are.
    starts: Vec<u32>,
}

impl<T: Item> SortedList<T> {
    /// A list of values that are sorted already, each once.
    pub(crate) fn new(values: Vec<T>) -> Self {
        let index = CoarseIndex::new(&values);
        Self { values, index }
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.values.first()
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.values.last()
    }

    /// Whether some value from `min` to `max` may be listed: tells most of those between which none is, in a few steps.
    pub(crate) fn may_be_between(&self, min: T::View<'_>, max: T::View<'_>) -> bool {
        self.index.is_occupied(self.index.bucket_of::<T>(min), self.index.bucket_of::<T>(max))
    }

    /// Whether some value from `min` to `max` is listed.
    pub(crate) fn any_between<'t>(&'t self, min: T::View<'t>, max: T::View<'t>) -> bool {
        let (first, last) = (self.index.bucket_of::<T>(min) / 64, self.index.bucket_of::<T>(max) / 64);
        // The words of buckets strictly between the two lie wholly between the bounds.
        (first < last && self.index.start(first + 1) < self.index.start(last))
            || self.values.get(self.before(min)).is_some_and(|value| value.view() <= max)
    }

    /// Whether every value from `min` to `max` is listed.
    pub(crate) fn all_between<'t>(&'t self, min: T::View<'t>, max: T::View<'t>) -> bool {
        if !self.may_be_between(min, min) {
            return false;
        }
        if min == max {
            return self.any_between(min, max);
        }
        let Some(count) = T::count(min, max).and_then(|count| usize::try_from(count).ok()) else { return false };
        count <= self.len()
            && self
                .before(min)
                .checked_add(count - 1)
                .and_then(|last| self.values.get(last))
                .is_some_and(|value| value.view() == max)
    }

    /// How many of the values are less than this one.
    fn before<'t>(&'t self, value: T::View<'t>) -> usize {
        let word = self.index.bucket_of::<T>(value) / 64;
        let (mut first, mut beyond) = (self.index.start(word), self.index.start(word + 1));
        while first < beyond {
            let middle = first.midpoint(beyond);
            if self.values.get(middle).is_some_and(|listed| listed.view() < value) {
                first = middle + 1;
            } else {
                beyond = middle;
            }
        }
        first
    }
}

impl CoarseIndex {
    /// The bits of fewer buckets would fit no less well into the nearest cache, those of more into none that is near.
    const MIN_BUCKETS: usize = 1 << 12;
    const MAX_BUCKETS: usize = 1 << 22;
    /// So few values to a bucket that most are empty.
    const BUCKETS_PER_VALUE: usize = 64;
    /// How many values are looked at to learn their alphabet.
    const SAMPLES: usize = 128;

    fn new<T: Item>(values: &[T]) -> Self {
        let mut index = Self {
            alphabet: Alphabet::default(),
            first_key: 0,
            shift: 0,
            last_bucket: 0,
            occupied: vec![0],
            starts: vec![0, u32::try_from(values.len()).unwrap_or(u32::MAX)],
        };
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return index };
        let step = (values.len() / Self::SAMPLES).max(1);
        index.alphabet = T::alphabet(&values.iter().step_by(step).map(Item::view).collect::<Vec<_>>());
        index.first_key = T::key(first.view(), &index.alphabet);
        let span = T::key(last.view(), &index.alphabet) - index.first_key;
        let buckets = (values.len().saturating_mul(Self::BUCKETS_PER_VALUE))
            .clamp(Self::MIN_BUCKETS, Self::MAX_BUCKETS)
            .next_power_of_two();
        index.shift = (u64::BITS - span.leading_zeros()).saturating_sub(buckets.ilog2());
        index.last_bucket = span >> index.shift;
        index.fill(values);
        index
    }

    fn fill<T: Item>(&mut self, values: &[T]) {
        let words = usize::try_from(self.last_bucket / 64).unwrap_or_default() + 1;
        self.occupied = vec![0; words];
        let beyond = self.starts.pop();
        self.starts.reserve_exact(words);
        for (place, value) in (0..).zip(values) {
            let bucket = self.bucket_of::<T>(value.view());
            let word = usize::try_from(bucket / 64).unwrap_or_default();
            if let Some(occupied) = self.occupied.get_mut(word) {
                *occupied |= 1 << (bucket % 64);
            }
            if word >= self.starts.len() {
                self.starts.resize(word + 1, place);
            }
        }
        self.starts.extend(beyond);
    }

    /// The bucket of a value; values beyond either end go to the outermost.
    fn bucket_of<T: Item>(&self, value: T::View<'_>) -> u64 {
        (T::key(value, &self.alphabet).saturating_sub(self.first_key) >> self.shift).min(self.last_bucket)
    }

    /// Whether a bucket from `first` to `last` has a value; not told if their bits stand in several words.
    fn is_occupied(&self, first: u64, last: u64) -> bool {
        let word =
            usize::try_from(first / 64).ok().and_then(|word| self.occupied.get(word)).copied().unwrap_or(u64::MAX);
        let others = 63 - last.saturating_sub(first).min(63);
        first / 64 != last / 64 || word >> (first % 64) << others != 0
    }

    /// How many values lie in the buckets before a word of them.
    fn start(&self, word: u64) -> usize {
        usize::try_from(word).ok().and_then(|word| self.starts.get(word)).map_or(0, |start| *start as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Item + Clone + std::fmt::Debug>(values: &[T], probes: &[T]) {
        let list = SortedList::new(values.to_vec());
        for (at, min) in probes.iter().enumerate() {
            for max in probes.iter().skip(at) {
                let (low, high) = (min.view(), max.view());
                let listed = values.iter().filter(|value| low <= value.view() && value.view() <= high).count();
                assert!(list.may_be_between(low, high) || listed == 0, "{min:?} to {max:?} in {values:?}");
                assert_eq!(list.any_between(low, high), listed > 0, "{min:?} to {max:?} in {values:?}");
                let all = if low == high { listed > 0 } else { T::count(low, high) == Some(listed as u128) };
                assert_eq!(list.all_between(low, high), all, "{min:?} to {max:?} in {values:?}");
            }
        }
    }

    #[test]
    fn integers_are_found_in_lists_of_any_spread() {
        let probes: Vec<i64> = [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX].into_iter().chain(-20..60).collect();
        let mut probes_sorted = probes;
        probes_sorted.sort_unstable();
        check(&[], &probes_sorted);
        check(&[7], &probes_sorted);
        check(&[1, 2, 3, 9], &probes_sorted);
        check(&[i64::MIN, 0, 1, i64::MAX], &probes_sorted);
        check(&(0..50).collect::<Vec<i64>>(), &probes_sorted);
        check(&(0..50).map(|value| value * value).collect::<Vec<i64>>(), &probes_sorted);
    }

    #[test]
    fn long_lists_have_long_buckets() {
        let crowded: Vec<i32> = (0..2_000).chain([i32::MAX]).collect();
        check(&crowded, &[-1, 0, 1, 1_998, 1_999, 2_000, 2_001, i32::MAX - 1, i32::MAX]);
    }

    #[test]
    fn wide_integers_beyond_the_keys_are_told_apart() {
        let far = i128::from(i64::MAX);
        check(&[-far * 9, 5, far * 4, far * 4 + 2], &[-far * 9, 0, 5, far, far * 4, far * 4 + 1, far * 4 + 2, far * 8]);
    }

    #[test]
    fn zeros_of_both_signs_are_one() {
        check(&[-1.5, 0.0, 2.0], &[f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY]);
        check(&[-0.0], &[-1.0, -0.0, 0.0, 1.0]);
    }

    #[test]
    fn bytes_are_told_apart_beyond_their_keys() {
        let bytes = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
        let probes = ["", "a", "item-", "item-0000", "item-00000001", "item-00000001x", "item-00000002", "item-1", "j"];
        check(&bytes(&["item-00000001", "item-00000002", "item-00000003"]), &bytes(&probes));
        check(&bytes(&["a", "a\0", "a\0\0\0\0\0\0\0\0b"]), &bytes(&["a", "a\0", "a\0\0", "a\0\0\0\0\0\0\0\0b", "b"]));
    }
}
