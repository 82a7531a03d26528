//! Numbers of a few bits each, packed one after the other from the lowest bit up.

/// Packed numbers that are still to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at_bit: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at_bit: 0 }
    }

    /// The next number, of 64 bits at most; `None` where the bytes end before it does.
    pub(super) fn read(&mut self, width: u32) -> Option<u64> {
        let bits = usize::try_from(width).ok()?;
        let end = self.at_bit.checked_add(bits)?;
        let window = self.bytes.get(self.at_bit / 8..end.div_ceil(8))?;
        let mut around = [0; 16];
        around.iter_mut().zip(window).for_each(|(to, from)| *to = *from);
        let shifted = u128::from_le_bytes(around) >> (self.at_bit % 8);
        self.at_bit = end;
        u64::try_from(shifted & ((1 << width.min(64)) - 1)).ok()
    }
}

/// How many bits numbers up to `max` take.
pub(super) fn width_of(max: u32) -> u32 {
    u32::BITS - max.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed_from_the_lowest_bit_up() {
        let mut bits = Bits::of(&[0b1000_1000, 0b1100_0110, 0b1111_1010]);
        let read: Vec<u64> = std::iter::from_fn(|| bits.read(3)).collect();
        assert_eq!(read, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_number_may_have_any_width() {
        let mut bits = Bits::of(&[0xff; 17]);
        assert_eq!(bits.read(0), Some(0));
        assert_eq!(bits.read(7), Some(0x7f));
        assert_eq!(bits.read(64), Some(u64::MAX));
        assert_eq!(bits.read(64), Some(u64::MAX));
        assert_eq!(bits.read(2), None);
        assert_eq!(bits.read(1), Some(1));
    }

    #[test]
    fn a_width_is_that_of_the_largest_number() {
        assert_eq!([0, 1, 2, 3, 4, u32::MAX].map(width_of), [0, 1, 2, 2, 3, 32]);
    }
}
