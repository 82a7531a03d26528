//! The bytes of a chunk as its pages, each checked before anything of it is decoded.

use super::super::thrift::Reader;
use super::fault::ChunkFault;
use super::page_header::{DataPage, MAX_PAGE_BYTES, PageContent, PageHeader};

/// A page whose sizes fit, and whose bytes are those that its checksum was made of, if it has one.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) content: PageContent,
    pub(super) uncompressed_bytes: usize,
    pub(super) body: &'a [u8],
}

/// The pages of a chunk, until they have held as many values as the footer says. Any that follow and would add to them are an
/// error: some readers go by the bytes of a chunk and not by its count. What is no page may follow.
#[derive(Clone, Debug)]
pub(super) struct Pages<'a> {
    reader: Reader<'a>,
    values_left: u64,
}

impl<'a> Pages<'a> {
    pub(super) fn of(chunk: &'a [u8], values: u64) -> Self {
        Self { reader: Reader::new(chunk), values_left: values }
    }

    fn page(&mut self) -> Result<Page<'a>, ChunkFault> {
        if self.reader.rest().is_empty() {
            return Err(ChunkFault::ValuesMissing(self.values_left));
        }
        let header = PageHeader::read(&mut self.reader)?;
        let bytes_left = self.reader.rest().len();
        let beyond = ChunkFault::PageBeyondChunk { claimed_bytes: header.compressed_bytes, bytes_left };
        let length = usize::try_from(header.compressed_bytes).map_err(|_| beyond.clone())?;
        let body = self.reader.take(length).map_err(|_| beyond)?;
        let uncompressed_bytes = usize::try_from(header.uncompressed_bytes)
            .ok()
            .filter(|bytes| *bytes <= MAX_PAGE_BYTES)
            .ok_or(ChunkFault::PageTooLong(header.uncompressed_bytes))?;
        if header.checksum.is_some_and(|checksum| checksum.cast_unsigned() != crc32(body)) {
            return Err(ChunkFault::Checksum);
        }
        if let PageContent::Data(page) = header.content {
            let too_many = ChunkFault::PageValues { claimed: page.values, values_left: self.values_left };
            let values = u64::try_from(page.values).map_err(|_| too_many.clone())?;
            self.values_left = self.values_left.checked_sub(values).ok_or(too_many)?;
        }
        Ok(Page { content: header.content, uncompressed_bytes, body })
    }

    /// What is wrong with what follows the last value.
    fn surplus(&mut self) -> Option<ChunkFault> {
        while let Ok(header) = PageHeader::read(&mut self.reader) {
            match header.content {
                PageContent::Data(DataPage { values: 0, .. }) | PageContent::Index => {}
                PageContent::Data(DataPage { values, .. }) => {
                    return Some(ChunkFault::PageValues { claimed: values, values_left: 0 });
                }
                PageContent::Dictionary(_) => return Some(ChunkFault::LateDictionary),
            }
            self.reader.take(usize::try_from(header.compressed_bytes).ok()?).ok()?;
        }
        None
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

impl<'a> Iterator for Pages<'a> {
    type Item = Result<Page<'a>, ChunkFault>;

    /// After an error the rest means nothing.
    fn next(&mut self) -> Option<Self::Item> {
        if self.values_left > 0 { Some(self.page()) } else { self.surplus().map(Err) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::test_footer::Writer;
    use super::*;

    /// A data page of this many values whose body is `body`; every number must be below 64, to take a byte.
    fn page(values: u8, claimed_bytes: u8, body: &[u8]) -> Vec<u8> {
        let header =
            [0x15, 0, 0x15, 0, 0x15, 2 * claimed_bytes, 0x2c, 0x15, 2 * values, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        [&header[..], body].concat()
    }

    fn walk(chunk: &[u8], values: u64) -> Result<usize, ChunkFault> {
        Pages::of(chunk, values).map(|page| page.map(|page| page.body.len())).sum()
    }

    #[test]
    fn pages_are_walked_until_all_values_are_there() {
        let chunk = [page(2, 3, b"abc"), page(1, 2, b"de")].concat();
        assert_eq!(walk(&chunk, 3), Ok(5));
    }

    #[test]
    fn what_adds_no_values_may_follow_the_last_one() {
        for rest in [vec![0; 7], b"rest".to_vec(), page(0, 2, b"de")] {
            assert_eq!(walk(&[page(2, 3, b"abc"), rest].concat(), 2), Ok(3));
        }
    }

    #[test]
    fn a_page_behind_the_last_value_is_refused() {
        let follows = |rest: &[Vec<u8>]| walk(&[page(2, 3, b"abc"), rest.concat()].concat(), 2);
        let surplus = Err(ChunkFault::PageValues { claimed: 1, values_left: 0 });
        assert_eq!(follows(&[page(1, 2, b"de")]), surplus);
        assert_eq!(follows(&[page(0, 2, b"de"), page(1, 0, b"")]), surplus);
        assert_eq!(follows(&[page(1, 9, b"de")]), surplus);
        let dictionary = vec![0x15, 4, 0x15, 0, 0x15, 0, 0x4c, 0x15, 2, 0x15, 0, 0, 0];
        assert_eq!(follows(&[dictionary]), Err(ChunkFault::LateDictionary));
    }

    #[test]
    fn a_page_beyond_its_chunk_is_refused() {
        let error = ChunkFault::PageBeyondChunk { claimed_bytes: 4, bytes_left: 3 };
        assert_eq!(walk(&page(2, 4, b"abc"), 2), Err(error));
    }

    #[test]
    fn a_page_decompresses_into_only_so_many_bytes() {
        let claiming = |uncompressed: i32| {
            let mut writer = Writer::default();
            writer.i64(1, 0);
            writer.i64(2, uncompressed.into());
            writer.i64(3, 0);
            writer.structure(5, |page| (1..=4).for_each(|id| page.i64(id, 1)));
            writer.bytes.push(0);
            walk(&writer.bytes, 1)
        };
        let most = i32::try_from(MAX_PAGE_BYTES).unwrap();
        assert_eq!(claiming(most), Ok(0));
        assert_eq!(claiming(most + 1), Err(ChunkFault::PageTooLong(most + 1)));
        assert_eq!(claiming(-1), Err(ChunkFault::PageTooLong(-1)));
    }

    #[test]
    fn counts_that_differ_from_the_footers_are_evidence() {
        assert_eq!(walk(&page(2, 3, b"abc"), 3), Err(ChunkFault::ValuesMissing(1)));
        assert_eq!(walk(&page(2, 3, b"abc"), 1), Err(ChunkFault::PageValues { claimed: 2, values_left: 1 }));
    }

    #[test]
    fn a_page_whose_checksum_differs_is_refused() {
        // Field 4, the checksum of "abc", stands before the header of the data page.
        let mut chunk = page(2, 3, b"abc");
        let checksum = [0x15, 0x84, 0x87, 0xa2, 0xd2, 0x06];
        chunk.splice(6..7, checksum.into_iter().chain([0x1c]));
        assert_eq!(walk(&chunk, 2), Ok(3));
        *chunk.last_mut().unwrap() ^= 1;
        assert_eq!(walk(&chunk, 2), Err(ChunkFault::Checksum));
    }
}
