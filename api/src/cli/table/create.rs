//! `prunus table create`

use clap::Args;
use prunus_catalog::{NamespaceName, TableIdent};

use crate::cli::connection::Connection;
use crate::cli::import::locate;
use crate::cli::output::{print, print_json};
use crate::cli::{CliError, Exit};
use crate::client::{Client, ClientError};
use crate::wire::{NewNamespaceJson, NewSchemaJson, NewTableJson};

/// Create a table without files; its namespace is made where it is missing
#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    schema: SchemaArgs,

    /// Where the files of the table lie, a folder or URL: relative paths are below it, and `key=value` folders in it are partitions
    #[arg(long, value_name = "LOCATION")]
    location: Option<String>,

    /// A property of the table; may be given more than once
    #[arg(long = "property", value_name = "KEY=VALUE", value_parser = property)]
    properties: Vec<(String, String)>,

    /// A column that manifests are to be clustered by; may be given more than once [default: the first date or timestamp]
    #[arg(long, value_name = "COLUMN")]
    cluster_by: Vec<String>,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct SchemaArgs {
    /// A file with the schema as JSON: {"fields": [{"name": "id", "type": "int64", "nullable": false}, ...]}
    #[arg(long = "schema", value_name = "FILE.json")]
    file: Option<String>,

    /// A Parquet file whose schema the table takes, a path or URL
    #[arg(long = "schema-from", value_name = "PATH")]
    from: Option<String>,
}

pub(super) async fn run(args: CreateArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let new = NewTableJson {
        name: args.table.name.as_str().to_owned(),
        schema: args.schema.file.as_deref().map(read_schema).transpose()?,
        schema_from: args.schema.from.as_deref().map(absolute).transpose()?,
        location: args.location.as_deref().map(absolute).transpose()?,
        cluster_by: Some(args.cluster_by).filter(|columns| !columns.is_empty()),
        properties: args.properties.into_iter().collect(),
    };
    ensure_namespace(&client, &args.table.namespace).await?;
    let table = client.create_table(args.table.namespace.as_str(), &new).await?;
    if args.connection.json {
        print_json(&table)?;
    } else {
        print(&format!("created table {}\n{}", args.table, super::show::render(&table)))?;
    }
    Ok(Exit::Done)
}

/// Makes a namespace, or finds that there is one.
pub(in crate::cli) async fn ensure_namespace(client: &Client, namespace: &NamespaceName) -> Result<(), ClientError> {
    let new = NewNamespaceJson { name: namespace.as_str().to_owned(), properties: [].into() };
    match client.create_namespace(&new).await {
        Err(error) if error.status() == Some(409) => Ok(()),
        made => made.map(drop),
    }
}

fn absolute(text: &str) -> Result<String, CliError> {
    Ok(locate(text)?.as_str().to_owned())
}

fn read_schema(path: &str) -> Result<NewSchemaJson, CliError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| CliError::SchemaFile { path: path.to_owned(), source })?;
    serde_json::from_str(&text).map_err(|source| CliError::Schema { path: path.to_owned(), source })
}

fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a property is KEY=VALUE".to_owned()),
    }
}
