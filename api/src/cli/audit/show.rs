//! `prunus audit show`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::pages::{LimitArgs, cut_note};
use crate::cli::scan::number;
use crate::cli::{CliError, Exit};

use super::render::{exit, page_text};
use super::start::page;

const EXAMPLES: &str = "\
Example:
  prunus audit show shop.orders 3";

/// Show an audit: how far it is, and what it has found by now
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The number of the audit
    #[arg(value_name = "AUDIT", value_parser = number)]
    audit: i64,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ShowArgs) -> Result<Exit, CliError> {
    let audit = page(&args.connection.client()?, &args.table, args.audit, args.limit.most()).await?;
    args.connection.answer(&audit, |audit| page_text(audit) + cut_note(audit.next_page_token.as_ref()))?;
    Ok(exit(&audit.audit))
}
