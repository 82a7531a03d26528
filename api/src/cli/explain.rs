//! `prunus explain`

pub(super) mod render;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::wire::ExplainJson;

use super::connection::Connection;
use super::progress::Progress;
use super::prose::Paint;
use super::scan::ScanArgs;
use super::statistics::Columns;
use super::{CliError, Exit};

const FILTER_HELP: &str = "The rows that are wanted, as a SQL condition";

const EXAMPLES: &str = "\
Example:
  prunus explain shop.orders s3://lake/orders/part-7.parquet --where 'amount > 100'";

/// Explain why a plan keeps or prunes a file, conjunct by conjunct of the filter, and by which statistics
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("filter", |filter| filter.help(FILTER_HELP).required_unless_present("filter_json")))]
pub(super) struct ExplainArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The file, as `prunus files list` and `prunus plan --no-prune` print it, or relative to the table's location
    #[arg(value_name = "PATH")]
    path: String,

    #[command(flatten)]
    scan: ScanArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ExplainArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let explain = ExplainJson { path: args.path, plan: args.scan.request(&client, &args.table).await? };
    let explained = Progress::of("explaining").during(client.explain(&args.table, &explain)).await?;
    let columns = Columns::for_people(&client, &args.table, &args.connection).await?;
    args.connection.answer(&explained, |explained| {
        let statistics = render::WithStatistics::Shown(columns);
        render::file(&explain.path, explained, &statistics, Paint::of_stdout())
    })?;
    Ok(Exit::Done)
}
