//! A chunk read: its pages one after the other, into what its leaf's values come to.

use std::borrow::Cow;

use super::super::thrift::Reader;
use super::ScanFor;
use super::budget::Budget;
use super::chunk_plan::ChunkPlan;
use super::decompress::Codec;
use super::dictionary::Dictionary;
use super::fault::ChunkFault;
use super::leaf_fold::LeafFold;
use super::levels::{Slots, read_levels};
use super::page_header::{DataPage, DictionaryPage, LevelLayout, PageContent};
use super::pages::{Page, Pages};
use super::values::read_values;

/// The encodings whose values are numbers of a dictionary.
const PLAIN_DICTIONARY: i32 = 2;
const RUNS_DICTIONARY: i32 = 8;

/// How much of a chunk was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// The headers of its pages and its dictionary, which prove that no value is NaN.
    Dictionary,
}

/// Reads a chunk, whose bytes these are, into `fold`, as far as the leaf's budget goes.
pub(super) fn read_chunk(
    plan: &ChunkPlan,
    bytes: &[u8],
    what: ScanFor,
    fold: &mut LeafFold,
    budget: &mut Budget,
) -> Result<Extent, ChunkFault> {
    let pages = Pages::of(bytes, plan.values);
    let mut reader = ChunkReader { codec: plan.codec, fold, budget };
    if what == ScanFor::NanCount && reader.has_no_nan(pages.clone())? {
        return Ok(Extent::Dictionary);
    }
    let rows = reader.read(pages)?;
    if rows == plan.rows { Ok(Extent::Whole) } else { Err(ChunkFault::Rows { found: rows, claimed: plan.rows }) }
}

/// What reading a chunk needs besides its pages.
struct ChunkReader<'r> {
    codec: Codec,
    fold: &'r mut LeafFold,
    budget: &'r mut Budget,
}

impl ChunkReader<'_> {
    /// Reads all pages and returns how many rows begin in them.
    fn read(&mut self, pages: Pages<'_>) -> Result<u64, ChunkFault> {
        let (mut dictionary, mut rows, mut has_data) = (None, 0_u64, false);
        for page in pages {
            self.budget.check_wanted()?;
            let page = page?;
            match page.content {
                PageContent::Index => {}
                PageContent::Dictionary(_) if has_data || dictionary.is_some() => {
                    return Err(ChunkFault::LateDictionary);
                }
                PageContent::Dictionary(entries) => dictionary = Some(self.read_dictionary(&page, entries)?),
                PageContent::Data(data) => {
                    has_data = true;
                    rows = rows.saturating_add(self.read_page(&page, data, dictionary.as_mut())?);
                }
            }
        }
        Ok(rows)
    }

    /// Whether all values are numbers of a dictionary without NaN, so that none of them is one. What the footer says of the
    /// encodings is not asked: released writers are wrong there.
    fn has_no_nan(&mut self, pages: Pages<'_>) -> Result<bool, ChunkFault> {
        let mut has_nan = None;
        for page in pages {
            self.budget.check_wanted()?;
            let page = page?;
            match page.content {
                PageContent::Index => {}
                PageContent::Dictionary(entries) if has_nan.is_none() => {
                    has_nan = Some(self.read_dictionary(&page, entries)?.has_nan());
                }
                PageContent::Data(data) if has_nan == Some(false) && is_numbers(data.encoding) => {}
                PageContent::Dictionary(_) | PageContent::Data(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    fn read_dictionary<'a>(
        &mut self,
        page: &Page<'a>,
        DictionaryPage { values, encoding }: DictionaryPage,
    ) -> Result<Dictionary<'a>, ChunkFault> {
        // PLAIN, or the older name of the same.
        if !matches!(encoding, 0 | PLAIN_DICTIONARY) {
            return Err(ChunkFault::UnsupportedEncoding(encoding));
        }
        Dictionary::of(self.decompress(page.body, page.uncompressed_bytes)?, values, self.fold)
    }

    /// Reads a page of values and returns how many rows begin in it. One without values is nothing to decompress.
    fn read_page(
        &mut self,
        page: &Page<'_>,
        data: DataPage,
        dictionary: Option<&mut Dictionary<'_>>,
    ) -> Result<u64, ChunkFault> {
        let values = u64::try_from(data.values).unwrap_or(0);
        if values == 0 {
            return Ok(0);
        }
        let stored = match data.levels {
            LevelLayout::Within { .. } => self.decompress(page.body, page.uncompressed_bytes)?,
            LevelLayout::Beside { .. } => Cow::Borrowed(page.body),
        };
        let mut reader = Reader::new(&stored);
        let Slots { rows, present } = read_levels(&mut reader, data.levels, values, self.fold.leaf())?;
        let bytes = match data.levels {
            LevelLayout::Beside { compressed: true, .. } => {
                let levels_bytes = page.body.len() - reader.rest().len();
                let size = page.uncompressed_bytes.checked_sub(levels_bytes).ok_or(ChunkFault::Levels)?;
                self.decompress(reader.rest(), size)?
            }
            LevelLayout::Beside { compressed: false, .. } | LevelLayout::Within { .. } => Cow::Borrowed(reader.rest()),
        };
        self.fold.add_slots(values, values.saturating_sub(present));
        if is_numbers(data.encoding) {
            let dictionary = if present == 0 { dictionary } else { Some(dictionary.ok_or(ChunkFault::NoDictionary)?) };
            dictionary.map_or(Ok(()), |dictionary| dictionary.read_page(&bytes, present, self.fold))?;
        } else {
            self.read_written_out(&bytes, data.encoding, present)?;
        }
        Ok(rows)
    }

    /// Values may take more bytes when they are written out than in their page, which counts once they are.
    fn read_written_out(&mut self, bytes: &[u8], encoding: i32, count: u64) -> Result<(), ChunkFault> {
        self.budget.take_values(count)?;
        let (fold, mut written_bytes) = (&mut *self.fold, 0_u64);
        read_values(bytes, encoding, count, fold.stored(), |value, times| {
            written_bytes = written_bytes.saturating_add(u64::try_from(value.len()).unwrap_or(u64::MAX));
            fold.add(value, times);
        })?;
        self.budget.take_bytes(written_bytes)
    }

    fn decompress<'a>(&mut self, body: &'a [u8], size: usize) -> Result<Cow<'a, [u8]>, ChunkFault> {
        if self.codec != Codec::Uncompressed {
            self.budget.take_bytes(u64::try_from(size).unwrap_or(u64::MAX))?;
        }
        self.codec.decompress(body, size)
    }
}

fn is_numbers(encoding: i32) -> bool {
    matches!(encoding, PLAIN_DICTIONARY | RUNS_DICTIONARY)
}
