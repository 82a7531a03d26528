//! Dates and timestamps plus or minus intervals.
//!
//! Engines agree on the calendar. They differ on zones: a `timestamptz` moves by days and months in a local time that is not
//! known, and an engine whose TIMESTAMP is an instant moves local times by hours across changes of the clock. And they differ
//! on the type of a date that is moved by hours: a timestamp in some, a date again in others.

use prunus_statistics::{Literal, LiteralZone, Value};

use super::{NoRule, Operand, ValueBinder};
use crate::domain::{DAY_NANOSECONDS, Domain};
use crate::function::Function;
use crate::interval::Interval;
use crate::operation::{Conversion, MAX_ZONE_CHANGE_NANOSECONDS, Operation, Shift};
use crate::value::{ValueExpression, ValueNode};
use crate::{Expression, IntervalLength};

const SECOND_NANOSECONDS: i128 = 1_000_000_000;

impl ValueBinder<'_, '_> {
    /// Arithmetic in which a date, a timestamp or an interval takes part; `None` if none does.
    pub(super) fn moment_arithmetic(
        &self,
        function: Function,
        operands: &[Operand],
    ) -> Option<Result<ValueExpression, NoRule>> {
        let is_moment = |operand: &Operand| match operand {
            Operand::Typed(expression) => {
                matches!(expression.domain, Domain::Date | Domain::Time | Domain::Timestamp | Domain::Timestamptz)
            }
            Operand::Literal(literal) => {
                matches!(literal, Literal::Date(_) | Literal::Time(_) | Literal::Timestamp { .. })
            }
            Operand::Interval(_) => true,
            Operand::Null => false,
        };
        if !operands.iter().any(is_moment) {
            return None;
        }
        let (moment, length) = match (function, operands) {
            (Function::Add, [moment, Operand::Interval(length)] | [Operand::Interval(length), moment]) => {
                (moment, *length)
            }
            (Function::Subtract, [moment, Operand::Interval(length)]) => (moment, length.negated()),
            (Function::Add | Function::Subtract, [one, other]) if is_moment(one) && is_moment(other) => {
                return Some(Err("engines disagree on the difference of two dates or timestamps: \
                                 days, an interval or a number"
                    .to_owned()));
            }
            (Function::Add | Function::Subtract, _) => {
                return Some(Err(
                    "engines disagree on a date plus a number: days or no date; write INTERVAL".to_owned()
                ));
            }
            _ => return Some(Err("there is no rule for this use of a date or timestamp".to_owned())),
        };
        Some(movable(moment).map(|moment| self.moved(moment, length)))
    }

    /// A date or timestamp moved by an interval.
    fn moved(&self, moment: ValueExpression, length: IntervalLength) -> ValueExpression {
        let is_utc = self.binder.options.zone.is_utc();
        let shift = |moment: ValueExpression, length, slack, grain| {
            let domain = moment.domain;
            ValueExpression::apply(domain, Operation::Shift(Shift { length, slack, grain }), vec![moment])
        };
        let convert = |moment: ValueExpression, domain, conversion| {
            ValueExpression::apply(domain, Operation::Convert(conversion), vec![moment])
        };
        let whole_days = IntervalLength { nanoseconds: 0, ..length };
        let part_of_day = IntervalLength { nanoseconds: length.nanoseconds, ..IntervalLength::default() };
        // Columns of whole seconds or milliseconds drop what is finer.
        let grain = if length.nanoseconds % SECOND_NANOSECONDS == 0 { 1 } else { SECOND_NANOSECONDS };
        let slack = if is_utc || length.nanoseconds == 0 { 0 } else { MAX_ZONE_CHANGE_NANOSECONDS };
        match moment.domain {
            Domain::Date => {
                let day = shift(moment, whole_days, 0, 1);
                let midnight = convert(day, Domain::Timestamp, Conversion::DateToTimestamp);
                if length.nanoseconds == 0 { midnight } else { shift(midnight, part_of_day, slack, DAY_NANOSECONDS) }
            }
            Domain::Timestamp => {
                let (slack, grain) = match &moment.node {
                    _ if length.nanoseconds == 0 || is_local(&moment) => (0, grain),
                    ValueNode::Constant(_) => (slack, grain),
                    // It may be a date that was moved by days.
                    _ => (slack, DAY_NANOSECONDS),
                };
                shift(moment, length, slack, grain)
            }
            // Some engines take 24 hours for a day.
            _ if !is_utc
                && (whole_days != IntervalLength::default() || length.nanoseconds.abs() >= DAY_NANOSECONDS) =>
            {
                let local = convert(moment, Domain::Timestamp, Conversion::AcrossZones);
                convert(shift(local, length, 0, grain), Domain::Timestamptz, Conversion::AcrossZones)
            }
            _ => shift(moment, length, 0, grain),
        }
    }

    /// A literal moved by intervals, where all engines make the same literal of it.
    pub(super) fn folded(&self, expression: &Expression) -> Option<Literal> {
        let Expression::Call { function, arguments } = expression else { return None };
        let (moment, length) = match (function, arguments.as_slice()) {
            (Function::Add, [moment, Expression::Interval(interval)] | [Expression::Interval(interval), moment]) => {
                (moment, interval.length())
            }
            (Function::Subtract, [moment, Expression::Interval(interval)]) => (moment, interval.length().negated()),
            _ => return None,
        };
        let literal = match moment {
            Expression::Literal(literal) => literal.clone(),
            computed => self.folded(computed)?,
        };
        let moved = self.moved(movable(&Operand::Literal(literal.clone())).ok()?, length);
        let Value::Integer(nanoseconds) = *moved.as_constant()?.certain()? else { return None };
        Some(match literal {
            Literal::Date(_) => Literal::Date(i64::try_from(nanoseconds.div_euclid(DAY_NANOSECONDS)).ok()?),
            _ if moved.domain == Domain::Timestamptz => Literal::Timestamp { nanoseconds, zone: LiteralZone::Offset },
            _ => Literal::Timestamp { nanoseconds, zone: LiteralZone::Local },
        })
    }
}

/// What can be moved by an interval.
fn movable(operand: &Operand) -> Result<ValueExpression, NoRule> {
    let constant = |domain, value| ValueExpression::constant(domain, Interval::point(Value::Integer(value)));
    match operand {
        Operand::Typed(expression)
            if matches!(expression.domain, Domain::Date | Domain::Timestamp | Domain::Timestamptz) =>
        {
            Ok(expression.clone())
        }
        Operand::Literal(Literal::Date(days)) => Ok(constant(Domain::Date, i128::from(*days))),
        Operand::Literal(Literal::Timestamp { nanoseconds, zone: LiteralZone::Local }) => {
            Ok(constant(Domain::Timestamp, *nanoseconds))
        }
        Operand::Literal(Literal::Timestamp { nanoseconds, zone: LiteralZone::Offset }) => {
            Ok(constant(Domain::Timestamptz, *nanoseconds))
        }
        Operand::Null => Ok(ValueExpression::constant(Domain::Timestamp, Interval::null())),
        _ => {
            Err("there is no rule for an interval but to add it to a date or timestamp or to take it from one"
                .to_owned())
        }
    }
}

/// Whether every engine holds the value as a local time, which no change of the clock touches: a column, or one that was
/// moved.
fn is_local(moment: &ValueExpression) -> bool {
    match &moment.node {
        ValueNode::Column(column) => Domain::of(column.column_type) == Domain::Timestamp,
        ValueNode::Apply(Operation::Shift(_), operands) => operands.iter().all(is_local),
        _ => false,
    }
}
