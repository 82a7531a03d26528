//! `prunus token list`

use std::path::Path;

use clap::Args;
use prunus_catalog::PageSize;

use super::place::{Place, open};
use crate::cli::connection::Connection;
use crate::cli::pages::{LimitArgs, cut_note, join};
use crate::cli::{CliError, Exit, Side, text_table};
use crate::client::Page;
use crate::wire::{TokenJson, TokensJson};

const EXAMPLES: &str = "\
Examples:
  prunus token list --token-file ana.token
  prunus token list --data-dir ./catalog --json";

/// List the tokens by name, those that hold no more among them; the secrets nobody can tell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let limit = args.limit.most();
    let tokens = if let Some(folder) = args.place.folder() {
        in_folder(folder, limit).await?
    } else {
        let client = args.connection.client()?;
        join("tokens", limit, async |page: Page| client.list_tokens(&page).await).await?
    };
    args.connection.answer(&tokens, render)?;
    Ok(Exit::Done)
}

async fn in_folder(folder: &Path, limit: Option<u64>) -> Result<TokensJson, CliError> {
    let catalog = open(folder).await?;
    let (mut tokens, mut after) = (Vec::new(), String::new());
    loop {
        let page = catalog.list_tokens(after, PageSize::default()).await;
        let (page, more) = page.map_err(CliError::operation("read"))?;
        after = page.last().map(|last| last.name.clone()).unwrap_or_default();
        tokens.extend(page.into_iter().map(TokenJson::from));
        let enough = limit.is_some_and(|limit| tokens.len() as u64 >= limit);
        if enough || !more {
            break;
        }
    }
    tokens.truncate(limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX));
    Ok(TokensJson { tokens, next_page_token: None })
}

fn render(tokens: &TokensJson) -> String {
    if tokens.tokens.is_empty() {
        return "no tokens\n".to_owned();
    }
    let columns = ["token", "grants", "created", "by", "ends", "revoked"].map(|title| (title, Side::Left));
    let mut table = text_table(columns);
    let shown = |time: &Option<String>| time.clone().unwrap_or_default();
    for token in &tokens.tokens {
        let grants = token.grants.join(", ");
        let (ends, revoked) = (shown(&token.expires_at), shown(&token.revoked_at));
        table.add_row([&token.name, &grants, &token.created_at, &token.created_by, &ends, &revoked]);
    }
    format!("{}\n{}", table.trim_fmt(), cut_note(tokens.next_page_token.as_ref()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_a_table() {
        let one =
            json!({"name": "ana", "grants": ["admin"], "created_at": "2026-01-01T00:00:00.000Z", "created_by": ""});
        let other = json!({
            "name": "load", "grants": ["reader", "writer:shop"], "created_at": "2026-01-02T00:00:00.000Z", "created_by": "ana",
            "expires_at": "2026-04-02T00:00:00.000Z",
        });
        insta::assert_snapshot!(render(&serde_json::from_value(json!({"tokens": [one, other]})).unwrap()), @r"
        token   grants                created                    by    ends                       revoked
        ──────────────────────────────────────────────────────────────────────────────────────────────────
        ana     admin                 2026-01-01T00:00:00.000Z
        load    reader, writer:shop   2026-01-02T00:00:00.000Z   ana   2026-04-02T00:00:00.000Z
        ");
        assert_eq!(render(&serde_json::from_value(json!({"tokens": []})).unwrap()), "no tokens\n");
    }
}
