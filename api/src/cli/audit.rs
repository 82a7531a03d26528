//! `prunus audit`

use std::fmt::Write as _;
use std::time::Duration;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use prunus_catalog::TableIdent;

use crate::client::{Client, ClientError};
use crate::wire::{AuditFindingJson, AuditJson, AuditModeJson, AuditPageJson, AuditStateJson, NewAuditJson};

use super::connection::Connection;
use super::output::{print, print_json};
use super::{CliError, Exit, count, counted};

/// How long is waited before an audit is asked about again: at first, and at most.
const POLLS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Look at the files of a table again, and hold what is known of them against them
///
/// Reports files that are missing or are not those that were registered, and statistics that a file contradicts. The server
/// works on it; an interrupt (ctrl-c) leaves it to that.
#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// The table, as NAMESPACE.TABLE
    #[arg(value_name = "TABLE")]
    table: TableIdent,

    /// What is read of each file
    #[arg(long, value_name = "MODE", default_value = "footer")]
    mode: Mode,

    /// Which share of the files is looked at: above 0, at most 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    sample: f64,

    /// Replace statistics by better ones, and false ones by true ones; no snapshot changes by it
    #[arg(long)]
    repair: bool,

    /// Do not wait for the end: print the audit as it begins
    #[arg(long)]
    detach: bool,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// The footer
    Footer,
    /// And all data of which statistics are kept
    Scan,
}

pub(super) async fn run(args: AuditArgs) -> Result<Exit, CliError> {
    let client = args.connection.client()?;
    let mode = match args.mode {
        Mode::Footer => AuditModeJson::Footer,
        Mode::Scan => AuditModeJson::Scan,
    };
    let request = NewAuditJson { mode, sample: args.sample, repair: args.repair };
    let begun = client.start_audit(&args.table, &request).await?;
    let audit = if args.detach {
        AuditPageJson { audit: begun, found: Vec::new(), next_page_token: None }
    } else {
        let ended = wait(&client, &args.table, begun).await?;
        with_all_findings(&client, &args.table, ended).await?
    };
    if args.connection.json {
        print_json(&audit)?;
    } else {
        print(&render(&audit))?;
    }
    Ok(exit(&audit.audit))
}

/// Asks until an audit is over.
async fn wait(client: &Client, table: &TableIdent, mut audit: AuditJson) -> Result<AuditJson, ClientError> {
    let bar = ProgressBar::with_draw_target(Some(audit.files), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} files, {per_sec}, {eta} left; {msg}") {
        bar.set_style(style);
    }
    let (mut pause, longest) = POLLS;
    while audit.state == AuditStateJson::Running {
        bar.set_position(audit.files_checked);
        bar.set_message(counted(audit.findings + audit.findings_left_out, "finding", "findings"));
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
        audit = client.load_audit(table, audit.audit_id, Some(1), None).await?.audit;
    }
    bar.finish_and_clear();
    Ok(audit)
}

async fn with_all_findings(
    client: &Client,
    table: &TableIdent,
    audit: AuditJson,
) -> Result<AuditPageJson, ClientError> {
    let mut all = client.load_audit(table, audit.audit_id, None, None).await?;
    while let Some(token) = all.next_page_token.take() {
        let page = client.load_audit(table, audit.audit_id, None, Some(&token)).await?;
        all.found.extend(page.found);
        all.next_page_token = page.next_page_token;
    }
    Ok(all)
}

fn exit(audit: &AuditJson) -> Exit {
    match audit.state {
        AuditStateJson::Failed => Exit::NoAnswer,
        AuditStateJson::Running | AuditStateJson::Done | AuditStateJson::Cancelled => {
            if audit.findings + audit.findings_left_out == 0 { Exit::Done } else { Exit::Unsound }
        }
    }
}

fn render(page: &AuditPageJson) -> String {
    let audit = &page.audit;
    let mut text = String::new();
    for finding in &page.found {
        let _ = writeln!(text, "{}", sentence(finding));
    }
    if audit.findings_left_out > 0 {
        let _ = writeln!(text, "and {} more, which were not kept", count(audit.findings_left_out));
    }
    let state = match audit.state {
        AuditStateJson::Running => "is running".to_owned(),
        AuditStateJson::Done => "is done".to_owned(),
        AuditStateJson::Cancelled => "was cancelled".to_owned(),
        AuditStateJson::Failed => format!("failed: {}", audit.message.as_deref().unwrap_or_default()),
    };
    let _ = writeln!(text, "audit {} of snapshot {} {state}", audit.audit_id, audit.snapshot_id);
    let _ = writeln!(
        text,
        "{} of {} looked at: {} missing, {} changed, {} unreadable; {} refuted, {} repaired",
        count(audit.files_checked),
        counted(audit.files, "file", "files"),
        count(audit.files_missing),
        count(audit.files_changed),
        count(audit.files_unreadable),
        counted(audit.statistics_refuted, "statistic", "statistics"),
        count(audit.statistics_repaired),
    );
    text
}

fn sentence(finding: &AuditFindingJson) -> String {
    let AuditFindingJson { kind, path, column, statistic, claim, evidence, .. } = finding;
    let mut text = format!("{kind}: {path}");
    let place: Vec<&str> = [column, statistic].into_iter().flatten().map(String::as_str).collect();
    if !place.is_empty() {
        let _ = write!(text, ": {}", place.join(" "));
    }
    if let Some(claim) = claim {
        let _ = write!(text, " is registered as {claim}");
    }
    if let Some(evidence) = evidence {
        let _ = write!(text, ": {evidence}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(state: &str, findings: u64) -> AuditPageJson {
        let finding = json!({"kind": "refuted", "path": "/d/a.parquet", "file_id": 7, "column": "id", "statistic": "min",
            "claim": "12", "evidence": "the data holds 10"});
        let missing =
            json!({"kind": "missing", "path": "/d/b.parquet", "file_id": 8, "evidence": "there is no such file"});
        serde_json::from_value(json!({
            "audit_id": 3, "snapshot_id": 9, "mode": "scan", "sample": 1.0, "repair": false, "state": state,
            "created_at": "2026-01-01T00:00:00.000Z", "files": 1200, "files_checked": 1200, "files_missing": 1,
            "files_changed": 0, "files_unreadable": 0, "statistics_refuted": 1, "statistics_repaired": 0,
            "findings": findings, "findings_left_out": 0, "found": if findings == 0 { json!([]) } else { json!([finding, missing]) },
        }))
        .unwrap()
    }

    #[test]
    fn findings_come_before_the_counts() {
        insta::assert_snapshot!(render(&page("done", 2)), @r"
        refuted: /d/a.parquet: id min is registered as 12: the data holds 10
        missing: /d/b.parquet: there is no such file
        audit 3 of snapshot 9 is done
        1,200 of 1,200 files looked at: 1 missing, 0 changed, 0 unreadable; 1 statistic refuted, 0 repaired
        ");
    }

    #[test]
    fn what_was_found_shows_in_the_exit_code() {
        assert_eq!(exit(&page("done", 0).audit), Exit::Done);
        assert_eq!(exit(&page("done", 2).audit), Exit::Unsound);
        assert_eq!(exit(&page("failed", 0).audit), Exit::NoAnswer);
    }
}
