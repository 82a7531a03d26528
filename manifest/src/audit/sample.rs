//! Which files an audit looks at.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::FileId;

/// Which files of a snapshot an audit looks at: a share of them that chance picks, and the same ones whenever it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Above 0 and at most 1.
    fraction: f64,
    seed: u64,
}

impl Sample {
    /// All files.
    pub const ALL: Self = Self { fraction: 1.0, seed: 0 };

    /// `None` unless the fraction is above 0 and at most 1. Samples of other seeds are other files.
    pub fn new(fraction: f64, seed: u64) -> Option<Self> {
        (fraction > 0.0 && fraction <= 1.0).then_some(Self { fraction, seed })
    }

    /// The share of all files that it picks, about.
    pub fn fraction(self) -> f64 {
        self.fraction
    }

    /// What its choice comes from.
    pub fn seed(self) -> u64 {
        self.seed
    }

    /// Whether it picks a file.
    pub fn has(self, file_id: FileId) -> bool {
        const PLACES: f64 = 4_294_967_296.0;
        let [a, b, c, d, ..] = xxh3_64_with_seed(&file_id.0.to_le_bytes(), self.seed).to_le_bytes();
        f64::from(u32::from_le_bytes([a, b, c, d])) < self.fraction * PLACES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(sample: Sample) -> Vec<i64> {
        (1..=10_000).filter(|file_id| sample.has(FileId(*file_id))).collect()
    }

    #[test]
    fn all_files_are_picked_where_all_are_asked_for() {
        assert_eq!(picked(Sample::ALL).len(), 10_000);
        assert_eq!(picked(Sample::new(1.0, u64::MAX).unwrap()).len(), 10_000);
    }

    #[test]
    fn a_share_is_about_as_large_as_was_asked_for() {
        for (fraction, least, most) in [(0.5, 4_800, 5_200), (0.1, 900, 1_100), (0.001, 1, 30)] {
            let picked = picked(Sample::new(fraction, 7).unwrap()).len();
            assert!((least..=most).contains(&picked), "{fraction}: {picked}");
        }
    }

    #[test]
    fn another_seed_picks_other_files() {
        let of_seed = |seed| picked(Sample::new(0.1, seed).unwrap());
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1), of_seed(2));
    }

    #[test]
    fn a_fraction_is_above_zero_and_at_most_one() {
        for (fraction, is_one) in
            [(0.0, false), (-0.1, false), (1.1, false), (f64::NAN, false), (f64::MIN_POSITIVE, true)]
        {
            assert_eq!(Sample::new(fraction, 0).is_some(), is_one, "{fraction}");
        }
    }
}
