//! `prunus snapshots`

pub(super) mod list;
pub(super) mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus snapshots shop.orders               # the same as `snapshots list`
  prunus snapshots show shop.orders 3";

/// List the snapshots of a table, or show one with what it changed
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(super) struct SnapshotsArgs {
    #[command(subcommand)]
    command: Option<SnapshotsCommand>,

    #[command(flatten)]
    list: Option<list::ListArgs>,
}

#[derive(Debug, Subcommand)]
enum SnapshotsCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(super) async fn run(args: SnapshotsArgs) -> Result<Exit, CliError> {
    match (args.command, args.list) {
        (Some(SnapshotsCommand::List(args)), _) | (None, Some(args)) => list::run(args).await,
        (Some(SnapshotsCommand::Show(args)), _) => show::run(args).await,
        (None, None) => Err(CliError::NothingAsked("name a table: `prunus snapshots TABLE`")),
    }
}
