//! `prunus tag list`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::pages::{LimitArgs, cut_note, join};
use crate::cli::{CliError, Exit, Side, text_table};
use crate::client::Page;
use crate::wire::TagsJson;

const EXAMPLES: &str = "\
Example:
  prunus tag list shop.orders";

/// List the tags of a table by name
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// The table, as NAMESPACE.TABLE
    // By this group it is told whether they are there at all, in `prunus tag TABLE`; of arguments with others below clap fills in none.
    #[arg(value_name = "TABLE", group = "ListArgs")]
    table: TableIdent,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let tags = join("tags", args.limit.most(), async |page: Page| client.list_tags(&args.table, &page).await).await?;
    args.connection.answer(&tags, render)?;
    Ok(Exit::Done)
}

fn render(tags: &TagsJson) -> String {
    if tags.tags.is_empty() {
        return "no tags\n".to_owned();
    }
    let mut table = text_table([("tag", Side::Left), ("snapshot", Side::Right), ("since", Side::Left)]);
    for tag in &tags.tags {
        table.add_row([&tag.tag, &tag.snapshot_id.to_string(), &tag.created_at]);
    }
    format!("{}\n{}", table.trim_fmt(), cut_note(tags.next_page_token.as_ref()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_are_a_table() {
        let tag = json!({"tag": "end-of-year", "snapshot_id": 12, "created_at": "2026-01-01T00:00:00.000Z"});
        insta::assert_snapshot!(render(&serde_json::from_value(json!({"tags": [tag]})).unwrap()), @r"
        tag           snapshot   since
        ──────────────────────────────────────────────────
        end-of-year         12   2026-01-01T00:00:00.000Z
        ");
        assert_eq!(render(&serde_json::from_value(json!({"tags": []})).unwrap()), "no tags\n");
    }
}
