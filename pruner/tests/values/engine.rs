//! A plain evaluator of one row, by one engine's choices. A row on which the engine fails is left out of judgement.

use std::cmp::Ordering;

use prunus_pruner::{
    CastKind, CompareOp, DatePart, DateUnit, Expression, Function, IntervalLength, Predicate, TruthValue,
};
use prunus_statistics::{Literal, LiteralZone, PrimitiveType, civil_from_days, days_from_civil};

use super::generate::Random;

pub(crate) const DAY: i128 = 86_400_000_000_000;
const HOUR: i128 = 3_600_000_000_000;
const FLOAT_TO_BIGINT: f64 = 9_223_372_036_854_775_807.0;

/// A value of a row or an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Boolean(bool),
    /// An integer and how many bits the engine holds it in; 0 for a literal.
    Integer(i128, u32),
    Decimal(i128, u8),
    Float(f64, Width),
    Text(String),
    Date(i128),
    Time(i128),
    Timestamp(i128),
    Timestamptz(i128),
}

/// How wide a float is; a literal takes the width of what it meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Width {
    Single,
    Double,
    Free,
}

/// The row fails, or the engine does not know the expression.
#[derive(Debug)]
pub(crate) struct Fails;

type Computed<T = Cell> = Result<T, Fails>;

/// What an engine does where engines differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    pub(crate) nan: u8,
    pub(crate) overflow: u8,
    pub(crate) exact_division: bool,
    pub(crate) zero_division_is_null: bool,
    pub(crate) rounding: u8,
    pub(crate) cast_overflow: u8,
    pub(crate) fraction_is_float: bool,
    pub(crate) single_math: bool,
    pub(crate) first_weekday: i128,
    pub(crate) offset: i128,
    pub(crate) skips_nulls: bool,
    pub(crate) backslash: bool,
    pub(crate) nan_of_null: Option<bool>,
    pub(crate) floor_is_bigint: bool,
    pub(crate) literal_bits: u32,
    pub(crate) milliseconds: bool,
    /// Whether IN and NULLIF tell the zeros of floats apart.
    pub(crate) splits_zeros: bool,
    /// Whether what is rounded to a whole number is a float, whatever it was.
    pub(crate) whole_is_float: bool,
    /// Whether a float beside a decimal becomes a decimal.
    pub(crate) decimal_beside_float: bool,
    /// Whether IN and BETWEEN bring all their operands into one type.
    pub(crate) unifies_lists: bool,
    /// Whether a cast to 32 bits makes infinities of what is beyond these, also where it may give null.
    pub(crate) casts_to_infinity: bool,
    /// By how much the clocks of the session's zone are put forward at [`CLOCK_CHANGE`].
    pub(crate) summer: i128,
    /// Whether a local time that is no column is an instant of the session's zone.
    pub(crate) local_is_instant: bool,
    /// Whether a date that is moved is a date again.
    pub(crate) dates_stay_dates: bool,
    pub(crate) whole_seconds: bool,
    /// What a cast makes of a moment that 64 bits of nanoseconds do not hold: the moment, null, or another.
    pub(crate) beyond_nanoseconds: u8,
}

/// An instant.
const CLOCK_CHANGE: i128 = 1_709_200_000_000_000_000;

impl Engine {
    pub(crate) fn any(random: &mut Random) -> Self {
        let mut choose = |count: usize| random.below(count) as u8;
        Self {
            nan: choose(3),
            overflow: choose(4),
            exact_division: choose(2) == 1,
            zero_division_is_null: choose(2) == 1,
            rounding: choose(3),
            cast_overflow: choose(3),
            fraction_is_float: choose(2) == 1,
            single_math: choose(2) == 1,
            first_weekday: i128::from(choose(7)),
            offset: i128::from(choose(53)) * HOUR / 2 - 14 * HOUR,
            skips_nulls: choose(2) == 1,
            backslash: choose(2) == 1,
            nan_of_null: [Some(false), None][usize::from(choose(2))],
            floor_is_bigint: choose(4) == 0,
            literal_bits: [8, 32, 64][usize::from(choose(3))],
            milliseconds: choose(3) == 0,
            summer: i128::from(choose(3)) * HOUR,
            local_is_instant: choose(2) == 0,
            dates_stay_dates: choose(2) == 0,
            whole_seconds: choose(4) == 0,
            beyond_nanoseconds: choose(3),
            splits_zeros: choose(2) == 1,
            whole_is_float: choose(3) == 0,
            decimal_beside_float: choose(3) == 0,
            unifies_lists: choose(2) == 1,
            casts_to_infinity: choose(2) == 1,
        }
    }

    pub(crate) fn predicate(&self, predicate: &Predicate, row: &[(&str, Cell)]) -> Computed<Option<bool>> {
        let value = |expression: &Expression| self.value(expression, row);
        let inner = |predicate: &Predicate| self.predicate(predicate, row);
        let negate_if = |negated: bool, truth: Option<bool>| truth.map(|truth| truth != negated);
        Ok(match predicate {
            Predicate::Constant(truth) => *truth,
            Predicate::Column(name) => truth(&value(&Expression::Column(name.clone()))?)?,
            Predicate::Compare { left, op, right } => self.compare(&value(left)?, *op, &value(right)?)?,
            Predicate::Distinct { left, right, negated } => {
                let (left, right) = (value(left)?, value(right)?);
                let same = match (&left, &right) {
                    (Cell::Null, Cell::Null) => true,
                    (Cell::Null, _) | (_, Cell::Null) => false,
                    _ => self.compare(&left, CompareOp::Eq, &right)? == Some(true),
                };
                Some(same == *negated)
            }
            Predicate::In { expression, list, negated } => {
                let mut items = self.list(std::iter::once(expression).chain(list), row)?;
                let tested = items.remove(0);
                let truths = items.iter().map(|item| self.same(&tested, item));
                negate_if(*negated, any(truths.collect::<Computed<_>>()?))
            }
            Predicate::Between { expression, low, high, negated } => {
                let items = self.list([expression, low, high].into_iter(), row)?;
                let ends = [(CompareOp::GtEq, &items[1]), (CompareOp::LtEq, &items[2])];
                let truths = ends.into_iter().map(|(op, end)| self.compare(&items[0], op, end));
                negate_if(*negated, all(truths.collect::<Computed<_>>()?))
            }
            Predicate::IsNull { expression, negated } => Some((value(expression)? == Cell::Null) != *negated),
            Predicate::Like { expression, pattern, escape, negated } => match value(expression)? {
                Cell::Null => None,
                Cell::Text(text) => {
                    let escape = escape.or(self.backslash.then_some('\\'));
                    let pattern: Vec<char> = pattern.chars().collect();
                    Some(like(&text.chars().collect::<Vec<_>>(), &pattern, escape)? != *negated)
                }
                _ => return Err(Fails),
            },
            Predicate::StartsWith { expression, prefix } => match value(expression)? {
                Cell::Null => None,
                Cell::Text(text) => Some(text.starts_with(prefix)),
                _ => return Err(Fails),
            },
            Predicate::Contains { .. } => return Err(Fails),
            Predicate::IsNan(expression) => match value(expression)? {
                Cell::Null => self.nan_of_null,
                Cell::Float(value, _) => Some(value.is_nan()),
                _ => Some(false),
            },
            Predicate::Holds(expression) => truth(&value(expression)?)?,
            Predicate::Is { predicate, value, negated } => {
                let wanted = match value {
                    TruthValue::True => Some(true),
                    TruthValue::False => Some(false),
                    TruthValue::Unknown => None,
                };
                Some((inner(predicate)? == wanted) != *negated)
            }
            Predicate::Not(predicate) => inner(predicate)?.map(|truth| !truth),
            Predicate::And(parts) => all(parts.iter().map(inner).collect::<Computed<_>>()?),
            Predicate::Or(parts) => any(parts.iter().map(inner).collect::<Computed<_>>()?),
            Predicate::TwoValued { .. } | Predicate::Other(_) => return Err(Fails),
        })
    }

    /// The operands of IN or BETWEEN.
    fn list<'a>(
        &self,
        operands: impl Iterator<Item = &'a Expression> + Clone,
        row: &[(&str, Cell)],
    ) -> Computed<Vec<Cell>> {
        let values = operands.clone().map(|operand| self.value(operand, row)).collect::<Computed<Vec<_>>>()?;
        if !self.unifies_lists {
            return Ok(values);
        }
        let kind = self.joined(&operands.map(|operand| self.kind(operand)).collect::<Computed<Vec<_>>>()?);
        values.into_iter().map(|value| self.coerced(value, &kind)).collect()
    }

    fn value(&self, expression: &Expression, row: &[(&str, Cell)]) -> Computed {
        Ok(match expression {
            Expression::Column(name) => {
                let name = &name.parts[0].text;
                row.iter().find(|(column, _)| column == name).map(|(_, cell)| cell.clone()).ok_or(Fails)?
            }
            Expression::Null => Cell::Null,
            Expression::Literal(literal) => self.literal(literal)?,
            Expression::Call { function, arguments } if moved(*function, arguments).is_some() => {
                let (moment, length) = moved(*function, arguments).ok_or(Fails)?;
                self.shifted(self.value(moment, row)?, length, is_local(moment))?
            }
            Expression::Call { function, arguments } => {
                let values =
                    arguments.iter().map(|argument| self.value(argument, row)).collect::<Computed<Vec<_>>>()?;
                let result = self.call(*function, &values)?;
                if matches!(function, Function::Coalesce | Function::NullIf | Function::Greatest | Function::Least) {
                    self.coerced(result, &self.kind(expression)?)?
                } else {
                    result
                }
            }
            Expression::Cast { expression, target, kind } => {
                let value = self.value(expression, row)?;
                if *kind == CastKind::TryCast {
                    Self { cast_overflow: 1, ..*self }.cast(value, *target).or(Ok(Cell::Null))?
                } else {
                    self.cast(value, *target)?
                }
            }
            Expression::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    if self.predicate(condition, row)? == Some(true) {
                        return self.coerced(self.value(value, row)?, &self.kind(expression)?);
                    }
                }
                let value = otherwise.as_ref().map_or(Ok(Cell::Null), |otherwise| self.value(otherwise, row))?;
                self.coerced(value, &self.kind(expression)?)?
            }
            Expression::Json(_) | Expression::Interval(_) | Expression::Other(_) => return Err(Fails),
        })
    }

    /// A cell of the type that the engine gives an expression; null where that does not matter.
    fn kind(&self, expression: &Expression) -> Computed {
        Ok(match expression {
            Expression::Column(name) => match name.parts[0].text.as_str() {
                "a" | "b" => Cell::Integer(1, 8),
                "c" => Cell::Integer(1, 64),
                "d" => Cell::Decimal(1, 2),
                "e" => Cell::Decimal(1, 4),
                "f" => Cell::Float(1.0, Width::Double),
                "g" => Cell::Float(1.0, Width::Single),
                "t" => Cell::Timestamp(0),
                "z" => Cell::Timestamptz(0),
                "u" => Cell::Date(0),
                _ => Cell::Null,
            },
            Expression::Literal(literal) => match self.literal(literal)? {
                Cell::Integer(_, bits) => Cell::Integer(1, bits),
                Cell::Decimal(_, scale) => Cell::Decimal(1, scale),
                Cell::Float(_, width) => Cell::Float(1.0, width),
                other => other,
            },
            Expression::Call { function, arguments } if moved(*function, arguments).is_some() => {
                let (moment, length) = moved(*function, arguments).ok_or(Fails)?;
                let kind = self.kind(moment)?;
                if kind == Cell::Null { kind } else { self.shifted(kind, length, true)? }
            }
            Expression::Call { function, arguments } => {
                let kinds = arguments.iter().map(|argument| self.kind(argument)).collect::<Computed<Vec<_>>>()?;
                match function {
                    Function::Coalesce | Function::NullIf | Function::Greatest | Function::Least => self.joined(&kinds),
                    Function::Length | Function::CharLength => Cell::Integer(1, 32),
                    _ => self.call(*function, &kinds)?,
                }
            }
            Expression::Cast { target, .. } => match target {
                PrimitiveType::Decimal { scale, .. } => Cell::Decimal(1, *scale),
                PrimitiveType::Float32 => Cell::Float(1.0, Width::Single),
                PrimitiveType::Float64 => Cell::Float(1.0, Width::Double),
                PrimitiveType::Date => Cell::Date(0),
                PrimitiveType::Timestamp(_) => Cell::Timestamp(0),
                PrimitiveType::Timestamptz(_) => Cell::Timestamptz(0),
                integer if integer.is_integer() => self.held(1, *target)?,
                _ => Cell::Null,
            },
            Expression::Case { branches, otherwise } => {
                let values = branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
                self.joined(&values.map(|value| self.kind(value)).collect::<Computed<Vec<_>>>()?)
            }
            _ => Cell::Null,
        })
    }

    /// The type that holds values of all these types.
    fn joined(&self, kinds: &[Cell]) -> Cell {
        kinds
            .iter()
            .cloned()
            .reduce(|a, b| match (&a, &b) {
                (Cell::Null, _) => b,
                (Cell::Float(_, width), Cell::Decimal(_, scale)) | (Cell::Decimal(_, scale), Cell::Float(_, width))
                    if self.decimal_beside_float =>
                {
                    Cell::Decimal(1, (*scale).max(float_digits(*width)))
                }
                (Cell::Float(_, Width::Double), _) | (_, Cell::Float(_, Width::Double)) => {
                    Cell::Float(1.0, Width::Double)
                }
                (Cell::Float(_, Width::Single), Cell::Float(_, Width::Free))
                | (Cell::Float(_, Width::Free), Cell::Float(_, Width::Single))
                    if !self.single_math =>
                {
                    Cell::Float(1.0, Width::Double)
                }
                (Cell::Float(_, Width::Single), _) | (_, Cell::Float(_, Width::Single)) => {
                    Cell::Float(1.0, Width::Single)
                }
                (Cell::Float(..), _) | (_, Cell::Float(..)) => Cell::Float(1.0, Width::Double),
                (Cell::Decimal(_, a), Cell::Decimal(_, b)) => Cell::Decimal(1, *a.max(b)),
                (Cell::Decimal(..), _) => a,
                (_, Cell::Decimal(..)) => b,
                // A literal is widened to what it meets; literals alone stay what they are.
                (Cell::Integer(_, 0), Cell::Integer(_, 0)) => a,
                (Cell::Integer(_, 0), Cell::Integer(_, bits)) | (Cell::Integer(_, bits), Cell::Integer(_, 0)) => {
                    Cell::Integer(1, (*bits).max(self.literal_bits))
                }
                (Cell::Integer(_, a), Cell::Integer(_, b)) => Cell::Integer(1, *a.max(b)),
                (Cell::Timestamptz(_), _) => a,
                (_, Cell::Timestamptz(_)) => b,
                (Cell::Timestamp(_), _) => a,
                _ => b,
            })
            .unwrap_or(Cell::Null)
    }

    fn coerced(&self, value: Cell, kind: &Cell) -> Computed {
        Ok(match (&value, kind) {
            (Cell::Integer(..) | Cell::Decimal(..) | Cell::Float(..), Cell::Float(_, width)) => {
                let value = float(&value)?;
                Cell::Float(if *width == Width::Single { to_single(value) } else { value }, *width)
            }
            (Cell::Integer(..) | Cell::Decimal(..), Cell::Decimal(_, scale)) => {
                let (units, from) = units(&value)?;
                Cell::Decimal(self.rescaled(units, from, *scale)?, *scale)
            }
            (Cell::Float(value, _), Cell::Decimal(_, scale)) => as_decimal(*value, *scale)?,
            (Cell::Integer(value, _), Cell::Integer(_, bits)) => {
                Cell::Integer(*value, if *bits == 0 { self.literal_bits.max(32) } else { *bits })
            }
            (Cell::Date(_), Cell::Timestamp(_)) => Cell::Timestamp(local(&value)?),
            (Cell::Date(_) | Cell::Timestamp(_), Cell::Timestamptz(_)) => Cell::Timestamptz(self.instant(&value)?),
            _ => value,
        })
    }

    fn literal(&self, literal: &Literal) -> Computed {
        Ok(match literal {
            Literal::Boolean(value) => Cell::Boolean(*value),
            Literal::Number(number) if number.is_float_notation() && self.fraction_is_float => {
                Cell::Float(number.to_string().parse().map_err(|_| Fails)?, Width::Free)
            }
            Literal::Number(number) => {
                let scale =
                    (0..=30).find(|scale| number.scaled(*scale).is_ok_and(|(low, high)| low == high)).ok_or(Fails)?;
                let units = number.scaled(scale).map_err(|_| Fails)?.0;
                if number.is_float_notation() { Cell::Decimal(units, scale) } else { Cell::Integer(units, 0) }
            }
            Literal::Text(text) => Cell::Text(text.clone()),
            Literal::Date(days) => Cell::Date(i128::from(*days)),
            Literal::Time(nanoseconds) => Cell::Time(*nanoseconds),
            Literal::Timestamp { nanoseconds, zone: LiteralZone::Local } => Cell::Timestamp(*nanoseconds),
            Literal::Timestamp { nanoseconds, zone: LiteralZone::Offset } => Cell::Timestamptz(*nanoseconds),
            _ => return Err(Fails),
        })
    }

    /// Equality as IN and NULLIF see it.
    fn same(&self, left: &Cell, right: &Cell) -> Computed<Option<bool>> {
        let equal = self.compare(left, CompareOp::Eq, right)?;
        let is_negative = |cell: &Cell| matches!(cell, Cell::Float(value, _) if value.is_sign_negative());
        let is_decimal = |cell: &Cell| self.decimal_beside_float && matches!(cell, Cell::Decimal(..));
        let are_zeros = equal == Some(true) && float(left).is_ok_and(|value| value == 0.0);
        let are_floats = !is_decimal(left) && !is_decimal(right);
        Ok(if self.splits_zeros && are_zeros && are_floats && is_negative(left) != is_negative(right) {
            Some(false)
        } else {
            equal
        })
    }

    fn compare(&self, left: &Cell, op: CompareOp, right: &Cell) -> Computed<Option<bool>> {
        let order = match (left, right) {
            (Cell::Null, _) | (_, Cell::Null) => return Ok(None),
            (Cell::Float(value, width), Cell::Decimal(units, scale)) if self.decimal_beside_float => {
                self.order(&as_decimal(*value, float_digits(*width))?, &Cell::Decimal(*units, *scale))?
            }
            (Cell::Decimal(units, scale), Cell::Float(value, width)) if self.decimal_beside_float => {
                self.order(&Cell::Decimal(*units, *scale), &as_decimal(*value, float_digits(*width))?)?
            }
            (Cell::Float(..), _) | (_, Cell::Float(..)) => {
                let (left, right, single) = self.floats(left, right)?;
                let (left, right) = if single { (to_single(left), to_single(right)) } else { (left, right) };
                match self.float_order(left, right) {
                    Some(order) => order,
                    None => return Ok(Some(op == CompareOp::NotEq)),
                }
            }
            _ => self.order(left, right)?,
        };
        Ok(Some(match op {
            CompareOp::Eq => order.is_eq(),
            CompareOp::NotEq => order.is_ne(),
            CompareOp::Lt => order.is_lt(),
            CompareOp::LtEq => order.is_le(),
            CompareOp::Gt => order.is_gt(),
            CompareOp::GtEq => order.is_ge(),
        }))
    }

    fn float_order(&self, left: f64, right: f64) -> Option<Ordering> {
        match (self.nan, left.is_nan(), right.is_nan()) {
            (_, false, false) => left.partial_cmp(&right),
            (0, a, b) => Some(a.cmp(&b)),
            (1, _, _) => None,
            _ => Some(left.total_cmp(&right)),
        }
    }

    fn order(&self, left: &Cell, right: &Cell) -> Computed<Ordering> {
        Ok(match (left, right) {
            (Cell::Boolean(a), Cell::Boolean(b)) => a.cmp(b),
            (Cell::Text(a), Cell::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Cell::Date(a), Cell::Date(b)) | (Cell::Time(a), Cell::Time(b)) => a.cmp(b),
            (Cell::Integer(..) | Cell::Decimal(..), Cell::Integer(..) | Cell::Decimal(..)) => {
                let (a, b, _) = same_scale(left, right)?;
                a.cmp(&b)
            }
            (Cell::Timestamptz(_), _) | (_, Cell::Timestamptz(_)) => self.instant(left)?.cmp(&self.instant(right)?),
            _ => local(left)?.cmp(&local(right)?),
        })
    }

    fn instant(&self, cell: &Cell) -> Computed<i128> {
        match cell {
            Cell::Timestamptz(instant) => Ok(*instant),
            other => {
                let local = local(other)?;
                Ok(local - self.offset_at(local - self.offset))
            }
        }
    }

    fn offset_at(&self, instant: i128) -> i128 {
        self.offset + if instant < CLOCK_CHANGE { 0 } else { self.summer }
    }

    fn local_of(&self, instant: i128) -> i128 {
        instant + self.offset_at(instant)
    }

    /// A date or timestamp moved by an interval.
    fn shifted(&self, cell: Cell, length: IntervalLength, is_local: bool) -> Computed {
        let IntervalLength { days, nanoseconds, .. } = length;
        let calendar = |moment: i128| {
            let (day, of_day) = (moment.div_euclid(DAY), moment.rem_euclid(DAY));
            (add_months(day, length.months) + i128::from(days)) * DAY + of_day
        };
        // Some engines hold days and what is left as one length.
        let (more_days, rest) =
            if self.milliseconds { (nanoseconds / DAY * DAY, nanoseconds % DAY) } else { (0, nanoseconds) };
        let whole = |moment: i128| {
            if self.whole_seconds && nanoseconds % 1_000_000_000 != 0 {
                moment.div_euclid(1_000_000_000) * 1_000_000_000
            } else {
                moment
            }
        };
        let by_instant = |local_time: i128| {
            let instant = self.instant(&Cell::Timestamp(local_time))?;
            Ok(instant + rest)
        };
        let moved = match cell {
            Cell::Null => return Ok(Cell::Null),
            Cell::Date(day) if nanoseconds == 0 && self.dates_stay_dates => {
                Cell::Date(calendar(day * DAY).div_euclid(DAY))
            }
            Cell::Date(day) if self.dates_stay_dates => {
                Cell::Date(calendar(day * DAY).div_euclid(DAY) + nanoseconds / DAY)
            }
            Cell::Date(day) if self.local_is_instant && nanoseconds != 0 => {
                Cell::Timestamp(self.local_of(by_instant(calendar(day * DAY) + more_days)?))
            }
            Cell::Date(day) => Cell::Timestamp(calendar(day * DAY) + nanoseconds),
            Cell::Timestamp(moment) if self.local_is_instant && !is_local && nanoseconds != 0 => {
                Cell::Timestamp(whole(self.local_of(by_instant(calendar(moment) + more_days)?)))
            }
            Cell::Timestamp(moment) => Cell::Timestamp(whole(calendar(moment) + nanoseconds)),
            Cell::Timestamptz(instant) if length.months == 0 && days == 0 && more_days == 0 => {
                Cell::Timestamptz(whole(instant + rest))
            }
            Cell::Timestamptz(instant) => {
                let local_time = calendar(self.local_of(instant)) + more_days;
                Cell::Timestamptz(whole(self.instant(&Cell::Timestamp(local_time))? + rest))
            }
            _ => return Err(Fails),
        };
        let (Cell::Timestamp(moment) | Cell::Timestamptz(moment)) = moved else { return Ok(moved) };
        // In nanoseconds some engines wrap, give null or fail.
        match (i64::try_from(moment), self.overflow) {
            (Err(_), 0) if self.literal_bits == 64 => Ok(match moved {
                Cell::Timestamp(_) => Cell::Timestamp(i128::from(moment as i64)),
                _ => Cell::Timestamptz(i128::from(moment as i64)),
            }),
            (Err(_), 1) => Ok(Cell::Null),
            (Err(_), 3) => Err(Fails),
            _ => Ok(moved),
        }
    }

    /// Two numbers as floats, and whether the engine reckons with them in 32 bits.
    fn floats(&self, left: &Cell, right: &Cell) -> Computed<(f64, f64, bool)> {
        let width = |cell: &Cell| if let Cell::Float(_, width) = cell { *width } else { Width::Free };
        let widths = [width(left), width(right)];
        let single = !widths.contains(&Width::Double) && widths.contains(&Width::Single) && self.single_math;
        Ok((float(left)?, float(right)?, single))
    }

    fn call(&self, function: Function, values: &[Cell]) -> Computed {
        match function {
            Function::Coalesce => {
                return Ok(values.iter().find(|value| **value != Cell::Null).cloned().unwrap_or(Cell::Null));
            }
            Function::NullIf => {
                let same = self.same(&values[0], &values[1])? == Some(true);
                return Ok(if same { Cell::Null } else { values[0].clone() });
            }
            Function::Greatest | Function::Least => return self.extreme(function, values),
            _ => {}
        }
        if values.contains(&Cell::Null) {
            return Ok(Cell::Null);
        }
        match (function, values) {
            (
                Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Remainder,
                [left, right],
            ) => self.arithmetic(function, left, right),
            (Function::Negate, [Cell::Float(value, width)]) => Ok(Cell::Float(-value, *width)),
            (Function::Negate, [Cell::Integer(value, bits)]) => self.integer(-value, *bits),
            (Function::Negate, [Cell::Decimal(units, scale)]) => Ok(Cell::Decimal(-units, *scale)),
            (Function::Abs, [Cell::Float(value, width)]) => Ok(Cell::Float(value.abs(), *width)),
            (Function::Abs, [Cell::Integer(value, bits)]) => self.integer(value.abs(), *bits),
            (Function::Abs, [Cell::Decimal(units, scale)]) => Ok(Cell::Decimal(units.abs(), *scale)),
            (Function::Floor | Function::Ceil | Function::Round | Function::Trunc, [value]) => {
                self.to_whole(function, value)
            }
            (Function::Sqrt | Function::Ln | Function::Exp, [value]) => self.transcendental(function, value),
            (Function::Length | Function::CharLength, [Cell::Text(text)]) => {
                let length = if self.backslash { text.len() } else { text.chars().count() };
                Ok(Cell::Integer(length as i128, 32))
            }
            (Function::DateTrunc(unit), [value]) => Ok(match value {
                Cell::Timestamptz(instant) => {
                    Cell::Timestamptz(self.instant(&Cell::Timestamp(self.cut(unit, self.local_of(*instant))))?)
                }
                local_time => Cell::Timestamp(self.cut(unit, local(local_time)?)),
            }),
            (Function::Extract(part), [value]) => {
                let moment = match value {
                    Cell::Timestamptz(instant) if part != DatePart::Epoch => self.local_of(*instant),
                    Cell::Timestamptz(instant) => *instant,
                    other => local(other)?,
                };
                Ok(self.field(part, moment))
            }
            _ => Err(Fails),
        }
    }

    fn extreme(&self, function: Function, values: &[Cell]) -> Computed {
        let mut best = Cell::Null;
        for value in values {
            if *value == Cell::Null {
                if self.skips_nulls {
                    continue;
                }
                return Ok(Cell::Null);
            }
            let op = if function == Function::Greatest { CompareOp::Gt } else { CompareOp::Lt };
            if best == Cell::Null || self.compare(value, op, &best)? == Some(true) {
                best = value.clone();
            }
        }
        Ok(best)
    }

    fn arithmetic(&self, function: Function, left: &Cell, right: &Cell) -> Computed {
        if let (Cell::Float(..), _) | (_, Cell::Float(..)) = (left, right) {
            let (a, b, single) = self.floats(left, right)?;
            if b == 0.0 && self.zero_division_is_null && matches!(function, Function::Divide | Function::Remainder) {
                return Ok(Cell::Null);
            }
            let (a, b) = if single { (to_single(a), to_single(b)) } else { (a, b) };
            let result = match function {
                Function::Add => a + b,
                Function::Subtract => a - b,
                Function::Multiply => a * b,
                Function::Divide => a / b,
                _ => a % b,
            };
            let width = if single { Width::Single } else { Width::Double };
            return Ok(Cell::Float(if single { to_single(result) } else { result }, width));
        }
        let divides = matches!(function, Function::Divide | Function::Remainder);
        let (a, b, scale) = if function == Function::Multiply {
            let ((a, a_scale), (b, b_scale)) = (units(left)?, units(right)?);
            (a, b, a_scale + b_scale)
        } else {
            same_scale(left, right)?
        };
        if divides && b == 0 {
            return if self.zero_division_is_null { Ok(Cell::Null) } else { Err(Fails) };
        }
        if let (Cell::Integer(_, left), Cell::Integer(_, right)) = (left, right) {
            let bits = match (left, right) {
                (0, 0) => self.literal_bits.max(32),
                (0, bits) | (bits, 0) => (*bits).max(self.literal_bits),
                (left, right) => *left.max(right),
            };
            return match function {
                Function::Add => self.integer(a + b, bits),
                Function::Subtract => self.integer(a - b, bits),
                Function::Multiply => self.integer(a.checked_mul(b).ok_or(Fails)?, bits),
                Function::Divide if self.exact_division => Ok(Cell::Float(a as f64 / b as f64, Width::Double)),
                Function::Divide => self.integer(a / b, bits),
                _ => Ok(Cell::Integer(a % b, bits)),
            };
        }
        Ok(match function {
            Function::Add => Cell::Decimal(a + b, scale),
            Function::Subtract => Cell::Decimal(a - b, scale),
            Function::Multiply => Cell::Decimal(a.checked_mul(b).ok_or(Fails)?, scale),
            Function::Divide if self.exact_division => Cell::Float(a as f64 / b as f64, Width::Double),
            Function::Divide => {
                let scale = units(left)?.1 + 4;
                Cell::Decimal(self.rounded(a.checked_mul(10_i128.pow(scale.into())).ok_or(Fails)?, b), scale)
            }
            _ => Cell::Decimal(a % b, scale),
        })
    }

    /// An integer of these bits; what does not fit wraps, is null, fails or is held in more bits.
    fn integer(&self, value: i128, bits: u32) -> Computed {
        let bits = if bits == 0 { self.literal_bits.max(32) } else { bits };
        let wrapped = value << (128 - bits) >> (128 - bits);
        match self.overflow {
            _ if wrapped == value => Ok(Cell::Integer(value, bits)),
            0 => Ok(Cell::Integer(wrapped, bits)),
            1 => Ok(Cell::Null),
            2 if bits < 64 => self.integer(value, 64),
            _ => Err(Fails),
        }
    }

    /// `value / unit` as a whole number: truncated, rounded half away from zero, or half to even.
    fn rounded(&self, value: i128, unit: i128) -> i128 {
        let (quotient, rest) = (value / unit, (value % unit).abs());
        let away = if (value < 0) == (unit < 0) { 1 } else { -1 };
        let twice = (2 * rest).cmp(&unit.abs());
        match (self.rounding, twice) {
            (0, _) | (_, Ordering::Less) => quotient,
            (2, Ordering::Equal) if quotient % 2 == 0 => quotient,
            _ => quotient + away,
        }
    }

    fn round_float(&self, value: f64) -> f64 {
        match self.rounding {
            0 => value.trunc(),
            1 => value.round(),
            _ => value.round_ties_even(),
        }
    }

    fn to_whole(&self, function: Function, value: &Cell) -> Computed {
        Ok(match value {
            Cell::Integer(..) if self.whole_is_float => Cell::Float(float(value)?, Width::Double),
            Cell::Integer(..) => value.clone(),
            Cell::Float(value, width) => {
                let whole = match function {
                    Function::Floor => value.floor(),
                    Function::Ceil => value.ceil(),
                    Function::Trunc => value.trunc(),
                    _ => self.round_float(*value),
                };
                if self.floor_is_bigint && matches!(function, Function::Floor | Function::Ceil) {
                    Cell::Integer(whole.clamp(-FLOAT_TO_BIGINT, FLOAT_TO_BIGINT) as i64 as i128, 64)
                } else {
                    Cell::Float(whole, *width)
                }
            }
            Cell::Decimal(units, scale) => {
                let unit = 10_i128.pow(u32::from(*scale));
                let whole = match function {
                    Function::Floor => units.div_euclid(unit),
                    Function::Ceil => -(-units).div_euclid(unit),
                    Function::Trunc => units / unit,
                    _ => self.rounded(*units, unit),
                };
                Cell::Decimal(whole * unit, *scale)
            }
            _ => return Err(Fails),
        })
    }

    fn transcendental(&self, function: Function, value: &Cell) -> Computed {
        let single = matches!(value, Cell::Float(_, Width::Single)) && self.single_math;
        let operand = float(value)?;
        let outside = match function {
            Function::Sqrt => operand < 0.0,
            Function::Ln => operand <= 0.0,
            _ => false,
        };
        if outside && self.zero_division_is_null {
            return Ok(Cell::Null);
        }
        let result = match function {
            Function::Sqrt => operand.sqrt(),
            Function::Ln => operand.ln(),
            _ => operand.exp(),
        };
        Ok(if single { Cell::Float(to_single(result), Width::Single) } else { Cell::Float(result, Width::Double) })
    }

    fn cut(&self, unit: DateUnit, moment: i128) -> i128 {
        let floor = |step: i128| moment.div_euclid(step) * step;
        let days = moment.div_euclid(DAY);
        let (year, month, _) = civil_from_days(days);
        let first = |month: i128| i128::from(days_from_civil(year as i64, month as i64, 1)) * DAY;
        match unit {
            DateUnit::Microsecond => floor(1_000),
            DateUnit::Millisecond => floor(1_000_000),
            DateUnit::Second => floor(1_000_000_000),
            DateUnit::Minute => floor(60_000_000_000),
            DateUnit::Hour => floor(HOUR),
            DateUnit::Day => floor(DAY),
            DateUnit::Week => (days - (days - self.first_weekday).rem_euclid(7)) * DAY,
            DateUnit::Month => first(month),
            DateUnit::Quarter => first((month - 1) / 3 * 3 + 1),
            DateUnit::Year => first(1),
        }
    }

    fn field(&self, part: DatePart, moment: i128) -> Cell {
        let days = moment.div_euclid(DAY);
        let (year, month, day) = civil_from_days(days);
        let of_day = moment.rem_euclid(DAY);
        let seconds = |value: i128| match self.rounding {
            0 => Cell::Integer(value.div_euclid(1_000_000_000), 64),
            1 => Cell::Float(value as f64 / 1e9, Width::Double),
            _ => Cell::Decimal(value.div_euclid(1_000), 6),
        };
        Cell::Integer(
            match part {
                DatePart::Year => year,
                DatePart::Quarter => (month - 1) / 3 + 1,
                DatePart::Month => month,
                DatePart::Day => day,
                DatePart::DayOfWeek => (days - self.first_weekday).rem_euclid(7) + i128::from(self.backslash),
                DatePart::DayOfYear => days - i128::from(days_from_civil(year as i64, 1, 1)) + 1,
                DatePart::Hour => of_day / HOUR,
                DatePart::Minute => of_day % HOUR / 60_000_000_000,
                DatePart::Second => return seconds(of_day % 60_000_000_000),
                DatePart::Epoch => return seconds(moment),
            },
            self.literal_bits.max(32),
        )
    }

    fn cast(&self, value: Cell, target: PrimitiveType) -> Computed {
        use PrimitiveType as T;
        Ok(match (value, target) {
            (Cell::Null, _) => Cell::Null,
            (Cell::Text(text), T::Int8 | T::Int16 | T::Int32 | T::Int64) => {
                self.held(text.trim().parse().map_err(|_| Fails)?, target)?
            }
            (Cell::Integer(value, _), T::Boolean) => Cell::Boolean(value != 0),
            (Cell::Decimal(units, _), T::Boolean) => Cell::Boolean(units != 0),
            (Cell::Float(value, _), T::Boolean) => Cell::Boolean(value != 0.0),
            (Cell::Boolean(value), T::Boolean) => Cell::Boolean(value),
            (Cell::Boolean(value), integer) if integer.is_integer() => Cell::Integer(value.into(), 32),
            (Cell::Float(value, _), integer) if integer.is_integer() => {
                if value.is_finite() && value.abs() < 1e30 {
                    self.held(self.round_float(value) as i128, target)?
                } else if self.cast_overflow == 1 {
                    Cell::Null
                } else {
                    return Err(Fails);
                }
            }
            (value @ (Cell::Integer(..) | Cell::Decimal(..)), T::Decimal { scale, .. }) => {
                let (units, from) = units(&value)?;
                self.held(self.rescaled(units, from, scale)?, target)?
            }
            (value @ (Cell::Integer(..) | Cell::Decimal(..)), integer) if integer.is_integer() => {
                let (units, from) = units(&value)?;
                self.held(self.rescaled(units, from, 0)?, target)?
            }
            (value @ (Cell::Integer(..) | Cell::Decimal(..) | Cell::Float(..)), T::Float64) => {
                Cell::Float(float(&value)?, Width::Double)
            }
            (value @ (Cell::Integer(..) | Cell::Decimal(..) | Cell::Float(..)), T::Float32) => {
                let value = float(&value)?;
                if value.is_finite()
                    && to_single(value).is_infinite()
                    && self.cast_overflow == 1
                    && !self.casts_to_infinity
                {
                    return Ok(Cell::Null);
                }
                Cell::Float(to_single(value), Width::Single)
            }
            (Cell::Float(value, _), T::Decimal { scale, .. }) => {
                let units = (value * 10_f64.powi(i32::from(scale))).round();
                if units.abs() < 1e30 { self.held(units as i128, target)? } else { return Err(Fails) }
            }
            (Cell::Timestamptz(instant), T::Date) => Cell::Date(self.local_of(instant).div_euclid(DAY)),
            (Cell::Timestamptz(instant), T::Timestamp(_)) => self.held_moment(self.local_of(instant), Cell::Timestamp),
            (Cell::Timestamp(moment), T::Time(_)) => Cell::Time(self.fine(moment.rem_euclid(DAY)).min(DAY - 1)),
            (Cell::Timestamp(moment), T::Date) => Cell::Date(moment.div_euclid(DAY)),
            (Cell::Date(days), T::Date) => Cell::Date(days),
            (moment @ (Cell::Date(_) | Cell::Timestamp(_)), T::Timestamp(_)) => {
                self.held_moment(local(&moment)?, Cell::Timestamp)
            }
            (moment @ (Cell::Date(_) | Cell::Timestamp(_) | Cell::Timestamptz(_)), T::Timestamptz(_)) => {
                self.held_moment(self.instant(&moment)?, Cell::Timestamptz)
            }
            (Cell::Text(text), T::String) => Cell::Text(text),
            _ => return Err(Fails),
        })
    }

    /// What a cast makes of a moment.
    fn held_moment(&self, moment: i128, cell: fn(i128) -> Cell) -> Cell {
        let held = self.fine(moment);
        match self.beyond_nanoseconds {
            _ if i64::try_from(held).is_ok() => cell(held),
            0 => cell(held),
            1 => Cell::Null,
            _ => cell(i128::from(held as i64)),
        }
    }

    fn fine(&self, moment: i128) -> i128 {
        if self.milliseconds { self.rounded(moment, 1_000_000) * 1_000_000 } else { moment }
    }

    fn rescaled(&self, units: i128, from: u8, to: u8) -> Computed<i128> {
        Ok(match to.checked_sub(from) {
            Some(more) => units.checked_mul(10_i128.pow(more.into())).ok_or(Fails)?,
            None => self.rounded(units, 10_i128.pow((from - to).into())),
        })
    }

    /// What a cast makes of a number in its target.
    fn held(&self, value: i128, target: PrimitiveType) -> Computed {
        let (smallest, largest) = target.stored_range().ok_or(Fails)?;
        let bits = 128 - largest.leading_zeros() + 1;
        let cell = |value: i128| match target {
            PrimitiveType::Decimal { scale, .. } => Cell::Decimal(value, scale),
            _ => Cell::Integer(value, bits),
        };
        match self.cast_overflow {
            _ if (smallest..=largest).contains(&value) => Ok(cell(value)),
            0 if target.is_integer() => Ok(cell(value << (128 - bits) >> (128 - bits))),
            1 => Ok(Cell::Null),
            _ => Err(Fails),
        }
    }
}

/// What a call moves, and by what.
fn moved(function: Function, arguments: &[Expression]) -> Option<(&Expression, IntervalLength)> {
    match (function, arguments) {
        (Function::Add, [moment, Expression::Interval(interval)] | [Expression::Interval(interval), moment]) => {
            Some((moment, interval.length()))
        }
        (Function::Subtract, [moment, Expression::Interval(interval)]) => Some((moment, interval.length().negated())),
        _ => None,
    }
}

/// Whether an expression is a column of local times, or one that was moved.
fn is_local(expression: &Expression) -> bool {
    match expression {
        Expression::Column(_) => true,
        Expression::Call { function, arguments } => {
            moved(*function, arguments).is_some_and(|(moment, _)| is_local(moment))
        }
        _ => false,
    }
}

/// The same day some months later, or the last of its month.
fn add_months(day: i128, months: i64) -> i128 {
    let (year, month, of_month) = civil_from_days(day);
    let months = year as i64 * 12 + month as i64 - 1 + months;
    let first = |months: i64| i128::from(days_from_civil(months.div_euclid(12), months.rem_euclid(12) + 1, 1));
    (first(months) + of_month - 1).min(first(months + 1) - 1)
}

fn truth(cell: &Cell) -> Computed<Option<bool>> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Boolean(value) => Ok(Some(*value)),
        _ => Err(Fails),
    }
}

fn all(truths: Vec<Option<bool>>) -> Option<bool> {
    if truths.contains(&Some(false)) {
        Some(false)
    } else if truths.contains(&None) {
        None
    } else {
        Some(true)
    }
}

fn any(truths: Vec<Option<bool>>) -> Option<bool> {
    if truths.contains(&Some(true)) {
        Some(true)
    } else if truths.contains(&None) {
        None
    } else {
        Some(false)
    }
}

fn to_single(value: f64) -> f64 {
    f64::from(value as f32)
}

fn float(cell: &Cell) -> Computed<f64> {
    Ok(match cell {
        Cell::Float(value, _) => *value,
        Cell::Integer(value, _) => *value as f64,
        Cell::Decimal(units, scale) => *units as f64 / 10_f64.powi(i32::from(*scale)),
        _ => return Err(Fails),
    })
}

fn units(cell: &Cell) -> Computed<(i128, u8)> {
    match cell {
        Cell::Integer(value, _) => Ok((*value, 0)),
        Cell::Decimal(units, scale) => Ok((*units, *scale)),
        _ => Err(Fails),
    }
}

fn same_scale(left: &Cell, right: &Cell) -> Computed<(i128, i128, u8)> {
    let ((a, a_scale), (b, b_scale)) = (units(left)?, units(right)?);
    let scale = a_scale.max(b_scale);
    let raised = |units: i128, from: u8| units.checked_mul(10_i128.pow((scale - from).into())).ok_or(Fails);
    Ok((raised(a, a_scale)?, raised(b, b_scale)?, scale))
}

/// A float as the decimal that DataFusion makes of it beside decimals.
fn as_decimal(value: f64, scale: u8) -> Computed {
    let units = (value * 10_f64.powi(scale.into())).round();
    if units.abs() < 1e30 { Ok(Cell::Decimal(units as i128, scale)) } else { Err(Fails) }
}

/// How many digits behind the point that decimal has.
fn float_digits(width: Width) -> u8 {
    if width == Width::Single { 7 } else { 15 }
}

fn local(cell: &Cell) -> Computed<i128> {
    match cell {
        Cell::Date(days) => Ok(days * DAY),
        Cell::Timestamp(moment) => Ok(*moment),
        _ => Err(Fails),
    }
}

fn like(text: &[char], pattern: &[char], escape: Option<char>) -> Computed<bool> {
    Ok(match (pattern, text) {
        ([], text) => text.is_empty(),
        ([first, rest @ ..], text) if Some(*first) == escape => match (rest, text) {
            ([], _) => return Err(Fails),
            ([wanted, rest @ ..], [character, others @ ..]) => wanted == character && like(others, rest, escape)?,
            _ => false,
        },
        (['%', rest @ ..], text) => {
            for start in 0..=text.len() {
                if like(&text[start..], rest, escape)? {
                    return Ok(true);
                }
            }
            false
        }
        ([wanted, rest @ ..], [character, others @ ..]) => {
            (*wanted == '_' || wanted == character) && like(others, rest, escape)?
        }
        _ => false,
    })
}
