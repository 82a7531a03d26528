//! Bounds in a file's type as bounds in a table's type.
//!
//! Only by maps that keep the order: every value of the file's type has its place in the table's type, or (coarser units of
//! time) lies between two, and then a lower bound is rounded down and an upper bound up. A file type that is wider than the
//! table's, or another kind of thing, is refused.

use prunus_statistics::{Bound, ColumnStatistics, Precision, PrimitiveType, TimeUnit, Value};

use super::file_schema::FileLeaf;
use super::leaf_type::StoredType;

const NANOSECONDS_PER_DAY: i128 = 86_400_000_000_000;

/// How statistics of a leaf become statistics of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// As they are.
    Unchanged,
    /// Integers times one number, divided by another.
    Scaled { multiply: i128, divide: i128 },
    /// Counts hold, bounds do not.
    CountsOnly,
}

/// How the values of a leaf become values of a column of this type; `None` if they do not.
pub(super) fn conversion_of(leaf: &FileLeaf, to: PrimitiveType) -> Option<Conversion> {
    use PrimitiveType as T;
    if leaf.holds_only_nulls() {
        return Some(Conversion::CountsOnly);
    }
    match (leaf.column_type, leaf.stored, to) {
        // A type without a name or without an order is its bytes, and they bound nothing.
        (None, StoredType::ByteArray | StoredType::Fixed(_), T::Binary) => Some(Conversion::CountsOnly),
        (None, StoredType::Fixed(length), T::Fixed(wanted)) if length == wanted => Some(Conversion::CountsOnly),
        (None, ..) => None,
        (Some(T::Fixed(_)), _, T::Binary) if !leaf.ordered => Some(Conversion::CountsOnly),
        (Some(from), ..) if !leaf.ordered => (from == to).then_some(Conversion::CountsOnly),
        // Writers put instants into INT96 as well as local times, and nothing tells them apart.
        (Some(_), StoredType::Int96, T::Timestamptz(_)) => Some(Conversion::CountsOnly),
        (Some(from), ..) => conversion(from, to),
    }
}

fn conversion(from: PrimitiveType, to: PrimitiveType) -> Option<Conversion> {
    use PrimitiveType as T;
    match (from, to) {
        _ if from == to => Some(Conversion::Unchanged),
        (T::Float16, T::Float32 | T::Float64) | (T::Float32, T::Float64) => Some(Conversion::Unchanged),
        // Both in the order of unsigned bytes.
        (T::String | T::Fixed(_), T::Binary) | (T::Binary, T::String) => Some(Conversion::Unchanged),
        (T::Uuid, T::Fixed(16)) | (T::Fixed(16), T::Uuid) => Some(Conversion::Unchanged),
        (_, T::Decimal { precision, scale }) => to_decimal(from, precision, scale),
        (T::Date, T::Timestamp(unit)) => Some(times(NANOSECONDS_PER_DAY / unit.nanoseconds())),
        (T::Time(from), T::Time(to))
        | (T::Timestamp(from), T::Timestamp(to))
        | (T::Timestamptz(from), T::Timestamptz(to)) => Some(between_units(from, to)),
        _ if from.is_integer() && to.is_integer() => is_within(from, to).then_some(Conversion::Unchanged),
        _ => None,
    }
}

fn times(multiply: i128) -> Conversion {
    Conversion::Scaled { multiply, divide: 1 }
}

fn between_units(from: TimeUnit, to: TimeUnit) -> Conversion {
    let (from, to) = (from.nanoseconds(), to.nanoseconds());
    if from >= to { times(from / to) } else { Conversion::Scaled { multiply: 1, divide: to / from } }
}

fn is_within(from: PrimitiveType, to: PrimitiveType) -> bool {
    match (from.stored_range(), to.stored_range()) {
        (Some((low, high)), Some((min, max))) => min <= low && high <= max,
        _ => false,
    }
}

/// Every value of the type must fit, so as many digits must stand before the point as the type can have.
fn to_decimal(from: PrimitiveType, precision: u8, scale: u8) -> Option<Conversion> {
    let (from_whole, from_scale) = match from {
        PrimitiveType::Decimal { precision, scale } => (precision.checked_sub(scale)?, scale),
        integer if integer.is_integer() => {
            let (low, high) = integer.stored_range()?;
            let digits = low.unsigned_abs().max(high.unsigned_abs()).checked_ilog10()? + 1;
            (u8::try_from(digits).ok()?, 0)
        }
        _ => return None,
    };
    let added_scale = scale.checked_sub(from_scale)?;
    let holds = precision.checked_sub(scale)? >= from_whole;
    10_i128.checked_pow(added_scale.into()).filter(|_| holds).map(times)
}

/// The statistics after the conversion. A bound that overflows is unknown, and one that is rounded no longer exact.
pub(super) fn convert(statistics: ColumnStatistics, conversion: Conversion) -> ColumnStatistics {
    let (multiply, divide) = match conversion {
        Conversion::Unchanged => return statistics,
        Conversion::Scaled { multiply, divide } => (multiply, divide),
        Conversion::CountsOnly => return ColumnStatistics { min: None, max: None, ..statistics },
    };
    ColumnStatistics {
        min: scaled(statistics.min, multiply, divide, |value| value.checked_div_euclid(divide)),
        max: scaled(statistics.max, multiply, divide, |value| {
            value.checked_neg()?.checked_div_euclid(divide)?.checked_neg()
        }),
        ..statistics
    }
}

fn scaled(bound: Option<Bound>, multiply: i128, divide: i128, outward: impl Fn(i128) -> Option<i128>) -> Option<Bound> {
    let Bound { value: Value::Integer(value), precision, provenance } = bound? else { return None };
    let value = value.checked_mul(multiply)?;
    let rounded = value.checked_rem(divide)? != 0 && precision == Precision::Exact;
    let precision = if rounded { Precision::Bound } else { precision };
    Some(Bound { value: Value::Integer(outward(value)?), precision, provenance })
}

#[cfg(test)]
mod tests {
    use prunus_statistics::Provenance;

    use super::*;

    fn convert_bounds(from: &str, to: &str, min: i128, max: i128) -> Option<(Option<Value>, Option<Value>)> {
        let bound = |value| {
            let (precision, provenance) = (Precision::Bound, Provenance::Footer);
            Some(Bound { value: Value::Integer(value), precision, provenance })
        };
        let statistics = ColumnStatistics { min: bound(min), max: bound(max), ..Default::default() };
        let conversion = conversion(from.parse().unwrap(), to.parse().unwrap())?;
        let ColumnStatistics { min, max, .. } = convert(statistics, conversion);
        Some((min.map(|bound| bound.value), max.map(|bound| bound.value)))
    }

    fn check(from: &str, to: &str, bounds: (i128, i128), expected: (i128, i128)) {
        let expected = (Some(Value::Integer(expected.0)), Some(Value::Integer(expected.1)));
        assert_eq!(convert_bounds(from, to, bounds.0, bounds.1), Some(expected), "{from} to {to}");
    }

    fn refused(from: &str, to: &str) {
        assert_eq!(convert_bounds(from, to, 0, 0), None, "{from} to {to}");
    }

    #[test]
    fn integers_widen_where_every_value_has_a_place() {
        check("int8", "int64", (-128, 127), (-128, 127));
        check("uint32", "int64", (0, 4_294_967_295), (0, 4_294_967_295));
        check("uint8", "uint64", (1, 2), (1, 2));
        refused("int64", "int32");
        refused("uint64", "int64");
        refused("uint32", "int32");
        refused("int8", "uint64");
        refused("int32", "float64");
    }

    #[test]
    fn integers_become_decimals_that_hold_them_all() {
        check("int32", "decimal(12,2)", (-1, 7), (-100, 700));
        check("uint64", "decimal(20,0)", (0, 18_446_744_073_709_551_615), (0, 18_446_744_073_709_551_615));
        refused("int32", "decimal(11,2)");
        refused("int64", "decimal(18,0)");
    }

    #[test]
    fn decimals_gain_digits_on_either_side_of_the_point_and_lose_none() {
        check("decimal(9,2)", "decimal(38,2)", (-123, 456), (-123, 456));
        check("decimal(9,2)", "decimal(11,4)", (-123, 456), (-12_300, 45_600));
        refused("decimal(9,2)", "decimal(10,4)");
        refused("decimal(9,2)", "decimal(12,1)");
        refused("decimal(9,0)", "int64");
    }

    #[test]
    fn a_coarser_unit_rounds_outwards() {
        check("timestamp(ns)", "timestamp(us)", (-1, 1), (-1, 1));
        check("timestamp(ns)", "timestamp(ms)", (1_999_999, 2_000_001), (1, 3));
        check("timestamptz(us)", "timestamptz(s)", (-1_000_000, 2_000_000), (-1, 2));
        check("time(us)", "time(ms)", (999, 1_001), (0, 2));
    }

    #[test]
    fn a_finer_unit_multiplies() {
        check("timestamp(ms)", "timestamp(ns)", (-1, 1), (-1_000_000, 1_000_000));
        check("date", "timestamp(us)", (-1, 1), (-86_400_000_000, 86_400_000_000));
        check("date", "timestamp(s)", (1, 1), (86_400, 86_400));
    }

    #[test]
    fn a_local_time_is_no_instant() {
        refused("timestamp(us)", "timestamptz(us)");
        refused("timestamptz(us)", "timestamp(us)");
        refused("date", "timestamptz(us)");
        refused("timestamp(us)", "date");
    }

    #[test]
    fn bytes_become_other_bytes() {
        let allowed = |from: &str, to: &str| conversion(from.parse().unwrap(), to.parse().unwrap());
        for (from, to) in [("string", "binary"), ("binary", "string"), ("uuid", "fixed(16)"), ("fixed(3)", "binary")] {
            assert_eq!(allowed(from, to), Some(Conversion::Unchanged), "{from} to {to}");
        }
        for (from, to) in [("fixed(3)", "fixed(4)"), ("fixed(3)", "string"), ("string", "uuid"), ("int32", "string")] {
            assert_eq!(allowed(from, to), None, "{from} to {to}");
        }
    }
}
