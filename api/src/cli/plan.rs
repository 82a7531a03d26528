//! `prunus plan`

pub(super) mod render;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::client::{Client, ClientError, Page};
use crate::wire::{PlanJson, PlannedJson};

use super::column_names::columns;
use super::connection::Connection;
use super::output::print;
use super::pages::{LimitArgs, join};
use super::progress::Progress;
use super::scan::ScanArgs;
use super::{CliError, Exit};

const EXAMPLES: &str = "\
Examples:
  prunus plan shop.orders --where \"day >= '2024-06-01' AND customer IN (17, 42)\"
  prunus plan shop.orders --where 'amount > 100' --quiet > paths.txt
  prunus plan shop.orders --snapshot 3 --dry-run";

/// Plan a scan: which files of a table can hold a row that a filter matches
///
/// Prints what was considered, pruned and kept, what each conjunct of the filter did, and the paths of the files kept. `prunus
/// explain` says why one file was kept or pruned, `prunus inspect` looks at the whole.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PlanArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    scan: ScanArgs,

    /// A column that is wanted; may be given more than once. The plan is refused if there is none of that name [default: all]
    #[arg(long, value_name = "COLUMN")]
    select: Vec<String>,

    /// Use no statistics: keep every live file
    #[arg(long)]
    no_prune: bool,

    /// Say what would be pruned and kept, and list no files
    #[arg(long, conflicts_with_all = ["limit", "quiet"])]
    dry_run: bool,

    #[command(flatten)]
    limit: LimitArgs,

    /// Print the paths alone
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: PlanArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let limit = if args.dry_run { Some(0) } else { args.limit.most() };
    let request = PlanJson {
        select: columns(&args.select),
        prune: !args.no_prune,
        ..args.scan.request(&client, &args.table).await?
    };
    let planned = plan(&client, &args.table, &request, limit).await?;
    if args.quiet {
        print(&render::paths(&planned))?;
    } else {
        args.connection.answer(&planned, render::plan)?;
    }
    Ok(Exit::Done)
}

/// The plan with the files of all its pages, up to `limit` of them: the first page's answer, its list longer.
pub(super) async fn plan(
    client: &Client,
    table: &TableIdent,
    request: &PlanJson,
    limit: Option<u64>,
) -> Result<PlannedJson, ClientError> {
    if limit == Some(0) {
        let dry = PlanJson { dry_run: true, ..request.clone() };
        return Progress::of("planning").during(client.plan(table, &dry)).await;
    }
    join("files of the plan", limit, async |page: Page| {
        let Page { page_size, page_token } = page;
        client.plan(table, &PlanJson { page_size, page_token, ..request.clone() }).await
    })
    .await
}
