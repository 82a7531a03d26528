//! The header of a page as it is written, decoded and not yet believed.

use super::super::thrift::{Kind, Reader, ThriftError};
use super::fault::ChunkFault;

/// How many bytes a page may have when it is decompressed.
pub const MAX_PAGE_BYTES: usize = 256 * 1024 * 1024;

/// The struct `PageHeader`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    pub(super) compressed_bytes: i32,
    pub(super) uncompressed_bytes: i32,
    /// The CRC-32 of the page's bytes as they are stored.
    pub(super) checksum: Option<i32>,
    pub(super) content: PageContent,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageContent {
    Dictionary(DictionaryPage),
    Data(DataPage),
    /// Nothing that a reader of values needs.
    Index,
}

/// A page of the entries of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DictionaryPage {
    /// How many.
    pub(super) values: i32,
    pub(super) encoding: i32,
}

/// A page of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataPage {
    /// How many, nulls counted.
    pub(super) values: i32,
    pub(super) encoding: i32,
    pub(super) levels: LevelLayout,
}

/// Where the levels of a page are and how they are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelLayout {
    /// Before the values, compressed with them, in these encodings.
    Within { repetition: i32, definition: i32 },
    /// Before the values, so many bytes of each, never compressed; the values may be.
    Beside { repetition_bytes: i32, definition_bytes: i32, compressed: bool },
}

impl PageHeader {
    /// Decodes the header that the reader stands before.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ChunkFault> {
        let (mut kind, mut compressed, mut uncompressed, mut checksum) = (None, None, None, None);
        let (mut first_version, mut second_version, mut dictionary) = (None, None, None);
        reader.fields(|reader, field| {
            match field.id {
                1 => kind = Some(reader.i32(field.kind)?),
                2 => uncompressed = Some(reader.i32(field.kind)?),
                3 => compressed = Some(reader.i32(field.kind)?),
                4 => checksum = Some(reader.i32(field.kind)?),
                5 => first_version = Some(read_data_page(reader, field.kind)?),
                7 => dictionary = Some(read_dictionary_page(reader, field.kind)?),
                8 => second_version = Some(read_data_page_v2(reader, field.kind)?),
                _ => reader.skip(field.kind)?,
            }
            Ok(())
        })?;
        let content = match kind.ok_or(ThriftError::MissingField("type"))? {
            0 => PageContent::Data(first_version.ok_or(ThriftError::MissingField("data_page_header"))?),
            1 => PageContent::Index,
            3 => PageContent::Data(second_version.ok_or(ThriftError::MissingField("data_page_header_v2"))?),
            2 => dictionary.ok_or(ThriftError::MissingField("dictionary_page_header"))?,
            unknown => return Err(ChunkFault::UnknownPage(unknown)),
        };
        Ok(Self {
            compressed_bytes: compressed.ok_or(ThriftError::MissingField("compressed_page_size"))?,
            uncompressed_bytes: uncompressed.ok_or(ThriftError::MissingField("uncompressed_page_size"))?,
            checksum,
            content,
        })
    }
}

fn read_data_page(reader: &mut Reader<'_>, kind: Kind) -> Result<DataPage, ThriftError> {
    let (mut values, mut encoding, mut repetition, mut definition) = (None, None, None, None);
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => values = Some(reader.i32(field.kind)?),
            2 => encoding = Some(reader.i32(field.kind)?),
            3 => definition = Some(reader.i32(field.kind)?),
            4 => repetition = Some(reader.i32(field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    let levels = LevelLayout::Within {
        repetition: repetition.ok_or(ThriftError::MissingField("repetition_level_encoding"))?,
        definition: definition.ok_or(ThriftError::MissingField("definition_level_encoding"))?,
    };
    data_page(values, encoding, levels)
}

fn read_data_page_v2(reader: &mut Reader<'_>, kind: Kind) -> Result<DataPage, ThriftError> {
    let (mut values, mut encoding, mut repetition, mut definition) = (None, None, None, None);
    let mut compressed = true;
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => values = Some(reader.i32(field.kind)?),
            4 => encoding = Some(reader.i32(field.kind)?),
            5 => definition = Some(reader.i32(field.kind)?),
            6 => repetition = Some(reader.i32(field.kind)?),
            7 => compressed = Reader::boolean(field.kind)?,
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    let levels = LevelLayout::Beside {
        repetition_bytes: repetition.ok_or(ThriftError::MissingField("repetition_levels_byte_length"))?,
        definition_bytes: definition.ok_or(ThriftError::MissingField("definition_levels_byte_length"))?,
        compressed,
    };
    data_page(values, encoding, levels)
}

fn data_page(values: Option<i32>, encoding: Option<i32>, levels: LevelLayout) -> Result<DataPage, ThriftError> {
    Ok(DataPage {
        values: values.ok_or(ThriftError::MissingField("num_values"))?,
        encoding: encoding.ok_or(ThriftError::MissingField("encoding"))?,
        levels,
    })
}

fn read_dictionary_page(reader: &mut Reader<'_>, kind: Kind) -> Result<PageContent, ThriftError> {
    let (mut values, mut encoding) = (None, None);
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => values = Some(reader.i32(field.kind)?),
            2 => encoding = Some(reader.i32(field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    Ok(PageContent::Dictionary(DictionaryPage {
        values: values.ok_or(ThriftError::MissingField("num_values"))?,
        encoding: encoding.ok_or(ThriftError::MissingField("encoding"))?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<PageHeader, ChunkFault> {
        PageHeader::read(&mut Reader::new(bytes))
    }

    #[test]
    fn a_page_of_the_first_version_has_its_levels_within() {
        // Data page, 6 bytes decompressed, 5 stored: 3 values, plain, levels in runs.
        let bytes = [0x15, 0, 0x15, 12, 0x15, 10, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        let levels = LevelLayout::Within { repetition: 3, definition: 3 };
        let content = PageContent::Data(DataPage { values: 3, encoding: 0, levels });
        assert_eq!(
            read(&bytes),
            Ok(PageHeader { compressed_bytes: 5, uncompressed_bytes: 6, checksum: None, content })
        );
    }

    #[test]
    fn a_page_without_the_header_of_its_kind_is_damaged() {
        let bytes = [0x15, 4, 0x15, 12, 0x15, 10, 0];
        let missing = ThriftError::MissingField("dictionary_page_header");
        assert_eq!(read(&bytes), Err(ChunkFault::PageHeader(missing)));
    }

    #[test]
    fn the_header_of_a_page_is_that_of_its_kind() {
        // Both headers of a data page, of 3 and of 5 values.
        let within = [0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0];
        let beside = [0x3c, 0x15, 10, 0x15, 0, 0x15, 10, 0x15, 0, 0x15, 0, 0x15, 0, 0, 0];
        let values = |kind: u8| {
            let header = read(&[&[0x15, kind, 0x15, 12, 0x15, 10][..], &within, &beside].concat());
            header.map(|header| match header.content {
                PageContent::Data(data) => data.values,
                other => panic!("{other:?}"),
            })
        };
        assert_eq!((values(0), values(6)), (Ok(3), Ok(5)));
        let missing = |name| Err(ChunkFault::PageHeader(ThriftError::MissingField(name)));
        assert_eq!(read(&[&[0x15, 6, 0x15, 12, 0x15, 10][..], &within, &[0]].concat()), missing("data_page_header_v2"));
    }

    #[test]
    fn a_page_of_a_kind_from_the_future_is_an_error() {
        assert_eq!(read(&[0x15, 8, 0x15, 12, 0x15, 10, 0]), Err(ChunkFault::UnknownPage(4)));
    }
}
