//! How much of what could be pruned is, by form of filter, beside DataFusion's pruner on the same statistics. The table stands in
//! `docs/pruning-power.md`, and must be that of today.

use std::fmt::{self, Write};

use datafusion::prelude::SessionContext;
use prunus_pruner::{BindOptions, BoundPredicate, Predicate, PruningProgram, Selection, Verdict};

use super::computed::generate::Random;
use super::session;

#[path = "power/data.rs"]
mod data;
#[path = "power/forms.rs"]
mod forms;
#[path = "power/provable.rs"]
mod provable;
#[path = "power/rival.rs"]
mod rival;

use data::Table;
use forms::{COMPUTED, Form, NESTED, PLAIN};
use provable::Provable;

const FILTERS: usize = 24;

/// What became of the containers of one form's filters.
#[derive(Default)]
struct Measured {
    without_match: usize,
    pruned: usize,
    pruned_by_datafusion: usize,
    /// Of containers that DataFusion prunes and we keep, those without a match.
    only_by_datafusion: usize,
    lost_by_datafusion: usize,
    /// Containers of which trying all rows shows that the statistics exclude a match, and which of these are pruned.
    provable: usize,
    proven: usize,
    wholly_matching: usize,
    called_all: usize,
}

fn evaluate(table: &Table, filter: &str) -> Selection {
    let predicate = Predicate::parse_sql(filter).unwrap();
    let bound = BoundPredicate::bind(&predicate, &table.columns, &BindOptions::default());
    PruningProgram::compile(bound.unwrap_or_else(|faults| panic!("{filter}: {faults:?}"))).evaluate(&table.maps)
}

impl Measured {
    fn of(form: &Form, table: &Table, provable: &Provable, context: &SessionContext, random: &mut Random) -> Self {
        let mut measured = Self::default();
        for _ in 0..FILTERS {
            let filter = (form.filter)(random);
            let expression = table.rows.plan(context, &filter).unwrap_or_else(|fault| panic!("{filter}: {fault}"));
            let outcomes = table.rows.outcomes(expression.as_ref());
            let selection = evaluate(table, &filter);
            let theirs = rival::kept(table, context, &filter);
            let no_match = form.of_integers.then(|| provable.no_match(context, &filter));
            for (index, truths) in outcomes.iter().enumerate() {
                let truths = truths.as_ref().unwrap_or_else(|| panic!("{filter} fails"));
                let (verdict, kept_by_datafusion) = (selection.verdict(index), theirs[index]);
                let matches = truths.contains(&Some(true));
                assert!(verdict != Verdict::None || !matches, "{filter} prunes a match");
                let all = truths.iter().all(|truth| *truth == Some(true));
                assert!(verdict != Verdict::All || all, "{filter} is not all");
                let pruned = usize::from(verdict == Verdict::None);
                measured.lost_by_datafusion += usize::from(matches && !kept_by_datafusion);
                if all {
                    measured.wholly_matching += 1;
                    measured.called_all += usize::from(verdict == Verdict::All);
                }
                if !matches {
                    measured.without_match += 1;
                    measured.pruned += pruned;
                    measured.pruned_by_datafusion += usize::from(!kept_by_datafusion);
                    measured.only_by_datafusion += usize::from(!kept_by_datafusion && pruned == 0);
                }
                if no_match.as_ref().is_some_and(|no_match| no_match[index] == Some(true)) {
                    measured.provable += 1;
                    measured.proven += pruned;
                }
            }
        }
        measured
    }
}

/// A share in percent.
struct Share(usize, usize);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self(_, 0) => f.write_str("-"),
            Self(part, whole) if part == whole => f.write_str("100"),
            Self(part, whole) => write!(f, "{:.1}", part as f64 * 100.0 / whole as f64),
        }
    }
}

fn row(form: &Form, measured: &Measured) -> String {
    let Measured { without_match, provable, wholly_matching, .. } = *measured;
    let lost = if measured.lost_by_datafusion == 0 { String::new() } else { measured.lost_by_datafusion.to_string() };
    format!(
        "| {} | {without_match} | {} | {} | {} | {wholly_matching} | {} | {lost} |\n",
        form.name,
        Share(measured.pruned, without_match),
        Share(measured.pruned_by_datafusion, without_match),
        Share(measured.proven, provable),
        Share(measured.called_all, wholly_matching),
    )
}

fn table() -> String {
    let mut random = Random(1);
    let table = Table::new(&mut random);
    let provable = Provable::new(&table);
    let context = session::context();
    let mut text = String::new();
    for (title, forms) in [("one column", PLAIN), ("conditions of conditions", NESTED), ("computed values", COMPUTED)] {
        writeln!(text, "| **{title}** | | | | | | | |").unwrap();
        for form in forms {
            let measured = Measured::of(form, &table, &provable, &context, &mut random);
            let only_theirs = measured.only_by_datafusion;
            assert!(
                form.engines_differ || only_theirs == 0,
                "{}: DataFusion prunes {only_theirs} that we keep",
                form.name
            );
            text += &row(form, &measured);
        }
    }
    text
}

#[test]
fn whatever_datafusion_prunes_is_pruned_and_the_table_of_pruning_power_is_true() {
    let documented = include_str!("../../../docs/pruning-power.md");
    let table = table();
    assert!(documented.contains(&table), "docs/pruning-power.md must have this table:\n{table}");
}
