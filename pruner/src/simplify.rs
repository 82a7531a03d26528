//! Ranges of one column that must all hold, intersected once.
//!
//! `x >= 1 AND x < 9` becomes the range [1, 9), which costs one test; it also proves more: no order of NaN puts a NaN on
//! both sides of a range. Ranges that exclude each other become a test that is false on every value and null on null, never
//! the constant FALSE, so that NOT over it stays right.

use std::cmp::Ordering;

use crate::bind::{BoundConjunct, BoundLeaf, BoundNode, BoundTest, Endpoint};
use crate::outcome::OutcomeSet;

/// Intersects the ranges among the parts of a conjunction.
pub(crate) fn intersect(parts: Vec<BoundNode>) -> Vec<BoundNode> {
    let conjuncts = parts.into_iter().map(|node| BoundConjunct { node, expression: String::new() }).collect();
    intersect_conjuncts(conjuncts).into_iter().map(|conjunct| conjunct.node).collect()
}

/// The same for the conjuncts of a whole filter, whose texts are joined.
pub(crate) fn intersect_conjuncts(conjuncts: Vec<BoundConjunct>) -> Vec<BoundConjunct> {
    let mut result: Vec<BoundConjunct> = Vec::with_capacity(conjuncts.len());
    for conjunct in conjuncts {
        let merged = result.iter_mut().find_map(|earlier| {
            let leaf = intersect_leaves(as_leaf(&earlier.node)?, as_leaf(&conjunct.node)?)?;
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
fn intersect_leaves(a: &BoundLeaf, b: &BoundLeaf) -> Option<BoundLeaf> {
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
