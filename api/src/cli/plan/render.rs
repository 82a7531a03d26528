//! A plan as people read it.

use std::fmt::Write as _;

use crate::cli::output::lines;
use crate::cli::prose::shortened;
use crate::cli::{Side, bytes, count, counted, legible, micros, text_table};
use crate::wire::{ConjunctJson, PlanMetricsJson, PlannedJson, VerdictJson};

/// How much of a conjunct is shown: a list of a thousand values would leave no room for anything else.
const MAX_EXPRESSION_CHARS: usize = 80;

/// What was done, and the files that are left.
pub(super) fn plan(planned: &PlannedJson) -> String {
    let mut text = format!("snapshot {}\n", planned.snapshot_id);
    if let Some(metrics) = &planned.metrics {
        text.push_str(&totals(metrics));
        if !metrics.conjuncts.is_empty() {
            text.push_str(&conjuncts(&metrics.conjuncts));
        }
    }
    if !planned.files.is_empty() {
        let _ = writeln!(text, "\nfiles kept, `*` where every row matches:");
    }
    for file in &planned.files {
        let mark = match file.verdict {
            VerdictJson::Some => ' ',
            VerdictJson::All => '*',
        };
        let _ = writeln!(text, "{mark} {}", legible(&file.path));
    }
    let listed = planned.files.len() as u64;
    let kept = planned.metrics.as_ref().map_or(listed, |metrics| metrics.files_kept);
    // Without a token no files were asked for.
    if kept > listed && planned.next_page_token.is_some() {
        let _ = writeln!(text, "  ... and {} more", counted(kept - listed, "file", "files"));
    }
    text
}

/// The paths alone.
pub(super) fn paths(planned: &PlannedJson) -> String {
    lines(planned.files.iter().map(|file| file.path.as_str()))
}

pub(in crate::cli) fn totals(metrics: &PlanMetricsJson) -> String {
    let mut table =
        text_table([("", Side::Left), ("files", Side::Right), ("rows", Side::Right), ("size", Side::Right)]);
    let row = |title: &str, files, rows, size| [title.to_owned(), count(files), count(rows), bytes(size)];
    let (rows, size) = (metrics.rows_kept + metrics.rows_pruned, metrics.bytes_kept + metrics.bytes_pruned);
    table.add_row(row("considered", metrics.files_considered, rows, size));
    table.add_row(row("pruned", metrics.files_pruned, metrics.rows_pruned, metrics.bytes_pruned));
    table.add_row(row("kept", metrics.files_kept, metrics.rows_kept, metrics.bytes_kept));
    table.add_row(["  wholly matching", &count(metrics.files_all)]);
    let mut text = format!("{}\n", table.trim_fmt());
    if metrics.files_of_unknown_rows > 0 {
        let files = counted(metrics.files_of_unknown_rows, "file", "files");
        let _ = writeln!(text, "the rows of {files} are not known and not counted");
    }
    if metrics.files_pruned_as_declared > 0 {
        let files = counted(metrics.files_pruned_as_declared, "file", "files");
        let _ = writeln!(text, "{files} pruned on the word of their writers alone");
    }
    let _ = write!(text, "planned in {}", micros(metrics.timings_us.total));
    if metrics.manifests_considered > 0 {
        let (pruned, all) = (count(metrics.manifests_pruned), metrics.manifests_considered);
        let _ = write!(text, "; {pruned} of {} pruned as a whole", counted(all, "manifest", "manifests"));
    }
    text.push('\n');
    text
}

pub(in crate::cli) fn conjuncts(conjuncts: &[ConjunctJson]) -> String {
    let reason = |conjunct: &ConjunctJson| match (&conjunct.reason, conjunct.prunable) {
        (Some(reason), _) => shortened(reason, MAX_EXPRESSION_CHARS),
        (None, false) => "no rule for all of it".to_owned(),
        (None, true) => String::new(),
    };
    let unhindered = conjuncts.iter().all(|conjunct| reason(conjunct).is_empty());
    let (pruned, by) = (("pruned", Side::Right), ("by", Side::Left));
    let mut table = if unhindered {
        text_table([pruned, by])
    } else {
        text_table([pruned, by, ("could not prune more", Side::Left)])
    };
    for conjunct in conjuncts {
        let mut cells = vec![count(conjunct.files_pruned), shortened(&conjunct.expression, MAX_EXPRESSION_CHARS)];
        if !unhindered {
            cells.push(reason(conjunct));
        }
        table.add_row(cells);
    }
    format!("\n{}\n", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned() -> PlannedJson {
        serde_json::from_value(serde_json::json!({
            "snapshot_id": 4,
            "schema": {"schema_id": 1, "fields": []},
            "files": [
                {"file_id": 1, "path": "file:///a.parquet", "size_bytes": 10, "row_count": 5, "verdict": "some", "residual": "x > 1"},
                {"file_id": 2, "path": "file:///b.parquet", "size_bytes": 10, "row_count": 5, "verdict": "all", "residual": null},
            ],
            "metrics": {
                "manifests_considered": 2, "manifests_pruned": 1, "parts_read": 2, "parts_cached": 0,
                "files_considered": 6_000, "files_pruned": 5_997, "files_kept": 3,
                "files_all": 1, "rows_kept": 1500, "rows_pruned": 3_000_000, "bytes_kept": 40_000, "bytes_pruned": 90_000_000,
                "files_of_unknown_rows": 1,
                "conjuncts": [
                    {"expression": "x > 1", "files_pruned": 5_997, "prunable": true},
                    {"expression": "f(y)", "files_pruned": 0, "prunable": false, "reason": "unsupported form"},
                ],
                "timings_us": {"bind": 1, "manifests": 1, "files": 1, "entries": 1, "total": 1234}
            },
            "next_page_token": "x"
        }))
        .unwrap()
    }

    #[test]
    fn a_plan_is_shown_with_what_was_done() {
        insta::assert_snapshot!(plan(&planned()), @r#"
        snapshot 4
                            files        rows       size
        ─────────────────────────────────────────────────
        considered          6,000   3,001,500   85.8 MiB
        pruned              5,997   3,000,000   85.8 MiB
        kept                    3       1,500   39.0 KiB
          wholly matching       1
        the rows of 1 file are not known and not counted
        planned in 1.23 ms; 1 of 2 manifests pruned as a whole

        pruned   by      could not prune more
        ──────────────────────────────────────
         5,997   x > 1
             0   f(y)    unsupported form

        files kept, `*` where every row matches:
          file:///a.parquet
        * file:///b.parquet
          ... and 1 file more
        "#);
    }

    #[test]
    fn a_dry_run_has_no_files_that_it_left_out() {
        let mut dry = planned();
        (dry.files, dry.next_page_token) = (Vec::new(), None);
        assert!(!plan(&dry).contains("... and"), "{}", plan(&dry));
    }

    #[test]
    fn a_column_of_reasons_is_there_where_there_is_one() {
        let mut unhindered = planned().metrics.unwrap().conjuncts;
        unhindered.truncate(1);
        insta::assert_snapshot!(conjuncts(&unhindered), @r"

        pruned   by
        ───────────────
         5,997   x > 1
        ");
    }

    #[test]
    fn paths_alone_are_one_a_line() {
        assert_eq!(paths(&planned()), "file:///a.parquet\nfile:///b.parquet\n");
    }
}
