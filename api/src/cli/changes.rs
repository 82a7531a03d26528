//! `prunus changes`

use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::client::{Client, ClientError, Page};
use crate::wire::ChangesJson;

use super::connection::Connection;
use super::pages::{LimitArgs, cut_note, join};
use super::scan::number;
use super::{CliError, Exit, count, legible};

const EXAMPLES: &str = "\
Examples:
  prunus changes shop.orders --from 3              # what came and went since snapshot 3
  prunus changes shop.orders --from 0 --to 3       # the files of snapshot 3: 0 is the empty table";

/// List the files that are live in one of two snapshots alone: `+` those that came, `-` those that went
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ChangesArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The snapshot to compare with; 0 is the empty table
    #[arg(long, value_name = "N", value_parser = number)]
    from: i64,

    /// The snapshot to compare [default: the newest]
    #[arg(long, value_name = "N", value_parser = number)]
    to: Option<i64>,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ChangesArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let changes = changes(&client, &args.table, (args.from, args.to), args.limit.most()).await?;
    args.connection.answer(&changes, render)?;
    Ok(Exit::Done)
}

/// What differs between the first snapshot and the second, the newest if there is none.
pub(super) async fn changes(
    client: &Client,
    table: &TableIdent,
    (from, to): (i64, Option<i64>),
    limit: Option<u64>,
) -> Result<ChangesJson, ClientError> {
    join("changes", limit, async |page: Page| client.list_changes(table, from, to, &page).await).await
}

fn render(changes: &ChangesJson) -> String {
    let mut text = lines(changes);
    let (added, removed) = (count(changes.added.len() as u64), count(changes.removed.len() as u64));
    text.push_str(cut_note(changes.next_page_token.as_ref()));
    let _ = writeln!(text, "snapshot {} to {}: {added} added, {removed} removed", changes.from, changes.to);
    text
}

/// A line for each file.
pub(super) fn lines(changes: &ChangesJson) -> String {
    let removed = changes.removed.iter().map(|file| format!("- {}\n", legible(&file.path)));
    removed.chain(changes.added.iter().map(|file| format!("+ {}\n", legible(&file.path)))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_went_comes_before_what_came() {
        let file =
            |path: &str| json!({"file_id": 1, "path": path, "size_bytes": 1, "row_count": 1, "added_snapshot": 1});
        let changes = json!({"from": 1, "to": 3, "added": [file("s3://b/new")], "removed": [file("s3://b/old")]});
        insta::assert_snapshot!(render(&serde_json::from_value(changes).unwrap()), @r"
        - s3://b/old
        + s3://b/new
        snapshot 1 to 3: 1 added, 1 removed
        ");
    }
}
