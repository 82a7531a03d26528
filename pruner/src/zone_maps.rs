//! Zone maps of many containers as columns: the pruner's input.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, PrimitiveArray, UInt64Array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use prunus_statistics::{FieldId, PhysicalType, Value};

use crate::kernels::{self, Item, Side, Sides, Values};
use crate::mask::Mask;

/// What is known of a set of containers: the row counts, and the zone maps of some columns. Of a column that is not here
/// nothing is known.
#[derive(Debug)]
pub struct ZoneMaps {
    containers: usize,
    with_rows: Mask,
    columns: BTreeMap<FieldId, Arc<ColumnZones>>,
}

/// The zone maps of one column over the containers, in usable form: what is unknown is "may be".
#[derive(Clone, Debug)]
pub struct ColumnZones {
    pub(crate) bounds: Bounds,
    pub(crate) may_be_null: Mask,
    pub(crate) may_be_nan: Mask,
    /// Whether the container may hold a value that is neither null nor NaN.
    pub(crate) may_have_value: Mask,
    pub(crate) null_count_known: Mask,
    pub(crate) nan_count_known: Mask,
}

/// Lower and upper bounds in the form of their physical type. Where a bound is unknown its slot holds any value.
#[derive(Clone, Debug)]
pub(crate) enum Bounds {
    Int32(Sides<PrimitiveArray<Int32Type>>),
    Int64(Sides<PrimitiveArray<Int64Type>>),
    UInt64(Sides<PrimitiveArray<UInt64Type>>),
    Float64(Sides<PrimitiveArray<Float64Type>>),
    Int128(Sides<PrimitiveArray<Decimal128Type>>),
    Bytes(Sides<BinaryArray>),
}

/// The Arrow columns that zone maps are made of, a row per container; null is unknown.
#[derive(Clone, Debug)]
pub struct ZoneColumns<'a> {
    /// Lower bounds, in the physical type.
    pub min: &'a ArrayRef,
    /// Upper bounds, in the physical type.
    pub max: &'a ArrayRef,
    /// How many rows are null.
    pub null_count: &'a UInt64Array,
    /// How many rows are NaN; zero, not null, for a column that is not of floats.
    pub nan_count: &'a UInt64Array,
    /// Whether it is known that no row holds a value that is neither null nor NaN.
    pub valueless: &'a BooleanArray,
}

/// Columns that do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneMapsError {
    /// The arrays, or the columns of one set of containers, are not of one length.
    #[error("zone maps of different lengths: {0} and {1}")]
    Lengths(usize, usize),
    /// Bounds that do not stand in the physical type.
    #[error("bounds do not have the physical type {0:?}")]
    PhysicalType(PhysicalType),
}

impl ColumnZones {
    /// Zone maps from their Arrow columns.
    ///
    /// # Errors
    /// [`ZoneMapsError`] if lengths or types do not fit.
    pub fn new(physical_type: PhysicalType, columns: &ZoneColumns<'_>) -> Result<Self, ZoneMapsError> {
        let ZoneColumns { min, max, null_count, nan_count, valueless } = columns;
        let len = min.len();
        for other in [max.len(), null_count.len(), nan_count.len(), valueless.len()] {
            if other != len {
                return Err(ZoneMapsError::Lengths(len, other));
            }
        }
        let known = |array: &dyn Array| bits(array.nulls().map(NullBuffer::inner), len);
        let bounds = Bounds::new(physical_type, [min, max], [known(min), known(max)])
            .ok_or(ZoneMapsError::PhysicalType(physical_type))?;
        Ok(Self {
            bounds,
            may_be_null: known_zeros(null_count).complement(),
            may_be_nan: known_zeros(nan_count).complement(),
            may_have_value: bits(Some(valueless.values()), len).and(&known(valueless)).complement(),
            null_count_known: known(null_count),
            nan_count_known: known(nan_count),
        })
    }

    fn len(&self) -> usize {
        self.may_be_null.len()
    }

    /// About how much memory they take; more, where the arrays that they were made of are parts of larger ones.
    pub fn size_bytes(&self) -> usize {
        const MASKS: usize = 5;
        size_of::<Self>() + MASKS * self.len().div_ceil(8) + self.bounds.size_bytes()
    }
}

impl Bounds {
    fn new(physical_type: PhysicalType, sides: [&ArrayRef; 2], known: [Mask; 2]) -> Option<Self> {
        fn both<A: Clone>([min, max]: [Option<&A>; 2]) -> Option<[A; 2]> {
            Some([min?.clone(), max?.clone()])
        }
        Some(match physical_type {
            PhysicalType::Int32 => Self::Int32(Sides::new(both(sides.map(|side| side.as_primitive_opt()))?, known)),
            PhysicalType::Int64 => Self::Int64(Sides::new(both(sides.map(|side| side.as_primitive_opt()))?, known)),
            PhysicalType::UInt64 => Self::UInt64(Sides::new(both(sides.map(|side| side.as_primitive_opt()))?, known)),
            PhysicalType::Float64 => Self::Float64(Sides::new(both(sides.map(|side| side.as_primitive_opt()))?, known)),
            PhysicalType::Int128 => Self::Int128(Sides::new(both(sides.map(|side| side.as_primitive_opt()))?, known)),
            PhysicalType::Bytes => Self::Bytes(Sides::new(both(sides.map(|side| side.as_binary_opt()))?, known)),
        })
    }

    /// The known bounds of one container, as they are stored.
    pub(crate) fn at(&self, index: usize) -> (Option<Value>, Option<Value>) {
        fn known<A: Values>(
            sides: &Sides<A>,
            index: usize,
            value: impl Fn(<A::Item as Item>::View<'_>) -> Value,
        ) -> (Option<Value>, Option<Value>) {
            let side = |side: &Side<A>| side.get(index).filter(|_| side.known.contains(index)).map(&value);
            (side(&sides.min), side(&sides.max))
        }
        match self {
            Self::Int32(sides) => known(sides, index, |value| Value::Integer(value.into())),
            Self::Int64(sides) => known(sides, index, |value| Value::Integer(value.into())),
            Self::UInt64(sides) => known(sides, index, |value| Value::Integer(value.into())),
            Self::Int128(sides) => known(sides, index, Value::Integer),
            Self::Float64(sides) => known(sides, index, Value::Float),
            Self::Bytes(sides) => known(sides, index, |bytes| Value::Bytes(bytes.to_vec())),
        }
    }

    fn size_bytes(&self) -> usize {
        match self {
            Self::Int32(sides) => sides.size_bytes(),
            Self::Int64(sides) => sides.size_bytes(),
            Self::UInt64(sides) => sides.size_bytes(),
            Self::Int128(sides) => sides.size_bytes(),
            Self::Float64(sides) => sides.size_bytes(),
            Self::Bytes(sides) => sides.size_bytes(),
        }
    }

    /// Where the bounds of both sides are known.
    pub(crate) fn both_known(&self) -> Mask {
        fn both<A>(sides: &Sides<A>) -> Mask {
            sides.min.known.clone().and(&sides.max.known)
        }
        match self {
            Self::Int32(sides) => both(sides),
            Self::Int64(sides) => both(sides),
            Self::UInt64(sides) => both(sides),
            Self::Int128(sides) => both(sides),
            Self::Float64(sides) => both(sides),
            Self::Bytes(sides) => both(sides),
        }
    }
}

/// The containers whose count is known to be zero.
fn known_zeros(counts: &UInt64Array) -> Mask {
    let zeros = Mask::from_words(kernels::zeros(counts.values()), counts.len());
    zeros.and(&bits(counts.nulls().map(NullBuffer::inner), counts.len()))
}

/// The containers whose bit is set; all, where there are no bits.
fn bits(bits: Option<&BooleanBuffer>, len: usize) -> Mask {
    bits.map_or_else(
        || Mask::all(len),
        |bits| Mask::from_words(bits.bit_chunks().iter_padded().take(len.div_ceil(64)).collect(), len),
    )
}

impl ZoneMaps {
    /// Containers of which only the row counts are known so far; a null count is unknown.
    pub fn new(row_counts: &UInt64Array) -> Self {
        let containers = row_counts.len();
        let with_rows = known_zeros(row_counts).complement();
        Self { containers, with_rows, columns: BTreeMap::new() }
    }

    /// The same, as if these containers had no NaN in these columns.
    pub(crate) fn without_nans(&self, columns: &BTreeMap<FieldId, Mask>) -> Self {
        let zones = |(id, zones): (&FieldId, &Arc<ColumnZones>)| {
            let Some(containers) = columns.get(id) else { return (*id, Arc::clone(zones)) };
            let mut zones = ColumnZones::clone(zones);
            zones.may_be_nan = zones.may_be_nan.and_not(containers);
            (*id, Arc::new(zones))
        };
        Self {
            containers: self.containers,
            with_rows: self.with_rows.clone(),
            columns: self.columns.iter().map(zones).collect(),
        }
    }

    /// Adds the zone maps of a column, which may be shared between many sets.
    ///
    /// # Errors
    /// [`ZoneMapsError::Lengths`] if they are not as many as there are containers.
    pub fn insert(&mut self, field: FieldId, zones: impl Into<Arc<ColumnZones>>) -> Result<(), ZoneMapsError> {
        let zones = zones.into();
        if zones.len() != self.containers {
            return Err(ZoneMapsError::Lengths(self.containers, zones.len()));
        }
        self.columns.insert(field, zones);
        Ok(())
    }

    /// How many containers there are.
    pub fn containers(&self) -> usize {
        self.containers
    }

    /// The containers that are not known to have no rows.
    pub(crate) fn with_rows(&self) -> &Mask {
        &self.with_rows
    }

    pub(crate) fn column(&self, field: FieldId) -> Option<&ColumnZones> {
        self.columns.get(&field).map(Arc::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Int64Array;

    use super::*;

    #[test]
    fn what_is_unknown_is_may_be() {
        for len in [0, 1, 63, 64, 65, 130] {
            // Parts of longer arrays, so that their bits do not begin at a byte.
            let whole = 0..len + 3;
            let counts = |seed: u64| -> UInt64Array {
                let count = |index: usize| (index as u64 + seed) % 5;
                whole.clone().map(|index| Some(count(index)).filter(|count| *count < 3)).collect()
            };
            let bounds: Int64Array = whole.clone().map(|index| (index % 4 > 0).then_some(1)).collect();
            let bounds: ArrayRef = Arc::new(bounds.slice(3, len));
            let valueless: BooleanArray =
                whole.clone().map(|index| [Some(true), Some(false), None][index % 3]).collect();
            let (nulls, nans) = (counts(0).slice(3, len), counts(2).slice(3, len));
            let valueless = valueless.slice(3, len);
            let columns =
                ZoneColumns { min: &bounds, max: &bounds, null_count: &nulls, nan_count: &nans, valueless: &valueless };
            let zones = ColumnZones::new(PhysicalType::Int64, &columns).unwrap();
            let mask = |test: &dyn Fn(usize) -> bool| Mask::from_fn(len, |index| test(index + 3));
            assert_eq!(zones.bounds.both_known(), mask(&|index| index % 4 > 0));
            assert_eq!(zones.may_be_null, mask(&|index| index % 5 != 0));
            assert_eq!(zones.may_be_nan, mask(&|index| (index + 2) % 5 != 0));
            assert_eq!(zones.may_have_value, mask(&|index| index % 3 != 0));
            assert_eq!(zones.null_count_known, mask(&|index| index % 5 < 3));
        }
    }
}
