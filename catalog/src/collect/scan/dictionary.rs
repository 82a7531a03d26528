//! The dictionary of a chunk: each value once, to which pages refer by number.

use std::borrow::Cow;

use super::super::leaf_type::StoredType;
use super::super::thrift::Reader;
use super::fault::ChunkFault;
use super::leaf_fold::LeafFold;
use super::runs::Runs;
use super::values::{Width, plain_string, width};

/// The entries of a dictionary, and which of them pages have used: an entry that none uses is no value of the chunk.
pub(super) struct Dictionary<'a> {
    bytes: Cow<'a, [u8]>,
    places: Places,
    used: Vec<bool>,
    /// Whether an entry is NaN, so that it must be looked at each time that it is used.
    has_nan: bool,
}

/// Where the entries are.
enum Places {
    Every(usize),
    /// Where each begins, with its length before it.
    At(Vec<u32>),
}

impl<'a> Dictionary<'a> {
    /// The dictionary of this many entries, which are stored as PLAIN has them.
    pub(super) fn of(bytes: Cow<'a, [u8]>, entries: i32, fold: &LeafFold) -> Result<Self, ChunkFault> {
        let entries = usize::try_from(entries).map_err(|_| ChunkFault::Dictionary)?;
        let places = places(&bytes, entries, fold.stored())?;
        let mut dictionary = Self { bytes, places, used: vec![false; entries], has_nan: false };
        dictionary.has_nan = (0..entries).any(|index| dictionary.entry(index).is_some_and(|entry| fold.is_nan(entry)));
        Ok(dictionary)
    }

    pub(super) fn has_nan(&self) -> bool {
        self.has_nan
    }

    fn entry(&self, index: usize) -> Option<&[u8]> {
        match &self.places {
            Places::Every(width) => self.bytes.get(index.checked_mul(*width)?..)?.get(..*width),
            Places::At(places) => {
                let from = self.bytes.get(usize::try_from(*places.get(index)?).ok()?..)?;
                plain_string(&mut Reader::new(from)).ok()
            }
        }
    }

    /// Reads the `count` numbers that a page holds after their width, and tells `fold` of the entries that they mean.
    pub(super) fn read_page(&mut self, page: &[u8], count: u64, fold: &mut LeafFold) -> Result<(), ChunkFault> {
        if count == 0 {
            return Ok(());
        }
        let (width, numbers) = page.split_first().ok_or(ChunkFault::Values)?;
        if u32::from(*width) > u32::BITS {
            return Err(ChunkFault::Values);
        }
        for run in Runs::of(numbers, (*width).into(), count) {
            let (index, times) = run.map_err(|_| ChunkFault::Values)?;
            self.use_entry(index, times, fold).ok_or(ChunkFault::Values)?;
        }
        Ok(())
    }

    fn use_entry(&mut self, index: u32, times: u64, fold: &mut LeafFold) -> Option<()> {
        let index = usize::try_from(index).ok()?;
        let used_before = std::mem::replace(self.used.get_mut(index)?, true);
        if !used_before || self.has_nan {
            fold.add(self.entry(index)?, times);
        }
        Some(())
    }
}

/// Every entry is looked for, so that a claimed count takes no memory that the bytes do not bear out.
fn places(bytes: &[u8], entries: usize, stored: StoredType) -> Result<Places, ChunkFault> {
    match width(stored) {
        Width::Bytes(width @ 1..) => {
            let whole = entries.checked_mul(width).is_some_and(|length| length <= bytes.len());
            if whole { Ok(Places::Every(width)) } else { Err(ChunkFault::Dictionary) }
        }
        Width::Any => {
            let mut reader = Reader::new(bytes);
            let mut places = Vec::new();
            for _ in 0..entries {
                let at = u32::try_from(bytes.len() - reader.rest().len()).map_err(|_| ChunkFault::Dictionary)?;
                plain_string(&mut reader).map_err(|_| ChunkFault::Dictionary)?;
                places.push(at);
            }
            Ok(Places::At(places))
        }
        Width::Bit | Width::Bytes(0) => Err(ChunkFault::Dictionary),
    }
}
