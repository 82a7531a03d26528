//! Tests of what lists hold, against rows: lists that are null, empty, or hold nulls, and engines that differ on these.
#![expect(clippy::unwrap_used, reason = "the helpers of tests are tests, too, but clippy does not see it")]

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int32Array, UInt64Array};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::{any, proptest};
use prunus_pruner::{
    BindOptions, BoundPredicate, Column, ColumnZones, ItemColumn, ItemKind, Predicate, PruningProgram, TruthValue,
    Verdict, ZoneColumns, ZoneMaps,
};
use prunus_statistics::{FieldId, Literal, PhysicalType, PrimitiveType};

type List = Option<Vec<Option<i32>>>;

const ELEMENTS: FieldId = FieldId(2);

fn program(filter: &Predicate) -> PruningProgram {
    let items = vec![ItemColumn { kind: ItemKind::Element, id: ELEMENTS, column_type: PrimitiveType::Int32 }];
    let list = Column { id: FieldId(1), path: vec!["l".to_owned()], column_type: None, items };
    PruningProgram::compile(BoundPredicate::bind(filter, &[list], &BindOptions::default()).unwrap())
}

/// The bounds of all elements of each container's lists, where they are known.
fn zone_maps(containers: &[Vec<List>], known: &[bool]) -> ZoneMaps {
    let side = |pick: fn(&mut dyn Iterator<Item = i32>) -> Option<i32>| -> ArrayRef {
        let bounds = containers.iter().zip(known).map(|(lists, known)| {
            let mut elements = lists.iter().flatten().flatten().flatten().copied();
            pick(&mut elements).filter(|_| *known)
        });
        Arc::new(bounds.collect::<Int32Array>())
    };
    let unknown = UInt64Array::from(vec![None; containers.len()]);
    let columns = ZoneColumns {
        min: &side(|elements| elements.min()),
        max: &side(|elements| elements.max()),
        null_count: &unknown,
        nan_count: &UInt64Array::from(vec![0; containers.len()]),
        valueless: &BooleanArray::from(vec![None; containers.len()]),
    };
    let rows: UInt64Array = containers.iter().map(|lists| Some(lists.len() as u64)).collect();
    let mut maps = ZoneMaps::new(&rows);
    maps.insert(ELEMENTS, ColumnZones::new(PhysicalType::Int32, &columns).unwrap()).unwrap();
    maps
}

/// What the filter is on a list, in an engine that makes null, or false, of a list with nulls that does not hold the value.
fn outcome(filter: &Predicate, list: &List, null_is_unknown: bool) -> Option<bool> {
    let inner = |filter: &Predicate| outcome(filter, list, null_is_unknown);
    match filter {
        Predicate::Contains { value: prunus_pruner::Expression::Literal(Literal::Number(sought)), .. } => {
            let list = list.as_ref()?;
            let holds = list.iter().flatten().any(|element| element.to_string() == sought.to_string());
            if !holds && null_is_unknown && list.contains(&None) { None } else { Some(holds) }
        }
        Predicate::Not(negated) => inner(negated).map(|value| !value),
        Predicate::Is { predicate, value, negated } => {
            let matching = match value {
                TruthValue::True => Some(true),
                TruthValue::False => Some(false),
                TruthValue::Unknown => None,
            };
            Some((inner(predicate) == matching) != *negated)
        }
        Predicate::And(parts) if parts.iter().any(|part| inner(part) == Some(false)) => Some(false),
        Predicate::Or(parts) if parts.iter().any(|part| inner(part) == Some(true)) => Some(true),
        Predicate::And(parts) => parts.iter().all(|part| inner(part).is_some()).then_some(true),
        Predicate::Or(parts) => parts.iter().all(|part| inner(part).is_some()).then_some(false),
        other => unreachable!("{other}"),
    }
}

proptest! {
    #[test]
    fn no_list_that_may_hold_the_value_is_skipped(
        containers in vec(vec(of(vec(of(0..8), 0..4)), 0..4), 1..8),
        known in vec(any::<bool>(), 8),
        a in 0..8,
        b in 0..8,
    ) {
        let zones = zone_maps(&containers, known.get(..containers.len()).unwrap());
        for filter in [
            format!("array_has(l, {a})"),
            format!("NOT array_has(l, {a})"),
            format!("{a} = ANY(l) AND list_contains(l, {b})"),
            format!("NOT (array_has(l, {a}) OR array_has(l, {b}))"),
            format!("array_has(l, {a}) OR NOT array_has(l, {b})"),
            format!("array_has(l, {a}) IS UNKNOWN"),
            format!("array_has(l, {a}) IS NOT TRUE AND array_has(l, {b}) IS NOT FALSE"),
        ] {
            let filter = Predicate::parse_sql(&filter).unwrap();
            assert_eq!(Predicate::parse_sql(&filter.to_string()).unwrap(), filter);
            let selection = program(&filter).evaluate(&zones);
            for (index, lists) in containers.iter().enumerate() {
                for (list, null_is_unknown) in lists.iter().flat_map(|list| [(list, true), (list, false)]) {
                    let outcome = outcome(&filter, list, null_is_unknown);
                    let verdict = selection.verdict(index);
                    assert!(verdict != Verdict::None || outcome != Some(true), "{filter} holds {list:?}");
                    assert!(verdict != Verdict::All || outcome == Some(true), "{filter} does not hold {list:?}");
                }
            }
        }
    }
}

#[test]
fn a_value_beyond_the_bounds_of_all_elements_is_in_no_list() {
    let containers = [vec![Some(vec![Some(3), Some(5)]), None], vec![Some(vec![Some(7)])]];
    let zones = zone_maps(&containers, &[true, true]);
    for (filter, expected) in [
        ("array_has(l, 4)", [Verdict::Some, Verdict::None]),
        ("array_has(l, 3) AND array_has(l, 5)", [Verdict::Some, Verdict::None]),
        ("array_has(l, 7) OR 9 = ANY(l)", [Verdict::None, Verdict::Some]),
        ("array_has(l, 9) IS TRUE", [Verdict::None, Verdict::None]),
        ("array_has(l, 9) IS UNKNOWN", [Verdict::Some, Verdict::Some]),
    ] {
        let selection = program(&Predicate::parse_sql(filter).unwrap()).evaluate(&zones);
        assert_eq!([0, 1].map(|index| selection.verdict(index)), expected, "{filter}");
    }
}
