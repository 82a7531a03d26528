//! `prunus manifests`

mod list;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus manifests shop.orders               # the same as `manifests list`
  prunus manifests show shop.orders 4";

/// List the manifests of a table, or show one with its zones
///
/// Manifests are the groups of files that plans pass over as a whole or look into.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(super) struct ManifestsArgs {
    #[command(subcommand)]
    command: Option<ManifestsCommand>,

    #[command(flatten)]
    list: Option<list::ListArgs>,
}

#[derive(Debug, Subcommand)]
enum ManifestsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(super) async fn run(args: ManifestsArgs) -> Result<Exit, CliError> {
    match (args.command, args.list) {
        (Some(ManifestsCommand::List(args)), _) | (None, Some(args)) => list::run(args).await,
        (Some(ManifestsCommand::Show(args)), _) => show::run(args).await,
        (None, None) => Err(CliError::NothingAsked("name a table: `prunus manifests TABLE`")),
    }
}
