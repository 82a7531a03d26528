//! `prunus audit cancel`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::scan::number;
use crate::cli::{CliError, Exit};

use super::render::table;

const EXAMPLES: &str = "\
Example:
  prunus audit cancel shop.orders 3";

/// End an audit before it has looked at all files; what it found and mended stays
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CancelArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The number of the audit
    #[arg(value_name = "AUDIT", value_parser = number)]
    audit: i64,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: CancelArgs) -> Result<Exit, CliError> {
    let audit = args.key.on(args.connection.client()?).cancel_audit(&args.table, args.audit).await?;
    args.connection.answer(&audit, |audit| table(std::slice::from_ref(audit)))?;
    Ok(Exit::Done)
}
