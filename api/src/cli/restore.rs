//! `prunus restore`

use std::path::PathBuf;

use clap::Args;
use prunus_catalog::Existing;
use serde_json::json;

use super::output::{print, print_json};
use super::{CliError, Exit, legible};

const EXAMPLES: &str = "\
Example:
  prunus restore --data-dir ./catalog --from /backups/catalog.db";

/// Put a backup in the place of a catalog
///
/// Tokens are again as they were when the backup was made: those that hold are named, so that what was revoked since can be
/// revoked again.
///
/// No server may have the catalog open. The backup is checked first and only read. If this is interrupted, run it again: until
/// then no server opens what is there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RestoreArgs {
    /// The folder that the catalog is to be kept in; it is made where it is missing
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,

    /// The backup
    #[arg(long, value_name = "FILE")]
    from: PathBuf,

    /// Replace the catalog that is there, which is moved aside and not deleted
    #[arg(long)]
    replace: bool,

    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: RestoreArgs) -> Result<Exit, CliError> {
    let unusable = |source| CliError::DataFolder { path: args.data_dir.display().to_string(), source };
    prunus_catalog::ensure_data_folder(&args.data_dir).map_err(unusable)?;
    let existing = if args.replace { Existing::MoveAside } else { Existing::Refuse };
    let restored = prunus_catalog::restore(&args.data_dir, &args.from, existing).await;
    let moved_to = restored.map_err(CliError::operation("restored"))?;
    let tokens = prunus_catalog::list_holding_tokens(&args.data_dir).await.map_err(CliError::operation("read"))?;
    let tokens: Vec<String> = tokens.into_iter().map(|token| token.name).collect();
    let (from, moved_to) = (args.from.display().to_string(), moved_to.map(|path| path.display().to_string()));
    if args.json {
        print_json(&json!({"restored_from": from, "moved_to": moved_to, "tokens": tokens}))?;
        return Ok(Exit::Done);
    }
    print(&format!("restored from {}\n", legible(&from)))?;
    if let Some(moved_to) = moved_to {
        print(&format!("what was there is now {}\n", legible(&moved_to)))?;
    }
    if !tokens.is_empty() {
        let names: Vec<_> = tokens.iter().map(|name| legible(name)).collect();
        print(&format!(
            "these tokens hold, as when the backup was made, also if revoked since: {}\n",
            names.join(", ")
        ))?;
    }
    Ok(Exit::Done)
}
