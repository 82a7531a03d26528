//! Integers as their differences: the encoding DELTA_BINARY_PACKED, alone and as the lengths of strings.

use super::super::thrift::Reader;
use super::bits::Bits;
use super::fault::ChunkFault;

/// How many values a block of differences may have; writers put 128 or 256 in one. A block takes a few bytes at least,
/// so this bounds how many values so many bytes can be.
pub(super) const MAX_BLOCK_VALUES: u64 = 65_536;

/// Integers that are still to be read. They are counted modulo 2^64, of which 32-bit ones are the low half.
#[derive(Clone, Debug)]
pub(super) struct DeltaInts<'a> {
    reader: Reader<'a>,
    miniblocks: usize,
    miniblock_values: u64,
    /// How many integers are left, the next one included.
    left: u64,
    next: i64,
    min_delta: i64,
    /// The bit widths of the miniblocks of the block that are still to come.
    widths: &'a [u8],
    width: u32,
    packed: Bits<'a>,
    packed_left: u64,
}

impl<'a> DeltaInts<'a> {
    /// Those of `count` values; bytes that claim another number are damage.
    pub(super) fn of(bytes: &'a [u8], count: u64) -> Result<Self, ChunkFault> {
        let mut reader = Reader::new(bytes);
        let mut number = || reader.varint().map_err(|_| ChunkFault::Values);
        let (block_values, miniblocks, left) = (number()?, number()?, number()?);
        let next = reader.zigzag().map_err(|_| ChunkFault::Values)?;
        let miniblock_values = block_values.checked_div(miniblocks).unwrap_or(0);
        // Miniblocks fill whole bytes whatever the width of their values.
        let regular = miniblock_values > 0 && miniblock_values % 8 == 0 && block_values % miniblocks == 0;
        if !regular || block_values > MAX_BLOCK_VALUES || left != count {
            return Err(ChunkFault::Values);
        }
        let miniblocks = usize::try_from(miniblocks).map_err(|_| ChunkFault::Values)?;
        Ok(Self {
            reader,
            miniblocks,
            miniblock_values,
            left,
            next,
            min_delta: 0,
            widths: &[],
            width: 0,
            packed: Bits::default(),
            packed_left: 0,
        })
    }

    /// The next integer.
    pub(super) fn read(&mut self) -> Result<i64, ChunkFault> {
        let current = self.next;
        self.left = self.left.checked_sub(1).ok_or(ChunkFault::Values)?;
        if self.left > 0 {
            self.advance().ok_or(ChunkFault::Values)?;
        }
        Ok(current)
    }

    fn advance(&mut self) -> Option<()> {
        if self.packed_left == 0 {
            self.begin_miniblock()?;
        }
        self.packed_left -= 1;
        let above_min = self.packed.read(self.width)?.cast_signed();
        self.next = self.next.wrapping_add(self.min_delta).wrapping_add(above_min);
        Some(())
    }

    fn begin_miniblock(&mut self) -> Option<()> {
        if self.widths.is_empty() {
            self.min_delta = self.reader.zigzag().ok()?;
            self.widths = self.reader.take(self.miniblocks).ok()?;
        }
        let (width, widths) = self.widths.split_first()?;
        (self.width, self.widths) = (u32::from(*width), widths);
        let bytes = usize::try_from(self.miniblock_values / 8 * u64::from(self.width)).ok()?;
        // Some writers cut off the last miniblock after the last value that counts.
        let stored = self.reader.take(bytes.min(self.reader.rest().len())).ok()?;
        self.packed = Bits::of(stored);
        self.packed_left = self.miniblock_values;
        (self.width <= u64::BITS).then_some(())
    }

    /// What follows the integers.
    pub(super) fn after(&self) -> Result<&'a [u8], ChunkFault> {
        let mut rest = self.clone();
        while rest.left > 0 {
            rest.read()?;
        }
        Ok(rest.reader.rest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(bytes: &[u8], count: u64) -> Result<Vec<i64>, ChunkFault> {
        let mut ints = DeltaInts::of(bytes, count)?;
        (0..count).map(|_| ints.read()).collect()
    }

    #[test]
    fn integers_are_the_first_and_the_differences() {
        // The example of the format's text: 7, 5, 3, 1, 2, 3, 4, 5.
        let block = [0x03, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0];
        let bytes = [&[0x80, 0x01, 4, 8, 14][..], &block].concat();
        assert_eq!(ints(&bytes, 8), Ok(vec![7, 5, 3, 1, 2, 3, 4, 5]));
        for other_count in [0, 7, 9] {
            assert_eq!(ints(&bytes, other_count), Err(ChunkFault::Values));
        }
    }

    #[test]
    fn a_header_that_claims_values_without_end_takes_no_time() {
        let most = [&[0xff; 9][..], &[0x01]].concat();
        let bytes = [&[0x80, 0x80, 0x04, 1][..], &most, &vec![0; 1 << 20]].concat();
        assert_eq!(DeltaInts::of(&bytes, 5).and_then(|ints| ints.after().map(<[u8]>::len)), Err(ChunkFault::Values));
    }

    #[test]
    fn one_integer_needs_no_block() {
        assert_eq!(ints(&[0x80, 0x01, 4, 1, 0x01], 1), Ok(vec![-1]));
        let bytes = [0x80, 0x01, 4, 1, 0x02, 9, 9];
        assert_eq!(DeltaInts::of(&bytes, 1).unwrap().after(), Ok(&[9, 9][..]));
    }

    #[test]
    fn blocks_that_cannot_be_are_damage() {
        for header in [[0x80, 0x01, 0, 8, 0], [0x80, 0x01, 3, 8, 0], [0x88, 0x01, 34, 8, 0], [0x00, 0x00, 4, 8, 0]] {
            assert!(DeltaInts::of(&header, 8).is_err(), "{header:?}");
        }
        let block_of = |values: [u8; 3]| ints(&[&values[..], &[4, 1, 0]].concat(), 1);
        assert_eq!(block_of([0x80, 0x80, 0x04]), Ok(vec![0]));
        assert_eq!(block_of([0xa0, 0x80, 0x04]), Err(ChunkFault::Values));
    }

    #[test]
    fn a_width_above_64_bits_is_damage() {
        let bytes = [&[0x80, 0x01, 4, 2, 0, 0, 65, 0, 0, 0][..], &[0; 300]].concat();
        assert_eq!(ints(&bytes, 2), Err(ChunkFault::Values));
    }

    #[test]
    fn sums_wrap() {
        let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let bytes = [&[0x80, 0x01, 4, 2][..], &most, &[0x02, 0, 0, 0, 0]].concat();
        assert_eq!(ints(&bytes, 2), Ok(vec![i64::MAX, i64::MIN]));
    }
}
