//! `prunus config show`

use clap::Args;

use crate::cli::output::{print, print_json};
use crate::cli::setting_flags::SettingFlags;
use crate::cli::{CliError, Exit};
use crate::settings::Effective;

const EXAMPLES: &str = "\
Examples:
  prunus config show                            # what `prunus serve` would run with here
  prunus config show --listen 0.0.0.0:8181      # and what it would with this flag";

/// Show the configuration that `prunus serve` would run with, and who said each value of it
///
/// The flags are those of `prunus serve`. What is printed is a configuration file without the secrets, which are comments
/// in it. Do not send it to the file that is shown: a shell empties that before it is read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ShowArgs {
    #[command(flatten)]
    flags: SettingFlags,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(args: &ShowArgs) -> Result<Exit, CliError> {
    let sources = args.flags.sources()?;
    let effective = Effective::new(&sources.settings()?, &sources);
    if args.json {
        print_json(&effective)?;
    } else {
        print(&effective.to_toml())?;
    }
    Ok(Exit::Done)
}
