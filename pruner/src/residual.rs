//! What of a filter still has to run on the containers that are kept.
//!
//! A filter is a tree of AND and OR over tests. A test that is true on every row of a container has nothing left to do in an
//! AND, and one that is true on no row has nothing to do in an OR. What is left matches the same rows of the container as the
//! filter does. Ranges of one column, which pruning merges, are judged one by one here, so that one half of `x >= 1 AND x < 9`
//! may go and the other stay.
//!
//! Containers with the same tests left share one [`Residual`], to be written out once.

use std::collections::HashMap;
use std::mem;

use prunus_statistics::Literal;

use crate::bind::{self, Column};
use crate::evaluate::may_be;
use crate::mask::Mask;
use crate::outcome::OutcomeSet;
use crate::program::{self, Node};
use crate::selection::Selection;
use crate::zone_maps::ZoneMaps;
use crate::{BindOptions, CompareOp, Expression, FilterError, Predicate};

/// How many different residuals are told apart among the containers of one evaluation; past that a test stays where it could
/// go.
pub const MAX_RESIDUALS: usize = 256;

/// A filter taken apart, to see what of it is left.
#[derive(Clone, Debug)]
pub struct ResidualProgram {
    root: Part,
    tests: u32,
}

#[derive(Clone, Debug)]
enum Part {
    /// A test with its place in the filter.
    Test(u32, Node),
    All(Vec<Part>),
    Any(Vec<Part>),
}

/// The residuals of containers: which containers have which. Containers that are not kept have none.
#[derive(Clone, Debug)]
pub struct Residuals {
    groups: Vec<(Residual, Mask)>,
}

/// The tests of a filter that are left, by their place in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Residual(Left);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Left {
    /// Every row matches.
    Nothing,
    /// No row matches.
    NoRow,
    /// These tests, at least one, by rising place.
    Tests(Vec<u32>),
    /// Every test.
    Whole,
}

impl ResidualProgram {
    /// Binds and compiles the tests of a predicate one by one.
    ///
    /// # Errors
    /// Those of [`BoundPredicate::bind`](crate::BoundPredicate::bind) for the same predicate.
    pub fn new(predicate: &Predicate, columns: &[Column], options: &BindOptions) -> Result<Self, Vec<FilterError>> {
        let mut tests = 0;
        let mut faults = Vec::new();
        let root = take_apart(predicate, &mut tests, &mut |test| match bind::bind_test(test, columns, options) {
            Ok(node) => program::compile_node(node, &mut None),
            Err(found) => {
                faults.extend(found);
                Node::Unknown
            }
        });
        if faults.is_empty() { Ok(Self { root, tests }) } else { Err(faults) }
    }

    /// What is left for the containers that are kept, given their verdicts by the same filter.
    pub fn evaluate(&self, zones: &ZoneMaps, selection: &Selection) -> Residuals {
        let some = selection.kept.clone().and_not(&selection.all);
        let mut groups: Vec<(Residual, Mask)> = self
            .root
            .left(zones, &some, false)
            .into_iter()
            .map(|(left, mask)| (Residual(self.whole_if_all(left)), mask))
            .collect();
        if !selection.all.is_none() {
            let nothing = Residual(Left::Nothing);
            match groups.iter_mut().find(|(residual, _)| *residual == nothing) {
                Some((_, mask)) => *mask = mask.clone().or(&selection.all),
                None => groups.push((nothing, selection.all.clone())),
            }
        }
        Residuals { groups }
    }

    fn whole_if_all(&self, left: Left) -> Left {
        match left {
            Left::Tests(tests) if tests.len() == self.tests as usize => Left::Whole,
            left => left,
        }
    }
}

/// The parts of a predicate, its tests numbered in the order in which they stand. [`restrict`] goes the same way.
fn take_apart(predicate: &Predicate, next: &mut u32, compile: &mut impl FnMut(&Predicate) -> Node) -> Part {
    match predicate {
        Predicate::And(parts) => Part::All(parts.iter().map(|part| take_apart(part, next, compile)).collect()),
        Predicate::Or(parts) => Part::Any(parts.iter().map(|part| take_apart(part, next, compile)).collect()),
        test => match halves(test) {
            Some(halves) => Part::All(halves.iter().map(|half| Part::Test(count(next), compile(half))).collect()),
            None => Part::Test(count(next), compile(test)),
        },
    }
}

fn count(next: &mut u32) -> u32 {
    let index = *next;
    *next += 1;
    index
}

/// The two comparisons that a BETWEEN stands for, if each end means alone what it means beside the other.
fn halves(test: &Predicate) -> Option<[Predicate; 2]> {
    let Predicate::Between { expression, low, high, negated: false } = test else { return None };
    if !are_alike(low, high) {
        return None;
    }
    let half = |op, end: &Expression| Predicate::Compare { left: expression.clone(), op, right: end.clone() };
    Some([half(CompareOp::GtEq, low), half(CompareOp::LtEq, high)])
}

/// Whether both ends of a BETWEEN are literals of one kind. Engines bring ends of two kinds into one type: DataFusion takes
/// `'1970-01-01T00:00:00.001'` alone beside a date column for a date, but beside a timestamp for a timestamp.
fn are_alike(low: &Expression, high: &Expression) -> bool {
    let zone = |literal: &Literal| match literal {
        Literal::Timestamp { zone, .. } => Some(*zone),
        _ => None,
    };
    let is_float = |literal: &Literal| matches!(literal, Literal::Number(number) if number.is_float_notation());
    match (low, high) {
        (Expression::Literal(one), Expression::Literal(other)) => {
            mem::discriminant(one) == mem::discriminant(other)
                && zone(one) == zone(other)
                && is_float(one) == is_float(other)
                && bind::may_be_float(low) == bind::may_be_float(high)
        }
        _ => false,
    }
}

impl Part {
    /// What is left of the part for containers of `among`, each in one group. A test that is true on no row is only told from
    /// others within an OR: without one, pruning has skipped its containers.
    fn left(&self, zones: &ZoneMaps, among: &Mask, within_any: bool) -> Vec<(Left, Mask)> {
        match self {
            Self::Test(index, node) => {
                let open = may_be(node, OutcomeSet::TRUE.complement(), zones, among);
                let proven = among.clone().and_not(&open);
                let refuted = if within_any {
                    open.clone().and_not(&may_be(node, OutcomeSet::TRUE, zones, &open))
                } else {
                    Mask::none(among.len())
                };
                let open = open.and_not(&refuted);
                let groups = [(Left::Nothing, proven), (Left::NoRow, refuted), (Left::Tests(vec![*index]), open)];
                groups.into_iter().filter(|(_, mask)| !mask.is_none()).collect()
            }
            Self::All(parts) => joined(parts, among, |part| part.left(zones, among, within_any), &Left::Nothing),
            Self::Any(parts) => joined(parts, among, |part| part.left(zones, among, true), &Left::NoRow),
        }
    }

    fn tests(&self) -> Vec<u32> {
        match self {
            Self::Test(index, _) => vec![*index],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::tests).collect(),
        }
    }
}

/// What is left of parts that are joined by a connective, given what is left of each; `neutral` is what changes nothing in
/// it, and its opposite is what settles it.
fn joined(
    parts: &[Part],
    among: &Mask,
    left: impl Fn(&Part) -> Vec<(Left, Mask)>,
    neutral: &Left,
) -> Vec<(Left, Mask)> {
    let mut groups = vec![(neutral.clone(), among.clone())];
    for part in parts {
        let of_part = left(part);
        let mut next: HashMap<Left, Mask> = HashMap::new();
        for (a, a_mask) in &groups {
            for (b, b_mask) in &of_part {
                let both = a_mask.clone().and(b_mask);
                if !both.is_none() {
                    add(&mut next, join(a, b, neutral), both);
                }
            }
        }
        if next.len() > MAX_RESIDUALS {
            next.clear();
            let whole = Left::Tests(part.tests());
            for (a, mask) in groups {
                add(&mut next, join(&a, &whole, neutral), mask);
            }
        }
        groups = next.into_iter().collect();
    }
    groups
}

fn add(groups: &mut HashMap<Left, Mask>, left: Left, mask: Mask) {
    let joined = match groups.get(&left) {
        Some(other) => mask.or(other),
        None => mask,
    };
    groups.insert(left, joined);
}

fn join(a: &Left, b: &Left, neutral: &Left) -> Left {
    match (a, b) {
        (a, b) if a == neutral => b.clone(),
        (a, b) if b == neutral => a.clone(),
        (Left::Tests(a), Left::Tests(b)) => Left::Tests([a.as_slice(), b].concat()),
        (Left::Tests(_), settled) | (settled, _) => settled.clone(),
    }
}

impl Residuals {
    /// The residuals, each with the containers that have it; no two have a container in common.
    pub fn groups(&self) -> impl Iterator<Item = (&Residual, &Mask)> {
        self.groups.iter().map(|(residual, mask)| (residual, mask))
    }

    /// The residual of the container at `index`; `None` if it is not kept.
    pub fn of(&self, index: usize) -> Option<&Residual> {
        self.groups.iter().find(|(_, mask)| mask.contains(index)).map(|(residual, _)| residual)
    }
}

impl Residual {
    /// The residual that is the filter itself.
    pub const WHOLE: Self = Self(Left::Whole);

    /// Whether there is nothing left to filter by.
    pub fn is_nothing(&self) -> bool {
        self.0 == Left::Nothing
    }

    /// What is left of the predicate that the program was made from; `None` if nothing is.
    pub fn predicate(&self, whole: &Predicate) -> Option<Predicate> {
        match &self.0 {
            Left::Nothing => None,
            Left::NoRow => Some(Predicate::Constant(Some(false))),
            Left::Tests(tests) => restrict(whole, &mut 0, tests),
            Left::Whole => Some(whole.clone()),
        }
    }
}

/// A predicate of which only these tests are left.
fn restrict(predicate: &Predicate, next: &mut u32, tests: &[u32]) -> Option<Predicate> {
    let mut is_left = || tests.binary_search(&count(next)).is_ok();
    match predicate {
        Predicate::And(parts) => {
            let parts = parts.iter().filter_map(|part| restrict(part, next, tests));
            let open = |part| if let Predicate::And(parts) = part { parts } else { vec![part] };
            one_or(Predicate::And, parts.flat_map(open).collect())
        }
        Predicate::Or(parts) => {
            let parts = parts.iter().filter_map(|part| restrict(part, next, tests));
            let open = |part| if let Predicate::Or(parts) = part { parts } else { vec![part] };
            one_or(Predicate::Or, parts.flat_map(open).collect())
        }
        test => match halves(test) {
            Some([lower, upper]) => match (is_left(), is_left()) {
                (true, true) => Some(test.clone()),
                (true, false) => Some(lower),
                (false, true) => Some(upper),
                (false, false) => None,
            },
            None => is_left().then(|| test.clone()),
        },
    }
}

/// The connective over these parts, or the only part there is.
fn one_or(connective: impl Fn(Vec<Predicate>) -> Predicate, mut parts: Vec<Predicate>) -> Option<Predicate> {
    if parts.len() > 1 { Some(connective(parts)) } else { parts.pop() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BooleanArray, Int32Array, UInt64Array};
    use prunus_statistics::{FieldId, PhysicalType, PrimitiveType};

    use super::*;
    use crate::{BoundPredicate, ColumnZones, IcebergForm, PruningProgram, ZoneColumns};

    /// Columns `x` and `y` with these bounds in each container, without nulls.
    fn zones(bounds: &[[(i32, i32); 2]]) -> ZoneMaps {
        let len = bounds.len();
        let mut zones = ZoneMaps::new(&UInt64Array::from(vec![10; len]));
        for column in 0..2 {
            let side = |side: fn(&(i32, i32)) -> i32| -> ArrayRef {
                Arc::new(Int32Array::from_iter_values(bounds.iter().map(|columns| side(&columns[column]))))
            };
            let (min, max) = (side(|bounds| bounds.0), side(|bounds| bounds.1));
            let columns = ZoneColumns {
                min: &min,
                max: &max,
                null_count: &UInt64Array::from(vec![0; len]),
                nan_count: &UInt64Array::from(vec![0; len]),
                valueless: &BooleanArray::from(vec![false; len]),
            };
            let id = FieldId(i32::try_from(column).unwrap() + 1);
            zones.insert(id, ColumnZones::new(PhysicalType::Int32, &columns).unwrap()).unwrap();
        }
        zones
    }

    fn residuals(predicate: &Predicate, zones: &ZoneMaps) -> Residuals {
        let column = |id, name: &str| Column {
            id: FieldId(id),
            path: vec![name.to_owned()],
            column_type: Some(PrimitiveType::Int32),
            items: Vec::new(),
        };
        let (columns, options) = ([column(1, "x"), column(2, "y")], BindOptions::default());
        let bound = BoundPredicate::bind(predicate, &columns, &options).unwrap();
        let selection = PruningProgram::compile(bound).evaluate(zones);
        ResidualProgram::new(predicate, &columns, &options).unwrap().evaluate(zones, &selection)
    }

    /// The residual of one container as SQL; `pruned`, `nothing`.
    #[track_caller]
    fn check(text: &str, x: (i32, i32), y: (i32, i32), expected: &str) {
        let predicate = Predicate::parse_sql(text).unwrap();
        let residuals = residuals(&predicate, &zones(&[[x, y]]));
        let left = match residuals.of(0) {
            None => "pruned".to_owned(),
            Some(residual) => {
                residual.predicate(&predicate).map_or("nothing".to_owned(), |predicate| predicate.to_string())
            }
        };
        assert_eq!(left, expected, "{text}");
    }

    #[test]
    fn what_is_proven_of_a_whole_container_is_dropped() {
        check("x >= 1 AND y = 5", (1, 9), (0, 9), "y = 5");
        check("x >= 1 AND y = 5", (0, 9), (0, 9), "x >= 1 AND y = 5");
        check("x >= 1 AND y = 5", (1, 9), (5, 5), "nothing");
        check("x >= 1 AND y = 5", (1, 9), (6, 9), "pruned");
        check("x IS NOT NULL AND (f(y) = 1)", (1, 9), (0, 9), "f(y) = 1");
    }

    #[test]
    fn the_halves_of_a_range_are_judged_one_by_one() {
        check("x >= 1 AND x < 9", (1, 20), (0, 0), "x < 9");
        check("x >= 1 AND x < 9", (0, 8), (0, 0), "x >= 1");
        check("x >= 1 AND x < 9", (0, 20), (0, 0), "x >= 1 AND x < 9");
        check("x BETWEEN 1 AND 9", (1, 20), (0, 0), "x <= 9");
        check("x BETWEEN 1 AND 9 AND y = 1", (0, 9), (1, 1), "x >= 1");
        check("x BETWEEN 1 AND 9 AND y = 1", (0, 20), (1, 1), "x BETWEEN 1 AND 9");
        check("x NOT BETWEEN 1 AND 9", (0, 20), (1, 1), "x NOT BETWEEN 1 AND 9");
        check("x BETWEEN 1 AND 9.5", (1, 20), (0, 0), "x BETWEEN 1 AND 9.5");
        check("x BETWEEN '1' AND 9", (1, 20), (0, 0), "x BETWEEN '1' AND 9");
        let large = Predicate::parse_sql("x BETWEEN 0.5 AND 18446744073709551614").unwrap();
        assert_eq!(halves(&large), None);
    }

    #[test]
    fn arms_of_a_disjunction_that_no_row_meets_are_dropped() {
        let by_day = "(x = 1 AND y > 5) OR (x = 2 AND y > 7)";
        check(by_day, (1, 1), (0, 9), "y > 5");
        check(by_day, (2, 2), (0, 9), "y > 7");
        check(by_day, (1, 2), (0, 9), "(x = 1 AND y > 5) OR (x = 2 AND y > 7)");
        check(by_day, (1, 2), (8, 9), "x = 1 OR x = 2");
        check("(x = 1 OR y = 5) AND y <> 7", (1, 1), (0, 9), "y <> 7");
        check("x = 1 OR (x = 2 AND (y = 1 OR y = 2))", (2, 3), (0, 9), "x = 2 AND (y = 1 OR y = 2)");
        check("NOT (x = 1 OR y = 5)", (2, 3), (0, 9), "NOT (x = 1 OR y = 5)");
    }

    #[test]
    fn containers_with_the_same_tests_left_share_a_residual() {
        let predicate = Predicate::parse_sql("x >= 1 AND y < 9").unwrap();
        let bounds: Vec<[(i32, i32); 2]> =
            (0..200).map(|index| [(index % 2, 5), (0, if index % 3 == 0 { 8 } else { 9 })]).collect();
        let residuals = residuals(&predicate, &zones(&bounds));
        let mut texts: Vec<(usize, String)> = residuals
            .groups()
            .map(|(residual, mask)| {
                (mask.count(), residual.predicate(&predicate).map_or(String::new(), |p| p.to_string()))
            })
            .collect();
        texts.sort();
        let expected = [(33, ""), (34, "x >= 1"), (66, "x >= 1 AND y < 9"), (67, "y < 9")];
        assert_eq!(texts, expected.map(|(count, text)| (count, text.to_owned())));
        let whole = residuals.groups().filter(|(residual, _)| **residual == Residual::WHOLE).count();
        assert_eq!(whole, 1);
    }

    #[test]
    fn more_residuals_than_the_limit_are_not_told_apart() {
        // Container c leaves those of nine tests whose bit is set in c.
        let tests: Vec<String> = (0..9).map(|bit| format!("(x < {bit} OR x >= {})", bit + 1)).collect();
        let by_bits: Vec<[(i32, i32); 2]> = (0..512).map(|index| [(index % 9, index % 9), (0, 0)]).collect();
        let few = residuals(&Predicate::parse_sql(&tests.join(" AND ")).unwrap(), &zones(&by_bits));
        assert!(few.groups().count() <= MAX_RESIDUALS);
        let ranges: Vec<String> = (0..600).map(|value| format!("x <> {value}")).collect();
        let points: Vec<[(i32, i32); 2]> = (0..600).map(|value| [(value, value + 1), (0, 0)]).collect();
        let predicate = Predicate::parse_sql(&ranges.join(" AND ")).unwrap();
        let many = residuals(&predicate, &zones(&points));
        assert!(many.groups().count() <= MAX_RESIDUALS);
        let kept: usize = many.groups().map(|(_, mask)| mask.count()).sum();
        assert_eq!(kept, 600);
    }

    #[test]
    fn a_residual_is_written_in_the_language_that_was_asked_in() {
        let json = serde_json::json!({
            "type": "and",
            "left": {"type": "gt-eq", "term": "x", "value": 1},
            "right": {"type": "not-eq", "term": "y", "value": 5},
        });
        let predicate = Predicate::parse_iceberg_json(&json).unwrap();
        let residuals = residuals(&predicate, &zones(&[[(1, 9), (0, 9)], [(1, 9), (6, 9)]]));
        let left = |index| {
            let left = residuals.of(index)?.predicate(&predicate)?;
            left.to_iceberg_json(IcebergForm::Term)
        };
        assert_eq!(left(0), Some(json["right"].clone()));
        assert_eq!(left(1), None);
        assert!(residuals.of(1).unwrap().is_nothing());
    }
}
