//! Levels, dictionary indexes and booleans as Parquet's hybrid of run lengths and bit packing writes them.

use super::super::thrift::{Reader, ThriftError};
use super::bits::Bits;

/// The numbers as runs: each number with how often it follows. They end when so many are read as there should be.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    reader: Reader<'a>,
    width: u32,
    left: u64,
    packed: Bits<'a>,
    packed_left: u64,
}

/// A number and how often it follows, which is once at least.
pub(super) type Run = (u32, u64);

impl<'a> Runs<'a> {
    /// `count` numbers of `width` bits each.
    pub(super) fn of(bytes: &'a [u8], width: u32, count: u64) -> Self {
        Self { reader: Reader::new(bytes), width, left: count, packed: Bits::default(), packed_left: 0 }
    }

    fn run(&mut self) -> Result<Run, ThriftError> {
        loop {
            if self.packed_left > 0 {
                self.packed_left -= 1;
                let value = self.packed.read(self.width).ok_or(ThriftError::UnexpectedEnd)?;
                return self.taken(value, 1);
            }
            let header = self.reader.varint()?;
            let count = header >> 1;
            if header & 1 == 0 {
                let mut value = [0; 8];
                let stored = self.reader.take(usize::try_from(self.width.div_ceil(8)).unwrap_or(usize::MAX))?;
                value.iter_mut().zip(stored).for_each(|(to, from)| *to = *from);
                if count > 0 {
                    return self.taken(u64::from_le_bytes(value), count);
                }
            } else if self.width == 0 {
                // Numbers without bits take no bytes, so that no end of the bytes would end them.
                if count > 0 {
                    return self.taken(0, count.saturating_mul(8));
                }
            } else {
                self.begin_packed(count)?;
            }
        }
    }

    /// Some writers cut off the last group after the last number that counts.
    fn begin_packed(&mut self, groups: u64) -> Result<(), ThriftError> {
        let bytes = usize::try_from(groups.saturating_mul(self.width.into())).unwrap_or(usize::MAX);
        self.packed = Bits::of(self.reader.take(bytes.min(self.reader.rest().len()))?);
        self.packed_left = groups.saturating_mul(8);
        Ok(())
    }

    fn taken(&mut self, value: u64, count: u64) -> Result<Run, ThriftError> {
        let count = count.min(self.left);
        self.left -= count;
        Ok((u32::try_from(value).map_err(|_| ThriftError::IntegerTooLarge)?, count))
    }
}

impl Iterator for Runs<'_> {
    type Item = Result<Run, ThriftError>;

    /// After an error the rest means nothing.
    fn next(&mut self) -> Option<Self::Item> {
        (self.left > 0).then(|| self.run())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(bytes: &[u8], width: u32, count: u64) -> Result<Vec<Run>, ThriftError> {
        Runs::of(bytes, width, count).collect()
    }

    #[test]
    fn a_run_is_one_number_many_times() {
        assert_eq!(runs(&[0x80, 0x02, 5, 0x06, 1], 3, 131), Ok(vec![(5, 128), (1, 3)]));
    }

    #[test]
    fn packed_numbers_come_one_by_one() {
        assert_eq!(runs(&[0x03, 0b1000_1000, 0b1100_0110, 0b1111_1010], 3, 3), Ok(vec![(0, 1), (1, 1), (2, 1)]));
    }

    #[test]
    fn a_last_group_may_be_cut_after_its_last_number() {
        assert_eq!(runs(&[0x03, 0b01], 1, 8).map(|runs| runs.len()), Ok(8));
        assert_eq!(runs(&[0x03, 0b01], 2, 4).map(|runs| runs.len()), Ok(4));
        assert_eq!(runs(&[0x03, 0b01], 2, 5), Err(ThriftError::UnexpectedEnd));
    }

    #[test]
    fn numbers_without_bits_end_where_they_should() {
        assert_eq!(runs(&[0xff, 0xff, 0xff, 0xff, 0x0f], 0, 1 << 40), Err(ThriftError::UnexpectedEnd));
        assert_eq!(runs(&[0xff, 0xff, 0xff, 0xff, 0x0f], 0, 1 << 20), Ok(vec![(0, 1 << 20)]));
    }

    #[test]
    fn empty_runs_and_claimed_lengths_do_not_hang() {
        assert_eq!(runs(&[0x00, 7, 0x01, 0x04, 7], 3, 2), Ok(vec![(7, 2)]));
        assert_eq!(runs(&vec![0; 10_000], 0, 1), Err(ThriftError::UnexpectedEnd));
        let longest = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 3];
        assert_eq!(runs(&longest, 2, 9), Ok(vec![(3, 9)]));
    }
}
