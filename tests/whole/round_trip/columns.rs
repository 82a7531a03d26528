//! Random columns of all types that Arrow's writer puts into Parquet files, and what is in them.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeBinaryBuilder, Float32Array, Float64Array,
    ListArray, PrimitiveArray, StringArray, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Field, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use prunus_statistics::Value;

use crate::rows::Numbers;

/// A column of a batch, and what its leaves hold.
pub(super) struct Column {
    pub(super) field: Field,
    pub(super) array: ArrayRef,
    pub(super) leaves: Vec<Leaf>,
}

/// The values of a leaf: of its rows, or of the elements of its lists.
pub(super) struct Leaf {
    pub(super) path: Vec<String>,
    pub(super) in_list: bool,
    pub(super) values: Vec<Option<Value>>,
}

/// A column of each type, a struct and a list.
pub(super) fn columns(numbers: &mut Numbers, rows: usize) -> Vec<Column> {
    let mut columns: Vec<Column> =
        types().iter().enumerate().map(|(index, data_type)| plain(numbers, index, data_type, rows)).collect();
    columns.push(structs(numbers, rows));
    columns.push(lists(numbers, rows));
    columns
}

fn types() -> Vec<DataType> {
    use DataType as T;
    let dictionary = |key, value| T::Dictionary(Box::new(key), Box::new(value));
    let zone = |zone: &str| Some(Arc::from(zone));
    let moments = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
    let mut types = vec![
        T::Boolean,
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::UInt8,
        T::UInt16,
        T::UInt32,
        T::UInt64,
        T::Float16,
        T::Float32,
        T::Float64,
        T::Decimal32(7, 2),
        T::Decimal64(15, 3),
        T::Decimal128(5, 0),
        T::Decimal128(18, 18),
        T::Decimal128(38, 10),
        T::Utf8,
        T::LargeUtf8,
        T::Utf8View,
        T::Binary,
        T::FixedSizeBinary(5),
        T::Date32,
        T::Time32(TimeUnit::Millisecond),
        T::Time64(TimeUnit::Microsecond),
        T::Time64(TimeUnit::Nanosecond),
        dictionary(T::Int32, T::Utf8),
        dictionary(T::UInt16, T::Int64),
    ];
    types.extend(moments.map(|unit| T::Timestamp(unit, None)));
    types.extend(moments.map(|unit| T::Timestamp(unit, zone("+02:00"))));
    types
}

fn plain(numbers: &mut Numbers, index: usize, data_type: &DataType, rows: usize) -> Column {
    let name = format!("c{index}");
    let values = draw_values(numbers, data_type, rows);
    let array = array_of(data_type, &values);
    assert_eq!(array.data_type(), data_type);
    let leaf = Leaf { path: vec![name.clone()], in_list: false, values };
    Column { field: Field::new(name, data_type.clone(), true), array, leaves: vec![leaf] }
}

/// A struct that may be null, of a leaf that may be null and one that may not.
fn structs(numbers: &mut Numbers, rows: usize) -> Column {
    let present: Vec<bool> = (0..rows).map(|_| numbers.below(4) > 0).collect();
    let members = [("a", DataType::Float64, true), ("b", DataType::Utf8, false)];
    let (mut fields, mut arrays, mut leaves) = (Vec::new(), Vec::new(), Vec::new());
    for (name, data_type, nullable) in members {
        let mut values = draw_values(numbers, &data_type, rows);
        if !nullable {
            values = values.iter().map(|_| Some(draw(numbers, &data_type))).collect();
        }
        arrays.push(array_of(&data_type, &values));
        fields.push(Arc::new(Field::new(name, data_type, nullable)));
        let seen = values.into_iter().zip(&present).map(|(value, present)| value.filter(|_| *present)).collect();
        leaves.push(Leaf { path: vec!["s".to_owned(), name.to_owned()], in_list: false, values: seen });
    }
    let array = StructArray::new(fields.into(), arrays, Some(NullBuffer::from(present)));
    Column { field: Field::new("s", array.data_type().clone(), true), array: Arc::new(array), leaves }
}

/// Lists that may be null, empty, or hold nulls.
fn lists(numbers: &mut Numbers, rows: usize) -> Column {
    let present: Vec<bool> = (0..rows).map(|_| numbers.below(4) > 0).collect();
    let lengths: Vec<usize> =
        present.iter().map(|present| if *present { numbers.below(4) as usize } else { 0 }).collect();
    let values = draw_values(numbers, &DataType::Int64, lengths.iter().sum());
    let field = Arc::new(Field::new("element", DataType::Int64, true));
    let array = ListArray::new(
        field,
        OffsetBuffer::from_lengths(lengths),
        array_of(&DataType::Int64, &values),
        Some(NullBuffer::from(present)),
    );
    let path = ["l", "list", "element"].map(str::to_owned).to_vec();
    let field = Field::new("l", array.data_type().clone(), true);
    Column { field, array: Arc::new(array), leaves: vec![Leaf { path, in_list: true, values }] }
}

/// Values of which none, some or all are null, and which repeat a lot or little.
fn draw_values(numbers: &mut Numbers, data_type: &DataType, rows: usize) -> Vec<Option<Value>> {
    let null_tenths = [0, 3, 10][numbers.below(3) as usize];
    let pool_size = [1, 5, 300][numbers.below(3) as usize];
    let pool: Vec<Value> = (0..pool_size).map(|_| draw(numbers, data_type)).collect();
    let value = |numbers: &mut Numbers| pool[numbers.below(pool_size) as usize].clone();
    (0..rows).map(|_| (numbers.below(10) >= null_tenths).then(|| value(numbers))).collect()
}

fn draw(numbers: &mut Numbers, data_type: &DataType) -> Value {
    match data_type {
        DataType::Boolean => Value::Boolean(numbers.below(2) == 0),
        DataType::Float16 => draw_float(numbers, |numbers| numbers.below(4000) as f64 / 8.0 - 250.0),
        DataType::Float32 => draw_float(numbers, |numbers| f32::from_bits(numbers.next() as u32).into()),
        DataType::Float64 => draw_float(numbers, |numbers| f64::from_bits(numbers.next())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Value::Bytes(draw_text(numbers).into_bytes()),
        DataType::Binary => {
            let length = draw_length(numbers);
            Value::Bytes((0..length).map(|_| numbers.next() as u8).collect())
        }
        DataType::FixedSizeBinary(length) => Value::Bytes((0..*length).map(|_| numbers.next() as u8).collect()),
        DataType::Dictionary(_, values) => draw(numbers, values),
        other => draw_integer(numbers, range(other)),
    }
}

fn draw_float(numbers: &mut Numbers, any: impl Fn(&mut Numbers) -> f64) -> Value {
    const SPECIAL: [f64; 7] = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0];
    let special = SPECIAL.get(numbers.below(20) as usize).copied();
    Value::Float(special.unwrap_or_else(|| any(numbers)))
}

fn draw_text(numbers: &mut Numbers) -> String {
    const CHARACTERS: [char; 8] = ['a', 'z', '\0', 'é', '\u{7f}', '\u{d7ff}', '\u{ffff}', '\u{10ffff}'];
    let length = draw_length(numbers);
    (0..length).map(|_| CHARACTERS[numbers.below(8) as usize]).collect()
}

fn draw_length(numbers: &mut Numbers) -> u64 {
    match numbers.below(20) {
        0 => 0,
        1 => 3000,
        2..6 => numbers.below(150),
        _ => numbers.below(6),
    }
}

fn draw_integer(numbers: &mut Numbers, (low, high): (i128, i128)) -> Value {
    let random = i128::from(numbers.next()) << 63 | i128::from(numbers.next() >> 1);
    Value::Integer(match numbers.below(8) {
        0 => low,
        1 => high,
        2..5 => (i128::from(numbers.below(20)) - 10).clamp(low, high),
        _ if numbers.below(2) == 0 => random.rem_euclid(high + 1),
        _ => (-random.rem_euclid(high + 1)).max(low),
    })
}

/// The integers that a column of the type may hold. Times are those that have a text: of the years 1 to 9999.
fn range(data_type: &DataType) -> (i128, i128) {
    use DataType as T;
    const SECONDS: (i128, i128) = (-62_135_596_800, 253_402_300_799);
    let digits = |precision: u8| (1 - 10_i128.pow(precision.into()), 10_i128.pow(precision.into()) - 1);
    match data_type {
        T::Int8 => (i8::MIN.into(), i8::MAX.into()),
        T::Int16 => (i16::MIN.into(), i16::MAX.into()),
        T::Int32 => (i32::MIN.into(), i32::MAX.into()),
        T::Int64 => (i64::MIN.into(), i64::MAX.into()),
        T::UInt8 => (0, u8::MAX.into()),
        T::UInt16 => (0, u16::MAX.into()),
        T::UInt32 => (0, u32::MAX.into()),
        T::UInt64 => (0, u64::MAX.into()),
        T::Decimal32(precision, _) | T::Decimal64(precision, _) | T::Decimal128(precision, _) => digits(*precision),
        T::Date32 => (SECONDS.0 / 86_400, SECONDS.1 / 86_400),
        T::Time32(_) => (0, 86_399_999),
        T::Time64(TimeUnit::Microsecond) => (0, 86_399_999_999),
        T::Time64(_) => (0, 86_399_999_999_999),
        T::Timestamp(TimeUnit::Second, _) => SECONDS,
        T::Timestamp(TimeUnit::Millisecond, _) => (SECONDS.0 * 1_000, SECONDS.1 * 1_000),
        T::Timestamp(TimeUnit::Microsecond, _) => (SECONDS.0 * 1_000_000, SECONDS.1 * 1_000_000),
        T::Timestamp(TimeUnit::Nanosecond, _) => (i64::MIN.into(), i64::MAX.into()),
        other => panic!("{other} is no integer"),
    }
}

fn array_of(data_type: &DataType, values: &[Option<Value>]) -> ArrayRef {
    use DataType as T;
    match data_type {
        T::Boolean => Arc::new(values.iter().map(|value| value.as_ref().map(boolean)).collect::<BooleanArray>()),
        T::Float16 => cast(&array_of(&T::Float32, values), data_type).unwrap(),
        T::Float32 => Arc::new(values.iter().map(|value| value.as_ref().map(float32)).collect::<Float32Array>()),
        T::Float64 => Arc::new(values.iter().map(|value| value.as_ref().map(float)).collect::<Float64Array>()),
        T::Utf8 => {
            let text = |value| std::str::from_utf8(bytes(value)).unwrap();
            Arc::new(values.iter().map(|value| value.as_ref().map(text)).collect::<StringArray>())
        }
        T::LargeUtf8 | T::Utf8View => cast(&array_of(&T::Utf8, values), data_type).unwrap(),
        T::Binary => Arc::new(values.iter().map(|value| value.as_ref().map(bytes)).collect::<BinaryArray>()),
        T::FixedSizeBinary(length) => {
            let mut builder = FixedSizeBinaryBuilder::new(*length);
            for value in values {
                match value {
                    Some(value) => builder.append_value(bytes(value)).unwrap(),
                    None => builder.append_null(),
                }
            }
            Arc::new(builder.finish())
        }
        T::Dictionary(_, inner) => cast(&array_of(inner, values), data_type).unwrap(),
        other => integer_array(other, values),
    }
}

fn integer_array(data_type: &DataType, values: &[Option<Value>]) -> ArrayRef {
    use DataType as T;
    match data_type {
        T::Int8 => integers::<Int8Type>(data_type, values),
        T::Int16 => integers::<Int16Type>(data_type, values),
        T::Int32 => integers::<Int32Type>(data_type, values),
        T::Int64 => integers::<Int64Type>(data_type, values),
        T::UInt8 => integers::<UInt8Type>(data_type, values),
        T::UInt16 => integers::<UInt16Type>(data_type, values),
        T::UInt32 => integers::<UInt32Type>(data_type, values),
        T::UInt64 => integers::<UInt64Type>(data_type, values),
        T::Decimal32(..) => integers::<Decimal32Type>(data_type, values),
        T::Decimal64(..) => integers::<Decimal64Type>(data_type, values),
        T::Decimal128(..) => integers::<Decimal128Type>(data_type, values),
        T::Date32 => integers::<Date32Type>(data_type, values),
        T::Time32(_) => integers::<Time32MillisecondType>(data_type, values),
        T::Time64(TimeUnit::Microsecond) => integers::<Time64MicrosecondType>(data_type, values),
        T::Time64(_) => integers::<Time64NanosecondType>(data_type, values),
        T::Timestamp(TimeUnit::Second, _) => integers::<TimestampSecondType>(data_type, values),
        T::Timestamp(TimeUnit::Millisecond, _) => integers::<TimestampMillisecondType>(data_type, values),
        T::Timestamp(TimeUnit::Microsecond, _) => integers::<TimestampMicrosecondType>(data_type, values),
        T::Timestamp(TimeUnit::Nanosecond, _) => integers::<TimestampNanosecondType>(data_type, values),
        other => panic!("{other} is no integer"),
    }
}

fn integers<T: ArrowPrimitiveType>(data_type: &DataType, values: &[Option<Value>]) -> ArrayRef
where
    T::Native: TryFrom<i128>,
{
    let native = |value: &Value| match value {
        Value::Integer(value) => T::Native::try_from(*value).unwrap_or_else(|_| panic!("{value} is no {data_type}")),
        other => panic!("{other:?}"),
    };
    let array: PrimitiveArray<T> = values.iter().map(|value| value.as_ref().map(native)).collect();
    Arc::new(array.with_data_type(data_type.clone()))
}

fn boolean(value: &Value) -> bool {
    if let Value::Boolean(value) = value { *value } else { panic!("{value:?}") }
}

fn float(value: &Value) -> f64 {
    if let Value::Float(value) = value { *value } else { panic!("{value:?}") }
}

fn float32(value: &Value) -> f32 {
    float(value) as f32
}

fn bytes(value: &Value) -> &[u8] {
    if let Value::Bytes(value) = value { value } else { panic!("{value:?}") }
}
