//! The types that a leaf column can have, and their names.

use std::fmt;
use std::str::FromStr;

/// The unit of a time or timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Second,
    /// Milliseconds.
    Millisecond,
    /// Microseconds.
    Microsecond,
    /// Nanoseconds.
    Nanosecond,
}

impl TimeUnit {
    /// How many nanoseconds one unit has.
    pub const fn nanoseconds(self) -> i128 {
        match self {
            Self::Second => 1_000_000_000,
            Self::Millisecond => 1_000_000,
            Self::Microsecond => 1_000,
            Self::Nanosecond => 1,
        }
    }

    /// How many digits a fraction of a second has in this unit.
    pub const fn fraction_digits(self) -> usize {
        match self {
            Self::Second => 0,
            Self::Millisecond => 3,
            Self::Microsecond => 6,
            Self::Nanosecond => 9,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Millisecond => "ms",
            Self::Microsecond => "us",
            Self::Nanosecond => "ns",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Second, Self::Millisecond, Self::Microsecond, Self::Nanosecond]
            .into_iter()
            .find(|unit| unit.name() == name)
    }
}

/// The type of a leaf column. Its text form is the one of the HTTP API: `decimal(9,2)`, `timestamp(us)`, `fixed(16)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the names of the types; what they hold is written on `Value`")]
pub enum PrimitiveType {
    Boolean,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float32,
    Float64,
    Decimal { precision: u8, scale: u8 },
    String,
    Binary,
    Fixed(u32),
    Uuid,
    Date,
    Time(TimeUnit),
    Timestamp(TimeUnit),
    Timestamptz(TimeUnit),
}

/// How bounds of a type stand in columns: the fewest forms that hold every type in its own order, so that a comparison of
/// bounds needs one loop per form and not one per type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhysicalType {
    /// Booleans (0 and 1), integers of up to 32 bits but uint32, and dates.
    Int32,
    /// Int64, uint32, times, timestamps, and decimals of up to 18 digits, unscaled.
    Int64,
    /// Uint64.
    UInt64,
    /// Floats of every width, widened.
    Float64,
    /// Decimals of more than 18 digits, unscaled.
    Int128,
    /// Strings, binary, fixed and uuid.
    Bytes,
}

/// The most digits that a decimal column may have.
const MAX_DECIMAL_PRECISION: u8 = 38;

/// A type name that is none of the API's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown type `{0}`")]
pub struct UnknownType(pub String);

const PLAIN: [(&str, PrimitiveType); 16] = [
    ("boolean", PrimitiveType::Boolean),
    ("int8", PrimitiveType::Int8),
    ("int16", PrimitiveType::Int16),
    ("int32", PrimitiveType::Int32),
    ("int64", PrimitiveType::Int64),
    ("uint8", PrimitiveType::UInt8),
    ("uint16", PrimitiveType::UInt16),
    ("uint32", PrimitiveType::UInt32),
    ("uint64", PrimitiveType::UInt64),
    ("float16", PrimitiveType::Float16),
    ("float32", PrimitiveType::Float32),
    ("float64", PrimitiveType::Float64),
    ("string", PrimitiveType::String),
    ("binary", PrimitiveType::Binary),
    ("uuid", PrimitiveType::Uuid),
    ("date", PrimitiveType::Date),
];

impl PrimitiveType {
    /// A decimal type, if `precision` is 1 to 38 and `scale` at most `precision`.
    pub fn decimal(precision: u8, scale: u8) -> Option<Self> {
        ((1..=MAX_DECIMAL_PRECISION).contains(&precision) && scale <= precision)
            .then_some(Self::Decimal { precision, scale })
    }

    /// How bounds of this type stand in columns.
    pub const fn physical_type(self) -> PhysicalType {
        match self {
            Self::Boolean | Self::Int8 | Self::Int16 | Self::Int32 | Self::UInt8 | Self::UInt16 | Self::Date => {
                PhysicalType::Int32
            }
            Self::Int64 | Self::UInt32 | Self::Time(_) | Self::Timestamp(_) | Self::Timestamptz(_) => {
                PhysicalType::Int64
            }
            Self::UInt64 => PhysicalType::UInt64,
            Self::Float16 | Self::Float32 | Self::Float64 => PhysicalType::Float64,
            Self::Decimal { precision, .. } if precision <= 18 => PhysicalType::Int64,
            Self::Decimal { .. } => PhysicalType::Int128,
            Self::String | Self::Binary | Self::Fixed(_) | Self::Uuid => PhysicalType::Bytes,
        }
    }

    /// Whether values are floats, so that NaN and signed zeros can occur.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32 | Self::Float64)
    }

    /// Whether values are strings of bytes, ordered as unsigned bytes.
    pub const fn is_bytes(self) -> bool {
        matches!(self, Self::String | Self::Binary | Self::Fixed(_) | Self::Uuid)
    }

    /// Whether this is one of the integer types.
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::Int8
                | Self::Int16
                | Self::Int32
                | Self::Int64
                | Self::UInt8
                | Self::UInt16
                | Self::UInt32
                | Self::UInt64
        )
    }

    /// The smallest and largest number that a value of this type is stored as: the integer itself, the unscaled decimal,
    /// days, or units of time. `None` for types whose values are not stored as one integer.
    pub fn stored_range(self) -> Option<(i128, i128)> {
        let signed = |bits: u32| (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
        let unsigned = |bits: u32| (0, (1_i128 << bits) - 1);
        Some(match self {
            Self::Int8 => signed(8),
            Self::Int16 => signed(16),
            Self::Int32 | Self::Date => signed(32),
            Self::Int64 | Self::Time(_) | Self::Timestamp(_) | Self::Timestamptz(_) => signed(64),
            Self::UInt8 => unsigned(8),
            Self::UInt16 => unsigned(16),
            Self::UInt32 => unsigned(32),
            Self::UInt64 => unsigned(64),
            Self::Decimal { precision, .. } => {
                let limit = 10_i128.checked_pow(u32::from(precision))?;
                (1 - limit, limit - 1)
            }
            Self::Boolean
            | Self::Float16
            | Self::Float32
            | Self::Float64
            | Self::String
            | Self::Binary
            | Self::Fixed(_)
            | Self::Uuid => return None,
        })
    }
}

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Self::Fixed(length) => write!(f, "fixed({length})"),
            Self::Time(unit) => write!(f, "time({})", unit.name()),
            Self::Timestamp(unit) => write!(f, "timestamp({})", unit.name()),
            Self::Timestamptz(unit) => write!(f, "timestamptz({})", unit.name()),
            plain => {
                let name = PLAIN.iter().find(|(_, candidate)| candidate == plain).map_or("", |(name, _)| name);
                f.write_str(name)
            }
        }
    }
}

impl FromStr for PrimitiveType {
    type Err = UnknownType;

    fn from_str(text: &str) -> Result<Self, UnknownType> {
        let unknown = || UnknownType(text.to_owned());
        if let Some((_, plain)) = PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(*plain);
        }
        let (name, arguments) = match text.split_once('(') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(unknown)?.trim())),
            None => (text, None),
        };
        let unit = || match arguments {
            Some(unit) => TimeUnit::from_name(unit),
            None => Some(TimeUnit::Microsecond),
        };
        let parsed = match name {
            "time" => unit().map(Self::Time),
            "timestamp" => unit().map(Self::Timestamp),
            "timestamptz" => unit().map(Self::Timestamptz),
            "fixed" => arguments.and_then(|length| length.parse().ok()).filter(|length| *length > 0).map(Self::Fixed),
            "decimal" => arguments.and_then(|arguments| arguments.split_once(',')).and_then(|(precision, scale)| {
                Self::decimal(precision.trim().parse().ok()?, scale.trim().parse().ok()?)
            }),
            _ => None,
        };
        parsed.ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_reads_back_from_its_name() {
        let mut types: Vec<PrimitiveType> = PLAIN.iter().map(|(_, plain)| *plain).collect();
        types.push(PrimitiveType::Decimal { precision: 38, scale: 38 });
        types.push(PrimitiveType::Fixed(12));
        for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
            types.extend([PrimitiveType::Time(unit), PrimitiveType::Timestamp(unit), PrimitiveType::Timestamptz(unit)]);
        }
        for column_type in types {
            assert_eq!(column_type.to_string().parse(), Ok(column_type));
        }
    }

    #[test]
    fn a_time_type_without_unit_is_in_microseconds() {
        assert_eq!("timestamp".parse(), Ok(PrimitiveType::Timestamp(TimeUnit::Microsecond)));
    }

    #[test]
    fn impossible_types_are_refused() {
        for text in ["", "int", "decimal(39,0)", "decimal(5,6)", "decimal(0,0)", "fixed(0)", "timestamp(m)", "date("] {
            assert_eq!(text.parse::<PrimitiveType>(), Err(UnknownType(text.to_owned())));
        }
    }
}
