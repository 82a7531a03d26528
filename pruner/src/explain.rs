//! Why a container was kept or skipped, for people.

use std::fmt;

use prunus_statistics::{FieldId, PrimitiveType, Value};

use crate::bind::BoundColumn;
use crate::evaluate::may_be;
use crate::kernels::Item;
use crate::mask::Mask;
use crate::outcome::OutcomeSet;
use crate::program::{Conjunct, Leaf, Node, PruningProgram, Test, ValueTest};
use crate::selection::Verdict;
use crate::zone_maps::ZoneMaps;

/// What a program finds of one container, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What is proven of it.
    pub verdict: Verdict,
    /// The conjunct that the container is skipped for; `None` if it is kept, or has no rows.
    pub pruned_by: Option<usize>,
    /// What each conjunct contributes, in the order of the filter.
    pub conjuncts: Vec<ConjunctExplanation>,
}

/// What is found of one conjunct in one container.
#[derive(Clone, Debug, PartialEq)]
pub struct ConjunctExplanation {
    /// Its text.
    pub expression: String,
    /// What it may be on the container's rows; nothing else is possible.
    pub outcomes: Vec<Outcome>,
    /// What is known of the columns that it reads, each once.
    pub columns: Vec<ColumnFacts>,
    /// All of it as a sentence.
    pub sentence: String,
}

/// What a condition may be on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Outcome {
    True,
    False,
    Null,
}

/// What may be relied on of a column in one container.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFacts {
    /// The column.
    pub id: FieldId,
    /// Its name, parts joined by dots.
    pub name: String,
    /// Its type.
    pub column_type: PrimitiveType,
    /// No value lies below it; `None` if it is not known.
    pub min: Option<Value>,
    /// No value lies above it; `None` if it is not known.
    pub max: Option<Value>,
    /// Whether there are nulls.
    pub nulls: Presence,
    /// Whether there are NaNs.
    pub nans: Presence,
    /// Whether there are values that are neither null nor NaN.
    pub values: Presence,
}

/// Whether something occurs in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It does not.
    No,
    /// It does, or did before rows were deleted.
    Yes,
    /// It is not known.
    Unknown,
}

impl Outcome {
    /// Its name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Null => "null",
        }
    }
}

impl PruningProgram {
    /// Explains what the program finds of the container at `index`.
    pub fn explain(&self, zones: &ZoneMaps, index: usize) -> Explanation {
        let selection = self.evaluate(zones);
        let is_in = |conjunct: &usize| selection.pruned_by(*conjunct).is_some_and(|mask| mask.contains(index));
        Explanation {
            verdict: selection.verdict(index),
            pruned_by: (0..self.conjuncts().len()).find(is_in),
            conjuncts: self.conjuncts().iter().map(|conjunct| explain(conjunct, zones, index)).collect(),
        }
    }
}

fn explain(conjunct: &Conjunct, zones: &ZoneMaps, index: usize) -> ConjunctExplanation {
    let alone = Alone { zones, index };
    let all =
        [(Outcome::True, OutcomeSet::TRUE), (Outcome::False, OutcomeSet::FALSE), (Outcome::Null, OutcomeSet::NULL)];
    let outcomes: Vec<Outcome> = all
        .into_iter()
        .filter(|(_, set)| alone.has_rows() && alone.may_be(&conjunct.node, *set))
        .map(|(outcome, _)| outcome)
        .collect();
    let mut columns: Vec<ColumnFacts> = Vec::new();
    for column in conjunct.node.columns() {
        if columns.iter().all(|earlier| earlier.id != column.id) {
            columns.push(ColumnFacts::at(column, zones, index));
        }
    }
    // In the order of the filter, where a long one was not cut before it.
    columns.sort_by_key(|facts| conjunct.expression.find(&facts.name).unwrap_or(usize::MAX));
    let sentence = alone.sentence(conjunct, &outcomes, &columns);
    ConjunctExplanation { expression: conjunct.expression.clone(), outcomes, columns, sentence }
}

/// One container.
#[derive(Clone, Copy)]
struct Alone<'a> {
    zones: &'a ZoneMaps,
    index: usize,
}

impl Alone<'_> {
    fn mask(self) -> Mask {
        Mask::from_fn(self.zones.containers(), |index| index == self.index)
    }

    fn has_rows(self) -> bool {
        self.zones.with_rows().contains(self.index)
    }

    fn may_be(self, node: &Node, asked: OutcomeSet) -> bool {
        may_be(node, asked, self.zones, &self.mask()).contains(self.index)
    }

    fn sentence(self, conjunct: &Conjunct, outcomes: &[Outcome], columns: &[ColumnFacts]) -> String {
        let what = match outcomes {
            [] => return format!("`{}` is tested on no row: there is none", conjunct.expression),
            [Outcome::True] => "is true on every row",
            [Outcome::False] => "is false on every row",
            [Outcome::Null] => "is null on every row",
            [Outcome::False, Outcome::Null] => "is true on no row",
            [Outcome::True, ..] if !self.may_be(&without_nans(&conjunct.node), OutcomeSet::TRUE) => {
                "may be true of NaNs alone"
            }
            _ => "may be true",
        };
        let mut reasons: Vec<String> = Vec::new();
        let decides = !outcomes.contains(&Outcome::True);
        if let (true, Node::Leaf(leaf), [facts]) = (decides, &conjunct.node, columns)
            && let Some(bound) = self.deciding_bound(leaf, facts)
        {
            reasons.push(bound);
        } else {
            reasons.extend(columns.iter().map(ColumnFacts::to_string));
        }
        if outcomes.len() > 1 && outcomes.contains(&Outcome::True) {
            reasons.extend(conjunct.unsupported.clone());
        }
        match (&conjunct.unsupported, columns, reasons.is_empty()) {
            (Some(reason), [], _) if outcomes.len() > 1 => {
                format!("`{}` cannot be judged: {reason}", conjunct.expression)
            }
            (_, _, true) => format!("`{}` {what}", conjunct.expression),
            _ => format!("`{}` {what}: {}", conjunct.expression, reasons.join("; ")),
        }
    }

    /// The one bound for which no value passes a test, if there is one.
    fn deciding_bound(self, leaf: &Leaf, facts: &ColumnFacts) -> Option<String> {
        let decides = |test: Test| {
            let half = Node::Leaf(Leaf { column: leaf.column.clone(), test, on_nan: leaf.on_nan });
            !self.may_be(&half, OutcomeSet::TRUE)
        };
        if facts.values == Presence::No {
            return None;
        }
        let name = &facts.name;
        match (&facts.min, &facts.max) {
            (_, Some(max)) if leaf.test.of_end(Side::Lower).is_some_and(decides) => {
                Some(format!("the largest `{name}` is {}", shown(max, facts.column_type)))
            }
            (Some(min), _) if leaf.test.of_end(Side::Upper).is_some_and(decides) => {
                Some(format!("the smallest `{name}` is {}", shown(min, facts.column_type)))
            }
            _ => None,
        }
    }
}

/// The same, were there no NaN in any column.
fn without_nans(node: &Node) -> Node {
    let all = |nodes: &[Node]| nodes.iter().map(without_nans).collect();
    match node {
        Node::Leaf(leaf) => Node::Leaf(Leaf { on_nan: OutcomeSet::NONE, ..leaf.clone() }),
        Node::Not(inner) => Node::Not(Box::new(without_nans(inner))),
        Node::Is(inner, matching) => Node::Is(Box::new(without_nans(inner)), *matching),
        Node::TwoValued(inner) => Node::TwoValued(Box::new(without_nans(inner))),
        Node::All(parts) => Node::All(all(parts)),
        Node::Any(parts) => Node::Any(all(parts)),
        Node::Value(..) | Node::Constant(_) | Node::Unknown => node.clone(),
    }
}

/// An end of a range.
#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

impl Test {
    /// The test of one end of a range, if the test is one and has that end.
    fn of_end(&self, side: Side) -> Option<Self> {
        match self {
            Self::Int32(test) => test.of_end(side).map(Self::Int32),
            Self::Int64(test) => test.of_end(side).map(Self::Int64),
            Self::UInt64(test) => test.of_end(side).map(Self::UInt64),
            Self::Float64(test) => test.of_end(side).map(Self::Float64),
            Self::Int128(test) => test.of_end(side).map(Self::Int128),
            Self::Bytes(test) => test.of_end(side).map(Self::Bytes),
            _ => None,
        }
    }
}

impl<T: Item + Clone> ValueTest<T> {
    fn of_end(&self, side: Side) -> Option<Self> {
        match (self, side) {
            (Self::Range { lower: lower @ Some(_), .. }, Side::Lower) => {
                Some(Self::Range { lower: lower.clone(), upper: None })
            }
            (Self::Range { upper: upper @ Some(_), .. }, Side::Upper) => {
                Some(Self::Range { lower: None, upper: upper.clone() })
            }
            _ => None,
        }
    }
}

impl ColumnFacts {
    fn at(column: &BoundColumn, zones: &ZoneMaps, index: usize) -> Self {
        let BoundColumn { id, name, column_type } = column.clone();
        let unknown = Presence::Unknown;
        let nothing =
            Self { id, name, column_type, min: None, max: None, nulls: unknown, nans: unknown, values: unknown };
        let Some(zones) = zones.column(id) else { return nothing };
        let (min, max) = zones.bounds.at(index);
        let presence = |may: &Mask, known: &Mask| match (may.contains(index), known.contains(index)) {
            (false, _) => Presence::No,
            (true, true) => Presence::Yes,
            (true, false) => Presence::Unknown,
        };
        Self {
            min,
            max,
            nulls: presence(&zones.may_be_null, &zones.null_count_known),
            nans: presence(&zones.may_be_nan, &zones.nan_count_known),
            values: if zones.may_have_value.contains(index) { Presence::Unknown } else { Presence::No },
            ..nothing
        }
    }
}

/// The facts as a clause of a sentence: `` `x` runs from 1 to 9 and has no nulls``.
impl fmt::Display for ColumnFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, column_type, .. } = self;
        let shown = |value| shown(value, *column_type);
        match (self.values, &self.min, &self.max) {
            (Presence::No, _, _) => {
                return match (self.nulls, self.nans) {
                    (_, Presence::No) => write!(f, "`{name}` is null on every row"),
                    (Presence::No, _) => write!(f, "`{name}` is NaN on every row"),
                    _ => write!(f, "`{name}` is null or NaN on every row"),
                };
            }
            (_, Some(min), Some(max)) if min == max => write!(f, "every value of `{name}` is {}", shown(min))?,
            (_, Some(min), Some(max)) => write!(f, "`{name}` runs from {} to {}", shown(min), shown(max))?,
            (_, Some(min), None) => write!(f, "`{name}` is at least {}, its largest value is not known", shown(min))?,
            (_, None, Some(max)) => write!(f, "`{name}` is at most {}, its smallest value is not known", shown(max))?,
            (_, None, None) => write!(f, "the bounds of `{name}` are not known")?,
        }
        f.write_str(match self.nulls {
            Presence::No => ", it has no nulls",
            Presence::Yes => ", it has nulls",
            Presence::Unknown => ", it may have nulls",
        })?;
        f.write_str(match self.nans {
            Presence::No => "",
            Presence::Yes => ", it has NaNs",
            Presence::Unknown if column_type.is_float() => ", it may have NaNs",
            Presence::Unknown => "",
        })
    }
}

/// A value as it stands in a sentence.
fn shown(value: &Value, column_type: PrimitiveType) -> String {
    let text = value.display(column_type);
    if column_type == PrimitiveType::String { format!("'{text}'") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, UInt64Array};
    use prunus_statistics::PhysicalType;

    use super::*;
    use crate::{BindOptions, BoundPredicate, Column, ColumnZones, Predicate, ZoneColumns};

    const DAY: i32 = 19_844; // 2024-05-01

    struct Known {
        nulls: Option<u64>,
        nans: Option<u64>,
        valueless: bool,
    }

    const CLEAN: Known = Known { nulls: Some(0), nans: Some(0), valueless: false };

    /// One file of ten rows: `day` in May 2024, `ratio` with unknown NaN count, `name` with a lower bound, `gone` all null,
    /// `n` known to the full; of `other` nothing is known.
    fn zones() -> ZoneMaps {
        let mut zones = ZoneMaps::new(&UInt64Array::from(vec![10]));
        let mut insert = |id, physical_type, min: ArrayRef, max: ArrayRef, known: Known| {
            let columns = ZoneColumns {
                min: &min,
                max: &max,
                null_count: &UInt64Array::from(vec![known.nulls]),
                nan_count: &UInt64Array::from(vec![known.nans]),
                valueless: &BooleanArray::from(vec![known.valueless]),
            };
            zones.insert(FieldId(id), ColumnZones::new(physical_type, &columns).unwrap()).unwrap();
        };
        let days = |day: i32| -> ArrayRef { Arc::new(Int32Array::from(vec![day])) };
        insert(1, PhysicalType::Int32, days(DAY), days(DAY + 30), CLEAN);
        let ratio = |value: f64| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
        insert(2, PhysicalType::Float64, ratio(0.5), ratio(1.5), Known { nans: None, ..CLEAN });
        let name = |value: Option<&[u8]>| -> ArrayRef { Arc::new(BinaryArray::from(vec![value])) };
        insert(3, PhysicalType::Bytes, name(Some(b"anna")), name(None), Known { nulls: None, ..CLEAN });
        let none = || arrow::array::new_null_array(&arrow::datatypes::DataType::Int32, 1);
        assert_eq!(none().null_count(), 1);
        insert(4, PhysicalType::Int32, none(), none(), Known { nulls: Some(10), valueless: true, ..CLEAN });
        insert(5, PhysicalType::Int32, days(5), days(5), Known { nulls: Some(3), ..CLEAN });
        zones
    }

    fn explain(text: &str) -> Explanation {
        let column = |(id, (name, column_type)): (i32, (&str, &str))| Column {
            id: FieldId(id),
            path: vec![name.to_owned()],
            column_type: Some(column_type.parse().unwrap()),
            items: Vec::new(),
        };
        let named = [
            ("day", "date"),
            ("ratio", "float64"),
            ("name", "string"),
            ("gone", "int32"),
            ("n", "int32"),
            ("other", "int64"),
        ];
        let columns: Vec<Column> = (1..).zip(named).map(column).collect();
        let predicate = Predicate::parse_sql(text).unwrap();
        let bound = BoundPredicate::bind(&predicate, &columns, &BindOptions::default()).unwrap();
        PruningProgram::compile(bound).explain(&zones(), 0)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let explanation = explain(text);
        let [conjunct] = explanation.conjuncts.as_slice() else { panic!("one conjunct: {explanation:?}") };
        let outcomes: Vec<&str> = conjunct.outcomes.iter().map(|outcome| outcome.name()).collect();
        let sentence = conjunct.sentence.strip_prefix(&format!("`{}` ", conjunct.expression)).unwrap();
        assert_eq!(format!("{sentence} [{}]", outcomes.join(", ")), expected, "{text}");
    }

    #[test]
    fn the_bound_that_decided_is_named() {
        check("day >= '2024-06-01'", "is false on every row: the largest `day` is 2024-05-31 [false]");
        check("day < '2024-05-01'", "is false on every row: the smallest `day` is 2024-05-01 [false]");
        check("day = '2024-04-01'", "is false on every row: the smallest `day` is 2024-05-01 [false]");
        check("n > 5", "is true on no row: the largest `n` is 5 [false, null]");
        check("name < 'ann'", "is true on no row: the smallest `name` is 'anna' [false, null]");
        check("gone = 1", "is null on every row: `gone` is null on every row [null]");
    }

    #[test]
    fn what_may_be_true_says_what_is_known() {
        check(
            "day > '2024-05-10'",
            "may be true: `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [true, false]",
        );
        check(
            "ratio > 0",
            "may be true: `ratio` runs from 0.5 to 1.5, it has no nulls, it may have NaNs [true, false]",
        );
        check(
            "name = 'bea'",
            "may be true: `name` is at least 'anna', its largest value is not known, it may have nulls [true, false, null]",
        );
        check("other = 1", "may be true: the bounds of `other` are not known, it may have nulls [true, false, null]");
        check(
            "day IS NOT NULL",
            "is true on every row: `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [true]",
        );
        check("n = 5", "may be true: every value of `n` is 5, it has nulls [true, null]");
        check("TRUE", "is true on every row [true]");
    }

    #[test]
    fn a_file_that_is_kept_for_nans_alone_says_so() {
        let facts = "`ratio` runs from 0.5 to 1.5, it has no nulls, it may have NaNs";
        check("ratio > 2", &format!("may be true of NaNs alone: {facts} [true, false]"));
        check("NOT (ratio <= 2)", &format!("may be true of NaNs alone: {facts} [true, false]"));
        check("ratio > 2 OR ratio < 0", &format!("may be true of NaNs alone: {facts} [true, false]"));
        check("ratio > 1", &format!("may be true: {facts} [true, false]"));
        check("ratio BETWEEN 2 AND 3", &format!("is false on every row: {facts} [false]"));
    }

    #[test]
    fn every_form_reads_as_a_sentence() {
        for (text, expected) in [
            ("n IN (1, 2)", "is true on no row: every value of `n` is 5, it has nulls [false, null]"),
            ("n IN (5, 7)", "may be true: every value of `n` is 5, it has nulls [true, null]"),
            ("n NOT IN (5)", "is true on no row: every value of `n` is 5, it has nulls [false, null]"),
            ("NOT (n = 5)", "is true on no row: every value of `n` is 5, it has nulls [false, null]"),
            (
                "name LIKE 'a%'",
                "may be true: `name` is at least 'anna', its largest value is not known, it may have nulls [true, false, null]",
            ),
            (
                "name NOT LIKE 'b%'",
                "may be true: `name` is at least 'anna', its largest value is not known, it may have nulls [true, false, null]",
            ),
            ("n IS NULL", "may be true: every value of `n` is 5, it has nulls [true, false]"),
            ("day IS NULL", "is false on every row: `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [false]"),
            ("n IS NOT NULL", "may be true: every value of `n` is 5, it has nulls [true, false]"),
            ("gone IS NULL", "is true on every row: `gone` is null on every row [true]"),
            (
                "n = 1 OR day > '2024-07-01'",
                "is true on no row: every value of `n` is 5, it has nulls; `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [false, null]",
            ),
            (
                "n = 5 OR day > '2024-07-01'",
                "may be true: every value of `n` is 5, it has nulls; `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [true, null]",
            ),
            ("(n = 5) IS TRUE", "may be true: every value of `n` is 5, it has nulls [true, false]"),
            ("(n = 1) IS NOT TRUE", "is true on every row: every value of `n` is 5, it has nulls [true]"),
            ("n IS DISTINCT FROM 5", "may be true: every value of `n` is 5, it has nulls [true, false]"),
            (
                "day BETWEEN '2024-06-01' AND '2024-06-30'",
                "is false on every row: `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [false]",
            ),
            (
                "EXTRACT(YEAR FROM day) = 2023",
                "is false on every row: `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [false]",
            ),
            ("n + 1 > 10", "is true on no row: every value of `n` is 5, it has nulls [false, null]"),
            (
                "n > other",
                "may be true: every value of `n` is 5, it has nulls; the bounds of `other` are not known, it may have nulls [true, false, null]",
            ),
            (
                "NOT (n = 5 AND day > '2024-01-01')",
                "is true on no row: every value of `n` is 5, it has nulls; `day` runs from 2024-05-01 to 2024-05-31, it has no nulls [false, null]",
            ),
            (
                "n IN (1, 2) OR upper(name) = 'x'",
                "may be true: every value of `n` is 5, it has nulls; there is no rule for `upper(name)` [true, false, null]",
            ),
            (
                "gone > 1 OR n > 7",
                "is null on every row: `gone` is null on every row; every value of `n` is 5, it has nulls [null]",
            ),
            ("FALSE", "is false on every row [false]"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn what_has_no_rule_says_so() {
        check("f(day) = 1", "cannot be judged: there is no rule for `f(day)` [true, false, null]");
        check(
            "f(day) = 1 OR n = 5",
            "may be true: every value of `n` is 5, it has nulls; there is no rule for `f(day)` [true, null]",
        );
    }

    #[test]
    fn the_conjunct_that_pruned_is_the_one_that_the_plan_counts() {
        let explanation = explain("name <> 'x' AND n = 5 AND day >= '2024-06-01'");
        assert_eq!((explanation.verdict, explanation.pruned_by), (Verdict::None, Some(2)));
        let explanation = explain("day >= '2024-05-01'");
        assert_eq!((explanation.verdict, explanation.pruned_by), (Verdict::All, None));
        let columns = &explanation.conjuncts[0].columns;
        assert_eq!(columns.len(), 1);
        assert_eq!(columns[0].min, Some(Value::Integer(DAY.into())));
        assert_eq!((columns[0].nulls, columns[0].nans), (Presence::No, Presence::No));
    }

    #[test]
    fn a_file_without_rows_is_tested_on_none() {
        let program = PruningProgram::compile(
            BoundPredicate::bind(&Predicate::parse_sql("TRUE").unwrap(), &[], &BindOptions::default()).unwrap(),
        );
        let explanation = program.explain(&ZoneMaps::new(&UInt64Array::from(vec![0])), 0);
        assert_eq!((explanation.verdict, explanation.pruned_by), (Verdict::None, None));
        assert_eq!(explanation.conjuncts[0].sentence, "`TRUE` is tested on no row: there is none");
    }
}
