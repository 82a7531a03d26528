//! `prunus table create`

use clap::Args;
use prunus_catalog::{NamespaceName, TableIdent};

use crate::cli::column_names::columns;
use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::import::locate;
use crate::cli::json_file::read_json;
use crate::cli::properties::property;
use crate::cli::{CliError, Exit};
use crate::client::{Client, ClientError};
use crate::wire::{NewNamespaceJson, NewTableJson, TableJson};

const EXAMPLES: &str = "\
Examples:
  prunus table create shop.orders --schema-from ./orders/part-1.parquet --location ./orders/
  prunus table create shop.orders --schema schema.json --cluster-by day --property verification=scan";

/// Create a table without files; its namespace is made where it is missing
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct SchemaArgs {
    /// A file with the schema as JSON, `-` for standard input: {"fields": [{"name": "id", "type": "int64", "nullable": false}, ...]}
    #[arg(long = "schema", value_name = "FILE.json")]
    file: Option<String>,

    /// A Parquet file whose schema the table takes, a path or URL
    #[arg(long = "schema-from", value_name = "PATH")]
    from: Option<String>,
}

pub(super) async fn run(args: CreateArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let schema = match &args.schema.file {
        Some(path) => Some(read_json(path, "a schema, {\"fields\": [{\"name\", \"type\"}, ...]},").await?),
        None => None,
    };
    let new = NewTableJson {
        name: args.table.name.as_str().to_owned(),
        schema,
        schema_from: args.schema.from.as_deref().map(absolute).transpose()?,
        location: args.location.as_deref().map(absolute).transpose()?,
        cluster_by: Some(columns(&args.cluster_by)).filter(|columns| !columns.is_empty()),
        properties: args.properties.into_iter().collect(),
    };
    let table = create_with_namespace(&client, &args.key.on(client.clone()), &args.table.namespace, &new).await?;
    args.connection.answer(&table, |table| format!("created table {}\n{}", args.table, super::show::render(table)))?;
    Ok(Exit::Done)
}

/// Creates a table by `keyed`, and its namespace first where there is none. The table is tried first: who may create tables in a
/// namespace need not be one who may create namespaces.
pub(in crate::cli) async fn create_with_namespace(
    client: &Client,
    keyed: &Client,
    namespace: &NamespaceName,
    new: &NewTableJson,
) -> Result<TableJson, ClientError> {
    match keyed.create_table(namespace.as_str(), new).await {
        // A failure is not kept under the key, so that the same one may be shown again.
        Err(error) if is_missing_namespace(&error) => {
            match ensure_namespace(client, namespace).await {
                // That it is missing says more than that another role is needed to make it.
                Err(refused) if refused.status() == Some(403) => return Err(error),
                made => made?,
            }
            keyed.create_table(namespace.as_str(), new).await
        }
        created => created,
    }
}

/// Whether it is said that there is no such namespace. The sentence begins with what there is not.
fn is_missing_namespace(error: &ClientError) -> bool {
    let ClientError::Problem(problem) = error else { return false };
    problem.status == 404 && problem.detail.starts_with("namespace ")
}

/// Makes a namespace, or finds that there is one.
async fn ensure_namespace(client: &Client, namespace: &NamespaceName) -> Result<(), ClientError> {
    let new = NewNamespaceJson { name: namespace.as_str().to_owned(), properties: [].into() };
    match client.create_namespace(&new).await {
        Err(error) if error.status() == Some(409) => Ok(()),
        made => made.map(drop),
    }
}

fn absolute(text: &str) -> Result<String, CliError> {
    Ok(locate(text)?.as_str().to_owned())
}
