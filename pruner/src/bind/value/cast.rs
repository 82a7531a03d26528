//! Casts.

use prunus_statistics::{Converted, PrimitiveType};

use super::unify::digits;
use super::{NoRule, Operand, ValueBinder};
use crate::domain::Domain;
use crate::function::CastKind;
use crate::interval::Interval;
use crate::operation::{Conversion, Operation};
use crate::predicate::Expression;
use crate::value::ValueExpression;

impl ValueBinder<'_, '_> {
    pub(super) fn cast(
        &mut self,
        expression: &Expression,
        target: PrimitiveType,
        kind: CastKind,
    ) -> Result<Operand, NoRule> {
        let domain = Domain::of(target);
        Ok(match self.operand(expression)? {
            Operand::Null => Operand::Typed(ValueExpression::constant(domain, Interval::null())),
            Operand::Literal(literal) => {
                let in_domain = |value| Domain::from_column(value, target).ok_or_else(no_rule);
                let converted = literal.convert(target, &self.binder.options.zone).map_err(|_| no_rule())?;
                let interval = match converted {
                    Converted::Exact(value) => Interval::point(in_domain(value)?),
                    Converted::Between(low, high) => Interval::between(in_domain(low)?, in_domain(high)?),
                    Converted::Nan => Interval::nan(),
                    Converted::BelowRange | Converted::AboveRange => return Err(no_rule()),
                };
                Operand::Typed(in_milliseconds(ValueExpression::constant(domain, interval)))
            }
            Operand::Interval(_) => return Err(no_rule()),
            Operand::Typed(expression) => Operand::Typed(cast(expression, target, kind)?),
        })
    }
}

fn no_rule() -> NoRule {
    "there is no rule for this cast".to_owned()
}

fn cast(expression: ValueExpression, target: PrimitiveType, kind: CastKind) -> Result<ValueExpression, NoRule> {
    use Domain as D;
    let domain = D::of(target);
    let step = |expression: ValueExpression, domain: Domain, conversion: Conversion| {
        ValueExpression::apply(domain, Operation::Convert(conversion), vec![expression])
    };
    let into_target = |expression: ValueExpression| {
        let (smallest, largest) = target.stored_range().unwrap_or((i128::MIN, i128::MAX));
        let conversion = match kind {
            CastKind::Cast => Conversion::Into { smallest, largest },
            CastKind::TryCast => Conversion::TryInto { smallest, largest },
        };
        step(expression, domain, conversion)
    };
    Ok(match (expression.domain, domain) {
        (D::Integer { .. }, D::Integer { .. }) => into_target(expression),
        (from @ (D::Integer { .. } | D::Decimal { .. }), D::Integer { .. } | D::Decimal { .. }) => {
            into_target(rescale(expression, digits(from).1, digits(domain).1))
        }
        (from @ (D::Integer { .. } | D::Decimal { .. }), D::Float { loose }) => {
            let float = step(expression, domain, Conversion::ToFloat { scale: digits(from).1 });
            if loose { step(float, domain, Conversion::ToSingle) } else { float }
        }
        (D::Float { .. } | D::Real, D::Float { loose: true }) => step(expression, domain, Conversion::ToSingle),
        (D::Float { .. } | D::Real, D::Float { loose: false }) => {
            ValueExpression { domain: D::Float { loose: true }, ..expression }
        }
        (D::Float { .. } | D::Real, D::Integer { .. }) => {
            into_target(step(expression, domain, Conversion::FloatToInteger))
        }
        (from, D::Boolean) if from.is_numeric() => step(expression, domain, Conversion::NumberToBoolean),
        (D::Boolean, D::Integer { .. }) => step(expression, domain, Conversion::BooleanToInteger),
        (D::Boolean, D::Boolean)
        | (D::Text, D::Text)
        | (D::Uuid, D::Uuid)
        | (D::Date, D::Date)
        | (D::Time, D::Time) => expression,
        (D::Date, D::Timestamp) => in_nanoseconds(step(expression, domain, Conversion::DateToTimestamp)),
        (D::Date, D::Timestamptz) => {
            let midnights = step(expression, D::Timestamp, Conversion::DateToTimestamp);
            in_nanoseconds(step(midnights, domain, Conversion::AcrossZones))
        }
        (D::Timestamp, D::Timestamp) | (D::Timestamptz, D::Timestamptz) => in_nanoseconds(in_milliseconds(expression)),
        (D::Timestamp, D::Timestamptz) | (D::Timestamptz, D::Timestamp) => {
            in_nanoseconds(in_milliseconds(step(expression, domain, Conversion::AcrossZones)))
        }
        (D::Timestamp, D::Date) => step(expression, domain, Conversion::TimestampToDate),
        (D::Timestamptz, D::Date) => {
            step(step(expression, D::Timestamp, Conversion::AcrossZones), domain, Conversion::TimestampToDate)
        }
        (D::Timestamp, D::Time) => in_milliseconds(step(expression, domain, Conversion::TimestampToTime)),
        (D::Text, D::Integer { .. }) => into_target(step(expression, domain, Conversion::TextToInteger)),
        _ => return Err(no_rule()),
    })
}

/// A timestamp as engines cast it that count nanoseconds in 64 bits, which end in 1677 and in 2262: what lies beyond wraps, is
/// null, or fails.
fn in_nanoseconds(expression: ValueExpression) -> ValueExpression {
    let domain = expression.domain;
    let (smallest, largest) = (i64::MIN.into(), i64::MAX.into());
    ValueExpression::apply(domain, Operation::Convert(Conversion::Into { smallest, largest }), vec![expression])
}

/// A time as engines cast it: to microseconds in the standard, to milliseconds or nanoseconds in some.
fn in_milliseconds(expression: ValueExpression) -> ValueExpression {
    match expression.domain {
        domain @ (Domain::Time | Domain::Timestamp | Domain::Timestamptz) => {
            ValueExpression::apply(domain, Operation::Convert(Conversion::ToMilliseconds), vec![expression])
        }
        _ => expression,
    }
}

fn rescale(expression: ValueExpression, from: u8, to: u8) -> ValueExpression {
    let domain = Domain::Decimal { precision: 38, scale: to };
    let conversion = match (to.checked_sub(from), from.checked_sub(to)) {
        (Some(0), _) => return expression,
        (Some(digits), _) => Conversion::ScaleUp { digits },
        (None, digits) => Conversion::ScaleDown { digits: digits.unwrap_or(0) },
    };
    ValueExpression::apply(domain, Operation::Convert(conversion), vec![expression])
}
