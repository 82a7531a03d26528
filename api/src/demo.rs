//! The demo: real files, a real server, five filters, and a proof that no matching row was lost.
//!
//! It needs no set-up and leaves nothing behind: TPC-H `lineitem` is generated into a temporary folder, a server is started in
//! this process, and everything else goes over HTTP as it would from any client.

mod filters;
mod lineitem;
mod proof;
mod report;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow::error::ArrowError;
use parquet::errors::ParquetError;

use crate::client::{Client, ClientError};
use crate::wire;

use filters::{DemoFilter, FILTERS};
use report::Line;

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
    /// The server did not start.
    #[error("the server did not start")]
    Server(#[from] crate::server::ServerError),
    /// The files could not be written or read.
    #[error("the demo's files cannot be written or read")]
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
    let (data, store) = (root.join("lineitem"), root.join("catalog"));
    std::fs::create_dir(&data)?;
    std::fs::create_dir(&store)?;

    out.write_all(report::opening().as_bytes())?;
    let started = Instant::now();
    let written = tokio::task::spawn_blocking(move || lineitem::write(options.scale, &data)).await??;
    out.write_all(report::written(&written, started.elapsed()).as_bytes())?;

    let server = crate::server::Server::start(&store, ([127, 0, 0, 1], 0).into()).await?;
    let client = Client::new(server.url())?;
    let lines = show(&client, written.files, out).await;
    server.stop().await?;
    out.write_all(report::table(&lines?).as_bytes())?;
    out.write_all(report::closing().as_bytes())?;
    Ok(())
}

/// Registers the files, plans each filter and proves each plan.
async fn show(client: &Client, files: Vec<PathBuf>, out: &mut (dyn Write + Send)) -> Result<Vec<Line>, DemoError> {
    let started = Instant::now();
    register(client, &files).await?;
    out.write_all(report::registered(files.len(), started.elapsed()).as_bytes())?;

    let mut plans = Vec::with_capacity(FILTERS.len());
    for filter in &FILTERS {
        plans.push(plan(client, filter).await?);
    }

    let started = Instant::now();
    let truth = tokio::task::spawn_blocking(move || proof::read_all(&files)).await??;
    out.write_all(report::read(&truth, started.elapsed()).as_bytes())?;
    plans.iter().enumerate().map(|(number, planned)| line(number, planned, &truth)).collect()
}

fn line(number: usize, planned: &Planned, truth: &BTreeMap<String, proof::FileTruth>) -> Result<Line, DemoError> {
    let matching_rows = proof::prove(number, planned, truth)?;
    let wholly = planned.kept.iter().filter(|(_, wholly)| *wholly).count();
    let (pruned, kept, micros) = (planned.pruned, planned.kept.len(), planned.micros);
    Ok(Line { number, pruned, kept, wholly, matching_rows, micros })
}
