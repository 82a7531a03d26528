//! Zone maps of many containers as columns: the pruner's input.

use std::collections::HashMap;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, PrimitiveArray, UInt64Array};
use arrow::datatypes::{ArrowPrimitiveType, Decimal128Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use prunus_statistics::{FieldId, PhysicalType};

use crate::mask::Mask;

/// What is known of a set of containers: the row counts, and the zone maps of some columns. Of a column that is not here
/// nothing is known.
#[derive(Debug)]
pub struct ZoneMaps {
    containers: usize,
    empty: Mask,
    columns: HashMap<FieldId, ColumnZones>,
}

/// The zone maps of one column over the containers, in usable form: what is unknown is "may be".
#[derive(Clone, Debug)]
pub struct ColumnZones {
    pub(crate) bounds: Bounds,
    pub(crate) min_known: Mask,
    pub(crate) max_known: Mask,
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

#[derive(Clone, Debug)]
pub(crate) struct Sides<A> {
    pub(crate) min: A,
    pub(crate) max: A,
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
        let bounds = Bounds::new(physical_type, min, max).ok_or(ZoneMapsError::PhysicalType(physical_type))?;
        let known_zero = |counts: &UInt64Array, index| counts.is_valid(index) && counts.value(index) == 0;
        Ok(Self {
            bounds,
            min_known: Mask::from_fn(len, |index| min.is_valid(index)),
            max_known: Mask::from_fn(len, |index| max.is_valid(index)),
            may_be_null: Mask::from_fn(len, |index| !known_zero(null_count, index)),
            may_be_nan: Mask::from_fn(len, |index| !known_zero(nan_count, index)),
            may_have_value: Mask::from_fn(len, |index| !(valueless.is_valid(index) && valueless.value(index))),
            null_count_known: Mask::from_fn(len, |index| null_count.is_valid(index)),
            nan_count_known: Mask::from_fn(len, |index| nan_count.is_valid(index)),
        })
    }

    fn len(&self) -> usize {
        self.may_be_null.len()
    }
}

impl Bounds {
    fn new(physical_type: PhysicalType, min: &ArrayRef, max: &ArrayRef) -> Option<Self> {
        fn sides<T: ArrowPrimitiveType>(min: &ArrayRef, max: &ArrayRef) -> Option<Sides<PrimitiveArray<T>>> {
            Some(Sides { min: min.as_primitive_opt::<T>()?.clone(), max: max.as_primitive_opt::<T>()?.clone() })
        }
        Some(match physical_type {
            PhysicalType::Int32 => Self::Int32(sides(min, max)?),
            PhysicalType::Int64 => Self::Int64(sides(min, max)?),
            PhysicalType::UInt64 => Self::UInt64(sides(min, max)?),
            PhysicalType::Float64 => Self::Float64(sides(min, max)?),
            PhysicalType::Int128 => Self::Int128(sides(min, max)?),
            PhysicalType::Bytes => {
                let [min, max] = [min, max].map(|side| side.as_binary_opt::<i32>().cloned());
                Self::Bytes(Sides { min: min?, max: max? })
            }
        })
    }
}

impl ZoneMaps {
    /// Containers of which only the row counts are known so far; a null count is unknown.
    pub fn new(row_counts: &UInt64Array) -> Self {
        let containers = row_counts.len();
        let empty = Mask::from_fn(containers, |index| row_counts.is_valid(index) && row_counts.value(index) == 0);
        Self { containers, empty, columns: HashMap::new() }
    }

    /// Adds the zone maps of a column.
    ///
    /// # Errors
    /// [`ZoneMapsError::Lengths`] if they are not as many as there are containers.
    pub fn insert(&mut self, field: FieldId, zones: ColumnZones) -> Result<(), ZoneMapsError> {
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

    /// The containers that are known to have no rows.
    pub(crate) fn empty(&self) -> &Mask {
        &self.empty
    }

    pub(crate) fn column(&self, field: FieldId) -> Option<&ColumnZones> {
        self.columns.get(&field)
    }
}
