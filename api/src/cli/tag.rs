//! `prunus tag`

mod delete;
mod list;
mod set;
mod show;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus tag shop.orders                     # the same as `tag list`
  prunus tag set shop.orders end-of-year 12";

/// Set, show, list and delete tags: names of snapshots, which keep them from being expired
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(super) struct TagArgs {
    #[command(subcommand)]
    command: Option<TagCommand>,

    #[command(flatten)]
    list: Option<list::ListArgs>,
}

#[derive(Debug, Subcommand)]
enum TagCommand {
    Set(set::SetArgs),
    Show(show::ShowArgs),
    List(list::ListArgs),
    Delete(delete::DeleteArgs),
}

pub(super) async fn run(args: TagArgs) -> Result<Exit, CliError> {
    match (args.command, args.list) {
        (Some(TagCommand::Set(args)), _) => set::run(args).await,
        (Some(TagCommand::Show(args)), _) => show::run(args).await,
        (Some(TagCommand::List(args)), _) | (None, Some(args)) => list::run(args).await,
        (Some(TagCommand::Delete(args)), _) => delete::run(args).await,
        (None, None) => Err(CliError::NothingAsked("name a table: `prunus tag TABLE`")),
    }
}
