//! `prunus token create`

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

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
  prunus token create ana --grant admin --data-dir ./catalog --to ana.token
  prunus token create dashboard --grant reader:shop --grant reader:web.eu --expires-in 90d";

/// Create a token, and print it: it is shown once
///
/// Without --to the token alone stands on standard output, so that TOKEN=$(prunus token create ...) has it. Whoever holds it is known by its name,
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

    /// Write the token into this file, which only its owner may read, instead of printing it; nothing happens if there is such a file
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    to: Option<PathBuf>,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: CreateArgs) -> Result<Exit, CliError> {
    let new = NewTokenJson {
        name: args.name.as_str().to_owned(),
        grants: args.grants.iter().map(ToString::to_string).collect(),
        expires_at: args.expires_in.clone().or_else(|| args.expires_at.clone()),
    };
    // Before the token: one that cannot be written down would be lost.
    let file = args.to.as_deref().map(SecretFile::create).transpose()?;
    let created = match create(&args, &new).await {
        Ok(created) => created,
        Err(error) => {
            if let Some(file) = file {
                file.remove();
            }
            return Err(error);
        }
    };
    if args.connection.json {
        return print_json(&created).map(|()| Exit::Done);
    }
    note(&told(&created));
    let line = format!("{}\n", created.secret.reveal());
    match file {
        None => print(&line)?,
        Some(file) => file.write(&line)?,
    }
    Ok(Exit::Done)
}

async fn create(args: &CreateArgs, new: &NewTokenJson) -> Result<CreatedTokenJson, CliError> {
    Ok(match args.place.folder() {
        None => args.connection.client()?.create_token(new).await?,
        Some(folder) => {
            let token = new.parse().map_err(Error::Invalid).map_err(CliError::operation("changed"))?;
            let unusable = |source| CliError::DataFolder { path: folder.display().to_string(), source };
            std::fs::create_dir_all(folder).map_err(unusable)?;
            open(folder).await?.create_token(token).await.map_err(CliError::operation("changed"))?.into()
        }
    })
}

/// A new file that only its owner may read.
struct SecretFile<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> SecretFile<'a> {
    fn create(path: &'a Path) -> Result<Self, CliError> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        Ok(Self { path, file: file.map_err(unwritable(path))? })
    }

    fn write(mut self, text: &str) -> Result<(), CliError> {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(unwritable(self.path))
    }

    fn remove(self) {
        // It is empty, so that one that stays harms nobody.
        let _ = std::fs::remove_file(self.path);
    }
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> CliError {
    move |source| CliError::NewFile { path: path.display().to_string(), source }
}

fn told(created: &CreatedTokenJson) -> String {
    let token = &created.token;
    let end = token.expires_at.as_ref().map_or("until it is revoked".to_owned(), |time| format!("until {time}"));
    let grants = token.grants.join(", ");
    format!("created token {}: {}, {end}; it is shown this once\n", legible(&token.name), legible(&grants))
}
