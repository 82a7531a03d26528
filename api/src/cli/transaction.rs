//! `prunus transaction`

use clap::Args;

use crate::wire::{TransactionCommittedJson, TransactionJson};

use super::commit::committed;
use super::connection::{Connection, KeyChoice};
use super::json_file::read_json;
use super::progress::Progress;
use super::{CliError, Exit, counted};

const EXAMPLES: &str = "\
Example, with a file that holds {\"commits\": [{\"table\": \"shop.orders\", \"operation\": \"append\", \"add\": [{\"path\": \"a.parquet\"}]}, ...]}:
  prunus transaction transaction.json";

/// Commit changes of several tables, all or none
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TransactionArgs {
    /// The commits as JSON, as POST /v1/transactions takes them; `-` is standard input
    #[arg(value_name = "FILE.json")]
    file: String,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: TransactionArgs) -> Result<Exit, CliError> {
    let client = args.key.on(args.connection.client()?);
    let transaction: TransactionJson = read_json(&args.file, "a transaction").await?;
    let tables = counted(transaction.commits.len() as u64, "table", "tables");
    let progress = Progress::of(format!("committing to {tables}"));
    let done = progress.during(client.commit_all(&transaction)).await?;
    drop(progress);
    args.connection.answer(&done, render)?;
    Ok(Exit::Done)
}

fn render(done: &TransactionCommittedJson) -> String {
    done.commits.iter().map(|of_table| committed(&of_table.table, &of_table.committed)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_table_has_its_line() {
        let commit = |table: &str| {
            json!({"table": table, "snapshot_id": 5, "committed_at": "2026-01-01T00:00:00.000Z",
            "added_files": 1, "removed_files": 0, "rows": 1, "bytes": 10, "warnings": []})
        };
        let done = json!({"commits": [commit("a.b"), commit("a.c")]});
        insta::assert_snapshot!(render(&serde_json::from_value(done).unwrap()), @r"
        committed snapshot 5 of a.b: 1 file added, 0 removed; 1 row in 10 B
        committed snapshot 5 of a.c: 1 file added, 0 removed; 1 row in 10 B
        ");
    }
}
