//! A Parquet footer as it is written: the fields that Prunus needs, decoded and not yet believed.

use super::annotation::{Annotation, from_converted_type, read_logical_type};
use super::thrift::{Kind, Reader, ThriftError};

/// The most schema elements (columns and groups) that a file may have.
pub const MAX_SCHEMA_ELEMENTS: usize = 100_000;
/// The most row groups that a file may have.
pub const MAX_ROW_GROUPS: usize = 100_000;
/// The most column chunks, over all row groups, that a file may have.
pub const MAX_COLUMN_CHUNKS: usize = 1_000_000;

/// The struct `FileMetaData`.
#[derive(Debug, Default)]
pub(super) struct RawFooter<'a> {
    pub(super) schema: Vec<RawElement<'a>>,
    pub(super) num_rows: i64,
    pub(super) row_groups: Vec<RawRowGroup>,
    /// The chunks of all row groups, one row group after the other.
    pub(super) chunks: Vec<RawChunk<'a>>,
    pub(super) created_by: Option<&'a str>,
    /// Empty if the file does not say.
    pub(super) column_orders: Vec<ColumnOrder>,
}

/// The struct `SchemaElement`.
#[derive(Debug)]
pub(super) struct RawElement<'a> {
    pub(super) name: &'a str,
    pub(super) physical_type: Option<i32>,
    pub(super) type_length: Option<i32>,
    pub(super) repetition: Option<i32>,
    pub(super) children: Option<i32>,
    pub(super) field_id: Option<i32>,
    pub(super) annotation: Annotation,
}

/// The struct `RowGroup`.
#[derive(Debug)]
pub(super) struct RawRowGroup {
    pub(super) num_rows: i64,
    pub(super) chunks: usize,
}

/// The struct `ColumnChunk`.
#[derive(Debug, Default)]
pub(super) struct RawChunk<'a> {
    pub(super) file_path: Option<&'a [u8]>,
    pub(super) encrypted: bool,
    pub(super) metadata: Option<RawChunkMetadata<'a>>,
}

/// The struct `ColumnMetaData`.
#[derive(Debug)]
pub(super) struct RawChunkMetadata<'a> {
    pub(super) physical_type: i32,
    path: Reader<'a>,
    pub(super) num_values: i64,
    pub(super) statistics: RawStatistics<'a>,
    pub(super) place: RawPlace,
}

/// Where the pages of a chunk are and how they are compressed: what only a reader of the data needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RawPlace {
    pub(super) codec: Option<i32>,
    pub(super) compressed_bytes: Option<i64>,
    pub(super) data_page_offset: Option<i64>,
    pub(super) dictionary_page_offset: Option<i64>,
}

/// The struct `Statistics`. Exactness flags and distinct counts are not read: released writers get them wrong.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RawStatistics<'a> {
    pub(super) min_value: Option<&'a [u8]>,
    pub(super) max_value: Option<&'a [u8]>,
    /// The deprecated fields never bound anything; they only speak against a count.
    pub(super) deprecated_min: Option<&'a [u8]>,
    pub(super) deprecated_max: Option<&'a [u8]>,
    pub(super) null_count: Option<i64>,
    pub(super) nan_count: Option<i64>,
}

/// The union `ColumnOrder`: in which order the bounds of a column are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnOrder {
    /// The order of the column's type.
    Type,
    /// Floats by the total order of IEEE 754.
    TotalFloat,
    /// INT96 timestamps by day, then by nanosecond.
    Int96Timestamp,
    /// One that is newer than this program, or none.
    Unknown,
}

impl RawChunkMetadata<'_> {
    /// Whether the chunk says that it belongs to the column of this path.
    pub(super) fn is_of(&self, path: &[String]) -> Result<bool, ThriftError> {
        let mut names = path.iter();
        let mut same = true;
        let mut reader = self.path;
        reader.list(Kind::List, |reader, element| {
            let name = reader.binary(element)?;
            same &= names.next().is_some_and(|expected| expected.as_bytes() == name);
            Ok(())
        })?;
        Ok(same && names.next().is_none())
    }
}

impl<'a> RawChunk<'a> {
    /// How many values the chunk has, nulls counted; `None` if that is encrypted.
    pub(super) fn value_count(&self) -> Option<u64> {
        self.metadata.as_ref().and_then(|metadata| u64::try_from(metadata.num_values).ok())
    }

    /// Its statistics; those of an encrypted chunk are not in the footer, whatever is.
    pub(super) fn statistics(&self) -> RawStatistics<'a> {
        self.metadata.as_ref().filter(|_| !self.encrypted).map(|metadata| metadata.statistics).unwrap_or_default()
    }
}

/// What was being read when it turned out to be damaged.
pub(super) type Damage = (&'static str, ThriftError);

impl<'a> RawFooter<'a> {
    /// Decodes a footer. What follows it (the signature of a file with encrypted columns) is left alone.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Damage> {
        let mut footer = Self::default();
        let mut num_rows = None;
        let mut reading = "the footer";
        Reader::new(bytes)
            .fields(|reader, field| {
                reading = part_name(field.id);
                match field.id {
                    2 => footer.schema = read_schema(reader, field.kind)?,
                    3 => num_rows = Some(reader.i64(field.kind)?),
                    4 => (footer.row_groups, footer.chunks) = read_row_groups(reader, field.kind)?,
                    6 => footer.created_by = std::str::from_utf8(reader.binary(field.kind)?).ok(),
                    7 => footer.column_orders = read_column_orders(reader, field.kind)?,
                    _ => reader.skip(field.kind)?,
                }
                reading = "the footer";
                Ok(())
            })
            .map_err(|error| (reading, error))?;
        footer.num_rows = num_rows.ok_or(("the footer", ThriftError::MissingField("num_rows")))?;
        Ok(footer)
    }
}

fn part_name(field_id: i16) -> &'static str {
    match field_id {
        2 => "the schema",
        3 => "the row count",
        4 => "the row groups",
        6 => "the writer's name",
        7 => "the column orders",
        _ => "the footer",
    }
}

/// Adds to a list that may not grow beyond `max`.
fn push<T>(list: &mut Vec<T>, item: T, what: &'static str, max: usize) -> Result<(), ThriftError> {
    if list.len() >= max {
        return Err(ThriftError::TooMany { what, max });
    }
    list.push(item);
    Ok(())
}

fn read_schema<'a>(reader: &mut Reader<'a>, kind: Kind) -> Result<Vec<RawElement<'a>>, ThriftError> {
    let mut elements = Vec::new();
    reader.list(kind, |reader, element| {
        push(&mut elements, read_element(reader, element)?, "schema elements", MAX_SCHEMA_ELEMENTS)
    })?;
    Ok(elements)
}

fn read_element<'a>(reader: &mut Reader<'a>, kind: Kind) -> Result<RawElement<'a>, ThriftError> {
    let (mut name, mut physical_type, mut type_length, mut repetition) = (None, None, None, None);
    let (mut children, mut converted, mut scale, mut precision) = (None, None, None, None);
    let (mut field_id, mut logical) = (None, None);
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => physical_type = Some(reader.i32(field.kind)?),
            2 => type_length = Some(reader.i32(field.kind)?),
            3 => repetition = Some(reader.i32(field.kind)?),
            4 => name = Some(reader.text(field.kind)?),
            5 => children = Some(reader.i32(field.kind)?),
            6 => converted = Some(reader.i32(field.kind)?),
            7 => scale = Some(reader.i32(field.kind)?),
            8 => precision = Some(reader.i32(field.kind)?),
            9 => field_id = Some(reader.i32(field.kind)?),
            10 => logical = Some(read_logical_type(reader, field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    let annotation = match (logical, converted) {
        (Some(annotation), _) => annotation,
        (None, Some(code)) => from_converted_type(code, precision, scale),
        (None, None) => Annotation::Plain,
    };
    let name = name.ok_or(ThriftError::MissingField("name"))?;
    Ok(RawElement { name, physical_type, type_length, repetition, children, field_id, annotation })
}

type RowGroups<'a> = (Vec<RawRowGroup>, Vec<RawChunk<'a>>);

fn read_row_groups<'a>(reader: &mut Reader<'a>, kind: Kind) -> Result<RowGroups<'a>, ThriftError> {
    let (mut row_groups, mut chunks) = (Vec::new(), Vec::new());
    reader.list(kind, |reader, element| {
        let row_group = read_row_group(reader, element, &mut chunks)?;
        push(&mut row_groups, row_group, "row groups", MAX_ROW_GROUPS)
    })?;
    Ok((row_groups, chunks))
}

fn read_row_group<'a>(
    reader: &mut Reader<'a>,
    kind: Kind,
    chunks: &mut Vec<RawChunk<'a>>,
) -> Result<RawRowGroup, ThriftError> {
    let chunks_before = chunks.len();
    let (mut num_rows, mut has_columns) = (None, false);
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => {
                has_columns = true;
                reader.list(field.kind, |reader, element| {
                    push(chunks, read_chunk(reader, element)?, "column chunks", MAX_COLUMN_CHUNKS)
                })?;
            }
            3 => num_rows = Some(reader.i64(field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    if !has_columns {
        return Err(ThriftError::MissingField("columns"));
    }
    let num_rows = num_rows.ok_or(ThriftError::MissingField("num_rows"))?;
    Ok(RawRowGroup { num_rows, chunks: chunks.len() - chunks_before })
}

fn read_chunk<'a>(reader: &mut Reader<'a>, kind: Kind) -> Result<RawChunk<'a>, ThriftError> {
    let mut chunk = RawChunk::default();
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => chunk.file_path = Some(reader.binary(field.kind)?),
            3 => chunk.metadata = Some(read_chunk_metadata(reader, field.kind)?),
            8 | 9 => {
                chunk.encrypted = true;
                reader.skip(field.kind)?;
            }
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    Ok(chunk)
}

fn read_chunk_metadata<'a>(reader: &mut Reader<'a>, kind: Kind) -> Result<RawChunkMetadata<'a>, ThriftError> {
    let (mut physical_type, mut path, mut num_values) = (None, None, None);
    let (mut statistics, mut place) = (RawStatistics::default(), RawPlace::default());
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => physical_type = Some(reader.i32(field.kind)?),
            3 => {
                path = Some(*reader);
                reader.skip(field.kind)?;
            }
            4 => place.codec = Some(reader.i32(field.kind)?),
            5 => num_values = Some(reader.i64(field.kind)?),
            7 => place.compressed_bytes = Some(reader.i64(field.kind)?),
            9 => place.data_page_offset = Some(reader.i64(field.kind)?),
            11 => place.dictionary_page_offset = Some(reader.i64(field.kind)?),
            12 => statistics = read_statistics(reader, field.kind)?,
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    Ok(RawChunkMetadata {
        physical_type: physical_type.ok_or(ThriftError::MissingField("type"))?,
        path: path.ok_or(ThriftError::MissingField("path_in_schema"))?,
        num_values: num_values.ok_or(ThriftError::MissingField("num_values"))?,
        statistics,
        place,
    })
}

fn read_statistics<'a>(reader: &mut Reader<'a>, kind: Kind) -> Result<RawStatistics<'a>, ThriftError> {
    let mut statistics = RawStatistics::default();
    reader.nested(kind, |reader, field| {
        match field.id {
            1 => statistics.deprecated_max = Some(reader.binary(field.kind)?),
            2 => statistics.deprecated_min = Some(reader.binary(field.kind)?),
            3 => statistics.null_count = Some(reader.i64(field.kind)?),
            5 => statistics.max_value = Some(reader.binary(field.kind)?),
            6 => statistics.min_value = Some(reader.binary(field.kind)?),
            9 => statistics.nan_count = Some(reader.i64(field.kind)?),
            _ => reader.skip(field.kind)?,
        }
        Ok(())
    })?;
    Ok(statistics)
}

fn read_column_orders(reader: &mut Reader<'_>, kind: Kind) -> Result<Vec<ColumnOrder>, ThriftError> {
    let mut orders = Vec::new();
    reader.list(kind, |reader, element| {
        push(&mut orders, read_column_order(reader, element)?, "column orders", MAX_SCHEMA_ELEMENTS)
    })?;
    Ok(orders)
}

fn read_column_order(reader: &mut Reader<'_>, kind: Kind) -> Result<ColumnOrder, ThriftError> {
    let mut order = None;
    let mut members = 0;
    reader.nested(kind, |reader, field| {
        members += 1;
        order = match field.id {
            1 => Some(ColumnOrder::Type),
            2 => Some(ColumnOrder::TotalFloat),
            3 => Some(ColumnOrder::Int96Timestamp),
            _ => None,
        };
        reader.skip(field.kind)
    })?;
    Ok(order.filter(|_| members == 1).unwrap_or(ColumnOrder::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with this many row groups, each with this many chunks that say nothing.
    fn footer(row_groups: usize, chunks: usize) -> Vec<u8> {
        let list = |field: u8, count: usize, items: &[u8]| {
            let count = u32::try_from(count).unwrap();
            let sizes = (0..5).map(|place| u8::try_from((count >> (7 * place)) & 0x7f).unwrap());
            let sizes: Vec<u8> =
                sizes.enumerate().map(|(place, bits)| if place < 4 { bits | 0x80 } else { bits }).collect();
            [&[field, 0xfc][..], &sizes, items].concat()
        };
        let row_group = [list(0x19, chunks, &vec![0; chunks]), vec![0x26, 0x00, 0x00]].concat();
        [vec![0x36, 0x00], list(0x19, row_groups, &row_group.repeat(row_groups)), vec![0x00]].concat()
    }

    fn check(bytes: &[u8], expected: Result<usize, ThriftError>) {
        let read = RawFooter::read(bytes).map(|footer| footer.row_groups.len() + footer.chunks.len());
        assert_eq!(read, expected.map_err(|error| ("the row groups", error)));
    }

    #[test]
    fn more_row_groups_than_the_limit_are_refused() {
        check(&footer(MAX_ROW_GROUPS, 0), Ok(MAX_ROW_GROUPS));
        let error = ThriftError::TooMany { what: "row groups", max: MAX_ROW_GROUPS };
        check(&footer(MAX_ROW_GROUPS + 1, 0), Err(error));
    }

    #[test]
    fn more_column_chunks_than_the_limit_are_refused() {
        check(&footer(10, MAX_COLUMN_CHUNKS / 10), Ok(MAX_COLUMN_CHUNKS + 10));
        let error = ThriftError::TooMany { what: "column chunks", max: MAX_COLUMN_CHUNKS };
        check(&footer(1, MAX_COLUMN_CHUNKS + 1), Err(error));
    }

    #[test]
    fn a_footer_without_its_row_count_is_damaged() {
        let missing = |field| Err(("the footer", ThriftError::MissingField(field)));
        assert_eq!(RawFooter::read(&[0x00]).map(|footer| footer.num_rows), missing("num_rows"));
    }

    #[test]
    fn a_column_order_from_the_future_is_unknown() {
        use ColumnOrder::{Int96Timestamp, TotalFloat, Type, Unknown};
        let mut orders = Vec::new();
        for member in [&[0x1c, 0x00, 0x00][..], &[0x2c, 0x00, 0x00], &[0x3c, 0x00, 0x00], &[0x4c, 0x00, 0x00], &[0x00]]
        {
            orders.push(read_column_order(&mut Reader::new(member), Kind::Struct).unwrap());
        }
        assert_eq!(orders, [Type, TotalFloat, Int96Timestamp, Unknown, Unknown]);
    }
}
