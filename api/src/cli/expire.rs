//! `prunus expire`

use std::pin::pin;

use clap::Args;
use prunus_catalog::TableIdent;

use crate::client::{Client, ClientError};
use crate::wire::{ExpireJson, ExpiredJson};

use super::connection::{Connection, KeyChoice};
use super::output::{lines, print};
use super::progress::Progress;
use super::time::time;
use super::{CliError, Exit, counted};

const EXAMPLES: &str = "\
Examples:
  prunus expire shop.orders --keep-last 100                              # says what would go
  prunus expire shop.orders --older-than 30d --forget                    # lets it go";

/// Let old snapshots go, and the files that no other names; dry unless --forget is said
///
/// Prints the paths that nothing names any more. The objects are never deleted: that is up to you. A snapshot that is tagged, or is
/// being read, stays; so does the newest. The server lets go some at a time, and the paths of each time are printed before the
/// next. If an answer is lost, so are its paths, unless there was a key: run it again under that. `prunus orphans` finds them, too.
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
    key: KeyChoice,

    #[command(flatten)]
    connection: Connection,
}

/// What both let go goes.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Limits {
    /// Keep what was committed at or after this time, such as 2026-01-31T12:00:00Z, 2026-01-31, or 3d: three days ago
    #[arg(long, value_name = "TIME", value_parser = time)]
    older_than: Option<String>,

    /// Keep so many of the newest snapshots; the newest stays in any case
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
}

pub(super) async fn run(args: ExpireArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let Limits { older_than, keep_last } = args.limits;
    let request = ExpireJson { older_than, keep_last, dry_run: !args.forget };
    let mut run = Run { client, table: args.table, request, key: args.key, all: None };
    let ended = run.call_until_done(|call| if args.connection.json { Ok(()) } else { print(&paths(call)) }).await;
    // What is forgotten is told however it ended: the server does not know those paths any more.
    if let Some(all) = &run.all {
        args.connection.answer(all, summary)?;
    }
    ended?;
    Ok(Exit::Done)
}

/// The calls that let go. The server does a bounded amount at a time; whoever says so outright wants all of it.
struct Run {
    client: Client,
    table: TableIdent,
    request: ExpireJson,
    key: KeyChoice,
    /// What went by now.
    all: Option<ExpiredJson>,
}

impl Run {
    /// Calls until nothing more goes; each call's answer is told before the next.
    async fn call_until_done(
        &mut self,
        mut tell: impl FnMut(&ExpiredJson) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let progress = Progress::of("expiring snapshots");
        // A dry run forgets no path that could be lost.
        let mut ends_at_once = self.request.dry_run;
        for number in 1.. {
            let client = self.key.on_call(number, self.client.clone())?;
            let call = progress.during(client.expire(&self.table, &self.request));
            let call = finished(call, &mut ends_at_once).await?;
            progress.aside(|| tell(&call))?;
            if self.add(call) == Next::Nothing {
                return Ok(());
            }
            if ends_at_once {
                return Err(CliError::Interrupted);
            }
        }
        Ok(())
    }

    /// Adds what a call did; whether another is to come. One that did nothing is the last, even if it says that there is more.
    fn add(&mut self, call: ExpiredJson) -> Next {
        let idle = call.snapshots.is_empty() && call.forgotten_files == 0;
        let ended = !call.more || idle || self.request.dry_run;
        match &mut self.all {
            Some(all) => {
                all.snapshots.extend(call.snapshots);
                all.forgotten_files += call.forgotten_files;
                all.removable.extend(call.removable);
                all.more = call.more;
            }
            none => *none = Some(call),
        }
        if ended { Next::Nothing } else { Next::Call }
    }
}

/// What comes after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Call,
    Nothing,
}

/// Awaits a call through a first interrupt, from which on another ends it at once: what a call forgets is known by its answer alone.
async fn finished(
    call: impl Future<Output = Result<ExpiredJson, ClientError>>,
    ends_at_once: &mut bool,
) -> Result<ExpiredJson, CliError> {
    let mut call = pin!(call);
    loop {
        tokio::select! {
            answer = &mut call => return Ok(answer?),
            Ok(()) = tokio::signal::ctrl_c() => {
                if *ends_at_once {
                    return Err(CliError::Interrupted);
                }
                eprintln!("interrupted: what the server forgets by now is waited for; once more ends that, too");
                *ends_at_once = true;
            }
        }
    }
}

fn paths(call: &ExpiredJson) -> String {
    lines(call.removable.iter().map(String::as_str))
}

/// What went in all, behind the paths.
fn summary(expired: &ExpiredJson) -> String {
    let snapshots = counted(expired.snapshots.len() as u64, "snapshot", "snapshots");
    let span = match (expired.snapshots.first(), expired.snapshots.last()) {
        (Some(first), Some(last)) if first != last => format!(" ({first} to {last})"),
        (Some(only), _) => format!(" ({only})"),
        _ => String::new(),
    };
    let files = counted(expired.forgotten_files, "file", "files");
    let removable = counted(expired.removable.len() as u64, "path", "paths");
    let (done, names) = if expired.dry_run { ("would let go", "would name") } else { ("let go", "names any more") };
    let mut text = format!("{done} {snapshots}{span}, with {files} and {removable} that nothing {names}\n");
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
        let expired = serde_json::from_value(expired).unwrap();
        paths(&expired) + &summary(&expired)
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

    fn run() -> Run {
        let client = Client::new("http://127.0.0.1:1".parse().unwrap()).unwrap();
        let request = ExpireJson { older_than: None, keep_last: Some(1), dry_run: false };
        Run { client, table: "a.b".parse().unwrap(), request, key: KeyChoice::default(), all: None }
    }

    fn call(snapshots: &[i64], more: bool) -> ExpiredJson {
        let call = json!({"dry_run": false, "snapshots": snapshots, "forgotten_files": snapshots.len(), "removable": ["a"], "more": more});
        serde_json::from_value(call).unwrap()
    }

    #[test]
    fn calls_are_added_up_until_one_is_the_last() {
        let mut run = run();
        assert_eq!(run.add(call(&[1, 2], true)), Next::Call);
        assert_eq!(run.add(call(&[3], false)), Next::Nothing);
        let all = run.all.unwrap();
        assert_eq!((all.snapshots, all.forgotten_files, all.removable.len(), all.more), (vec![1, 2, 3], 3, 2, false));
    }

    #[test]
    fn a_call_that_did_nothing_is_the_last_and_what_is_left_is_told() {
        let mut run = run();
        assert_eq!(run.add(call(&[1], true)), Next::Call);
        assert_eq!(run.add(call(&[], true)), Next::Nothing);
        assert!(run.all.unwrap().more);
    }
}
