//! `prunus files`

pub(super) mod list;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus files shop.orders --limit 20               # the same as `files list`
  prunus files show shop.orders s3://lake/orders/part-7.parquet";

/// List the files of a table, or show one with all that is known of it
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(super) struct FilesArgs {
    #[command(subcommand)]
    command: Option<FilesCommand>,

    #[command(flatten)]
    list: Option<list::ListArgs>,
}

#[derive(Debug, Subcommand)]
enum FilesCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(super) async fn run(args: FilesArgs) -> Result<Exit, CliError> {
    match (args.command, args.list) {
        (Some(FilesCommand::List(args)), _) | (None, Some(args)) => list::run(args).await,
        (Some(FilesCommand::Show(args)), _) => show::run(args).await,
        (None, None) => Err(CliError::NothingAsked("name a table: `prunus files TABLE`")),
    }
}
