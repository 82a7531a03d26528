//! From sqlparser's expressions to predicates.

use prunus_statistics::{Literal, Number};
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectNamePart,
    TimezoneInfo, TypedString, UnaryOperator, Value, ValueWithSpan,
};

use crate::{
    ColumnName, ContainsTest, Expression, FilterError, FilterLanguage, NamePart, Predicate, TruthValue, Unsupported,
};

use super::value::computed;
use super::{guard, logic, unnested};
use crate::MAX_FILTER_DEPTH;
use crate::function::Function as FilterFunction;

/// A boolean expression as a predicate.
pub(super) fn predicate(expression: &Expr, depth: usize) -> Result<Predicate, FilterError> {
    if depth > MAX_FILTER_DEPTH {
        return Err(FilterError::TooComplex { what: "levels of nesting", max: MAX_FILTER_DEPTH });
    }
    if let Some(name) = column_name(expression) {
        return Ok(Predicate::Column(name));
    }
    let inner = |expression: &Expr| predicate(unnested(expression), depth + 1);
    let is = |tested: &Expr, value, negated| Ok(Predicate::Is { predicate: Box::new(inner(tested)?), value, negated });
    match expression {
        Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } => {
            logic::connective(expression, op, depth)
        }
        Expr::BinaryOp { left, op, right } => logic::comparison(expression, (left, op, right), depth),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(Predicate::Not(Box::new(inner(expr)?))),
        Expr::IsNull(tested) if logic::is_logical(tested) => is(tested, TruthValue::Unknown, false),
        Expr::IsNotNull(tested) if logic::is_logical(tested) => is(tested, TruthValue::Unknown, true),
        Expr::IsNull(tested) => Ok(Predicate::IsNull { expression: value(tested, depth + 1)?, negated: false }),
        Expr::IsNotNull(tested) => Ok(Predicate::IsNull { expression: value(tested, depth + 1)?, negated: true }),
        Expr::IsTrue(tested) => is(tested, TruthValue::True, false),
        Expr::IsNotTrue(tested) => is(tested, TruthValue::True, true),
        Expr::IsFalse(tested) => is(tested, TruthValue::False, false),
        Expr::IsNotFalse(tested) => is(tested, TruthValue::False, true),
        Expr::IsUnknown(tested) => is(tested, TruthValue::Unknown, false),
        Expr::IsNotUnknown(tested) => is(tested, TruthValue::Unknown, true),
        Expr::IsDistinctFrom(left, right) => logic::distinct(left, right, false, depth),
        Expr::IsNotDistinctFrom(left, right) => logic::distinct(left, right, true, depth),
        Expr::InList { expr, list, negated } => Ok(Predicate::In {
            expression: value(expr, depth + 1)?,
            list: list.iter().map(|item| value(item, depth + 1)).collect::<Result<_, _>>()?,
            negated: *negated,
        }),
        Expr::Between { expr, negated, low, high } => Ok(Predicate::Between {
            expression: value(expr, depth + 1)?,
            low: value(low, depth + 1)?,
            high: value(high, depth + 1)?,
            negated: *negated,
        }),
        Expr::Value(literal) => match &literal.value {
            Value::Boolean(value) => Ok(Predicate::Constant(Some(*value))),
            Value::Null => Ok(Predicate::Constant(None)),
            _ => Err(FilterError::NotACondition { expression: expression.to_string() }),
        },
        Expr::TypedString(_) | Expr::Interval(_) | Expr::Tuple(_) | Expr::Array(_) => {
            Err(FilterError::NotACondition { expression: expression.to_string() })
        }
        Expr::Function(function) => match function_test(function, depth)? {
            Some(test) => Ok(test),
            None => computed_condition(expression, depth),
        },
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
            let test = contains(right, ContainsTest::EqualsAny, left, depth)?;
            Ok(test.unwrap_or_else(|| Predicate::Other(unsupported(expression))))
        }
        Expr::Like { negated, any: false, expr, pattern, escape_char } => {
            like(expression, (*negated, expr, pattern, escape_char.as_ref()), depth)
        }
        other => computed_condition(other, depth),
    }
}

/// A computed expression as a condition.
fn computed_condition(expression: &Expr, depth: usize) -> Result<Predicate, FilterError> {
    Ok(match computed(expression, depth)? {
        Some(computed @ (Expression::Cast { .. } | Expression::Case { .. })) => Predicate::Holds(computed),
        Some(computed @ Expression::Call { function: FilterFunction::Coalesce, .. }) => Predicate::Holds(computed),
        _ => Predicate::Other(unsupported(expression)),
    })
}

/// `LIKE` a pattern that is a literal.
fn like(
    whole: &Expr,
    (negated, tested, pattern, escape): (bool, &Expr, &Expr, Option<&ValueWithSpan>),
    depth: usize,
) -> Result<Predicate, FilterError> {
    let text = |literal: &ValueWithSpan| match &literal.value {
        Value::SingleQuotedString(text) => Some(text.clone()),
        _ => None,
    };
    let pattern = if let Expr::Value(pattern) = unnested(pattern) { text(pattern) } else { None };
    let escape = escape.map(|escape| text(escape).and_then(|text| single(&text)));
    match (pattern, escape) {
        (Some(pattern), None) => {
            Ok(Predicate::Like { expression: value(tested, depth + 1)?, pattern, escape: None, negated })
        }
        (Some(pattern), Some(Some(escape))) => {
            Ok(Predicate::Like { expression: value(tested, depth + 1)?, pattern, escape: Some(escape), negated })
        }
        _ => Ok(Predicate::Other(unsupported(whole))),
    }
}

/// The character of a text that has one.
fn single(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// The functions that are predicates of their own: `isnan(x)` and `starts_with(x, 'prefix')`.
fn function_test(function: &Function, depth: usize) -> Result<Option<Predicate>, FilterError> {
    let Some((name, arguments)) = plain_call(function) else { return Ok(None) };
    Ok(match (name.to_ascii_lowercase().as_str(), arguments.as_slice()) {
        ("isnan" | "is_nan", [tested]) => Some(Predicate::IsNan(value(tested, depth + 1)?)),
        ("starts_with" | "startswith", [tested, prefix]) => match value(prefix, depth + 1)? {
            Expression::Literal(Literal::Text(prefix)) => {
                Some(Predicate::StartsWith { expression: value(tested, depth + 1)?, prefix })
            }
            _ => None,
        },
        (name, [list, sought]) => match ContainsTest::named(name) {
            Some(test) => contains(list, test, sought, depth)?,
            None => None,
        },
        _ => None,
    })
}

/// A test of what the list or map of a column holds, for a value that is no column's.
fn contains(list: &Expr, test: ContainsTest, sought: &Expr, depth: usize) -> Result<Option<Predicate>, FilterError> {
    let Some(column) = column_name(unnested(list)) else { return Ok(None) };
    let value = value(sought, depth + 1)?;
    let is_plain = matches!(value, Expression::Literal(_) | Expression::Null);
    Ok(is_plain.then_some(Predicate::Contains { column, test, value }))
}

/// The name and the arguments of a call `name(argument, ...)` without any of the clauses that SQL allows in it.
pub(super) fn plain_call(function: &Function) -> Option<(&str, Vec<&Expr>)> {
    let ([ObjectNamePart::Identifier(name)], FunctionArguments::List(list)) =
        (function.name.0.as_slice(), &function.args)
    else {
        return None;
    };
    let plain = function.filter.is_none()
        && function.null_treatment.is_none()
        && function.over.is_none()
        && function.within_group.is_empty()
        && matches!(function.parameters, FunctionArguments::None)
        && list.duplicate_treatment.is_none()
        && list.clauses.is_empty();
    if !plain || name.quote_style.is_some() {
        return None;
    }
    let arguments = list.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression),
        _ => None,
    });
    Some((&name.value, arguments.collect::<Option<_>>()?))
}

/// An operand of a comparison.
pub(super) fn value(written: &Expr, depth: usize) -> Result<Expression, FilterError> {
    if depth > MAX_FILTER_DEPTH {
        return Ok(Expression::Other(unsupported(written)));
    }
    let expression = unnested(written);
    if let Some(name) = column_name(expression) {
        return Ok(Expression::Column(name));
    }
    Ok(match expression {
        Expr::Value(literal) => match &literal.value {
            Value::Null => Expression::Null,
            Value::Boolean(value) => Expression::Literal(Literal::Boolean(*value)),
            Value::SingleQuotedString(text) => Expression::Literal(Literal::Text(text.clone())),
            Value::Number(digits, _) => match Number::parse(digits) {
                Some(number) => Expression::Literal(Literal::Number(number)),
                None => Expression::Other(unsupported(written)),
            },
            Value::HexStringLiteral(digits) => match prunus_statistics::parse_hex(digits) {
                Some(bytes) => Expression::Literal(Literal::Bytes(bytes)),
                None => {
                    return Err(FilterError::MalformedLiteral {
                        text: digits.clone(),
                        type_name: "string of hexadecimal digits",
                    });
                }
            },
            _ => Expression::Other(unsupported(written)),
        },
        Expr::UnaryOp { op: op @ (UnaryOperator::Minus | UnaryOperator::Plus), expr } => {
            match value(expr, depth + 1)? {
                Expression::Literal(Literal::Number(number)) if *op == UnaryOperator::Minus => {
                    Expression::Literal(Literal::Number(number.negated()))
                }
                plain @ Expression::Literal(Literal::Number(_)) => plain,
                _ => computed_or_other(written, depth)?,
            }
        }
        Expr::TypedString(typed) => return typed_literal(typed, written),
        _ => computed_or_other(written, depth)?,
    })
}

fn computed_or_other(written: &Expr, depth: usize) -> Result<Expression, FilterError> {
    Ok(computed(unnested(written), depth)?.unwrap_or_else(|| Expression::Other(unsupported(written))))
}

/// `DATE '...'`, `TIME '...'`, `TIMESTAMP '...'`.
fn typed_literal(typed: &TypedString, whole: &Expr) -> Result<Expression, FilterError> {
    let Value::SingleQuotedString(text) = &typed.value.value else {
        return Ok(Expression::Other(unsupported(whole)));
    };
    let (literal, type_name) = match typed.data_type {
        DataType::Date => (Literal::date(text), "date"),
        // A stated precision rounds the literal in some engines.
        DataType::Time(None, _) => (Literal::time(text), "time"),
        DataType::Timestamp(None, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz) => {
            (Literal::timestamptz(text), "timestamp")
        }
        DataType::Timestamp(None, _) | DataType::Datetime(None) => (Literal::timestamp(text), "timestamp"),
        _ => return Ok(Expression::Other(unsupported(whole))),
    };
    match literal {
        Some(literal) => Ok(Expression::Literal(literal)),
        None => Err(FilterError::MalformedLiteral { text: text.clone(), type_name }),
    }
}

/// The column that an expression is, if it is one.
pub(super) fn column_name(expression: &Expr) -> Option<ColumnName> {
    let part = |ident: &Ident| NamePart { text: ident.value.clone(), quoted: ident.quote_style.is_some() };
    match expression {
        Expr::Identifier(ident) => Some(ColumnName { parts: vec![part(ident)], id: None }),
        Expr::CompoundIdentifier(idents) => Some(ColumnName { parts: idents.iter().map(part).collect(), id: None }),
        _ => None,
    }
}

/// What has no rule, in parentheses unless it is a call, which reads the same wherever it stands.
pub(super) fn unsupported(written: &Expr) -> Unsupported {
    let expression = match unnested(written) {
        call @ Expr::Function(_) => call.to_string(),
        other => format!("({other})"),
    };
    let reason = is_current_time(&expression).then(|| {
        "what time it is, the engine says: write it as a literal, as TIMESTAMP '2024-01-31 12:00:00'".to_owned()
    });
    Unsupported { expression, language: FilterLanguage::Sql, columns: guard::columns(written), reason }
}

/// Whether an expression asks for the current time, which a filter that is judged by itself does not know.
fn is_current_time(expression: &str) -> bool {
    const NAMES: [&str; 7] =
        ["now", "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "today"];
    let mut words = expression.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.any(|word| NAMES.iter().any(|name| word.eq_ignore_ascii_case(name)))
}
