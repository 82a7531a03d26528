//! What the values of a leaf come to: the smallest, the largest, and how many are null or NaN.

use std::cmp::Ordering;
use std::sync::Arc;

use prunus_statistics::{Bound, ColumnStatistics, Count, Precision, PrimitiveType, Provenance, Value};

use super::super::bound_value::{decode_stored, is_possible};
use super::super::file_schema::FileLeaf;
use super::super::leaf_type::StoredType;

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
            Some(
                PrimitiveType::String | PrimitiveType::Binary | PrimitiveType::Fixed(_) | PrimitiveType::Uuid,
            ) => Kind::Bytes,
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
        let bound = |value: Value| Bound { value, precision: Precision::Exact, provenance: Provenance::Scanned };
        // Where only nulls may be stored, readers disagree on what anything else is.
        let nulls_are_sure = !self.leaf.repeated && (!self.leaf.holds_only_nulls() || self.nulls == self.slots);
        ColumnStatistics {
            null_count: nulls_are_sure.then(|| scanned(self.nulls)),
            nan_count: (is_float && !self.leaf.repeated).then(|| scanned(self.nans)),
            min: self.min.filter(|_| bounded).map(bound),
            max: self.max.filter(|_| bounded).map(bound),
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
