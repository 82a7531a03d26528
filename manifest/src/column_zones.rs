//! Zone maps of one column as Arrow arrays: a slot for each container, be it a file of a manifest or of the tail, or a
//! manifest.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BinaryBuilder, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, UInt64Array,
};
use arrow::compute::{cast, nullif};
use arrow::datatypes::DataType;
use prunus_statistics::{PhysicalType, PrimitiveType, Reading, Value, ZoneMap};

use crate::column_detail::value_at;
use crate::error::FormatError;

/// The most bytes that the lower, or the upper, bounds of one column may take together. What does not fit any more is
/// unknown. Arrow counts bytes in 31 bits and SQLite's blobs end at a billion.
pub const MAX_BOUND_BYTES: usize = 256 << 20;

/// The digits that an Arrow decimal of 128 bits holds.
const DECIMAL_DIGITS: u8 = 38;

/// What is known of one column in each of a list of containers. All arrays are as long as the list, and both bounds are
/// of the Arrow type that [`arrow_type`] gives for the physical type; null is unknown.
#[derive(Clone, Debug)]
pub struct ColumnZones {
    physical_type: PhysicalType,
    min: ArrayRef,
    max: ArrayRef,
    null_count: UInt64Array,
    nan_count: UInt64Array,
    valueless: BooleanArray,
}

/// The Arrow type of the bounds of a physical type: the same for 32, 64 and floats; `Decimal128(38, 0)` for 128 bits,
/// `Binary` for bytes.
pub const fn arrow_type(physical_type: PhysicalType) -> DataType {
    match physical_type {
        PhysicalType::Int32 => DataType::Int32,
        PhysicalType::Int64 => DataType::Int64,
        PhysicalType::UInt64 => DataType::UInt64,
        PhysicalType::Float64 => DataType::Float64,
        PhysicalType::Int128 => DataType::Decimal128(DECIMAL_DIGITS, 0),
        PhysicalType::Bytes => DataType::Binary,
    }
}

impl ColumnZones {
    /// The zone maps of a column of a physical type. A bound that the type does not hold is unknown.
    pub fn from_zone_maps<'z>(physical_type: PhysicalType, zones: impl IntoIterator<Item = &'z ZoneMap>) -> Self {
        let zones: Vec<&ZoneMap> = zones.into_iter().collect();
        Self {
            physical_type,
            min: bounds(physical_type, zones.iter().map(|zone| zone.min())),
            max: bounds(physical_type, zones.iter().map(|zone| zone.max())),
            null_count: zones.iter().map(|zone| zone.null_count()).collect(),
            nan_count: zones.iter().map(|zone| zone.nan_count()).collect(),
            valueless: zones.iter().map(|zone| Some(zone.is_valueless())).collect(),
        }
    }

    /// Of a column of which nothing is known in any of `len` containers.
    pub fn unknown(column_type: PrimitiveType, len: usize) -> Self {
        let zone = ZoneMap::unknown(column_type);
        Self::from_zone_maps(column_type.physical_type(), std::iter::repeat_n(&zone, len))
    }

    /// From arrays of one length and of the Arrow type of the physical type.
    pub(crate) fn from_arrays(
        physical_type: PhysicalType,
        [min, max]: [ArrayRef; 2],
        [null_count, nan_count]: [UInt64Array; 2],
        valueless: BooleanArray,
    ) -> Self {
        Self { physical_type, min, max, null_count, nan_count, valueless }
    }

    /// How the bounds stand.
    pub fn physical_type(&self) -> PhysicalType {
        self.physical_type
    }

    /// How many containers there are.
    pub fn len(&self) -> usize {
        self.valueless.len()
    }

    /// Whether there is no container.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lower bounds of the values that are neither null nor NaN.
    pub fn min(&self) -> &ArrayRef {
        &self.min
    }

    /// The upper bounds of the same.
    pub fn max(&self) -> &ArrayRef {
        &self.max
    }

    /// How many rows are null.
    pub fn null_count(&self) -> &UInt64Array {
        &self.null_count
    }

    /// How many rows are NaN; zero for columns that are not of floats.
    pub fn nan_count(&self) -> &UInt64Array {
        &self.nan_count
    }

    /// Whether it is known that no row holds a value that is neither null nor NaN; no slot is null.
    pub fn valueless(&self) -> &BooleanArray {
        &self.valueless
    }

    /// The same, but nothing is known of the containers whose slots are set.
    pub(crate) fn without(&self, hidden: &BooleanArray) -> Result<Self, FormatError> {
        let counts = |counts: &UInt64Array| Ok::<_, FormatError>(nullif(counts, hidden)?.as_primitive().clone());
        let is_float = self.physical_type == PhysicalType::Float64;
        let is_valueless =
            |(valueless, hidden): (Option<bool>, Option<bool>)| Some(valueless == Some(true) && hidden != Some(true));
        Ok(Self {
            physical_type: self.physical_type,
            min: nullif(&self.min, hidden)?,
            max: nullif(&self.max, hidden)?,
            null_count: counts(&self.null_count)?,
            nan_count: if is_float { counts(&self.nan_count)? } else { self.nan_count.clone() },
            valueless: self.valueless.iter().zip(hidden).map(is_valueless).collect(),
        })
    }

    /// The same for readers to whom the column is of another type than it was when this was written.
    pub(crate) fn read_as(self, from: PrimitiveType, to: PrimitiveType) -> Result<Self, FormatError> {
        let reading = Reading::of(from, to);
        if from == to {
            return Ok(self);
        }
        if reading.is_unknown() {
            return Ok(Self::unknown(to, self.len()));
        }
        let physical_type = to.physical_type();
        let (min, max) = if reading.keeps_values() {
            // What would not fit becomes null, which is unknown.
            (cast(&self.min, &arrow_type(physical_type))?, cast(&self.max, &arrow_type(physical_type))?)
        } else {
            let read = |array: &ArrayRef, side: fn(Reading, &Value) -> Option<Value>| {
                let value = |index| value_at(array, index, from).and_then(|value| side(reading, &value));
                let values: Vec<Option<Value>> = (0..array.len()).map(value).collect();
                bounds(physical_type, values.iter().map(Option::as_ref))
            };
            (read(&self.min, Reading::lower), read(&self.max, Reading::upper))
        };
        Ok(Self { physical_type, min, max, ..self })
    }
}

impl PartialEq for ColumnZones {
    fn eq(&self, other: &Self) -> bool {
        self.physical_type == other.physical_type
            && self.min.as_ref() == other.min.as_ref()
            && self.max.as_ref() == other.max.as_ref()
            && self.null_count == other.null_count
            && self.nan_count == other.nan_count
            && self.valueless == other.valueless
    }
}

fn bounds<'z>(physical_type: PhysicalType, values: impl Iterator<Item = Option<&'z Value>>) -> ArrayRef {
    let numbers = values;
    match physical_type {
        PhysicalType::Int32 => Arc::new(numbers.map(|value| integer(value)?.try_into().ok()).collect::<Int32Array>()),
        PhysicalType::Int64 => Arc::new(numbers.map(|value| integer(value)?.try_into().ok()).collect::<Int64Array>()),
        PhysicalType::UInt64 => Arc::new(numbers.map(|value| integer(value)?.try_into().ok()).collect::<UInt64Array>()),
        PhysicalType::Float64 => Arc::new(numbers.map(float).collect::<Float64Array>()),
        PhysicalType::Int128 => {
            let limit = 10_i128.pow(DECIMAL_DIGITS.into());
            let fitting = numbers.map(|value| integer(value).filter(|integer| (1 - limit..limit).contains(integer)));
            Arc::new(fitting.collect::<Decimal128Array>().with_data_type(arrow_type(PhysicalType::Int128)))
        }
        PhysicalType::Bytes => bytes(numbers, MAX_BOUND_BYTES),
    }
}

fn integer(value: Option<&Value>) -> Option<i128> {
    match value? {
        Value::Boolean(value) => Some((*value).into()),
        Value::Integer(value) => Some(*value),
        Value::Float(_) | Value::Bytes(_) => None,
    }
}

fn float(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Float(value) if !value.is_nan() => Some(*value),
        _ => None,
    }
}

fn bytes<'z>(values: impl Iterator<Item = Option<&'z Value>>, limit: usize) -> ArrayRef {
    let mut array = BinaryBuilder::new();
    let mut free = limit;
    for value in values {
        match value {
            Some(Value::Bytes(bytes)) if bytes.len() <= free => {
                free -= bytes.len();
                array.append_value(bytes);
            }
            _ => array.append_null(),
        }
    }
    Arc::new(array.finish())
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray};
    use prunus_statistics::{Bound, ColumnStatistics, FileColumn, Precision, Provenance};

    use super::*;

    fn zone(min: Value, column_type: PrimitiveType) -> ZoneMap {
        let bound = Bound { value: min, precision: Precision::Bound, provenance: Provenance::Footer };
        let column = FileColumn::Present(ColumnStatistics { min: Some(bound), ..Default::default() });
        ZoneMap::of_file(Some(&column), column_type, None)
    }

    fn check_min(column_type: PrimitiveType, min: Value, expected: &dyn Array) {
        let zones = ColumnZones::from_zone_maps(column_type.physical_type(), [&zone(min, column_type)]);
        assert_eq!(zones.min().as_ref(), expected, "{column_type}");
    }

    #[test]
    fn every_physical_type_holds_its_extremes() {
        check_min(PrimitiveType::Boolean, Value::Boolean(true), &Int32Array::from(vec![1]));
        check_min(PrimitiveType::Int32, Value::Integer(i32::MIN.into()), &Int32Array::from(vec![i32::MIN]));
        check_min(PrimitiveType::Int64, Value::Integer(i64::MIN.into()), &Int64Array::from(vec![i64::MIN]));
        check_min(PrimitiveType::UInt64, Value::Integer(u64::MAX.into()), &UInt64Array::from(vec![u64::MAX]));
        check_min(PrimitiveType::Float64, Value::Float(-0.0), &Float64Array::from(vec![-0.0]));
        let lowest = 1 - 10_i128.pow(38);
        let decimals = Decimal128Array::from(vec![lowest]).with_data_type(DataType::Decimal128(38, 0));
        check_min(PrimitiveType::Decimal { precision: 38, scale: 38 }, Value::Integer(lowest), &decimals);
    }

    #[test]
    fn a_value_that_the_physical_type_does_not_hold_is_unknown() {
        for (written, read, min) in [
            (PrimitiveType::Int64, PhysicalType::Int32, Value::Integer(i64::MAX.into())),
            (PrimitiveType::Int64, PhysicalType::UInt64, Value::Integer(-1)),
            (PrimitiveType::Float64, PhysicalType::Int64, Value::Float(1.0)),
            (PrimitiveType::String, PhysicalType::Float64, Value::Bytes(vec![b'a'])),
        ] {
            let zones = ColumnZones::from_zone_maps(read, [&zone(min, written)]);
            assert!(zones.min().is_null(0), "{written} as {read:?}");
        }
    }

    #[test]
    fn bytes_beyond_the_limit_are_unknown() {
        let (short, long) = (Value::Bytes(vec![1; 3]), Value::Bytes(vec![1; 4]));
        let array = bytes([Some(&short), Some(&long), Some(&short), Some(&short)].into_iter(), 6);
        let known: Vec<bool> = array.as_binary::<i32>().iter().map(|value| value.is_some()).collect();
        assert_eq!(known, [true, false, true, false]);
    }

    fn read_as(from: PrimitiveType, min: Value, to: PrimitiveType) -> ColumnZones {
        ColumnZones::from_zone_maps(from.physical_type(), [&zone(min, from)]).read_as(from, to).unwrap()
    }

    #[test]
    fn a_widened_column_keeps_its_bounds() {
        let decimal = |precision, scale| PrimitiveType::Decimal { precision, scale };
        for (from, to, number) in [
            (PrimitiveType::Int32, PrimitiveType::Int64, -7),
            (PrimitiveType::UInt32, PrimitiveType::UInt64, i128::from(u32::MAX)),
            (PrimitiveType::UInt64, decimal(20, 0), i128::from(u64::MAX)),
            (decimal(9, 2), decimal(30, 2), -999_999_999),
        ] {
            let expected = ColumnZones::from_zone_maps(to.physical_type(), [&zone(Value::Integer(number), to)]);
            assert_eq!(read_as(from, Value::Integer(number), to), expected, "{from} as {to}");
        }
    }

    #[test]
    fn dates_and_timestamps_are_read_as_each_other_outwards() {
        let timestamp = PrimitiveType::Timestamp(prunus_statistics::TimeUnit::Second);
        for (from, number, to, expected) in
            [(PrimitiveType::Date, -2, timestamp, -172_800), (timestamp, 86_399, PrimitiveType::Date, 0)]
        {
            let expected = ColumnZones::from_zone_maps(to.physical_type(), [&zone(Value::Integer(expected), to)]);
            assert_eq!(read_as(from, Value::Integer(number), to), expected, "{from} as {to}");
        }
    }

    #[test]
    fn floats_are_read_as_narrower_ones_outwards() {
        let (from, to) = (PrimitiveType::Float64, PrimitiveType::Float32);
        let below = Value::Float(0.1_f32.next_down().into());
        let expected = ColumnZones::from_zone_maps(to.physical_type(), [&zone(below, to)]);
        assert_eq!(read_as(from, Value::Float(0.1), to), expected);
    }

    #[test]
    fn a_column_that_became_something_else_is_unknown() {
        let decimal = |precision, scale| PrimitiveType::Decimal { precision, scale };
        for (from, to) in [
            (decimal(9, 2), decimal(9, 3)),
            (PrimitiveType::Int32, PrimitiveType::Float64),
            (PrimitiveType::Int32, PrimitiveType::String),
        ] {
            assert_eq!(read_as(from, Value::Integer(1), to), ColumnZones::unknown(to, 1), "{from} as {to}");
        }
    }
}
