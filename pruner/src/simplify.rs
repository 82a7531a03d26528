//! Ranges of one column that must all hold, intersected once.
//!
//! `x >= 1 AND x < 9` becomes the range [1, 9), which costs one test; it also proves more: no order of NaN puts a NaN on
//! both sides of a range. Ranges that exclude each other become a test that is false on every value and null on null, never
//! the constant FALSE, so that NOT over it stays right.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use prunus_statistics::Value;

use crate::bind::{BoundConjunct, BoundLeaf, BoundNode, BoundTest, Endpoint};
use crate::outcome::OutcomeSet;

/// Intersects the ranges among the parts of a conjunction.
pub(crate) fn intersect(parts: Vec<BoundNode>) -> Vec<BoundNode> {
    let conjuncts = parts
        .into_iter()
        .map(|node| BoundConjunct { node, expression: String::new(), names: BTreeSet::new() })
        .collect();
    intersect_conjuncts(conjuncts).into_iter().map(|conjunct| conjunct.node).collect()
}

/// The parts of a conjunction as one node.
pub(crate) fn conjunction(parts: Vec<BoundNode>) -> BoundNode {
    let mut parts = intersect(parts);
    match (parts.pop(), parts.is_empty()) {
        (Some(single), true) => single,
        (last, _) => BoundNode::All(parts.into_iter().chain(last).collect()),
    }
}

/// NOT over a node: over a range with one end it is the range beyond that end, which can be merged with others. Not so over
/// floats, of whose NaNs neither may hold, or both.
pub(crate) fn negation(node: BoundNode) -> BoundNode {
    let beyond = |end: Endpoint| Some(Endpoint { inclusive: !end.inclusive, ..end });
    match node {
        BoundNode::Not(inner) => *inner,
        BoundNode::Leaf(BoundLeaf { column, test, on_nan }) if !column.column_type.is_float() => {
            let test = match test {
                BoundTest::Range { lower: Some(end), upper: None } => {
                    BoundTest::Range { lower: None, upper: beyond(end) }
                }
                BoundTest::Range { lower: None, upper: Some(end) } => {
                    BoundTest::Range { lower: beyond(end), upper: None }
                }
                BoundTest::Always(value) => BoundTest::Always(!value),
                test => return BoundNode::Not(Box::new(BoundNode::Leaf(BoundLeaf { column, test, on_nan }))),
            };
            BoundNode::Leaf(BoundLeaf { column, test, on_nan })
        }
        other => BoundNode::Not(Box::new(other)),
    }
}

/// The same for the conjuncts of a whole filter, whose texts are joined.
pub(crate) fn intersect_conjuncts(conjuncts: Vec<BoundConjunct>) -> Vec<BoundConjunct> {
    // A list may be long: it is cut when few ranges are left.
    merge(merge(conjuncts, intersect_ranges), cut_list)
}

/// Merges each conjunct with an earlier one where the two can be.
fn merge(conjuncts: Vec<BoundConjunct>, merged: fn(&BoundLeaf, &BoundLeaf) -> Option<BoundLeaf>) -> Vec<BoundConjunct> {
    let mut result: Vec<BoundConjunct> = Vec::with_capacity(conjuncts.len());
    for conjunct in conjuncts {
        let merged = result.iter_mut().find_map(|earlier| {
            let leaf = merged(as_leaf(&earlier.node)?, as_leaf(&conjunct.node)?)?;
            Some((earlier, leaf))
        });
        match merged {
            Some((earlier, leaf)) => {
                earlier.node = BoundNode::Leaf(leaf);
                if !conjunct.expression.is_empty() {
                    earlier.expression = format!("{} AND {}", earlier.expression, conjunct.expression);
                }
            }
            None => result.push(conjunct),
        }
    }
    result
}

/// The leaf that a node is, through conjunctions of one part.
fn as_leaf(node: &BoundNode) -> Option<&BoundLeaf> {
    match node {
        BoundNode::Leaf(leaf) => Some(leaf),
        BoundNode::All(parts) => match parts.as_slice() {
            [single] => as_leaf(single),
            _ => None,
        },
        _ => None,
    }
}

/// The test that holds where both ranges do; `None` if these are not two ranges of one column, or if both have an end on one
/// side and engines take one of these for different values.
fn intersect_ranges(a: &BoundLeaf, b: &BoundLeaf) -> Option<BoundLeaf> {
    let (BoundTest::Range { lower: a_lower, upper: a_upper }, BoundTest::Range { lower: b_lower, upper: b_upper }) =
        (&a.test, &b.test)
    else {
        return None;
    };
    let comparable = |a: &Option<Endpoint>, b: &Option<Endpoint>| match (a, b) {
        (Some(a), Some(b)) => a.is_exact() && b.is_exact(),
        _ => true,
    };
    if a.column.id != b.column.id || !comparable(a_lower, b_lower) || !comparable(a_upper, b_upper) {
        return None;
    }
    let lower = inner(a_lower.as_ref(), b_lower.as_ref(), Ordering::Greater);
    let upper = inner(a_upper.as_ref(), b_upper.as_ref(), Ordering::Less);
    let test = if excludes_all(lower.as_ref(), upper.as_ref()) {
        BoundTest::Always(false)
    } else {
        BoundTest::Range { lower, upper }
    };
    let both_sides = !matches!(&test, BoundTest::Range { lower: None, .. } | BoundTest::Range { upper: None, .. });
    // A NaN that one range excludes is excluded; on one side alone both ranges judge it alike.
    let on_nan = if both_sides && a.on_nan != OutcomeSet::NONE { OutcomeSet::FALSE } else { a.on_nan };
    Some(BoundLeaf { column: a.column.clone(), test, on_nan })
}

/// A list without the values that another list or a range excludes. Not of floats: their zeros are equal and not the same.
fn cut_list(a: &BoundLeaf, b: &BoundLeaf) -> Option<BoundLeaf> {
    if a.column.id != b.column.id || a.column.column_type.is_float() {
        return None;
    }
    let left: Vec<Value> = match (&a.test, &b.test) {
        (BoundTest::In(values), BoundTest::In(others)) => {
            let (few, many) = if values.len() <= others.len() { (values, others) } else { (others, values) };
            let is_listed = |value: &&Value| many.binary_search_by(|other| order(other, value)).is_ok();
            few.iter().filter(is_listed).cloned().collect()
        }
        (BoundTest::In(values), BoundTest::Range { lower, upper })
        | (BoundTest::Range { lower, upper }, BoundTest::In(values))
            if [lower, upper].into_iter().flatten().all(Endpoint::is_exact) =>
        {
            let passes = |end: &Option<Endpoint>, value: &Value, outside: Ordering| {
                end.as_ref().is_none_or(|end| match order(value, &end.low) {
                    Ordering::Equal => end.inclusive,
                    side => side != outside,
                })
            };
            let is_inside =
                |value: &&Value| passes(lower, value, Ordering::Less) && passes(upper, value, Ordering::Greater);
            values.iter().filter(is_inside).cloned().collect()
        }
        _ => return None,
    };
    let test = if left.is_empty() { BoundTest::Always(false) } else { BoundTest::In(left) };
    Some(BoundLeaf { column: a.column.clone(), test, on_nan: a.on_nan })
}

/// The order of two values of one column.
fn order(a: &Value, b: &Value) -> Ordering {
    a.compare(b).unwrap_or(Ordering::Equal)
}

/// Of two ends of one side the one that lies further in.
fn inner(a: Option<&Endpoint>, b: Option<&Endpoint>, inward: Ordering) -> Option<Endpoint> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b).cloned() };
    match a.low.compare(&b.low) {
        Some(Ordering::Equal) => Some(if a.inclusive { b } else { a }.clone()),
        Some(order) if order == inward => Some(a.clone()),
        _ => Some(b.clone()),
    }
}

fn excludes_all(lower: Option<&Endpoint>, upper: Option<&Endpoint>) -> bool {
    let (Some(lower), Some(upper)) = (lower, upper) else { return false };
    match lower.low.compare(&upper.high) {
        Some(Ordering::Greater) => true,
        Some(Ordering::Equal) => !(lower.inclusive && upper.inclusive),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::FieldId;

    use crate::{BindOptions, BoundPredicate, Column, NanOrder, Predicate, PruningProgram};

    fn bind(text: &str, nan_order: NanOrder) -> BoundPredicate {
        let column = |id, name: &str, column_type: &str| Column {
            id: FieldId(id),
            path: vec![name.to_owned()],
            column_type: Some(column_type.parse().unwrap()),
            items: Vec::new(),
        };
        let columns = [column(1, "x", "int32"), column(2, "y", "float32"), column(3, "s", "string")];
        let options = BindOptions { nan_order, ..BindOptions::default() };
        BoundPredicate::bind(&Predicate::parse_sql(text).unwrap(), &columns, &options).unwrap()
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(bind(text, NanOrder::Any).to_string(), expected, "{text}");
    }

    #[test]
    fn ranges_of_one_column_become_one() {
        check("x >= 1 AND s = 'a' AND x < 9", "#1 int32 in [1, 9)\nAND #3 string in [a, a]");
        check("x > 1 AND x >= 1 AND x > 0", "#1 int32 in (1, ..)");
        check("x <= 5 AND x < 7 AND x <= 6", "#1 int32 in (.., 5]");
        check("x BETWEEN 1 AND 9 AND x = 4", "#1 int32 in [4, 4]");
        check("x > 1 OR x < 9 AND x > 3", "any(#1 int32 in (1, ..), #1 int32 in (3, 9))");
    }

    #[test]
    fn ranges_that_exclude_each_other_are_false_on_values() {
        for text in ["x > 5 AND x < 3", "x = 5 AND x = 6", "x > 5 AND x <= 5", "x < 5 AND x BETWEEN 5 AND 9"] {
            check(text, "#1 int32 always false");
        }
        check("s > 'b' AND s < 'a'", "#3 string always false");
        check("y > 0 AND y < -0.0", "#2 float32 always false");
    }

    #[test]
    fn what_engines_take_for_different_values_is_not_merged() {
        check("y > 0.1 AND y > 0", "#2 float32 in (0.099999994~0.1, ..)\nAND #2 float32 in (0.0, ..)");
        check("y > 0.1 AND y < 0.1", "#2 float32 in (0.099999994~0.1, 0.099999994~0.1)");
    }

    #[test]
    fn other_tests_and_other_columns_are_not_merged() {
        check("x > 1 AND y < 9", "#1 int32 in (1, ..)\nAND #2 float32 in (.., 9.0)");
        check("x <> 1 AND x < 9", "not(#1 int32 in [1, 1])\nAND #1 int32 in (.., 9)");
        check("x > 1 AND x IS NOT NULL", "#1 int32 in (1, ..)\nAND not(#1 int32 is null)");
    }

    #[test]
    fn ranges_under_not_are_merged_too() {
        check("x > 1 AND NOT (x > 5)", "#1 int32 in (1, 5]");
        check("NOT (x <= 1 OR x > 5 OR NOT (x < 4))", "#1 int32 in (1, 4)");
        check("x > 5 AND NOT (x > 3 OR s = 'a')", "#1 int32 always false\nAND not(#3 string in [a, a])");
        check("NOT NOT x > 1 AND NOT (NOT (x < 3))", "#1 int32 in (1, 3)");
        check("NOT (x > 1 AND x < 5)", "not(#1 int32 in (1, 5))");
        check("s = 'b' OR NOT (x < 1 OR x > 3)", "any(#3 string in [b, b], #1 int32 in [1, 3])");
        check("x > 5 AND NOT (x > 1e30)", "#1 int32 in (5, ..)\nAND #1 int32 always true");
    }

    #[test]
    fn a_nan_may_fail_a_range_and_its_negation() {
        check("y > 1 AND NOT (y > 5)", "#2 float32 in (1.0, ..)\nAND not(#2 float32 in (5.0, ..))");
        check("NOT (y < 1 OR y > 5)", "not(#2 float32 in (.., 1.0))\nAND not(#2 float32 in (5.0, ..))");
    }

    #[test]
    fn a_list_is_cut_to_what_else_must_hold() {
        check("x IN (1, 2, 9) AND x > 1", "#1 int32 in 2 values");
        check("x BETWEEN 2 AND 8 AND x IN (1, 2, 9)", "#1 int32 in 1 values");
        check("x IN (1, 2, 9) AND x IN (3, 9, 2)", "#1 int32 in 2 values");
        check("x IN (1, 2) AND NOT (x < 3)", "#1 int32 always false");
        check("s IN ('a', 'b') AND s = 'b'", "#3 string in 1 values");
        check("y IN (1, 2) AND y > 1", "#2 float32 in 2 values\nAND #2 float32 in (1.0, ..)");
    }

    #[test]
    fn the_texts_of_merged_conjuncts_are_joined() {
        let program = PruningProgram::compile(bind("x >= 1 AND s = 'a' AND x < 9", NanOrder::Any));
        let texts: Vec<&str> = program.conjuncts().iter().map(|conjunct| conjunct.expression.as_str()).collect();
        assert_eq!(texts, ["x >= 1 AND x < 9", "s = 'a'"]);
    }

    #[test]
    fn a_nan_fails_a_range_of_two_sides_in_every_order() {
        use crate::outcome::OutcomeSet;
        for nan_order in [NanOrder::Any, NanOrder::Greatest, NanOrder::Ieee] {
            for text in ["y > 1 AND y < 9", "y > 9 AND y < 1"] {
                let conjuncts = bind(text, nan_order).into_conjuncts();
                let leaf = super::as_leaf(&conjuncts[0].node).unwrap();
                assert_eq!(leaf.on_nan, OutcomeSet::FALSE, "{text}");
            }
        }
    }
}
