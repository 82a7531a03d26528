//! `prunus table list`

use clap::Args;
use prunus_catalog::NamespaceName;

use crate::cli::connection::Connection;
use crate::cli::namespace::namespaces;
use crate::cli::output::lines;
use crate::cli::pages::{cut_note, join};
use crate::cli::{CliError, Exit};
use crate::client::{Client, ClientError, Page};
use crate::wire::TablesJson;

const EXAMPLES: &str = "\
Examples:
  prunus table list
  prunus table list shop --limit 10";

/// List the tables of a namespace, or of all, one a line
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// The namespace [default: all]
    #[arg(value_name = "NAMESPACE")]
    namespace: Option<NamespaceName>,

    /// The most tables to list of each namespace [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let tables = match &args.namespace {
        Some(namespace) => tables(&client, namespace.as_str(), args.limit).await?,
        None => tables_of_all(&client, args.limit).await?,
    };
    args.connection.answer(&tables, render)?;
    Ok(Exit::Done)
}

async fn tables(client: &Client, namespace: &str, limit: Option<u64>) -> Result<TablesJson, ClientError> {
    join("tables", limit, async |page: Page| client.list_tables(namespace, &page).await).await
}

/// Those of every namespace, without a token: none would stand for all of them.
async fn tables_of_all(client: &Client, limit: Option<u64>) -> Result<TablesJson, ClientError> {
    let mut all = TablesJson { tables: Vec::new(), next_page_token: None };
    for namespace in namespaces(client, None).await?.namespaces {
        all.tables.extend(tables(client, &namespace.name, limit).await?.tables);
    }
    Ok(all)
}

fn render(tables: &TablesJson) -> String {
    let names: Vec<String> = tables.tables.iter().map(|table| format!("{}.{}", table.namespace, table.name)).collect();
    lines(names.iter().map(String::as_str)) + cut_note(tables.next_page_token.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_one_a_line() {
        let tables =
            serde_json::json!({"tables": [{"namespace": "a.b", "name": "t"}, {"namespace": "a", "name": "u"}]});
        assert_eq!(render(&serde_json::from_value(tables).unwrap()), "a.b.t\na.u\n");
    }
}
