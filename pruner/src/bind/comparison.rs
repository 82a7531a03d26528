//! Comparisons of a column with literals, as tests of ranges and lists.

use std::borrow::Cow;
use std::cmp::Ordering;

use prunus_statistics::{Converted, Literal, LiteralError, Number, PrimitiveType, Value};

use super::{Binder, BoundColumn, BoundLeaf, BoundNode, BoundTest, Endpoint, NanOrder, Operand, negate_if, outcome};
use crate::outcome::OutcomeSet;
use crate::simplify;
use crate::{ColumnName, CompareOp, Expression, FilterError};

impl Binder<'_> {
    pub(super) fn boolean_column(&mut self, name: &ColumnName) -> BoundNode {
        match self.column(name) {
            Ok(column) if column.column_type == PrimitiveType::Boolean => {
                let end = || Some(Endpoint { low: Value::Boolean(true), high: Value::Boolean(true), inclusive: true });
                self.leaf(column, BoundTest::Range { lower: end(), upper: end() })
            }
            Ok(column) => {
                let column_type = column.column_type.to_string();
                self.faults.push(FilterError::NotBoolean { column: column.name, column_type });
                BoundNode::Unknown(String::new())
            }
            Err(reason) => BoundNode::Unknown(reason),
        }
    }

    pub(super) fn compare(&mut self, left: &Expression, op: CompareOp, right: &Expression) -> BoundNode {
        let (left, right) = (&*self.without_arithmetic(left), &*self.without_arithmetic(right));
        let is_column = |side: &Expression| matches!(side, Expression::Column(_));
        if left.is_computed() || right.is_computed() || (is_column(left) && is_column(right)) {
            return self.compare_values(left, op, right);
        }
        let (left, right) = (self.operand(left), self.operand(right));
        match (left, right) {
            (Operand::Unknown(reason), _) | (_, Operand::Unknown(reason)) => BoundNode::Unknown(reason),
            (Operand::Null, _) | (_, Operand::Null) => BoundNode::Constant(OutcomeSet::NULL),
            (Operand::Column(column), Operand::Literal(literal)) => self.column_to_literal(column, op, literal),
            (Operand::Literal(literal), Operand::Column(column)) => {
                self.column_to_literal(column, op.flipped(), literal)
            }
            (Operand::Literal(left), Operand::Literal(right)) => compare_literals(left, op, right),
            (Operand::Column(_), Operand::Column(_)) => BoundNode::Unknown(String::new()),
        }
    }

    /// `IS [NOT] DISTINCT FROM`, which is never null: against a literal, equality that holds or does not.
    pub(super) fn distinct(&mut self, left: &Expression, right: &Expression, negated: bool) -> BoundNode {
        let is_literal = |side: &Expression| matches!(side, Expression::Literal(_));
        let same = match (left, right) {
            (Expression::Null, tested) | (tested, Expression::Null) => self.is_null(tested),
            _ if !left.is_computed() && !right.is_computed() && (is_literal(left) || is_literal(right)) => {
                BoundNode::Is(Box::new(self.compare(left, CompareOp::Eq, right)), OutcomeSet::TRUE)
            }
            // Both sides may be null, which equality does not see.
            _ => self.not_distinct(left, right),
        };
        negate_if(!negated, same)
    }

    /// `BETWEEN` is a conjunction of two comparisons, and so one range.
    pub(super) fn between(&mut self, expression: &Expression, low: &Expression, high: &Expression) -> BoundNode {
        let ends = [(CompareOp::GtEq, low), (CompareOp::LtEq, high)];
        if let Some(nodes) = self.compare_with_all(expression, &ends) {
            return BoundNode::All(nodes);
        }
        let floats = [low, high].into_iter().any(may_be_float);
        let [expression, low, high] = [expression, low, high].map(|operand| alike(operand, floats));
        let lower = self.compare(&expression, CompareOp::GtEq, &low);
        let upper = self.compare(&expression, CompareOp::LtEq, &high);
        BoundNode::All(simplify::intersect(vec![lower, upper]))
    }

    /// `IN` is a disjunction of equalities: those with a value become one sorted list, the others stay what they are.
    pub(super) fn in_list(&mut self, expression: &Expression, list: &[Expression]) -> BoundNode {
        let equalities: Vec<_> = list.iter().map(|item| (CompareOp::Eq, item)).collect();
        if let Some(nodes) = self.compare_with_all(expression, &equalities) {
            return BoundNode::Any(nodes);
        }
        let floats = list.iter().any(may_be_float);
        let column = match expression {
            Expression::Column(name) => match self.column(name) {
                Ok(column) => column,
                Err(reason) => return BoundNode::Unknown(reason),
            },
            other => {
                let other = alike(other, floats);
                let equal = |item| self.compare(&other, CompareOp::Eq, &alike(item, floats));
                return BoundNode::Any(list.iter().map(equal).collect());
            }
        };
        let mut values = Vec::new();
        let mut others = Vec::new();
        for item in list {
            let item = alike(item, floats);
            let item = self.without_arithmetic(&item);
            let Expression::Literal(literal) = item.as_ref() else {
                others.push(self.compare(expression, CompareOp::Eq, &item));
                continue;
            };
            match literal.convert(column.column_type, &self.options.zone) {
                Ok(Converted::Exact(value)) => values.push(value),
                converted => others.push(self.converted(column.clone(), CompareOp::Eq, converted)),
            }
        }
        values.sort_by(|a, b| a.compare(b).unwrap_or(Ordering::Equal));
        values.dedup_by(|a, b| a.compare(b) == Some(Ordering::Equal));
        if !values.is_empty() {
            others.push(self.leaf(column, BoundTest::In(values)));
        }
        if others.len() > 1 {
            BoundNode::Any(others)
        } else {
            others.pop().unwrap_or(BoundNode::Constant(outcome(Some(false))))
        }
    }

    /// A literal that is moved by intervals as the literal that this is; all else as it is.
    fn without_arithmetic<'a>(&mut self, expression: &'a Expression) -> Cow<'a, Expression> {
        match self.moved_literal(expression) {
            Some(literal) => Cow::Owned(Expression::Literal(literal)),
            None => Cow::Borrowed(expression),
        }
    }

    pub(super) fn is_null(&mut self, expression: &Expression) -> BoundNode {
        if expression.is_computed() {
            return self.value_is_null(expression);
        }
        match self.operand(expression) {
            Operand::Column(column) => self.leaf(column, BoundTest::IsNull),
            Operand::Null => BoundNode::Constant(OutcomeSet::TRUE),
            Operand::Literal(_) => BoundNode::Constant(OutcomeSet::FALSE),
            Operand::Unknown(reason) => BoundNode::Unknown(reason),
        }
    }

    pub(super) fn equals(&mut self, column: BoundColumn, literal: &Literal) -> BoundNode {
        self.column_to_literal(column, CompareOp::Eq, literal)
    }

    fn column_to_literal(&mut self, column: BoundColumn, op: CompareOp, literal: &Literal) -> BoundNode {
        let converted = literal.convert(column.column_type, &self.options.zone);
        self.converted(column, op, converted)
    }

    fn converted(
        &mut self,
        column: BoundColumn,
        op: CompareOp,
        converted: Result<Converted, LiteralError>,
    ) -> BoundNode {
        if op == CompareOp::NotEq {
            return BoundNode::Not(Box::new(self.converted(column, CompareOp::Eq, converted)));
        }
        let is_greater = matches!(op, CompareOp::Gt | CompareOp::GtEq);
        let test = match converted {
            Ok(Converted::Exact(value)) => range(op, value.clone(), value),
            Ok(Converted::Between(low, high)) if is_fraction(column.column_type, &low, &high) => {
                between_integers(op, low, high)
            }
            Ok(Converted::Between(low, high)) => range(op, low, high),
            Ok(Converted::BelowRange) => BoundTest::Always(is_greater),
            Ok(Converted::AboveRange) => BoundTest::Always(matches!(op, CompareOp::Lt | CompareOp::LtEq)),
            Ok(Converted::Nan) => BoundTest::Nan { equality: op == CompareOp::Eq },
            Err(error) => return self.not_comparable(column, error),
        };
        self.leaf(column, test)
    }

    /// A text against a binary column is read differently by different engines; any other mismatch is a fault of the filter.
    fn not_comparable(&mut self, column: BoundColumn, error: LiteralError) -> BoundNode {
        match (&error, column.column_type) {
            (LiteralError::Mismatch { literal, .. }, PrimitiveType::Binary | PrimitiveType::Fixed(_))
                if literal.starts_with('\'') =>
            {
                BoundNode::Unknown(format!(
                    "engines read the text {literal} against the binary column `{}` differently; write X'...'",
                    column.name
                ))
            }
            _ => {
                self.faults.push(FilterError::Literal { column: column.name, error });
                BoundNode::Unknown(String::new())
            }
        }
    }

    pub(super) fn leaf(&self, column: BoundColumn, test: BoundTest) -> BoundNode {
        let on_nan =
            if column.column_type.is_float() { on_nan(&test, self.options.nan_order) } else { OutcomeSet::NONE };
        BoundNode::Leaf(BoundLeaf { column, test, on_nan })
    }
}

/// The range in which `op` holds against a literal that is taken for some value from `low` to `high`.
fn range(op: CompareOp, low: Value, high: Value) -> BoundTest {
    let inclusive = matches!(op, CompareOp::Eq | CompareOp::NotEq | CompareOp::LtEq | CompareOp::GtEq);
    let end = Endpoint { low, high, inclusive };
    match op {
        CompareOp::Eq | CompareOp::NotEq => BoundTest::Range { lower: Some(end.clone()), upper: Some(end) },
        CompareOp::Lt | CompareOp::LtEq => BoundTest::Range { lower: None, upper: Some(end) },
        CompareOp::Gt | CompareOp::GtEq => BoundTest::Range { lower: Some(end), upper: None },
    }
}

/// Whether some engine may take an operand for a float: a number written as one or beyond 64 bits, or what is no literal.
pub(crate) fn may_be_float(operand: &Expression) -> bool {
    match operand {
        Expression::Literal(Literal::Number(number)) => {
            number.is_float_notation() || number.scaled(0).is_ok_and(|(low, _)| i64::try_from(low).is_err())
        }
        Expression::Literal(Literal::Float(_)) => true,
        Expression::Literal(_) | Expression::Null => false,
        _ => true,
    }
}

/// An operand of a list or of BETWEEN. Engines bring all of these into one type before they compare: one float among them
/// makes floats of all numbers, those in quotes among them.
fn alike(operand: &Expression, floats: bool) -> Cow<'_, Expression> {
    match operand {
        Expression::Literal(Literal::Number(number)) if floats => {
            Cow::Owned(Expression::Literal(Literal::Number(number.in_float_notation())))
        }
        Expression::Literal(Literal::Text(text)) if floats => match Number::parse(text) {
            Some(number) => Cow::Owned(Expression::Literal(Literal::Number(number.in_float_notation()))),
            None => Cow::Borrowed(operand),
        },
        other => Cow::Borrowed(other),
    }
}

/// Whether a literal lies between two integers that stand beside each other.
fn is_fraction(column_type: PrimitiveType, low: &Value, high: &Value) -> bool {
    match (low, high) {
        (Value::Integer(low), Value::Integer(high)) => column_type.is_integer() && high.checked_sub(*low) == Some(1),
        _ => false,
    }
}

/// Integers against a fraction: engines agree that the comparison is exact, so the fraction lies strictly between.
fn between_integers(op: CompareOp, low: Value, high: Value) -> BoundTest {
    match op {
        CompareOp::Eq | CompareOp::NotEq => BoundTest::Always(false),
        CompareOp::Lt | CompareOp::LtEq => range(CompareOp::Lt, high.clone(), high),
        CompareOp::Gt | CompareOp::GtEq => range(CompareOp::Gt, low.clone(), low),
    }
}

/// What a test may be on a row that is NaN, by the reader's order. With no order known, a NaN may lie above or below every
/// number, or be unordered; but in no order does it lie on both sides of a range, and in none does it equal a number.
pub(crate) fn on_nan(test: &BoundTest, nan_order: NanOrder) -> OutcomeSet {
    let either = OutcomeSet::TRUE | OutcomeSet::FALSE;
    match (test, nan_order) {
        (BoundTest::Range { lower: Some(_), upper: Some(_) }, _) => OutcomeSet::FALSE,
        (BoundTest::Range { .. }, NanOrder::Any) => either,
        (BoundTest::Range { lower: Some(_), upper: None }, NanOrder::Greatest) => OutcomeSet::TRUE,
        (BoundTest::Range { .. }, NanOrder::Greatest | NanOrder::Ieee) => OutcomeSet::FALSE,
        (BoundTest::In(_) | BoundTest::IsNull, _) => OutcomeSet::FALSE,
        (BoundTest::Always(value), _) => outcome(Some(*value)),
        (BoundTest::Nan { .. }, _) => either,
    }
}

/// Two literals, where engines agree on the answer without knowing a type.
fn compare_literals(left: &Literal, op: CompareOp, right: &Literal) -> BoundNode {
    let order = match (left, right) {
        (Literal::Number(left), Literal::Number(right)) => order_of_numbers(*left, *right),
        (Literal::Boolean(left), Literal::Boolean(right)) => Some(left.cmp(right)),
        // Collations may order texts otherwise, but what is the same is equal.
        (Literal::Text(left), Literal::Text(right)) if left == right => Some(Ordering::Equal),
        _ => None,
    };
    let Some(order) = order else {
        return BoundNode::Unknown("there is no rule for comparing these two literals".to_owned());
    };
    BoundNode::Constant(outcome(Some(match op {
        CompareOp::Eq => order.is_eq(),
        CompareOp::NotEq => order.is_ne(),
        CompareOp::Lt => order.is_lt(),
        CompareOp::LtEq => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::GtEq => order.is_ge(),
    })))
}

/// The order of two numbers if it is the same for engines that take them for floats.
fn order_of_numbers(left: Number, right: Number) -> Option<Ordering> {
    let (floats_left, floats_right) = (left.to_floats(), right.to_floats());
    if left == right {
        Some(Ordering::Equal)
    } else if floats_left.1 < floats_right.0 {
        Some(Ordering::Less)
    } else if floats_left.0 > floats_right.1 {
        Some(Ordering::Greater)
    } else {
        None
    }
}
