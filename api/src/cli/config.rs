//! `prunus config`

mod server;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus config show --config /etc/prunus/prunus.toml
  prunus config server";

/// Show how a server would be set up here, or what can be counted on of one that runs
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    Show(show::ShowArgs),
    Server(server::ServerArgs),
}

pub(super) async fn run(args: ConfigArgs) -> Result<Exit, CliError> {
    match args.command {
        ConfigCommand::Show(args) => show::run(&args),
        ConfigCommand::Server(args) => server::run(args).await,
    }
}
