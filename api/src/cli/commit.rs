//! `prunus commit`

mod request;

use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::wire::CommittedJson;

use super::connection::{Connection, KeyChoice};
use super::progress::Progress;
use super::{CliError, Exit, bytes, count, counted, error};

const EXAMPLES: &str = "\
Examples:
  prunus commit shop.orders --operation append --add s3://lake/orders/a.parquet s3://lake/orders/b.parquet
  prunus commit shop.orders --operation replace --base-snapshot 4 --remove a.parquet b.parquet --add ab.parquet
  prunus commit shop.orders --operation overwrite --base-snapshot 4 --filter \"day = '2024-06-01'\" --add c.parquet
  prunus commit shop.orders --file commit.json      # with declared statistics, partitions and the rest of the API";

/// Commit a change of a table: add files, remove files, or both
///
/// `append` is new rows, `delete` rows that go, `replace` the same rows in other files, `overwrite` rows that change. What is removed is
/// no file any more to new snapshots; objects are never deleted.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CommitArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    request: request::RequestArgs,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: CommitArgs) -> Result<Exit, CliError> {
    let client = args.key.on(args.connection.client()?);
    let commit = args.request.read().await?;
    let progress = Progress::of(format!("committing {}", counted(commit.add.len() as u64, "file", "files")));
    let done = progress.during(client.commit(&args.table, &commit)).await?;
    drop(progress);
    args.connection.answer(&done, |done| committed(&args.table.to_string(), done))?;
    Ok(Exit::Done)
}

/// What a commit did, and what of its declarations was taken as unknown.
pub(super) fn committed(table: &str, committed: &CommittedJson) -> String {
    let mut text = String::new();
    for warning in &committed.warnings {
        let _ = writeln!(text, "taken as unknown: {}", error::fault_line(warning));
    }
    if let Some(all) = committed.warning_count {
        let _ = writeln!(text, "... {} warnings in all", count(all as u64));
    }
    let _ = writeln!(
        text,
        "committed snapshot {} of {table}: {} added, {} removed; {} in {}",
        committed.snapshot_id,
        counted(committed.added_files, "file", "files"),
        count(committed.removed_files),
        counted(committed.rows, "row", "rows"),
        bytes(committed.bytes),
    );
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn warnings_come_before_what_was_done() {
        let done = json!({"snapshot_id": 5, "committed_at": "2026-01-01T00:00:00.000Z", "added_files": 1, "removed_files": 2,
            "rows": 1_234, "bytes": 4_096, "warning_count": 101,
            "warnings": [{"message": "min is above max", "path": "s3://b/a", "column": "x"}]});
        insta::assert_snapshot!(committed("a.b", &serde_json::from_value(done).unwrap()), @r"
        taken as unknown: s3://b/a: column x: min is above max
        ... 101 warnings in all
        committed snapshot 5 of a.b: 1 file added, 2 removed; 1,234 rows in 4.0 KiB
        ");
    }
}
