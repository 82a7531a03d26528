//! The contract, held against rows: no container with a matching row is skipped, none with another row is called wholly
//! matching, whatever the engine that reads it does where engines differ.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "the helpers of tests are tests, too, but clippy does not see it"
)]

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use prunus_pruner::{IcebergForm, NanOrder, Predicate, PruningProgram, ResidualProgram, Selection, Verdict};
use prunus_statistics::ZoneMap;

#[path = "soundness/case.rs"]
mod case;
#[path = "soundness/choices.rs"]
mod choices;
#[path = "soundness/engine.rs"]
mod engine;
#[path = "soundness/exact.rs"]
mod exact;
#[path = "soundness/filters.rs"]
mod filters;
#[path = "soundness/iceberg.rs"]
mod iceberg;
#[path = "support/rounds.rs"]
mod rounds;
#[path = "soundness/rows.rs"]
mod rows;
#[path = "soundness/statistics.rs"]
mod statistics;
#[path = "support/zones.rs"]
mod zones;

use case::{Case, FILTERS};
use choices::Choices;
use rows::Row;
use statistics::Claims;
use zones::zone_maps;

const CONTAINERS: usize = 16;
const NAN_ORDERS: [NanOrder; 3] = [NanOrder::Any, NanOrder::Greatest, NanOrder::Ieee];

/// Iceberg expressions over the columns of a case.
fn iceberg_expressions(case: &Case) -> Vec<serde_json::Value> {
    let mut choices = Choices::new(case.seed.iter().rev().copied().collect());
    (0..FILTERS).map(|index| iceberg::expression(&mut choices, &case.columns, index)).collect()
}

/// Runs a property over this many cases, or as many times more as are asked for.
fn for_cases(cases: u32, property: impl Fn(&Case) -> Result<(), String>) {
    let rng_seed = rounds::seed().map_or(RngSeed::Random, RngSeed::Fixed);
    let config = Config { failure_persistence: None, max_shrink_iters: 1_000, rng_seed, ..Config::default() };
    let mut runner = TestRunner::new(Config { cases: cases * rounds::times(), ..config });
    let result = runner
        .run(&vec(any::<u32>(), 500..1000), |list| property(&Case::new(list, CONTAINERS)).map_err(TestCaseError::fail));
    match result {
        Err(TestError::Fail(fault, _)) => panic!("{fault}"),
        other => other.unwrap(),
    }
}

#[test]
fn no_matching_row_is_skipped_and_no_other_row_is_called_matching() {
    let (pairs, decided) = (Cell::new(0), Cell::new(0));
    for_cases(1_100, |case| {
        let maps = zone_maps(&case.columns, &case.row_counts(), &case.zones());
        for filter in &case.filters {
            for nan_order in NAN_ORDERS {
                let program = case.program(filter, nan_order);
                let selection = program.evaluate(&maps);
                for (index, (rows, claims)) in case.containers.iter().enumerate() {
                    let verdict = selection.verdict(index);
                    case.check(filter, nan_order, rows, verdict)
                        .map_err(|fault| format!("{fault}\nby {claims:?}\n{program}"))?;
                    decided.set(decided.get() + usize::from(verdict != Verdict::Some));
                }
            }
        }
        pairs.set(pairs.get() + case.filters.len() * case.containers.len());
        Ok(())
    });
    let (pairs, decided) = (pairs.get(), decided.get() / NAN_ORDERS.len());
    println!("{pairs} pairs of a predicate and a container, {decided} of them decided");
    assert!(pairs >= 100_000, "{pairs} pairs are too few");
    assert!(decided >= pairs / 5, "{decided} of {pairs} pairs decided is too few for the property to mean much");
}

#[test]
fn a_verdict_on_an_iceberg_expression_holds_for_iceberg_and_for_engines() {
    let decided = Cell::new(0);
    for_cases(300, |case| {
        let maps = zone_maps(&case.columns, &case.row_counts(), &case.zones());
        for json in iceberg_expressions(case) {
            let filter = Predicate::parse_iceberg_json(&json).unwrap_or_else(|fault| panic!("{json}: {fault}"));
            let selection = case.program(&filter, NanOrder::Any).evaluate(&maps);
            for (index, (rows, claims)) in case.containers.iter().enumerate() {
                let verdict = selection.verdict(index);
                case.check(&filter, NanOrder::Any, rows, verdict)
                    .map_err(|fault| format!("{fault}\nby {claims:?}\nas {json}"))?;
                decided.set(decided.get() + usize::from(verdict != Verdict::Some));
            }
        }
        Ok(())
    });
    assert!(decided.get() >= 300 * CONTAINERS, "{} pairs decided is too few", decided.get());
}

#[test]
fn an_iceberg_expression_reads_back_from_its_print() {
    for_cases(256, |case| {
        for json in iceberg_expressions(case) {
            let filter = Predicate::parse_iceberg_json(&json).unwrap();
            for form in [IcebergForm::Term, IcebergForm::Reference] {
                let Some(written) = filter.to_iceberg_json(form) else {
                    return Err(format!("{json} reads as {filter:?}, which is not written"));
                };
                if Predicate::parse_iceberg_json(&written).as_ref() != Ok(&filter) {
                    return Err(format!("{json} reads as {filter:?}\nis written as {written}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_residual_matches_the_rows_of_a_kept_container_that_its_filter_matches() {
    let (kept, smaller) = (Cell::new(0), Cell::new(0));
    for_cases(400, |case| {
        let maps = zone_maps(&case.columns, &case.row_counts(), &case.zones());
        let iceberg = iceberg_expressions(case);
        let iceberg = iceberg.iter().map(|json| (Predicate::parse_iceberg_json(json).unwrap(), true));
        let all = case.filters.iter().map(|filter| (filter.clone(), false)).chain(iceberg);
        for ((filter, is_iceberg), nan_order) in all.zip(NAN_ORDERS.into_iter().cycle()) {
            let selection = case.program(&filter, nan_order).evaluate(&maps);
            let program = ResidualProgram::new(&filter, &case.columns, &case.options(nan_order)).unwrap();
            let residuals = program.evaluate(&maps, &selection);
            for (index, (rows, claims)) in case.containers.iter().enumerate() {
                let verdict = selection.verdict(index);
                let Some(residual) = residuals.of(index) else {
                    assert_eq!(verdict, Verdict::None, "{filter}");
                    continue;
                };
                assert!(verdict != Verdict::None && (verdict != Verdict::All || residual.is_nothing()), "{filter}");
                let left = residual.predicate(&filter).unwrap_or(Predicate::Constant(Some(true)));
                kept.set(kept.get() + 1);
                smaller.set(smaller.get() + usize::from(verdict == Verdict::Some && left != filter));
                case.check_agreement(&filter, &written_and_read(&left, is_iceberg), nan_order, rows)
                    .map_err(|fault| format!("{fault}\nby {claims:?}"))?;
            }
        }
        Ok(())
    });
    let (kept, smaller) = (kept.get(), smaller.get());
    println!("{kept} kept containers, {smaller} with a smaller residual that is not empty");
    assert!(smaller >= kept / 50, "{smaller} of {kept} residuals are smaller: too few for the property to mean much");
}

/// A residual as its reader has it, in the language of its filter.
fn written_and_read(residual: &Predicate, is_iceberg: bool) -> Predicate {
    let read = if is_iceberg {
        let written =
            residual.to_iceberg_json(IcebergForm::Term).unwrap_or_else(|| panic!("{residual} is not written"));
        Predicate::parse_iceberg_json(&written)
    } else {
        Predicate::parse_sql(&residual.to_string())
    };
    read.unwrap_or_else(|fault| panic!("{residual}: {fault}"))
}

#[test]
fn many_containers_at_once_are_as_one_at_a_time() {
    for_cases(256, |case| {
        let (row_counts, zones) = (case.row_counts(), case.zones());
        let alone: Vec<_> = (0..CONTAINERS)
            .map(|at| {
                let one: Vec<Vec<ZoneMap>> = zones.iter().map(|column| vec![column[at].clone()]).collect();
                zone_maps(&case.columns, &row_counts[at..=at], &one)
            })
            .collect();
        let Some(filter) = case.filters.last() else { return Ok(()) };
        let program = case.program(filter, NanOrder::Any);
        let expected: Vec<Verdict> = alone.iter().map(|maps| program.evaluate(maps).verdict(0)).collect();
        for len in [0, 1, CONTAINERS, 63, 64, 65, 129] {
            let tiled: Vec<Vec<ZoneMap>> =
                zones.iter().map(|column| column.iter().cycle().take(len).cloned().collect()).collect();
            let counts: Vec<Option<u64>> = row_counts.iter().cycle().take(len).copied().collect();
            let selection = program.evaluate(&zone_maps(&case.columns, &counts, &tiled));
            if !expected.iter().cycle().take(len).copied().eq((0..len).map(|at| selection.verdict(at))) {
                return Err(format!("{filter} over {len} containers"));
            }
            is_consistent(&selection, &program, len).map_err(|fault| format!("{filter}: {fault}"))?;
        }
        Ok(())
    });
}

/// What a selection says of conjuncts must add up to what it says of containers.
fn is_consistent(selection: &Selection, program: &PruningProgram, len: usize) -> Result<(), String> {
    for index in 0..len {
        let by: Vec<usize> = (0..program.conjuncts().len())
            .filter(|conjunct| selection.pruned_by(*conjunct).is_some_and(|mask| mask.contains(index)))
            .collect();
        if by.len() > 1 || (selection.kept().contains(index) && !by.is_empty()) {
            return Err(format!("container {index} was pruned by {by:?}"));
        }
    }
    Ok(())
}

#[test]
fn merged_zone_maps_are_sound_for_the_rows_of_all() {
    for_cases(256, |case| {
        for width in [2, 3, CONTAINERS] {
            let groups: Vec<&[(Vec<Row>, Claims)]> = case.containers.chunks(width).collect();
            let row_counts: Vec<Option<u64>> =
                groups.iter().map(|group| group.iter().map(|(_, claims)| claims.row_count).sum()).collect();
            let zones: Vec<Vec<ZoneMap>> = case
                .zones()
                .iter()
                .map(|column| {
                    column.chunks(width).filter_map(|zones| zones.iter().cloned().reduce(ZoneMap::merge)).collect()
                })
                .collect();
            let maps = zone_maps(&case.columns, &row_counts, &zones);
            for filter in &case.filters {
                let program = case.program(filter, NanOrder::Any);
                let selection = program.evaluate(&maps);
                for (index, group) in groups.iter().enumerate() {
                    let rows: Vec<Row> = group.iter().flat_map(|(rows, _)| rows.iter().cloned()).collect();
                    let zone: Vec<&ZoneMap> = zones.iter().map(|column| &column[index]).collect();
                    case.check(filter, NanOrder::Any, &rows, selection.verdict(index))
                        .map_err(|fault| format!("{fault}\nby {zone:?}\n{program}"))?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_predicate_reads_back_from_its_print() {
    for_cases(256, |case| {
        for filter in &case.filters {
            let expected = flattened(filter);
            match Predicate::parse_sql(&filter.to_string()) {
                Ok(read) if read == expected => {}
                read => return Err(format!("{filter}\nas {expected:?}\nreads as {read:?}")),
            }
        }
        Ok(())
    });
}

/// A predicate without conjunctions in conjunctions and disjunctions in disjunctions: reading joins these to one.
fn flattened(predicate: &Predicate) -> Predicate {
    match predicate {
        Predicate::And(parts) => {
            let open = |part| if let Predicate::And(parts) = part { parts } else { vec![part] };
            Predicate::And(parts.iter().map(flattened).flat_map(open).collect())
        }
        Predicate::Or(parts) => {
            let open = |part| if let Predicate::Or(parts) = part { parts } else { vec![part] };
            Predicate::Or(parts.iter().map(flattened).flat_map(open).collect())
        }
        Predicate::Not(inner) => Predicate::Not(Box::new(flattened(inner))),
        Predicate::Is { predicate, value, negated } => {
            Predicate::Is { predicate: Box::new(flattened(predicate)), value: *value, negated: *negated }
        }
        other => other.clone(),
    }
}

/// What filters are made of, the common ones first; a bar stands between them.
const COMMON_WORDS: &str =
    "a|(|)|AND|OR|NOT|IS|NULL|=|<|>=|<>|1|-|'x'|b|IN|(1, 2)|BETWEEN|TRUE|UNKNOWN|DISTINCT FROM|IS NOT";
const RARE_WORDS: &str = "+|*|LIKE|DATE '2024-01-31'|f(a)|CAST(a AS INT)|,|CASE WHEN a THEN b END|X'00'|\"c d\"|1.5e3|[|]|::INT\
                          |AT TIME ZONE 'UTC'|COLLATE x|EXISTS|INTERVAL '1' DAY|ANY(a)|IS NOT DISTINCT FROM|e.f";

#[test]
fn whatever_reads_reads_back_the_same() {
    let common: Vec<&str> = COMMON_WORDS.split('|').collect();
    let all: Vec<&str> = common.iter().copied().chain(RARE_WORDS.split('|')).collect();
    let read = Cell::new(0);
    for_cases(256, |case| {
        let mut choices = Choices::new(case.seed.clone());
        for _ in 0..60 {
            let words = if choices.once_in(3) { &all } else { &common };
            let text: Vec<&str> = (0..=choices.below(9)).map(|_| choices.text(words)).collect();
            let text = text.join(" ");
            let Ok(predicate) = Predicate::parse_sql(&text) else { continue };
            // What is unsupported is printed by sqlparser, which may run operators together; and it takes a keyword where
            // none can stand for a column's name.
            let read_as = format!("{predicate:?}");
            let names_keyword =
                read_as.split("text: \"").skip(1).any(|rest| rest.starts_with(|first: char| first.is_uppercase()));
            if read_as.contains("Unsupported") || names_keyword {
                continue;
            }
            read.set(read.get() + 1);
            let again = Predicate::parse_sql(&predicate.to_string());
            if again.as_ref() != Ok(&predicate) {
                return Err(format!("{text}\nreads as {predicate:?}\nprints as {predicate}\nwhich reads as {again:?}"));
            }
        }
        Ok(())
    });
    assert!(read.get() >= 200, "{} texts that were filters are too few", read.get());
}
