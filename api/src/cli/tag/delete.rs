//! `prunus tag delete`

use clap::Args;
use prunus_catalog::{TableIdent, TagName};
use serde_json::json;

use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus tag delete shop.orders end-of-year";

/// Take a tag away; its snapshot stays until it is expired
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DeleteArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The tag
    #[arg(value_name = "TAG")]
    tag: TagName,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: DeleteArgs) -> Result<Exit, CliError> {
    let tag = args.tag.as_str();
    args.key.on(args.connection.client()?).delete_tag(&args.table, tag).await?;
    args.connection.answer(&json!({"deleted": tag}), |_| format!("deleted tag {tag} of {}\n", args.table))?;
    Ok(Exit::Done)
}
