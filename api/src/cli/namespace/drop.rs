//! `prunus namespace drop`

use clap::Args;
use prunus_catalog::NamespaceName;
use serde_json::json;

use crate::cli::connection::{Connection, KeyChoice};
use crate::cli::{CliError, Exit};

const EXAMPLES: &str = "\
Example:
  prunus namespace drop shop.eu";

/// Drop a namespace that has no tables
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DropArgs {
    /// The namespace
    #[arg(value_name = "NAMESPACE")]
    namespace: NamespaceName,

    #[command(flatten)]
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: DropArgs) -> Result<Exit, CliError> {
    let name = args.namespace.as_str();
    args.key.on(args.connection.client()?).drop_namespace(name).await?;
    args.connection.answer(&json!({"dropped": name}), |_| format!("dropped namespace {name}\n"))?;
    Ok(Exit::Done)
}
