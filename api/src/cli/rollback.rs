//! `prunus rollback`

use clap::Args;
use prunus_catalog::TableIdent;

use super::commit::committed;
use super::connection::{Connection, KeyChoice};
use super::progress::Progress;
use super::scan::number;
use super::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus rollback shop.orders 3";

/// Make a new snapshot with the content of an older one
///
/// Nothing is lost by it: the snapshots in between stay, and can be rolled back to as well.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RollbackArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The number of the snapshot whose content is to be that of the table again
    #[arg(value_name = "SNAPSHOT", value_parser = number)]
    snapshot: i64,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: RollbackArgs) -> Result<Exit, CliError> {
    let client = args.key.on(args.connection.client()?);
    let rolled_back = Progress::of("rolling back").during(client.roll_back(&args.table, args.snapshot)).await?;
    args.connection.answer(&rolled_back, |done| committed(&args.table.to_string(), done))?;
    Ok(Exit::Done)
}
