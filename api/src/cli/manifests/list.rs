//! `prunus manifests list`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::pages::{LimitArgs, cut_note, join};
use crate::cli::scan::SnapshotArgs;
use crate::cli::{CliError, Exit, Side, bytes, count, text_table};
use crate::client::Page;
use crate::wire::{ManifestsJson, TotalsJson};

const EXAMPLES: &str = "\
Example:
  prunus manifests list shop.orders";

/// List the manifests that hold a live file of a snapshot, and what of them is live in it
///
/// The tail comes last: the newest files, which are in no manifest yet, and which every plan looks at one by one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// The table, as NAMESPACE.TABLE
    // By this group it is told whether they are there at all, in `prunus manifests TABLE`; of arguments with others below clap fills in none.
    #[arg(value_name = "TABLE", group = "ListArgs")]
    table: TableIdent,

    #[command(flatten)]
    snapshot: SnapshotArgs,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let snapshot = args.snapshot.choice(&client, &args.table).await?;
    let load = async |page: Page| client.list_manifests(&args.table, &snapshot, &page).await;
    let listed = join("manifests", args.limit.most(), load).await?;
    args.connection.answer(&listed, render)?;
    Ok(Exit::Done)
}

fn render(listed: &ManifestsJson) -> String {
    let mut table = text_table([
        ("manifest", Side::Right),
        ("files", Side::Right),
        ("rows", Side::Right),
        ("size", Side::Right),
        ("files not live", Side::Right),
        ("added in", Side::Left),
    ]);
    for manifest in &listed.manifests {
        let live = manifest.live;
        let others = manifest.entries.map_or(0, |entries| entries.files.saturating_sub(live.files));
        let (first, last) = (manifest.first_added_snapshot, manifest.last_added_snapshot);
        let added = if first == last { first.to_string() } else { format!("{first} to {last}") };
        let [files, rows, size] = totals(live);
        table.add_row([manifest.manifest_id.to_string(), files, rows, size, count(others), added]);
    }
    if let Some(tail) = listed.tail {
        let [files, rows, size] = totals(tail);
        table.add_row(["tail".to_owned(), files, rows, size, String::new(), String::new()]);
    }
    let note = cut_note(listed.next_page_token.as_ref());
    format!("snapshot {}\n\n{}\n{note}", listed.snapshot_id, table.trim_fmt())
}

fn totals(totals: TotalsJson) -> [String; 3] {
    [count(totals.files), count(totals.rows), bytes(totals.bytes)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn manifests_and_the_tail_are_a_table() {
        let listed = json!({"snapshot_id": 9, "tail": {"files": 3, "rows": 30, "bytes": 300}, "manifests": [
            {"manifest_id": 4, "files": 4_096, "rows": 1_234_567, "bytes": 9_000_000, "first_added_snapshot": 1, "last_added_snapshot": 7},
            {"manifest_id": 6, "files": 5, "rows": 50, "bytes": 500, "first_added_snapshot": 8, "last_added_snapshot": 8,
             "entries": {"files": 8, "rows": 80, "bytes": 800}},
        ]});
        insta::assert_snapshot!(render(&serde_json::from_value(listed).unwrap()), @r"
        snapshot 9

        manifest   files        rows      size   files not live   added in
        ───────────────────────────────────────────────────────────────────
               4   4,096   1,234,567   8.5 MiB                0   1 to 7
               6       5          50     500 B                3   8
            tail       3          30     300 B
        ");
    }
}
