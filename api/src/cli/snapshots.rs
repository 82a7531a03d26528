//! `prunus snapshots`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::wire::{OperationJson, SnapshotJson, SnapshotsJson};

use super::connection::Connection;
use super::output::{print, print_json};
use super::{CliError, Exit, Side, bytes, count, text_table};

/// List the snapshots of a table, newest first
#[derive(Debug, Args)]
pub(super) struct SnapshotsArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: SnapshotsArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let mut snapshots = Vec::new();
    let mut page_token = None;
    loop {
        let page = client.list_snapshots(&args.table, page_token.as_deref()).await?;
        snapshots.extend(page.snapshots);
        page_token = page.next_page_token;
        if page_token.is_none() {
            break;
        }
    }
    if args.connection.json {
        print_json(&SnapshotsJson { snapshots, next_page_token: None })?;
    } else {
        print(&render(&snapshots))?;
    }
    Ok(Exit::Done)
}

fn render(snapshots: &[SnapshotJson]) -> String {
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

fn operation(operation: OperationJson) -> &'static str {
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
        assert_eq!(render(&[]), "no snapshots: nothing was committed yet\n");
    }

    #[test]
    fn snapshots_are_a_table() {
        let snapshot = serde_json::from_value(serde_json::json!({
            "snapshot_id": 2, "parent": 1, "operation": "append", "committed_at": "2026-01-01T00:00:00.000Z", "schema_id": 1,
            "added_files": 10, "removed_files": 0, "files": 60, "rows": 600_572, "bytes": 2048, "tags": [], "summary": {}
        }));
        insta::assert_snapshot!(render(&[snapshot.unwrap()]), @r#"
        snapshot   committed                  operation   added   removed   files      rows      size
        ──────────────────────────────────────────────────────────────────────────────────────────────
               2   2026-01-01T00:00:00.000Z   append         10         0      60   600,572   2.0 KiB
        "#);
    }
}
