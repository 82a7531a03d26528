//! `prunus import`

mod batch;
mod listing;
mod progress;
mod standing;
mod summary;

use std::collections::{HashMap, HashSet};

use clap::Args;
use prunus_catalog::{MAX_FILES_PER_COMMIT, Storage, TableIdent};

use crate::client::{Client, ClientError};
use crate::wire::{NewTableJson, TableJson};

use super::connection::Connection;
use super::output::{print, print_json};
use super::table::ensure_namespace;
use super::{CliError, Exit};

use batch::RowCounter;
use listing::{Candidate, Listing};
use progress::Progress;
use standing::{Content, Sorted};
use summary::Summary;

pub(in crate::cli) use listing::locate;

/// How many files a page of the table's listing has.
const PAGE_SIZE: u32 = 10_000;
/// How many files are tried for a new table's schema, where none is named.
const MAX_SCHEMA_TRIALS: usize = 10;

/// Register Parquet files in a table
///
/// Folders and prefixes are searched for files that end in .parquet, .parq or .pq; names and folders that begin with `_` or
/// `.` are passed over. An import that broke off is taken up by running it again: what is registered already is skipped. A
/// file that is refused does not hold up the others.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// Files, folders, or URLs of either, such as s3://bucket/prefix/
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Create the table, and its namespace, where they are missing. If PATH is one folder or prefix it becomes the table's
    /// location, and `key=value` folders in it become partition columns
    #[arg(long)]
    create: bool,

    /// The Parquet file whose schema the created table takes [default: the first that has one]
    #[arg(long, value_name = "PATH", requires = "create")]
    schema_from: Option<String>,

    /// How many files are registered per commit
    #[arg(long, value_name = "N", default_value = "1000", value_parser = batch_size)]
    batch: usize,

    #[command(flatten)]
    connection: Connection,
}

fn batch_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size) if (1..=MAX_FILES_PER_COMMIT).contains(&size) => Ok(size),
        _ => Err(format!("a batch has from 1 to {MAX_FILES_PER_COMMIT} files")),
    }
}

pub(super) async fn run(args: ImportArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let listing = listing::list(&Storage::from_environment(), &args.paths).await?;
    let table = load_or_create(&client, &args, &listing).await?;
    let live = live_among(&client, &args.table, &listing.candidates).await?;

    let Sorted { new, skipped, changed } = standing::sort(listing.candidates, &live);
    let mut summary = Summary::new(&args.table, table.current_snapshot, listing.passed_over, skipped, changed);
    let done = register(&client, &args, new, RowCounter::new(&table), &mut summary).await;
    // What was done is told even if the rest could not be.
    if args.connection.json {
        print_json(&summary)?;
    } else {
        print(&summary.render())?;
    }
    done?;
    Ok(summary.exit())
}

async fn register(
    client: &Client,
    args: &ImportArgs,
    mut files: Vec<Candidate>,
    mut rows: RowCounter,
    summary: &mut Summary,
) -> Result<(), ClientError> {
    let progress = Progress::new(files.len());
    while !files.is_empty() {
        let rest = files.split_off(args.batch.min(files.len()));
        let batch = std::mem::replace(&mut files, rest);
        let (size, first) = (batch.len(), summary.imported == 0);
        if first {
            progress.say("reading footers");
        }
        batch::commit(client, &args.table, batch, &mut rows, summary).await?;
        progress.advance(size, summary);
    }
    Ok(())
}

/// The table; made first, if that is asked for and there is none.
async fn load_or_create(client: &Client, args: &ImportArgs, listing: &Listing) -> Result<TableJson, CliError> {
    match client.load_table(&args.table).await {
        Err(error) if args.create && error.status() == Some(404) => create(client, args, listing).await,
        loaded => Ok(loaded?),
    }
}

/// Creates the table from the schema that is named, or that of the first file that has one.
async fn create(client: &Client, args: &ImportArgs, listing: &Listing) -> Result<TableJson, CliError> {
    ensure_namespace(client, &args.table.namespace).await?;
    let schemas = match &args.schema_from {
        Some(path) => vec![locate(path)?.as_str().to_owned()],
        None => listing.candidates.iter().take(MAX_SCHEMA_TRIALS).map(|file| file.path.clone()).collect(),
    };
    let mut refusal = None;
    for schema_from in schemas {
        let new = NewTableJson {
            name: args.table.name.as_str().to_owned(),
            schema: None,
            schema_from: Some(schema_from),
            location: listing.sole_folder.as_ref().map(|folder| folder.as_str().to_owned()),
            cluster_by: None,
            properties: [].into(),
        };
        match client.create_table(args.table.namespace.as_str(), &new).await {
            // The first refusal says what is wrong with the file that was to give the schema.
            Err(error) if error.status() == Some(422) => {
                refusal.get_or_insert(error);
            }
            created => return Ok(created?),
        }
    }
    Err(refusal.map_or(CliError::NoSchema, CliError::from))
}

/// The live files of the table that are among the candidates, by path.
async fn live_among(
    client: &Client,
    table: &TableIdent,
    candidates: &[Candidate],
) -> Result<HashMap<String, Content>, ClientError> {
    let wanted: HashSet<&str> = candidates.iter().map(|file| file.path.as_str()).collect();
    let mut live = HashMap::new();
    let mut page_token = None;
    loop {
        let page = client.list_files(table, PAGE_SIZE, page_token.as_deref()).await?;
        for file in page.files {
            if wanted.contains(file.path.as_str()) {
                live.insert(file.path, Content { size_bytes: Some(file.size_bytes), etag: file.etag });
            }
        }
        page_token = page.next_page_token;
        if page_token.is_none() {
            return Ok(live);
        }
    }
}
