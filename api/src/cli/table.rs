//! `prunus table`

mod alter;
pub(super) mod columns;
mod create;
mod drop;
mod list;
pub(super) mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus table shop.orders                   # the same as `table show`
  prunus table list";

/// Create, list, show, change and drop tables
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(super) struct TableArgs {
    #[command(subcommand)]
    command: Option<TableCommand>,

    #[command(flatten)]
    show: Option<show::ShowArgs>,
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
    match (args.command, args.show) {
        (Some(TableCommand::Create(args)), _) => create::run(args).await,
        (Some(TableCommand::List(args)), _) => list::run(args).await,
        (Some(TableCommand::Show(args)), _) | (None, Some(args)) => show::run(args).await,
        (Some(TableCommand::Alter(args)), _) => alter::run(args).await,
        (Some(TableCommand::Columns(args)), _) => columns::run(args).await,
        (Some(TableCommand::Drop(args)), _) => drop::run(args).await,
        (None, None) => Err(CliError::NothingAsked("name a table: `prunus table TABLE`")),
    }
}

pub(super) use create::create_with_namespace;
