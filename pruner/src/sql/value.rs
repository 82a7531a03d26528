//! Functions, operators, casts and CASE, from sqlparser's expressions.

use prunus_statistics::{PrimitiveType, TimeUnit};
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind as SqlCastKind, CeilFloorKind, DataType, DateTimeField, ExactNumberInfo, Expr,
    Interval, TimezoneInfo, UnaryOperator, Value,
};

use super::convert::{plain_call, predicate, value};
use super::unnested;
use crate::function::{CAST_UNIT, CastKind, DatePart, DateUnit, Function};
use crate::interval_literal::unit_named;
use crate::{Expression, FilterError, IntervalLiteral};

/// The computed expression that this is, if there are rules for its kind.
pub(super) fn computed(expression: &Expr, depth: usize) -> Result<Option<Expression>, FilterError> {
    let call = |function: Function, arguments: &[&Expr]| {
        let arguments = arguments.iter().map(|argument| value(argument, depth + 1)).collect::<Result<_, _>>()?;
        Ok(Some(Expression::Call { function, arguments }))
    };
    match expression {
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => call(Function::Negate, &[expr]),
        Expr::BinaryOp { left, op, right } => match arithmetic(op) {
            Some(function) => call(function, &[left, right]),
            None => Ok(None),
        },
        Expr::Floor { expr, field } if is_plain(field) => call(Function::Floor, &[expr]),
        Expr::Ceil { expr, field } if is_plain(field) => call(Function::Ceil, &[expr]),
        Expr::Extract { field, expr, .. } => match DatePart::named(&field.to_string()) {
            Some(part) => call(Function::Extract(part), &[expr]),
            None => Ok(None),
        },
        Expr::Function(function) => {
            let Some((name, arguments)) = plain_call(function) else { return Ok(None) };
            match date_function(name, &arguments) {
                Some((Function::Coalesce, cast)) => {
                    let expression = Box::new(value(cast, depth + 1)?);
                    Ok(Some(Expression::Cast { expression, target: PrimitiveType::Date, kind: CastKind::Cast }))
                }
                Some((function, argument)) => call(function, &[argument]),
                None => match Function::named(name, arguments.len()) {
                    Some(function) => call(function, &arguments),
                    None => Ok(None),
                },
            }
        }
        Expr::Cast { kind, expr, data_type, array: false, format: None } => match cast_target(data_type) {
            Some(target) => {
                let kind = match kind {
                    SqlCastKind::Cast | SqlCastKind::DoubleColon => CastKind::Cast,
                    SqlCastKind::TryCast | SqlCastKind::SafeCast => CastKind::TryCast,
                };
                Ok(Some(Expression::Cast { expression: Box::new(value(expr, depth + 1)?), target, kind }))
            }
            None => Ok(None),
        },
        Expr::Interval(interval) => Ok(interval_literal(interval).map(Expression::Interval)),
        Expr::Case { operand: None, conditions, else_result, .. } => case(conditions, else_result.as_deref(), depth),
        _ => Ok(None),
    }
}

/// `INTERVAL '7' DAY`, `INTERVAL 7 DAY` or `INTERVAL '1 day 2 hours'`.
fn interval_literal(interval: &Interval) -> Option<IntervalLiteral> {
    let Interval {
        value,
        leading_field,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    } = interval
    else {
        return None;
    };
    let Expr::Value(value) = value.as_ref() else { return None };
    let unit = match leading_field {
        Some(field) => Some(unit_named(&field.to_string())?),
        None => None,
    };
    match (&value.value, unit) {
        (Value::SingleQuotedString(text), unit) => IntervalLiteral::parse(text, unit),
        (Value::Number(digits, _), Some(unit)) => IntervalLiteral::parse(digits, Some(unit)),
        _ => None,
    }
}

fn case(conditions: &[CaseWhen], otherwise: Option<&Expr>, depth: usize) -> Result<Option<Expression>, FilterError> {
    let branches = conditions
        .iter()
        .map(|branch| Ok((predicate(unnested(&branch.condition), depth + 1)?, value(&branch.result, depth + 1)?)))
        .collect::<Result<_, FilterError>>()?;
    let otherwise = otherwise.map(|otherwise| value(otherwise, depth + 1).map(Box::new)).transpose()?;
    Ok(Some(Expression::Case { branches, otherwise }))
}

fn arithmetic(op: &BinaryOperator) -> Option<Function> {
    Some(match op {
        BinaryOperator::Plus => Function::Add,
        BinaryOperator::Minus => Function::Subtract,
        BinaryOperator::Multiply => Function::Multiply,
        BinaryOperator::Divide => Function::Divide,
        BinaryOperator::Modulo => Function::Remainder,
        _ => return None,
    })
}

fn is_plain(field: &CeilFloorKind) -> bool {
    matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime))
}

/// `date_trunc('unit', x)`, `year(x)` and the like; `date(x)` as the cast that it is.
fn date_function<'a>(name: &str, arguments: &[&'a Expr]) -> Option<(Function, &'a Expr)> {
    match (name.to_ascii_lowercase().as_str(), arguments) {
        ("date_trunc", [unit, operand]) => match unnested(unit) {
            Expr::Value(literal) => match &literal.value {
                Value::SingleQuotedString(unit) => Some((Function::DateTrunc(DateUnit::named(unit)?), operand)),
                _ => None,
            },
            _ => None,
        },
        ("date_part", [part, operand]) => match unnested(part) {
            Expr::Value(literal) => match &literal.value {
                Value::SingleQuotedString(part) => Some((Function::Extract(DatePart::named(part)?), operand)),
                _ => None,
            },
            _ => None,
        },
        ("date", [operand]) => Some((Function::Coalesce, operand)),
        (part @ ("year" | "quarter" | "month" | "day" | "hour" | "minute" | "second"), [operand]) => {
            Some((Function::Extract(DatePart::named(part)?), operand))
        }
        _ => None,
    }
}

/// The types that all engines name alike; FLOAT is of 32 bits in some and of 64 in others.
fn cast_target(data_type: &DataType) -> Option<PrimitiveType> {
    Some(match data_type {
        DataType::Boolean | DataType::Bool => PrimitiveType::Boolean,
        DataType::TinyInt(_) => PrimitiveType::Int8,
        DataType::SmallInt(_) => PrimitiveType::Int16,
        DataType::Int(_) | DataType::Integer(_) => PrimitiveType::Int32,
        DataType::BigInt(_) => PrimitiveType::Int64,
        DataType::Real => PrimitiveType::Float32,
        DataType::Double(_) | DataType::DoublePrecision => PrimitiveType::Float64,
        DataType::Decimal(ExactNumberInfo::PrecisionAndScale(precision, scale))
        | DataType::Numeric(ExactNumberInfo::PrecisionAndScale(precision, scale)) => {
            PrimitiveType::decimal(u8::try_from(*precision).ok()?, u8::try_from(*scale).ok()?)?
        }
        DataType::Varchar(None) | DataType::Text | DataType::String(None) => PrimitiveType::String,
        DataType::Uuid => PrimitiveType::Uuid,
        DataType::Date => PrimitiveType::Date,
        DataType::Time(None, TimezoneInfo::None) => PrimitiveType::Time(TimeUnit::Nanosecond),
        DataType::Timestamp(None, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => {
            PrimitiveType::Timestamp(CAST_UNIT)
        }
        DataType::Timestamp(None, _) => PrimitiveType::Timestamptz(CAST_UNIT),
        _ => return None,
    })
}
