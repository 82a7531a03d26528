//! `prunus files`

pub(super) mod list;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

/// List the files of a table, or show one with all that is known of it
#[derive(Debug, Args)]
pub(super) struct FilesArgs {
    #[command(subcommand)]
    command: FilesCommand,
}

#[derive(Debug, Subcommand)]
enum FilesCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(super) async fn run(args: FilesArgs) -> Result<Exit, CliError> {
    match args.command {
        FilesCommand::List(args) => list::run(args).await,
        FilesCommand::Show(args) => show::run(args).await,
    }
}
