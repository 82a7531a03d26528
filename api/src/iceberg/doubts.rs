//! Literals that may be no values of the type of the column beside them.
//!
//! PyIceberg brings a literal to the type in the file: one that is beyond the range of that it takes for the end of the range, or has it
//! match nulls, and a fraction it rounds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::scan_names::{ColumnRef, OPERANDS, columns_in, is_of_type};

/// What is made of other expressions.
const CONNECTIVES: [&str; 3] = ["and", "or", "not"];
/// Where a literal stands.
const VALUE: &str = "value";
/// The tests in which PyIceberg takes a number beyond the range of a type for the end of the range, or has it match nulls.
const TESTS_OF_RANGES: [&str; 6] = ["in", "not-in", "lt", "lt-eq", "gt", "gt-eq"];
/// Those in which it rounds alone: nothing equals a number that is beyond the range, in every reading.
const TESTS_OF_EQUALITY: [&str; 2] = ["eq", "not-eq"];

/// Why a literal may be no value of a type to which a client brings it all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Doubt {
    /// It is a number that may have a fraction: one that is not written as an integer.
    Fraction,
    /// It is a number that may be beyond the range of `int`,
    BeyondInt,
    /// of `long`,
    BeyondLong,
    /// of `float`.
    BeyondFloat,
    /// It is a text that is not plainly a number, and may be one of any size: to Python, `4_000_000_000` is.
    Text,
}

impl Doubt {
    /// All there are.
    pub(super) const ALL: [Self; 5] =
        [Self::Fraction, Self::BeyondInt, Self::BeyondLong, Self::BeyondFloat, Self::Text];
}

/// The columns in the tests of an expression whose literals are in doubt, where PyIceberg misreads such.
pub(super) fn doubts_in(expression: &mut Value) -> BTreeSet<(ColumnRef, Doubt)> {
    let Value::Object(members) = expression else { return BTreeSet::new() };
    if is_of_type(members, &CONNECTIVES) {
        let parts = members.iter_mut().filter(|(key, _)| OPERANDS.contains(&key.as_str()));
        return parts.flat_map(|(_, part)| doubts_in(part)).collect();
    }
    let mut doubts = BTreeSet::new();
    if is_of_type(members, &TESTS_OF_RANGES) {
        add_doubts(members, &mut doubts);
    } else if is_of_type(members, &TESTS_OF_EQUALITY) {
        add_doubts(members, &mut doubts);
        doubts.retain(|doubt| *doubt == Doubt::Fraction);
    }
    if doubts.is_empty() {
        return BTreeSet::new();
    }
    let columns = columns_in(expression);
    columns.iter().flat_map(|column| doubts.iter().map(|doubt| (column.clone(), *doubt))).collect()
}

fn add_doubts(members: &Map<String, Value>, doubts: &mut BTreeSet<Doubt>) {
    for (key, part) in members {
        // Every other text is a name, or what the object is.
        if key == VALUE || !part.is_string() {
            add_doubts_of(part, doubts);
        }
    }
}

fn add_doubts_of(literal: &Value, doubts: &mut BTreeSet<Doubt>) {
    match literal {
        Value::Number(number) => add_doubts_of_number(&number.to_string(), doubts),
        // Decimals are texts, and whatever a client has as a text.
        Value::String(text) => add_doubts_of_number(text, doubts),
        Value::Array(parts) => parts.iter().for_each(|part| add_doubts_of(part, doubts)),
        Value::Object(members) => add_doubts(members, doubts),
        Value::Null | Value::Bool(_) => {}
    }
}

fn add_doubts_of_number(text: &str, doubts: &mut BTreeSet<Doubt>) {
    const BEHIND_LONG: f64 = 9_223_372_036_854_775_808.0;
    let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else {
        doubts.insert(Doubt::Text);
        return;
    };
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => text,
    };
    let [fits_int, fits_long] = if let Ok(whole) = whole.parse::<i128>() {
        [i32::try_from(whole).is_ok(), i64::try_from(whole).is_ok()]
    } else {
        doubts.insert(Doubt::Fraction);
        [(f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value), value.abs() < BEHIND_LONG]
    };
    let fits_float = value.abs() <= f64::from(f32::MAX);
    let fits = [(fits_int, Doubt::BeyondInt), (fits_long, Doubt::BeyondLong), (fits_float, Doubt::BeyondFloat)];
    doubts.extend(fits.into_iter().filter(|(fits, _)| !fits).map(|(_, doubt)| doubt));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(column: &ColumnRef) -> String {
        match column {
            ColumnRef::Name(name) => name.clone(),
            ColumnRef::Id(id) => format!("id {id}"),
        }
    }

    #[test]
    fn literals_in_doubt_are_found_where_they_matter() {
        let of = |mut expression: Value| -> Vec<String> {
            let doubts = doubts_in(&mut expression);
            doubts.iter().filter(|(_, doubt)| *doubt == Doubt::BeyondInt).map(|(column, _)| shown(column)).collect()
        };
        let wide = 4_000_000_000_i64;
        assert_eq!(of(json!({"type": "not-in", "term": "a", "values": [1, wide]})), ["a"]);
        assert_eq!(of(json!({"type": "not", "child": {"type": "GT_EQ", "term": "a", "value": -wide}})), ["a"]);
        assert_eq!(
            of(
                json!({"type": "lt", "left": {"type": "reference", "name": "a"}, "right": {"type": "literal", "value": wide}})
            ),
            ["a"]
        );
        let by_id =
            json!({"type": "lt", "left": {"type": "reference", "id": 7}, "right": {"type": "literal", "value": wide}});
        assert_eq!(of(by_id), ["id 7"]);
        // Nothing equals it, in every reading.
        assert_eq!(of(json!({"type": "eq", "term": "a", "value": wide})), Vec::<String>::new());
        assert_eq!(of(json!({"type": "in", "term": "a", "values": [1, i32::MAX, i32::MIN]})), Vec::<String>::new());
        let and = json!({"type": "and", "left": {"type": "lt", "term": "a", "value": wide}, "right": {"type": "lt", "term": "b", "value": 1}});
        assert_eq!(of(and), ["a"]);
    }

    #[test]
    fn why_a_literal_is_in_doubt() {
        use Doubt::{BeyondFloat, BeyondInt, BeyondLong, Fraction, Text};
        let check = |literal: Value, expected: &[Doubt]| {
            let lists = json!({"type": "literals", "values": ["1", literal]});
            for mut test in [
                json!({"type": "lt", "term": "a", "value": literal}),
                json!({"type": "lt", "left": "a", "right": {"type": "literal", "value": literal}}),
                json!({"type": "in", "child": "a", "values": lists}),
            ] {
                let found: Vec<Doubt> = doubts_in(&mut test).into_iter().map(|(_, doubt)| doubt).collect();
                assert_eq!(found, expected, "{test}");
            }
            let mut equal = json!({"type": "eq", "term": "a", "value": literal});
            let found = doubts_in(&mut equal).into_iter().map(|(_, doubt)| doubt);
            assert!(found.eq(expected.iter().copied().filter(|doubt| *doubt == Fraction)), "{equal}");
        };
        for plain in [json!(2_147_483_647), json!("-2147483648.0"), json!(5.0), json!("5"), json!(true), json!(null)] {
            check(plain, &[]);
        }
        for fraction in [json!(1.5), json!("1.50"), json!("1e1"), json!("1.00000000000000000000000000001")] {
            check(fraction, &[Fraction]);
        }
        check(json!(-2_147_483_649_i64), &[BeyondInt]);
        check(json!("2147483647.5"), &[Fraction, BeyondInt]);
        check(json!(i64::MIN), &[BeyondInt]);
        check(json!(i64::MAX), &[BeyondInt]);
        check(json!("9223372036854775807"), &[BeyondInt]);
        check(json!(u64::MAX), &[BeyondInt, BeyondLong]);
        check(json!("9223372036854775808"), &[BeyondInt, BeyondLong]);
        check(json!(1e39), &[Fraction, BeyondInt, BeyondLong, BeyondFloat]);
        check(json!(i128::MAX.to_string()), &[BeyondInt, BeyondLong]);
        for text in ["x", "4_000", "2024-01-31", "nan", "inf", ""] {
            check(json!(text), &[Text]);
        }
    }
}
