//! `prunus table`

mod alter;
pub(super) mod columns;
mod create;
mod drop;
mod list;
pub(super) mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

/// Create, list, show, change and drop tables
#[derive(Debug, Args)]
pub(super) struct TableArgs {
    #[command(subcommand)]
    command: TableCommand,
}

#[derive(Debug, Subcommand)]
enum TableCommand {
    Create(create::CreateArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Alter(alter::AlterArgs),
    Columns(columns::ColumnsArgs),
    Drop(drop::DropArgs),
}

pub(super) async fn run(args: TableArgs) -> Result<Exit, CliError> {
    match args.command {
        TableCommand::Create(args) => create::run(args).await,
        TableCommand::List(args) => list::run(args).await,
        TableCommand::Show(args) => show::run(args).await,
        TableCommand::Alter(args) => alter::run(args).await,
        TableCommand::Columns(args) => columns::run(args).await,
        TableCommand::Drop(args) => drop::run(args).await,
    }
}

pub(super) use create::ensure_namespace;
