//! A value as it was written, before it meets a column.

use std::fmt;

use crate::instant::{self, ParsedTimestamp};
use crate::{Number, PrimitiveType, TimeUnit};

/// A literal of a filter, a partition value or a declared bound: exact, and not yet of any column's type. Null is not a
/// literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// TRUE or FALSE.
    Boolean(bool),
    /// Digits.
    Number(Number),
    /// A float, already rounded to 64 bits: its digits may not have been those that were written.
    Float(f64),
    /// A string, or, against another type of column, the text form of that type.
    Text(String),
    /// Bytes written as hexadecimal digits.
    Bytes(Vec<u8>),
    /// A date, as days since 1970-01-01.
    Date(i64),
    /// A time of day, in nanoseconds since midnight.
    Time(i128),
    /// A date and time, in nanoseconds since 1970-01-01T00:00.
    Timestamp {
        /// Nanoseconds: of the instant in UTC if the text named an offset, else of the local time.
        nanoseconds: i128,
        /// What is known of the zone.
        zone: LiteralZone,
    },
}

/// What a timestamp literal says of its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiteralZone {
    /// Nothing: a local time.
    Local,
    /// An offset: an instant.
    Offset,
    /// An offset, under the word TIMESTAMP alone: some engines read an instant, others drop the offset.
    DoubtfulOffset,
}

/// A literal that cannot stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiteralError {
    /// The two have no comparison that engines agree on.
    #[error("{literal} cannot be compared with a column of type {column_type}")]
    Mismatch {
        /// The literal, as SQL.
        literal: String,
        /// The column's type.
        column_type: PrimitiveType,
    },
    /// The text is not of the column's type.
    #[error("`{text}` is not a value of type {column_type}")]
    Malformed {
        /// The text.
        text: String,
        /// The column's type.
        column_type: PrimitiveType,
    },
}

impl Literal {
    /// Reads the text of a `DATE '...'` literal.
    pub fn date(text: &str) -> Option<Self> {
        instant::parse_date(text).map(Self::Date)
    }

    /// Reads the text of a `TIME '...'` literal.
    pub fn time(text: &str) -> Option<Self> {
        instant::parse_time(text).map(Self::Time)
    }

    /// Reads the text of a `TIMESTAMP '...'` literal.
    pub fn timestamp(text: &str) -> Option<Self> {
        Self::timestamp_in(text, LiteralZone::DoubtfulOffset)
    }

    /// Reads the text of a `TIMESTAMP WITH TIME ZONE '...'` literal.
    pub fn timestamptz(text: &str) -> Option<Self> {
        Self::timestamp_in(text, LiteralZone::Offset)
    }

    fn timestamp_in(text: &str, with_offset: LiteralZone) -> Option<Self> {
        let ParsedTimestamp { nanoseconds, has_offset } = instant::parse_timestamp(text)?;
        Some(Self::Timestamp { nanoseconds, zone: if has_offset { with_offset } else { LiteralZone::Local } })
    }
}

/// The literal as SQL text.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Self::Number(number) => write!(f, "{number}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Bytes(bytes) => {
                f.write_str("X'")?;
                crate::value_text::write_hex(f, bytes)?;
                f.write_str("'")
            }
            Self::Date(days) => {
                f.write_str("DATE '")?;
                instant::write_date(f, i128::from(*days))?;
                f.write_str("'")
            }
            Self::Time(nanoseconds) => {
                f.write_str("TIME '")?;
                instant::write_time(f, *nanoseconds, shortest_fraction(*nanoseconds))?;
                f.write_str("'")
            }
            Self::Timestamp { nanoseconds, zone } => {
                f.write_str(if *zone == LiteralZone::Offset { "TIMESTAMP WITH TIME ZONE '" } else { "TIMESTAMP '" })?;
                let digits = shortest_fraction(*nanoseconds);
                instant::write_timestamp(f, *nanoseconds, digits)?;
                f.write_str(if *zone == LiteralZone::Local { "'" } else { "Z'" })
            }
        }
    }
}

/// The fewest digits, of those that a unit has, that show the fraction of the second whole.
fn shortest_fraction(nanoseconds: i128) -> usize {
    [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
        .into_iter()
        .find(|unit| nanoseconds % unit.nanoseconds() == 0)
        .map_or(9, TimeUnit::fraction_digits)
}
