//! `prunus manifests show`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::cli::connection::Connection;
use crate::cli::pages::{LimitArgs, join, screenful_note};
use crate::cli::scan::{SnapshotArgs, number};
use crate::cli::statistics::value;
use crate::cli::{CliError, Exit, Fields, Side, bytes, count, files, text_table};
use crate::client::Page;
use crate::wire::{ManifestDetailJson, ZoneJson};

const LIMIT_HELP: &str = "The most files to list [default: 20, with --json all]";

const EXAMPLES: &str = "\
Example:
  prunus manifests show shop.orders 4";

/// Show a manifest: its zones, by which plans pass over it or look into it, and its live files
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("limit", |limit| limit.help(LIMIT_HELP)))]
pub(super) struct ShowArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// The number of the manifest
    #[arg(value_name = "MANIFEST", value_parser = number)]
    manifest: i64,

    #[command(flatten)]
    snapshot: SnapshotArgs,

    #[command(flatten)]
    limit: LimitArgs,

    #[command(flatten)]
    connection: Connection,
}

pub(super) async fn run(args: ShowArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let snapshot = args.snapshot.choice(&client, &args.table).await?;
    let load = async |page: Page| client.load_manifest(&args.table, args.manifest, &snapshot, &page).await;
    let manifest = join("files of the manifest", args.limit.or_screenful(args.connection.json), load).await?;
    args.connection.answer(&manifest, render)?;
    Ok(Exit::Done)
}

fn render(detail: &ManifestDetailJson) -> String {
    let manifest = &detail.manifest;
    let mut fields = Fields::default();
    fields.line("manifest", manifest.manifest_id.to_string());
    fields.line("snapshot", detail.snapshot_id.to_string());
    fields.line("files", count(manifest.live.files));
    fields.line("rows", count(manifest.live.rows));
    fields.line("size", bytes(manifest.live.bytes));
    if let Some(entries) = manifest.entries {
        fields.line("in all", format!("{} files, with those that are not live in the snapshot", count(entries.files)));
    }
    let (first, last) = (manifest.first_added_snapshot, manifest.last_added_snapshot);
    fields.line("added in", format!("snapshots {first} to {last}"));
    let mut text = fields.into_text();
    if let Some(zones) = &detail.zones {
        let _ = write!(text, "\n{}", zones_table(zones));
    }
    let _ =
        write!(text, "\n{}{}", files::list::table(&detail.live_files), screenful_note(detail.next_page_token.as_ref()));
    text
}

fn zones_table(zones: &BTreeMap<String, ZoneJson>) -> String {
    let mut table = text_table([
        ("column", Side::Left),
        ("min", Side::Left),
        ("max", Side::Left),
        ("nulls", Side::Right),
        ("NaNs", Side::Right),
        ("declared files", Side::Right),
    ]);
    for (name, zone) in zones {
        let bound = |bound: &Option<serde_json::Value>| match bound {
            Some(bound) => value(bound),
            None if zone.without_values => "no values".to_owned(),
            None => "unknown".to_owned(),
        };
        let counted = |number: Option<u64>| number.map_or("unknown".to_owned(), count);
        let counts = [counted(zone.null_count), counted(zone.nan_count), counted(zone.declared_files)];
        table.add_row([name.clone(), bound(&zone.min), bound(&zone.max)].into_iter().chain(counts));
    }
    format!("{}\n", table.trim_fmt())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_manifest_is_shown_with_its_zones_and_files() {
        let detail = json!({"snapshot_id": 9, "manifest_id": 6, "files": 5, "rows": 50, "bytes": 500,
            "first_added_snapshot": 8, "last_added_snapshot": 9, "entries": {"files": 8, "rows": 80, "bytes": 800},
            "next_page_token": "x",
            "zones": {
                "day": {"min": "2026-01-01", "max": "2026-01-31", "null_count": 0, "declared_files": 0},
                "late": {"without_values": true, "null_count": 50},
                "price": {"nan_count": 3, "declared_files": 2},
            },
            "live_files": [{"file_id": 1, "path": "s3://b/a.parquet", "size_bytes": 4_096, "row_count": 10, "added_snapshot": 8,
                "manifest_id": 6}]});
        insta::assert_snapshot!(render(&serde_json::from_value(detail).unwrap()), @r"
        manifest     6
        snapshot     9
        files        5
        rows         50
        size         500 B
        in all       8 files, with those that are not live in the snapshot
        added in     snapshots 8 to 9

        column   min          max            nulls      NaNs   declared files
        ──────────────────────────────────────────────────────────────────────
        day      2026-01-01   2026-01-31         0   unknown                0
        late     no values    no values         50   unknown          unknown
        price    unknown      unknown      unknown         3                2

        rows      size   added in   manifest   path
        ────────────────────────────────────────────────────────
          10   4.0 KiB          8          6   s3://b/a.parquet
        ... and more: `--limit N` lists as many as N
        ");
    }
}
