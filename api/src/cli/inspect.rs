//! `prunus inspect`

mod advice;
#[cfg(test)]
mod example;
mod screen;

use clap::Args;
use prunus_catalog::TableIdent;
use serde::Serialize;

use crate::client::{Client, ClientError, Page, SnapshotChoice};
use crate::wire::{
    AuditJson, CoverageJson, ExplainJson, ExplainedJson, PlanJson, PlannedFileJson, PlannedJson, RegroupJson,
    SnapshotJson, TableJson, TableLayoutJson, VerdictJson,
};

use super::connection::Connection;
use super::progress::Progress;
use super::prose::Paint;
use super::scan::ScanArgs;
use super::{CliError, Exit};

/// How many of the newest snapshots are shown.
const SNAPSHOTS_SHOWN: u32 = 5;
/// How many kept files are picked from, to be explained.
const FILES_PICKED_FROM: u32 = 1_000;

const EXAMPLES: &str = "\
Examples:
  prunus inspect shop.orders
  prunus inspect shop.orders --where 'amount > 100'     # why does this filter keep so many files?";

/// Look at a table as a whole: size, layout, columns, audits, what a filter does, and what could be better
///
/// With a filter: what it prunes and keeps, what each conjunct of it did and could not do, and some of the files that it keeps,
/// explained. Column `one value hits` is how many files hold a value of the column, by their bounds: the fewer, the more is pruned.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InspectArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    scan: ScanArgs,

    /// How many of the files that the filter keeps are explained
    #[arg(long, value_name = "N", default_value_t = 3)]
    explain: usize,

    #[command(flatten)]
    connection: Connection,
}

/// All that is looked at, as `--json` prints it: answers of the API, and what follows from them.
#[derive(Debug, Serialize)]
struct Inspection {
    table: TableJson,
    /// The newest, newest first.
    snapshots: Vec<SnapshotJson>,
    layout: TableLayoutJson,
    columns: CoverageJson,
    audits: Vec<AuditJson>,
    /// Only with a filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<Scan>,
    /// What to do, most urgent first.
    advice: Vec<String>,
}

/// What a filter does.
#[derive(Debug, Serialize)]
struct Scan {
    /// Its plan without its files.
    plan: PlannedJson,
    explained: Vec<ExplainedFile>,
}

/// A file that a filter keeps, and why.
#[derive(Debug, Serialize)]
struct ExplainedFile {
    path: String,
    #[serde(flatten)]
    explained: ExplainedJson,
}

pub(super) async fn run(args: InspectArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let has_filter = args.scan.has_filter();
    let request = args.scan.request(&client, &args.table).await?;
    let progress = Progress::of("looking at the table");
    let inspection = progress
        .during(async {
            let scan = if has_filter { Some(scan(&client, &args.table, &request, args.explain).await?) } else { None };
            inspect(&client, &args.table, &request, scan).await
        })
        .await?;
    drop(progress);
    args.connection.answer(&inspection, |inspection| screen::render(inspection, Paint::of_stdout()))?;
    Ok(Exit::Done)
}

/// Everything but the scan. What kept the filter from pruning is in the coverage by then, since the plan came before it.
async fn inspect(
    client: &Client,
    table: &TableIdent,
    request: &PlanJson,
    scan: Option<Scan>,
) -> Result<Inspection, ClientError> {
    let choice = SnapshotChoice { snapshot_id: request.snapshot_id, as_of: request.as_of.clone() };
    let newest = Page { page_size: Some(SNAPSHOTS_SHOWN), page_token: None };
    let dry = RegroupJson { cluster_by: None, dry_run: true };
    let (described, snapshots, layout, columns, audits) = futures::try_join!(
        client.load_table(table),
        client.list_snapshots(table, &newest),
        client.regroup(table, &dry),
        client.load_coverage(table, &choice),
        client.list_audits(table),
    )?;
    let mut inspection = Inspection {
        table: described,
        snapshots: snapshots.snapshots,
        layout: layout.before,
        columns,
        audits: audits.audits,
        scan,
        advice: Vec::new(),
    };
    inspection.advice = advice::advice(&inspection);
    Ok(inspection)
}

async fn scan(client: &Client, table: &TableIdent, request: &PlanJson, explain: usize) -> Result<Scan, ClientError> {
    let first = PlanJson { page_size: Some(FILES_PICKED_FROM), ..request.clone() };
    let mut plan = client.plan(table, &first).await?;
    let mut explained = Vec::new();
    for path in spread(&plan.files, explain) {
        let asked = ExplainJson { path: path.clone(), plan: request.clone() };
        match client.explain(table, &asked).await {
            // It was removed since the plan. The plan's snapshot is not asked for instead: its schema may be an older one.
            Err(error) if error.status() == Some(404) => {}
            explained_file => explained.push(ExplainedFile { path, explained: explained_file? }),
        }
    }
    plan.files = Vec::new();
    plan.next_page_token = None;
    Ok(Scan { plan, explained })
}

/// Some of the files that have to be filtered, from the first to the last. Of those that match as a whole there is nothing to tell.
fn spread(files: &[PlannedFileJson], wanted: usize) -> Vec<String> {
    let unsure: Vec<&PlannedFileJson> = files.iter().filter(|file| file.verdict == VerdictJson::Some).collect();
    let count = wanted.min(unsure.len());
    let last = unsure.len().saturating_sub(1);
    let place = |index: usize| if count > 1 { index * last / (count - 1) } else { 0 };
    (0..count).filter_map(|index| unsure.get(place(index))).map(|file| file.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_to_be_explained_are_spread_over_the_plan() {
        let file = |index: usize| {
            let verdict = if index == 0 { "all" } else { "some" };
            serde_json::from_value(json!({"file_id": index, "path": index.to_string(), "size_bytes": 1, "row_count": 1,
                "verdict": verdict, "residual": null}))
            .unwrap()
        };
        let files: Vec<PlannedFileJson> = (0..10).map(file).collect();
        assert_eq!(spread(&files, 3), ["1", "5", "9"]);
        assert_eq!(spread(&files, 1), ["1"]);
        assert_eq!(spread(&files[..3], 5), ["1", "2"]);
        assert_eq!(spread(&files, 0), [""; 0]);
    }
}
