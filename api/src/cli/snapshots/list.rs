//! `prunus snapshots list`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::pages::{LimitArgs, cut_note, join};
use crate::cli::{CliError, Exit, Side, bytes, count, text_table};
use crate::client::Page;
use crate::wire::{OperationJson, SnapshotJson};

const EXAMPLES: &str = "\
Example:
  prunus snapshots list shop.orders --limit 10";

/// List the snapshots of a table, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// The table, as NAMESPACE.TABLE
    // By this group it is told whether they are there at all, in `prunus snapshots TABLE`; of arguments with others below clap fills in none.
    #[arg(value_name = "TABLE", group = "ListArgs")]
    table: TableIdent,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let load = async |page: Page| client.list_snapshots(&args.table, &page).await;
    let listed = join("snapshots", args.limit.most(), load).await?;
    args.connection.answer(&listed, |listed| table(&listed.snapshots) + cut_note(listed.next_page_token.as_ref()))?;
    Ok(Exit::Done)
}

fn table(snapshots: &[SnapshotJson]) -> String {
    if snapshots.is_empty() {
        return "no snapshots: nothing was committed yet\n".to_owned();
    }
    let mut table = text_table([
        ("snapshot", Side::Right),
        ("committed", Side::Left),
        ("operation", Side::Left),
        ("added", Side::Right),
        ("removed", Side::Right),
        ("files", Side::Right),
        ("rows", Side::Right),
        ("size", Side::Right),
    ]);
    for snapshot in snapshots {
        table.add_row([
            snapshot.snapshot_id.to_string(),
            snapshot.committed_at.clone(),
            operation(snapshot.operation).to_owned(),
            count(snapshot.added_files),
            count(snapshot.removed_files),
            count(snapshot.files),
            count(snapshot.rows),
            bytes(snapshot.bytes),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// What a commit meant, as it is asked for.
pub(in crate::cli) fn operation(operation: OperationJson) -> &'static str {
    match operation {
        OperationJson::Append => "append",
        OperationJson::Delete => "delete",
        OperationJson::Replace => "replace",
        OperationJson::Overwrite => "overwrite",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_commits_says_so() {
        assert_eq!(table(&[]), "no snapshots: nothing was committed yet\n");
    }

    #[test]
    fn snapshots_are_a_table() {
        let snapshot = serde_json::from_value(serde_json::json!({
            "snapshot_id": 2, "parent": 1, "operation": "append", "committed_at": "2026-01-01T00:00:00.000Z", "schema_id": 1,
            "added_files": 10, "removed_files": 0, "files": 60, "rows": 600_572, "bytes": 2048, "tags": [], "summary": {}
        }));
        insta::assert_snapshot!(table(&[snapshot.unwrap()]), @r#"
        snapshot   committed                  operation   added   removed   files      rows      size
        ──────────────────────────────────────────────────────────────────────────────────────────────
               2   2026-01-01T00:00:00.000Z   append         10         0      60   600,572   2.0 KiB
        "#);
    }
}
