//! A footer whose parts agree with each other: the schema, the row groups and their column chunks.
//!
//! A file whose counts contradict each other is refused, so that `row_count` always is what the file, its row groups and
//! every readable column of them say. A column that is encrypted below a plain footer is one of which nothing is known.

use super::file_schema::{FileLeaf, FileSchema};
use super::footer_error::FooterError;
use super::raw_footer::{ColumnOrder, RawChunk, RawFooter, RawRowGroup, RawStatistics};
use super::writer_rules::Writer;

/// The footer of a Parquet file, decoded and checked. It borrows from the bytes that it was read from.
#[derive(Debug)]
pub struct Footer<'a> {
    row_count: u64,
    row_group_rows: Vec<u64>,
    writer: Writer<'a>,
    schema: FileSchema<'a>,
    column_orders: Vec<ColumnOrder>,
    chunks: Vec<RawChunk<'a>>,
    chunk_bytes: u64,
    counts_trusted: bool,
}

impl<'a> Footer<'a> {
    /// Decodes and checks the footer that these bytes begin with: those of [`super::footer_range`].
    ///
    /// # Errors
    /// [`FooterError`] if they are damaged, or if the schema, the row groups and the chunks do not fit each other.
    pub fn parse(metadata: &'a [u8]) -> Result<Self, FooterError> {
        let raw = RawFooter::read(metadata).map_err(|(reading, cause)| FooterError::Damaged { reading, cause })?;
        let schema = FileSchema::build(&raw.schema)?;
        let (row_count, row_group_rows) = agreed_row_counts(raw.num_rows, &raw.row_groups)?;
        check_chunks(&raw, &schema.leaves)?;
        let counts_trusted = counts_are_possible(&raw.chunks, &schema.leaves);
        Ok(Self {
            row_count,
            row_group_rows,
            writer: Writer::parse(raw.created_by),
            schema,
            column_orders: raw.column_orders,
            chunk_bytes: raw.chunks.iter().map(chunk_bytes).fold(0, u64::saturating_add),
            chunks: raw.chunks,
            counts_trusted,
        })
    }

    /// How many rows the file has.
    pub fn row_count(&self) -> u64 {
        self.row_count
    }

    /// How many row groups the file has.
    pub fn row_group_count(&self) -> usize {
        self.row_group_rows.len()
    }

    /// How many rows each row group has.
    pub(super) fn row_group_rows(&self) -> &[u64] {
        &self.row_group_rows
    }

    /// The program that wrote the file, as it calls itself.
    pub fn created_by(&self) -> Option<&'a str> {
        self.writer.created_by()
    }

    /// The leaves of the schema, in the order of the file.
    pub fn leaves(&self) -> &[FileLeaf] {
        &self.schema.leaves
    }

    pub(super) fn schema(&self) -> &FileSchema<'a> {
        &self.schema
    }

    pub(super) fn writer(&self) -> &Writer<'a> {
        &self.writer
    }

    /// In which order the bounds of a leaf are meant, if the file says so.
    pub(super) fn column_order(&self, leaf: usize) -> Option<ColumnOrder> {
        self.column_orders.get(leaf).copied()
    }

    /// The chunks of a leaf, one for each row group.
    pub(super) fn chunks_of(&self, leaf: usize) -> impl Iterator<Item = &RawChunk<'a>> {
        self.chunks.iter().skip(leaf).step_by(self.schema.leaves.len().max(1))
    }

    /// How many bytes the chunks of a leaf have together, as the footer says; 0 where it does not.
    pub(crate) fn leaf_bytes(&self, leaf: usize) -> u64 {
        self.chunks_of(leaf).map(chunk_bytes).fold(0, u64::saturating_add)
    }

    /// How many bytes all chunks have together, in the same way.
    pub(super) fn all_chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// Whether no count of nulls or NaNs in the file is impossible. A writer that gets one wrong is believed in none.
    pub(super) fn counts_trusted(&self) -> bool {
        self.counts_trusted
    }
}

/// How many bytes a chunk has as it is stored, as the footer says; 0 where it does not, and where there are no values to store.
fn chunk_bytes(chunk: &RawChunk<'_>) -> u64 {
    let metadata = chunk.metadata.as_ref().filter(|metadata| metadata.num_values > 0);
    let bytes = metadata.and_then(|metadata| metadata.place.compressed_bytes);
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}

fn count(what: &'static str, count: i64) -> Result<u64, FooterError> {
    u64::try_from(count).map_err(|_| FooterError::NegativeCount { what, count })
}

/// How many rows the file has, and each of its row groups.
fn agreed_row_counts(num_rows: i64, row_groups: &[RawRowGroup]) -> Result<(u64, Vec<u64>), FooterError> {
    let file_rows = count("the row count of the file", num_rows)?;
    let rows: Vec<u64> = row_groups
        .iter()
        .map(|row_group| count("the row count of a row group", row_group.num_rows))
        .collect::<Result<_, _>>()?;
    let row_group_rows: u128 = rows.iter().copied().map(u128::from).sum();
    if u128::from(file_rows) == row_group_rows {
        Ok((file_rows, rows))
    } else {
        Err(FooterError::InconsistentRows { file_rows, row_group_rows })
    }
}

fn check_chunks(raw: &RawFooter<'_>, leaves: &[FileLeaf]) -> Result<(), FooterError> {
    let mut chunks = raw.chunks.iter();
    for (index, row_group) in raw.row_groups.iter().enumerate() {
        if row_group.chunks != leaves.len() {
            return Err(FooterError::ChunkCount { row_group: index, chunks: row_group.chunks, columns: leaves.len() });
        }
        let rows = count("the row count of a row group", row_group.num_rows)?;
        // The leaves come first: a zip that ends because of them has taken nothing from the chunks.
        for (leaf, chunk) in leaves.iter().zip(chunks.by_ref()) {
            check_chunk(chunk, leaf, RowGroup { index, rows })?;
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct RowGroup {
    index: usize,
    rows: u64,
}

fn check_chunk(chunk: &RawChunk<'_>, leaf: &FileLeaf, row_group: RowGroup) -> Result<(), FooterError> {
    let RowGroup { index, rows } = row_group;
    let column = || leaf.dotted_path();
    if let Some(path) = chunk.file_path.filter(|path| !path.is_empty()) {
        let file = String::from_utf8_lossy(path).into_owned();
        return Err(FooterError::ChunkInOtherFile { column: column(), file });
    }
    let Some(metadata) = &chunk.metadata else {
        let without = FooterError::ChunkWithoutMetadata { column: column(), row_group: index };
        return if chunk.encrypted { Ok(()) } else { Err(without) };
    };
    let of_leaf = metadata
        .is_of(&leaf.path)
        .map_err(|cause| FooterError::Damaged { reading: "the path of a column chunk", cause })?;
    if !of_leaf || metadata.physical_type != leaf.stored.code() {
        return Err(FooterError::ChunkOfOtherColumn { column: column(), row_group: index });
    }
    let values = count("the value count of a column chunk", metadata.num_values)?;
    // Where values repeat there is one slot at least for each row, an empty list's or a null's.
    let agree = if leaf.repeated { values >= rows } else { values == rows };
    if !agree {
        return Err(FooterError::InconsistentValues { column: column(), row_group: index, values, rows });
    }
    Ok(())
}

/// Whether the counts of nulls and NaNs of all columns that have a value per row could be true.
fn counts_are_possible(chunks: &[RawChunk<'_>], leaves: &[FileLeaf]) -> bool {
    leaves.iter().cycle().zip(chunks).filter(|(leaf, _)| !leaf.repeated).all(|(leaf, chunk)| {
        let Some(values) = chunk.value_count() else { return true };
        let RawStatistics { null_count, nan_count, .. } = chunk.statistics();
        let nulls_max = if leaf.nullable { values } else { 0 };
        let within =
            |count: Option<i64>, max| count.is_none_or(|count| u64::try_from(count).is_ok_and(|count| count <= max));
        within(null_count, nulls_max) && within(nan_count, values)
    })
}

#[cfg(test)]
mod tests {
    use super::super::footer_error::SchemaTreeFault;
    use super::super::test_footer::{
        BYTE_ARRAY, DOUBLE, FIXED, INT32, INT64, REPEATED, REQUIRED, TestChunk, TestElement, TestFooter,
    };
    use super::super::thrift::ThriftError;
    use super::*;

    fn sample() -> TestFooter {
        let leaves = vec![TestElement::leaf("a", INT32).id(1), TestElement::leaf("b", BYTE_ARRAY).converted(0)];
        let chunks = |rows| {
            vec![
                TestChunk::of("a", INT32, rows).bounds(&[1, 0, 0, 0], &[9, 0, 0, 0]).nulls(0),
                TestChunk::of("b", BYTE_ARRAY, rows).bounds(b"a", b"z").nulls(1),
            ]
        };
        TestFooter::flat(leaves).row_group(3, chunks(3)).row_group(4, chunks(4))
    }

    fn error(footer: &TestFooter) -> FooterError {
        Footer::parse(&footer.encode()).unwrap_err()
    }

    fn tree_fault(fields: i32, elements: Vec<TestElement>) -> SchemaTreeFault {
        match error(&TestFooter::new(fields, elements)) {
            FooterError::SchemaTree { fault } => fault,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_footer_says_what_the_file_holds() {
        let bytes = sample().encode();
        let footer = Footer::parse(&bytes).unwrap();
        assert_eq!(footer.row_count(), 7);
        assert_eq!(footer.row_group_count(), 2);
        assert_eq!(footer.created_by(), Some("parquet-mr version 1.17.0 (build x)"));
        let names: Vec<String> = footer.leaves().iter().map(FileLeaf::dotted_path).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn a_footer_that_is_cut_anywhere_is_damaged() {
        let bytes = sample().encode();
        for cut in 0..bytes.len() {
            assert!(matches!(Footer::parse(&bytes[..cut]), Err(FooterError::Damaged { .. })), "{cut}");
        }
    }

    #[test]
    fn a_footer_with_any_byte_changed_is_read_or_refused() {
        let bytes = sample().encode();
        for index in 0..bytes.len() {
            for value in 0..=u8::MAX {
                let mut changed = bytes.clone();
                changed[index] = value;
                if let Ok(footer) = Footer::parse(&changed) {
                    for leaf in 0..footer.leaves().len() {
                        footer.leaf_statistics(leaf);
                    }
                }
            }
        }
    }

    #[test]
    fn what_follows_the_footer_is_left_alone() {
        let bytes = [sample().encode(), vec![0xff; 28]].concat();
        assert!(Footer::parse(&bytes).is_ok());
    }

    #[test]
    fn a_list_bomb_is_refused() {
        // Field 2, a list of 2^31 - 1 structs.
        let bytes = [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
        let cause = ThriftError::ListTooLong { count: 0x7fff_ffff, bytes_left: 1 };
        assert_eq!(Footer::parse(&bytes).unwrap_err(), FooterError::Damaged { reading: "the schema", cause });
    }

    #[test]
    fn counts_that_contradict_each_other_are_refused() {
        let rows = TestFooter { num_rows: 8, ..sample() };
        assert_eq!(error(&rows), FooterError::InconsistentRows { file_rows: 8, row_group_rows: 7 });
        let mut values = sample();
        values.row_groups[1].1[0].num_values = 5;
        let column = "a".to_owned();
        assert_eq!(error(&values), FooterError::InconsistentValues { column, row_group: 1, values: 5, rows: 4 });
        let emptied = TestFooter { num_rows: 0, ..sample() };
        assert_eq!(error(&emptied), FooterError::InconsistentRows { file_rows: 0, row_group_rows: 7 });
    }

    #[test]
    fn a_repeated_leaf_may_have_more_values_than_rows() {
        assert_eq!(Footer::parse(&repeated(3, 50).encode()).unwrap().row_count(), 3);
        assert_eq!(Footer::parse(&repeated(3, 3).encode()).unwrap().row_count(), 3);
        assert_eq!(Footer::parse(&repeated(0, 0).encode()).unwrap().row_count(), 0);
    }

    #[test]
    fn a_repeated_leaf_with_fewer_values_than_rows_is_refused() {
        for values in [0, 2] {
            let refused = error(&repeated(3, values));
            let values = u64::try_from(values).unwrap();
            let column = "a".to_owned();
            assert_eq!(refused, FooterError::InconsistentValues { column, row_group: 0, values, rows: 3 });
        }
    }

    /// A file of one repeated leaf.
    fn repeated(rows: i64, values: i64) -> TestFooter {
        let leaves = vec![TestElement::leaf("a", INT32).repetition(REPEATED)];
        TestFooter::flat(leaves).row_group(rows, vec![TestChunk::of("a", INT32, values)])
    }

    #[test]
    fn negative_counts_are_refused() {
        let rows = TestFooter { num_rows: -1, ..sample() };
        assert!(matches!(error(&rows), FooterError::NegativeCount { count: -1, .. }));
        let mut row_group = sample();
        row_group.row_groups[0].0 = -3;
        assert!(matches!(error(&row_group), FooterError::NegativeCount { count: -3, .. }));
        let mut values = sample();
        values.row_groups[0].1[0].num_values = -2;
        assert!(matches!(error(&values), FooterError::NegativeCount { count: -2, .. }));
    }

    #[test]
    fn a_chunk_of_another_column_or_type_is_refused() {
        let mut renamed = sample();
        renamed.row_groups[0].1[1].path = vec!["c".to_owned()];
        assert_eq!(error(&renamed), FooterError::ChunkOfOtherColumn { column: "b".to_owned(), row_group: 0 });
        let mut longer = sample();
        longer.row_groups[0].1[1].path.push("c".to_owned());
        assert_eq!(error(&longer), FooterError::ChunkOfOtherColumn { column: "b".to_owned(), row_group: 0 });
        let mut retyped = sample();
        retyped.row_groups[1].1[0].physical = INT64;
        assert_eq!(error(&retyped), FooterError::ChunkOfOtherColumn { column: "a".to_owned(), row_group: 1 });
    }

    #[test]
    fn a_row_group_has_a_chunk_for_each_leaf() {
        let mut fewer = sample();
        fewer.row_groups[0].1.pop();
        assert_eq!(error(&fewer), FooterError::ChunkCount { row_group: 0, chunks: 1, columns: 2 });
        let mut more = sample();
        let extra = more.row_groups[1].1[0].clone();
        more.row_groups[1].1.push(extra);
        assert_eq!(error(&more), FooterError::ChunkCount { row_group: 1, chunks: 3, columns: 2 });
    }

    #[test]
    fn a_chunk_in_another_file_is_refused() {
        let mut summary = sample();
        summary.row_groups[0].1[0].file_path = Some("part-0.parquet".to_owned());
        let file = "part-0.parquet".to_owned();
        assert_eq!(error(&summary), FooterError::ChunkInOtherFile { column: "a".to_owned(), file });
        summary.row_groups[0].1[0].file_path = Some(String::new());
        assert!(Footer::parse(&summary.encode()).is_ok());
    }

    #[test]
    fn an_encrypted_column_is_unknown_and_the_others_are_not() {
        let mut footer = sample();
        for row_group in &mut footer.row_groups {
            row_group.1[0] = TestChunk { encrypted: true, without_metadata: true, ..row_group.1[0].clone() };
        }
        let bytes = footer.encode();
        let parsed = Footer::parse(&bytes).unwrap();
        assert_eq!(parsed.leaf_statistics(0), prunus_statistics::ColumnStatistics::default());
        assert!(parsed.leaf_statistics(1).min.is_some());
        footer.row_groups[0].1[0].encrypted = false;
        let expected = FooterError::ChunkWithoutMetadata { column: "a".to_owned(), row_group: 0 };
        assert_eq!(error(&footer), expected);
    }

    #[test]
    fn a_schema_that_is_no_tree_is_refused() {
        let leaf = || TestElement::leaf("a", INT32);
        let name = || "a".to_owned();
        assert_eq!(tree_fault(2, vec![leaf()]), SchemaTreeFault::MissingChildren("root".to_owned()));
        assert_eq!(tree_fault(1, vec![leaf(), leaf()]), SchemaTreeFault::ExtraElements(1));
        let both = TestElement { children: Some(1), ..leaf() };
        assert_eq!(tree_fault(1, vec![both, leaf()]), SchemaTreeFault::NeitherColumnNorGroup(name()));
        assert_eq!(tree_fault(1, vec![TestElement::group("a", None)]), SchemaTreeFault::NeitherColumnNorGroup(name()));
        let negative = TestElement::group("a", Some(-1));
        assert_eq!(tree_fault(1, vec![negative]), SchemaTreeFault::NeitherColumnNorGroup(name()));
        assert_eq!(tree_fault(1, vec![leaf().repetition(3)]), SchemaTreeFault::NoRepetition(name()));
        let unknown = SchemaTreeFault::UnknownPhysicalType { name: name(), code: 8 };
        assert_eq!(tree_fault(1, vec![TestElement::leaf("a", 8)]), unknown);
        assert_eq!(tree_fault(1, vec![TestElement::leaf("a", FIXED)]), SchemaTreeFault::NoLength(name()));
        let rootless = TestFooter { elements: Vec::new(), ..TestFooter::flat(Vec::new()) };
        assert_eq!(error(&rootless), FooterError::SchemaTree { fault: SchemaTreeFault::Empty });
    }

    #[test]
    fn groups_are_nested_only_so_deep() {
        use super::super::file_schema::MAX_SCHEMA_DEPTH;
        let nested = |groups: usize| {
            let mut elements: Vec<TestElement> = (0..groups).map(|_| TestElement::group("g", Some(1))).collect();
            elements.push(TestElement::leaf("x", DOUBLE));
            TestFooter::new(1, elements)
        };
        assert!(Footer::parse(&nested(MAX_SCHEMA_DEPTH - 1).encode()).is_ok());
        let too_deep = FooterError::SchemaTree { fault: SchemaTreeFault::TooDeep };
        assert_eq!(error(&nested(MAX_SCHEMA_DEPTH)), too_deep);
    }

    #[test]
    fn paths_that_multiply_a_long_name_are_refused() {
        use super::super::file_schema::MAX_PATH_BYTES;
        const LEAVES: usize = 64;
        let file = |name_bytes: usize| {
            let mut elements = vec![TestElement::group(&"n".repeat(name_bytes), i32::try_from(LEAVES).ok())];
            elements.resize(1 + LEAVES, TestElement::leaf("", INT32));
            TestFooter::new(1, elements)
        };
        let longest = MAX_PATH_BYTES / LEAVES - 2 * size_of::<String>();
        assert!(Footer::parse(&file(longest).encode()).is_ok());
        let error_beyond = FooterError::SchemaTree { fault: SchemaTreeFault::PathsTooLong };
        assert_eq!(error(&file(longest + 1)), error_beyond);
    }

    #[test]
    fn more_schema_elements_than_the_limit_are_refused() {
        use super::super::raw_footer::MAX_SCHEMA_ELEMENTS;
        let wide = |leaves: usize| TestFooter::flat(vec![TestElement::leaf("", INT32); leaves]).encode();
        assert!(Footer::parse(&wide(MAX_SCHEMA_ELEMENTS - 1)).is_ok());
        let cause = ThriftError::TooMany { what: "schema elements", max: MAX_SCHEMA_ELEMENTS };
        let error = FooterError::Damaged { reading: "the schema", cause };
        assert_eq!(Footer::parse(&wide(MAX_SCHEMA_ELEMENTS)).unwrap_err(), error);
    }

    #[test]
    fn a_decimal_that_cannot_be_is_refused() {
        for (precision, scale) in [(2, 3), (0, 0), (5, -1), (-1, 0)] {
            let leaf = TestElement::leaf("d", INT32).repetition(REQUIRED).decimal(precision, scale);
            let expected = FooterError::ImpossibleDecimal { column: "d".to_owned(), precision, scale };
            assert_eq!(error(&TestFooter::flat(vec![leaf])), expected);
        }
    }

    #[test]
    fn a_file_without_columns_or_rows_is_a_file() {
        let empty = TestFooter::flat(Vec::new());
        assert_eq!(Footer::parse(&empty.encode()).unwrap().row_count(), 0);
        let rows_only = empty.row_group(2, Vec::new());
        assert_eq!(Footer::parse(&rows_only.encode()).unwrap().row_count(), 2);
    }
}
