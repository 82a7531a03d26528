//! Footers made by hand, for tests: what no writer would write as well as what all write.

use super::annotation::Annotation;
use super::file_schema::FileLeaf;
use super::leaf_type::{LeafType, StoredType};

/// An optional leaf at the top of the schema.
pub(super) fn test_leaf(stored: StoredType, annotation: Annotation) -> FileLeaf {
    let LeafType { column_type, ordered } = LeafType::of(stored, annotation);
    FileLeaf {
        path: vec!["x".to_owned()],
        field_id: None,
        group_ids: Vec::new(),
        column_type,
        repeated: false,
        stored,
        ordered,
        nullable: true,
        annotation,
        max_definition: 1,
        max_repetition: 0,
    }
}

/// A schema element. The defaults are those of an optional column.
#[derive(Clone, Debug)]
pub(super) struct TestElement {
    pub(super) name: String,
    pub(super) physical: Option<i32>,
    pub(super) type_length: Option<i32>,
    pub(super) repetition: Option<i32>,
    pub(super) children: Option<i32>,
    pub(super) converted: Option<i32>,
    pub(super) scale: Option<i32>,
    pub(super) precision: Option<i32>,
    pub(super) field_id: Option<i32>,
    /// The member of the union `LogicalType`, one that has no parameters.
    pub(super) logical: Option<i16>,
}

pub(super) const REQUIRED: i32 = 0;
pub(super) const REPEATED: i32 = 2;

pub(super) const INT32: i32 = 1;
pub(super) const INT64: i32 = 2;
pub(super) const INT96: i32 = 3;
pub(super) const DOUBLE: i32 = 5;
pub(super) const BYTE_ARRAY: i32 = 6;
pub(super) const FIXED: i32 = 7;

impl TestElement {
    pub(super) fn leaf(name: &str, physical: i32) -> Self {
        Self { physical: Some(physical), ..Self::group(name, None) }
    }

    pub(super) fn group(name: &str, children: Option<i32>) -> Self {
        Self {
            name: name.to_owned(),
            physical: None,
            type_length: None,
            repetition: Some(1),
            children,
            converted: None,
            scale: None,
            precision: None,
            field_id: None,
            logical: None,
        }
    }

    pub(super) fn id(self, field_id: i32) -> Self {
        Self { field_id: Some(field_id), ..self }
    }

    pub(super) fn repetition(self, repetition: i32) -> Self {
        Self { repetition: Some(repetition), ..self }
    }

    pub(super) fn converted(self, converted: i32) -> Self {
        Self { converted: Some(converted), ..self }
    }

    pub(super) fn logical(self, member: i16) -> Self {
        Self { logical: Some(member), ..self }
    }

    pub(super) fn length(self, length: i32) -> Self {
        Self { type_length: Some(length), ..self }
    }

    pub(super) fn decimal(self, precision: i32, scale: i32) -> Self {
        Self { precision: Some(precision), scale: Some(scale), ..self.converted(5) }
    }
}

/// A column chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct TestChunk {
    pub(super) file_path: Option<String>,
    pub(super) encrypted: bool,
    pub(super) without_metadata: bool,
    pub(super) physical: i32,
    pub(super) path: Vec<String>,
    pub(super) num_values: i64,
    pub(super) min_value: Option<Vec<u8>>,
    pub(super) max_value: Option<Vec<u8>>,
    pub(super) deprecated_max: Option<Vec<u8>>,
    pub(super) null_count: Option<i64>,
    pub(super) nan_count: Option<i64>,
    /// Where its bytes begin and how many there are.
    pub(super) place: Option<(i64, i64)>,
}

impl TestChunk {
    /// Of a column at the top of the schema.
    pub(super) fn of(name: &str, physical: i32, num_values: i64) -> Self {
        Self::at(&[name], physical, num_values)
    }

    pub(super) fn at(path: &[&str], physical: i32, num_values: i64) -> Self {
        let path = path.iter().map(|name| (*name).to_owned()).collect();
        Self { physical, path, num_values, ..Self::default() }
    }

    pub(super) fn bounds(self, min: &[u8], max: &[u8]) -> Self {
        Self { min_value: Some(min.to_vec()), max_value: Some(max.to_vec()), ..self }
    }

    pub(super) fn nulls(self, null_count: i64) -> Self {
        Self { null_count: Some(null_count), ..self }
    }

    pub(super) fn placed(self, start: i64, length: i64) -> Self {
        Self { place: Some((start, length)), ..self }
    }

    pub(super) fn nans(self, nan_count: i64) -> Self {
        Self { nan_count: Some(nan_count), ..self }
    }
}

/// A footer.
#[derive(Clone, Debug)]
pub(super) struct TestFooter {
    pub(super) elements: Vec<TestElement>,
    pub(super) num_rows: i64,
    pub(super) row_groups: Vec<(i64, Vec<TestChunk>)>,
    pub(super) created_by: Option<String>,
    /// The members of the union `ColumnOrder`, one for each leaf.
    pub(super) orders: Option<Vec<i16>>,
}

impl TestFooter {
    /// A file with these fields at the top, no row groups, the orders of the types, and a writer that is trusted.
    pub(super) fn new(fields: i32, elements: Vec<TestElement>) -> Self {
        let leaves = elements.iter().filter(|element| element.physical.is_some()).count();
        let root = TestElement { repetition: None, ..TestElement::group("root", Some(fields)) };
        Self {
            elements: [vec![root], elements].concat(),
            num_rows: 0,
            row_groups: Vec::new(),
            created_by: Some("parquet-mr version 1.17.0 (build x)".to_owned()),
            orders: Some(vec![1; leaves]),
        }
    }

    /// A file of leaves only.
    pub(super) fn flat(leaves: Vec<TestElement>) -> Self {
        Self::new(i32::try_from(leaves.len()).unwrap(), leaves)
    }

    pub(super) fn row_group(mut self, rows: i64, chunks: Vec<TestChunk>) -> Self {
        self.num_rows += rows;
        self.row_groups.push((rows, chunks));
        self
    }

    pub(super) fn orders(self, orders: &[i16]) -> Self {
        Self { orders: Some(orders.to_vec()), ..self }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.i64(1, 2);
        writer.list(2, self.elements.len(), |writer, index| write_element(writer, &self.elements[index]));
        writer.i64(3, self.num_rows);
        writer.list(4, self.row_groups.len(), |writer, index| write_row_group(writer, &self.row_groups[index]));
        if let Some(created_by) = &self.created_by {
            writer.binary(6, created_by.as_bytes());
        }
        if let Some(orders) = &self.orders {
            writer.list(7, orders.len(), |writer, index| writer.structure(orders[index], |_| {}));
        }
        writer.bytes.push(0);
        writer.bytes
    }
}

fn write_element(writer: &mut Writer, element: &TestElement) {
    writer.optional(1, element.physical);
    writer.optional(2, element.type_length);
    writer.optional(3, element.repetition);
    writer.binary(4, element.name.as_bytes());
    writer.optional(5, element.children);
    writer.optional(6, element.converted);
    writer.optional(7, element.scale);
    writer.optional(8, element.precision);
    writer.optional(9, element.field_id);
    if let Some(member) = element.logical {
        writer.structure(10, |writer| writer.structure(member, |_| {}));
    }
}

fn write_row_group(writer: &mut Writer, (rows, chunks): &(i64, Vec<TestChunk>)) {
    writer.list(1, chunks.len(), |writer, index| write_chunk(writer, &chunks[index]));
    writer.i64(2, 0);
    writer.i64(3, *rows);
}

fn write_chunk(writer: &mut Writer, chunk: &TestChunk) {
    if let Some(path) = &chunk.file_path {
        writer.binary(1, path.as_bytes());
    }
    writer.i64(2, 0);
    if !chunk.without_metadata {
        writer.structure(3, |writer| write_metadata(writer, chunk));
    }
    if chunk.encrypted {
        writer.structure(8, |writer| writer.structure(1, |_| {}));
    }
}

fn write_metadata(writer: &mut Writer, chunk: &TestChunk) {
    writer.i64(1, chunk.physical.into());
    writer.strings(3, &chunk.path);
    writer.i64(5, chunk.num_values);
    if let Some((start, length)) = chunk.place {
        for (id, value) in [(4, 0), (7, length), (9, start)] {
            writer.i64(id, value);
        }
    }
    writer.structure(12, |writer| {
        for (id, bytes) in [(1, &chunk.deprecated_max), (5, &chunk.max_value), (6, &chunk.min_value)] {
            if let Some(bytes) = bytes {
                writer.binary(id, bytes);
            }
        }
        for (id, count) in [(3, chunk.null_count), (9, chunk.nan_count)] {
            if let Some(count) = count {
                writer.i64(id, count);
            }
        }
    });
}

/// Writes thrift's compact protocol, with every field id in full.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
            value >>= 7;
        }
        self.bytes.push(u8::try_from(value).unwrap());
    }

    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    fn header(&mut self, id: i16, code: u8) {
        self.bytes.push(code);
        self.zigzag(id.into());
    }

    pub(super) fn i64(&mut self, id: i16, value: i64) {
        self.header(id, 6);
        self.zigzag(value);
    }

    pub(super) fn optional(&mut self, id: i16, value: Option<i32>) {
        if let Some(value) = value {
            self.header(id, 5);
            self.zigzag(value.into());
        }
    }

    fn binary(&mut self, id: i16, bytes: &[u8]) {
        self.header(id, 8);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn structure(&mut self, id: i16, write: impl Fn(&mut Self)) {
        self.header(id, 12);
        write(self);
        self.bytes.push(0);
    }

    fn list_header(&mut self, id: i16, count: usize, code: u8) {
        self.header(id, 9);
        self.bytes.push(0xf0 | code);
        self.varint(count as u64);
    }

    /// A list of structs.
    fn list(&mut self, id: i16, count: usize, write: impl Fn(&mut Self, usize)) {
        self.list_header(id, count, 12);
        for index in 0..count {
            write(self, index);
            self.bytes.push(0);
        }
    }

    fn strings(&mut self, id: i16, strings: &[String]) {
        self.list_header(id, strings.len(), 8);
        for string in strings {
            self.varint(string.len() as u64);
            self.bytes.extend_from_slice(string.as_bytes());
        }
    }
}
