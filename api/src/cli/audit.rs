//! `prunus audit`

mod cancel;
mod list;
pub(super) mod render;
mod show;
mod start;

use clap::{Args, Subcommand};

use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus audit shop.orders                          # the same as `audit start`: are the files there, and the same?
  prunus audit shop.orders --mode scan --repair     # reads all data, and mends what is known of it
  prunus audit show shop.orders 3";

/// Look at the files of a table again, and hold what is known of them against them
///
/// Reports files that are missing or are not those that were registered, and statistics that a file contradicts. The server
/// works on it; an interrupt (ctrl-c) leaves it to that, and `prunus audit list` says how far it is.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,

    #[command(flatten)]
    start: Option<start::StartArgs>,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    Start(start::StartArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Cancel(cancel::CancelArgs),
}

pub(super) async fn run(args: AuditArgs) -> Result<Exit, CliError> {
    match (args.command, args.start) {
        (Some(AuditCommand::Start(args)), _) | (None, Some(args)) => start::run(args).await,
        (Some(AuditCommand::List(args)), _) => list::run(args).await,
        (Some(AuditCommand::Show(args)), _) => show::run(args).await,
        (Some(AuditCommand::Cancel(args)), _) => cancel::run(args).await,
        (None, None) => Err(CliError::NothingAsked("name a table: `prunus audit TABLE`")),
    }
}
