//! The functions and operators of a filter that pruning has rules for, by their names in SQL.

use std::fmt;

use prunus_statistics::{Literal, PrimitiveType, TimeUnit};

use crate::Expression;

/// A function or operator over values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Function {
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    /// `date_trunc('unit', x)`.
    DateTrunc(DateUnit),
    /// `EXTRACT(part FROM x)`.
    Extract(DatePart),
    Floor,
    Ceil,
    Round,
    Trunc,
    Abs,
    Sqrt,
    Ln,
    Exp,
    Length,
    /// In characters, where `length` may count bytes.
    CharLength,
    Coalesce,
    NullIf,
    Greatest,
    Least,
}

/// What a timestamp is cut to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DateUnit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    /// From Monday or from Sunday: engines differ.
    Week,
    Month,
    Quarter,
    Year,
}

/// A field of a date or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DatePart {
    Year,
    Quarter,
    Month,
    Day,
    /// From 0 or from 1, beginning with Sunday or with Monday: engines differ.
    DayOfWeek,
    DayOfYear,
    Hour,
    Minute,
    /// With its fraction or without: engines differ.
    Second,
    /// Seconds since 1970-01-01.
    Epoch,
}

/// What a cast does with a value that the target cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// `CAST`: an error, or whatever the engine makes of it.
    Cast,
    /// `TRY_CAST`: null.
    TryCast,
}

const FUNCTIONS: [(&str, Function); 16] = [
    ("floor", Function::Floor),
    ("ceil", Function::Ceil),
    ("ceiling", Function::Ceil),
    ("round", Function::Round),
    ("trunc", Function::Trunc),
    ("abs", Function::Abs),
    ("sqrt", Function::Sqrt),
    ("ln", Function::Ln),
    ("exp", Function::Exp),
    ("length", Function::Length),
    ("char_length", Function::CharLength),
    ("coalesce", Function::Coalesce),
    ("ifnull", Function::Coalesce),
    ("nullif", Function::NullIf),
    ("greatest", Function::Greatest),
    ("least", Function::Least),
];

impl Function {
    /// The function of this name that takes `arguments` arguments; names have no case.
    pub(crate) fn named(name: &str, arguments: usize) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let function = FUNCTIONS.iter().find(|(known, _)| *known == name)?.1;
        let fits = match function {
            Self::Coalesce | Self::Greatest | Self::Least => arguments >= 1,
            Self::NullIf => arguments == 2,
            _ => arguments == 1,
        };
        fits.then_some(function)
    }

    fn infix(self) -> Option<Infix> {
        let (symbol, rank) = match self {
            Self::Add => ("+", 1),
            Self::Subtract => ("-", 1),
            Self::Multiply => ("*", 2),
            Self::Divide => ("/", 2),
            Self::Remainder => ("%", 2),
            _ => return None,
        };
        Some(Infix { symbol, rank })
    }

    /// The text of a call.
    pub(crate) fn write(self, f: &mut fmt::Formatter<'_>, arguments: &[Expression]) -> fmt::Result {
        match (self, arguments, self.infix()) {
            (Self::Negate, [operand], _) => write!(f, "-({operand})"),
            (Self::DateTrunc(unit), [operand], _) => write!(f, "date_trunc('{}', {operand})", unit.name()),
            (Self::Extract(part), [operand], _) => write!(f, "EXTRACT({} FROM {operand})", part.name()),
            (_, [left, right], Some(infix)) => {
                // Operators of one rank are read from the left, so that a chain of them needs no parentheses.
                let on_left = Operand { expression: left, infix_from: Some(infix.rank) };
                let on_right = Operand { expression: right, infix_from: None };
                write!(f, "{on_left} {} {on_right}", infix.symbol)
            }
            _ => {
                let name = FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name);
                write!(f, "{name}(")?;
                for (index, argument) in arguments.iter().enumerate() {
                    write!(f, "{}{argument}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// How an operator is written, and how tightly it binds.
#[derive(Clone, Copy)]
struct Infix {
    symbol: &'static str,
    rank: u8,
}

/// An operand of an operator, in parentheses where it might read otherwise without.
struct Operand<'a> {
    expression: &'a Expression,
    /// The lowest rank of operators that need no parentheses here; none needs no parentheses.
    infix_from: Option<u8>,
}

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = match self.expression {
            Expression::Literal(Literal::Number(number)) => number.scaled(0).is_ok_and(|(low, _)| low >= 0),
            Expression::Literal(Literal::Float(_)) | Expression::Case { .. } => false,
            Expression::Call { function: Function::Negate, .. } => false,
            Expression::Call { function, .. } => {
                function.infix().is_none_or(|infix| self.infix_from.is_some_and(|lowest| infix.rank >= lowest))
            }
            _ => true,
        };
        if is_plain { write!(f, "{}", self.expression) } else { write!(f, "({})", self.expression) }
    }
}

const UNITS: [(DateUnit, &str); 10] = [
    (DateUnit::Microsecond, "microsecond"),
    (DateUnit::Millisecond, "millisecond"),
    (DateUnit::Second, "second"),
    (DateUnit::Minute, "minute"),
    (DateUnit::Hour, "hour"),
    (DateUnit::Day, "day"),
    (DateUnit::Week, "week"),
    (DateUnit::Month, "month"),
    (DateUnit::Quarter, "quarter"),
    (DateUnit::Year, "year"),
];

impl DateUnit {
    /// The unit of this name, whatever its case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        UNITS.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(unit, _)| *unit)
    }

    pub(crate) fn name(self) -> &'static str {
        UNITS.iter().find(|(unit, _)| *unit == self).map_or("", |(_, name)| name)
    }
}

const PARTS: [(DatePart, &str); 12] = [
    (DatePart::Year, "YEAR"),
    (DatePart::Quarter, "QUARTER"),
    (DatePart::Month, "MONTH"),
    (DatePart::Day, "DAY"),
    (DatePart::DayOfWeek, "DOW"),
    (DatePart::DayOfWeek, "DAYOFWEEK"),
    (DatePart::DayOfYear, "DOY"),
    (DatePart::DayOfYear, "DAYOFYEAR"),
    (DatePart::Hour, "HOUR"),
    (DatePart::Minute, "MINUTE"),
    (DatePart::Second, "SECOND"),
    (DatePart::Epoch, "EPOCH"),
];

impl DatePart {
    /// The field of this name, whatever its case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        PARTS.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(part, _)| *part)
    }

    fn name(self) -> &'static str {
        PARTS.iter().find(|(part, _)| *part == self).map_or("", |(_, name)| name)
    }
}

/// A type that all engines name alike in a cast.
pub(crate) struct SqlType(pub(crate) PrimitiveType);

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            PrimitiveType::Boolean => "BOOLEAN",
            PrimitiveType::Int8 => "TINYINT",
            PrimitiveType::Int16 => "SMALLINT",
            PrimitiveType::Int32 => "INTEGER",
            PrimitiveType::Int64 => "BIGINT",
            PrimitiveType::Float32 => "REAL",
            PrimitiveType::Float64 => "DOUBLE PRECISION",
            PrimitiveType::Decimal { precision, scale } => return write!(f, "DECIMAL({precision},{scale})"),
            PrimitiveType::String => "VARCHAR",
            PrimitiveType::Uuid => "UUID",
            PrimitiveType::Date => "DATE",
            PrimitiveType::Time(_) => "TIME",
            PrimitiveType::Timestamptz(_) => "TIMESTAMP WITH TIME ZONE",
            _ => "TIMESTAMP",
        })
    }
}

/// Timestamps of a cast: microseconds in the standard, nanoseconds in some engines.
pub(crate) const CAST_UNIT: TimeUnit = TimeUnit::Microsecond;
