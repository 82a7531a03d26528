//! The demo: real files, a real server, five filters, and a proof that no matching row was lost.
//!
//! It needs no set-up and leaves nothing behind: TPC-H `lineitem` is generated into a temporary folder, a server is started in
//! this process, and everything else goes over HTTP as it would from any client.

mod filters;
mod lineitem;
mod proof;
mod report;
mod server;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use arrow::error::ArrowError;
use parquet::errors::ParquetError;
use prunus_catalog::{NameError, TableIdent};

use crate::client::{Client, ClientError};
use crate::wire::{
    CommitJson, FilterJson, NewFileJson, NewNamespaceJson, NewTableJson, OperationJson, PlanJson, VerdictJson,
};

use filters::{DemoFilter, FILTERS};
use proof::FileTruth;
use report::Line;

pub(crate) use server::Server;

/// How many files `lineitem` is written into.
const FILES: usize = 60;
const NAMESPACE: &str = "demo";
const TABLE: &str = "lineitem";

/// How large the demo is.
#[derive(Clone, Copy, Debug)]
pub struct DemoOptions {
    /// The scale of TPC-H; 0.1 makes 600,572 rows.
    pub scale: f64,
}

/// Why the demo failed.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The proof found a wrong answer.
    #[error("a plan is wrong: {0}")]
    Disproved(String),
    /// The server refused or did not answer.
    #[error("the server did not do as it should")]
    Client(#[from] ClientError),
    /// The catalog did not open.
    #[error("the catalog of the demo cannot be opened")]
    Catalog(#[from] prunus_catalog::Error),
    /// The name of the table is none.
    #[error("the name of the demo's table cannot be")]
    Name(#[from] NameError),
    /// The URL of the server is none.
    #[error("the address of the demo's server is no URL")]
    Address,
    /// The files could not be written or read, or the server could not listen.
    #[error("the demo's files cannot be written or read, or its server cannot listen")]
    Files(#[from] std::io::Error),
    /// The rows could not be made or evaluated.
    #[error("the demo's rows cannot be made or evaluated")]
    Rows(#[from] ArrowError),
    /// The files could not be encoded or decoded.
    #[error("the demo's files cannot be encoded or decoded")]
    Parquet(#[from] ParquetError),
    /// A background thread was lost.
    #[error("a background thread was lost")]
    Background(#[from] tokio::task::JoinError),
}

/// A plan, as far as the proof needs it.
#[derive(Debug, Default)]
struct Planned {
    pruned: u64,
    micros: u64,
    /// The paths kept, and whether all their rows are said to match.
    kept: Vec<(String, bool)>,
}

/// Runs the demo and prints what it does.
///
/// # Errors
/// [`DemoError`]; [`DemoError::Disproved`] is the one that matters.
pub async fn run(options: DemoOptions, out: &mut (dyn Write + Send)) -> Result<(), DemoError> {
    let folder = tempfile::Builder::new().prefix("prunus-demo-").tempdir()?;
    let root = folder.path().canonicalize()?;
    let data = root.join("lineitem");
    std::fs::create_dir(&data)?;

    write!(out, "{}", report::opening())?;
    let started = Instant::now();
    let written = tokio::task::spawn_blocking(move || lineitem::write(options.scale, &data)).await??;
    write!(out, "{}", report::written(&written, started.elapsed()))?;

    let started = Instant::now();
    let server = Server::start(&root.join("catalog")).await?;
    let client = Client::new(server.url().clone())?;
    register(&client, &written.files).await?;
    write!(out, "{}", report::registered(written.files.len(), started.elapsed()))?;

    let started = Instant::now();
    let mut plans = Vec::with_capacity(FILTERS.len());
    for filter in &FILTERS {
        plans.push(plan(&client, filter).await?);
    }
    write!(out, "{}", report::planned(started.elapsed()))?;
    server.stop().await?;

    let started = Instant::now();
    let truth = tokio::task::spawn_blocking(move || proof::read_all(&written.files)).await??;
    write!(out, "{}", report::read(&truth, started.elapsed()))?;
    let lines: Vec<Line> =
        plans.iter().enumerate().map(|(number, planned)| prove(number, planned, &truth)).collect::<Result<_, _>>()?;
    write!(out, "\n{}{}", report::table(&lines), report::closing())?;
    Ok(())
}

/// Makes the table from the schema of the first file, and registers all in one commit.
async fn register(client: &Client, files: &[PathBuf]) -> Result<(), DemoError> {
    client.create_namespace(&NewNamespaceJson { name: NAMESPACE.to_owned(), properties: [].into() }).await?;
    let table = NewTableJson {
        name: TABLE.to_owned(),
        schema: None,
        schema_from: files.first().map(|path| proof::url_of(path)),
        location: None,
        cluster_by: Some(vec!["l_shipdate".to_owned()]),
        properties: [].into(),
    };
    client.create_table(NAMESPACE, &table).await?;
    let add = files.iter().map(|path| NewFileJson { path: proof::url_of(path), ..NewFileJson::default() }).collect();
    let commit = CommitJson {
        operation: OperationJson::Append,
        base_snapshot: None,
        add,
        remove: Vec::new(),
        filter: None,
        nan_order: None,
        summary: [].into(),
    };
    client.commit(&table_ident()?, &commit).await?;
    Ok(())
}

fn table_ident() -> Result<TableIdent, NameError> {
    Ok(TableIdent { namespace: NAMESPACE.parse()?, name: TABLE.parse()? })
}

/// The plan of one filter. All its files are on the first page: a page has room for far more.
async fn plan(client: &Client, filter: &DemoFilter) -> Result<Planned, DemoError> {
    let request = PlanJson { filter: Some(FilterJson::Sql(filter.sql.to_owned())), ..PlanJson::default() };
    let answer = client.plan(&table_ident()?, &request).await?;
    let (pruned, micros) = answer.metrics.map_or((0, 0), |metrics| (metrics.files_pruned, metrics.timings_us.total));
    let kept = answer.files.into_iter().map(|file| (file.path, file.verdict == VerdictJson::All)).collect();
    Ok(Planned { pruned, micros, kept })
}

fn prove(number: usize, planned: &Planned, truth: &BTreeMap<String, FileTruth>) -> Result<Line, DemoError> {
    let matching_rows = proof::prove(number, planned, truth)?;
    let wholly = planned.kept.iter().filter(|(_, wholly)| *wholly).count();
    let Planned { pruned, micros, kept } = planned;
    Ok(Line { number, pruned: *pruned, kept: kept.len(), wholly, matching_rows, micros: *micros })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_demo_proves_itself() {
        let mut out = Vec::new();
        run(DemoOptions { scale: 0.002 }, &mut out).await.unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("11,957 rows"), "{text}");
        assert!(FILTERS.iter().all(|filter| text.contains(filter.sql)), "{text}");
        assert!(text.contains("Proven:"), "{text}");
    }
}
