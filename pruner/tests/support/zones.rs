//! Zone maps of files, as Arrow columns.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, UInt64Array,
};
use prunus_pruner::{Column, ColumnZones, ZoneColumns, ZoneMaps};
use prunus_statistics::{PhysicalType, PrimitiveType, Value, ZoneMap};

/// The containers' zone maps for the pruner: `zones` holds, for each column, a zone map per container.
pub(crate) fn zone_maps(columns: &[Column], row_counts: &[Option<u64>], zones: &[Vec<ZoneMap>]) -> ZoneMaps {
    let mut maps = ZoneMaps::new(&UInt64Array::from(row_counts.to_vec()));
    for (column, zones) in columns.iter().zip(zones) {
        if let Some(column_type) = column.column_type {
            maps.insert(column.id, column_zones(column_type, zones)).unwrap();
        }
    }
    maps
}

fn column_zones(column_type: PrimitiveType, zones: &[ZoneMap]) -> ColumnZones {
    let physical_type = column_type.physical_type();
    let min = bounds(physical_type, zones.iter().map(ZoneMap::min));
    let max = bounds(physical_type, zones.iter().map(ZoneMap::max));
    let null_count: UInt64Array = zones.iter().map(ZoneMap::null_count).collect();
    let nan_count: UInt64Array = zones.iter().map(ZoneMap::nan_count).collect();
    let valueless: BooleanArray = zones.iter().map(|zone| Some(zone.is_valueless())).collect();
    let columns =
        ZoneColumns { min: &min, max: &max, null_count: &null_count, nan_count: &nan_count, valueless: &valueless };
    ColumnZones::new(physical_type, &columns).unwrap()
}

fn bounds<'a>(physical_type: PhysicalType, values: impl Iterator<Item = Option<&'a Value>>) -> ArrayRef {
    fn integers<'a, T: TryFrom<i128>>(values: impl Iterator<Item = Option<&'a Value>>) -> Vec<Option<T>> {
        let integer = |value: &Value| match value {
            Value::Integer(value) => T::try_from(*value).ok(),
            Value::Boolean(value) => T::try_from(i128::from(*value)).ok(),
            _ => None,
        };
        values.map(|value| value.map(|value| integer(value).expect("a bound of the physical type"))).collect()
    }
    match physical_type {
        PhysicalType::Int32 => Arc::new(Int32Array::from(integers::<i32>(values))),
        PhysicalType::Int64 => Arc::new(Int64Array::from(integers::<i64>(values))),
        PhysicalType::UInt64 => Arc::new(UInt64Array::from(integers::<u64>(values))),
        PhysicalType::Int128 => {
            let array = Decimal128Array::from(integers::<i128>(values));
            Arc::new(array.with_precision_and_scale(38, 0).unwrap())
        }
        PhysicalType::Float64 => Arc::new(
            values
                .map(|value| match value {
                    Some(Value::Float(value)) => Some(*value),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        PhysicalType::Bytes => Arc::new(
            values
                .map(|value| match value {
                    Some(Value::Bytes(bytes)) => Some(bytes.as_slice()),
                    _ => None,
                })
                .collect::<BinaryArray>(),
        ),
    }
}
