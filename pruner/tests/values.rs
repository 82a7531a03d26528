//! Value expressions, held against rows and engines that differ; and that they prune.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    clippy::struct_excessive_bools,
    clippy::too_many_lines,
    clippy::needless_pass_by_value,
    clippy::wrong_self_convention,
    reason = "a plain evaluator over many choices; and the helpers of tests are tests, too, but clippy does not see it"
)]

use prunus_pruner::{BindOptions, BoundPredicate, NanOrder, Predicate, PruningProgram, ResidualProgram, Verdict};

#[path = "values/case.rs"]
mod case;
#[path = "values/engine.rs"]
mod engine;
#[path = "values/generate.rs"]
mod generate;
#[path = "values/power.rs"]
mod power;
#[path = "support/rounds.rs"]
mod rounds;
#[path = "support/zones.rs"]
mod zones;

use case::Case;
use engine::Engine;
use generate::Random;

const PREDICATES_AT_ONCE: usize = 4;
const CONTAINERS: usize = 16;
const ENGINES: usize = 24;
const ROUNDS: u32 = 1_100;

/// How a residual differs from its filter on a row, by one engine.
fn difference(engine: &Engine, filter: &Predicate, left: &Predicate, row: &[(&str, engine::Cell)]) -> Option<String> {
    let (Ok(whole), Ok(rest)) = (engine.predicate(filter, row), engine.predicate(left, row)) else { return None };
    ((whole == Some(true)) != (rest == Some(true)))
        .then(|| format!("{filter}\n  leaves {left}\n  is {whole:?} and {rest:?} on {row:?}\n  {engine:?}\n"))
}

#[test]
fn a_residual_of_computed_values_matches_the_rows_of_a_kept_container_that_its_filter_matches() {
    let mut random = Random(rounds::seed().unwrap_or(7));
    let mut smaller = 0;
    for _ in 0..600 * rounds::times() {
        let case = Case::new(&mut random, CONTAINERS);
        let maps = zones::zone_maps(&case.columns, &case.row_counts, &case.zones);
        for _ in 0..PREDICATES_AT_ONCE {
            let filter = generate::conjunction(&mut random);
            let options = BindOptions::default();
            let Ok(bound) = BoundPredicate::bind(&filter, &case.columns, &options) else { continue };
            let selection = PruningProgram::compile(bound).evaluate(&maps);
            let residuals = ResidualProgram::new(&filter, &case.columns, &options).unwrap();
            let residuals = residuals.evaluate(&maps, &selection);
            let engines: Vec<Engine> = (0..4).map(|_| Engine::any(&mut random)).collect();
            for (index, rows) in case.containers.iter().enumerate() {
                let Some(left) = residuals.of(index).and_then(|residual| residual.predicate(&filter)) else { continue };
                if left == filter {
                    continue;
                }
                smaller += 1;
                let left = Predicate::parse_sql(&left.to_string()).unwrap();
                for row in rows.iter().map(|row| generate::cells(row)) {
                    let found = engines.iter().find_map(|engine| difference(engine, &filter, &left, &row));
                    assert_eq!(found, None, "{}", found.clone().unwrap_or_default());
                }
            }
        }
    }
    assert!(smaller >= 2_000, "{smaller} residuals are too few");
}

#[test]
fn no_engine_contradicts_a_verdict_on_computed_values() {
    let mut random = Random(rounds::seed().unwrap_or(1));
    let (mut pairs, mut decided, mut judged, mut failed, mut faults) = (0, 0, 0, 0, Vec::new());
    for _ in 0..ROUNDS * rounds::times() {
        let case = Case::new(&mut random, CONTAINERS);
        let maps = zones::zone_maps(&case.columns, &case.row_counts, &case.zones);
        let cells: Vec<Vec<_>> =
            case.containers.iter().map(|rows| rows.iter().map(|row| generate::cells(row)).collect()).collect();
        for _ in 0..PREDICATES_AT_ONCE {
            let depth = 1 + random.below(3);
            let predicate = generate::predicate(&mut random, depth);
            let printed = predicate.to_string();
            match Predicate::parse_sql(&printed) {
                Ok(read) if read == predicate => {}
                other => panic!("{printed}\nreads as {other:?}\nand not {predicate:?}"),
            }
            let engines: Vec<Engine> = (0..ENGINES).map(|_| Engine::any(&mut random)).collect();
            for (nan_order, nan) in [(NanOrder::Any, None), (NanOrder::Greatest, Some(0)), (NanOrder::Ieee, Some(1))] {
                let options = BindOptions { nan_order, ..BindOptions::default() };
                let Ok(bound) = BoundPredicate::bind(&predicate, &case.columns, &options) else { continue };
                let selection = PruningProgram::compile(bound).evaluate(&maps);
                for (index, rows) in cells.iter().enumerate() {
                    let verdict = selection.verdict(index);
                    pairs += usize::from(nan.is_none());
                    if verdict == Verdict::Some {
                        continue;
                    }
                    decided += usize::from(nan.is_none());
                    for engine in engines.iter().filter(|engine| nan.is_none_or(|nan| engine.nan == nan)) {
                        for row in rows {
                            let Ok(outcome) = engine.predicate(&predicate, row) else {
                                failed += 1;
                                continue;
                            };
                            judged += 1;
                            if (verdict == Verdict::All) != (outcome == Some(true)) {
                                faults.push(format!("{verdict:?} under {nan_order:?}: {printed}\n  is {outcome:?} on {row:?}\n  {engine:?}\n"));
                            }
                        }
                    }
                }
            }
        }
    }
    println!("{pairs} pairs, {decided} decided; {judged} rows judged, {failed} on which the engine failed");
    assert!(judged > failed, "the engines know the expressions");
    faults.sort_by_key(String::len);
    faults.dedup_by_key(|fault| {
        fault.split('\n').next().unwrap_or_default().split(": ").nth(1).unwrap_or_default().to_owned()
    });
    let shown: Vec<String> = faults.iter().take(12).cloned().collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), shown.join("\n"));
}
