//! The levels of a page: how many of its slots hold a value, and how many begin a row.

use super::super::file_schema::FileLeaf;
use super::super::thrift::Reader;
use super::bits::width_of;
use super::fault::ChunkFault;
use super::page_header::LevelLayout;
use super::runs::Runs;

/// The enum `Encoding`, for levels.
const RUNS: i32 = 3;
const BIT_PACKED: i32 = 4;

/// What the levels of a page say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slots {
    /// How many slots begin a row.
    pub(super) rows: u64,
    /// How many slots hold a value.
    pub(super) present: u64,
}

/// Levels as they are stored.
#[derive(Clone, Copy)]
enum Stored<'a> {
    /// All are 0, and none is stored.
    Nothing,
    Runs(&'a [u8]),
    /// The deprecated encoding: packed from the highest bit down.
    Packed(&'a [u8]),
}

/// Reads the levels of a page of `values` slots, which stand before its values, and leaves the reader there. Where the
/// layout puts them beside the values, the reader is over the page as it is stored.
pub(super) fn read_levels(
    reader: &mut Reader<'_>,
    layout: LevelLayout,
    values: u64,
    leaf: &FileLeaf,
) -> Result<Slots, ChunkFault> {
    let (repetition, definition) = match layout {
        LevelLayout::Within { repetition, definition } => (
            stored_within(reader, repetition, leaf.max_repetition, values)?,
            stored_within(reader, definition, leaf.max_definition, values)?,
        ),
        LevelLayout::Beside { repetition_bytes, definition_bytes, .. } => (
            stored_beside(reader, repetition_bytes, leaf.max_repetition)?,
            stored_beside(reader, definition_bytes, leaf.max_definition)?,
        ),
    };
    Ok(Slots {
        rows: count_of(0, repetition, leaf.max_repetition, values)?,
        present: count_of(leaf.max_definition, definition, leaf.max_definition, values)?,
    })
}

fn stored_within<'a>(reader: &mut Reader<'a>, encoding: i32, max: u32, values: u64) -> Result<Stored<'a>, ChunkFault> {
    if max == 0 {
        return Ok(Stored::Nothing);
    }
    match encoding {
        RUNS => {
            let length = reader.take(4).ok().and_then(|length| length.try_into().ok()).ok_or(ChunkFault::Levels)?;
            take(reader, u64::from(u32::from_le_bytes(length))).map(Stored::Runs)
        }
        BIT_PACKED => take(reader, values.saturating_mul(width_of(max).into()).div_ceil(8)).map(Stored::Packed),
        unknown => Err(ChunkFault::UnsupportedEncoding(unknown)),
    }
}

fn stored_beside<'a>(reader: &mut Reader<'a>, length: i32, max: u32) -> Result<Stored<'a>, ChunkFault> {
    let bytes = take(reader, u64::try_from(length).map_err(|_| ChunkFault::Levels)?)?;
    Ok(if max == 0 { Stored::Nothing } else { Stored::Runs(bytes) })
}

fn take<'a>(reader: &mut Reader<'a>, length: u64) -> Result<&'a [u8], ChunkFault> {
    let length = usize::try_from(length).map_err(|_| ChunkFault::Levels)?;
    reader.take(length).map_err(|_| ChunkFault::Levels)
}

/// How many of the levels are `wanted`; none may be above `max`.
fn count_of(wanted: u32, stored: Stored<'_>, max: u32, values: u64) -> Result<u64, ChunkFault> {
    let width = width_of(max);
    let mut found = 0;
    let mut add = |level: u32, count: u64| {
        found += if level == wanted { count } else { 0 };
        if level <= max { Ok(()) } else { Err(ChunkFault::Levels) }
    };
    match stored {
        Stored::Nothing => add(0, values)?,
        Stored::Runs(bytes) => {
            for run in Runs::of(bytes, width, values) {
                let (level, count) = run.map_err(|_| ChunkFault::Levels)?;
                add(level, count)?;
            }
        }
        Stored::Packed(bytes) => {
            let mut bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| u32::from(byte >> bit & 1)));
            for _ in 0..values {
                let level =
                    bits.by_ref().take(usize::try_from(width).unwrap_or(0)).fold(0, |level, bit| level << 1 | bit);
                add(level, 1)?;
            }
        }
    }
    Ok(found)
}
