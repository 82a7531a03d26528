//! `prunus token revoke`

use clap::Args;
use prunus_catalog::TokenName;
use serde_json::json;

use super::place::{Place, open};
use crate::cli::connection::Connection;
use crate::cli::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus token revoke nightly-load --token-file ana.token
  prunus token revoke ana --data-dir ./catalog";

/// Revoke a token: it opens nothing from then on, and its name stays taken
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RevokeArgs {
    /// The name of the token
    #[arg(value_name = "NAME")]
    name: TokenName,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: RevokeArgs) -> Result<Exit, CliError> {
    let name = args.name.as_str().to_owned();
    match args.place.folder() {
        None => args.connection.client()?.revoke_token(&name).await?,
        Some(folder) => {
            let revoked = open(folder).await?.revoke_token(args.name).await;
            revoked.map_err(CliError::operation("changed"))?;
        }
    }
    args.connection.answer(&json!({"revoked": name}), |_| format!("revoked token {name}\n"))?;
    Ok(Exit::Done)
}
