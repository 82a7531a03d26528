//! `prunus table columns`

use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::progress::Progress;
use crate::cli::scan::SnapshotArgs;
use crate::cli::{CliError, Exit, Side, count, counted, text_table};
use crate::wire::{ColumnFilesJson, CountFilesJson, CoverageJson, ObstacleReasonJson, ShareJson, SideFilesJson};

const EXAMPLES: &str = "\
Example:
  prunus table columns shop.orders";

/// Show how much is known of each column of a table, and where that kept filters from pruning
///
/// Of each column: in how many files its lower and upper bounds are known and exact, which files are known to hold no value, where
/// nulls and NaNs are counted, and how many files one value hits. Then the filters since the server's start that could not prune
/// because of a column.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ColumnsArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    snapshot: SnapshotArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ColumnsArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let snapshot = args.snapshot.choice(&client, &args.table).await?;
    let coverage = Progress::of("looking at columns").during(client.load_coverage(&args.table, &snapshot)).await?;
    args.connection.answer(&coverage, render)?;
    Ok(Exit::Done)
}

fn render(coverage: &CoverageJson) -> String {
    let files = counted(coverage.files, "file", "files");
    let mut text = format!("snapshot {}, {files}\n\n", coverage.snapshot_id);
    let mut columns = text_table([
        ("id", Side::Right),
        ("column", Side::Left),
        ("type", Side::Left),
        ("min", Side::Right),
        ("exact", Side::Right),
        ("max", Side::Right),
        ("exact", Side::Right),
        ("no values", Side::Right),
        ("nulls", Side::Right),
        ("NaNs", Side::Right),
        ("hit: mean", Side::Right),
        ("max", Side::Right),
    ]);
    for column in &coverage.columns {
        let named = [column.id.clone(), column.name.clone(), column.column_type.clone()];
        let known = column.statistics.as_ref().map(|files| known(files, coverage.files));
        columns.add_row(named.into_iter().chain(known.into_iter().flatten()));
    }
    let _ = write!(text, "{}\n\n{}", columns.trim_fmt(), obstacles(coverage));
    text
}

/// The cells that say in how many of all files what is known.
fn known(files: &ColumnFilesJson, all: u64) -> [String; 9] {
    let share = |share: ShareJson| of_files(share.files, all);
    let counted = |count: Option<CountFilesJson>| count.map(|count| share(count.known)).unwrap_or_default();
    let bounds = |side: SideFilesJson| of_files(side.exact.files + side.bound.files, all);
    [
        bounds(files.min),
        share(files.min.exact),
        bounds(files.max),
        share(files.max.exact),
        share(files.without_values),
        counted(files.null_count),
        counted(files.nan_count),
        format!("{:.1}", files.overlap.mean),
        count(files.overlap.max),
    ]
}

/// All but all is never shown as all, nor a few as none.
#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
pub(in crate::cli) fn of_files(files: u64, all: u64) -> String {
    match files {
        0 => "none".to_owned(),
        files if files == all => "all".to_owned(),
        files => format!("{:.1}%", (files as f64 / all as f64 * 100.0).clamp(0.1, 99.9)),
    }
}

fn obstacles(coverage: &CoverageJson) -> String {
    let since = &coverage.obstacles_since;
    if coverage.columns.iter().all(|column| column.obstacles.is_empty()) {
        return format!("no filter met an obstacle since {since}\n");
    }
    let mut table = text_table([
        ("column", Side::Left),
        ("in the way", Side::Left),
        ("plans", Side::Right),
        ("last", Side::Left),
        ("for example", Side::Left),
    ]);
    for column in &coverage.columns {
        for met in &column.obstacles {
            let reason = reason_text(met.reason).to_owned();
            table.add_row([column.name.clone(), reason, count(met.plans), met.last_at.clone(), met.example.clone()]);
        }
    }
    format!("filters that could not prune in some file, since {since}:\n\n{}\n", table.trim_fmt())
}

fn reason_text(reason: ObstacleReasonJson) -> &'static str {
    match reason {
        ObstacleReasonJson::Unsupported => "no rule for the conjunct",
        ObstacleReasonJson::WithoutStatistics => "no bounds or counts",
        ObstacleReasonJson::NanCountUnknown => "NaN count unknown",
        ObstacleReasonJson::NansAlone => "NaNs alone may match",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn coverage(obstacles: &serde_json::Value) -> CoverageJson {
        let share = |files: u64| json!({"files": files, "share": 0.5});
        let provenance = json!({"declared": 0, "footer": 3, "scanned": 0, "constant": 0});
        let side = |exact, bound| {
            json!({"exact": share(exact), "bound": share(bound), "estimate": share(0), "unknown": share(0),
                "provenance": provenance})
        };
        let counts = |known| json!({"known": share(known), "unknown": share(0), "provenance": provenance});
        serde_json::from_value(json!({
            "snapshot_id": 3, "schema_id": 0, "files": 2_000, "obstacles_since": "2026-01-01T00:00:00.000Z",
            "columns": [
                {"id": "#1", "name": "price", "type": "float64", "obstacles": obstacles, "statistics": {
                    "without_values": share(1), "absent": share(1), "min": side(500, 500), "max": side(0, 1_999),
                    "null_count": counts(2_000), "nan_count": counts(0), "overlap": {"mean": 1.5, "max": 1_200}
                }},
                {"id": "#2", "name": "tags", "type": "list", "statistics": null, "obstacles": []}
            ]
        }))
        .unwrap()
    }

    #[test]
    fn columns_are_a_table() {
        let obstacles = json!([{
            "reason": "nan_count_unknown", "plans": 12, "last_at": "2026-01-02T00:00:00.000Z", "example": "price > 5"
        }]);
        insta::assert_snapshot!(render(&coverage(&obstacles)), @r#"
        snapshot 3, 2,000 files

        id   column   type        min   exact     max   exact   no values   nulls   NaNs   hit: mean     max
        ─────────────────────────────────────────────────────────────────────────────────────────────────────
        #1   price    float64   50.0%   25.0%   99.9%    none        0.1%     all   none         1.5   1,200
        #2   tags     list

        filters that could not prune in some file, since 2026-01-01T00:00:00.000Z:

        column   in the way          plans   last                       for example
        ────────────────────────────────────────────────────────────────────────────
        price    NaN count unknown      12   2026-01-02T00:00:00.000Z   price > 5
        "#);
    }

    #[test]
    fn a_table_that_was_in_no_filters_way_says_so() {
        let text = render(&coverage(&json!([])));
        assert!(text.ends_with("\n\nno filter met an obstacle since 2026-01-01T00:00:00.000Z\n"), "{text}");
    }

    #[test]
    fn nearly_all_is_not_all_and_a_few_are_not_none() {
        let texts = [0, 1, 50_000, 99_999, 100_000].map(|files| of_files(files, 100_000));
        assert_eq!(texts, ["none", "0.1%", "50.0%", "99.9%", "all"]);
        assert_eq!(of_files(0, 0), "none");
    }
}
