//! `prunus journal`

use clap::Args;
use prunus_catalog::{NamespaceName, TableIdent};
use serde_json::{Map, Value};

use super::connection::Connection;
use super::pages::{LimitArgs, cut_note, join};
use super::{CliError, Exit, Side, legible, text_table, time};
use crate::client::{JournalQuery, Page};
use crate::wire::JournalEntryJson;

const EXAMPLES: &str = "\
Examples:
  prunus journal --limit 20
  prunus journal shop.orders --since 7d
  prunus journal --namespace shop --principal nightly --operation delete_table --json";

/// List who changed what, newest first
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct JournalArgs {
    /// Changes of this table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: Option<TableIdent>,

    /// Changes in this namespace and those below it
    #[arg(long)]
    namespace: Option<NamespaceName>,

    /// Changes that the token of this name asked for
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,

    /// Changes by this operation, as the HTTP API names it
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    /// Changes at or after this time: RFC 3339, a date, or an age such as 3d
    #[arg(long, value_name = "TIME", value_parser = time::time)]
    since: Option<String>,

    /// Changes before this time
    #[arg(long, value_name = "TIME", value_parser = time::time)]
    until: Option<String>,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: JournalArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let query = JournalQuery {
        namespace: args.namespace.map(|namespace| namespace.as_str().to_owned()),
        table: args.table.map(|table| table.to_string()),
        principal: args.principal,
        operation: args.operation,
        since: args.since,
        until: args.until,
    };
    let load = async |page: Page| client.list_journal(&query, &page).await;
    let listed = join("the journal", args.limit.most(), load).await?;
    args.connection.answer(&listed, |listed| table(&listed.entries) + cut_note(listed.next_page_token.as_ref()))?;
    Ok(Exit::Done)
}

fn table(entries: &[JournalEntryJson]) -> String {
    if entries.is_empty() {
        return "no changes\n".to_owned();
    }
    let mut table = text_table([
        ("at", Side::Left),
        ("who", Side::Left),
        ("operation", Side::Left),
        ("of", Side::Left),
        ("snapshot", Side::Left),
        ("detail", Side::Left),
    ]);
    for entry in entries {
        let of = entry.table.as_ref().or(entry.namespace.as_ref());
        table.add_row([
            entry.at.clone(),
            legible(entry.principal.as_deref().unwrap_or("-")).into_owned(),
            legible(&entry.operation).into_owned(),
            legible(of.map_or("", String::as_str)).into_owned(),
            snapshots(entry.from_snapshot, entry.to_snapshot),
            legible(&detail(&entry.detail)).into_owned(),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// `1 -> 2`; what is not known is left out.
fn snapshots(from: Option<i64>, to: Option<i64>) -> String {
    match (from, to) {
        (None, None) => String::new(),
        (Some(from), None) => format!("{from} ->"),
        (None, Some(to)) => format!("-> {to}"),
        (Some(from), Some(to)) => format!("{from} -> {to}"),
    }
}

/// `name value` for each, texts without quotes.
fn detail(detail: &Map<String, Value>) -> String {
    let words = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(|value| value.as_str().unwrap_or("?")).collect::<Vec<_>>().join("; "),
        value => value.to_string(),
    };
    let parts: Vec<String> = detail.iter().map(|(name, value)| format!("{name} {}", words(value))).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_journal_says_so() {
        assert_eq!(table(&[]), "no changes\n");
    }

    #[test]
    fn changes_are_a_table() {
        let entries = serde_json::json!([
            {
                "entry_id": 3, "at": "2026-01-03T00:00:00.000Z", "principal": "ann", "operation": "alter_table",
                "namespace": "shop", "table": "shop.orders", "detail": {"schema": ["add note", "drop x"]},
            },
            {
                "entry_id": 2, "at": "2026-01-02T00:00:00.000Z", "operation": "commit", "namespace": "shop",
                "table": "shop.orders", "from_snapshot": 0, "to_snapshot": 1,
                "detail": {"added_files": 4, "operation": "append"},
            },
            {"entry_id": 1, "at": "2026-01-01T00:00:00.000Z", "operation": "create_namespace", "namespace": "shop"},
        ]);
        let entries: Vec<JournalEntryJson> = serde_json::from_value(entries).unwrap();
        insta::assert_snapshot!(table(&entries), @r"
        at                         who   operation          of            snapshot   detail
        ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
        2026-01-03T00:00:00.000Z   ann   alter_table        shop.orders              schema add note; drop x
        2026-01-02T00:00:00.000Z   -     commit             shop.orders   0 -> 1     added_files 4, operation append
        2026-01-01T00:00:00.000Z   -     create_namespace   shop
        ");
    }
}
