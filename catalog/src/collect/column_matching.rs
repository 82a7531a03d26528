//! What a footer, or the data, says of the columns of a table.
//!
//! A file is refused if for one column it cannot be said which leaf it is, or that none is. Each refused column is named.

use std::collections::{BTreeMap, BTreeSet};

use prunus_statistics::{
    ColumnStatistics, FieldId, FileColumn, Precision, PrimitiveType, Value, cut_to_limit, normalise,
};

use super::column_fault::{ColumnFault, ColumnProblem};
use super::column_lookup::{Absence, FileColumns};
use super::file_schema::FileLeaf;
use super::footer::Footer;
use super::leaf_as_column::leaf_as_column;
use super::scan::LeafScan;

/// A column of a table that a file's leaf is sought for: a leaf of the schema that is reached through structs alone.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Its id.
    pub id: FieldId,
    /// Its names from the top down.
    pub path: Vec<String>,
    /// The paths that it had before renames.
    pub former_paths: Vec<Vec<String>>,
    /// Its type.
    pub column_type: PrimitiveType,
    /// What rows of files without it read as; null where there is none.
    pub default: Option<Value>,
}

/// What a file calls a leaf, and has it as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafInFile {
    /// Its names in the file, from the top down.
    pub path: Vec<String>,
    /// The field id that the file gives it, if it gives one.
    pub field_id: Option<i32>,
    /// The type that it has in the file; `None` for one that has no name.
    pub file_type: Option<PrimitiveType>,
    /// The field ids that the file gives the groups around it, from the top down; empty if it gives none.
    pub group_ids: Vec<Option<i32>>,
}

impl From<&FileLeaf> for LeafInFile {
    fn from(leaf: &FileLeaf) -> Self {
        Self {
            path: leaf.path.clone(),
            field_id: leaf.field_id,
            file_type: leaf.column_type,
            group_ids: leaf.group_ids.clone(),
        }
    }
}

/// What a footer says of a table's columns.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectedColumns {
    /// What is known of each column, in the column's type. A column that is missing here is unknown.
    pub columns: BTreeMap<FieldId, FileColumn>,
    /// Every leaf of the file.
    pub leaves: Vec<LeafInFile>,
    /// Which of these each column is that the file holds.
    pub leaf_of_column: BTreeMap<FieldId, usize>,
}

/// Finds each column of a table in a file and takes from the footer what it soundly says of them. Bounds of strings and
/// binary are cut to `bound_bytes_max` bytes.
///
/// # Errors
/// A [`ColumnFault`] for each column that is not plainly there or plainly absent, or whose values do not convert.
pub fn match_columns(
    footer: &Footer<'_>,
    columns: &[TableColumn],
    bound_bytes_max: usize,
) -> Result<CollectedColumns, Vec<ColumnFault>> {
    match_scanned_columns(footer, &BTreeMap::new(), columns, bound_bytes_max)
}

/// As [`match_columns`], where some leaves, by their indexes, were read. What reading them has shown counts before what the
/// footer says. A bound stays exact where its value is one of the table's type and is not cut.
///
/// # Errors
/// As [`match_columns`].
pub fn match_scanned_columns(
    footer: &Footer<'_>,
    scans: &BTreeMap<usize, LeafScan>,
    columns: &[TableColumn],
    bound_bytes_max: usize,
) -> Result<CollectedColumns, Vec<ColumnFault>> {
    let file = FileColumns::of(footer);
    let mut faults = Vec::new();
    let mut leaf_of_column = BTreeMap::new();
    let mut missing = Vec::new();
    for column in columns {
        match file.locate(column) {
            Ok(Some(leaf)) => _ = leaf_of_column.insert(column.id, leaf),
            Ok(None) => missing.push(column),
            Err(problem) => faults.push(ColumnFault::of(column, problem)),
        }
    }
    let mut collected = BTreeMap::new();
    let claimed: BTreeSet<usize> = leaf_of_column.values().copied().collect();
    for column in missing {
        match file.absence(column, &claimed) {
            Ok(Absence::Known) => _ = collected.insert(column.id, column.absent(Some(footer.row_count()))),
            Ok(Absence::Unknown) => {}
            Err(problem) => faults.push(ColumnFault::of(column, problem)),
        }
    }
    for column in columns {
        let Some(leaf) = leaf_of_column.get(&column.id) else { continue };
        match present(footer, *leaf, scans.get(leaf), column, bound_bytes_max) {
            Ok(present) => _ = collected.insert(column.id, FileColumn::Present(present)),
            Err(problem) => faults.push(ColumnFault::of(column, problem)),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let leaves = footer.leaves().iter().map(LeafInFile::from).collect();
    Ok(CollectedColumns { columns: collected, leaves, leaf_of_column })
}

/// What the footer, or the data if it was read, says of a column that is this leaf of the file.
///
/// # Errors
/// [`ColumnFault`] if its values do not convert.
pub(crate) fn column_at(
    footer: &Footer<'_>,
    leaf: usize,
    scan: Option<&LeafScan>,
    column: &TableColumn,
) -> Result<ColumnStatistics, ColumnFault> {
    present(footer, leaf, scan, column, usize::MAX).map_err(|problem| ColumnFault::of(column, problem))
}

impl TableColumn {
    /// What is known of the column in a file that does not hold it.
    pub(crate) fn absent(&self, row_count: Option<u64>) -> FileColumn {
        let Some(default) = &self.default else { return FileColumn::Absent };
        let mut constant = ColumnStatistics::constant(Some(default.clone()), row_count);
        if self.path.len() > 1 {
            // Where the struct around it is null it is null as well: the default may occur in no row or in some.
            for bound in [&mut constant.min, &mut constant.max].into_iter().flatten() {
                bound.precision = Precision::Bound;
            }
            constant.null_count = None;
            constant.nan_count = constant.nan_count.filter(|count| count.value == 0);
        }
        normalise(&mut constant, self.column_type, row_count);
        FileColumn::Present(constant)
    }
}

fn present(
    footer: &Footer<'_>,
    leaf: usize,
    scan: Option<&LeafScan>,
    column: &TableColumn,
    bound_bytes_max: usize,
) -> Result<ColumnStatistics, ColumnProblem> {
    let Some(file_leaf) = footer.leaves().get(leaf) else { return Ok(ColumnStatistics::default()) };
    let mut statistics = leaf_as_column(footer, leaf, scan, column.column_type)
        .ok_or_else(|| ColumnProblem::Type { file_type: file_leaf.type_name(), table_type: column.column_type })?;
    cut_to_limit(&mut statistics, column.column_type, bound_bytes_max);
    normalise(&mut statistics, column.column_type, Some(footer.row_count()));
    Ok(statistics)
}

#[cfg(test)]
mod scanned_tests;

#[cfg(test)]
mod tests {
    use prunus_statistics::{Bound, Count, Precision, Provenance};

    use super::super::test_footer::{
        BYTE_ARRAY, DOUBLE, FIXED, INT32, INT64, INT96, REPEATED, REQUIRED, TestChunk, TestElement, TestFooter,
    };
    use super::*;

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    fn column(id: i32, name: &str, column_type: &str) -> TableColumn {
        TableColumn {
            id: FieldId(id),
            path: path(name),
            former_paths: Vec::new(),
            column_type: column_type.parse().unwrap(),
            default: None,
        }
    }

    fn renamed(id: i32, name: &str, former: &str) -> TableColumn {
        TableColumn { former_paths: vec![path(former)], ..column(id, name, "int32") }
    }

    fn leaf(name: &str) -> TestElement {
        TestElement::leaf(name, INT32)
    }

    /// What becomes of each column: `leaf` (known from the file), `absent`, `unknown`, or the problem.
    fn outcomes(file: &TestFooter, columns: &[TableColumn]) -> Vec<String> {
        let bytes = file.encode();
        let footer = Footer::parse(&bytes).unwrap();
        match match_columns(&footer, columns, 64) {
            Ok(collected) => columns
                .iter()
                .map(|column| match collected.columns.get(&column.id) {
                    Some(FileColumn::Present(_)) => "leaf".to_owned(),
                    Some(FileColumn::Absent) => "absent".to_owned(),
                    None => "unknown".to_owned(),
                })
                .collect(),
            Err(faults) => faults.iter().map(ToString::to_string).collect(),
        }
    }

    fn check(file: &TestFooter, columns: &[TableColumn], expected: &[&str]) {
        assert_eq!(outcomes(file, columns), expected);
    }

    #[test]
    fn a_file_without_ids_is_matched_by_exact_name() {
        let file = TestFooter::flat(vec![leaf("b"), leaf("a"), leaf("extra")]);
        check(
            &file,
            &[column(1, "a", "int32"), column(2, "b", "int32"), column(3, "c", "int32")],
            &["leaf", "leaf", "absent"],
        );
    }

    #[test]
    fn an_id_counts_with_a_current_or_former_name() {
        let file = TestFooter::flat(vec![leaf("a").id(1), leaf("b").id(2)]);
        check(&file, &[column(1, "a", "int32"), renamed(2, "c", "b")], &["leaf", "leaf"]);
    }

    #[test]
    fn an_id_on_another_name_is_refused() {
        let file = TestFooter::flat(vec![leaf("x").id(1)]);
        let message = "column `a`: the file has its field id #1 on `x`, which never was its name";
        check(&file, &[column(1, "a", "int32")], &[message]);
    }

    #[test]
    fn a_re_added_name_is_not_the_dropped_column() {
        let file = TestFooter::flat(vec![leaf("a").id(1)]);
        let message = "column `a`: the file's column of that name has the field id #1 instead of #5";
        check(&file, &[column(5, "a", "int32")], &[message]);
    }

    #[test]
    fn a_former_name_without_id_is_refused() {
        let file = TestFooter::flat(vec![leaf("a")]);
        let message = "column `b`: the file has no such column, but `a`, its former name, without a field id";
        check(&file, &[renamed(1, "b", "a")], &[message]);
    }

    #[test]
    fn a_column_whose_id_several_leaves_have_is_unknown() {
        let file = TestFooter::flat(vec![leaf("x").id(1), leaf("y").id(1), leaf("a")]);
        check(&file, &[column(1, "b", "int32"), column(2, "c", "int32")], &["unknown", "absent"]);
        check(&file, &[column(1, "a", "int32")], &["unknown"]);
        check(&file, &[column(1, "y", "int32")], &["leaf"]);
        let with_default = TableColumn { default: Some(Value::Integer(5)), ..column(1, "b", "int32") };
        check(&file, &[with_default], &["unknown"]);
    }

    #[test]
    fn a_column_whose_former_name_is_anothers_now_is_unknown() {
        let by_name = TestFooter::flat(vec![leaf("a")]);
        check(&by_name, &[renamed(1, "b", "a"), column(5, "a", "int32")], &["unknown", "leaf"]);
        let by_id = TestFooter::flat(vec![leaf("a").id(5)]);
        check(&by_id, &[renamed(1, "b", "a"), column(5, "a", "int32")], &["unknown", "leaf"]);
    }

    #[test]
    fn an_old_file_after_a_rename_and_a_new_column_of_the_old_name_is_refused() {
        let file = TestFooter::flat(vec![leaf("a").id(1)]);
        let message = "column `a`: the file's column of that name has the field id #1 instead of #5";
        check(&file, &[renamed(1, "b", "a"), column(5, "a", "int32")], &[message]);
    }

    #[test]
    fn a_name_by_case_or_unicode_form_only_is_refused() {
        let message = "column `id`: the file has `ID`, which differs from its name in case or Unicode form only";
        check(&TestFooter::flat(vec![leaf("ID")]), &[column(1, "id", "int32")], &[message]);
        let message = "column `é`: the file has `e\u{301}`, which differs from its name in case or Unicode form only";
        check(&TestFooter::flat(vec![leaf("e\u{301}")]), &[column(1, "é", "int32")], &[message]);
        let nested = TestFooter::new(1, vec![TestElement::group("S", Some(1)), leaf("a")]);
        let message = "column `s.a`: the file has `S.a`, which differs from its name in case or Unicode form only";
        check(&nested, &[column(1, "s.a", "int32")], &[message]);
    }

    #[test]
    fn an_exact_name_wins_over_another_spelling() {
        let file = TestFooter::flat(vec![leaf("ID"), leaf("id")]);
        check(&file, &[column(1, "id", "int32")], &["leaf"]);
        check(&file, &[column(1, "id", "int32"), column(2, "ID", "int32")], &["leaf", "leaf"]);
        let one = TestFooter::flat(vec![leaf("id")]);
        check(&one, &[column(1, "id", "int32"), column(2, "ID", "int32")], &["leaf", "unknown"]);
    }

    #[test]
    fn two_leaves_for_one_column_are_refused() {
        let message = "column `a`: more than one column of the file could be it";
        check(&TestFooter::flat(vec![leaf("a"), leaf("a")]), &[column(1, "a", "int32")], &[message]);
        check(&TestFooter::flat(vec![leaf("a").id(1), leaf("a").id(2)]), &[column(1, "a", "int32")], &[message]);
        let file = TestFooter::flat(vec![leaf("a").id(1), leaf("b")]);
        let message = "column `b`: more than one column of the file could be it";
        check(&file, &[renamed(1, "b", "a")], &[message]);
    }

    #[test]
    fn ids_that_repeat_or_are_not_above_0_are_none() {
        let file = TestFooter::flat(vec![leaf("a").id(7), leaf("b").id(7), leaf("c").id(0), leaf("d").id(-1)]);
        let columns = ["a", "b", "c", "d"].map(|name| column(i32::from(name.as_bytes()[0]), name, "int32"));
        check(&file, &columns, &["leaf"; 4]);
    }

    #[test]
    fn a_struct_in_the_file_is_no_leaf_and_a_leaf_no_struct() {
        let nested = TestFooter::new(1, vec![TestElement::group("s", Some(1)), leaf("a")]);
        check(&nested, &[column(1, "s.a", "int32"), column(2, "s.b", "int32")], &["leaf", "absent"]);
        check(&nested, &[column(1, "s", "int32")], &["column `s`: `s` is a struct in the file, and not in the table"]);
        let message = "column `s.a`: `s` is a single value in the file, and not in the table";
        check(&TestFooter::flat(vec![leaf("s")]), &[column(1, "s.a", "int32")], &[message]);
    }

    #[test]
    fn a_dotted_name_is_no_struct() {
        let file = TestFooter::flat(vec![leaf("s.a")]);
        check(&file, &[column(1, "s.a", "int32")], &["absent"]);
    }

    #[test]
    fn a_leaf_in_a_list_is_no_column() {
        let message = "column `a`: `a` is a list in the file, and not in the table";
        check(&TestFooter::flat(vec![leaf("a").repetition(REPEATED)]), &[column(1, "a", "int32")], &[message]);
        let list = vec![
            TestElement::group("s", Some(1)).converted(3),
            TestElement::group("list", Some(1)).repetition(REPEATED),
            TestElement::group("element", Some(1)),
            leaf("a").id(9),
        ];
        let file = TestFooter::new(1, list);
        let message = "column `s.a`: `s` is a list in the file, and not in the table";
        check(&file, &[column(1, "s.a", "int32")], &[message]);
        let message = "column `z`: `s.list.element.a` is in a list or map in the file, and not in the table";
        check(&file, &[column(9, "z", "int32")], &[message]);
    }

    #[test]
    fn a_group_with_the_id_of_a_column_is_refused() {
        let file = TestFooter::new(1, vec![TestElement::group("s", Some(1)).id(1), leaf("a")]);
        check(&file, &[column(1, "x", "int32")], &["column `x`: `s` is a struct in the file, and not in the table"]);
    }

    #[test]
    fn a_wider_type_in_the_file_is_refused_with_both_types() {
        let file = TestFooter::flat(vec![
            TestElement::leaf("a", INT64),
            TestElement::leaf("d", FIXED).length(30).decimal(60, 2),
        ]);
        check(
            &file,
            &[column(1, "a", "int32"), column(2, "d", "decimal(38,2)")],
            &[
                "column `a`: the file's type int64 does not convert to the table's int32; it would if the column were widened to int64 \
                 (`widen` in a PATCH of the table)",
                "column `d`: the file's type decimal(60,2) does not convert to the table's decimal(38,2)",
            ],
        );
    }

    #[test]
    fn what_has_no_name_or_order_matches_its_bytes() {
        let decimal = TestElement::leaf("d", FIXED).length(30).decimal(60, 2);
        let shape = TestElement::leaf("g", BYTE_ARRAY).logical(17);
        let interval = TestElement::leaf("i", FIXED).length(12).converted(21);
        let file = TestFooter::flat(vec![decimal, shape, interval]);
        let columns = [column(1, "d", "fixed(30)"), column(2, "g", "binary"), column(3, "i", "fixed(12)")];
        check(&file, &columns, &["leaf"; 3]);
        let message = "column `g`: the file's type binary does not convert to the table's string";
        check(&file, &[column(2, "g", "string")], &[message]);
    }

    #[test]
    fn a_column_of_nulls_only_is_of_any_type() {
        let file =
            TestFooter::flat(vec![leaf("n").logical(11)]).row_group(2, vec![TestChunk::of("n", INT32, 2).nulls(2)]);
        assert_eq!(statistics(&file, &column(1, "n", "string")).null_count, Some(count(2)));
    }

    fn statistics(file: &TestFooter, column: &TableColumn) -> ColumnStatistics {
        let bytes = file.encode();
        let footer = Footer::parse(&bytes).unwrap();
        let collected = match_columns(&footer, std::slice::from_ref(column), 4).unwrap();
        match collected.columns.get(&column.id) {
            Some(FileColumn::Present(statistics)) => statistics.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn count(value: u64) -> Count {
        Count { value, provenance: Provenance::Footer }
    }

    fn bound(value: Value) -> Bound {
        Bound { value, precision: Precision::Bound, provenance: Provenance::Footer }
    }

    #[test]
    fn bounds_arrive_in_the_type_of_the_table() {
        let chunk = TestChunk::of("a", INT32, 5).bounds(&[0xff; 4], &[7, 0, 0, 0]).nulls(1);
        let file = TestFooter::flat(vec![leaf("a")]).row_group(5, vec![chunk]);
        let expected = ColumnStatistics {
            min: Some(bound(Value::Integer(-100))),
            max: Some(bound(Value::Integer(700))),
            null_count: Some(count(1)),
            nan_count: None,
        };
        assert_eq!(statistics(&file, &column(1, "a", "decimal(20,2)")), expected);
    }

    #[test]
    fn a_bound_that_overflows_is_unknown_and_the_other_stays() {
        let date = leaf("d").converted(6);
        let chunk = TestChunk::of("d", INT32, 5).bounds(&[1, 0, 0, 0], &i32::MAX.to_le_bytes());
        let file = TestFooter::flat(vec![date]).row_group(5, vec![chunk]);
        let found = statistics(&file, &column(1, "d", "timestamp(ns)"));
        assert_eq!((found.min, found.max), (Some(bound(Value::Integer(86_400_000_000_000))), None));
    }

    #[test]
    fn an_int96_bounds_local_times_and_not_instants() {
        let int96 = |day: i32| [&[0; 8][..], &day.to_le_bytes()].concat();
        let chunk = TestChunk::of("t", INT96, 5).bounds(&int96(2_440_588), &int96(2_440_589)).nulls(0);
        let file = TestFooter::flat(vec![TestElement::leaf("t", INT96)]).row_group(5, vec![chunk]).orders(&[3]);
        let found = statistics(&file, &column(1, "t", "timestamp(us)"));
        assert_eq!(found.max, Some(bound(Value::Integer(86_400_000_000))));
        let found = statistics(&file, &column(1, "t", "timestamptz(us)"));
        assert_eq!((found.min, found.max, found.null_count), (None, None, Some(count(0))));
    }

    #[test]
    fn bounds_are_cut_to_the_limit() {
        let chunk = TestChunk::of("s", BYTE_ARRAY, 2).bounds(b"abcdef", b"uvwxyz");
        let file = TestFooter::flat(vec![TestElement::leaf("s", BYTE_ARRAY).converted(0)]).row_group(2, vec![chunk]);
        let found = statistics(&file, &column(1, "s", "string"));
        assert_eq!(found.min, Some(bound(Value::Bytes(b"abcd".to_vec()))));
        assert_eq!(found.max, Some(bound(Value::Bytes(b"uvwy".to_vec()))));
    }

    #[test]
    fn bounds_of_bytes_become_bounds_of_strings() {
        let chunk = TestChunk::of("s", BYTE_ARRAY, 2).bounds(b"a\xff", b"b\xff");
        let file = TestFooter::flat(vec![TestElement::leaf("s", BYTE_ARRAY)]).row_group(2, vec![chunk]);
        let found = statistics(&file, &column(1, "s", "string"));
        assert_eq!(
            (found.min, found.max),
            (Some(bound(Value::Bytes(b"a".to_vec()))), Some(bound(Value::Bytes(b"c".to_vec()))))
        );
    }

    #[test]
    fn an_absent_column_with_a_default_is_that_in_every_row() {
        let file =
            TestFooter::flat(vec![TestElement::leaf("x", DOUBLE)]).row_group(3, vec![TestChunk::of("x", DOUBLE, 3)]);
        let with_default = TableColumn { default: Some(Value::Integer(5)), ..column(1, "a", "int32") };
        let found = statistics(&file, &with_default);
        assert_eq!(found.min, found.max);
        assert_eq!(found.min.map(|bound| (bound.value, bound.precision)), Some((Value::Integer(5), Precision::Exact)));
        assert_eq!(found.null_count.map(|count| count.value), Some(0));
    }

    #[test]
    fn the_files_own_leaves_are_listed() {
        let file = TestFooter::new(
            2,
            vec![leaf("a").id(-5), TestElement::group("s", Some(1)), leaf("b").repetition(REQUIRED)],
        );
        let bytes = file.encode();
        let collected = match_columns(&Footer::parse(&bytes).unwrap(), &[], 64).unwrap();
        let leaves = |name: &str, field_id: Option<i32>| LeafInFile {
            path: path(name),
            field_id,
            file_type: Some(PrimitiveType::Int32),
            group_ids: Vec::new(),
        };
        assert_eq!(collected.leaves, [leaves("a", Some(-5)), leaves("s.b", None)]);
    }

    #[test]
    fn a_timestamp_is_no_timestamptz() {
        let file = TestFooter::flat(vec![TestElement::leaf("t", INT64).converted(10)]);
        check(&file, &[column(1, "t", "timestamptz(us)")], &["leaf"]);
        let message = "column `t`: the file's type timestamptz(us) does not convert to the table's timestamp(us)";
        check(&file, &[column(1, "t", "timestamp(us)")], &[message]);
    }
}
