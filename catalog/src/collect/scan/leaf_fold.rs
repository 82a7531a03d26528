//! What the values of a leaf come to: the smallest, the largest, and how many are null or NaN.

use std::cmp::Ordering;
use std::sync::Arc;

use prunus_statistics::{
    Bound, ColumnStatistics, Count, Precision, PrimitiveType, Provenance, Value, cut_lower, cut_upper,
};

use super::super::bound_value::{decode_stored, is_possible};
use super::super::file_schema::FileLeaf;
use super::super::leaf_type::StoredType;

/// How many bytes an exact bound may have. Of longer values as many are kept, and the bound is cut: values may have hundreds of
/// megabytes, and many files are read at once.
pub const MAX_EXACT_BOUND_BYTES: usize = 4096;

const NANOSECONDS_PER_MICROSECOND: i128 = 1_000;

/// A leaf's values so far.
#[derive(Clone, Debug)]
pub(super) struct LeafFold {
    leaf: Arc<FileLeaf>,
    kind: Kind,
    slots: u64,
    nulls: u64,
    nans: u64,
    min: Option<Value>,
    max: Option<Value>,
    /// Whether there was a value that cannot be read as one of the leaf's type.
    unreadable: bool,
}

/// What is to be found out of values.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// How many there are, and no more: the type has no order.
    Counted,
    /// Their order is that of their bytes.
    Bytes,
    /// They must be decoded.
    Decoded,
}

impl LeafFold {
    pub(super) fn of(leaf: &FileLeaf) -> Self {
        let kind = match leaf.column_type {
            Some(column_type) if column_type.is_float() => Kind::Decoded,
            Some(_) if !leaf.ordered => Kind::Counted,
            Some(PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Fixed(_) | PrimitiveType::Uuid) => {
                Kind::Bytes
            }
            Some(_) => Kind::Decoded,
            None => Kind::Counted,
        };
        let leaf = Arc::new(leaf.clone());
        Self { leaf, kind, slots: 0, nulls: 0, nans: 0, min: None, max: None, unreadable: false }
    }

    pub(super) fn leaf(&self) -> &FileLeaf {
        &self.leaf
    }

    pub(super) fn stored(&self) -> StoredType {
        self.leaf.stored
    }

    /// Counts slots of a page, and how many of them hold no value.
    pub(super) fn add_slots(&mut self, slots: u64, nulls: u64) {
        self.slots = self.slots.saturating_add(slots);
        self.nulls = self.nulls.saturating_add(nulls);
    }

    /// Takes in a value that occurs so many times.
    pub(super) fn add(&mut self, bytes: &[u8], times: u64) {
        match self.kind {
            Kind::Counted => {}
            Kind::Bytes => {
                // The beginnings of values are in the order of the values. One byte more tells that there was more.
                let bytes = bytes.get(..=MAX_EXACT_BOUND_BYTES).unwrap_or(bytes);
                replace_bytes(&mut self.min, bytes, Ordering::Less);
                replace_bytes(&mut self.max, bytes, Ordering::Greater);
            }
            Kind::Decoded => self.add_decoded(decode_stored(bytes, &self.leaf), times),
        }
    }

    fn add_decoded(&mut self, value: Option<Value>, times: u64) {
        let Some(value) = value else {
            self.unreadable = true;
            return;
        };
        if value.is_nan() {
            self.nans = self.nans.saturating_add(times);
            return;
        }
        if self.min.as_ref().is_none_or(|min| order(&value, min) == Ordering::Less) {
            self.min = Some(value.clone());
        }
        if self.max.as_ref().is_none_or(|max| order(&value, max) == Ordering::Greater) {
            self.max = Some(value);
        }
    }

    /// Whether the bytes are those of a NaN.
    pub(super) fn is_nan(&self, bytes: &[u8]) -> bool {
        self.leaf.column_type.is_some_and(PrimitiveType::is_float)
            && decode_stored(bytes, &self.leaf).is_some_and(|value| value.is_nan())
    }

    /// How many NaNs there were.
    pub(super) fn nan_count(&self) -> Count {
        scanned(self.nans)
    }

    /// The statistics of the leaf, when all of its values are in.
    pub(super) fn into_statistics(self) -> ColumnStatistics {
        let is_float = self.leaf.column_type.is_some_and(PrimitiveType::is_float);
        let bounded = self.bounds_are_sure();
        let column_type = self.leaf.column_type;
        // Where only nulls may be stored, readers disagree on what anything else is.
        let nulls_are_sure = !self.leaf.repeated && (!self.leaf.holds_only_nulls() || self.nulls == self.slots);
        ColumnStatistics {
            null_count: nulls_are_sure.then(|| scanned(self.nulls)),
            nan_count: (is_float && !self.leaf.repeated).then(|| scanned(self.nans)),
            min: self.min.filter(|_| bounded).and_then(|min| {
                bound(min, column_type, |bytes, column_type| Some(cut_lower(bytes, column_type, MAX_EXACT_BOUND_BYTES)))
            }),
            max: self.max.filter(|_| bounded).and_then(|max| {
                bound(max, column_type, |bytes, column_type| cut_upper(bytes, column_type, MAX_EXACT_BOUND_BYTES))
            }),
        }
    }

    /// Readers make different things of a value that the type cannot hold: some wrap it, to where it may be beyond every
    /// other. So one such value makes both bounds unknown. All values lie between the two, so only these need a look.
    fn bounds_are_sure(&self) -> bool {
        let ends = [&self.min, &self.max];
        self.leaf.ordered && !self.unreadable && ends.into_iter().flatten().all(|value| self.can_be(value))
    }

    /// An INT96 may be an instant that 64 bits hold in microseconds only, whatever they do in nanoseconds.
    fn can_be(&self, value: &Value) -> bool {
        match (value, self.leaf.column_type) {
            (Value::Integer(instant), _) if self.leaf.stored == StoredType::Int96 => {
                i64::try_from(instant.div_euclid(NANOSECONDS_PER_MICROSECOND)).is_ok()
            }
            (_, Some(column_type)) => is_possible(value, column_type),
            (_, None) => false,
        }
    }
}

/// A value as an exact bound, or cut where it was too long to be kept as a whole. Of a fixed length nothing can be cut.
fn bound(
    value: Value,
    column_type: Option<PrimitiveType>,
    cut: impl FnOnce(&[u8], PrimitiveType) -> Option<Vec<u8>>,
) -> Option<Bound> {
    let provenance = Provenance::Scanned;
    match (value, column_type) {
        (Value::Bytes(bytes), Some(column_type)) if bytes.len() > MAX_EXACT_BOUND_BYTES => {
            let can_be_cut = matches!(column_type, PrimitiveType::String | PrimitiveType::Binary);
            let value = if can_be_cut { Value::Bytes(cut(&bytes, column_type)?) } else { return None };
            Some(Bound { value, precision: Precision::Bound, provenance })
        }
        (value, _) => Some(Bound { value, precision: Precision::Exact, provenance }),
    }
}

fn scanned(value: u64) -> Count {
    Count { value, provenance: Provenance::Scanned }
}

/// The order of two values of one leaf of which none is NaN; -0.0 comes before +0.0, so that an exact bound has its sign.
fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
        _ => a.compare(b).unwrap_or(Ordering::Equal),
    }
}

fn replace_bytes(side: &mut Option<Value>, bytes: &[u8], outward: Ordering) {
    match side {
        Some(Value::Bytes(known)) if bytes.cmp(known.as_slice()) == outward => {
            known.clear();
            known.extend_from_slice(bytes);
        }
        Some(_) => {}
        None => *side = Some(Value::Bytes(bytes.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use half::f16;
    use prunus_statistics::TimeUnit;

    use super::super::super::annotation::Annotation;
    use super::super::super::test_footer::test_leaf;
    use super::*;

    fn statistics(leaf: &FileLeaf, values: &[&[u8]]) -> ColumnStatistics {
        let mut fold = LeafFold::of(leaf);
        for value in values {
            fold.add(value, 1);
        }
        fold.into_statistics()
    }

    #[test]
    fn long_values_are_bounded_by_how_they_begin() {
        let leaf = test_leaf(StoredType::ByteArray, Annotation::String);
        let (a, z) = (vec![b'a'; 3 * MAX_EXACT_BOUND_BYTES], vec![b'z'; MAX_EXACT_BOUND_BYTES + 1]);
        let found = statistics(&leaf, &[&a, &z]);
        let end = [vec![b'z'; MAX_EXACT_BOUND_BYTES - 1], vec![b'z' + 1]].concat();
        for (bound, bytes) in [(&found.min, vec![b'a'; MAX_EXACT_BOUND_BYTES]), (&found.max, end)] {
            let bound = bound.as_ref().unwrap();
            assert_eq!((&bound.value, bound.precision), (&Value::Bytes(bytes), Precision::Bound));
        }
        let just_kept = vec![b'k'; MAX_EXACT_BOUND_BYTES];
        assert_eq!(statistics(&leaf, &[&just_kept]).max.unwrap().precision, Precision::Exact);
        let length = i32::try_from(MAX_EXACT_BOUND_BYTES + 1).unwrap();
        let fixed = test_leaf(StoredType::Fixed(length.try_into().unwrap()), Annotation::Plain);
        assert_eq!(statistics(&fixed, &[&vec![1; MAX_EXACT_BOUND_BYTES + 1]]).min, None);
    }

    /// The bounds of values, smallest and largest.
    fn check(
        stored: StoredType,
        annotation: Annotation,
        values: &[&[u8]],
        expected: impl Into<Option<(Value, Value)>>,
    ) {
        let found = statistics(&test_leaf(stored, annotation), values);
        for bound in [&found.min, &found.max].into_iter().flatten() {
            assert_eq!((bound.precision, bound.provenance), (Precision::Exact, Provenance::Scanned));
        }
        let values = found.min.zip(found.max).map(|(min, max)| (min.value, max.value));
        assert_eq!(values, expected.into(), "{stored:?} {annotation:?}");
    }

    fn integers(min: i128, max: i128) -> (Value, Value) {
        (Value::Integer(min), Value::Integer(max))
    }

    fn bytes(min: &[u8], max: &[u8]) -> (Value, Value) {
        (Value::Bytes(min.to_vec()), Value::Bytes(max.to_vec()))
    }

    #[test]
    fn bounds_are_in_the_order_of_the_type() {
        let unsigned = Annotation::Integer { bits: 32, signed: false };
        let decimal = Annotation::Decimal { precision: 9, scale: 2 };
        let words: [&[u8]; 2] = [&[0xff; 4], &[1, 0, 0, 0]];
        check(StoredType::Int32, Annotation::Plain, &words, integers(-1, 1));
        check(StoredType::Int32, unsigned, &words, integers(1, u32::MAX.into()));
        check(StoredType::ByteArray, decimal, &[&[0xff, 0x00], &[0x80], &[0x00, 0x80]], integers(-256, 128));
        check(StoredType::ByteArray, Annotation::String, &[b"b", b"\xff", b"a\xff", b""], bytes(b"", b"\xff"));
        check(StoredType::Fixed(1), Annotation::Plain, &[&[0x80], &[0x7f]], bytes(&[0x7f], &[0x80]));
        check(StoredType::Boolean, Annotation::Plain, &[&[1]], (Value::Boolean(true), Value::Boolean(true)));
    }

    #[test]
    fn a_value_that_the_type_cannot_hold_makes_both_bounds_unknown() {
        let narrow = Annotation::Integer { bits: 8, signed: true };
        check(StoredType::Int32, narrow, &[&[5, 0, 0, 0], &[127, 0, 0, 0]], integers(5, 127));
        check(StoredType::Int32, narrow, &[&[5, 0, 0, 0], &[0x2c, 1, 0, 0]], None);
        let time = Annotation::Time(TimeUnit::Millisecond);
        check(StoredType::Int32, time, &[&[0; 4], &86_400_000_i32.to_le_bytes()], None);
        let decimal = Annotation::Decimal { precision: 2, scale: 0 };
        check(StoredType::Int32, decimal, &[&[1, 0, 0, 0], &[100, 0, 0, 0]], None);
        check(StoredType::ByteArray, decimal, &[&[1], &[]], None);
        check(StoredType::ByteArray, decimal, &[&[1], &[&[1][..], &[0; 16]].concat()], None);
    }

    #[test]
    fn an_int96_is_an_instant_of_more_than_64_bits() {
        let int96 = |nanoseconds: i64, day: i32| [&nanoseconds.to_le_bytes()[..], &day.to_le_bytes()].concat();
        let (low, high) = (int96(0, 2_440_588), int96(1, 5_373_484));
        check(StoredType::Int96, Annotation::Plain, &[&high, &low], integers(0, 253_402_214_400_000_000_001));
        // Nanoseconds beyond a day, and a day beyond 64 bits of microseconds.
        check(StoredType::Int96, Annotation::Plain, &[&low, &int96(-1, 2_440_588)], None);
        check(StoredType::Int96, Annotation::Plain, &[&low, &int96(0, i32::MAX)], None);
    }

    #[test]
    fn nans_of_every_pattern_are_counted_and_left_out() {
        let leaf = test_leaf(StoredType::Double, Annotation::Plain);
        let patterns = [0x7ff8_0000_0000_0000, 0xfff8_0000_0000_0000, 0x7ff0_0000_0000_0001, u64::MAX];
        let nans: Vec<[u8; 8]> = patterns.iter().map(|bits: &u64| bits.to_le_bytes()).collect();
        let (low, high) = (f64::NEG_INFINITY.to_le_bytes(), 1.0_f64.to_le_bytes());
        let values: Vec<&[u8]> = nans.iter().chain([&low, &high]).map(<[u8; 8]>::as_slice).collect();
        let found = statistics(&leaf, &values);
        assert_eq!(found.nan_count, Some(scanned(4)));
        assert_eq!(found.min.map(|bound| bound.value), Some(Value::Float(f64::NEG_INFINITY)));
        assert_eq!(found.max.map(|bound| bound.value), Some(Value::Float(1.0)));
        let half = test_leaf(StoredType::Fixed(2), Annotation::Float16);
        assert_eq!(statistics(&half, &[&f16::NAN.to_le_bytes()]).nan_count, Some(scanned(1)));
    }

    #[test]
    fn zeros_keep_their_signs() {
        let zeros = [0.0_f32.to_le_bytes(), (-0.0_f32).to_le_bytes()];
        let found = statistics(&test_leaf(StoredType::Float, Annotation::Plain), &[&zeros[0], &zeros[1]]);
        let bits = [found.min, found.max].map(|bound| match bound.unwrap().value {
            Value::Float(value) => value.to_bits(),
            other => panic!("{other:?}"),
        });
        assert_eq!(bits, [(-0.0_f64).to_bits(), 0.0_f64.to_bits()]);
    }

    #[test]
    fn a_type_without_an_order_has_counts_only() {
        check(StoredType::ByteArray, Annotation::Unordered, &[b"a"], None);
        check(StoredType::Fixed(12), Annotation::Interval, &[&[0; 12]], None);
        let mut fold = LeafFold::of(&test_leaf(StoredType::Fixed(12), Annotation::Interval));
        fold.add_slots(5, 2);
        assert_eq!(fold.into_statistics().null_count, Some(scanned(2)));
    }

    #[test]
    fn values_where_only_nulls_may_be_make_the_null_count_unknown() {
        let leaf = test_leaf(StoredType::Int32, Annotation::Null);
        let null_count = |nulls| {
            let mut fold = LeafFold::of(&leaf);
            fold.add_slots(5, nulls);
            fold.into_statistics().null_count
        };
        assert_eq!(null_count(5), Some(scanned(5)));
        assert_eq!(null_count(4), None);
    }
}
