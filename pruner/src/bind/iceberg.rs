//! What is Iceberg's: literals that take the type of their column, `isnan`, `starts_with`.

use std::borrow::Cow;

use prunus_statistics::{PrimitiveType, Value};

use super::{Binder, BoundLeaf, BoundNode, BoundTest, Endpoint, Operand, lookup};
use crate::outcome::OutcomeSet;
use crate::{Expression, JsonLiteral};

impl Binder<'_> {
    /// Two operands of which none is a literal of JSON any more. `Err` says why one is no value of the other's type.
    pub(super) fn typed_pair<'a>(
        &self,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Result<(Cow<'a, Expression>, Cow<'a, Expression>), String> {
        Ok((self.typed(left, right)?, self.typed(right, left)?))
    }

    fn typed<'a>(&self, operand: &'a Expression, other: &Expression) -> Result<Cow<'a, Expression>, String> {
        match operand {
            Expression::Json(literal) => Ok(Cow::Owned(self.coerced(literal, self.type_of(other))?)),
            plain => Ok(Cow::Borrowed(plain)),
        }
    }

    fn coerced(&self, literal: &JsonLiteral, column_type: Option<PrimitiveType>) -> Result<Expression, String> {
        let coerced = match column_type {
            Some(column_type) => literal.coerce(column_type, &self.options.zone)?,
            None => literal.untyped().ok_or_else(|| format!("{literal} meets no column"))?,
        };
        Ok(Expression::Literal(coerced))
    }

    /// The type of the column that an expression is. A name that is none gives no type here, and a fault where it is bound.
    fn type_of(&self, expression: &Expression) -> Option<PrimitiveType> {
        match expression {
            Expression::Column(name) => lookup::find(self.columns, name).ok()?.column_type,
            _ => None,
        }
    }

    /// `IN` a list that may hold literals of JSON: what is no value of the column's type may be any value of it.
    pub(super) fn in_typed_list(&mut self, expression: &Expression, list: &[Expression]) -> BoundNode {
        if !list.iter().any(|item| matches!(item, Expression::Json(_))) {
            return self.in_list(expression, list);
        }
        let column_type = self.type_of(expression);
        let mut values = Vec::with_capacity(list.len());
        let mut doubt = None;
        for item in list {
            match item {
                Expression::Json(literal) => match self.coerced(literal, column_type) {
                    Ok(value) => values.push(value),
                    Err(reason) => doubt = Some(reason),
                },
                plain => values.push(plain.clone()),
            }
        }
        let known = self.in_list(expression, &values);
        match doubt {
            Some(reason) => BoundNode::Any(vec![known, BoundNode::Unknown(reason)]),
            None => known,
        }
    }

    /// True of NaN, false of every other value. Of null Spark says false, other engines null.
    pub(super) fn is_nan(&mut self, expression: &Expression) -> BoundNode {
        if expression.is_computed() {
            return self.value_is_nan(expression);
        }
        match self.operand(expression) {
            Operand::Column(column) => {
                let on_nan = if column.column_type.is_float() { OutcomeSet::TRUE } else { OutcomeSet::NONE };
                let leaf = BoundLeaf { column, test: BoundTest::Always(false), on_nan };
                BoundNode::TwoValued(Box::new(BoundNode::Leaf(leaf)))
            }
            Operand::Null => BoundNode::Constant(OutcomeSet::FALSE | OutcomeSet::NULL),
            Operand::Literal(literal) => BoundNode::Unknown(format!("there is no rule for isnan of {literal}")),
            Operand::Unknown(reason) => BoundNode::Unknown(reason),
        }
    }

    pub(super) fn starts_with(&mut self, expression: &Expression, prefix: &str) -> BoundNode {
        match self.operand(expression) {
            Operand::Column(column) if column.column_type == PrimitiveType::String => {
                self.leaf(column, prefix_range(prefix))
            }
            Operand::Column(column) => BoundNode::Unknown(format!(
                "there is no rule for a prefix of the column `{}` of type {}",
                column.name, column.column_type
            )),
            Operand::Null => BoundNode::Constant(OutcomeSet::NULL),
            Operand::Literal(literal) => BoundNode::Unknown(format!("there is no rule for a prefix of {literal}")),
            Operand::Unknown(reason) => BoundNode::Unknown(reason),
        }
    }
}

/// The texts with a prefix: from it to the first text behind them all, in the order of bytes.
pub(super) fn prefix_range(prefix: &str) -> BoundTest {
    if prefix.is_empty() {
        return BoundTest::Always(true);
    }
    let end = |bytes: Vec<u8>, inclusive| {
        let value = Value::Bytes(bytes);
        Endpoint { low: value.clone(), high: value, inclusive }
    };
    let lower = Some(end(prefix.as_bytes().to_vec(), true));
    BoundTest::Range { lower, upper: successor(prefix.as_bytes()).map(|bytes| end(bytes, false)) }
}

/// The first bytes that lie behind all those that begin with `prefix`; `None` if there are none.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = prefix.to_vec();
    while bytes.pop_if(|last| *last == u8::MAX).is_some() {}
    *bytes.last_mut()? += 1;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BooleanArray, Int32Array, UInt64Array};
    use prunus_statistics::{FieldId, PhysicalType};
    use serde_json::json;

    use super::*;
    use crate::{
        BindOptions, BoundPredicate, Column, ColumnZones, Predicate, PruningProgram, Verdict, ZoneColumns, ZoneMaps,
    };

    fn bind(json: &serde_json::Value) -> Result<BoundPredicate, Vec<String>> {
        let column = |id, path: &[&str], column_type: &str| Column {
            id: FieldId(id),
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            column_type: Some(column_type.parse().unwrap()),
            items: Vec::new(),
        };
        let columns = [
            column(1, &["x"], "int32"),
            column(2, &["day"], "date"),
            column(3, &["a", "b"], "string"),
            column(4, &["c.d"], "string"),
            column(5, &["ratio"], "float32"),
        ];
        let predicate = Predicate::parse_iceberg_json(json).unwrap();
        BoundPredicate::bind(&predicate, &columns, &BindOptions::default())
            .map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    #[track_caller]
    fn check(json: &serde_json::Value, expected: &str) {
        let bound = bind(json).map(|bound| bound.to_string());
        assert_eq!(bound.as_deref(), Ok(expected), "{json}");
    }

    #[test]
    fn literals_take_the_type_of_their_column() {
        check(&json!({"type": "eq", "term": "day", "value": 19_723}), "#2 date in [2024-01-01, 2024-01-01]");
        check(&json!({"type": "in", "term": "x", "values": [3, "4"]}), "#1 int32 in 2 values");
        let typed = json!({"type": "literal", "value": "2024-01-01", "data-type": "date"});
        let day = json!({"type": "reference", "name": "day"});
        check(&json!({"type": "gt", "left": typed, "right": day}), "#2 date in (.., 2024-01-01)");
    }

    #[test]
    fn a_literal_that_is_no_value_of_the_type_keeps_all() {
        check(&json!({"type": "eq", "term": "x", "value": "a"}), "unknown(`a` is not a value of type int32)");
        check(
            &json!({"type": "in", "term": "x", "values": [1, "a"]}),
            "any(#1 int32 in 1 values, unknown(`a` is not a value of type int32))",
        );
    }

    #[test]
    fn a_column_is_named_by_its_path_or_its_id() {
        let is_null = |term: &str| json!({"type": "is-null", "term": term});
        check(&is_null("a.b"), "#3 string is null");
        check(&is_null("c.d"), "#4 string is null");
        check(&json!({"type": "is-null", "child": {"type": "reference", "id": 5}}), "#5 float32 is null");
        let unknown = bind(&is_null("X")).map(|bound| bound.to_string());
        assert_eq!(unknown, Err(vec!["unknown column `\"X\"`, did you mean `x`?".to_owned()]));
    }

    #[test]
    fn negations_may_be_true_of_null() {
        let x = "#1 int32 in [5, 5]";
        check(&json!({"type": "eq", "term": "x", "value": 5}), x);
        check(&json!({"type": "not-eq", "term": "x", "value": 5}), &format!("not(two-valued({x}))"));
        let eq = json!({"type": "eq", "term": "x", "value": 5});
        check(&json!({"type": "not", "child": eq}), &format!("not(two-valued({x}))"));
        check(&json!({"type": "not-nan", "term": "ratio"}), "not(two-valued(two-valued(#5 float32 always false)))");
        check(&json!({"type": "not-starts-with", "term": "a.b", "value": "p"}), "not(two-valued(#3 string in [p, q)))");
    }

    /// The verdict on a file whose `x` runs from 7 to 9, or is null on every row.
    fn verdict(json: &serde_json::Value, nulls: u64) -> Verdict {
        let bound = |value: i32| -> ArrayRef { Arc::new(Int32Array::from(vec![(nulls < 10).then_some(value)])) };
        let (min, max) = (bound(7), bound(9));
        let columns = ZoneColumns {
            min: &min,
            max: &max,
            null_count: &UInt64Array::from(vec![nulls]),
            nan_count: &UInt64Array::from(vec![0]),
            valueless: &BooleanArray::from(vec![nulls == 10]),
        };
        let mut zones = ZoneMaps::new(&UInt64Array::from(vec![10]));
        zones.insert(FieldId(1), ColumnZones::new(PhysicalType::Int32, &columns).unwrap()).unwrap();
        PruningProgram::compile(bind(json).unwrap()).evaluate(&zones).verdict(0)
    }

    #[test]
    fn a_null_row_keeps_a_file_for_not_eq_and_never_makes_it_match_as_a_whole() {
        let not_eq = json!({"type": "not-eq", "term": "x", "value": 5});
        assert_eq!([0, 3, 10].map(|nulls| verdict(&not_eq, nulls)), [Verdict::All, Verdict::Some, Verdict::Some]);
        let eq = json!({"type": "eq", "term": "x", "value": 8});
        assert_eq!([0, 10].map(|nulls| verdict(&eq, nulls)), [Verdict::Some, Verdict::None]);
        let not_less = json!({"type": "not", "child": {"type": "lt", "term": "x", "value": 5}});
        assert_eq!([0, 3, 10].map(|nulls| verdict(&not_less, nulls)), [Verdict::All, Verdict::Some, Verdict::Some]);
    }

    #[test]
    fn the_successor_of_a_prefix_is_the_first_behind_it() {
        assert_eq!(successor(b"ab").as_deref(), Some(b"ac".as_slice()));
        assert_eq!(successor(b"a\xff\xff").as_deref(), Some(b"b".as_slice()));
        assert_eq!(successor(b"\xff"), None);
        assert_eq!(successor("\u{10ffff}".as_bytes()).as_deref(), Some(b"\xf4\x8f\xbf\xc0".as_slice()));
    }
}
