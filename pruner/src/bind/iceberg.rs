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
    use super::*;

    #[test]
    fn the_successor_of_a_prefix_is_the_first_behind_it() {
        assert_eq!(successor(b"ab").as_deref(), Some(b"ac".as_slice()));
        assert_eq!(successor(b"a\xff\xff").as_deref(), Some(b"b".as_slice()));
        assert_eq!(successor(b"\xff"), None);
        assert_eq!(successor("\u{10ffff}".as_bytes()).as_deref(), Some(b"\xf4\x8f\xbf\xc0".as_slice()));
    }
}
