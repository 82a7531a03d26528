//! `prunus health`

use clap::Args;

use super::connection::Connection;
use super::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus health --url http://catalog:8181 || echo down";

/// Say whether the server answers; exit code 3 if it does not
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HealthArgs {
    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: HealthArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let health = client.health().await?;
    args.connection.answer(&health, |_| format!("{} answers\n", client.base()))?;
    Ok(Exit::Done)
}
