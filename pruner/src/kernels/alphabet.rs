//! Bytes as numbers of the same order, as far as a few bytes tell.

/// How bytes become numbers: what most begin with is left out, and of the bytes that follow each counts as a digit of just as
/// many bits as those that occur need. Any alphabet is right; one that is learnt from the values makes more of them differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alphabet {
    prefix: Vec<u8>,
    first: u8,
    last: u8,
    digit_bits: u32,
    digits: usize,
}

impl Default for Alphabet {
    /// That of all bytes.
    fn default() -> Self {
        Self { prefix: Vec::new(), first: 0, last: u8::MAX, digit_bits: 8, digits: Self::KEY_BITS.div_ceil(8) as usize }
    }
}

impl Alphabet {
    /// So many bits of a number, or a few more, are made of digits.
    const KEY_BITS: u32 = 32;
    const MAX_DIGITS: usize = 16;

    /// The alphabet of values, of which these are some.
    pub(super) fn of(samples: &[&[u8]]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        // A few that lie far out would leave nothing for most to begin with.
        let beyond = sorted.len() / 50;
        let usual = sorted.get(beyond..sorted.len() - beyond).unwrap_or_default();
        let [low, .., high] = usual else {
            return Self { prefix: usual.concat(), ..Self::default() };
        };
        let shared = low.iter().zip(*high).take_while(|(a, b)| a == b).count();
        let prefix = low.get(..shared).unwrap_or_default().to_vec();
        let bytes = || usual.iter().flat_map(|value| value.iter().skip(shared).take(Self::MAX_DIGITS).copied());
        let (Some(first), Some(last)) = (bytes().min(), bytes().max()) else {
            return Self { prefix, ..Self::default() };
        };
        let digit_bits = (u8::BITS - (last - first).leading_zeros()).max(1);
        let digits = (Self::KEY_BITS.div_ceil(digit_bits) as usize).min(Self::MAX_DIGITS);
        Self { prefix, first, last, digit_bits, digits }
    }

    /// The number of a value: of two values the lesser never has the greater number.
    pub(super) fn number(&self, value: &[u8]) -> u64 {
        let Some(rest) = value.strip_prefix(self.prefix.as_slice()) else {
            return if value < self.prefix.as_slice() { 0 } else { u64::MAX };
        };
        let span = self.last - self.first;
        let digits = rest.get(..self.digits).unwrap_or_default();
        let (number, outside) = digits.iter().fold((0, u8::from(digits.is_empty())), |(number, outside), byte| {
            let digit = byte.wrapping_sub(self.first);
            (number << self.digit_bits | u64::from(digit), outside | u8::from(digit > span))
        });
        if outside == 0 { number } else { self.number_of_others(rest) }
    }

    /// The number of what has too few bytes or some outside of the alphabet. What comes after such a byte cannot count, since
    /// the byte itself counts as an outermost one.
    fn number_of_others(&self, rest: &[u8]) -> u64 {
        let mut number = 0;
        let mut bits_left = self.digit_bits * u32::try_from(self.digits).unwrap_or_default();
        for byte in rest.iter().take(self.digits) {
            if *byte < self.first {
                break;
            }
            if *byte > self.last {
                return ((number + 1) << bits_left) - 1;
            }
            number = number << self.digit_bits | u64::from(byte - self.first);
            bits_left -= self.digit_bits;
        }
        number << bits_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_with_values_whatever_the_alphabet() {
        let sorted = [
            "",
            "\0",
            "a",
            "ab",
            "ab\0",
            "ab\0\0\0\0\0\0\0",
            "ab\0\0\0\0\0\0\0\0",
            "ab0",
            "ab05",
            "ab0a",
            "ab9",
            "abc",
            "abcdefghij",
            "abd",
            "b",
            "ba",
            "\u{10FFFF}",
        ];
        for samples in [
            vec![],
            vec![""],
            vec!["a"],
            vec!["abc"],
            vec!["ab0", "ab9"],
            vec!["ab5", "abc"],
            vec!["b", "z"],
            sorted.to_vec(),
        ] {
            let samples: Vec<&[u8]> = samples.iter().map(|text| text.as_bytes()).collect();
            let alphabet = Alphabet::of(&samples);
            let numbers: Vec<u64> = sorted.iter().map(|value| alphabet.number(value.as_bytes())).collect();
            assert!(numbers.is_sorted(), "{alphabet:?}: {numbers:?}");
        }
    }

    #[test]
    fn digits_are_as_short_as_the_values_allow() {
        let alphabet = Alphabet::of(&[b"key-10", b"key-71", b"key-25"]);
        assert_eq!(alphabet, Alphabet { prefix: b"key-".to_vec(), first: b'0', last: b'7', digit_bits: 3, digits: 11 });
        assert_eq!(Alphabet::of(&[b"same", b"same"]).prefix, b"same");
        assert_eq!(Alphabet::of(&[]), Alphabet::default());
    }

    #[test]
    fn a_few_that_lie_far_out_do_not_count() {
        let texts: Vec<String> = (0..200).map(|number| format!("item-{number:09}")).chain(["zzz".to_owned()]).collect();
        let samples: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        assert_eq!(Alphabet::of(&samples).prefix, b"item-000000");
    }
}
