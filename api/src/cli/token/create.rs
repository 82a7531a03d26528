//! `prunus token create`

use clap::Args;
use prunus_catalog::{Error, Grant, TokenName};

use super::place::{Place, open};
use crate::cli::connection::Connection;
use crate::cli::output::{note, print, print_json};
use crate::cli::time::{time, time_after};
use crate::cli::{CliError, Exit, legible};
use crate::wire::{CreatedTokenJson, NewTokenJson};

const EXAMPLES: &str = "\
Examples:
  prunus token create ana --grant admin --data-dir ./catalog > ana.token
  prunus token create dashboard --grant reader:shop --grant reader:web.eu --expires-in 90d";

/// Create a token, and print it: it is shown once
///
/// The token alone stands on standard output, so that TOKEN=$(prunus token create ...) has it. Whoever holds it is known by its name,
/// which is never given twice.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CreateArgs {
    /// What its holder is called
    #[arg(value_name = "NAME")]
    name: TokenName,

    /// What it opens: reader, writer or admin for everything, or as in reader:NAMESPACE for a namespace and all below it; may be
    /// given several times
    #[arg(long = "grant", value_name = "ROLE[:NAMESPACE]", required = true)]
    grants: Vec<Grant>,

    /// How long it holds, as in 90d or 12h [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = time_after, group = "end")]
    expires_in: Option<String>,

    /// When it ends, as 2027-01-31T12:00:00Z or 2027-01-31
    #[arg(long, value_name = "TIME", value_parser = time, group = "end")]
    expires_at: Option<String>,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: CreateArgs) -> Result<Exit, CliError> {
    let new = NewTokenJson {
        name: args.name.as_str().to_owned(),
        grants: args.grants.iter().map(ToString::to_string).collect(),
        expires_at: args.expires_in.or(args.expires_at),
    };
    let created = match args.place.folder() {
        None => args.connection.client()?.create_token(&new).await?,
        Some(folder) => {
            let token = new.parse().map_err(Error::Invalid).map_err(CliError::operation("changed"))?;
            let unusable = |source| CliError::DataFolder { path: folder.display().to_string(), source };
            prunus_catalog::ensure_data_folder(folder).map_err(unusable)?;
            open(folder).await?.create_token(token).await.map_err(CliError::operation("changed"))?.into()
        }
    };
    if args.connection.json {
        print_json(&created)?;
    } else {
        note(&told(&created));
        print(&format!("{}\n", created.secret.reveal()))?;
    }
    Ok(Exit::Done)
}

fn told(created: &CreatedTokenJson) -> String {
    let token = &created.token;
    let end = token.expires_at.as_ref().map_or("until it is revoked".to_owned(), |time| format!("until {time}"));
    let grants = token.grants.join(", ");
    format!("created token {}: {}, {end}; it is shown this once\n", legible(&token.name), legible(&grants))
}
