//! `prunus audit list`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::{CliError, Exit};
use crate::wire::AuditsJson;

use super::render::table;

const EXAMPLES: &str = "\
Example:
  prunus audit list shop.orders";

/// List the audits of a table, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let audits = args.connection.client()?.list_audits(&args.table).await?;
    args.connection.answer(&audits, |AuditsJson { audits }| {
        if audits.is_empty() { format!("no audits: `prunus audit {}` begins one\n", args.table) } else { table(audits) }
    })?;
    Ok(Exit::Done)
}
