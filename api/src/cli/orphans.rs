//! `prunus orphans`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::client::Page;
use crate::wire::OrphansJson;

use super::connection::Connection;
use super::output::{lines, print};
use super::pages::{LimitArgs, cut_note, join};
use super::time::time;
use super::{CliError, Exit, Side, bytes, counted, text_table};

const EXAMPLES: &str = "\
Examples:
  prunus orphans shop.orders
  prunus orphans shop.orders --older-than 2026-01-01T00:00:00Z --quiet > to-look-at.txt";

/// List the objects below a table's location that no file of any table is
///
/// They were never registered, or are forgotten. Nothing is deleted. Look at their age before you do that: a writer uploads a file
/// before it commits.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct OrphansArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// Those written before this time, such as 2026-01-31T12:00:00Z, 2026-01-31, or 12h: twelve hours ago [default: 3d]
    #[arg(long, value_name = "TIME", value_parser = time)]
    older_than: Option<String>,

    #[command(flatten)]
    limit: LimitArgs,

    /// Print the paths alone
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: OrphansArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let load = async |page: Page| client.list_orphans(&args.table, args.older_than.as_deref(), &page).await;
    let listed = join("orphans", args.limit.most(), load).await?;
    if args.quiet {
        print(&lines(listed.orphans.iter().map(|orphan| orphan.path.as_str())))?;
    } else {
        args.connection.answer(&listed, render)?;
    }
    Ok(Exit::Done)
}

fn render(listed: &OrphansJson) -> String {
    let mut table = text_table([("size", Side::Right), ("written", Side::Left), ("path", Side::Left)]);
    for orphan in &listed.orphans {
        table.add_row([bytes(orphan.size_bytes), orphan.last_modified.clone(), orphan.path.clone()]);
    }
    let rows = if listed.orphans.is_empty() { String::new() } else { format!("{}\n", table.trim_fmt()) };
    let all = counted(listed.orphans.len() as u64, "orphan", "orphans");
    let size = bytes(listed.orphans.iter().map(|orphan| orphan.size_bytes).sum());
    let note = cut_note(listed.next_page_token.as_ref());
    format!("{rows}{note}{all} ({size}) written before {}\n", listed.older_than)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn orphans_are_a_table_with_their_sum() {
        let orphan = json!({"path": "s3://b/x", "size_bytes": 2_048, "last_modified": "2026-01-01T00:00:00.000Z"});
        let listed = json!({"older_than": "2026-02-01T00:00:00.000Z", "orphans": [orphan, orphan]});
        insta::assert_snapshot!(render(&serde_json::from_value(listed).unwrap()), @r"
           size   written                    path
        ──────────────────────────────────────────────
        2.0 KiB   2026-01-01T00:00:00.000Z   s3://b/x
        2.0 KiB   2026-01-01T00:00:00.000Z   s3://b/x
        2 orphans (4.0 KiB) written before 2026-02-01T00:00:00.000Z
        ");
        let none = json!({"older_than": "2026-02-01T00:00:00.000Z", "orphans": []});
        let none = render(&serde_json::from_value(none).unwrap());
        assert_eq!(none, "0 orphans (0 B) written before 2026-02-01T00:00:00.000Z\n");
    }
}
