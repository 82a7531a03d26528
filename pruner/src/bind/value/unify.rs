//! Bringing two operands into one domain, so that they can be compared or combined.

use prunus_statistics::{Converted, Literal, Number, PrimitiveType, TimeUnit, Value};

use super::{NoRule, Operand, ValueBinder};
use crate::domain::Domain;
use crate::interval::Interval;
use crate::operation::{Conversion, Operation};
use crate::value::ValueExpression;

/// The most digits of a decimal.
pub(super) const MAX_DIGITS: u8 = 38;

impl ValueBinder<'_, '_> {
    /// Two operands in one domain; `None` if one is NULL.
    pub(super) fn unify(
        &mut self,
        left: Operand,
        right: Operand,
    ) -> Result<Option<(ValueExpression, ValueExpression)>, NoRule> {
        if matches!(left, Operand::Null) || matches!(right, Operand::Null) {
            return Ok(None);
        }
        let mut both = self.in_one_domain(vec![left, right], compared_with)?;
        match (both.pop(), both.pop()) {
            (Some(right), Some(left)) => Ok(Some((left, right))),
            _ => Err("there is no rule for this comparison".to_owned()),
        }
    }

    /// Operands that are compared with each other, in one domain, NULLs among them.
    pub(super) fn compared_with_each_other(&mut self, operands: Vec<Operand>) -> Result<Vec<ValueExpression>, NoRule> {
        self.in_one_domain(operands, compared_with)
    }

    /// Operands that become one value, in one domain, NULLs among them.
    pub(super) fn unify_all(&mut self, operands: Vec<Operand>) -> Result<Vec<ValueExpression>, NoRule> {
        self.in_one_domain(operands, combined_with)
    }

    fn in_one_domain(
        &mut self,
        operands: Vec<Operand>,
        with_literal: fn(Domain, &Literal) -> Domain,
    ) -> Result<Vec<ValueExpression>, NoRule> {
        let mut domain = None;
        for operand in &operands {
            if let Operand::Typed(expression) = operand {
                domain = Some(match domain {
                    None => expression.domain,
                    Some(domain) => common(domain, expression.domain)?,
                });
            }
        }
        let mut domain = domain
            .or_else(|| operands.iter().find_map(own_domain))
            .ok_or_else(|| "there is no rule for literals alone".to_owned())?;
        for operand in &operands {
            if let Operand::Literal(literal) = operand {
                domain = with_literal(domain, literal);
            }
        }
        let has_decimal =
            operands.iter().any(|operand| matches!(operand, Operand::Typed(typed) if is_decimal(typed.domain)));
        operands
            .into_iter()
            .map(|operand| match operand {
                Operand::Typed(real) if has_decimal && real.domain == Domain::Real => Ok(beside_decimal(real)),
                Operand::Typed(expression) => convert(expression, domain),
                Operand::Null => Ok(ValueExpression::constant(domain, Interval::null())),
                Operand::Literal(literal) => self.literal(&literal, domain),
                Operand::Interval(_) => Err("there is no rule for an interval in this place".to_owned()),
            })
            .collect()
    }

    /// A literal as a constant of a domain.
    pub(super) fn literal(&self, literal: &Literal, domain: Domain) -> Result<ValueExpression, NoRule> {
        let no_rule = || format!("there is no rule for {literal} in this place");
        let interval = match (domain, literal) {
            (Domain::Integer { .. }, Literal::Number(number)) => scaled(*number, 0),
            (Domain::Decimal { scale, .. }, Literal::Number(number)) => scaled(*number, scale),
            (Domain::Float { .. } | Domain::Real, _) => {
                let is_double = domain == Domain::Float { loose: false };
                let column_type = if is_double { PrimitiveType::Float64 } else { PrimitiveType::Float32 };
                self.converted(literal, column_type)
            }
            (Domain::Integer { .. } | Domain::Decimal { .. }, _) => None,
            (domain, _) => match domain {
                Domain::Boolean => self.converted(literal, PrimitiveType::Boolean),
                Domain::Text => self.converted(literal, PrimitiveType::String),
                Domain::Binary => self.converted(literal, PrimitiveType::Binary),
                Domain::Uuid => self.converted(literal, PrimitiveType::Uuid),
                Domain::Date => self.converted(literal, PrimitiveType::Date),
                Domain::Time => self.converted(literal, PrimitiveType::Time(TimeUnit::Nanosecond)),
                Domain::Timestamp => self.moment(literal, PrimitiveType::Timestamp),
                _ => self.moment(literal, PrimitiveType::Timestamptz),
            },
        };
        interval.map(|interval| ValueExpression::constant(domain, interval)).ok_or_else(no_rule)
    }

    /// A moment in nanoseconds, or, beyond the centuries that these can name, in microseconds.
    fn moment(&self, literal: &Literal, of_unit: fn(TimeUnit) -> PrimitiveType) -> Option<Interval> {
        [TimeUnit::Nanosecond, TimeUnit::Microsecond]
            .into_iter()
            .find_map(|unit| self.converted(literal, of_unit(unit)))
    }

    fn converted(&self, literal: &Literal, column_type: PrimitiveType) -> Option<Interval> {
        let in_domain = |value| Domain::from_column(value, column_type);
        match literal.convert(column_type, &self.binder.options.zone).ok()? {
            Converted::Exact(value) => in_domain(value).map(Interval::point),
            Converted::Between(low, high) => Some(Interval::between(in_domain(low)?, in_domain(high)?)),
            Converted::Nan => Some(Interval::nan()),
            Converted::BelowRange | Converted::AboveRange => None,
        }
    }
}

fn is_decimal(domain: Domain) -> bool {
    matches!(domain, Domain::Decimal { .. })
}

/// What may be a float as what it may be beside a decimal.
fn beside_decimal(real: ValueExpression) -> ValueExpression {
    ValueExpression::apply(
        Domain::Real,
        Operation::Convert(Conversion::ToDecimal { digits: SINGLE_DIGITS }),
        vec![real],
    )
}

fn scaled(number: Number, scale: u8) -> Option<Interval> {
    let (low, high) = number.scaled(scale).ok()?;
    Some(Interval::between(Value::Integer(low), Value::Integer(high)))
}

/// The domain of a literal that meets no typed operand, where it has one of its own.
fn own_domain(operand: &Operand) -> Option<Domain> {
    match operand {
        Operand::Literal(Literal::Boolean(_)) => Some(Domain::Boolean),
        Operand::Literal(Literal::Number(_)) => Some(Domain::INT32),
        _ => None,
    }
}

/// The digits that the integers of a width have.
pub(super) fn digits(domain: Domain) -> (u8, u8) {
    match domain {
        Domain::Integer { smallest, largest } => {
            let widest = smallest.unsigned_abs().max(largest.unsigned_abs());
            (u8::try_from(widest.checked_ilog10().unwrap_or(0) + 1).unwrap_or(MAX_DIGITS), 0)
        }
        Domain::Decimal { precision, scale } => (precision, scale),
        _ => (MAX_DIGITS, 0),
    }
}

/// The domain in which values of both can be compared without losing any.
fn common(a: Domain, b: Domain) -> Result<Domain, NoRule> {
    use Domain as D;
    Ok(match (a, b) {
        (a, b) if a == b => a,
        (D::Integer { smallest: a, largest: b }, D::Integer { smallest: c, largest: d }) => wider((a, b), (c, d)),
        (D::Float { loose: a }, D::Float { loose: b }) => D::Float { loose: a || b },
        (D::Integer { .. }, float @ D::Float { .. }) | (float @ D::Float { .. }, D::Integer { .. }) => float,
        (D::Real, other) | (other, D::Real) if other.is_numeric() => D::Real,
        // Beside a decimal some engines make a decimal of a float.
        (a, b) if a.is_numeric() && b.is_numeric() && (a.is_float() || b.is_float()) => D::Real,
        (a, b) if a.is_numeric() && b.is_numeric() => {
            let ((a_precision, a_scale), (b_precision, b_scale)) = (digits(a), digits(b));
            let scale = a_scale.max(b_scale);
            let whole = (a_precision - a_scale).max(b_precision - b_scale);
            if whole + scale <= MAX_DIGITS { D::Decimal { precision: whole + scale, scale } } else { D::Real }
        }
        (D::Date | D::Timestamp, D::Date | D::Timestamp) => D::Timestamp,
        (D::Date | D::Timestamp | D::Timestamptz, D::Date | D::Timestamp | D::Timestamptz) => D::Timestamptz,
        _ => return Err("there is no rule for comparing values of these two types".to_owned()),
    })
}

/// The digits that a 64-bit float tells apart, and that DataFusion gives a decimal behind the point that it makes of one.
const FLOAT_DIGITS: u8 = 15;
/// The same of 32 bits.
const SINGLE_DIGITS: u8 = 7;

/// The integers of either width. Where neither holds the other, engines pick a width of their own, so none counts but what
/// both hold.
fn wider(a: (i128, i128), b: (i128, i128)) -> Domain {
    let hull = (a.0.min(b.0), a.1.max(b.1));
    let (smallest, largest) = if hull == a || hull == b { hull } else { (a.0.max(b.0), a.1.min(b.1)) };
    Domain::Integer { smallest, largest }
}

/// The domain in which values are compared with a literal: a fraction makes decimals of integers, or floats where these may
/// not tell all apart; a time of day makes timestamps of dates.
fn compared_with(domain: Domain, literal: &Literal) -> Domain {
    match (domain, literal) {
        (Domain::Integer { .. } | Domain::Decimal { .. }, Literal::Number(number)) if number.is_float_notation() => {
            let (precision, scale) = digits(domain);
            let exact = |scale: u8| number.scaled(scale).ok().is_some_and(|(low, high)| low == high);
            match (scale..=FLOAT_DIGITS).find(|scale| exact(*scale)) {
                Some(scale_of_both) if !number.changes_by_way_of_float(scale_of_both) => {
                    let precision = whole_digits(*number).max(precision - scale).saturating_add(scale_of_both);
                    if precision > FLOAT_DIGITS {
                        Domain::Float { loose: false }
                    } else {
                        Domain::Decimal { precision, scale: scale_of_both }
                    }
                }
                _ => Domain::Float { loose: false },
            }
        }
        _ => combined_with(domain, literal),
    }
}

/// The domain of a value that may be a literal's.
fn combined_with(domain: Domain, literal: &Literal) -> Domain {
    match (domain, literal) {
        (Domain::Integer { .. } | Domain::Decimal { .. }, Literal::Number(number)) if number.is_float_notation() => {
            Domain::Real
        }
        (Domain::Integer { smallest, largest }, Literal::Number(number)) => {
            let held = (smallest.min(i64::MIN.into()))..=(largest.max(i64::MAX.into()));
            if number.scaled(0).is_ok_and(|(whole, _)| held.contains(&whole)) { domain } else { Domain::Real }
        }
        (Domain::Decimal { precision, scale }, Literal::Number(number)) => {
            let precision = whole_digits(*number).max(precision - scale).saturating_add(scale);
            if precision > MAX_DIGITS { Domain::Real } else { Domain::Decimal { precision, scale } }
        }
        (Domain::Date, Literal::Timestamp { .. }) => Domain::Timestamp,
        _ => domain,
    }
}

/// How many digits a number has before the point.
pub(super) fn whole_digits(number: Number) -> u8 {
    number.scaled(0).map_or(u8::MAX, |(low, high)| {
        let widest = low.unsigned_abs().max(high.unsigned_abs());
        u8::try_from(widest.checked_ilog10().unwrap_or(0) + 1).unwrap_or(u8::MAX)
    })
}

/// An expression in a domain that holds all its values.
pub(super) fn convert(expression: ValueExpression, domain: Domain) -> Result<ValueExpression, NoRule> {
    use Domain as D;
    let apply = |expression: ValueExpression, domain: Domain, conversion: Conversion| {
        ValueExpression::apply(domain, Operation::Convert(conversion), vec![expression])
    };
    Ok(match (expression.domain, domain) {
        (from, to) if from == to => expression,
        // Only the width or the looseness differs.
        (D::Integer { .. }, D::Integer { .. }) | (D::Float { .. }, D::Float { .. }) => {
            ValueExpression { domain, ..expression }
        }
        (D::Float { loose }, D::Real) => apply(
            expression,
            domain,
            Conversion::ToDecimal { digits: if loose { SINGLE_DIGITS } else { FLOAT_DIGITS } },
        ),
        (D::Real, D::Float { .. }) => apply(expression, domain, Conversion::ToSingle),
        (from @ (D::Integer { .. } | D::Decimal { .. }), D::Decimal { scale, .. }) => {
            let added =
                scale.checked_sub(digits(from).1).ok_or_else(|| "there is no rule for this scale".to_owned())?;
            if added == 0 {
                ValueExpression { domain, ..expression }
            } else {
                apply(expression, domain, Conversion::ScaleUp { digits: added })
            }
        }
        (from @ (D::Integer { .. } | D::Decimal { .. }), D::Float { .. } | D::Real) => {
            let float = apply(expression, domain, Conversion::ToFloat { scale: digits(from).1 });
            // Beside floats of 32 bits some engines make such floats of other numbers, too.
            if domain == (D::Float { loose: false }) { float } else { apply(float, domain, Conversion::ToSingle) }
        }
        (D::Date, D::Timestamp) => apply(expression, domain, Conversion::DateToTimestamp),
        (D::Date, D::Timestamptz) => {
            let midnight = apply(expression, D::Timestamp, Conversion::DateToTimestamp);
            apply(midnight, domain, Conversion::AcrossZones)
        }
        (D::Timestamp, D::Timestamptz) => apply(expression, domain, Conversion::AcrossZones),
        _ => return Err("there is no rule for comparing values of these two types".to_owned()),
    })
}
