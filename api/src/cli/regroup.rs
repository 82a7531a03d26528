//! `prunus regroup`

use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::wire::{RegroupJson, RegroupedJson, TableLayoutJson};

use super::column_names::columns;
use super::connection::{Connection, KeyChoice};
use super::progress::Progress;
use super::{CliError, Exit, Side, count, counted, text_table};

const EXAMPLES: &str = "\
Examples:
  prunus regroup shop.orders --dry-run
  prunus regroup shop.orders --cluster-by customer --cluster-by day";

/// Group the manifests of a table anew, so that plans look into fewer of them
///
/// No snapshot changes by it, no file is rewritten, and no commit waits for it. The server does it by itself, too, now and then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RegroupArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// A column that manifests are clustered by from now on; may be given more than once [default: those of the table]
    #[arg(long, value_name = "COLUMN")]
    cluster_by: Vec<String>,

    /// Say how the table is laid out, and change nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: RegroupArgs) -> Result<Exit, CliError> {
    let client = args.key.on(args.connection.client()?);
    let cluster_by = Some(columns(&args.cluster_by)).filter(|columns| !columns.is_empty());
    let request = RegroupJson { cluster_by, dry_run: args.dry_run };
    let regrouped = Progress::of("grouping manifests anew").during(client.regroup(&args.table, &request)).await?;
    args.connection.answer(&regrouped, render)?;
    Ok(Exit::Done)
}

fn render(regrouped: &RegroupedJson) -> String {
    let mut table = text_table([
        ("", Side::Left),
        ("manifests", Side::Right),
        ("files in none", Side::Right),
        ("most that share a value", Side::Right),
    ]);
    table.add_row(row(if regrouped.dry_run { "now" } else { "before" }, regrouped.before));
    if let Some(after) = regrouped.after {
        table.add_row(row("after", after));
    }
    let order = match regrouped.cluster_by.as_slice() {
        [] => "in the order of arrival".to_owned(),
        columns => format!("by {}", columns.join(", ")),
    };
    let mut text = format!("{}\n", table.trim_fmt());
    let _ = if regrouped.dry_run {
        writeln!(text, "seen {order}; nothing was changed")
    } else {
        writeln!(text, "{order}: {} moved", counted(regrouped.entries_moved, "entry", "entries"))
    };
    text
}

fn row(title: &str, layout: TableLayoutJson) -> [String; 4] {
    let overlap = layout.overlap.map_or("not known".to_owned(), count);
    [title.to_owned(), count(layout.manifests), count(layout.tail_files), overlap]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn layouts_stand_beside_each_other() {
        let regrouped = json!({"dry_run": false, "cluster_by": ["day", "id"], "entries_moved": 8_192,
            "before": {"manifests": 12, "tail_files": 3, "overlap": 9}, "after": {"manifests": 3, "tail_files": 0, "overlap": null}});
        insta::assert_snapshot!(render(&serde_json::from_value(regrouped).unwrap()), @r"
                 manifests   files in none   most that share a value
        ─────────────────────────────────────────────────────────────
        before          12               3                         9
        after            3               0                 not known
        by day, id: 8,192 entries moved
        ");
    }

    #[test]
    fn a_dry_run_says_that_nothing_was_changed() {
        let dry = json!({"dry_run": true, "cluster_by": [], "entries_moved": 0, "after": null,
            "before": {"manifests": 12, "tail_files": 3, "overlap": 9}});
        let text = render(&serde_json::from_value(dry).unwrap());
        assert!(text.ends_with("seen in the order of arrival; nothing was changed\n"), "{text}");
    }
}
