//! `prunus tag set`

use clap::Args;
use prunus_catalog::{TableIdent, TagName};

use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::scan::number;
use crate::cli::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus tag set shop.orders end-of-year 12";

/// Give a snapshot a name; one that another snapshot has moves to this one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SetArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The tag
    #[arg(value_name = "TAG")]
    tag: TagName,

    /// The number of the snapshot
    #[arg(value_name = "SNAPSHOT", value_parser = number)]
    snapshot: i64,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: SetArgs) -> Result<Exit, CliError> {
    let tag = args.key.on(args.connection.client()?).set_tag(&args.table, args.tag.as_str(), args.snapshot).await?;
    args.connection.answer(&tag, |tag| format!("tag {} names snapshot {}\n", tag.tag, tag.snapshot_id))?;
    Ok(Exit::Done)
}
