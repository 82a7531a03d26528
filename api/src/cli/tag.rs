//! `prunus tag`

mod delete;
mod list;
mod set;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

/// Set, show, list and delete tags: names of snapshots, which keep them from being expired
#[derive(Debug, Args)]
pub(super) struct TagArgs {
    #[command(subcommand)]
    command: TagCommand,
}

#[derive(Debug, Subcommand)]
enum TagCommand {
    Set(set::SetArgs),
    Show(show::ShowArgs),
    List(list::ListArgs),
    Delete(delete::DeleteArgs),
}

pub(super) async fn run(args: TagArgs) -> Result<Exit, CliError> {
    match args.command {
        TagCommand::Set(args) => set::run(args).await,
        TagCommand::Show(args) => show::run(args).await,
        TagCommand::List(args) => list::run(args).await,
        TagCommand::Delete(args) => delete::run(args).await,
    }
}
