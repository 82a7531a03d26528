//! `prunus import`

mod batch;
mod listing;
mod progress;
mod standing;
mod summary;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use clap::Args;
use futures::{StreamExt, stream};
use prunus_catalog::{MAX_FILES_PER_COMMIT, Storage, TableIdent};

use crate::client::{Client, ClientError, Page, SnapshotChoice};
use crate::wire::{NewTableJson, TableJson};

use super::connection::Connection;
use super::table::create_with_namespace;
use super::{CliError, Exit, legible};

use batch::RowCounter;
use listing::{Candidate, Listing};
use progress::Progress;
use standing::{Content, Sorted};
use summary::Summary;

pub(in crate::cli) use listing::locate;

/// How many files a page of the table's listing has.
const PAGE_SIZE: u32 = 10_000;
/// How many batches are committed at once.
const MAX_BATCHES_AT_ONCE: usize = 2;
/// How many files are tried for a new table's schema, where none is named.
const MAX_SCHEMA_TRIALS: usize = 10;

const EXAMPLES: &str = "\
Examples:
  prunus import --create shop.orders ./orders/
  prunus import shop.orders s3://lake/orders/2026/ --batch 5000";

/// Register Parquet files in a table
///
/// Folders and prefixes are searched for files that end in .parquet, .parq or .pq; names and folders that begin with `_` or
/// `.` are passed over. An import that broke off is taken up by running it again: what is registered already is skipped. A
/// file that is refused does not hold up the others.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE", value_parser = table_name)]
    table: TableIdent,

    /// Files, folders, or URLs of either, such as s3://bucket/prefix/
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,

    /// Create the table, and its namespace, where they are missing. If PATH is one folder or prefix it becomes the table's
    /// location, and `key=value` folders in it become partition columns
    #[arg(long)]
    create: bool,

    /// The Parquet file whose schema the created table takes [default: the first, of at most ten, that has one]
    #[arg(long, value_name = "PATH", requires = "create")]
    schema_from: Option<String>,

    /// How many files are registered per commit; the first takes half as many
    #[arg(long, value_name = "N", default_value = "1000", value_parser = batch_size)]
    batch: usize,

    #[command(flatten)]
    connection: Connection,
}

/// Whoever swaps the arguments names a path here.
fn table_name(text: &str) -> Result<TableIdent, String> {
    text.parse().map_err(|error| format!("{error}; the table comes first: `prunus import NAMESPACE.TABLE PATH...`"))
}

fn batch_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(size) if (1..=MAX_FILES_PER_COMMIT).contains(&size) => Ok(size),
        _ => Err(format!("a batch has from 1 to {MAX_FILES_PER_COMMIT} files")),
    }
}

pub(super) async fn run(args: ImportArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let (summary, done) = import(&client, &args).await?;
    // What was done is told even if the rest could not be.
    args.connection.answer(&summary, Summary::render)?;
    done?;
    Ok(summary.exit())
}

/// Lists, sorts and registers; what was done, and whether something ended it too early.
async fn import(client: &Client, args: &ImportArgs) -> Result<(Summary, Result<(), ClientError>), CliError> {
    let progress = Progress::listing();
    let listing = listing::list(&Storage::from_environment(), &args.paths).await?;
    drop(progress);
    if listing.candidates.is_empty() {
        return Err(CliError::NoFiles { paths: args.paths.join("`, `"), passed_over: listing.passed_over });
    }
    let table = load_or_create(client, args, &listing).await?;
    let live = live_among(client, &args.table, &listing.candidates).await?;

    let Sorted { new, skipped, changed } = standing::sort(listing.candidates, &live);
    let mut summary = Summary::new(&args.table, table.current_snapshot, listing.passed_over, skipped, changed);
    let done = register(client, args, new, RowCounter::new(&table), &mut summary).await;
    Ok((summary, done))
}

/// Commits the files in batches, some at once: while one waits for its last files or is written, the next one's are read. Once a
/// batch fails no more are begun, and those that have are waited for, so that what was done is known.
async fn register(
    client: &Client,
    args: &ImportArgs,
    files: Vec<Candidate>,
    mut rows: RowCounter,
    summary: &mut Summary,
) -> Result<(), ClientError> {
    let progress = Progress::registering(files.len());
    let failed = Cell::new(false);
    let mut outcomes = stream::iter(batches(files, args.batch))
        .take_while(|_| std::future::ready(!failed.get()))
        .map(|batch| batch::commit(client, &args.table, batch))
        .buffer_unordered(MAX_BATCHES_AT_ONCE);
    let mut failure = None;
    while let Some(mut outcome) = outcomes.next().await {
        let added = match &outcome.added {
            Some(added) => rows.added(client, &args.table, &added.committed).await,
            None => Ok(0),
        };
        let (files, error) = (outcome.files, outcome.error.take());
        summary.note(outcome);
        summary.rows += added.as_ref().copied().unwrap_or_default();
        if let Some(error) = error.or(added.err()) {
            failed.set(true);
            failure.get_or_insert(error);
        }
        progress.advance(files, summary);
    }
    failure.map_or(Ok(()), Err)
}

/// The files in batches of this size. The first is half as large, so that batches that run at once end by turns.
fn batches(files: Vec<Candidate>, size: usize) -> Vec<Vec<Candidate>> {
    let mut batches = Vec::with_capacity(files.len() / size + 2);
    let mut files = files.into_iter().peekable();
    let mut next = size.div_ceil(2);
    while files.peek().is_some() {
        batches.push(files.by_ref().take(next).collect());
        next = size;
    }
    batches
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
    if let Some((one, other)) = listing.uneven_partitions() {
        return Err(CliError::UnevenPartitions { one: one.to_owned(), other: other.to_owned() });
    }
    let schemas = match &args.schema_from {
        Some(path) => vec![locate(path)?.as_str().to_owned()],
        None => listing.candidates.iter().take(MAX_SCHEMA_TRIALS).map(|file| file.path.clone()).collect(),
    };
    let tried = schemas.len();
    let mut refusal = None;
    for schema_from in schemas {
        let new = NewTableJson {
            name: args.table.name.as_str().to_owned(),
            schema: None,
            schema_from: Some(schema_from.clone()),
            location: listing.sole_folder.as_ref().map(|folder| folder.as_str().to_owned()),
            cluster_by: None,
            properties: [].into(),
        };
        match create_with_namespace(client, client, &args.table.namespace, &new).await {
            // The first refusal says what is wrong with the file that was to give the schema.
            Err(error) if error.status() == Some(422) => {
                refusal.get_or_insert(error);
            }
            created => {
                let created = created?;
                let others = listing.candidates.len() > 1;
                let note = if others { "; columns that only other files have are left out" } else { "" };
                eprintln!("created {} with the schema of {}{note}", args.table, legible(&schema_from));
                return Ok(created);
            }
        }
    }
    Err(match refusal {
        Some(source) if args.schema_from.is_none() => CliError::NoSchemaAmong { tried, source },
        Some(refusal) => refusal.into(),
        None => CliError::NoSchema,
    })
}

/// The live files of the table that are among the candidates, by path.
async fn live_among(
    client: &Client,
    table: &TableIdent,
    candidates: &[Candidate],
) -> Result<HashMap<String, Content>, ClientError> {
    let wanted: HashSet<&str> = candidates.iter().map(|file| file.path.as_str()).collect();
    let mut live = HashMap::new();
    let mut next = Page { page_size: Some(PAGE_SIZE), page_token: None };
    loop {
        let page = client.list_files(table, &SnapshotChoice::default(), &next).await?;
        for file in page.files {
            if wanted.contains(file.path.as_str()) {
                live.insert(file.path, Content { size_bytes: Some(file.size_bytes), etag: file.etag });
            }
        }
        next.page_token = page.next_page_token;
        if next.page_token.is_none() {
            return Ok(live);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use arrow::array::{Int32Array, RecordBatch};
    use clap::Parser;
    use parquet::arrow::ArrowWriter;

    use super::*;
    use crate::demo::Server;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ImportArgs,
    }

    fn write_file(path: &Path, values: Vec<i32>) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let rows = RecordBatch::try_from_iter([("x", Arc::new(Int32Array::from(values)) as _)]).unwrap();
        let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
    }

    async fn import_folder(server: &Server, folder: &Path) -> Summary {
        let line = ["import", "a.t", folder.to_str().unwrap(), "--create", "--batch", "2"];
        let args = Line::try_parse_from(line).unwrap().args;
        let (summary, done) = import(&Client::new(server.url().clone()).unwrap(), &args).await.unwrap();
        done.unwrap();
        summary
    }

    #[test]
    fn the_first_batch_is_half_as_large_as_the_others() {
        let sizes = |files: usize, size: usize| -> Vec<usize> {
            let file = Candidate { path: "a".to_owned(), size_bytes: None, etag: None };
            batches(vec![file; files], size).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(10, 4), [2, 4, 4]);
        assert_eq!(sizes(11, 4), [2, 4, 4, 1]);
        assert_eq!(sizes(3, 1), [1, 1, 1]);
        assert_eq!(sizes(1, 1_000), [1]);
        assert_eq!(sizes(0, 4), [0_usize; 0]);
    }

    fn counts(summary: &Summary) -> [usize; 5] {
        let (changed, refused) = (summary.changed.len(), summary.refused.len());
        [summary.imported, summary.skipped, changed, refused, summary.passed_over]
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_import_can_be_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(&folder.path().join("catalog")).await.unwrap();
        let data = folder.path().join("data");
        // The first file is none, and is not to keep the table from being made.
        std::fs::create_dir_all(data.join("day=0")).unwrap();
        std::fs::write(data.join("day=0/0.parquet"), "no Parquet").unwrap();
        write_file(&data.join("day=1/a.parquet"), vec![1, 2, 3]);
        write_file(&data.join("day=1/b.parquet"), vec![4]);
        write_file(&data.join("day=2/c.parquet"), vec![5, 6]);
        write_file(&data.join("_tmp/d.parquet"), vec![7]);

        let first = import_folder(&server, &data).await;
        assert_eq!((counts(&first), first.rows, first.snapshot_id), ([3, 0, 0, 1, 1], 6, 2));
        assert_eq!(first.exit(), Exit::Incomplete);

        let again = import_folder(&server, &data).await;
        assert_eq!((counts(&again), again.rows, again.snapshot_id), ([0, 3, 0, 1, 1], 0, 2));

        write_file(&data.join("day=2/c.parquet"), vec![5, 6, 7, 8, 9]);
        std::fs::remove_file(data.join("day=0/0.parquet")).unwrap();
        let changed = import_folder(&server, &data).await;
        assert_eq!((counts(&changed), changed.exit()), ([0, 2, 1, 0, 1], Exit::Incomplete));

        let client = Client::new(server.url().clone()).unwrap();
        let table = client.load_table(&"a.t".parse().unwrap()).await.unwrap();
        let columns: Vec<&str> = table.schema.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!((columns, table.files, table.rows), (vec!["x", "day"], 3, 6));
        server.stop().await.unwrap();
    }
}
