//! `prunus table drop`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus table drop shop.orders";

/// Forget a table and its snapshots; its data files are not touched
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DropArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: DropArgs) -> Result<Exit, CliError> {
    args.key.on(args.connection.client()?).drop_table(&args.table).await?;
    args.connection.answer(&serde_json::json!({"dropped": args.table.to_string()}), |_| {
        format!("dropped table {}; its data files are where they were\n", args.table)
    })?;
    Ok(Exit::Done)
}
