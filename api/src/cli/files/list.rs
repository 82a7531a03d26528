//! `prunus files list`

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::output::{lines, print};
use crate::cli::pages::{LimitArgs, cut_note, join};
use crate::cli::scan::SnapshotArgs;
use crate::cli::{CliError, Exit, Side, bytes, count, counted, text_table};
use crate::client::Page;
use crate::wire::{FileJson, FilesJson};

const EXAMPLES: &str = "\
Examples:
  prunus files list shop.orders --limit 20
  prunus files list shop.orders --snapshot 3 --quiet > paths.txt";

/// List the live files of a snapshot, in the order in which they were registered
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// The table, as NAMESPACE.TABLE
    // By this group it is told whether they are there at all, in `prunus files TABLE`; of arguments with others below clap fills in none.
    #[arg(value_name = "TABLE", group = "ListArgs")]
    table: TableIdent,

    #[command(flatten)]
    snapshot: SnapshotArgs,

    #[command(flatten)]
    limit: LimitArgs,

    /// Print the paths alone
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ListArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let snapshot = args.snapshot.choice(&client, &args.table).await?;
    let load = async |page: Page| client.list_files(&args.table, &snapshot, &page).await;
    let listed = join("files", args.limit.most(), load).await?;
    if args.quiet {
        print(&lines(listed.files.iter().map(|file| file.path.as_str())))?;
    } else {
        args.connection.answer(&listed, render)?;
    }
    Ok(Exit::Done)
}

fn render(listed: &FilesJson) -> String {
    let note = cut_note(listed.next_page_token.as_ref());
    let shown = counted(listed.files.len() as u64, "file", "files");
    format!("{}{note}snapshot {}, {shown} shown\n", table(&listed.files), listed.snapshot_id)
}

/// Files as a table; nothing if there are none.
pub(in crate::cli) fn table(files: &[FileJson]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut table = text_table([
        ("rows", Side::Right),
        ("size", Side::Right),
        ("added in", Side::Right),
        ("manifest", Side::Right),
        ("path", Side::Left),
    ]);
    for file in files {
        table.add_row([
            file.row_count.map_or("unknown".to_owned(), count),
            bytes(file.size_bytes),
            file.added_snapshot.to_string(),
            file.manifest_id.map_or("tail".to_owned(), |manifest_id| manifest_id.to_string()),
            file.path.clone(),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_a_table() {
        let files = json!({"snapshot_id": 4, "next_page_token": "x", "files": [
            {"file_id": 1, "path": "s3://b/a.parquet", "size_bytes": 4_096, "row_count": 12_345, "added_snapshot": 2, "manifest_id": 7},
            {"file_id": 2, "path": "s3://b/b.parquet", "size_bytes": 5, "row_count": null, "added_snapshot": 4},
        ]});
        insta::assert_snapshot!(render(&serde_json::from_value(files).unwrap()), @r"
           rows      size   added in   manifest   path
        ───────────────────────────────────────────────────────────
         12,345   4.0 KiB          2          7   s3://b/a.parquet
        unknown       5 B          4       tail   s3://b/b.parquet
        ... and more: --limit ended the listing
        snapshot 4, 2 files shown
        ");
    }
}
