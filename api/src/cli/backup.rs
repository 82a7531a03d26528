//! `prunus backup`

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::output::{print, print_json};
use super::{CliError, Exit, bytes, legible};

const EXAMPLES: &str = "\
Example:
  prunus backup --data-dir ./catalog --to /backups/catalog.db";

/// Copy a catalog into a file, also while a server runs
///
/// The copy is of one moment, with every commit that was answered before it. It is checked before it gets its name, and
/// replaces nothing. The data files of tables are not in it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BackupArgs {
    /// The folder that the catalog is kept in
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,

    /// The file to be made
    #[arg(long, value_name = "FILE")]
    to: PathBuf,

    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: BackupArgs) -> Result<Exit, CliError> {
    let copied = prunus_catalog::backup(&args.data_dir, &args.to).await;
    let size_bytes = copied.map_err(CliError::operation("backed up"))?;
    let to = args.to.display().to_string();
    if args.json {
        print_json(&json!({"backup": to, "size_bytes": size_bytes}))?;
    } else {
        print(&format!("backed up to {}, {}\n", legible(&to), bytes(size_bytes)))?;
    }
    Ok(Exit::Done)
}
