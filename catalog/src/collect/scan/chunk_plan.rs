//! Where the chunks of a leaf are in the file, as the footer says and the size of the file allows.

use std::ops::Range;

use super::super::file_schema::FileLeaf;
use super::super::footer::Footer;
use super::super::raw_footer::{RawChunk, RawPlace};
use super::decompress::Codec;
use super::fault::{ChunkFault, ScanError};

/// How many bytes a column chunk may have as it is stored.
pub const MAX_CHUNK_BYTES: u64 = 512 * 1024 * 1024;

/// A chunk that is to be read: one that has values.
#[derive(Clone, Debug)]
pub(super) struct ChunkPlan {
    pub(super) row_group: usize,
    /// Where its bytes are in the file.
    pub(super) range: Range<u64>,
    pub(super) codec: Codec,
    /// How many values it has, nulls counted.
    pub(super) values: u64,
    /// How many rows its row group has.
    pub(super) rows: u64,
}

/// The chunks of a leaf that have values, in the order of the row groups.
pub(super) fn plan_chunks(footer: &Footer<'_>, leaf: usize, size_bytes: u64) -> Result<Vec<ChunkPlan>, ScanError> {
    let column = || footer.leaves().get(leaf).map(FileLeaf::dotted_path).unwrap_or_default();
    let (mut plans, mut bytes): (Vec<ChunkPlan>, u64) = (Vec::new(), 0);
    for (row_group, (chunk, rows)) in footer.chunks_of(leaf).zip(footer.row_group_rows()).enumerate() {
        let plan = plan_chunk(chunk, size_bytes).and_then(|plan| {
            let Some((range, codec, values)) = plan else { return Ok(None) };
            bytes = bytes.saturating_add(range.end - range.start);
            // Chunks that share bytes would make a small file much to read.
            if bytes > size_bytes {
                return Err(ChunkFault::Overlapping);
            }
            Ok(Some(ChunkPlan { row_group, range, codec, values, rows: *rows }))
        });
        plans.extend(plan.map_err(|fault| ScanError::Chunk { column: column(), row_group, fault })?);
    }
    match plans.first() {
        Some(first) if footer.all_chunk_bytes() > size_bytes => {
            let (row_group, fault) = (first.row_group, ChunkFault::SharedBytes);
            Err(ScanError::Chunk { column: column(), row_group, fault })
        }
        _ => Ok(plans),
    }
}

fn plan_chunk(chunk: &RawChunk<'_>, size_bytes: u64) -> Result<Option<(Range<u64>, Codec, u64)>, ChunkFault> {
    let metadata = chunk.metadata.as_ref().filter(|_| !chunk.encrypted).ok_or(ChunkFault::Encrypted)?;
    match chunk.value_count() {
        None | Some(0) => Ok(None),
        Some(values) => located(metadata.place, size_bytes).map(|(range, codec)| Some((range, codec, values))),
    }
}

fn located(place: RawPlace, size_bytes: u64) -> Result<(Range<u64>, Codec), ChunkFault> {
    let RawPlace { codec, compressed_bytes, data_page_offset, dictionary_page_offset } = place;
    let (Some(codec), Some(length), Some(data)) = (codec, compressed_bytes, data_page_offset) else {
        return Err(ChunkFault::NoPlace);
    };
    // Some writers give a dictionary's place where there is none: 0, or behind the data.
    let start = dictionary_page_offset.filter(|offset| (1..data).contains(offset)).unwrap_or(data);
    let range = range_within(start, length, size_bytes).ok_or(ChunkFault::OutsideFile { start, length, size_bytes })?;
    let length_bytes = range.end - range.start;
    if length_bytes > MAX_CHUNK_BYTES {
        return Err(ChunkFault::ChunkTooLong(length_bytes));
    }
    Ok((range, Codec::from_code(codec)?))
}

fn range_within(start: i64, length: i64, size_bytes: u64) -> Option<Range<u64>> {
    let (start, length) = (u64::try_from(start).ok()?, u64::try_from(length).ok()?);
    let end = start.checked_add(length)?;
    (length > 0 && end <= size_bytes).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::super::super::test_footer::{INT32, TestChunk, TestElement, TestFooter};
    use super::*;

    #[test]
    fn a_range_lies_within_the_file() {
        assert_eq!(range_within(4, 6, 10), Some(4..10));
        assert_eq!(range_within(4, 7, 10), None);
        assert_eq!(range_within(-1, 3, 10), None);
        assert_eq!(range_within(4, 0, 10), None);
        assert_eq!(range_within(4, -2, 10), None);
        assert_eq!(range_within(i64::MAX, i64::MAX, u64::MAX), Some(0x7fff_ffff_ffff_ffff..0xffff_ffff_ffff_fffe));
    }

    fn place(codec: i32, data: i64, dictionary: Option<i64>, length: i64) -> RawPlace {
        RawPlace {
            codec: Some(codec),
            compressed_bytes: Some(length),
            data_page_offset: Some(data),
            dictionary_page_offset: dictionary,
        }
    }

    fn check(place: RawPlace, expected: &Result<Range<u64>, ChunkFault>) {
        assert_eq!(&located(place, 1 << 40).map(|(range, _)| range), expected);
    }

    #[test]
    fn a_chunk_begins_with_its_dictionary() {
        check(place(0, 50, Some(20), 60), &Ok(20..80));
        check(place(0, 50, Some(0), 60), &Ok(50..110));
        check(place(0, 50, Some(70), 60), &Ok(50..110));
        check(place(0, 50, None, 60), &Ok(50..110));
    }

    #[test]
    fn a_chunk_has_a_codec_that_is_known() {
        check(place(3, 50, None, 60), &Err(ChunkFault::UnsupportedCodec(3)));
        check(RawPlace { codec: None, ..place(0, 50, None, 60) }, &Err(ChunkFault::NoPlace));
    }

    #[test]
    fn a_chunk_has_only_so_many_bytes() {
        let length = MAX_CHUNK_BYTES.cast_signed();
        check(place(0, 4, None, length), &Ok(4..MAX_CHUNK_BYTES + 4));
        check(place(0, 4, None, length + 1), &Err(ChunkFault::ChunkTooLong(MAX_CHUNK_BYTES + 1)));
    }

    /// The ranges of the chunks of a column of three row groups, each at a place or without values.
    fn ranges(places: [Option<(i64, i64)>; 3]) -> Result<Vec<Range<u64>>, String> {
        let file = places.into_iter().fold(TestFooter::flat(vec![TestElement::leaf("x", INT32)]), |file, place| {
            let rows = i64::from(place.is_some());
            file.row_group(rows, vec![TestChunk { place, ..TestChunk::of("x", INT32, rows) }])
        });
        let bytes = file.encode();
        match plan_chunks(&Footer::parse(&bytes).unwrap(), 0, 100) {
            Ok(plans) => Ok(plans.into_iter().map(|plan| plan.range).collect()),
            Err(error) => Err(format!("{error}: {}", std::error::Error::source(&error).unwrap())),
        }
    }

    #[test]
    fn a_chunk_without_values_is_not_read() {
        assert_eq!(ranges([Some((4, 6)), None, Some((10, 90))]), Ok(vec![4..10, 10..100]));
    }

    #[test]
    fn chunks_that_share_bytes_are_refused() {
        let message = "column `x` cannot be read in row group 2: the column's chunks together are longer than the file";
        assert_eq!(ranges([Some((4, 40)); 3]), Err(message.to_owned()));
    }

    #[test]
    fn chunks_of_several_columns_that_share_bytes_are_refused() {
        let planned = |size_bytes: u64| {
            let names = ["x", "y"];
            let chunks = names.map(|name| TestChunk::of(name, INT32, 1).placed(4, 60)).to_vec();
            let leaves = names.map(|name| TestElement::leaf(name, INT32)).to_vec();
            let bytes = TestFooter::flat(leaves).row_group(1, chunks).encode();
            plan_chunks(&Footer::parse(&bytes).unwrap(), 1, size_bytes).map(|plans| plans.len())
        };
        assert_eq!(planned(120).ok(), Some(1));
        assert!(matches!(planned(119), Err(ScanError::Chunk { fault: ChunkFault::SharedBytes, .. })));
    }

    #[test]
    fn a_chunk_outside_the_file_is_refused() {
        let message = "column `x` cannot be read in row group 0: it would begin at byte 60 and have 41 bytes, in a file of \
                       100";
        assert_eq!(ranges([Some((60, 41)), None, None]), Err(message.to_owned()));
    }

    #[test]
    fn an_encrypted_chunk_is_refused() {
        let chunk = TestChunk { encrypted: true, ..TestChunk::of("x", INT32, 1).placed(4, 6) };
        let bytes = TestFooter::flat(vec![TestElement::leaf("x", INT32)]).row_group(1, vec![chunk]).encode();
        let error = plan_chunks(&Footer::parse(&bytes).unwrap(), 0, 100).unwrap_err();
        assert!(matches!(error, ScanError::Chunk { fault: ChunkFault::Encrypted, .. }));
    }
}
