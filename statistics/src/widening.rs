//! Statistics of a column that is read as another type than they were written as: a wider one once its table has widened it, a
//! narrower one by a plan of a snapshot from before.

use crate::literal_convert::{round_to_f16, round_to_f32};
use crate::{Bound, ColumnStatistics, FileColumn, Precision, PrimitiveType, Value};

const NANOSECONDS_PER_DAY: i128 = 86_400_000_000_000;

/// What becomes of the values of one type in another. Lower bounds are rounded down and upper bounds up; what has no place in the
/// other type is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    to: PrimitiveType,
    map: Map,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Map {
    /// A value is stored as the same number, or the same bytes, in both.
    Same,
    /// A number of the one is so many of the other.
    Times(i128),
    /// The reverse.
    Over(i128),
    /// A float is the nearest ones that 16 or 32 bits hold.
    Float16,
    Float32,
    /// Nothing is known.
    Unknown,
}

impl Reading {
    /// How statistics that were written as one type are read as another.
    pub fn of(from: PrimitiveType, to: PrimitiveType) -> Self {
        Self { to, map: map(from, to) }
    }

    /// Whether the two types store every value that both hold alike.
    pub fn keeps_values(self) -> bool {
        self.map == Map::Same
    }

    /// Whether nothing that was known of the one is known of the other.
    pub fn is_unknown(self) -> bool {
        self.map == Map::Unknown
    }

    /// A lower bound of the same values.
    pub fn lower(self, value: &Value) -> Option<Value> {
        self.mapped(value, Side::Lower)
    }

    /// An upper bound of the same values.
    pub fn upper(self, value: &Value) -> Option<Value> {
        self.mapped(value, Side::Upper)
    }

    /// The same value, if the other type has it.
    pub fn exactly(self, value: &Value) -> Option<Value> {
        self.lower(value).filter(|lower| Some(lower) == self.upper(value).as_ref())
    }

    fn mapped(self, value: &Value, side: Side) -> Option<Value> {
        let mapped = match (self.map, value) {
            (Map::Same, value) => value.clone(),
            (Map::Times(factor), Value::Integer(number)) => Value::Integer(number.checked_mul(factor)?),
            (Map::Over(divisor), Value::Integer(number)) => Value::Integer(side.divide(*number, divisor)?),
            (Map::Float16, Value::Float(number)) => Value::Float(side.of(round_to_f16(*number))),
            (Map::Float32, Value::Float(number)) => Value::Float(side.of(round_to_f32(*number))),
            _ => return None,
        };
        Some(mapped).filter(|mapped| mapped.fits(self.to))
    }
}

/// Which way a bound is rounded: outwards.
#[derive(Clone, Copy, Debug)]
enum Side {
    Lower,
    Upper,
}

impl Side {
    fn of(self, (below, above): (f64, f64)) -> f64 {
        match self {
            Self::Lower => below,
            Self::Upper => above,
        }
    }

    fn divide(self, number: i128, divisor: i128) -> Option<i128> {
        match self {
            Self::Lower => number.checked_div_euclid(divisor),
            Self::Upper => number.checked_neg()?.checked_div_euclid(divisor)?.checked_neg(),
        }
    }
}

fn map(from: PrimitiveType, to: PrimitiveType) -> Map {
    use PrimitiveType as T;
    let is_whole = |column_type: T| column_type.is_integer() || matches!(column_type, T::Decimal { scale: 0, .. });
    let same = match (from, to) {
        (T::Date, T::Timestamp(unit)) => return Map::Times(NANOSECONDS_PER_DAY / unit.nanoseconds()),
        (T::Timestamp(unit), T::Date) => return Map::Over(NANOSECONDS_PER_DAY / unit.nanoseconds()),
        (T::Float64, T::Float32) => return Map::Float32,
        (T::Float64 | T::Float32, T::Float16) => return Map::Float16,
        (T::Decimal { scale: a, .. }, T::Decimal { scale: b, .. }) => a == b,
        (_, T::Binary) => from.is_bytes(),
        _ => from == to || (is_whole(from) && is_whole(to)) || (from.is_float() && to.is_float()),
    };
    if same { Map::Same } else { Map::Unknown }
}

impl PrimitiveType {
    /// Whether a column of this type may become one of another: each of its values is one of the other type, in the same order.
    /// Integers and floats become wider ones of their kind (an unsigned integer also a signed one that holds them all), decimals
    /// get more digits before the point, dates become timestamps.
    pub fn widens_to(self, to: Self) -> bool {
        match (self, to) {
            (Self::Float16, Self::Float32 | Self::Float64) | (Self::Float32, Self::Float64) => true,
            (Self::Decimal { precision: a, scale }, Self::Decimal { precision: b, scale: other }) => {
                a < b && scale == other
            }
            (Self::Date, Self::Timestamp(_)) => true,
            _ if self.is_integer() && to.is_integer() => match (self.stored_range(), to.stored_range()) {
                (Some((low, high)), Some((min, max))) => self != to && min <= low && high <= max,
                _ => false,
            },
            _ => false,
        }
    }
}

impl ColumnStatistics {
    /// The same statistics for readers to whom the column is of another type than they were written as. A bound that is rounded is
    /// no longer exact.
    #[must_use]
    pub fn read_as(self, from: PrimitiveType, to: PrimitiveType) -> Self {
        let reading = Reading::of(from, to);
        if from == to {
            return self;
        }
        if reading.is_unknown() {
            return Self::default();
        }
        let bound = |bound: Option<Bound>, side: fn(Reading, &Value) -> Option<Value>| {
            let Bound { value, precision, provenance } = bound?;
            let rounded = precision == Precision::Exact && reading.exactly(&value).is_none();
            let precision = if rounded { Precision::Bound } else { precision };
            Some(Bound { value: side(reading, &value)?, precision, provenance })
        };
        Self { min: bound(self.min, Reading::lower), max: bound(self.max, Reading::upper), ..self }
    }
}

impl FileColumn {
    /// The same for readers to whom the column is of another type than this was written as.
    #[must_use]
    pub fn read_as(self, from: PrimitiveType, to: PrimitiveType) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Present(statistics) => Self::Present(statistics.read_as(from, to)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Precision, Provenance};

    fn types(from: &str, to: &str) -> (PrimitiveType, PrimitiveType) {
        (from.parse().unwrap(), to.parse().unwrap())
    }

    #[test]
    fn only_what_holds_every_value_is_wider() {
        let check = |from: &str, to: &str, expected: bool| {
            let (from, to) = types(from, to);
            assert_eq!(from.widens_to(to), expected, "{from} to {to}");
        };
        for (from, to) in [
            ("int8", "int64"),
            ("uint8", "uint64"),
            ("uint32", "int64"),
            ("float16", "float32"),
            ("float32", "float64"),
            ("decimal(9,2)", "decimal(38,2)"),
            ("date", "timestamp(ns)"),
        ] {
            check(from, to, true);
            check(to, from, false);
        }
        for (from, to) in [
            ("int64", "int64"),
            ("uint64", "int64"),
            ("int32", "uint64"),
            ("int32", "float64"),
            ("int32", "decimal(20,0)"),
            ("decimal(9,2)", "decimal(12,3)"),
            ("date", "timestamptz(us)"),
            ("timestamp(ms)", "timestamp(us)"),
            ("string", "binary"),
        ] {
            check(from, to, false);
        }
    }

    fn read(from: &str, to: &str, min: Value, max: Value) -> (Option<Value>, Option<Value>) {
        let (precision, provenance) = (Precision::Bound, Provenance::Footer);
        let bound = |value| Some(Bound { value, precision, provenance });
        let statistics = ColumnStatistics { min: bound(min), max: bound(max), ..ColumnStatistics::default() };
        let (from, to) = types(from, to);
        let read = statistics.read_as(from, to);
        (read.min.map(|bound| bound.value), read.max.map(|bound| bound.value))
    }

    fn check_integers(types: (&str, &str), (min, max): (i128, i128), expected: (Option<i128>, Option<i128>)) {
        let expected = (expected.0.map(Value::Integer), expected.1.map(Value::Integer));
        assert_eq!(read(types.0, types.1, Value::Integer(min), Value::Integer(max)), expected, "{types:?}");
    }

    #[test]
    fn widened_bounds_are_the_same_values() {
        check_integers(("int32", "int64"), (-7, 9), (Some(-7), Some(9)));
        check_integers(("decimal(9,2)", "decimal(30,2)"), (-7, 9), (Some(-7), Some(9)));
        check_integers(("date", "timestamp(s)"), (-1, 2), (Some(-86_400), Some(172_800)));
        let floats = read("float32", "float64", Value::Float(0.1_f32.into()), Value::Float(2.0));
        assert_eq!(floats, (Some(Value::Float(0.1_f32.into())), Some(Value::Float(2.0))));
    }

    #[test]
    fn a_bound_beyond_the_other_type_is_unknown_and_the_other_stays() {
        check_integers(("date", "timestamp(ns)"), (1, 2_000_000), (Some(86_400_000_000_000), None));
        check_integers(("int64", "int8"), (-5, 300), (Some(-5), None));
    }

    #[test]
    fn timestamps_become_dates_outwards() {
        check_integers(("timestamp(s)", "date"), (-1, 86_401), (Some(-1), Some(2)));
        check_integers(("timestamp(s)", "date"), (-86_400, 86_400), (Some(-1), Some(1)));
    }

    #[test]
    fn floats_become_narrower_ones_outwards() {
        let floats = |to: &str, min: f64, max: f64| match read("float64", to, Value::Float(min), Value::Float(max)) {
            (Some(Value::Float(min)), Some(Value::Float(max))) => (min, max),
            other => panic!("{other:?}"),
        };
        let nearest = 0.1_f32;
        assert_eq!(floats("float32", 0.1, 0.1), (nearest.next_down().into(), nearest.into()));
        assert_eq!(floats("float32", -0.5, 0.25), (-0.5, 0.25));
        assert_eq!(floats("float32", 1e300, 1e300), (f32::MAX.into(), f64::INFINITY));
        assert_eq!(floats("float16", 2049.0, 2049.0), (2048.0, 2050.0));
    }

    #[test]
    fn a_bound_that_is_rounded_is_no_longer_exact() {
        let bound = |value| {
            Some(Bound { value: Value::Integer(value), precision: Precision::Exact, provenance: Provenance::Scanned })
        };
        let statistics = ColumnStatistics { min: bound(86_400), max: bound(86_401), ..ColumnStatistics::default() };
        let (from, to) = types("timestamp(s)", "date");
        let read = statistics.read_as(from, to);
        let precisions = [read.min, read.max].map(|bound| bound.map(|bound| bound.precision));
        assert_eq!(precisions, [Some(Precision::Exact), Some(Precision::Bound)]);
    }

    #[test]
    fn what_became_something_else_is_unknown() {
        check_integers(("int32", "float64"), (1, 2), (None, None));
        check_integers(("decimal(9,2)", "decimal(9,3)"), (1, 2), (None, None));
    }

    #[test]
    fn a_value_that_would_be_rounded_is_not_the_same() {
        let (from, to) = types("timestamp(s)", "date");
        assert_eq!(Reading::of(from, to).exactly(&Value::Integer(86_400)), Some(Value::Integer(1)));
        assert_eq!(Reading::of(from, to).exactly(&Value::Integer(86_401)), None);
    }
}
