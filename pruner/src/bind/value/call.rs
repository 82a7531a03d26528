//! Calls of functions and operators.

use prunus_statistics::{Literal, Number};

use super::unify::{MAX_DIGITS, convert, digits, whole_digits};
use super::{NoRule, Operand, ValueBinder};
use crate::domain::Domain;
use crate::function::Function;
use crate::interval::Interval;
use crate::operation::{Conversion, Operation};
use crate::predicate::Expression;
use crate::value::{ValueExpression, ValueNode};

impl ValueBinder<'_, '_> {
    pub(super) fn call(&mut self, function: Function, arguments: &[Expression]) -> Result<ValueExpression, NoRule> {
        let operands = arguments.iter().map(|argument| self.operand(argument)).collect::<Result<Vec<_>, _>>()?;
        match function {
            Function::Coalesce => {
                let operands = self.unify_all(operands)?;
                let domain = operands.first().map_or(Domain::Boolean, |operand| operand.domain);
                Ok(ValueExpression { domain, node: ValueNode::Coalesce(operands) })
            }
            Function::Greatest | Function::Least => {
                let operation = if function == Function::Greatest { Operation::Greatest } else { Operation::Least };
                let operands = self.unify_all(operands)?;
                let domain = operands.first().map_or(Domain::Boolean, |operand| operand.domain);
                Ok(ValueExpression::apply(domain, operation, operands))
            }
            Function::NullIf => {
                let operands = self.unify_all(operands)?;
                let first = operands.into_iter().next().ok_or_else(no_rule)?;
                let null = ValueExpression::constant(first.domain, Interval::null());
                // Null or the first operand: a coalesce of nothing known about which.
                Ok(ValueExpression { domain: first.domain, node: ValueNode::Either(Box::new(first), Box::new(null)) })
            }
            Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Remainder => {
                self.arithmetic(function, operands)
            }
            unary => {
                let operand = operands.into_iter().next().ok_or_else(no_rule)?;
                let Operand::Typed(operand) = operand else { return Err(no_rule()) };
                unary_call(unary, operand)
            }
        }
    }

    fn arithmetic(&mut self, function: Function, operands: Vec<Operand>) -> Result<ValueExpression, NoRule> {
        if let Some(moment) = self.moment_arithmetic(function, &operands) {
            return moment;
        }
        let operation = match function {
            Function::Add => Operation::Add,
            Function::Subtract => Operation::Subtract,
            Function::Multiply => Operation::Multiply,
            Function::Divide => Operation::Divide,
            _ => Operation::Remainder,
        };
        let null = operands.iter().any(|operand| matches!(operand, Operand::Null));
        let operands = match float_domain(operation, &operands)? {
            Some(domain) => self
                .unify_all(operands.into_iter().map(|operand| in_domain(operand, domain)).collect::<Result<_, _>>()?)?,
            None if operation == Operation::Multiply => self.factors(operands)?,
            None => self.unify_all(operands)?,
        };
        let [left, right] = <[ValueExpression; 2]>::try_from(operands).map_err(|_| no_rule())?;
        let domain = result_domain(operation, left.domain, right.domain)?;
        if null {
            return Ok(ValueExpression::constant(domain, Interval::null()));
        }
        Ok(ValueExpression::apply(domain, operation, vec![left, right]))
    }

    /// The factors of a product: integers of one width, or decimals each in its own scale.
    fn factors(&mut self, operands: Vec<Operand>) -> Result<Vec<ValueExpression>, NoRule> {
        let is_decimal = |operand: &Operand| matches!(operand, Operand::Typed(expression) if matches!(expression.domain, Domain::Decimal { .. }));
        if !operands.iter().any(is_decimal) {
            return self.unify_all(operands);
        }
        operands
            .into_iter()
            .map(|operand| match operand {
                Operand::Typed(expression) if expression.domain.is_numeric() => {
                    let (precision, scale) = digits(expression.domain);
                    Ok(ValueExpression { domain: Domain::Decimal { precision, scale }, ..expression })
                }
                Operand::Typed(_) => Err(no_rule()),
                Operand::Null => {
                    Ok(ValueExpression::constant(Domain::Decimal { precision: 1, scale: 0 }, Interval::null()))
                }
                Operand::Literal(literal) => {
                    let Literal::Number(number) = &literal else { return Err(no_rule()) };
                    let (whole, _) = number.scaled(0).map_err(|_| no_rule())?;
                    let precision =
                        u8::try_from(whole.unsigned_abs().checked_ilog10().unwrap_or(0) + 1).map_err(|_| no_rule())?;
                    self.literal(&literal, Domain::Decimal { precision, scale: 0 })
                }
                Operand::Interval(_) => Err(no_rule()),
            })
            .collect()
    }
}

fn no_rule() -> NoRule {
    "there is no rule for this use of a function".to_owned()
}

/// The domain of arithmetic in which some engine reckons with floats: of floats, if all do. Of what some take for decimals and
/// others for floats, only sums and products that no engine rounds to a scale have a rule.
fn float_domain(operation: Operation, operands: &[Operand]) -> Result<Option<Domain>, NoRule> {
    let typed = || {
        operands.iter().filter_map(|operand| match operand {
            Operand::Typed(expression) => Some(expression.domain),
            _ => None,
        })
    };
    let literals = || {
        operands.iter().filter_map(|operand| match operand {
            Operand::Literal(Literal::Number(number)) => Some(*number),
            _ => None,
        })
    };
    if typed().any(|domain| matches!(domain, Domain::Float { .. })) {
        let exact = |domain| matches!(domain, Domain::Float { loose: false } | Domain::Integer { .. });
        return Ok(Some(Domain::Float { loose: !typed().all(exact) }));
    }
    if typed().any(|domain| domain == Domain::Real) {
        return Err(no_rule());
    }
    if !literals().any(Number::is_float_notation) {
        return Ok(None);
    }
    let behind_point =
        |number: Number| (0..MAX_DIGITS).find(|scale| number.scaled(*scale).is_ok_and(|(low, high)| low == high));
    let digits_of = |number: Number| Some(behind_point(number)?.saturating_add(whole_digits(number)));
    let all_digits =
        literals().map(|number| digits_of(number).unwrap_or(MAX_DIGITS)).chain(typed().map(|domain| digits(domain).0));
    let fits = all_digits.fold(0_u8, u8::saturating_add) < MAX_DIGITS;
    let divides = matches!(operation, Operation::Divide | Operation::Remainder);
    if fits && !divides { Ok(Some(Domain::Real)) } else { Err(no_rule()) }
}

fn in_domain(operand: Operand, domain: Domain) -> Result<Operand, NoRule> {
    match operand {
        Operand::Typed(expression) if expression.domain.is_numeric() => convert(expression, domain).map(Operand::Typed),
        Operand::Typed(_) => Err(no_rule()),
        // A literal by itself takes the domain of what it meets.
        other => Ok(other),
    }
}

/// The domain of a result; none where engines would round to some scale of their own.
fn result_domain(operation: Operation, left: Domain, right: Domain) -> Result<Domain, NoRule> {
    match (operation, left, right) {
        (Operation::Divide, Domain::Integer { .. }, Domain::Integer { .. }) => Ok(Domain::Real),
        (Operation::Divide, Domain::Decimal { .. }, _) | (Operation::Divide, _, Domain::Decimal { .. }) => {
            Err(no_rule())
        }
        (Operation::Multiply, Domain::Integer { .. }, Domain::Integer { .. }) => Ok(left),
        (Operation::Multiply, Domain::Float { .. } | Domain::Real, _) => Ok(left),
        (Operation::Multiply, left, right) => {
            let ((a_precision, a_scale), (b_precision, b_scale)) = (digits(left), digits(right));
            let (precision, scale) = (a_precision.saturating_add(b_precision), a_scale.saturating_add(b_scale));
            if precision > MAX_DIGITS { Err(no_rule()) } else { Ok(Domain::Decimal { precision, scale }) }
        }
        (Operation::Add | Operation::Subtract, Domain::Decimal { precision, scale }, _) => {
            if precision < MAX_DIGITS {
                Ok(Domain::Decimal { precision: precision + 1, scale })
            } else {
                Err(no_rule())
            }
        }
        (_, domain, _) if domain.is_numeric() => Ok(domain),
        _ => Err(no_rule()),
    }
}

fn unary_call(function: Function, operand: ValueExpression) -> Result<ValueExpression, NoRule> {
    let domain = operand.domain;
    let same = |operation, operand| Ok(ValueExpression::apply(domain, operation, vec![operand]));
    match (function, domain) {
        (Function::Negate | Function::Abs, Domain::Real) => Err(no_rule()),
        (Function::Negate, domain) if domain.is_numeric() => same(Operation::Negate, operand),
        (Function::Abs, domain) if domain.is_numeric() => same(Operation::Abs, operand),
        (Function::Floor | Function::Ceil | Function::Round | Function::Trunc, domain) if domain.is_numeric() => {
            let operation = match function {
                Function::Floor => Operation::Floor,
                Function::Ceil => Operation::Ceil,
                _ => Operation::Round,
            };
            match domain {
                Domain::Float { .. } if operation == Operation::Round => same(operation, operand),
                Domain::Float { .. } | Domain::Real => {
                    Ok(ValueExpression::apply(Domain::Real, operation, vec![operand]))
                }
                // Some engines make floats of integers and decimals.
                _ => convert(same(operation, operand)?, Domain::Real),
            }
        }
        (Function::Sqrt | Function::Ln | Function::Exp, domain) if domain.is_numeric() => {
            let operation = match function {
                Function::Sqrt => Operation::Sqrt,
                Function::Ln => Operation::Ln,
                _ => Operation::Exp,
            };
            let float =
                Domain::Float { loose: !matches!(domain, Domain::Integer { .. } | Domain::Float { loose: false }) };
            Ok(ValueExpression::apply(float, operation, vec![convert(operand, float)?]))
        }
        (Function::Length | Function::CharLength, Domain::Text | Domain::Binary) => {
            Ok(ValueExpression::apply(Domain::INT32, Operation::Length, vec![operand]))
        }
        (Function::DateTrunc(unit), Domain::Date | Domain::Timestamp | Domain::Timestamptz) => {
            let moment = as_moment(operand);
            Ok(ValueExpression::apply(moment.domain, Operation::DateTrunc(unit), vec![moment]))
        }
        (Function::Extract(part), Domain::Date | Domain::Timestamp | Domain::Timestamptz) => {
            Ok(ValueExpression::apply(part.domain(), Operation::Extract(part), vec![as_moment(operand)]))
        }
        _ => Err(no_rule()),
    }
}

/// A date as its midnight, a timestamp as it is.
fn as_moment(operand: ValueExpression) -> ValueExpression {
    match operand.domain {
        Domain::Date => {
            ValueExpression::apply(Domain::Timestamp, Operation::Convert(Conversion::DateToTimestamp), vec![operand])
        }
        _ => operand,
    }
}
