//! `prunus tag show`

use clap::Args;
use prunus_catalog::{TableIdent, TagName};

use crate::cli::connection::Connection;
use crate::cli::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus tag show shop.orders end-of-year";

/// Show which snapshot a tag names
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The tag
    #[arg(value_name = "TAG")]
    tag: TagName,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ShowArgs) -> Result<Exit, CliError> {
    let tag = args.connection.client()?.load_tag(&args.table, args.tag.as_str()).await?;
    args.connection
        .answer(&tag, |tag| format!("tag {} names snapshot {} since {}\n", tag.tag, tag.snapshot_id, tag.created_at))?;
    Ok(Exit::Done)
}
