//! Expressions, predicates, rows and statistics at random.

use std::cmp::Ordering;

use prunus_pruner::{
    CastKind, Column, ColumnName, CompareOp, DatePart, DateUnit, Expression, Function, IntervalLiteral, Predicate,
};
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, Literal, LiteralZone, Number, Precision, PrimitiveType,
    Provenance, TimeUnit, Value, ZoneMap,
};

use super::engine::{Cell, DAY, Width};

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

pub(crate) const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "s", "t", "z", "u", "k"];

pub(crate) fn columns() -> Vec<Column> {
    let types = [
        "int8",
        "int8",
        "int64",
        "decimal(9,2)",
        "decimal(30,4)",
        "float64",
        "float32",
        "string",
        "timestamp(us)",
        "timestamptz(us)",
        "date",
        "boolean",
    ];
    let column = |(id, (name, column_type)): (i32, (&str, &str))| Column {
        id: FieldId(id),
        path: vec![name.to_owned()],
        column_type: Some(column_type.parse().unwrap()),
        items: Vec::new(),
    };
    (1..).zip(NAMES.into_iter().zip(types)).map(column).collect()
}

const TEXTS: [&str; 10] = ["", "a", "ab", "aba", "abc", "a%b", "a_c", "b", "7", "-12"];
const MOMENTS: [i128; 9] = [
    -1_800_000_000,
    0,
    1,
    951_782_400_000_000,
    951_868_799_999_999,
    1_709_164_800_123_456,
    1_709_251_199_999_999,
    1_709_251_200_000_000,
    1_735_689_600_000_000,
];

fn palette(column: usize) -> Vec<Value> {
    let integers = |list: &[i128]| list.iter().copied().map(Value::Integer).collect();
    match column {
        0 | 1 => integers(&[-128, -127, -100, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 9, 64, 100, 126, 127]),
        2 => integers(&[
            i64::MIN.into(),
            i64::MIN as i128 + 1,
            -3,
            -1,
            0,
            1,
            2,
            5,
            8,
            9,
            100,
            16_777_217,
            9_007_199_254_740_993,
            i64::MAX as i128 - 1,
            i64::MAX.into(),
        ]),
        3 => integers(&[
            -999_999_999,
            -150,
            -101,
            -50,
            -1,
            0,
            1,
            7,
            10,
            20,
            30,
            50,
            99,
            100,
            149,
            150,
            250,
            300,
            999_999_999,
        ]),
        4 => integers(&[
            -123_456_789_012_345_678_901_234_567_890,
            -15_000,
            -1,
            0,
            1,
            3_333,
            5_000,
            10_000,
            15_000,
            25_001,
            123_456_789_012_345_678_901_234_567_889,
            123_456_789_012_345_678_901_234_567_890,
        ]),
        5 => [
            f64::NEG_INFINITY,
            -1e300,
            -2.5,
            -1.5,
            -1.0,
            -0.0,
            0.0,
            0.1,
            0.2,
            0.3,
            0.5,
            1.0,
            1.5,
            2.0,
            2.5,
            3.0,
            127.5,
            1e20,
            1e300,
            f64::INFINITY,
            f64::NAN,
            -f64::NAN,
        ]
        .map(Value::Float)
        .to_vec(),
        6 => [
            f32::NEG_INFINITY,
            f32::MIN,
            -1.5,
            -0.0,
            0.0,
            0.1,
            0.2,
            0.3,
            0.5,
            1.0,
            2.0,
            2.5,
            3.0,
            16_777_216.0,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
            -f32::NAN,
        ]
        .map(|value| Value::Float(value.into()))
        .to_vec(),
        7 => TEXTS.iter().map(|text| Value::Bytes(text.as_bytes().to_vec())).collect(),
        8 | 9 => integers(&MOMENTS),
        10 => integers(&[-1, 0, 1, 11_016, 11_017, 19_782, 19_783, 20_089]),
        _ => [false, true].map(Value::Boolean).to_vec(),
    }
}

/// A row; values come from a narrow part of the palettes so that containers prune.
pub(crate) fn rows(random: &mut Random) -> Vec<Vec<Option<Value>>> {
    let count = random.below(9);
    let columns: Vec<(Vec<Value>, usize)> = (0..NAMES.len())
        .map(|column| {
            let palette = palette(column);
            let start = random.below(palette.len());
            let end = (start + 1 + random.of(&[0, 0, 1, 2, 30])).min(palette.len());
            (palette[start..end].to_vec(), random.of(&[usize::MAX, usize::MAX, 4, 1]))
        })
        .collect();
    let cell = |random: &mut Random, (values, nulls): &(Vec<Value>, usize)| {
        (!random.once_in(*nulls)).then(|| random.of(values))
    };
    (0..count).map(|_| columns.iter().map(|column| cell(random, column)).collect()).collect()
}

pub(crate) fn cells(row: &[Option<Value>]) -> Vec<(&'static str, Cell)> {
    let cell = |(column, value): (usize, &Option<Value>)| match (column, value.clone()) {
        (_, None) => Cell::Null,
        (0 | 1, Some(Value::Integer(value))) => Cell::Integer(value, 8),
        (2, Some(Value::Integer(value))) => Cell::Integer(value, 64),
        (3, Some(Value::Integer(units))) => Cell::Decimal(units, 2),
        (4, Some(Value::Integer(units))) => Cell::Decimal(units, 4),
        (8, Some(Value::Integer(units))) => Cell::Timestamp(units * 1_000),
        (9, Some(Value::Integer(units))) => Cell::Timestamptz(units * 1_000),
        (10, Some(Value::Integer(days))) => Cell::Date(days),
        (5, Some(Value::Float(value))) => Cell::Float(value, Width::Double),
        (_, Some(Value::Float(value))) => Cell::Float(value, Width::Single),
        (_, Some(Value::Bytes(text))) => Cell::Text(String::from_utf8(text).unwrap()),
        (_, Some(Value::Boolean(value))) => Cell::Boolean(value),
        (_, Some(Value::Integer(_))) => unreachable!(),
    };
    row.iter().enumerate().map(cell).enumerate().map(|(column, cell)| (NAMES[column], cell)).collect()
}

/// What is told of a column: true, and often less than all.
pub(crate) fn zone(
    random: &mut Random,
    column: usize,
    column_type: PrimitiveType,
    rows: &[Vec<Option<Value>>],
    count: Option<u64>,
) -> ZoneMap {
    let cells: Vec<&Value> = rows.iter().filter_map(|row| row[column].as_ref()).collect();
    let values: Vec<&Value> = cells.iter().copied().filter(|value| !value.is_nan()).collect();
    let mut bound = |outward: Ordering| {
        let extreme = values.iter().copied().reduce(|a, b| if b.compare(a) == Some(outward) { b } else { a })?.clone();
        let value = match (random.below(8), &extreme) {
            (0, _) => return None,
            (1, Value::Integer(value)) if column > 1 => Value::Integer(value + if outward.is_lt() { -1 } else { 1 })
                .fits(column_type)
                .then(|| Value::Integer(value + if outward.is_lt() { -1 } else { 1 }))?,
            _ => extreme,
        };
        Some(Bound { value, precision: Precision::Bound, provenance: Provenance::Footer })
    };
    let (min, max) = (bound(Ordering::Less), bound(Ordering::Greater));
    let mut number =
        |value: usize| (!random.once_in(8)).then_some(Count { value: value as u64, provenance: Provenance::Footer });
    let statistics = ColumnStatistics {
        min,
        max,
        null_count: number(rows.len() - cells.len()),
        nan_count: number(cells.len() - values.len()),
    };
    ZoneMap::of_file(Some(&FileColumn::Present(statistics)), column_type, count)
}

fn column(name: &str) -> Expression {
    Expression::Column(match Predicate::parse_sql(name).unwrap() {
        Predicate::Column(name) => name,
        _ => ColumnName::exact([name]),
    })
}

fn number(text: &str) -> Expression {
    Expression::Literal(Literal::Number(Number::parse(text).unwrap()))
}

fn call(function: Function, arguments: Vec<Expression>) -> Expression {
    Expression::Call { function, arguments }
}

fn number_literal(random: &mut Random) -> Expression {
    number(random.of(&[
        "0",
        "1",
        "2",
        "3",
        "-1",
        "-2",
        "7",
        "8",
        "10",
        "100",
        "127",
        "128",
        "200",
        "-128",
        "300",
        "0.1",
        "0.5",
        "1.0",
        "1.5",
        "0.3",
        "2.0",
        "-0.5",
        "0.25",
        "1.005",
        "16777216",
        "9007199254740992.0",
        "12345678901234567890123456.7889",
        "9223372036854775807",
    ]))
}

fn cast(random: &mut Random, expression: Expression, target: PrimitiveType) -> Expression {
    let kind = random.of(&[CastKind::Cast, CastKind::TryCast]);
    Expression::Cast { expression: Box::new(expression), target, kind }
}

/// A number.
fn numeric(random: &mut Random, depth: usize) -> Expression {
    use Function as F;
    use PrimitiveType as T;
    if depth == 0 {
        return if random.once_in(4) {
            number_literal(random)
        } else {
            column(random.of(&["a", "a", "b", "c", "d", "e", "f", "g"]))
        };
    }
    let one = |random: &mut Random| numeric(random, depth - 1);
    match random.below(14) {
        0..=4 => {
            let function = random.of(&[F::Add, F::Subtract, F::Multiply, F::Divide, F::Remainder]);
            call(function, vec![one(random), if random.once_in(2) { number_literal(random) } else { one(random) }])
        }
        5 => match one(random) {
            literal @ Expression::Literal(_) => literal,
            operand => call(F::Negate, vec![operand]),
        },
        6 | 7 => {
            let function = random.of(&[F::Abs, F::Floor, F::Ceil, F::Round, F::Trunc, F::Sqrt, F::Ln, F::Exp]);
            call(function, vec![one(random)])
        }
        8 => {
            let target = random.of(&[
                T::Int8,
                T::Int32,
                T::Int64,
                T::Float32,
                T::Float64,
                T::decimal(9, 1).unwrap(),
                T::decimal(20, 6).unwrap(),
            ]);
            let operand = one(random);
            cast(random, operand, target)
        }
        9 => match random.below(3) {
            0 => cast(random, column("k"), T::Int32),
            1 => cast(random, column("s"), T::Int32),
            _ => call(random.of(&[F::Length, F::CharLength]), vec![text(random)]),
        },
        10 => call(random.of(&[F::Coalesce, F::Greatest, F::Least]), vec![one(random), one(random)]),
        11 => call(F::NullIf, vec![one(random), one(random)]),
        12 => case(random, depth, numeric),
        _ => {
            let part = random.of(&[
                DatePart::Year,
                DatePart::Quarter,
                DatePart::Month,
                DatePart::Day,
                DatePart::DayOfWeek,
                DatePart::DayOfYear,
                DatePart::Hour,
                DatePart::Minute,
                DatePart::Second,
                DatePart::Epoch,
            ]);
            call(F::Extract(part), vec![moment(random, depth - 1)])
        }
    }
}

fn case(random: &mut Random, depth: usize, value: fn(&mut Random, usize) -> Expression) -> Expression {
    let branches = (0..=random.below(2)).map(|_| (predicate(random, depth - 1), value(random, depth - 1))).collect();
    let otherwise = (!random.once_in(3)).then(|| Box::new(value(random, depth - 1)));
    Expression::Case { branches, otherwise }
}

fn text(random: &mut Random) -> Expression {
    let literal = Expression::Literal(Literal::Text(random.of(&TEXTS).to_owned()));
    match random.below(6) {
        0 => call(Function::Coalesce, vec![column("s"), literal]),
        1 => call(Function::NullIf, vec![column("s"), literal]),
        _ => column("s"),
    }
}

fn moment_literal(random: &mut Random) -> Expression {
    let nanoseconds = random.of(&MOMENTS) * 1_000;
    Expression::Literal(match random.below(4) {
        0 => Literal::Date(nanoseconds.div_euclid(DAY) as i64),
        1 => Literal::Timestamp { nanoseconds, zone: LiteralZone::Offset },
        _ => Literal::Timestamp { nanoseconds: nanoseconds.div_euclid(DAY) * DAY, zone: LiteralZone::Local },
    })
}

fn moment(random: &mut Random, depth: usize) -> Expression {
    use DateUnit as U;
    use PrimitiveType as T;
    if depth == 0 {
        return column(random.of(&["t", "t", "z", "u"]));
    }
    if random.once_in(3) {
        return moved(random, depth - 1);
    }
    let operand = moment(random, depth - 1);
    match random.below(7) {
        0..=2 => {
            let unit = random.of(&[
                U::Millisecond,
                U::Second,
                U::Minute,
                U::Hour,
                U::Day,
                U::Week,
                U::Month,
                U::Quarter,
                U::Year,
            ]);
            call(Function::DateTrunc(unit), vec![operand])
        }
        3 => cast(random, operand, T::Date),
        4 => cast(random, operand, T::Timestamp(TimeUnit::Microsecond)),
        5 => cast(random, operand, T::Timestamptz(TimeUnit::Microsecond)),
        _ => case(random, depth, moment),
    }
}

/// A date or timestamp plus or minus an interval.
fn moved(random: &mut Random, depth: usize) -> Expression {
    use DateUnit as U;
    let (text, unit) = match random.below(3) {
        0 => (random.of(&["1 hour", "1 month -1 days", "1 day 2 hours", "1 year 1 microsecond"]), None),
        1 => (random.of(&["1", "-1", "11", "12000"]), Some(random.of(&[U::Month, U::Quarter, U::Year]))),
        _ => {
            let units = [U::Week, U::Day, U::Hour, U::Minute, U::Second, U::Millisecond, U::Microsecond];
            (random.of(&["1", "-1", "7", "36", "100000"]), Some(random.of(&units)))
        }
    };
    let interval = Expression::Interval(IntervalLiteral::parse(text, unit).unwrap());
    let operand = if random.once_in(3) { moment_literal(random) } else { moment(random, depth) };
    match random.below(3) {
        0 => call(Function::Subtract, vec![operand, interval]),
        1 => call(Function::Add, vec![interval, operand]),
        _ => call(Function::Add, vec![operand, interval]),
    }
}

fn compare_op(random: &mut Random) -> CompareOp {
    use CompareOp as C;
    random.of(&[C::Eq, C::NotEq, C::Lt, C::LtEq, C::Gt, C::GtEq])
}

/// A predicate over computed values.
pub(crate) fn predicate(random: &mut Random, depth: usize) -> Predicate {
    let sub = depth.saturating_sub(1);
    let negated = random.once_in(2);
    match random.below(14) {
        0 if depth > 0 => Predicate::Not(Box::new(predicate(random, sub))),
        1 if depth > 0 => Predicate::And(vec![plain(random, sub), plain(random, sub)]),
        2 if depth > 0 => Predicate::Or(vec![plain(random, sub), plain(random, sub)]),
        _ => plain(random, depth),
    }
    .negated_if(negated && random.once_in(3))
}

/// A conjunction or disjunction of several predicates, of which some may be proven or refuted.
pub(crate) fn conjunction(random: &mut Random) -> Predicate {
    let parts = |random: &mut Random, count| (0..count).map(|_| plain(random, 1)).collect();
    let first = if random.once_in(2) { Predicate::Or(parts(random, 2)) } else { plain(random, 1) };
    let mut all: Vec<Predicate> = parts(random, 2);
    all.push(first);
    Predicate::And(all)
}

trait Negated {
    fn negated_if(self, negated: bool) -> Self;
}

impl Negated for Predicate {
    fn negated_if(self, negated: bool) -> Self {
        if negated { Self::Not(Box::new(self)) } else { self }
    }
}

fn plain(random: &mut Random, depth: usize) -> Predicate {
    let negated = random.once_in(2);
    let tested = numeric(random, depth);
    match random.below(13) {
        0..=3 => Predicate::Compare { left: tested, op: compare_op(random), right: number_literal(random) },
        4 => Predicate::Compare { left: tested, op: compare_op(random), right: numeric(random, depth) },
        5 => {
            let right = if random.once_in(3) { moved(random, 0) } else { moment_literal(random) };
            Predicate::Compare { left: moment(random, depth), op: compare_op(random), right }
        }
        6 => Predicate::Compare { left: moment(random, depth), op: compare_op(random), right: moment(random, depth) },
        7 => {
            let pattern =
                random.of(&["a%", "%", "ab", "a%b", "a_%", "ab\\%", "a!%%", "_b_", "a!_c", "", "b%%"]).to_owned();
            let expression = text(random);
            Predicate::Like { expression, pattern, escape: random.of(&[None, Some('!')]), negated }
        }
        8 => match random.below(5) {
            0 => Predicate::IsNan(tested),
            1 => Predicate::Compare {
                left: cast(random, column("t"), PrimitiveType::Time(TimeUnit::Nanosecond)),
                op: compare_op(random),
                right: Expression::Literal(Literal::Time(random.of(&[0, 43_200_000_000_000, 1_000_000_000]))),
            },
            2 => Predicate::Holds(cast(random, tested, PrimitiveType::Boolean)),
            3 => Predicate::Holds(call(
                Function::Coalesce,
                vec![column("k"), Expression::Literal(Literal::Boolean(negated))],
            )),
            _ => Predicate::Compare { left: text(random), op: compare_op(random), right: text(random) },
        },
        9 => Predicate::IsNull { expression: tested, negated },
        10 => Predicate::Distinct { left: tested, right: numeric(random, depth), negated },
        11 => Predicate::In { expression: tested, list: vec![number_literal(random), numeric(random, 0)], negated },
        _ => Predicate::Between {
            expression: tested,
            low: number_literal(random),
            high: number_literal(random),
            negated,
        },
    }
}
