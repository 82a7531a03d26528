//! `prunus snapshots show`

use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;
use serde::Serialize;

use crate::cli::changes::{changes, lines};
use crate::cli::connection::Connection;
use crate::cli::pages::LimitArgs;
use crate::cli::scan::number;
use crate::cli::{CliError, Exit, Fields, bytes, count, counted};
use crate::client::{Client, ClientError};
use crate::wire::{ChangesJson, SnapshotJson};

use super::list::operation;

const LIMIT_HELP: &str = "The most files to list [default: 20, with --json all]";

const EXAMPLES: &str = "\
Example:
  prunus snapshots show shop.orders 3";

/// Show a snapshot, and the files that it added and removed
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("limit", |limit| limit.help(LIMIT_HELP)))]
pub(super) struct ShowArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The number of the snapshot
    #[arg(value_name = "SNAPSHOT", value_parser = number)]
    snapshot: i64,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

/// A snapshot with what it changed, as `--json` prints it.
#[derive(Debug, PartialEq, Serialize)]
struct Shown {
    #[serde(flatten)]
    snapshot: SnapshotJson,
    /// Against its parent; null where that is expired.
    changes: Option<ChangesJson>,
}

pub(super) async fn run(args: ShowArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let snapshot = client.load_snapshot(&args.table, args.snapshot).await?;
    let changes = changes_of(&client, &args.table, &snapshot, args.limit.or_screenful(args.connection.json)).await?;
    args.connection.answer(&Shown { snapshot, changes }, |shown| render(&args.table, shown))?;
    Ok(Exit::Done)
}

async fn changes_of(
    client: &Client,
    table: &TableIdent,
    snapshot: &SnapshotJson,
    limit: Option<u64>,
) -> Result<Option<ChangesJson>, ClientError> {
    let span = (snapshot.parent, Some(snapshot.snapshot_id));
    match changes(client, table, span, limit).await {
        Err(error) if matches!(error.status(), Some(404 | 410)) => Ok(None),
        changes => changes.map(Some),
    }
}

fn render(table: &TableIdent, Shown { snapshot, changes }: &Shown) -> String {
    let mut fields = Fields::default();
    fields.line("snapshot", snapshot.snapshot_id.to_string());
    fields.line("parent", snapshot.parent.to_string());
    fields.line("operation", operation(snapshot.operation));
    fields.line("committed", &snapshot.committed_at);
    fields.line("schema", snapshot.schema_id.to_string());
    fields.line("files", count(snapshot.files));
    fields.line("rows", count(snapshot.rows));
    fields.line("size", bytes(snapshot.bytes));
    if !snapshot.tags.is_empty() {
        fields.line("tags", snapshot.tags.join(", "));
    }
    fields.pairs("summary", &snapshot.summary);
    let mut text = fields.into_text();
    let (added, removed) = (counted(snapshot.added_files, "file", "files"), count(snapshot.removed_files));
    let _ = writeln!(text, "\n{added} added, {removed} removed:");
    match changes {
        Some(changes) => {
            text.push_str(&lines(changes));
            if changes.next_page_token.is_some() {
                let _ = writeln!(
                    text,
                    "... and more: `prunus changes {table} --from {} --to {}` lists all",
                    changes.from, changes.to
                );
            }
        }
        None => text.push_str("which they are is not known any more: the snapshot before it is expired\n"),
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(changes: Option<serde_json::Value>) -> Shown {
        let snapshot = json!({"snapshot_id": 2, "parent": 1, "operation": "replace", "committed_at": "2026-01-01T00:00:00.000Z",
            "schema_id": 1, "added_files": 1, "removed_files": 2, "files": 59, "rows": 600_572, "bytes": 2_048,
            "tags": ["kept"], "summary": {"by": "me"}});
        Shown {
            snapshot: serde_json::from_value(snapshot).unwrap(),
            changes: changes.map(|changes| serde_json::from_value(changes).unwrap()),
        }
    }

    #[test]
    fn a_snapshot_is_shown_with_what_changed() {
        let file =
            |path: &str| json!({"file_id": 1, "path": path, "size_bytes": 1, "row_count": 1, "added_snapshot": 2});
        let changes = json!({"from": 1, "to": 2, "added": [file("s3://b/ab")], "removed": [file("s3://b/a")], "next_page_token": "x"});
        insta::assert_snapshot!(render(&"a.b".parse().unwrap(), &shown(Some(changes))), @r"
        snapshot     2
        parent       1
        operation    replace
        committed    2026-01-01T00:00:00.000Z
        schema       1
        files        59
        rows         600,572
        size         2.0 KiB
        tags         kept
        summary      by=me

        1 file added, 2 removed:
        - s3://b/a
        + s3://b/ab
        ... and more: `prunus changes a.b --from 1 --to 2` lists all
        ");
    }

    #[test]
    fn a_parent_that_is_gone_leaves_the_counts() {
        let text = render(&"a.b".parse().unwrap(), &shown(None));
        assert!(text.contains("1 file added, 2 removed:\nwhich they are is not known any more"), "{text}");
    }
}
