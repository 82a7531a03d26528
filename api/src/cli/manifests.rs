//! `prunus manifests`

mod list;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

/// List the manifests of a table, or show one with its zones
///
/// Manifests are the groups of files that plans pass over as a whole or look into.
#[derive(Debug, Args)]
pub(super) struct ManifestsArgs {
    #[command(subcommand)]
    command: ManifestsCommand,
}

#[derive(Debug, Subcommand)]
enum ManifestsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(super) async fn run(args: ManifestsArgs) -> Result<Exit, CliError> {
    match args.command {
        ManifestsCommand::List(args) => list::run(args).await,
        ManifestsCommand::Show(args) => show::run(args).await,
    }
}
