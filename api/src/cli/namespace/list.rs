//! `prunus namespace list`

use clap::Args;

use crate::cli::connection::Connection;
use crate::cli::output::lines;
use crate::cli::pages::{LimitArgs, cut_note, join};
use crate::cli::{CliError, Exit};
use crate::client::{Client, ClientError, Page};
use crate::wire::NamespacesJson;

const EXAMPLES: &str = "\
Example:
  prunus namespace list";

/// List the namespaces by name, one a line
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let namespaces = namespaces(&args.connection.client()?, args.limit.most()).await?;
    args.connection.answer(&namespaces, render)?;
    Ok(Exit::Done)
}

/// All namespaces, or the first of them.
pub(in crate::cli) async fn namespaces(client: &Client, limit: Option<u64>) -> Result<NamespacesJson, ClientError> {
    join("namespaces", limit, async |page: Page| client.list_namespaces(&page).await).await
}

fn render(page: &NamespacesJson) -> String {
    let names = lines(page.namespaces.iter().map(|namespace| namespace.name.as_str()));
    names + cut_note(page.next_page_token.as_ref())
}
