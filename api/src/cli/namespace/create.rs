//! `prunus namespace create`

use clap::Args;
use prunus_catalog::NamespaceName;

use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::properties::property;
use crate::cli::{CliError, Exit};
use crate::wire::NewNamespaceJson;

const EXAMPLES: &str = "\
Example:
  prunus namespace create shop.eu --property owner=sales";

/// Create a namespace for tables
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CreateArgs {
    /// The namespace: one to four names joined by dots
    #[arg(value_name = "NAMESPACE")]
    namespace: NamespaceName,

    /// A property of the namespace; may be given more than once
    #[arg(long = "property", value_name = "KEY=VALUE", value_parser = property)]
    properties: Vec<(String, String)>,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: CreateArgs) -> Result<Exit, CliError> {
    let new = NewNamespaceJson {
        name: args.namespace.as_str().to_owned(),
        properties: args.properties.into_iter().collect(),
    };
    let namespace = args.key.on(args.connection.client()?).create_namespace(&new).await?;
    args.connection.answer(&namespace, |namespace| format!("created namespace {}\n", namespace.name))?;
    Ok(Exit::Done)
}
