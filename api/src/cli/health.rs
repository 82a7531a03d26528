//! `prunus health`

use clap::Args;
use serde_json::json;

use crate::client::{Health, Readiness};

use super::connection::Connection;
use super::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus health --url http://catalog:8181 || echo down";

/// Say whether the server answers and can work; exit code 3 if not
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HealthArgs {
    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: HealthArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let (Health::Ok, Readiness::Ready) = (client.health().await?, client.readiness().await?);
    let answers = json!({"health": "ok", "readiness": "ready"});
    args.connection.answer(&answers, |_| format!("{} answers and is ready\n", client.base()))?;
    Ok(Exit::Done)
}
