//! How long does pruning take, beside DataFusion's `PruningPredicate` on the same statistics, and beside a loop made for the
//! one filter?
//!
//! `cargo bench -p prunus-pruner` first asserts that no container with a matching row is pruned, that all rows match where
//! that is said, and that whatever DataFusion prunes is pruned; then prints one table. A name as an argument, as in
//! `cargo bench -p prunus-pruner -- 'id = k'`, measures only the filters whose names contain it. The docs keep the last
//! table, in `docs/benchmarks.md`.
//!
//! One thread; its CPU time is measured, so that waiting for a core that others use does not count. The three take turns
//! within each round, and medians of the rounds are reported: what else weighs on the machine then weighs on all of them
//! alike, and ratios are worth more than times. Statistics are ready arrays for all; ours have
//! gone through `ColumnZones::new`, whose time stands in a table of its own, as does the time to compile filters.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    clippy::too_many_arguments,
    clippy::manual_is_multiple_of,
    clippy::struct_field_names,
    clippy::unchecked_time_subtraction,
    reason = "a bench may stop at the first fault, and its numbers are small"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use prunus_pruner::{BindOptions, BoundPredicate, Mask, Predicate, PruningProgram, Verdict};
use rustix::time::{ClockId, clock_gettime};

#[path = "pruning/data.rs"]
mod data;
#[path = "pruning/filters.rs"]
mod filters;
#[path = "pruning/floor.rs"]
mod floor;
#[path = "pruning/rival.rs"]
mod rival;

use data::{ROWS, Table};
use filters::Filter;
use rival::Rival;

/// DataFusion evaluates a list of 1,000 values as an expression that is as deep.
const STACK_BYTES: usize = 4 << 30;
const CONTAINERS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// The largest table of which the rows are made, too.
const MAX_WITH_ROWS: usize = 10_000;

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let run = move || {
        compiling(&wanted);
        pruning(&wanted);
        loading();
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).unwrap().join().unwrap();
}

fn pruning(wanted: &str) {
    println!("\n| filter | containers | kept | ours, µs | DataFusion, µs | times faster | floor, µs | ours / floor |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for containers in CONTAINERS {
        let table = Table::new(containers, containers <= MAX_WITH_ROWS);
        let zones = table.zone_maps();
        let rival = Rival::new(&table);
        for filter in Filter::all(&table).iter().filter(|filter| filter.name.contains(wanted)) {
            let program = program(filter, &table);
            let predicate = filter.for_datafusion.then(|| rival.build(rival.expression(&filter.text)));
            let floor = filter.floor(&table);
            let by_datafusion = predicate.as_ref().map(|predicate| predicate.prune(&table).unwrap());
            check(filter, &table, &rival, &program, by_datafusion.as_deref(), &floor());

            let mut ours = || drop(black_box(program.evaluate(black_box(&zones))));
            let mut datafusion =
                || drop(black_box(predicate.as_ref().map(|predicate| predicate.prune(black_box(&table)).unwrap())));
            let mut least = || drop(black_box(floor()));
            let [ours, datafusion, least] = medians([&mut ours, &mut datafusion, &mut least]);
            let kept = program.evaluate(&zones).kept().count();
            let (theirs, faster) = if filter.for_datafusion {
                (micros(datafusion), format!("{:.1}", ratio(datafusion, ours)))
            } else {
                ("cannot".to_owned(), String::new())
            };
            println!(
                "| {} | {containers} | {kept} | {} | {theirs} | {faster} | {} | {:.2} |",
                filter.name,
                micros(ours),
                micros(least),
                ratio(ours, least)
            );
        }
    }
}

/// What must hold for the times to mean anything.
fn check(
    filter: &Filter,
    table: &Table,
    rival: &Rival,
    program: &PruningProgram,
    by_datafusion: Option<&[bool]>,
    floor: &[u64],
) {
    let selection = program.evaluate(&table.zone_maps());
    let kept: &Mask = selection.kept();
    if table.containers <= MAX_WITH_ROWS {
        let matches = rival.matches(&filter.text, &table.rows());
        for (index, rows) in matches.chunks(ROWS).enumerate() {
            let verdict = selection.verdict(index);
            assert!(verdict != Verdict::None || !rows.contains(&true), "{}: a match in {index} pruned", filter.name);
            assert!(verdict != Verdict::All || !rows.contains(&false), "{}: a mismatch in {index}", filter.name);
        }
    }
    if let Some(by_datafusion) = by_datafusion {
        for (index, theirs) in by_datafusion.iter().enumerate() {
            assert!(*theirs || !kept.contains(index), "{}: {index} is kept, DataFusion prunes it", filter.name);
        }
    }
    for index in kept.indices() {
        assert!(floor[index / 64] >> (index % 64) & 1 == 1, "{}: {index} is kept, the floor prunes it", filter.name);
    }
}

fn program(filter: &Filter, table: &Table) -> PruningProgram {
    let program = compile(&filter.text, table);
    match &filter.instead {
        Some(instead) if program.conjuncts().iter().any(|conjunct| conjunct.unsupported.is_some()) => {
            compile(instead, table)
        }
        _ => program,
    }
}

fn compile(text: &str, table: &Table) -> PruningProgram {
    let predicate = Predicate::parse_sql(text).unwrap();
    let bound = BoundPredicate::bind(&predicate, &table.schema(), &BindOptions::default()).unwrap();
    PruningProgram::compile(bound)
}

/// From a filter's text, and from its parsed form, to what prunes.
fn compiling(wanted: &str) {
    println!(
        "\n| filter | ours from text, µs | ours from the predicate, µs | DataFusion from text, µs | its build alone, µs |"
    );
    println!("| --- | ---: | ---: | ---: | ---: |");
    let table = Table::new(1_000, false);
    let rival = Rival::new(&table);
    let schema = table.schema();
    for filter in Filter::all(&table).iter().filter(|filter| filter.name.contains(wanted)) {
        let predicate = Predicate::parse_sql(&filter.text).unwrap();
        let expression = filter.for_datafusion.then(|| rival.expression(&filter.text));
        let mut from_text = || drop(black_box(compile(black_box(&filter.text), &table)));
        let mut from_predicate = || {
            let bound = BoundPredicate::bind(black_box(&predicate), &schema, &BindOptions::default()).unwrap();
            drop(black_box(PruningProgram::compile(bound)));
        };
        let mut theirs = || {
            if filter.for_datafusion {
                drop(black_box(rival.build(rival.expression(black_box(&filter.text)))));
            }
        };
        let mut build = || drop(black_box(expression.clone().map(|expression| rival.build(expression))));
        let times = medians([&mut from_text, &mut from_predicate, &mut theirs, &mut build]);
        let [from_text, from_predicate, theirs, build] = times.map(micros);
        let (theirs, build) =
            if filter.for_datafusion { (theirs, build) } else { ("cannot".to_owned(), String::new()) };
        println!("| {} | {from_text} | {from_predicate} | {theirs} | {build} |", filter.name);
    }
}

/// From Arrow columns to zone maps.
fn loading() {
    println!("\n| column | containers | `ColumnZones::new`, µs |\n| --- | ---: | ---: |");
    let containers = 1_000_000;
    let table = Table::new(containers, false);
    for name in ["ts", "s"] {
        let column = table.column(name);
        let [time] = medians([&mut || drop(black_box(column.zones()))]);
        println!("| {name} | {containers} | {} |", micros(time));
    }
}

/// The median time of each, over rounds in which they take turns.
fn medians<const N: usize>(mut tasks: [&mut dyn FnMut(); N]) -> [Duration; N] {
    const ENOUGH: Duration = Duration::from_millis(400);
    const MIN_SAMPLE: Duration = Duration::from_micros(200);
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    let repeats: [u32; N] = std::array::from_fn(|at| {
        let once = cpu_time_of(&mut tasks[at], 1).max(Duration::from_nanos(20));
        u32::try_from(MIN_SAMPLE.as_nanos() / once.as_nanos()).unwrap() + 1
    });
    let started = Instant::now();
    while times[0].len() < 5 || (started.elapsed() < ENOUGH * N as u32 && times[0].len() < 301) {
        for ((task, times), repeats) in tasks.iter_mut().zip(&mut times).zip(repeats) {
            times.push(cpu_time_of(task, repeats) / repeats);
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

fn cpu_time_of(task: &mut dyn FnMut(), repeats: u32) -> Duration {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let started = now();
    for _ in 0..repeats {
        task();
    }
    now() - started
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

fn micros(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 100.0 { format!("{micros:.2}") } else { format!("{micros:.0}") }
}
