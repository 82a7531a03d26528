//! `prunus expire`

use std::fmt::Write as _;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::client::{Client, ClientError};
use crate::wire::{ExpireJson, ExpiredJson};

use super::connection::Connection;
use super::output::lines;
use super::progress::Progress;
use super::{CliError, Exit, counted};

const EXAMPLES: &str = "\
Examples:
  prunus expire shop.orders --keep-last 100                              # says what would go
  prunus expire shop.orders --older-than 2026-01-01T00:00:00Z --forget   # lets it go";

/// Let old snapshots go, and the files that no other names; dry unless --forget is said
///
/// Prints the paths that nothing names any more. The objects are never deleted: that is up to you. A snapshot that is tagged, or is
/// being read, stays; so does the newest.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExpireArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    #[command(flatten)]
    limits: Limits,

    /// Do it: without this it is only said what would be done
    #[arg(long)]
    forget: bool,

    #[command(flatten)]
    connection: Connection,
}

/// What both let go goes.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Limits {
    /// Keep what was committed at or after this time, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    older_than: Option<String>,

    /// Keep so many of the newest snapshots [default: 1]
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
}

pub(super) async fn run(args: ExpireArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let Limits { older_than, keep_last } = args.limits;
    let request = ExpireJson { older_than, keep_last, dry_run: !args.forget };
    let expired = expire(&client, &args.table, &request).await?;
    args.connection.answer(&expired, render)?;
    Ok(Exit::Done)
}

/// What goes. The server does a bounded amount at a time; whoever says so outright wants all of it.
async fn expire(client: &Client, table: &TableIdent, request: &ExpireJson) -> Result<ExpiredJson, ClientError> {
    let progress = Progress::of("expiring snapshots");
    progress
        .during(async {
            let mut all = client.expire(table, request).await?;
            while all.more && !request.dry_run {
                progress.say(format!("expired {}", counted(all.snapshots.len() as u64, "snapshot", "snapshots")));
                let next = client.expire(table, request).await?;
                let ended = next.snapshots.is_empty() && next.forgotten_files == 0;
                all.snapshots.extend(next.snapshots);
                all.forgotten_files += next.forgotten_files;
                all.removable.extend(next.removable);
                all.more = next.more && !ended;
            }
            Ok(all)
        })
        .await
}

fn render(expired: &ExpiredJson) -> String {
    let mut text = lines(expired.removable.iter().map(String::as_str));
    let snapshots = counted(expired.snapshots.len() as u64, "snapshot", "snapshots");
    let span = match (expired.snapshots.first(), expired.snapshots.last()) {
        (Some(first), Some(last)) if first != last => format!(" ({first} to {last})"),
        (Some(only), _) => format!(" ({only})"),
        _ => String::new(),
    };
    let files = counted(expired.forgotten_files, "file", "files");
    let removable = counted(expired.removable.len() as u64, "path", "paths");
    let (done, names) = if expired.dry_run { ("would let go", "would name") } else { ("let go", "names any more") };
    let _ = writeln!(text, "{done} {snapshots}{span}, with {files} and {removable} that nothing {names}");
    if expired.more {
        text.push_str("and there is more\n");
    }
    if expired.dry_run && !expired.snapshots.is_empty() {
        text.push_str("nothing was changed: say --forget to do it\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(dry_run: bool, snapshots: &[i64]) -> String {
        let expired = json!({"dry_run": dry_run, "snapshots": snapshots, "forgotten_files": 2, "removable": ["s3://b/a"], "more": dry_run});
        render(&serde_json::from_value(expired).unwrap())
    }

    #[test]
    fn a_dry_run_says_how_to_do_it() {
        insta::assert_snapshot!(text(true, &[1, 2, 3]), @r"
        s3://b/a
        would let go 3 snapshots (1 to 3), with 2 files and 1 path that nothing would name
        and there is more
        nothing was changed: say --forget to do it
        ");
    }

    #[test]
    fn what_went_is_told_with_the_paths_that_nothing_names() {
        insta::assert_snapshot!(text(false, &[4]), @r"
        s3://b/a
        let go 1 snapshot (4), with 2 files and 1 path that nothing names any more
        ");
    }
}
