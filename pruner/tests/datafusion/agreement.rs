//! The engines of our own, set to DataFusion's choices, held against DataFusion: they must give the same for the same row.

use prunus_pruner::Predicate;
use prunus_statistics::{Number, Value};

use super::computed::case::Case as ComputedCase;
use super::computed::engine::Engine as ComputedEngine;
use super::computed::generate::{self, Random};
use super::contract::Table;
use super::plain::case::Case;
use super::plain::engine::{Engine, Evaluation, Nan, Rounding};
use super::plain::rows::Row;
use super::{filters, plain_case, rounds, session};

/// DataFusion, a literal that the column's type cannot hold taken in some way, and the zeros of floats in IN told apart, where
/// it sees their bits.
fn plain_engines() -> impl Iterator<Item = Engine> {
    [Rounding::Nearest, Rounding::Down, Rounding::Up].into_iter().flat_map(|rounding| {
        [false, true].map(|splits_zeros| Engine {
            nan: Nan::Total,
            splits_zeros,
            rounding,
            zone: 0,
            session_in_utc: true,
        })
    })
}

/// Whether our engine compares these numbers as DataFusion does: it takes all integers for exact.
fn is_exact(case: &Case, filter: &Predicate, row: &Row) -> bool {
    let text = filter.to_string();
    let words = || text.split(|character: char| !(character.is_ascii_alphanumeric() || ".+-".contains(character)));
    let has_float = || words().any(|word| Number::parse(word).is_some_and(Number::is_float_notation));
    let is_large = |cell: &Option<Value>| matches!(cell, Some(Value::Integer(value)) if value.abs() > 1 << 53);
    !case.types().iter().zip(row).any(|(column_type, cell)| column_type.is_integer() && is_large(cell)) || !has_float()
}

#[test]
fn the_engine_of_plain_columns_is_datafusion_on_every_row() {
    let mut random = Random(rounds::seed().unwrap_or(4));
    let context = session::context();
    let (mut judged, mut alike) = (0, 0);
    for _ in 0..60 * rounds::times() {
        let case = plain_case(&mut random, 16);
        let table = Table::of_plain(&case);
        for filter in filters(&case) {
            let Ok(expression) = table.rows.plan(&context, &filter.to_string()) else { continue };
            for (rows, theirs) in table.containers.iter().zip(table.rows.outcomes(expression.as_ref())) {
                for (row, theirs) in rows.iter().zip(theirs.into_iter().flatten()) {
                    if !is_exact(&case, filter, row) {
                        continue;
                    }
                    // What only an engine knows, such as a text beside a binary column, depends on the salt.
                    let evaluate = |(engine, salt)| {
                        Evaluation { engine, columns: &case.columns, row, salt }.predicate(filter) == theirs
                    };
                    let found =
                        plain_engines().flat_map(|engine| [0, 1, 2].map(|salt| (engine, salt))).position(evaluate);
                    let found =
                        found.unwrap_or_else(|| panic!("{filter}\nis {theirs:?} on {row:?}, {:?}", case.types()));
                    judged += 1;
                    alike += usize::from(found == 0);
                }
            }
        }
    }
    assert!(judged >= 20_000 && alike >= judged / 100 * 95, "of {judged} rows {alike} by the first engine");
}

/// DataFusion, as far as one engine has one choice: it rounds in some places and truncates in others, and numbers weekdays
/// from Sunday where it cuts weeks at Monday. The likeliest comes first.
fn computed_engines() -> Vec<ComputedEngine> {
    let mut engines = Vec::new();
    for rounding in [1, 0, 2] {
        for first_weekday in [3, 4] {
            for backslash in [true, false] {
                for single_math in [false, true] {
                    engines.push(ComputedEngine {
                        nan: 2,
                        overflow: 0,
                        exact_division: false,
                        zero_division_is_null: false,
                        rounding,
                        cast_overflow: 2,
                        fraction_is_float: true,
                        single_math,
                        first_weekday,
                        offset: 0,
                        skips_nulls: true,
                        backslash,
                        nan_of_null: None,
                        floor_is_bigint: false,
                        literal_bits: 64,
                        milliseconds: false,
                        summer: 0,
                        local_is_instant: false,
                        dates_stay_dates: true,
                        whole_seconds: false,
                        beyond_nanoseconds: 1,
                        splits_zeros: true,
                        whole_is_float: true,
                        decimal_beside_float: true,
                        unifies_lists: true,
                        casts_to_infinity: true,
                    });
                }
            }
        }
    }
    engines
}

/// Rows judged, and what was said of those on which the two differ.
fn differences(random: &mut Random, depth: usize) -> (usize, Vec<String>) {
    let context = session::context();
    let engines = computed_engines();
    let (mut judged, mut differences) = (0, Vec::new());
    for _ in 0..80 * rounds::times() {
        let table = Table::of_computed(ComputedCase::new(random, 16));
        for _ in 0..16 {
            let filter = generate::predicate(random, depth);
            let Ok(expression) = table.rows.plan(&context, &filter.to_string()) else { continue };
            for (rows, theirs) in table.containers.iter().zip(table.rows.outcomes(expression.as_ref())) {
                for (row, theirs) in rows.iter().zip(theirs.into_iter().flatten()) {
                    let cells = generate::cells(row);
                    let mut outcomes = engines.iter().filter_map(|engine| engine.predicate(&filter, &cells).ok());
                    let Some(first) = outcomes.next() else { continue };
                    judged += 1;
                    if first != theirs && !outcomes.any(|ours| ours == theirs) {
                        differences.push(format!("{filter}\nis {theirs:?} and not {first:?} on {cells:?}"));
                    }
                }
            }
        }
    }
    (judged, differences)
}

#[test]
fn the_engine_of_values_is_datafusion_on_every_row_where_nothing_is_computed() {
    let (judged, differences) = differences(&mut Random(rounds::seed().unwrap_or(5)), 0);
    assert!(judged >= 50_000, "{judged} rows");
    assert!(differences.is_empty(), "{differences:#?}");
}

/// On what remains the two differ in how they make one type of a literal beyond 53 bits and of others.
#[test]
fn the_engine_of_values_is_datafusion_on_nearly_every_row_where_something_is_computed() {
    for depth in [1, 2] {
        let (judged, differences) = differences(&mut Random(rounds::seed().unwrap_or(6)), depth);
        assert!(judged >= 50_000, "{judged} rows");
        assert!(differences.len() <= judged / 2_000, "{} of {judged} rows: {differences:#?}", differences.len());
    }
}
