//! A chunk read: its pages one after the other, into what its leaf's values come to.

use std::borrow::Cow;

use super::super::thrift::Reader;
use super::ScanFor;
use super::chunk_plan::ChunkPlan;
use super::dictionary::Dictionary;
use super::fault::ChunkFault;
use super::leaf_fold::LeafFold;
use super::levels::{Slots, read_levels};
use super::page_header::{DataPage, LevelLayout, PageContent};
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

/// Reads a chunk, whose bytes these are, into `fold`.
pub(super) fn read_chunk(
    plan: &ChunkPlan,
    bytes: &[u8],
    what: ScanFor,
    fold: &mut LeafFold,
) -> Result<Extent, ChunkFault> {
    let pages = Pages::of(bytes, plan.values);
    if what == ScanFor::NanCount && has_no_nan(plan, pages.clone(), fold)? {
        return Ok(Extent::Dictionary);
    }
    let (mut dictionary, mut rows, mut has_data) = (None, 0, false);
    for page in pages {
        let page = page?;
        match page.content {
            PageContent::Index => {}
            PageContent::Dictionary { .. } if has_data || dictionary.is_some() => {
                return Err(ChunkFault::LateDictionary);
            }
            PageContent::Dictionary { values, encoding } => {
                dictionary = Some(read_dictionary(plan, &page, (values, encoding), fold)?);
            }
            PageContent::Data(data) => {
                has_data = true;
                rows += read_page(plan, &page, data, dictionary.as_mut(), fold)?;
            }
        }
    }
    if rows == plan.rows { Ok(Extent::Whole) } else { Err(ChunkFault::Rows { found: rows, claimed: plan.rows }) }
}

/// Whether all values are numbers of a dictionary without NaN, so that none of them is one. What the footer says of the
/// encodings is not asked: released writers are wrong there.
fn has_no_nan(plan: &ChunkPlan, pages: Pages<'_>, fold: &LeafFold) -> Result<bool, ChunkFault> {
    let mut has_nan = None;
    for page in pages {
        let page = page?;
        match page.content {
            PageContent::Index => {}
            PageContent::Dictionary { values, encoding } if has_nan.is_none() => {
                has_nan = Some(read_dictionary(plan, &page, (values, encoding), fold)?.has_nan());
            }
            PageContent::Data(data) if has_nan == Some(false) && is_numbers(data.encoding) => {}
            PageContent::Dictionary { .. } | PageContent::Data(_) => return Ok(false),
        }
    }
    Ok(true)
}

fn is_numbers(encoding: i32) -> bool {
    matches!(encoding, PLAIN_DICTIONARY | RUNS_DICTIONARY)
}

fn read_dictionary<'a>(
    plan: &ChunkPlan,
    page: &Page<'a>,
    (entries, encoding): (i32, i32),
    fold: &LeafFold,
) -> Result<Dictionary<'a>, ChunkFault> {
    // PLAIN, or the older name of the same.
    if !matches!(encoding, 0 | PLAIN_DICTIONARY) {
        return Err(ChunkFault::UnsupportedEncoding(encoding));
    }
    Dictionary::of(plan.codec.decompress(page.body, page.uncompressed_bytes)?, entries, fold)
}

/// Reads a page of values and returns how many rows begin in it.
fn read_page(
    plan: &ChunkPlan,
    page: &Page<'_>,
    data: DataPage,
    dictionary: Option<&mut Dictionary<'_>>,
    fold: &mut LeafFold,
) -> Result<u64, ChunkFault> {
    let values = u64::try_from(data.values).unwrap_or(0);
    let stored = match data.levels {
        LevelLayout::Within { .. } => plan.codec.decompress(page.body, page.uncompressed_bytes)?,
        LevelLayout::Beside { .. } => Cow::Borrowed(page.body),
    };
    let mut reader = Reader::new(&stored);
    let Slots { rows, present } = read_levels(&mut reader, data.levels, values, fold.leaf())?;
    let bytes = match data.levels {
        LevelLayout::Beside { compressed: true, .. } => {
            let levels_bytes = page.body.len() - reader.rest().len();
            let size = page.uncompressed_bytes.checked_sub(levels_bytes).ok_or(ChunkFault::Levels)?;
            plan.codec.decompress(reader.rest(), size)?
        }
        LevelLayout::Beside { compressed: false, .. } | LevelLayout::Within { .. } => Cow::Borrowed(reader.rest()),
    };
    fold.add_slots(values, values.saturating_sub(present));
    if is_numbers(data.encoding) {
        let dictionary = if present == 0 { dictionary } else { Some(dictionary.ok_or(ChunkFault::NoDictionary)?) };
        dictionary.map_or(Ok(()), |dictionary| dictionary.read_page(&bytes, present, fold))?;
    } else {
        read_values(&bytes, data.encoding, present, fold.stored(), |value| fold.add(value, 1))?;
    }
    Ok(rows)
}
