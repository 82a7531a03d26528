//! Types, the values and literals that are worth trying of each, and containers of rows.

use prunus_pruner::Column;
use prunus_statistics::{FieldId, Literal, Number, PrimitiveType, TimeUnit, Value};

use super::choices::Choices;

pub(crate) const TYPES: [PrimitiveType; 16] = [
    PrimitiveType::Int32,
    PrimitiveType::Float64,
    PrimitiveType::Boolean,
    PrimitiveType::Int8,
    PrimitiveType::Int64,
    PrimitiveType::UInt32,
    PrimitiveType::UInt64,
    PrimitiveType::Float32,
    PrimitiveType::Decimal { precision: 9, scale: 2 },
    PrimitiveType::Decimal { precision: 30, scale: 4 },
    PrimitiveType::String,
    PrimitiveType::Binary,
    PrimitiveType::Date,
    PrimitiveType::Timestamp(TimeUnit::Millisecond),
    PrimitiveType::Timestamptz(TimeUnit::Microsecond),
    PrimitiveType::Uuid,
];

pub(crate) type Cell = Option<Value>;
pub(crate) type Row = Vec<Cell>;

/// The schema of a case: columns `c0`, `c1` and so on.
pub(crate) fn schema(choices: &mut Choices) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for index in 0..3 {
        // Two columns of one type can be compared with each other.
        let column_type = match columns.last() {
            Some(last) if choices.once_in(4) => last.column_type,
            _ => Some(*choices.of(&TYPES)),
        };
        columns.push(Column {
            id: FieldId(index + 1),
            path: vec![format!("c{index}")],
            column_type,
            items: Vec::new(),
        });
    }
    columns
}

/// Values of a type that are neither null nor NaN, in rising order.
pub(crate) fn palette(column_type: PrimitiveType) -> Vec<Value> {
    use PrimitiveType as T;
    let integers = |values: &[i128]| values.iter().copied().map(Value::Integer).collect();
    match column_type {
        T::Boolean => vec![Value::Boolean(false), Value::Boolean(true)],
        T::Float32 => [f64::NEG_INFINITY, f32::MIN.into(), -1.5, -f64::from(f32::from_bits(1)), -0.0, 0.0]
            .into_iter()
            .chain([f64::from(f32::from_bits(1)), 0.1_f32.next_down().into(), 0.1_f32.into(), 0.1_f32.next_up().into()])
            .chain([0.5, 1.0, 2.0, 3.0, 16_777_216.0, f32::MAX.into(), f64::INFINITY])
            .map(Value::Float)
            .collect(),
        T::Float16 | T::Float64 => {
            [f64::NEG_INFINITY, f64::MIN, -1.5, -f64::from_bits(1), -0.0, 0.0, f64::from_bits(1)]
                .into_iter()
                .chain([0.1_f64.next_down(), 0.1, 0.5, 1.0, 2.0, 3.0, 9_007_199_254_740_992.0, f64::MAX, f64::INFINITY])
                .map(Value::Float)
                .collect()
        }
        T::String => {
            ["", "\0", "A", "a", "a\0", "aa", "ab", "b", "z", "é", "日本", "\u{ffff}", "\u{10000}", "\u{10ffff}"]
                .into_iter()
                .map(|text| Value::Bytes(text.as_bytes().to_vec()))
                .collect()
        }
        T::Binary => [&b""[..], &[0], &[0, 0], b"a", b"ab", &[0x7f], &[0x80], &[0xff], &[0xff, 0xff]]
            .into_iter()
            .map(|bytes| Value::Bytes(bytes.to_vec()))
            .collect(),
        T::Uuid => [0_u128, 1, u128::MAX >> 1, 1 << 127, (1 << 127) + 1, u128::MAX]
            .into_iter()
            .map(|bits| Value::Bytes(bits.to_be_bytes().to_vec()))
            .collect(),
        T::Date => {
            integers(&[i32::MIN.into(), -719_162, -2, -1, 0, 1, 2, 3, 19_753, 19_754, 2_932_896, i32::MAX.into()])
        }
        T::Timestamp(_) | T::Timestamptz(_) => {
            let day = 86_400_000_000_000 / unit(column_type);
            let near = [-day, -1, 0, 1, 1000, day / 2, day, day + 1, 2 * day];
            let edges = [i64::MAX.into(), i64::MIN.into()];
            sorted(integers(&[&near[..], &edges[..]].concat()))
        }
        _ => {
            let (low, high) = column_type.stored_range().expect("an integer or a decimal");
            let all = [low, low + 1, -300, -2, -1, 0, 1, 2, 3, 4, 5, 100, 150, 9_007_199_254_740_993, high - 1, high];
            let held: Vec<i128> = all.into_iter().filter(|value| (low..=high).contains(value)).collect();
            let mut values: Vec<Value> = sorted(integers(&held));
            values.dedup();
            values
        }
    }
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by(|a, b| a.compare(b).unwrap());
    values
}

/// Nanoseconds per stored unit of a type of time.
pub(crate) fn unit(column_type: PrimitiveType) -> i128 {
    match column_type {
        PrimitiveType::Timestamp(unit) | PrimitiveType::Timestamptz(unit) => unit.nanoseconds(),
        _ => 86_400_000_000_000,
    }
}

/// The rows of a container. Values keep to a part of the palette, so that bounds tell containers apart.
pub(crate) fn rows(choices: &mut Choices, columns: &[Column]) -> Vec<Row> {
    let count = choices.below(13);
    let mut rows: Vec<Row> = vec![Vec::new(); count];
    for column in columns {
        let column_type = column.column_type.unwrap();
        let palette = palette(column_type);
        let first = choices.below(palette.len());
        let width = [1, 2, 3, palette.len()][choices.below(4)].min(palette.len() - first);
        let [null_in, nan_in] = *choices.of(&[[0, 0], [4, 4], [0, 3], [3, 0], [1, 1], [2, 1]]);
        for row in &mut rows {
            row.push(if null_in > 0 && choices.once_in(null_in) {
                None
            } else if nan_in > 0 && column_type.is_float() && choices.once_in(nan_in) {
                Some(Value::Float(if choices.once_in(2) { -f64::NAN } else { f64::NAN }))
            } else {
                Some(palette[first + choices.below(width)].clone())
            });
        }
    }
    rows
}

/// A literal that a column of this type may be compared with: one of its values, or an odd one.
pub(crate) fn literal(choices: &mut Choices, column_type: PrimitiveType) -> Literal {
    use PrimitiveType as T;
    let as_text = choices.once_in(5);
    if let T::Date | T::Timestamp(_) | T::Timestamptz(_) = column_type {
        return moment(choices, as_text);
    }
    if choices.once_in(3)
        && let Some(odd) = odd_number(choices, column_type)
    {
        // An integer column takes no text that is no integer of its type.
        return if column_type.is_integer() { number(odd, false) } else { number(odd, as_text) };
    }
    let value = choices.of(&palette(column_type)).clone();
    let text = value.display(column_type).to_string();
    match value {
        Value::Bytes(_) if column_type == T::String => Literal::Text(text),
        Value::Bytes(_) if column_type == T::Binary && as_text => Literal::Text("a".to_owned()),
        Value::Bytes(bytes) => {
            if as_text {
                Literal::Text(text)
            } else {
                Literal::Bytes(bytes)
            }
        }
        Value::Boolean(value) => {
            if as_text {
                Literal::Text(text)
            } else {
                Literal::Boolean(value)
            }
        }
        _ => number(&text, as_text),
    }
}

/// A number that the type cannot hold, or holds strangely.
fn odd_number(choices: &mut Choices, column_type: PrimitiveType) -> Option<&'static str> {
    Some(match column_type {
        PrimitiveType::Float16 | PrimitiveType::Float32 | PrimitiveType::Float64 => choices.text(&[
            "0.1",
            "NaN",
            "Infinity",
            "-inf",
            "-nan",
            "1e39",
            "-1e400",
            "1e-60",
            "-1e-400",
            "9007199254740993",
        ]),
        PrimitiveType::Decimal { .. } => {
            choices.text(&["1.005", "-1.005", "0.00001", "1e40", "-1e40", "9999999.995", "-9999999.995", "0.015"])
        }
        integer if integer.is_integer() => choices.text(&[
            "1.5",
            "-0.5",
            "127.5",
            "-128.5",
            "300",
            "4294967295.5",
            "-1e30",
            "1e30",
            "9223372036854775807.5",
        ]),
        _ => return None,
    })
}

/// A number as digits, or as text: as it must be where it is no number of SQL.
fn number(text: &str, as_text: bool) -> Literal {
    match Number::parse(text) {
        Some(number) if !as_text => Literal::Number(number),
        _ => Literal::Text(text.to_owned()),
    }
}

fn moment(choices: &mut Choices, as_text: bool) -> Literal {
    let text = choices.text(&[
        "1970-01-01",
        "1970-01-02",
        "1970-01-01T00:00:00.001",
        "1970-01-01T00:00:00.0000001",
        "1969-12-31T23:59:59.9999999",
        "1970-01-01T12:00:00",
        "1970-01-02T00:00:00Z",
        "1970-01-01T12:00:00.0005+02:00",
        "0001-01-01",
        "9999-12-31T23:59:59.999999999",
    ]);
    if as_text {
        return Literal::Text(text.to_owned());
    }
    match choices.below(3) {
        0 => Literal::date(text).or_else(|| Literal::timestamp(text)),
        1 => Literal::timestamp(text),
        _ => Literal::timestamptz(text),
    }
    .unwrap()
}
