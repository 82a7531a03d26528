//! Why a file is kept or pruned, as people read it.

use std::fmt::Write as _;

use crate::cli::prose::{Paint, Role, shortened, wrapped};
use crate::cli::statistics::Columns;
use crate::wire::{ExplainedConjunctJson, ExplainedJson, ExplainedVerdictJson};

/// How much of a conjunct is shown.
const MAX_EXPRESSION_CHARS: usize = 60;
/// Sentences and statistics stand below their conjunct.
const INDENT: usize = 5;

/// Whether the statistics that each conjunct reads are shown.
#[derive(Clone, Debug)]
pub(in crate::cli) enum WithStatistics {
    /// As a table below its sentence.
    Shown(Columns),
    /// The sentences say enough.
    Omitted,
}

/// The verdict on a file, and what each conjunct contributes to it.
pub(in crate::cli) fn file(path: &str, explained: &ExplainedJson, statistics: &WithStatistics, paint: Paint) -> String {
    let mut text = format!("{}\n{}", paint.mark(Role::Heading, path), wrapped(&verdict(explained), 2));
    for (index, conjunct) in explained.conjuncts.iter().enumerate() {
        let place = format!("{:>3}", index + 1);
        let expression = shortened(&conjunct.expression, MAX_EXPRESSION_CHARS);
        let (role, outcome) = outcome(conjunct);
        let _ = write!(text, "\n{place}  {expression}: {}\n", paint.mark(role, outcome));
        text.push_str(&wrapped(&conjunct.sentence, INDENT));
        if let WithStatistics::Shown(columns) = statistics
            && !conjunct.statistics.is_empty()
        {
            text.push_str(&indented(&columns.table(&conjunct.statistics, None)));
        }
    }
    text
}

fn verdict(explained: &ExplainedJson) -> String {
    let all = explained.conjuncts.len();
    match (explained.verdict, explained.pruned_by) {
        (ExplainedVerdictJson::None, Some(index)) if all > 1 => {
            format!("pruned: conjunct {} of {all} is true on no row", index + 1)
        }
        (ExplainedVerdictJson::None, Some(_)) => "pruned: the filter is true on no row".to_owned(),
        (ExplainedVerdictJson::None, None) => "pruned: it has no rows".to_owned(),
        (ExplainedVerdictJson::Some, _) => "kept: some rows may match, and the reader has to filter them".to_owned(),
        (ExplainedVerdictJson::All, _) => "kept: every row matches, and nothing is left to filter".to_owned(),
    }
}

/// What a conjunct does to the file, from the values that it may have on its rows.
fn outcome(conjunct: &ExplainedConjunctJson) -> (Role, &'static str) {
    let may_be = |outcome: &str| conjunct.outcomes.iter().any(|known| known == outcome);
    match (may_be("true"), may_be("false") || may_be("null")) {
        (true, false) => (Role::Good, "true on every row"),
        (true, true) => (Role::Notable, "may be true"),
        (false, _) => (Role::Good, "true on no row"),
    }
}

fn indented(table: &str) -> String {
    table.lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{:INDENT$}{line}", "");
        text
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn explained(verdict: &str, pruned_by: Option<usize>) -> ExplainedJson {
        let statistics = json!({"amount": {"min": 0, "max": 9, "min_precision": "bound", "max_precision": "exact",
            "null_count": 0, "nan_count": null, "provenance": {"min": "footer", "max": "scanned", "null_count": "footer"}}});
        serde_json::from_value(json!({"verdict": verdict, "pruned_by": pruned_by, "conjuncts": [
            {"expression": "amount >= 10", "outcomes": ["false"], "statistics": statistics,
             "sentence": "`amount >= 10` is false on every row: the largest `amount` is 9"},
            {"expression": "lower(city) = 'x'", "outcomes": ["true", "false", "null"], "statistics": {},
             "sentence": "`lower(city) = 'x'` may be true, false or null: nothing is known of what `lower` makes of a text, whatever its bounds"},
        ]}))
        .unwrap()
    }

    #[test]
    fn a_file_is_explained_conjunct_by_conjunct() {
        let text = file(
            "s3://b/a.parquet",
            &explained("none", Some(0)),
            &WithStatistics::Shown(Columns::default()),
            Paint::Plain,
        );
        insta::assert_snapshot!(text, @r"
        s3://b/a.parquet
          pruned: conjunct 1 of 2 is true on no row

          1  amount >= 10: true on no row
             `amount >= 10` is false on every row: the largest `amount` is 9
             column   statistic   value     precision   from
             ───────────────────────────────────────────────────
             amount   min         0         bound       footer
                      max         9         exact       scanned
                      nulls       0                     footer
                      NaNs        unknown

          2  lower(city) = 'x': may be true
             `lower(city) = 'x'` may be true, false or null: nothing is known of what
             `lower` makes of a text, whatever its bounds
        ");
    }

    #[test]
    fn sentences_can_do_without_statistics() {
        let text = file("s3://b/a.parquet", &explained("some", None), &WithStatistics::Omitted, Paint::Plain);
        assert!(!text.contains("scanned"), "{text}");
    }

    #[test]
    fn every_verdict_says_what_is_left_to_do() {
        for (verdict_name, pruned_by, expected) in [
            ("none", Some(1), "pruned: conjunct 2 of 2 is true on no row"),
            ("none", None, "pruned: it has no rows"),
            ("some", None, "kept: some rows may match, and the reader has to filter them"),
            ("all", None, "kept: every row matches, and nothing is left to filter"),
        ] {
            assert_eq!(verdict(&explained(verdict_name, pruned_by)), expected);
        }
    }
}
