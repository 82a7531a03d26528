//! What kind of values an expression has, in a form that knows no widths or units that a comparison does not need.

use prunus_statistics::{PrimitiveType, Value};

/// How long a day is, in the units of timestamps.
pub(crate) const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// The kind of an expression's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Domain {
    Boolean,
    /// Integers that engines hold in this width; what an operation makes beyond it may have wrapped.
    Integer {
        smallest: i128,
        largest: i128,
    },
    /// Unscaled decimals of at most so many digits.
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// Floats; loose ones are computed by some engines in another precision, so results are rounded outward.
    Float {
        loose: bool,
    },
    /// Numbers that some engines compute as integers or decimals and others as floats: they can be compared, but not reckoned with,
    /// since integers would be cut and decimals rounded.
    Real,
    Text,
    Binary,
    Uuid,
    /// Days since 1970-01-01.
    Date,
    /// Nanoseconds since midnight.
    Time,
    /// Nanoseconds since 1970-01-01T00:00, without zone.
    Timestamp,
    /// Nanoseconds since 1970-01-01T00:00Z.
    Timestamptz,
}

impl Domain {
    /// The integers of 32 bits, in which some engines hold whole numbers of no column.
    pub(crate) const INT32: Self = Self::Integer { smallest: i32::MIN as i128, largest: i32::MAX as i128 };

    /// The kind of a column's values.
    pub(crate) fn of(column_type: PrimitiveType) -> Self {
        match column_type {
            PrimitiveType::Boolean => Self::Boolean,
            PrimitiveType::Decimal { precision, scale } => Self::Decimal { precision, scale },
            PrimitiveType::Float64 => Self::Float { loose: false },
            PrimitiveType::Float16 | PrimitiveType::Float32 => Self::Float { loose: true },
            PrimitiveType::String => Self::Text,
            PrimitiveType::Binary | PrimitiveType::Fixed(_) => Self::Binary,
            PrimitiveType::Uuid => Self::Uuid,
            PrimitiveType::Date => Self::Date,
            PrimitiveType::Time(_) => Self::Time,
            PrimitiveType::Timestamp(_) => Self::Timestamp,
            PrimitiveType::Timestamptz(_) => Self::Timestamptz,
            integer => {
                let (smallest, largest) = integer.stored_range().unwrap_or((i128::MIN, i128::MAX));
                Self::Integer { smallest, largest }
            }
        }
    }

    /// A bound of a column in the units of its domain.
    pub(crate) fn from_column(value: Value, column_type: PrimitiveType) -> Option<Value> {
        match (value, column_type) {
            (Value::Integer(bit), PrimitiveType::Boolean) => Some(Value::Boolean(bit != 0)),
            (
                Value::Integer(units),
                PrimitiveType::Time(unit) | PrimitiveType::Timestamp(unit) | PrimitiveType::Timestamptz(unit),
            ) => units.checked_mul(unit.nanoseconds()).map(Value::Integer),
            (value, _) => Some(value),
        }
    }

    /// Whether values may be NaN.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::Float { .. } | Self::Real)
    }

    /// Whether values are numbers.
    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Decimal { .. } | Self::Float { .. } | Self::Real)
    }
}
