//! `prunus table list`

use clap::Args;
use prunus_catalog::NamespaceName;

use crate::cli::connection::Connection;
use crate::cli::output::{lines, print, print_json};
use crate::cli::{CliError, Exit};
use crate::client::{Client, ClientError};
use crate::wire::TablesJson;

/// List the tables of a namespace, or of all
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// The namespace [default: all]
    #[arg(value_name = "NAMESPACE")]
    namespace: Option<NamespaceName>,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let namespaces = match args.namespace {
        Some(namespace) => vec![namespace.as_str().to_owned()],
        None => namespaces(&client).await?,
    };
    let mut tables = Vec::new();
    for namespace in namespaces {
        let mut page_token = None;
        loop {
            let page = client.list_tables(&namespace, page_token.as_deref()).await?;
            tables.extend(page.tables);
            page_token = page.next_page_token;
            if page_token.is_none() {
                break;
            }
        }
    }
    if args.connection.json {
        print_json(&TablesJson { tables, next_page_token: None })?;
    } else {
        let names: Vec<String> = tables.iter().map(|table| format!("{}.{}", table.namespace, table.name)).collect();
        print(&lines(names.iter().map(String::as_str)))?;
    }
    Ok(Exit::Done)
}

async fn namespaces(client: &Client) -> Result<Vec<String>, ClientError> {
    let mut names = Vec::new();
    let mut page_token = None;
    loop {
        let page = client.list_namespaces(page_token.as_deref()).await?;
        names.extend(page.namespaces.into_iter().map(|namespace| namespace.name));
        page_token = page.next_page_token;
        if page_token.is_none() {
            return Ok(names);
        }
    }
}
