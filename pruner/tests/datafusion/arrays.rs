//! Values as Arrow columns of their own types.

use std::sync::Arc;

use arrow::array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow::array::{ArrayRef, AsArray, BinaryArray, BooleanArray, FixedSizeBinaryArray, PrimitiveArray, StringArray};
use arrow::datatypes::{DataType, Field, TimeUnit as ArrowUnit};
use prunus_pruner::Column;
use prunus_statistics::{PrimitiveType, TimeUnit, Value};

/// A column of a schema.
pub(crate) fn field(column: &Column) -> Field {
    Field::new(column.path.join("."), data_type(column.column_type.unwrap()), true)
}

fn data_type(column_type: PrimitiveType) -> DataType {
    use PrimitiveType as T;
    match column_type {
        T::Boolean => DataType::Boolean,
        T::Int8 => DataType::Int8,
        T::Int16 => DataType::Int16,
        T::Int32 => DataType::Int32,
        T::Int64 => DataType::Int64,
        T::UInt8 => DataType::UInt8,
        T::UInt16 => DataType::UInt16,
        T::UInt32 => DataType::UInt32,
        T::UInt64 => DataType::UInt64,
        T::Float32 => DataType::Float32,
        T::Float64 => DataType::Float64,
        T::Decimal { precision, scale } => DataType::Decimal128(precision, i8::try_from(scale).unwrap()),
        T::String => DataType::Utf8,
        T::Binary => DataType::Binary,
        T::Uuid => DataType::FixedSizeBinary(16),
        T::Date => DataType::Date32,
        T::Timestamp(unit) => DataType::Timestamp(arrow_unit(unit), None),
        T::Timestamptz(unit) => DataType::Timestamp(arrow_unit(unit), Some("UTC".into())),
        other => panic!("no column of the tests is {other}"),
    }
}

fn arrow_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Second => ArrowUnit::Second,
        TimeUnit::Millisecond => ArrowUnit::Millisecond,
        TimeUnit::Microsecond => ArrowUnit::Microsecond,
        TimeUnit::Nanosecond => ArrowUnit::Nanosecond,
    }
}

/// Cells of one column.
pub(crate) fn array(column_type: PrimitiveType, cells: &[Option<&Value>]) -> ArrayRef {
    use PrimitiveType as T;
    match column_type {
        T::Boolean => Arc::new(cells.iter().map(|cell| cell.map(boolean)).collect::<BooleanArray>()),
        T::Int8 => integers::<Int8Type>(cells),
        T::Int16 => integers::<Int16Type>(cells),
        T::Int32 => integers::<Int32Type>(cells),
        T::Int64 => integers::<Int64Type>(cells),
        T::UInt8 => integers::<UInt8Type>(cells),
        T::UInt16 => integers::<UInt16Type>(cells),
        T::UInt32 => integers::<UInt32Type>(cells),
        T::UInt64 => integers::<UInt64Type>(cells),
        T::Date => integers::<Date32Type>(cells),
        T::Float32 => {
            let single = |cell: Option<&Value>| cell.map(|value| float(value) as f32);
            Arc::new(cells.iter().copied().map(single).collect::<PrimitiveArray<Float32Type>>())
        }
        T::Float64 => Arc::new(cells.iter().map(|cell| cell.map(float)).collect::<PrimitiveArray<Float64Type>>()),
        T::Decimal { .. } => {
            let units = integers::<Decimal128Type>(cells).as_primitive::<Decimal128Type>().clone();
            Arc::new(units.with_data_type(data_type(column_type)))
        }
        T::String => {
            let text = |cell: Option<&Value>| cell.map(|value| String::from_utf8(bytes(value).to_vec()).unwrap());
            Arc::new(cells.iter().copied().map(text).collect::<StringArray>())
        }
        T::Binary => Arc::new(cells.iter().map(|cell| cell.map(bytes)).collect::<BinaryArray>()),
        T::Uuid => {
            let cells = cells.iter().map(|cell| cell.map(bytes));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(cells, 16).unwrap())
        }
        T::Timestamp(_) | T::Timestamptz(_) => {
            arrow::compute::cast(&integers::<Int64Type>(cells), &data_type(column_type)).unwrap()
        }
        other => panic!("no column of the tests is {other}"),
    }
}

fn integers<T: ArrowPrimitiveType<Native: TryFrom<i128, Error: std::fmt::Debug>>>(
    cells: &[Option<&Value>],
) -> ArrayRef {
    let integer = |value: &Value| match value {
        Value::Integer(value) => T::Native::try_from(*value).unwrap(),
        other => panic!("{other:?} is no integer"),
    };
    Arc::new(cells.iter().map(|cell| cell.map(integer)).collect::<PrimitiveArray<T>>())
}

fn boolean(value: &Value) -> bool {
    matches!(value, Value::Boolean(true))
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Float(value) => *value,
        other => panic!("{other:?} is no float"),
    }
}

fn bytes(value: &Value) -> &[u8] {
    match value {
        Value::Bytes(bytes) => bytes,
        other => panic!("{other:?} is no bytes"),
    }
}
