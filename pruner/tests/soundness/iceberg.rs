//! Iceberg expressions over the columns of a case, as clients send them.

use prunus_pruner::Column;
use prunus_statistics::{PrimitiveType, Value as Cell};
use serde_json::{Value, json};

use super::choices::Choices;
use super::rows::palette;

/// An expression nested at most `depth` deep, of both forms.
pub(crate) fn expression(choices: &mut Choices, columns: &[Column], depth: usize) -> Value {
    if depth == 0 || choices.once_in(3) {
        return test(choices, columns);
    }
    let inner = |choices: &mut Choices| expression(choices, columns, depth - 1);
    match choices.below(7) {
        0..=2 => json!({"type": "and", "left": inner(choices), "right": inner(choices)}),
        3 | 4 => json!({"type": "or", "left": inner(choices), "right": inner(choices)}),
        5 => json!({"type": "not", "child": inner(choices)}),
        _ => json!(choices.once_in(2)),
    }
}

fn test(choices: &mut Choices, columns: &[Column]) -> Value {
    let column = choices.of(columns);
    let column_type = column.column_type.unwrap();
    let name = column.path.join(".");
    let newer = choices.once_in(3);
    let reference = json!({"type": "reference", "name": name});
    let with_one = |kind: &str| {
        if newer { json!({"type": kind, "child": reference}) } else { json!({"type": kind, "term": name}) }
    };
    let with_two = |kind: &str, literal: Value| {
        if newer {
            json!({"type": kind, "left": reference, "right": {"type": "literal", "value": literal}})
        } else {
            json!({"type": kind, "term": name, "value": literal})
        }
    };
    match choices.below(10) {
        0..=5 => {
            let kind = choices.text(&["eq", "not-eq", "lt", "lt-eq", "gt", "gt-eq"]);
            with_two(kind, literal(choices, column_type))
        }
        6 | 7 => {
            let mut list = with_one(choices.text(&["in", "not-in"]));
            list["values"] = (0..=choices.below(3)).map(|_| literal(choices, column_type)).collect();
            list
        }
        8 if column_type == PrimitiveType::String => {
            with_two(choices.text(&["starts-with", "not-starts-with"]), json!(choices.text(&["a", "b", ""])))
        }
        8 if column_type.is_float() => with_one(choices.text(&["is-nan", "not-nan"])),
        _ => with_one(choices.text(&["is-null", "not-null"])),
    }
}

/// A value of the column as one of its clients writes it, or one that is none of its type.
fn literal(choices: &mut Choices, column_type: PrimitiveType) -> Value {
    use PrimitiveType as T;
    if choices.once_in(12) {
        return choices.of(&[json!([1]), json!({"a": 1})]).clone();
    }
    let value = choices.of(&palette(column_type)).clone();
    let text = value.display(column_type).to_string();
    let as_text = choices.once_in(2);
    match value {
        Cell::Boolean(value) => json!(value),
        Cell::Float(value) if value.is_finite() && !as_text => json!(value),
        Cell::Integer(days) if column_type == T::Date && !as_text => json!(i64::try_from(days).unwrap()),
        Cell::Integer(units) => match (column_type, i64::try_from(units)) {
            (T::Timestamp(unit) | T::Timestamptz(unit), Ok(units)) if !as_text => {
                match i64::try_from(i128::from(units) * unit.nanoseconds() / 1_000) {
                    Ok(micros) => json!(micros),
                    Err(_) => json!(text),
                }
            }
            (T::Timestamptz(_), _) if choices.once_in(2) => json!(text.trim_end_matches('Z')),
            (integer, Ok(units)) if integer.is_integer() => json!(units),
            (integer, _) if integer.is_integer() => json!(u64::try_from(units).unwrap()),
            _ => json!(text),
        },
        _ => json!(text),
    }
}
