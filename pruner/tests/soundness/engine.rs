//! Query engines as they are: a plain row by row evaluation of predicates, of which some choices differ between engines.

use std::cmp::Ordering;

use prunus_pruner::{
    Column, ColumnName, CompareOp, Expression, JsonLiteral, JsonScalar, NanOrder, Predicate, TruthValue,
};
use prunus_statistics::{Literal, LiteralZone, Number, PrimitiveType, Value};

use super::exact::Exact;
use super::rows::{Row, unit};

/// What engines differ in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    pub(crate) nan: Nan,
    /// Whether equality tells the zeros of floats apart.
    pub(crate) splits_zeros: bool,
    pub(crate) rounding: Rounding,
    /// How far from UTC a time without zone is meant, and a zone moves a time from which it is dropped; nanoseconds.
    pub(crate) zone: i128,
    /// Whether the zone of the session is known to be UTC.
    pub(crate) session_in_utc: bool,
}

/// How NaN compares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Nan {
    Greatest,
    Ieee,
    /// By its sign bit, as Arrow's kernels do.
    Total,
    Lowest,
}

/// What an engine takes a literal for that the column's type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rounding {
    None,
    Down,
    Up,
    /// For the nearest float; beside decimals for the decimal of 15 digits behind the point that is made of it. So does
    /// DataFusion.
    Nearest,
}

const HOUR: i128 = 3_600_000_000_000;

impl Engine {
    /// The engines that a plan for `nan_order` must be right for, as far as they differ on columns of these types.
    pub(crate) fn all(nan_order: NanOrder, types: &[PrimitiveType], session_in_utc: bool) -> Vec<Self> {
        let has = |test: fn(&PrimitiveType) -> bool| types.iter().any(test);
        let floats = has(|column_type| column_type.is_float());
        let times = has(|column_type| {
            matches!(column_type, PrimitiveType::Date | PrimitiveType::Timestamp(_) | PrimitiveType::Timestamptz(_))
        });
        let decimals = has(|column_type| matches!(column_type, PrimitiveType::Decimal { .. }));
        let nans: &[Nan] = match nan_order {
            NanOrder::Any if floats => &[Nan::Greatest, Nan::Ieee, Nan::Total, Nan::Lowest],
            NanOrder::Ieee => &[Nan::Ieee],
            NanOrder::Any | NanOrder::Greatest => &[Nan::Greatest],
        };
        let roundings = [Rounding::None, Rounding::Down, Rounding::Up, Rounding::Nearest];
        let zones: &[i128] = if times { &[0, -14 * HOUR, 5 * HOUR, 14 * HOUR] } else { &[0] };
        let mut engines = Vec::new();
        for &nan in nans {
            for &splits_zeros in if floats { &[false, true][..] } else { &[false] } {
                for &rounding in &roundings[..if decimals { 4 } else { 3 }] {
                    let engine = |zone: &i128| Self { nan, splits_zeros, rounding, zone: *zone, session_in_utc };
                    engines.extend(zones.iter().map(engine));
                }
            }
        }
        engines
    }
}

/// A value that can be compared.
#[derive(Clone, Debug)]
enum Datum {
    Null,
    /// What only the engine knows.
    Opaque,
    Boolean(bool),
    Number(Exact),
    /// With its sign, which a number has not.
    Zero {
        negative: bool,
    },
    Infinity {
        negative: bool,
    },
    Nan {
        negative: bool,
    },
    Bytes(Vec<u8>),
    Nanoseconds(i128),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Ordered(Ordering),
    /// Zeros of different sign: equal but for engines that tell them apart in equality.
    Zeros,
    Unordered,
}

/// One row under one engine.
pub(crate) struct Evaluation<'a> {
    pub(crate) engine: Engine,
    pub(crate) columns: &'a [Column],
    pub(crate) row: &'a Row,
    /// Decides what is opaque.
    pub(crate) salt: usize,
}

impl Evaluation<'_> {
    pub(crate) fn predicate(&self, predicate: &Predicate) -> Option<bool> {
        match predicate {
            Predicate::Constant(value) => *value,
            Predicate::Column(name) => match self.row[self.index(name)] {
                Some(Value::Boolean(value)) => Some(value),
                _ => None,
            },
            Predicate::Compare { left, op, right } => self.compare(left, *op, right),
            Predicate::Distinct { left, right, negated } => Some(self.same(left, right) == *negated),
            Predicate::In { expression, list, negated } => {
                let equal = |item| self.compare(expression, CompareOp::Eq, item);
                negate_if(*negated, any(list.iter().map(equal)))
            }
            Predicate::Between { expression, low, high, negated } => {
                let ends =
                    [self.compare(expression, CompareOp::GtEq, low), self.compare(expression, CompareOp::LtEq, high)];
                negate_if(*negated, all(ends.into_iter()))
            }
            Predicate::IsNull { expression, negated } => Some(self.is_null(expression) != *negated),
            Predicate::Like { .. } | Predicate::Holds(_) => {
                panic!("{predicate} is judged by the tests of value expressions")
            }
            Predicate::IsNan(expression) => match self.datum(expression, None) {
                Datum::Null => self.null_or_false(),
                Datum::Opaque => self.opaque(),
                datum => Some(matches!(datum, Datum::Nan { .. })),
            },
            Predicate::StartsWith { expression, prefix } => match self.datum(expression, None) {
                Datum::Null => None,
                Datum::Bytes(bytes) => Some(bytes.starts_with(prefix.as_bytes())),
                _ => self.opaque(),
            },
            Predicate::Contains { .. } => panic!("{predicate} is judged by the test of lists"),
            Predicate::TwoValued { predicate, negated } => {
                negate_if(*negated, self.predicate(predicate).or_else(|| self.null_or_false()))
            }
            Predicate::Is { predicate, value, negated } => {
                let value = match value {
                    TruthValue::True => Some(true),
                    TruthValue::False => Some(false),
                    TruthValue::Unknown => None,
                };
                Some((self.predicate(predicate) == value) != *negated)
            }
            Predicate::Not(inner) => negate_if(true, self.predicate(inner)),
            Predicate::And(parts) => all(parts.iter().map(|part| self.predicate(part))),
            Predicate::Or(parts) => any(parts.iter().map(|part| self.predicate(part))),
            Predicate::Other(_) => self.opaque(),
        }
    }

    fn opaque(&self) -> Option<bool> {
        [Some(true), Some(false), None][self.salt % 3]
    }

    /// Where Iceberg or an engine says false of null, and another null.
    fn null_or_false(&self) -> Option<bool> {
        if self.salt.is_multiple_of(2) { Some(false) } else { None }
    }

    fn index(&self, name: &ColumnName) -> usize {
        self.columns.iter().position(|column| column.path[0] == name.parts[0].text).unwrap()
    }

    fn is_null(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Column(name) => self.row[self.index(name)].is_none(),
            Expression::Literal(_) | Expression::Json(_) => false,
            Expression::Null => true,
            Expression::Other(_) => self.opaque().is_none(),
            computed => panic!("{computed} is judged by the tests of value expressions"),
        }
    }

    fn same(&self, left: &Expression, right: &Expression) -> bool {
        match (self.is_null(left), self.is_null(right)) {
            (true, true) => true,
            (false, false) => self.compare(left, CompareOp::Eq, right).unwrap_or(false),
            _ => false,
        }
    }

    fn compare(&self, left: &Expression, op: CompareOp, right: &Expression) -> Option<bool> {
        let column_type = [left, right].into_iter().find_map(|side| match side {
            Expression::Column(name) => self.columns[self.index(name)].column_type,
            _ => None,
        });
        let relation = match (self.datum(left, column_type), self.datum(right, column_type)) {
            (Datum::Null, _) | (_, Datum::Null) => return None,
            (a, b) => self.relation(&a, &b),
        };
        let Some(relation) = relation else { return self.opaque() };
        let is = |wanted: &[Ordering]| match relation {
            Relation::Ordered(ordering) => wanted.contains(&ordering),
            Relation::Zeros => wanted.contains(&Ordering::Equal),
            Relation::Unordered => false,
        };
        let equal = is(&[Ordering::Equal]) && !(relation == Relation::Zeros && self.engine.splits_zeros);
        Some(match op {
            CompareOp::Eq => equal,
            CompareOp::NotEq => !equal,
            CompareOp::Lt => is(&[Ordering::Less]),
            CompareOp::LtEq => is(&[Ordering::Less, Ordering::Equal]),
            CompareOp::Gt => is(&[Ordering::Greater]),
            CompareOp::GtEq => is(&[Ordering::Greater, Ordering::Equal]),
        })
    }

    /// How two values that are not null compare; `None` if only the engine knows.
    fn relation(&self, a: &Datum, b: &Datum) -> Option<Relation> {
        let sign = |negative: bool| if negative { Ordering::Less } else { Ordering::Greater };
        Some(match (a, b) {
            (Datum::Nan { negative: a }, Datum::Nan { negative: b }) => match self.engine.nan {
                Nan::Ieee => Relation::Unordered,
                Nan::Total => Relation::Ordered(b.cmp(a)),
                Nan::Greatest | Nan::Lowest => Relation::Ordered(Ordering::Equal),
            },
            (Datum::Nan { negative }, _) => match self.engine.nan {
                Nan::Ieee => Relation::Unordered,
                Nan::Total => Relation::Ordered(sign(*negative)),
                Nan::Greatest => Relation::Ordered(Ordering::Greater),
                Nan::Lowest => Relation::Ordered(Ordering::Less),
            },
            (_, Datum::Nan { .. }) => match self.relation(b, a)? {
                Relation::Ordered(ordering) => Relation::Ordered(ordering.reverse()),
                other => other,
            },
            (Datum::Zero { negative: a }, Datum::Zero { negative: b }) if a != b => Relation::Zeros,
            (Datum::Infinity { negative: a }, Datum::Infinity { negative: b }) => Relation::Ordered(b.cmp(a)),
            (Datum::Infinity { negative }, _) => Relation::Ordered(sign(*negative)),
            (_, Datum::Infinity { negative }) => Relation::Ordered(sign(!negative)),
            (Datum::Boolean(a), Datum::Boolean(b)) => Relation::Ordered(a.cmp(b)),
            (Datum::Bytes(a), Datum::Bytes(b)) => Relation::Ordered(a.cmp(b)),
            (Datum::Nanoseconds(a), Datum::Nanoseconds(b)) => Relation::Ordered(a.cmp(b)),
            (Datum::Number(_) | Datum::Zero { .. }, Datum::Number(_) | Datum::Zero { .. }) => {
                Relation::Ordered(a.number().compare(&b.number()))
            }
            _ => return None,
        })
    }

    fn datum(&self, expression: &Expression, column_type: Option<PrimitiveType>) -> Datum {
        match expression {
            Expression::Column(name) => {
                let index = self.index(name);
                cell(self.row[index].as_ref(), self.columns[index].column_type.unwrap())
            }
            Expression::Literal(literal) => self.literal(literal, column_type),
            Expression::Json(literal) => self.json(literal, column_type),
            Expression::Null => Datum::Null,
            Expression::Other(_) if self.opaque().is_none() => Datum::Null,
            Expression::Other(_) => Datum::Opaque,
            computed => panic!("{computed} is judged by the tests of value expressions"),
        }
    }

    /// A literal as the engine takes it beside a column of this type.
    fn literal(&self, literal: &Literal, column_type: Option<PrimitiveType>) -> Datum {
        match (literal, column_type) {
            (Literal::Text(text), Some(column_type)) => self.text(text, column_type),
            (Literal::Text(text), None) => Datum::Bytes(text.as_bytes().to_vec()),
            (Literal::Boolean(value), _) => Datum::Boolean(*value),
            (Literal::Number(number), _) => self.number(&number.to_string(), column_type),
            (Literal::Bytes(bytes), _) => Datum::Bytes(bytes.clone()),
            (Literal::Date(days), Some(column_type)) => {
                self.moment(i128::from(*days) * 24 * HOUR, LiteralZone::Local, column_type)
            }
            (Literal::Timestamp { nanoseconds, zone }, Some(column_type)) => {
                self.moment(*nanoseconds, *zone, column_type)
            }
            _ => Datum::Opaque,
        }
    }

    /// A literal of JSON as the clients that send it mean it.
    fn json(&self, literal: &JsonLiteral, column_type: Option<PrimitiveType>) -> Datum {
        use PrimitiveType as T;
        match (&literal.scalar, column_type) {
            (JsonScalar::Boolean(value), Some(T::Boolean)) => Datum::Boolean(*value),
            (JsonScalar::Integer(days), Some(T::Date)) => Datum::Nanoseconds(days * 24 * HOUR),
            (JsonScalar::Integer(micros), Some(T::Timestamp(_) | T::Timestamptz(_))) => {
                let nanoseconds = micros * 1_000;
                let zone = if matches!(column_type, Some(T::Timestamptz(_))) {
                    LiteralZone::Offset
                } else {
                    LiteralZone::Local
                };
                column_type.map_or(Datum::Opaque, |column_type| self.moment(nanoseconds, zone, column_type))
            }
            (JsonScalar::Integer(value), Some(number)) if is_number(number) => {
                self.number(&value.to_string(), column_type)
            }
            (JsonScalar::Float(value), Some(number)) if number.is_float() => {
                self.number(&format!("{value:?}"), column_type)
            }
            (JsonScalar::Text(text), Some(T::Binary)) => {
                prunus_statistics::parse_hex(text).map_or(Datum::Opaque, Datum::Bytes)
            }
            (JsonScalar::Text(text), Some(zoned @ T::Timestamptz(_))) => match Literal::timestamptz(text) {
                Some(Literal::Timestamp { nanoseconds, .. }) => self.moment(nanoseconds, LiteralZone::Offset, zoned),
                _ => Datum::Opaque,
            },
            (JsonScalar::Text(text), Some(T::Date | T::Timestamp(_))) if Literal::timestamptz(text).is_none() => {
                Datum::Opaque
            }
            (JsonScalar::Text(text), Some(column_type)) => self.text(text, column_type),
            _ => Datum::Opaque,
        }
    }

    fn text(&self, text: &str, column_type: PrimitiveType) -> Datum {
        match column_type {
            PrimitiveType::String => Datum::Bytes(text.as_bytes().to_vec()),
            PrimitiveType::Boolean => Datum::Boolean(text == "true"),
            PrimitiveType::Uuid => {
                let digits = text.replace('-', "");
                Datum::Bytes(u128::from_str_radix(&digits, 16).unwrap().to_be_bytes().to_vec())
            }
            PrimitiveType::Date | PrimitiveType::Timestamp(_) | PrimitiveType::Timestamptz(_) => {
                self.literal(&Literal::timestamptz(text).unwrap(), Some(column_type))
            }
            PrimitiveType::Binary => Datum::Opaque,
            _ => match text.trim_start_matches('-').to_lowercase().as_str() {
                "nan" => Datum::Nan { negative: text.starts_with('-') },
                "inf" | "infinity" => Datum::Infinity { negative: text.starts_with('-') },
                // DataFusion takes a quoted number for one of the column's own type.
                _ if self.engine.rounding == Rounding::Nearest && column_type == PrimitiveType::Float32 => {
                    Datum::of_float(text.parse::<f32>().unwrap().into())
                }
                _ if self.engine.rounding == Rounding::Nearest && !column_type.is_float() => {
                    Datum::Number(Exact::parse(text))
                }
                _ => self.number(text, Some(column_type)),
            },
        }
    }

    fn number(&self, text: &str, column_type: Option<PrimitiveType>) -> Datum {
        let exact = Exact::parse(text);
        let neighbours = match column_type {
            Some(PrimitiveType::Float32) => neighbours(text.parse::<f32>().unwrap(), &exact),
            // Without a column it may be taken for a double.
            Some(PrimitiveType::Float64) | None => neighbours(text.parse::<f64>().unwrap(), &exact),
            Some(PrimitiveType::Decimal { scale, .. }) => {
                let (low, high) = exact.neighbours(scale);
                (Datum::Number(low), Datum::Number(high))
            }
            // Engines agree that an integer and a fraction compare exactly.
            _ => (Datum::Number(exact.clone()), Datum::Number(exact.clone())),
        };
        let zero = Exact::parse("0");
        match self.engine.rounding {
            Rounding::Nearest => nearest(text, column_type),
            Rounding::None if exact == zero && column_type.is_some_and(PrimitiveType::is_float) => {
                Datum::Zero { negative: false }
            }
            Rounding::None => Datum::Number(exact),
            Rounding::Down => neighbours.0,
            Rounding::Up => neighbours.1,
        }
    }

    fn moment(&self, nanoseconds: i128, zone: LiteralZone, column_type: PrimitiveType) -> Datum {
        let zoned = matches!(column_type, PrimitiveType::Timestamptz(_));
        let meant = match (zone, zoned) {
            (LiteralZone::Local, true) if self.engine.session_in_utc => nanoseconds,
            (LiteralZone::Local, true) | (LiteralZone::Offset, false) => nanoseconds + self.engine.zone,
            (LiteralZone::Local, false) | (LiteralZone::Offset, true) => nanoseconds,
            (LiteralZone::DoubtfulOffset, _) => nanoseconds + 2 * self.engine.zone,
        };
        let unit = unit(column_type);
        Datum::Nanoseconds(match self.engine.rounding {
            Rounding::None | Rounding::Nearest => meant,
            Rounding::Down => meant.div_euclid(unit) * unit,
            Rounding::Up => -(-meant).div_euclid(unit) * unit,
        })
    }
}

impl Datum {
    fn number(&self) -> Exact {
        match self {
            Self::Number(exact) => exact.clone(),
            _ => Exact::parse("0"),
        }
    }

    fn of_float(value: f64) -> Self {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            Self::Nan { negative }
        } else if value.is_infinite() {
            Self::Infinity { negative }
        } else if value == 0.0 {
            Self::Zero { negative }
        } else {
            Self::Number(Exact::of_float(value))
        }
    }
}

/// A number as the nearest float, where it is written as one or meets floats; beside a decimal as the decimal that this makes.
fn nearest(text: &str, column_type: Option<PrimitiveType>) -> Datum {
    let float: f64 = text.parse().unwrap();
    let is_float = Number::parse(text).is_some_and(Number::is_float_notation);
    let scaled = (float * 1e15).round();
    match column_type {
        Some(PrimitiveType::Decimal { .. }) if is_float && scaled.abs() < 1e30 => {
            Datum::Number(Exact::of_scaled(scaled as i128, 15))
        }
        Some(PrimitiveType::Float32 | PrimitiveType::Float64) => Datum::of_float(float),
        None if is_float => Datum::of_float(float),
        _ => Datum::Number(Exact::parse(text)),
    }
}

fn is_number(column_type: PrimitiveType) -> bool {
    column_type.is_integer() || column_type.is_float() || matches!(column_type, PrimitiveType::Decimal { .. })
}

fn cell(value: Option<&Value>, column_type: PrimitiveType) -> Datum {
    match (value, column_type) {
        (None, _) => Datum::Null,
        (Some(Value::Boolean(value)), _) => Datum::Boolean(*value),
        (Some(Value::Float(value)), _) => Datum::of_float(*value),
        (Some(Value::Bytes(bytes)), _) => Datum::Bytes(bytes.clone()),
        (Some(Value::Integer(value)), PrimitiveType::Decimal { scale, .. }) => {
            Datum::Number(Exact::of_scaled(*value, scale))
        }
        (Some(Value::Integer(value)), _) if column_type.is_integer() => Datum::Number(Exact::of_scaled(*value, 0)),
        (Some(Value::Integer(value)), _) => Datum::Nanoseconds(value * unit(column_type)),
    }
}

/// The floats of a width at or below and at or above a number, given the nearest.
fn neighbours<T: Float>(nearest: T, exact: &Exact) -> (Datum, Datum) {
    let ordering = match nearest.wide() {
        wide if wide.is_infinite() => wide.total_cmp(&0.0),
        wide => Exact::of_float(wide).compare(exact),
    };
    let (low, high) = match ordering {
        Ordering::Less => (nearest.wide(), nearest.above()),
        Ordering::Equal => (nearest.wide(), nearest.wide()),
        Ordering::Greater => (nearest.below(), nearest.wide()),
    };
    (Datum::of_float(low), Datum::of_float(high))
}

trait Float: Copy {
    fn wide(self) -> f64;
    fn above(self) -> f64;
    fn below(self) -> f64;
}

impl Float for f32 {
    fn wide(self) -> f64 {
        self.into()
    }
    fn above(self) -> f64 {
        self.next_up().into()
    }
    fn below(self) -> f64 {
        self.next_down().into()
    }
}

impl Float for f64 {
    fn wide(self) -> f64 {
        self
    }
    fn above(self) -> f64 {
        self.next_up()
    }
    fn below(self) -> f64 {
        self.next_down()
    }
}

fn negate_if(negated: bool, value: Option<bool>) -> Option<bool> {
    value.map(|value| value != negated)
}

fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for part in parts {
        match part {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}

fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    negate_if(true, all(parts.map(|part| negate_if(true, part))))
}
