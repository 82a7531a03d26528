//! Literals as JSON has them: of no type but that of the column they meet.

use std::fmt;

use prunus_statistics::{Literal, LiteralZone, Number, PrimitiveType, SessionZone, TimeUnit, parse_hex};

/// A literal of an Iceberg expression.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonLiteral {
    /// What is written.
    pub scalar: JsonScalar,
    /// Iceberg's name of the type that it was said to have.
    pub data_type: Option<String>,
}

/// A value of JSON that is neither null nor made of others.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonScalar {
    /// `true` or `false`.
    Boolean(bool),
    /// A number without fraction and exponent.
    Integer(i128),
    /// Any other number; readers of JSON know no more of it than this.
    Float(f64),
    /// A string.
    Text(String),
}

impl JsonLiteral {
    /// The literal against a column of this type, as the clients that are known mean it: dates may be days, times and
    /// timestamps microseconds, bytes are hexadecimal digits, and a `timestamptz` without offset is in UTC (PyIceberg drops
    /// that offset). `Err` says why it is none, or not surely one; then the column cannot be judged.
    pub(crate) fn coerce(&self, column_type: PrimitiveType, zone: &SessionZone) -> Result<Literal, String> {
        if let Some(data_type) = &self.data_type
            && !Kind::of_name(data_type).is_some_and(|kind| kind == Kind::of(column_type))
        {
            return Err(format!("{self} is a {data_type} and the column of type {column_type}"));
        }
        let literal = match (&self.scalar, column_type) {
            (JsonScalar::Boolean(value), PrimitiveType::Boolean) => Some(Literal::Boolean(*value)),
            (JsonScalar::Integer(value), _) => integer(*value, column_type)?,
            (JsonScalar::Float(value), _) if column_type.is_float() => {
                Number::parse(&format!("{value:?}")).map(Literal::Number)
            }
            (JsonScalar::Text(text), _) => text_literal(text, column_type, zone),
            // A number with a fraction was rounded to a double before it came here: it is no decimal and no integer.
            (JsonScalar::Boolean(_) | JsonScalar::Float(_), _) => None,
        };
        let literal = literal.ok_or_else(|| format!("{self} is no value of type {column_type}"))?;
        match literal.convert(column_type, zone) {
            Ok(_) => Ok(literal),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The literal where it meets no column.
    pub(crate) fn untyped(&self) -> Option<Literal> {
        match &self.scalar {
            JsonScalar::Boolean(value) => Some(Literal::Boolean(*value)),
            JsonScalar::Integer(value) => Some(Literal::Number(Number::new(*value, 0))),
            JsonScalar::Float(_) => None,
            JsonScalar::Text(text) => Some(Literal::Text(text.clone())),
        }
    }
}

fn integer(value: i128, column_type: PrimitiveType) -> Result<Option<Literal>, String> {
    use PrimitiveType as T;
    let nanoseconds = value.saturating_mul(1_000);
    Ok(match column_type {
        T::Date => i64::try_from(value).ok().map(Literal::Date),
        T::Time(_) => Some(Literal::Time(nanoseconds)),
        T::Timestamp(TimeUnit::Nanosecond) | T::Timestamptz(TimeUnit::Nanosecond) => {
            return Err(format!("{value} may be micro- or nanoseconds"));
        }
        T::Timestamp(_) => Some(Literal::Timestamp { nanoseconds, zone: LiteralZone::Local }),
        T::Timestamptz(_) => Some(Literal::Timestamp { nanoseconds, zone: LiteralZone::Offset }),
        _ => Some(Literal::Number(Number::new(value, 0))),
    })
}

fn text_literal(text: &str, column_type: PrimitiveType, zone: &SessionZone) -> Option<Literal> {
    match column_type {
        PrimitiveType::Binary => parse_hex(text).map(Literal::Bytes),
        PrimitiveType::Fixed(length) => {
            parse_hex(text).filter(|bytes| u32::try_from(bytes.len()) == Ok(length)).map(Literal::Bytes)
        }
        PrimitiveType::Timestamptz(_) => match (Literal::timestamptz(text)?, zone) {
            (Literal::Timestamp { nanoseconds, zone: LiteralZone::Local }, SessionZone::Unknown) => {
                Some(Literal::Timestamp { nanoseconds, zone: LiteralZone::Offset })
            }
            (literal, _) => Some(literal),
        },
        _ => Some(Literal::Text(text.to_owned())),
    }
}

/// What can be compared with each other.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Boolean,
    Number,
    Text,
    Bytes,
    Uuid,
    Moment,
    Time,
}

impl Kind {
    fn of(column_type: PrimitiveType) -> Self {
        use PrimitiveType as T;
        match column_type {
            T::Boolean => Self::Boolean,
            T::String => Self::Text,
            T::Binary | T::Fixed(_) => Self::Bytes,
            T::Uuid => Self::Uuid,
            T::Date | T::Timestamp(_) | T::Timestamptz(_) => Self::Moment,
            T::Time(_) => Self::Time,
            _ => Self::Number,
        }
    }

    /// The kind of an Iceberg type; `None` for one that is not known here.
    fn of_name(name: &str) -> Option<Self> {
        let base = name.split(['(', '[']).next().unwrap_or(name).trim();
        Some(match base {
            "boolean" => Self::Boolean,
            "int" | "long" | "float" | "double" | "decimal" => Self::Number,
            "string" => Self::Text,
            "binary" | "fixed" => Self::Bytes,
            "uuid" => Self::Uuid,
            "date" | "timestamp" | "timestamptz" | "timestamp_ns" | "timestamptz_ns" => Self::Moment,
            "time" => Self::Time,
            _ => return None,
        })
    }
}

/// The literal as SQL text, which gives it the type of its column again.
impl fmt::Display for JsonLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scalar {
            JsonScalar::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            JsonScalar::Integer(value) => write!(f, "{value}"),
            JsonScalar::Float(value) => write!(f, "{value:?}"),
            JsonScalar::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &JsonScalar, column_type: &str, expected: Result<&str, &str>) {
        let literal = JsonLiteral { scalar: json.clone(), data_type: None };
        let coerced = literal.coerce(column_type.parse().unwrap(), &SessionZone::Unknown);
        let coerced = coerced.map(|literal| literal.to_string());
        assert_eq!(coerced.as_deref().map_err(String::as_str), expected, "{json:?} against {column_type}");
    }

    fn text(text: &str) -> JsonScalar {
        JsonScalar::Text(text.to_owned())
    }

    #[test]
    fn numbers_mean_what_java_and_pyiceberg_mean() {
        use JsonScalar::{Float, Integer};
        check(&Integer(5), "int64", Ok("5"));
        check(&Integer(5), "float64", Ok("5"));
        check(&Integer(5), "decimal(9,2)", Ok("5"));
        check(&Integer(19_723), "date", Ok("DATE '2024-01-01'"));
        check(&Integer(3_600_000_000), "time", Ok("TIME '01:00:00'"));
        check(&Integer(1_000), "timestamp(ms)", Ok("TIMESTAMP '1970-01-01T00:00:00.001'"));
        check(&Integer(1), "timestamptz", Ok("TIMESTAMP WITH TIME ZONE '1970-01-01T00:00:00.000001Z'"));
        check(&Integer(1), "timestamp(ns)", Err("1 may be micro- or nanoseconds"));
        check(&Integer(1), "string", Err("1 cannot be compared with a column of type string"));
        check(&Integer(1), "boolean", Err("1 cannot be compared with a column of type boolean"));
        check(&Float(0.1), "float32", Ok("0.1"));
        check(&Float(1e300), "float64", Ok("1e300"));
    }

    #[test]
    fn a_number_that_was_rounded_on_its_way_is_no_decimal_and_no_integer() {
        check(&JsonScalar::Float(1.5), "decimal(9,2)", Err("1.5 is no value of type decimal(9,2)"));
        check(&JsonScalar::Float(5.0), "int64", Err("5.0 is no value of type int64"));
    }

    #[test]
    fn texts_take_the_type_of_their_column() {
        check(&text("1.5"), "decimal(9,2)", Ok("'1.5'"));
        check(&text("1.5"), "float32", Ok("'1.5'"));
        check(&text("00FF"), "binary", Ok("X'00ff'"));
        check(&text("00ff"), "fixed(2)", Ok("X'00ff'"));
        check(&text("00ff"), "fixed(3)", Err("'00ff' is no value of type fixed(3)"));
        check(&text("xyz"), "binary", Err("'xyz' is no value of type binary"));
        check(&text("2024-01-31"), "date", Ok("'2024-01-31'"));
        check(&text("2024-13-31"), "date", Err("`2024-13-31` is not a value of type date"));
        check(&text("5"), "int32", Ok("'5'"));
        check(&text("x"), "int32", Err("`x` is not a value of type int32"));
    }

    #[test]
    fn an_instant_without_offset_is_in_utc_unless_the_reader_has_a_zone() {
        let literal = JsonLiteral { scalar: text("2024-01-31T10:00:00"), data_type: None };
        let coerce = |zone: &SessionZone| literal.coerce("timestamptz".parse().unwrap(), zone).unwrap().to_string();
        assert_eq!(coerce(&SessionZone::Unknown), "TIMESTAMP WITH TIME ZONE '2024-01-31T10:00:00Z'");
        assert_eq!(coerce(&SessionZone::named("Asia/Tokyo").unwrap()), "TIMESTAMP '2024-01-31T10:00:00'");
        check(&text("2024-01-31T10:00:00+02:00"), "timestamptz", Ok("TIMESTAMP WITH TIME ZONE '2024-01-31T08:00:00Z'"));
    }

    #[test]
    fn a_type_that_was_named_must_go_with_the_column() {
        let typed = |data_type: &str, column_type: &str| {
            let literal = JsonLiteral { scalar: text("616263"), data_type: Some(data_type.to_owned()) };
            literal.coerce(column_type.parse().unwrap(), &SessionZone::Unknown).is_ok()
        };
        assert!(typed("binary", "binary"));
        assert!(typed("fixed[3]", "fixed(3)"));
        assert!(typed("decimal(9, 2)", "int64"));
        assert!(!typed("string", "binary"));
        assert!(!typed("string", "int64"));
        assert!(!typed("variant", "string"));
    }
}
