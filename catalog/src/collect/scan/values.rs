//! The values of a page, in every encoding that does without a dictionary, as the bytes that PLAIN stores them in.

use super::super::leaf_type::StoredType;
use super::super::thrift::Reader;
use super::bits::Bits;
use super::delta::DeltaInts;
use super::fault::ChunkFault;
use super::runs::Runs;

/// How many bytes the values of a page may have in common with those before them, when all are written out. Without it a
/// long value that is repeated by reference would be compared as often as a page may claim.
pub(super) const MAX_SHARED_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// The enum `Encoding`.
const PLAIN: i32 = 0;
const RUNS: i32 = 3;
const DELTA_INTS: i32 = 5;
const DELTA_LENGTHS: i32 = 6;
const DELTA_STRINGS: i32 = 7;
const SPLIT: i32 = 9;

/// Hands `count` values to `sink`, one after the other, each with how often it follows. A boolean is a byte, 0 or 1.
pub(super) fn read_values(
    bytes: &[u8],
    encoding: i32,
    count: u64,
    stored: StoredType,
    sink: impl FnMut(&[u8], u64),
) -> Result<(), ChunkFault> {
    if count == 0 {
        return Ok(());
    }
    match (encoding, width(stored)) {
        (PLAIN, Width::Bit) => plain_booleans(bytes, count, sink),
        (PLAIN, Width::Bytes(width)) => plain_fixed(bytes, count, width, sink),
        (PLAIN, Width::Any) => plain_strings(bytes, count, sink),
        (RUNS, Width::Bit) => booleans_in_runs(bytes, count, sink),
        (DELTA_INTS, Width::Bytes(width)) if matches!(stored, StoredType::Int32 | StoredType::Int64) => {
            delta_ints(bytes, count, width, sink)
        }
        (DELTA_LENGTHS, Width::Any) => delta_lengths(bytes, count, sink),
        (DELTA_STRINGS, Width::Any) => delta_strings(bytes, count, None, sink),
        (DELTA_STRINGS, Width::Bytes(width)) if matches!(stored, StoredType::Fixed(_)) => {
            delta_strings(bytes, count, Some(width), sink)
        }
        (SPLIT, Width::Bytes(width)) => split(bytes, count, width, sink),
        _ => Err(ChunkFault::UnsupportedEncoding(encoding)),
    }
}

/// How much room a value takes.
#[derive(Clone, Copy)]
pub(super) enum Width {
    Bit,
    Bytes(usize),
    Any,
}

pub(super) fn width(stored: StoredType) -> Width {
    match stored {
        StoredType::Boolean => Width::Bit,
        StoredType::Int32 | StoredType::Float => Width::Bytes(4),
        StoredType::Int64 | StoredType::Double => Width::Bytes(8),
        StoredType::Int96 => Width::Bytes(12),
        StoredType::ByteArray => Width::Any,
        StoredType::Fixed(length) => Width::Bytes(usize::try_from(length).unwrap_or(usize::MAX)),
    }
}

fn plain_booleans(bytes: &[u8], count: u64, mut sink: impl FnMut(&[u8], u64)) -> Result<(), ChunkFault> {
    let mut bits = Bits::of(bytes);
    for _ in 0..count {
        sink(boolean(bits.read(1).ok_or(ChunkFault::Values)?), 1);
    }
    Ok(())
}

fn boolean(bit: u64) -> &'static [u8] {
    if bit == 0 { &[0] } else { &[1] }
}

fn plain_fixed(bytes: &[u8], count: u64, width: usize, mut sink: impl FnMut(&[u8], u64)) -> Result<(), ChunkFault> {
    let values = all_of_width(bytes, count, width)?;
    values.chunks_exact(width.max(1)).for_each(|value| sink(value, 1));
    Ok(())
}

/// The bytes of `count` values of one width. Values without bytes are nothing to read.
fn all_of_width(bytes: &[u8], count: u64, width: usize) -> Result<&[u8], ChunkFault> {
    let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
    length.and_then(|length| bytes.get(..length)).ok_or(ChunkFault::Values)
}

fn plain_strings(bytes: &[u8], count: u64, mut sink: impl FnMut(&[u8], u64)) -> Result<(), ChunkFault> {
    let mut reader = Reader::new(bytes);
    for _ in 0..count {
        sink(plain_string(&mut reader)?, 1);
    }
    Ok(())
}

/// The next string after its length.
pub(super) fn plain_string<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], ChunkFault> {
    let length = reader.take(4).ok().and_then(|length| length.try_into().ok()).ok_or(ChunkFault::Values)?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| ChunkFault::Values)?;
    reader.take(length).map_err(|_| ChunkFault::Values)
}

fn booleans_in_runs(bytes: &[u8], count: u64, mut sink: impl FnMut(&[u8], u64)) -> Result<(), ChunkFault> {
    let runs = plain_string(&mut Reader::new(bytes))?;
    for run in Runs::of(runs, 1, count) {
        let (value, times) = run.map_err(|_| ChunkFault::Values)?;
        sink(boolean(value.into()), times);
    }
    Ok(())
}

fn delta_ints(bytes: &[u8], count: u64, width: usize, mut sink: impl FnMut(&[u8], u64)) -> Result<(), ChunkFault> {
    let mut ints = DeltaInts::of(bytes, count)?;
    for _ in 0..count {
        sink(ints.read()?.to_le_bytes().get(..width).ok_or(ChunkFault::Values)?, 1);
    }
    Ok(())
}

fn delta_lengths(bytes: &[u8], count: u64, mut sink: impl FnMut(&[u8], u64)) -> Result<(), ChunkFault> {
    let mut strings = DeltaLengths::of(bytes, count)?;
    for _ in 0..count {
        sink(strings.read()?, 1);
    }
    Ok(())
}

/// Strings that stand after all their lengths.
struct DeltaLengths<'a> {
    lengths: DeltaInts<'a>,
    strings: Reader<'a>,
}

impl<'a> DeltaLengths<'a> {
    fn of(bytes: &'a [u8], count: u64) -> Result<Self, ChunkFault> {
        let lengths = DeltaInts::of(bytes, count)?;
        let strings = Reader::new(lengths.after()?);
        Ok(Self { lengths, strings })
    }

    fn read(&mut self) -> Result<&'a [u8], ChunkFault> {
        let length = length(self.lengths.read()?)?;
        self.strings.take(length).map_err(|_| ChunkFault::Values)
    }
}

/// A length is a 32-bit integer, of which the differences give the low half.
fn length(value: i64) -> Result<usize, ChunkFault> {
    let [a, b, c, d, ..] = value.to_le_bytes();
    usize::try_from(i32::from_le_bytes([a, b, c, d])).map_err(|_| ChunkFault::Values)
}

/// Each string is so much of the one before it, and then what follows.
fn delta_strings(
    bytes: &[u8],
    count: u64,
    width: Option<usize>,
    mut sink: impl FnMut(&[u8], u64),
) -> Result<(), ChunkFault> {
    let mut shared = DeltaInts::of(bytes, count)?;
    let mut endings = DeltaLengths::of(shared.after()?, count)?;
    let (mut string, mut shared_bytes) = (Vec::new(), 0_u64);
    for _ in 0..count {
        let kept = length(shared.read()?)?;
        shared_bytes = shared_bytes.saturating_add(u64::try_from(kept).unwrap_or(u64::MAX));
        if kept > string.len() || shared_bytes > MAX_SHARED_BYTES {
            return Err(ChunkFault::Values);
        }
        string.truncate(kept);
        string.extend_from_slice(endings.read()?);
        if width.is_some_and(|width| width != string.len()) {
            return Err(ChunkFault::Values);
        }
        sink(&string, 1);
    }
    Ok(())
}

/// First the first bytes of all values, then the second ones, and so on.
fn split(bytes: &[u8], count: u64, width: usize, mut sink: impl FnMut(&[u8], u64)) -> Result<(), ChunkFault> {
    all_of_width(bytes, count, width)?;
    let stride = bytes.len().checked_div(width).unwrap_or(0);
    let mut value = vec![0; width];
    for index in 0..usize::try_from(count).unwrap_or(0).min(stride) {
        let places = bytes.iter().skip(index).step_by(stride);
        value.iter_mut().zip(places).for_each(|(to, from)| *to = *from);
        sink(&value, 1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: i32, count: u64, stored: StoredType) -> Result<Vec<Vec<u8>>, ChunkFault> {
        let mut values = Vec::new();
        read_values(bytes, encoding, count, stored, |value, times| {
            values.extend(std::iter::repeat_n(value.to_vec(), usize::try_from(times).unwrap()));
        })?;
        Ok(values)
    }

    fn check(bytes: &[u8], encoding: i32, stored: StoredType, expected: &[&[u8]]) {
        let count = u64::try_from(expected.len()).unwrap();
        let expected = expected.iter().map(|value| value.to_vec()).collect();
        assert_eq!(read(bytes, encoding, count, stored), Ok(expected), "{encoding} {stored:?}");
        if encoding != DELTA_INTS {
            assert_eq!(read(&bytes[..bytes.len() - 1], encoding, count, stored), Err(ChunkFault::Values));
        }
    }

    #[test]
    fn plain_values_stand_one_after_the_other() {
        check(&[0b101], PLAIN, StoredType::Boolean, &[&[1], &[0], &[1]]);
        check(&[1, 2, 3, 4, 5, 6, 7, 8], PLAIN, StoredType::Float, &[&[1, 2, 3, 4], &[5, 6, 7, 8]]);
        check(&[1, 2, 3, 4], PLAIN, StoredType::Fixed(2), &[&[1, 2], &[3, 4]]);
        check(&[2, 0, 0, 0, 7, 8, 0, 0, 0, 0], PLAIN, StoredType::ByteArray, &[&[7, 8], &[]]);
    }

    #[test]
    fn booleans_may_come_in_runs() {
        check(&[2, 0, 0, 0, 0x06, 1], RUNS, StoredType::Boolean, &[&[1], &[1], &[1]]);
    }

    #[test]
    fn integers_may_come_as_differences() {
        check(&[0x80, 0x01, 4, 2, 0x01, 0x02, 0, 0, 0, 0], DELTA_INTS, StoredType::Int32, &[&[0xff; 4], &[0; 4]]);
        check(&[0x80, 0x01, 4, 1, 0x01], DELTA_INTS, StoredType::Int64, &[&[0xff; 8]]);
    }

    #[test]
    fn strings_may_stand_after_their_lengths() {
        // Two strings of one byte.
        let lengths = [0x80, 0x01, 4, 2, 0x02, 0x00, 0, 0, 0, 0];
        check(&[&lengths[..], b"ab"].concat(), DELTA_LENGTHS, StoredType::ByteArray, &[b"a", b"b"]);
    }

    #[test]
    fn strings_may_begin_as_the_one_before_does() {
        // Shared: 0, 1. Endings: "ab" and "cd", of two bytes each.
        let shared = [0x80, 0x01, 4, 2, 0x00, 0x02, 0, 0, 0, 0];
        let lengths = [0x80, 0x01, 4, 2, 0x04, 0x00, 0, 0, 0, 0];
        let bytes = [&shared[..], &lengths, b"abcd"].concat();
        check(&bytes, DELTA_STRINGS, StoredType::ByteArray, &[b"ab", b"acd"]);
        assert_eq!(read(&bytes, DELTA_STRINGS, 2, StoredType::Fixed(2)), Err(ChunkFault::Values));
        let one_length = [0x80, 0x01, 4, 1, 0x04];
        let more_than_there_is = [&[0x80, 0x01, 4, 1, 0x02][..], &one_length, b"ab"].concat();
        assert_eq!(read(&more_than_there_is, DELTA_STRINGS, 1, StoredType::ByteArray), Err(ChunkFault::Values));
    }

    /// Integers in one block, their differences in 64 bits each.
    fn deltas(values: &[i64]) -> Vec<u8> {
        let varint = |mut value: u64| {
            let mut bytes = Vec::new();
            while value >= 0x80 {
                bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
                value >>= 7;
            }
            bytes.push(u8::try_from(value).unwrap());
            bytes
        };
        let count = u64::try_from(values.len()).unwrap();
        let block_values = count.next_multiple_of(128);
        let first = varint(u64::try_from(2 * values[0]).unwrap());
        let mut bytes = [varint(block_values), varint(1), varint(count), first, vec![0, 64]].concat();
        bytes.extend(values.windows(2).flat_map(|pair| (pair[1] - pair[0]).to_le_bytes()));
        bytes.resize(bytes.len() + 8 * usize::try_from(block_values - count + 1).unwrap(), 0);
        bytes
    }

    #[test]
    fn values_have_only_so_much_in_common() {
        let length = 1 << 20;
        let times = usize::try_from(MAX_SHARED_BYTES >> 20).unwrap();
        let read = |times: usize| {
            let shared: Vec<i64> = std::iter::once(0).chain(std::iter::repeat_n(length, times)).collect();
            let endings: Vec<i64> = std::iter::once(length).chain(std::iter::repeat_n(0, times)).collect();
            let bytes = [deltas(&shared), deltas(&endings), vec![b'a'; 1 << 20]].concat();
            read_values(&bytes, DELTA_STRINGS, u64::try_from(times + 1).unwrap(), StoredType::ByteArray, |_, _| {})
        };
        assert_eq!(read(times), Ok(()));
        assert_eq!(read(times + 1), Err(ChunkFault::Values));
    }

    #[test]
    fn bytes_of_like_rank_may_stand_together() {
        check(&[1, 5, 2, 6, 3, 7, 4, 8], SPLIT, StoredType::Int32, &[&[1, 2, 3, 4], &[5, 6, 7, 8]]);
        check(&[1, 3, 2, 4], SPLIT, StoredType::Fixed(2), &[&[1, 2], &[3, 4]]);
    }

    #[test]
    fn a_negative_length_is_damage() {
        let lengths = [0x80, 0x01, 4, 1, 0x01];
        assert_eq!(read(&lengths, DELTA_LENGTHS, 1, StoredType::ByteArray), Err(ChunkFault::Values));
    }

    #[test]
    fn an_encoding_that_does_not_go_with_the_type_is_named() {
        for (encoding, stored) in [(99, StoredType::Int32), (DELTA_INTS, StoredType::Float), (RUNS, StoredType::Int32)]
        {
            assert_eq!(read(&[0; 64], encoding, 1, stored), Err(ChunkFault::UnsupportedEncoding(encoding)));
        }
    }

    #[test]
    fn values_without_bytes_are_nothing_to_read() {
        for encoding in [PLAIN, SPLIT] {
            assert_eq!(read(&[], encoding, 1 << 40, StoredType::Fixed(0)), Ok(Vec::new()));
        }
    }
}
