//! A column's zones as a block.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use prunus_statistics::PhysicalType;

use crate::block;
use crate::column_zones::{ColumnZones, arrow_type};
use crate::error::FormatError;

fn schema(physical_type: PhysicalType) -> Schema {
    Schema::new(vec![
        Field::new("min", arrow_type(physical_type), true),
        Field::new("max", arrow_type(physical_type), true),
        Field::new("null_count", DataType::UInt64, true),
        Field::new("nan_count", DataType::UInt64, true),
        Field::new("valueless", DataType::Boolean, false),
    ])
}

pub(crate) fn encode(zones: &ColumnZones) -> Result<Vec<u8>, FormatError> {
    let columns: Vec<ArrayRef> = vec![
        Arc::clone(zones.min()),
        Arc::clone(zones.max()),
        Arc::new(zones.null_count().clone()),
        Arc::new(zones.nan_count().clone()),
        Arc::new(zones.valueless().clone()),
    ];
    block::write(&RecordBatch::try_new(Arc::new(schema(zones.physical_type())), columns)?)
}

/// The zones of `len` files of a column of this physical type.
pub(crate) fn decode(bytes: &[u8], physical_type: PhysicalType, len: usize) -> Result<ColumnZones, FormatError> {
    let batch = block::read(bytes, &schema(physical_type), len)?;
    let [min, max, null_count, nan_count, valueless] = batch.columns() else {
        return Err(FormatError::WrongColumns);
    };
    let bounds = [Arc::clone(min), Arc::clone(max)];
    let counts = [counts(null_count)?, counts(nan_count)?];
    let valueless: &BooleanArray = valueless.as_boolean_opt().ok_or(FormatError::WrongColumns)?;
    Ok(ColumnZones::from_arrays(physical_type, bounds, counts, valueless.clone()))
}

fn counts(array: &dyn Array) -> Result<UInt64Array, FormatError> {
    array.as_primitive_opt::<UInt64Type>().cloned().ok_or(FormatError::WrongColumns)
}
