//! `prunus token`

mod create;
mod list;
mod place;
mod revoke;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus token create ana --grant admin --data-dir ./catalog > ana.token
  prunus token create nightly-load --grant writer:shop --expires-in 90d --token-file ana.token
  prunus token revoke nightly-load --token-file ana.token";

/// Create, list and revoke tokens: what opens a server that is reached from other machines
///
/// The first one is created with --data-dir, on the catalog itself, while no server has it open; all others also by the server, for
/// who shows it a token with the role admin.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    Create(create::CreateArgs),
    List(list::ListArgs),
    Revoke(revoke::RevokeArgs),
}

pub(super) async fn run(args: TokenArgs) -> Result<Exit, CliError> {
    match args.command {
        TokenCommand::Create(args) => create::run(args).await,
        TokenCommand::List(args) => list::run(args).await,
        TokenCommand::Revoke(args) => revoke::run(args).await,
    }
}
