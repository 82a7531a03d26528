//! A program over zone maps: which containers may hold a row for which the filter is true, and which hold no other.
//!
//! A node is asked for a set of outcomes and answers with the containers on whose rows it may have one of them. The root is
//! asked "may it be true?", and for the survivors "may it be anything else?".

use arrow::array::PrimitiveArray;
use arrow::datatypes::ArrowPrimitiveType;

use crate::kernels::{Item, KnownBounds, Side, equals_zero};
use crate::mask::Mask;
use crate::outcome::OutcomeSet;
use crate::program::{Leaf, Node, PruningProgram, Test, ValueTest};
use crate::selection::Selection;
use crate::zone_maps::{Bounds, ColumnZones, Sides, ZoneMaps};

impl PruningProgram {
    /// Runs the program. A container is skipped only on proof: whatever is unknown keeps it.
    pub fn evaluate(&self, zones: &ZoneMaps) -> Selection {
        let mut kept = zones.empty().clone().complement();
        let mut pruned_by = vec![Mask::none(zones.containers()); self.conjuncts().len()];
        for (index, conjunct) in self.cheapest_first() {
            if kept.is_none() {
                break;
            }
            let may_match = may_be(&conjunct.node, OutcomeSet::TRUE, zones);
            if let Some(pruned) = pruned_by.get_mut(index) {
                *pruned = kept.clone().and_not(&may_match);
            }
            kept = kept.and(&may_match);
        }
        let mut all = kept.clone();
        for conjunct in self.conjuncts() {
            if all.is_none() {
                break;
            }
            all = all.and_not(&may_be(&conjunct.node, OutcomeSet::TRUE.complement(), zones));
        }
        Selection { kept, all, pruned_by }
    }
}

/// The containers on whose rows `node` may have an outcome in `asked`. Those without rows may be among them or not.
fn may_be(node: &Node, asked: OutcomeSet, zones: &ZoneMaps) -> Mask {
    let len = zones.containers();
    match node {
        Node::Constant(outcomes) => {
            if outcomes.intersects(asked) {
                Mask::all(len)
            } else {
                Mask::none(len)
            }
        }
        Node::Unknown => Mask::all(len),
        Node::Not(inner) => may_be(inner, asked.negated(), zones),
        Node::All(parts) => may_all_be(parts, asked, zones),
        // De Morgan: some part is true unless all are not.
        Node::Any(parts) => may_all_be_negated(parts, asked, zones),
        Node::Is(inner, matching) => match asked.before_is(*matching) {
            OutcomeSet::NONE => Mask::none(len),
            asked => may_be(inner, asked, zones),
        },
        Node::Leaf(leaf) => match zones.column(leaf.column.id) {
            Some(column) => leaf_may_be(leaf, asked, column, len),
            None => Mask::all(len),
        },
    }
}

/// A conjunction. It is true where all parts are, false where one is, and null where one is null and none false.
fn may_all_be(parts: &[Node], asked: OutcomeSet, zones: &ZoneMaps) -> Mask {
    conjunction(parts.len(), asked, zones, |index, asked| {
        parts.get(index).map_or_else(|| Mask::all(zones.containers()), |part| may_be(part, asked, zones))
    })
}

fn may_all_be_negated(parts: &[Node], asked: OutcomeSet, zones: &ZoneMaps) -> Mask {
    conjunction(parts.len(), asked.negated(), zones, |index, asked| {
        parts.get(index).map_or_else(|| Mask::all(zones.containers()), |part| may_be(part, asked.negated(), zones))
    })
}

/// The containers on whose rows a conjunction of `parts` parts may have an outcome in `asked`; `part` asks one of them.
fn conjunction(parts: usize, asked: OutcomeSet, zones: &ZoneMaps, part: impl Fn(usize, OutcomeSet) -> Mask) -> Mask {
    let len = zones.containers();
    let every = |asked: OutcomeSet| (0..parts).fold(Mask::all(len), |mask, index| mask.and(&part(index, asked)));
    let one = |asked: OutcomeSet| (0..parts).fold(Mask::none(len), |mask, index| mask.or(&part(index, asked)));
    let not_false = OutcomeSet::TRUE | OutcomeSet::NULL;
    let not_true = OutcomeSet::FALSE | OutcomeSet::NULL;
    match asked {
        OutcomeSet::NONE => Mask::none(len),
        OutcomeSet::TRUE => every(OutcomeSet::TRUE),
        OutcomeSet::FALSE => one(OutcomeSet::FALSE),
        OutcomeSet::NULL => every(not_false).and(&one(OutcomeSet::NULL)),
        set if set == not_false => every(not_false),
        set if set == not_true => one(not_true),
        OutcomeSet::ANY => Mask::all(len),
        _ => every(OutcomeSet::TRUE).or(&one(OutcomeSet::FALSE)),
    }
}

/// A test of one column: the union over its null rows, its NaN rows and its other rows.
fn leaf_may_be(leaf: &Leaf, asked: OutcomeSet, column: &ColumnZones, len: usize) -> Mask {
    let on_null = if matches!(leaf.test, Test::IsNull) { OutcomeSet::TRUE } else { OutcomeSet::NULL };
    let mut mask = Mask::none(len);
    if on_null.intersects(asked) {
        mask = mask.or(&column.may_be_null);
    }
    if leaf.on_nan.intersects(asked) {
        mask = mask.or(&column.may_be_nan);
    }
    for (outcome, wanted) in [(OutcomeSet::TRUE, true), (OutcomeSet::FALSE, false)] {
        if outcome.intersects(asked) {
            mask = mask.or(&values_may_be(leaf, wanted, column, len).and(&column.may_have_value));
        }
    }
    mask
}

/// The containers in which some value may pass (`wanted`) or fail the test, if they hold values at all.
fn values_may_be(leaf: &Leaf, wanted: bool, column: &ColumnZones, len: usize) -> Mask {
    let all_if = |condition: bool| if condition { Mask::all(len) } else { Mask::none(len) };
    match (&leaf.test, &column.bounds) {
        (Test::IsNull, _) => all_if(!wanted),
        (Test::Always(value), _) => all_if(*value == wanted),
        (Test::Nan { equality }, _) => all_if(!equality || !wanted),
        (Test::Int32(test), Bounds::Int32(sides)) => numbers(test, wanted, sides, column),
        (Test::Int64(test), Bounds::Int64(sides)) => numbers(test, wanted, sides, column),
        (Test::UInt64(test), Bounds::UInt64(sides)) => numbers(test, wanted, sides, column),
        (Test::Int128(test), Bounds::Int128(sides)) => numbers(test, wanted, sides, column),
        // Some engines tell the zeros apart in equality, so a zero may fail even against a zero.
        (Test::Float64(test), Bounds::Float64(sides)) if !wanted && equals_zero(test) => {
            let may_be_zero = numbers(&ValueTest::In(vec![0.0]), true, sides, column);
            numbers(test, false, sides, column).or(&may_be_zero)
        }
        (Test::Float64(test), Bounds::Float64(sides)) => numbers(test, wanted, sides, column),
        (Test::Bytes(test), Bounds::Bytes(sides)) => probe(&test.borrowed(), wanted, column, (&sides.min, &sides.max)),
        // Zone maps of another type than the program's prove nothing.
        _ => Mask::all(len),
    }
}

fn numbers<P: ArrowPrimitiveType>(
    test: &ValueTest<P::Native>,
    wanted: bool,
    sides: &Sides<PrimitiveArray<P>>,
    column: &ColumnZones,
) -> Mask
where
    P::Native: Item,
{
    probe(test, wanted, column, (sides.min.values().as_ref(), sides.max.values().as_ref()))
}

fn probe<S: Side>(test: &ValueTest<S::Item>, wanted: bool, column: &ColumnZones, (min, max): (S, S)) -> Mask {
    let bounds = KnownBounds { min, max, min_known: &column.min_known, max_known: &column.max_known };
    if wanted { bounds.may_pass(test) } else { bounds.may_fail(test) }
}
