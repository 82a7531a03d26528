//! `prunus namespace`

mod create;
mod drop;
mod list;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

/// Create, list, show and drop namespaces
#[derive(Debug, Args)]
pub(super) struct NamespaceArgs {
    #[command(subcommand)]
    command: NamespaceCommand,
}

#[derive(Debug, Subcommand)]
enum NamespaceCommand {
    Create(create::CreateArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Drop(drop::DropArgs),
}

pub(super) async fn run(args: NamespaceArgs) -> Result<Exit, CliError> {
    match args.command {
        NamespaceCommand::Create(args) => create::run(args).await,
        NamespaceCommand::List(args) => list::run(args).await,
        NamespaceCommand::Show(args) => show::run(args).await,
        NamespaceCommand::Drop(args) => drop::run(args).await,
    }
}

pub(super) use list::namespaces;
