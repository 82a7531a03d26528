//! A test of one column's zone maps: the union over a container's null rows, its NaN rows and its other rows.

use crate::kernels::{Sides, Values, equals_zero};
use crate::outcome::OutcomeSet;
use crate::program::{End, Leaf, Test, ValueTest};
use crate::tile::Tile;
use crate::zone_maps::{Bounds, ColumnZones};

/// Leaves the containers on whose rows the test may have an outcome in `asked`.
pub(super) fn narrow(leaf: &Leaf, asked: OutcomeSet, column: &ColumnZones, live: &mut Tile) {
    let on_null = if matches!(leaf.test, Test::IsNull) { OutcomeSet::TRUE } else { OutcomeSet::NULL };
    let by_null = on_null.intersects(asked);
    let by_nan = leaf.on_nan.intersects(asked);
    if !by_null && !by_nan {
        return by_values(leaf, asked, column, live);
    }
    // Containers that stay for their null or NaN rows stay whatever their values are.
    let mut open = *live;
    if by_null {
        open.and_not_mask(&column.may_be_null);
    }
    if by_nan {
        open.and_not_mask(&column.may_be_nan);
    }
    live.and_not(&open);
    by_values(leaf, asked, column, &mut open);
    live.or(&open);
}

/// Leaves the containers that may hold a value for which the outcome is in `asked`.
fn by_values(leaf: &Leaf, asked: OutcomeSet, column: &ColumnZones, live: &mut Tile) {
    let wanted = match (asked.intersects(OutcomeSet::TRUE), asked.intersects(OutcomeSet::FALSE)) {
        (true, true) => None,
        (true, false) => Some(true),
        (false, true) => Some(false),
        (false, false) => return live.clear(),
    };
    live.and_mask(&column.may_have_value);
    // Of a value every test is either true or false.
    if let Some(wanted) = wanted
        && !live.is_none()
    {
        of_values(leaf, wanted, column, live);
    }
}

/// Leaves the containers in which some value may pass (`wanted`) or fail the test.
fn of_values(leaf: &Leaf, wanted: bool, column: &ColumnZones, live: &mut Tile) {
    match (&leaf.test, &column.bounds) {
        (Test::IsNull, _) if wanted => live.clear(),
        (Test::Always(value), _) if *value != wanted => live.clear(),
        (Test::Nan { equality: true }, _) if wanted => live.clear(),
        (Test::Int32(test), Bounds::Int32(sides)) => probe(test, wanted, sides, live),
        (Test::Int64(test), Bounds::Int64(sides)) => probe(test, wanted, sides, live),
        (Test::UInt64(test), Bounds::UInt64(sides)) => probe(test, wanted, sides, live),
        (Test::Int128(test), Bounds::Int128(sides)) => probe(test, wanted, sides, live),
        // Some engines tell the zeros apart in equality, so a zero may fail even against a zero.
        (Test::Float64(test), Bounds::Float64(sides)) if !wanted && equals_zero(test) => {
            let mut zeros = *live;
            probe(test, false, sides, live);
            zeros.and_not(live);
            let zero = || Some(End { low: 0.0, high: 0.0, inclusive: true });
            probe(&ValueTest::Range { lower: zero(), upper: zero() }, true, sides, &mut zeros);
            live.or(&zeros);
        }
        (Test::Float64(test), Bounds::Float64(sides)) => probe(test, wanted, sides, live),
        (Test::Bytes(test), Bounds::Bytes(sides)) => probe(test, wanted, sides, live),
        // Zone maps of another type than the program's prove nothing.
        _ => {}
    }
}

fn probe<A: Values>(test: &ValueTest<A::Item>, wanted: bool, bounds: &Sides<A>, live: &mut Tile) {
    if wanted { bounds.may_pass(test, live) } else { bounds.may_fail(test, live) }
}
