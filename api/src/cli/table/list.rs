//! `prunus table list`

use clap::Args;
use prunus_catalog::NamespaceName;
use serde::Serialize;

use crate::cli::connection::Connection;
use crate::cli::namespace::namespaces;
use crate::cli::output::lines;
use crate::cli::pages::{LIMIT_NOTE, LimitArgs, cut_note, join};
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

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let limit = args.limit.most();
    let listed = match &args.namespace {
        Some(namespace) => Listed { page: tables(&client, namespace.as_str(), limit).await?, more: false },
        None => tables_of_all(&client, limit).await?,
    };
    args.connection.answer(&listed, render)?;
    Ok(Exit::Done)
}

/// Tables, as `--json` prints them.
#[derive(Debug, Serialize)]
struct Listed {
    #[serde(flatten)]
    page: TablesJson,
    /// Whether the limit ended a listing of all namespaces: no token stands for all of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

async fn tables(client: &Client, namespace: &str, limit: Option<u64>) -> Result<TablesJson, ClientError> {
    join("tables", limit, async |page: Page| client.list_tables(namespace, &page).await).await
}

/// Those of every namespace, up to a limit in all.
async fn tables_of_all(client: &Client, limit: Option<u64>) -> Result<Listed, ClientError> {
    let mut all = Listed { page: TablesJson { tables: Vec::new(), next_page_token: None }, more: false };
    for namespace in namespaces(client, None).await?.namespaces {
        let left = limit.map(|limit| limit - all.page.tables.len() as u64);
        // One is asked for even where there is no room left: it tells whether anything is left out.
        let page = match tables(client, &namespace.name, left.map(|left| left.max(1))).await {
            // It was dropped since the namespaces were listed.
            Err(error) if error.status() == Some(404) => continue,
            page => page?,
        };
        if left == Some(0) && !page.tables.is_empty() {
            all.more = true;
            break;
        }
        all.page.tables.extend(page.tables);
        if page.next_page_token.is_some() {
            all.more = true;
            break;
        }
    }
    Ok(all)
}

fn render(Listed { page, more }: &Listed) -> String {
    let names: Vec<String> = page.tables.iter().map(|table| format!("{}.{}", table.namespace, table.name)).collect();
    let note = if *more { LIMIT_NOTE } else { cut_note(page.next_page_token.as_ref()) };
    lines(names.iter().map(String::as_str)) + note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_one_a_line() {
        let tables =
            serde_json::json!({"tables": [{"namespace": "a.b", "name": "t"}, {"namespace": "a", "name": "u"}]});
        let mut listed = Listed { page: serde_json::from_value(tables).unwrap(), more: false };
        assert_eq!(render(&listed), "a.b.t\na.u\n");
        listed.more = true;
        assert_eq!(render(&listed), format!("a.b.t\na.u\n{LIMIT_NOTE}"));
    }
}
