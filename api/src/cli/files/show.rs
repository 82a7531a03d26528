//! `prunus files show`

use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::scan::SnapshotArgs;
use crate::cli::statistics::Columns;
use crate::cli::{CliError, Exit, Fields, bytes, count};
use crate::wire::FileJson;

const EXAMPLES: &str = "\
Example:
  prunus files show shop.orders s3://lake/orders/part-7.parquet";

/// Show a file: every statistic of its columns, how tight it is and where it came from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The file, as `prunus files list` prints it, or relative to the table's location
    #[arg(value_name = "PATH")]
    path: String,

    #[command(flatten)]
    snapshot: SnapshotArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ShowArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let snapshot = args.snapshot.choice(&client, &args.table).await?;
    let file = client.load_file(&args.table, &snapshot, &args.path).await?;
    let columns = Columns::for_people(&client, &args.table, &args.connection).await?;
    args.connection.answer(&file, |file| render(file, &columns))?;
    Ok(Exit::Done)
}

fn render(file: &FileJson, shown: &Columns) -> String {
    let mut fields = Fields::default();
    fields.line("file", &file.path);
    fields.line("id", file.file_id.to_string());
    fields.line("rows", file.row_count.map_or("unknown".to_owned(), count));
    fields.line("size", bytes(file.size_bytes));
    fields.line("added in", format!("snapshot {}", file.added_snapshot));
    if let Some(removed) = file.removed_snapshot {
        fields.line("removed in", format!("snapshot {removed}"));
    }
    fields.line("manifest", file.manifest_id.map_or("none yet: it is in the tail".to_owned(), |id| id.to_string()));
    if let Some(written) = &file.last_modified {
        fields.line("written", written);
    }
    if let Some(etag) = &file.etag {
        fields.line("etag", etag);
    }
    fields.pairs("partition", file.partition.iter().map(|(column, value)| (column, value.to_string())));
    if !file.absent_columns.is_empty() {
        fields.line("holds no", file.absent_columns.join(", "));
    }
    let mut text = fields.into_text();
    match file.columns.as_ref().filter(|columns| !columns.is_empty()) {
        Some(columns) => {
            let _ = write!(text, "\n{}", shown.table(columns, file.row_count));
        }
        None => text.push_str("\nnothing is known of its columns\n"),
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_shown_with_all_that_is_known_of_it() {
        let file = json!({"file_id": 7, "path": "s3://b/day=1/a.parquet", "size_bytes": 4_096, "row_count": null,
            "partition": {"day": "1"}, "absent_columns": ["late"], "etag": "\"x\"", "added_snapshot": 2, "removed_snapshot": 5,
            "columns": {"id": {"min": 1, "max": 9, "min_precision": "bound", "max_precision": "bound", "null_count": 0,
                "provenance": {"min": "footer", "max": "footer", "null_count": "footer"}}}});
        insta::assert_snapshot!(render(&serde_json::from_value(file).unwrap(), &Columns::default()), @r#"
        file         s3://b/day=1/a.parquet
        id           7
        rows         unknown
        size         4.0 KiB
        added in     snapshot 2
        removed in   snapshot 5
        manifest     none yet: it is in the tail
        etag         "x"
        partition    day="1"
        holds no     late

        column   statistic   value     precision   from
        ──────────────────────────────────────────────────
        id       min         1         bound       footer
                 max         9         bound       footer
                 nulls       0                     footer
                 NaNs        unknown
        "#);
    }

    #[test]
    fn a_file_of_which_nothing_is_known_says_so() {
        let file =
            json!({"file_id": 7, "path": "a", "size_bytes": 1, "row_count": 1, "added_snapshot": 2, "columns": {}});
        let text = render(&serde_json::from_value(file).unwrap(), &Columns::default());
        assert!(text.ends_with("\n\nnothing is known of its columns\n"), "{text}");
    }
}
