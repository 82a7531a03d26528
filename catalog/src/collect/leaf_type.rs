//! The type of a leaf: its physical type and its annotation as one of Prunus's types.

use prunus_statistics::{PrimitiveType, TimeUnit};

use super::annotation::Annotation;

/// The physical type that values are stored in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredType {
    Boolean,
    Int32,
    Int64,
    Int96,
    Float,
    Double,
    ByteArray,
    Fixed(u32),
}

impl StoredType {
    /// The code of the enum `Type`.
    pub(super) fn code(self) -> i32 {
        match self {
            Self::Boolean => 0,
            Self::Int32 => 1,
            Self::Int64 => 2,
            Self::Int96 => 3,
            Self::Float => 4,
            Self::Double => 5,
            Self::ByteArray => 6,
            Self::Fixed(_) => 7,
        }
    }
}

/// What the values of a leaf are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafType {
    /// Prunus's name for it, if it has one.
    pub(super) column_type: Option<PrimitiveType>,
    /// Whether the type defines an order, so that bounds mean something.
    pub(super) ordered: bool,
}

impl LeafType {
    /// The type of values so stored and so annotated. An annotation that is unknown, that has no order or that does not go
    /// with the physical type leaves the physical type, without order.
    pub(super) fn of(stored: StoredType, annotation: Annotation) -> Self {
        if annotation == Annotation::Plain {
            return Self { column_type: plain_type(stored), ordered: true };
        }
        if let (Annotation::Decimal { precision, scale }, true) = (annotation, holds_decimals(stored)) {
            let digits = u8::try_from(precision).ok().zip(u8::try_from(scale).ok());
            let column_type = digits.and_then(|(precision, scale)| PrimitiveType::decimal(precision, scale));
            return Self { column_type, ordered: column_type.is_some() };
        }
        match annotated_type(stored, annotation) {
            Some(column_type) => Self { column_type: Some(column_type), ordered: true },
            None => Self { column_type: plain_type(stored), ordered: false },
        }
    }
}

/// INT96 is only ever a timestamp, counted in nanoseconds.
fn plain_type(stored: StoredType) -> Option<PrimitiveType> {
    Some(match stored {
        StoredType::Boolean => PrimitiveType::Boolean,
        StoredType::Int32 => PrimitiveType::Int32,
        StoredType::Int64 => PrimitiveType::Int64,
        StoredType::Int96 => PrimitiveType::Timestamp(TimeUnit::Nanosecond),
        StoredType::Float => PrimitiveType::Float32,
        StoredType::Double => PrimitiveType::Float64,
        StoredType::ByteArray => PrimitiveType::Binary,
        StoredType::Fixed(0) => return None,
        StoredType::Fixed(length) => PrimitiveType::Fixed(length),
    })
}

fn holds_decimals(stored: StoredType) -> bool {
    matches!(stored, StoredType::Int32 | StoredType::Int64 | StoredType::ByteArray | StoredType::Fixed(1..))
}

fn annotated_type(stored: StoredType, annotation: Annotation) -> Option<PrimitiveType> {
    use Annotation as A;
    use PrimitiveType as T;
    use StoredType as S;
    Some(match (annotation, stored) {
        (A::String | A::Enum | A::Json, S::ByteArray) => T::String,
        (A::Bson, S::ByteArray) => T::Binary,
        (A::Date, S::Int32) => T::Date,
        (A::Time(unit @ TimeUnit::Millisecond), S::Int32) => T::Time(unit),
        (A::Time(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond)), S::Int64) => T::Time(unit),
        (A::Timestamp { unit, utc: true }, S::Int64) => T::Timestamptz(unit),
        (A::Timestamp { unit, utc: false }, S::Int64) => T::Timestamp(unit),
        (A::Integer { bits: 8, signed: true }, S::Int32) => T::Int8,
        (A::Integer { bits: 16, signed: true }, S::Int32) => T::Int16,
        (A::Integer { bits: 32, signed: true }, S::Int32) => T::Int32,
        (A::Integer { bits: 64, signed: true }, S::Int64) => T::Int64,
        (A::Integer { bits: 8, signed: false }, S::Int32) => T::UInt8,
        (A::Integer { bits: 16, signed: false }, S::Int32) => T::UInt16,
        (A::Integer { bits: 32, signed: false }, S::Int32) => T::UInt32,
        (A::Integer { bits: 64, signed: false }, S::Int64) => T::UInt64,
        (A::Uuid, S::Fixed(16)) => T::Uuid,
        (A::Float16, S::Fixed(2)) => T::Float16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stored: StoredType, annotation: Annotation, column_type: &str, ordered: bool) {
        let column_type = if column_type.is_empty() { None } else { Some(column_type.parse().unwrap()) };
        assert_eq!(LeafType::of(stored, annotation), LeafType { column_type, ordered });
    }

    #[test]
    fn a_leaf_without_annotation_is_what_it_is_stored_as() {
        check(StoredType::Boolean, Annotation::Plain, "boolean", true);
        check(StoredType::Int96, Annotation::Plain, "timestamp(ns)", true);
        check(StoredType::ByteArray, Annotation::Plain, "binary", true);
        check(StoredType::Fixed(12), Annotation::Plain, "fixed(12)", true);
        check(StoredType::Fixed(0), Annotation::Plain, "", true);
    }

    #[test]
    fn an_annotation_names_the_type() {
        check(StoredType::ByteArray, Annotation::Json, "string", true);
        check(StoredType::ByteArray, Annotation::Bson, "binary", true);
        check(StoredType::Int32, Annotation::Integer { bits: 8, signed: false }, "uint8", true);
        let utc = |utc| Annotation::Timestamp { unit: TimeUnit::Nanosecond, utc };
        check(StoredType::Int64, utc(true), "timestamptz(ns)", true);
        check(StoredType::Int64, utc(false), "timestamp(ns)", true);
        check(StoredType::Fixed(2), Annotation::Float16, "float16", true);
    }

    #[test]
    fn an_annotation_that_does_not_go_with_the_stored_type_has_no_order() {
        check(StoredType::Int32, Annotation::String, "int32", false);
        check(StoredType::Int64, Annotation::Integer { bits: 8, signed: true }, "int64", false);
        check(StoredType::Fixed(15), Annotation::Uuid, "fixed(15)", false);
        check(StoredType::Int64, Annotation::Time(TimeUnit::Millisecond), "int64", false);
        check(StoredType::Float, Annotation::Decimal { precision: 3, scale: 1 }, "float32", false);
    }

    #[test]
    fn what_has_no_order_keeps_its_stored_type() {
        check(StoredType::Fixed(12), Annotation::Interval, "fixed(12)", false);
        check(StoredType::ByteArray, Annotation::Unordered, "binary", false);
        check(StoredType::Int32, Annotation::Null, "int32", false);
    }

    #[test]
    fn a_decimal_of_more_digits_than_38_has_no_name() {
        let decimal = |precision| Annotation::Decimal { precision, scale: 2 };
        check(StoredType::Fixed(16), decimal(38), "decimal(38,2)", true);
        check(StoredType::Fixed(32), decimal(39), "", false);
        check(StoredType::Fixed(200), decimal(400), "", false);
    }
}
