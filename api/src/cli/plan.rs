//! `prunus plan`

mod render;

use clap::{Args, ValueEnum};
use prunus_catalog::{MAX_PAGE_SIZE, TableIdent};

use crate::client::{Client, ClientError};
use crate::wire::{FilterJson, NanOrderJson, PlanJson, PlannedJson};

use super::connection::Connection;
use super::output::{print, print_json};
use super::{CliError, Exit};

/// Plan a scan: which files of a table can hold a row that a filter matches
///
/// Prints what was considered, pruned and kept, what each conjunct of the filter did, and the paths of the files kept.
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The rows that are wanted, as a SQL condition [default: all]
    #[arg(long = "where", value_name = "CONDITION")]
    filter: Option<String>,

    /// The snapshot [default: the newest]
    #[arg(long, value_name = "N", conflicts_with = "as_of")]
    snapshot: Option<i64>,

    /// The newest snapshot at or before this time, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,

    /// How the reading engine orders NaN
    #[arg(long, value_name = "ORDER", default_value = "any")]
    nan_order: NanOrder,

    /// The zone in which the reading engine takes times without one, such as Europe/Paris or +01:00
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    time_zone: Option<String>,

    /// The most files to list [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,

    /// Print the paths alone
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NanOrder {
    /// Not known: the plan is right for all
    Any,
    /// Above every number and equal to itself (PostgreSQL, Spark, DuckDB)
    Greatest,
    /// Unordered (IEEE 754, pandas)
    Ieee,
}

pub(super) async fn run(args: PlanArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let request = PlanJson {
        filter: args.filter.map(FilterJson::Sql),
        snapshot_id: args.snapshot,
        as_of: args.as_of,
        nan_order: match args.nan_order {
            NanOrder::Any => NanOrderJson::Any,
            NanOrder::Greatest => NanOrderJson::Greatest,
            NanOrder::Ieee => NanOrderJson::Ieee,
        },
        time_zone: args.time_zone,
        ..PlanJson::default()
    };
    let planned = plan(&client, &args.table, request, args.limit.unwrap_or(u64::MAX)).await?;
    if args.connection.json {
        print_json(&planned)?;
    } else if args.quiet {
        print(&render::paths(&planned))?;
    } else {
        print(&render::plan(&planned))?;
    }
    Ok(Exit::Done)
}

/// The plan with the files of all its pages, up to `limit` of them: the first page's answer, its list longer. A token for the
/// next page is left where files were left out at the end of a page.
async fn plan(client: &Client, table: &TableIdent, request: PlanJson, limit: u64) -> Result<PlannedJson, ClientError> {
    if limit == 0 {
        return client.plan(table, &PlanJson { dry_run: true, ..request }).await;
    }
    let mut left = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut request = PlanJson { page_size: Some(page_size(left)), ..request };
    let mut planned = client.plan(table, &request).await?;
    left = left.saturating_sub(planned.files.len());
    while left > 0 && planned.next_page_token.is_some() {
        request.page_token = planned.next_page_token.take();
        request.page_size = Some(page_size(left));
        let page = client.plan(table, &request).await?;
        left = left.saturating_sub(page.files.len());
        planned.files.extend(page.files);
        planned.next_page_token = page.next_page_token;
    }
    Ok(planned)
}

/// Pages of 10,000: few requests, and answers of a few megabytes.
fn page_size(left: usize) -> u32 {
    const PAGE_SIZE: u32 = 10_000;
    const { assert!(PAGE_SIZE <= MAX_PAGE_SIZE) };
    u32::try_from(left).unwrap_or(PAGE_SIZE).min(PAGE_SIZE)
}
