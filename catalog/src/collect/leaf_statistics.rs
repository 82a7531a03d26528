//! What a footer soundly says of one leaf, over all row groups.
//!
//! A footer yields bounds and counts, never an exact value: released writers set even the exactness flags wrongly. The
//! deprecated fields `min` and `max` bound nothing here, although signed columns could use them: who wrote only those wrote
//! no column order either, and such files are read by the audit instead. All of the file's knowledge that is used is in
//! `min_value`, `max_value`, `null_count` and `nan_count`.

use std::cmp::Ordering;

use prunus_statistics::{
    Bound, ColumnStatistics, Count, Precision, PrimitiveType, Provenance, Value, cut_to_limit, normalise,
};

use super::chunk_statistics::{ChunkStatistics, Knowledge};
use super::file_schema::FileLeaf;
use super::footer::Footer;
use super::leaf_type::StoredType;
use super::raw_footer::ColumnOrder;

impl Footer<'_> {
    /// The statistics of a leaf, by its index in [`Footer::leaves`], in its own type and normalised. Where there is no such
    /// leaf nothing is known. Counts are counts of rows, so a repeated leaf has none.
    pub fn leaf_statistics(&self, index: usize) -> ColumnStatistics {
        let Some(leaf) = self.leaves().get(index) else { return ColumnStatistics::default() };
        let knowledge =
            Knowledge { bounds: self.bounds_are_usable(index, leaf), counts: self.counts_trusted() && !leaf.repeated };
        let mut folded = Folded::default();
        for chunk in self.chunks_of(index) {
            folded.add(ChunkStatistics::of(chunk, leaf, knowledge));
        }
        let mut statistics = folded.into_statistics(leaf);
        if let Some(column_type) = leaf.column_type {
            // A string's bound that is not UTF-8 becomes one that is, before it would be dropped for that.
            cut_to_limit(&mut statistics, column_type, usize::MAX);
            normalise(&mut statistics, column_type, (!leaf.repeated).then(|| self.row_count()));
        }
        statistics
    }

    /// Whether the file says in which order the bounds are meant, the order is one for the type, and the writer is one to
    /// be believed.
    fn bounds_are_usable(&self, index: usize, leaf: &FileLeaf) -> bool {
        let is_float = leaf.column_type.is_some_and(PrimitiveType::is_float);
        let is_int96 = leaf.stored == StoredType::Int96;
        let valid = match self.column_order(index) {
            Some(ColumnOrder::Type) => !is_int96,
            Some(ColumnOrder::TotalFloat) => is_float,
            Some(ColumnOrder::Int96Timestamp) => is_int96,
            Some(ColumnOrder::Unknown) | None => false,
        };
        valid && leaf.ordered && self.writer().is_trusted_with(leaf)
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a?.checked_add(b?)
}

/// One side of the bounds over the row groups so far.
enum Side {
    /// There was no value to bound.
    Unbounded,
    Known(Value),
    /// A row group that may hold values does not bound them.
    Unknown,
}

impl Side {
    fn add(&mut self, value: Option<Value>, outward: Ordering) {
        let previous = std::mem::replace(self, Self::Unknown);
        *self = match (previous, value) {
            (Self::Unknown, _) | (_, None) => Self::Unknown,
            (Self::Unbounded, Some(value)) => Self::Known(value),
            (Self::Known(known), Some(value)) => {
                Self::Known(if value.compare(&known) == Some(outward) { value } else { known })
            }
        };
    }

    fn into_bound(self) -> Option<Bound> {
        match self {
            Self::Known(value) => Some(Bound { value, precision: Precision::Bound, provenance: Provenance::Footer }),
            Self::Unbounded | Self::Unknown => None,
        }
    }
}

/// A leaf's statistics over the row groups so far.
struct Folded {
    min: Side,
    max: Side,
    null_count: Option<u64>,
    nan_count: Option<u64>,
}

impl Default for Folded {
    fn default() -> Self {
        Self { min: Side::Unbounded, max: Side::Unbounded, null_count: Some(0), nan_count: Some(0) }
    }
}

impl Folded {
    fn add(&mut self, chunk: ChunkStatistics) {
        self.null_count = sum(self.null_count, chunk.null_count);
        self.nan_count = sum(self.nan_count, chunk.nan_count);
        if !chunk.valueless {
            self.min.add(chunk.min, Ordering::Less);
            self.max.add(chunk.max, Ordering::Greater);
        }
    }

    fn into_statistics(self, leaf: &FileLeaf) -> ColumnStatistics {
        let count = |count: Option<u64>| {
            let known = count.filter(|_| !leaf.repeated);
            known.map(|value| Count { value, provenance: Provenance::Footer })
        };
        ColumnStatistics {
            null_count: count(self.null_count),
            nan_count: count(self.nan_count),
            min: self.min.into_bound(),
            max: self.max.into_bound(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_footer::{
        BYTE_ARRAY, DOUBLE, INT32, INT96, REPEATED, REQUIRED, TestChunk, TestElement, TestFooter,
    };
    use super::*;

    /// The bounds and counts of the only column.
    type Known = (Option<Value>, Option<Value>, Option<u64>, Option<u64>);

    fn known(file: &TestFooter) -> Known {
        let bytes = file.encode();
        let ColumnStatistics { min, max, null_count, nan_count } = Footer::parse(&bytes).unwrap().leaf_statistics(0);
        for bound in [&min, &max].into_iter().flatten() {
            assert_eq!((bound.precision, bound.provenance), (Precision::Bound, Provenance::Footer));
        }
        let count = |count: Option<Count>| count.map(|count| count.value);
        (min.map(|bound| bound.value), max.map(|bound| bound.value), count(null_count), count(nan_count))
    }

    fn file(leaf: TestElement, chunks: Vec<TestChunk>) -> TestFooter {
        chunks
            .into_iter()
            .fold(TestFooter::flat(vec![leaf]), |file, chunk| file.row_group(chunk.num_values, vec![chunk]))
    }

    fn int(min: i32, max: i32) -> TestChunk {
        TestChunk::of("x", INT32, 10).bounds(&min.to_le_bytes(), &max.to_le_bytes())
    }

    fn ints(chunks: Vec<TestChunk>) -> TestFooter {
        file(TestElement::leaf("x", INT32), chunks)
    }

    fn float(min: f64, max: f64) -> TestChunk {
        TestChunk::of("x", DOUBLE, 10).bounds(&min.to_le_bytes(), &max.to_le_bytes())
    }

    fn floats(chunks: Vec<TestChunk>) -> TestFooter {
        file(TestElement::leaf("x", DOUBLE), chunks)
    }

    fn integer(value: i128) -> Value {
        Value::Integer(value)
    }

    fn number(value: f64) -> Value {
        Value::Float(value)
    }

    fn no_statistics(rows: i64) -> TestChunk {
        TestChunk::of("x", INT32, rows)
    }

    const NOTHING: Known = (None, None, None, None);

    #[test]
    fn bounds_are_merged_over_row_groups() {
        let file = ints(vec![int(3, 5).nulls(1), int(-7, 4).nulls(2)]);
        assert_eq!(known(&file), (Some(integer(-7)), Some(integer(5)), Some(3), None));
    }

    #[test]
    fn a_row_group_without_statistics_makes_all_unknown() {
        assert_eq!(known(&ints(vec![int(3, 5).nulls(1), no_statistics(1)])), NOTHING);
    }

    #[test]
    fn a_row_group_without_rows_or_values_bounds_nothing() {
        let empty = no_statistics(0);
        assert_eq!(
            known(&ints(vec![int(3, 5).nulls(1), empty.clone()])),
            (Some(integer(3)), Some(integer(5)), Some(1), None)
        );
        let nulls = no_statistics(4).nulls(4);
        assert_eq!(known(&ints(vec![nulls, int(3, 5).nulls(1)])), (Some(integer(3)), Some(integer(5)), Some(5), None));
        assert_eq!(known(&ints(vec![empty])), (None, None, Some(0), None));
        assert_eq!(known(&ints(Vec::new())), (None, None, Some(0), None));
    }

    #[test]
    fn one_side_may_be_missing() {
        let file = ints(vec![TestChunk { max_value: None, ..int(3, 5) }]);
        assert_eq!(known(&file), (Some(integer(3)), None, None, None));
    }

    #[test]
    fn a_null_count_that_is_missing_is_unknown_unless_nulls_cannot_be() {
        assert_eq!(known(&ints(vec![int(3, 5)])).2, None);
        let required = TestElement::leaf("x", INT32).repetition(REQUIRED);
        assert_eq!(known(&file(required, vec![int(3, 5)])).2, Some(0));
    }

    #[test]
    fn bounds_count_only_with_a_known_order_for_the_type() {
        let file = ints(vec![int(3, 5).nulls(0)]);
        let without_bounds = (None, None, Some(0), None);
        assert_eq!(known(&TestFooter { orders: None, ..file.clone() }), without_bounds);
        assert_eq!(known(&file.clone().orders(&[])), without_bounds);
        assert_eq!(known(&file.clone().orders(&[9])), without_bounds);
        assert_eq!(known(&file.clone().orders(&[2])), without_bounds);
        assert_eq!(known(&file.orders(&[3])), without_bounds);
        assert!(known(&floats(vec![float(1.0, 2.0)]).orders(&[2])).0.is_some());
    }

    #[test]
    fn an_int96_is_bounded_only_in_its_own_order() {
        let int96 = [&5_i64.to_le_bytes()[..], &2_440_588_i32.to_le_bytes()].concat();
        let chunk = TestChunk::of("x", INT96, 1).bounds(&int96, &int96);
        let file = file(TestElement::leaf("x", INT96), vec![chunk]);
        assert_eq!(known(&file), NOTHING);
        assert_eq!(known(&file.orders(&[3])), (Some(integer(5)), Some(integer(5)), None, None));
    }

    #[test]
    fn deprecated_bounds_are_never_used() {
        let chunk = TestChunk { deprecated_max: Some(vec![5, 0, 0, 0]), ..no_statistics(10) };
        assert_eq!(known(&ints(vec![chunk.clone()])), NOTHING);
        let mixed = TestChunk { min_value: Some(vec![1, 0, 0, 0]), ..chunk };
        assert_eq!(known(&ints(vec![mixed])), (Some(integer(1)), None, None, None));
    }

    #[test]
    fn bounds_the_wrong_way_round_are_unknown() {
        assert_eq!(known(&ints(vec![int(5, 3).nulls(0)])), (None, None, Some(0), None));
        assert_eq!(known(&ints(vec![int(1, 9), int(5, 3)])), NOTHING);
    }

    #[test]
    fn a_bound_that_is_no_value_of_the_type_takes_the_other_with_it() {
        let narrow = |min, max| known(&file(TestElement::leaf("x", INT32).converted(11), vec![int(min, max)]));
        assert_eq!(narrow(1, 255), (Some(integer(1)), Some(integer(255)), None, None));
        assert_eq!(narrow(-1, 255), NOTHING);
        assert_eq!(narrow(1, 256), NOTHING);
        let short = TestChunk { min_value: Some(vec![1, 0]), ..int(1, 2) };
        assert_eq!(known(&ints(vec![short])), NOTHING);
    }

    #[test]
    fn unsigned_integers_are_compared_unsigned() {
        let file = file(TestElement::leaf("x", INT32).converted(13), vec![int(1, -1), int(5, 6)]);
        assert_eq!(known(&file), (Some(integer(1)), Some(integer(u32::MAX.into())), None, None));
    }

    #[test]
    fn counts_in_a_list_are_no_counts_of_rows() {
        let repeated = TestElement::leaf("x", INT32).repetition(REPEATED);
        let file = file(repeated, vec![int(3, 5).nulls(1)]);
        assert_eq!(known(&file), (Some(integer(3)), Some(integer(5)), None, None));
    }

    #[test]
    fn one_impossible_count_takes_all_counts_of_the_file_with_it() {
        for impossible in [-1, 11, i64::MIN, i64::MAX] {
            let file = ints(vec![int(3, 5).nulls(1), int(3, 5).nulls(impossible)]);
            assert_eq!(known(&file), (Some(integer(3)), Some(integer(5)), None, None));
        }
        let leaves = vec![TestElement::leaf("x", INT32), TestElement::leaf("y", INT32).repetition(REQUIRED)];
        let file = TestFooter::flat(leaves);
        let chunks = vec![int(3, 5).nulls(1), TestChunk::of("y", INT32, 10).nulls(1)];
        assert_eq!(known(&file.row_group(10, chunks)), (Some(integer(3)), Some(integer(5)), None, None));
    }

    #[test]
    fn all_nulls_beside_a_value_contradict_each_other() {
        assert_eq!(known(&ints(vec![int(3, 5).nulls(10)])), (Some(integer(3)), Some(integer(5)), None, None));
        assert_eq!(known(&ints(vec![int(0, 0).nulls(10)])), (None, None, Some(10), None));
        let deprecated = TestChunk { deprecated_max: Some(vec![5, 0, 0, 0]), ..no_statistics(10).nulls(10) };
        assert_eq!(known(&ints(vec![deprecated])), NOTHING);
    }

    #[test]
    fn a_nan_bound_is_unknown_on_its_side_only() {
        assert_eq!(known(&floats(vec![float(f64::NAN, 2.0)])), (None, Some(number(2.0)), None, None));
        assert_eq!(known(&floats(vec![float(1.0, -f64::NAN)])), (Some(number(1.0)), None, None, None));
    }

    #[test]
    fn zeros_are_widened_to_both_signs() {
        let (min, max, ..) = known(&floats(vec![float(0.0, -0.0)]));
        let bits = |value| match value {
            Some(Value::Float(value)) => f64::to_bits(value),
            other => panic!("{other:?}"),
        };
        assert_eq!((bits(min), bits(max)), ((-0.0_f64).to_bits(), 0.0_f64.to_bits()));
    }

    #[test]
    fn a_nan_count_is_known_only_where_every_row_group_has_one() {
        let with = || float(1.0, 2.0).nulls(0);
        assert_eq!(known(&floats(vec![with().nans(3), with().nans(0)])).3, Some(3));
        assert_eq!(known(&floats(vec![with().nans(3), with()])).3, None);
        assert_eq!(known(&ints(vec![int(1, 2).nans(0)])).3, None);
    }

    #[test]
    fn a_nan_count_that_contradicts_the_bounds_is_unknown() {
        assert_eq!(known(&floats(vec![float(f64::NAN, 2.0).nulls(0).nans(0)])).3, None);
        assert_eq!(known(&floats(vec![float(1.0, 2.0).nulls(0).nans(10)])).3, None);
        assert_eq!(known(&floats(vec![float(1.0, 2.0).nulls(5).nans(6)])).3, None);
    }

    #[test]
    fn a_row_group_of_nans_bounds_nothing() {
        let nans = float(f64::NAN, f64::NAN).nulls(4).nans(6);
        let file = floats(vec![float(1.0, 2.0).nulls(0).nans(0), nans]).orders(&[2]);
        assert_eq!(known(&file), (Some(number(1.0)), Some(number(2.0)), Some(4), Some(6)));
    }

    #[test]
    fn a_bound_that_is_not_utf8_becomes_one_that_is() {
        let chunk = TestChunk::of("x", BYTE_ARRAY, 2).bounds(b"a\xc3", b"b\xff");
        let file = file(TestElement::leaf("x", BYTE_ARRAY).converted(0), vec![chunk]);
        let text = |text: &[u8]| Some(Value::Bytes(text.to_vec()));
        assert_eq!(known(&file), (text(b"a"), text(b"c"), None, None));
    }

    #[test]
    fn a_distrusted_writer_bounds_nothing_but_counts() {
        let chunk = TestChunk::of("x", BYTE_ARRAY, 2).bounds(b"a", b"b").nulls(1);
        let file = file(TestElement::leaf("x", BYTE_ARRAY).converted(0), vec![chunk]);
        let nobody = TestFooter { created_by: None, ..file };
        assert_eq!(known(&nobody), (None, None, Some(1), None));
    }

    #[test]
    fn the_parts_of_a_variant_bound_nothing() {
        let variant = TestElement::group("v", Some(1)).logical(16);
        let file = TestFooter::new(1, vec![variant, TestElement::leaf("x", INT32)]);
        let chunk = TestChunk { path: vec!["v".to_owned(), "x".to_owned()], ..int(1, 2).nulls(3) };
        assert_eq!(known(&file.row_group(10, vec![chunk])), (None, None, Some(3), None));
    }

    #[test]
    fn of_a_leaf_that_is_not_there_nothing_is_known() {
        let bytes = ints(Vec::new()).encode();
        assert_eq!(Footer::parse(&bytes).unwrap().leaf_statistics(1), ColumnStatistics::default());
    }
}
