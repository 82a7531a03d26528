//! `prunus namespace show`

use clap::Args;
use prunus_catalog::NamespaceName;

use crate::cli::connection::Connection;
use crate::cli::{CliError, Exit, Fields};
use crate::wire::NamespaceJson;

const EXAMPLES: &str = "\
Example:
  prunus namespace show shop.eu";

/// Show a namespace: its properties, and when it was created
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The namespace
    #[arg(value_name = "NAMESPACE")]
    namespace: NamespaceName,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ShowArgs) -> Result<Exit, CliError> {
    let namespace = args.connection.client()?.load_namespace(args.namespace.as_str()).await?;
    args.connection.answer(&namespace, render)?;
    Ok(Exit::Done)
}

fn render(namespace: &NamespaceJson) -> String {
    let mut fields = Fields::default();
    fields.line("namespace", &namespace.name);
    fields.line("created", &namespace.created_at);
    fields.pairs("property", &namespace.properties);
    fields.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_shown_with_its_properties() {
        let namespace = NamespaceJson {
            name: "a.b".to_owned(),
            properties: [("owner".to_owned(), "me".to_owned())].into(),
            created_at: "2026-01-01T00:00:00.000Z".to_owned(),
        };
        insta::assert_snapshot!(render(&namespace), @r"
        namespace    a.b
        created      2026-01-01T00:00:00.000Z
        property     owner=me
        ");
    }
}
