//! Audits as people read them.

use std::fmt::Write as _;

use crate::cli::{Exit, Side, count, counted, legible, text_table};
use crate::wire::{AuditFindingJson, AuditJson, AuditModeJson, AuditPageJson, AuditStateJson};

/// The exit code that tells how an audit went.
pub(super) fn exit(audit: &AuditJson) -> Exit {
    match audit.state {
        AuditStateJson::Failed => Exit::NoAnswer,
        AuditStateJson::Running | AuditStateJson::Done | AuditStateJson::Cancelled => {
            if audit.findings + audit.findings_left_out == 0 { Exit::Done } else { Exit::Unsound }
        }
    }
}

/// What was found, and then the counts.
pub(super) fn page_text(page: &AuditPageJson) -> String {
    let audit = &page.audit;
    let mut text = String::new();
    for finding in &page.found {
        let _ = writeln!(text, "{}", legible(&sentence(finding)));
    }
    if audit.findings_left_out > 0 {
        let _ = writeln!(text, "and {} more, which were not kept", count(audit.findings_left_out));
    }
    let state = match audit.state {
        AuditStateJson::Running => "is running".to_owned(),
        AuditStateJson::Done => "is done".to_owned(),
        AuditStateJson::Cancelled => "was cancelled".to_owned(),
        AuditStateJson::Failed => format!("failed: {}", legible(audit.message.as_deref().unwrap_or_default())),
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

/// Audits as a table.
pub(super) fn table(audits: &[AuditJson]) -> String {
    let mut table = text_table([
        ("audit", Side::Right),
        ("begun", Side::Left),
        ("mode", Side::Left),
        ("state", Side::Left),
        ("looked at", Side::Right),
        ("of files", Side::Right),
        ("findings", Side::Right),
        ("repaired", Side::Right),
    ]);
    for audit in audits {
        table.add_row([
            audit.audit_id.to_string(),
            audit.created_at.clone(),
            mode(audit.mode).to_owned(),
            state(audit.state).to_owned(),
            count(audit.files_checked),
            count(audit.files),
            count(audit.findings + audit.findings_left_out),
            count(audit.statistics_repaired),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

pub(in crate::cli) fn mode(mode: AuditModeJson) -> &'static str {
    match mode {
        AuditModeJson::Footer => "footer",
        AuditModeJson::Scan => "scan",
    }
}

pub(in crate::cli) fn state(state: AuditStateJson) -> &'static str {
    match state {
        AuditStateJson::Running => "running",
        AuditStateJson::Done => "done",
        AuditStateJson::Cancelled => "cancelled",
        AuditStateJson::Failed => "failed",
    }
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
        insta::assert_snapshot!(page_text(&page("done", 2)), @r"
        refuted: /d/a.parquet: id min is registered as 12: the data holds 10
        missing: /d/b.parquet: there is no such file
        audit 3 of snapshot 9 is done
        1,200 of 1,200 files looked at: 1 missing, 0 changed, 0 unreadable; 1 statistic refuted, 0 repaired
        ");
    }

    #[test]
    fn audits_are_a_table() {
        insta::assert_snapshot!(table(&[page("done", 2).audit, page("running", 0).audit]), @r"
        audit   begun                      mode   state     looked at   of files   findings   repaired
        ───────────────────────────────────────────────────────────────────────────────────────────────
            3   2026-01-01T00:00:00.000Z   scan   done          1,200      1,200          2          0
            3   2026-01-01T00:00:00.000Z   scan   running       1,200      1,200          0          0
        ");
    }

    #[test]
    fn what_was_found_shows_in_the_exit_code() {
        assert_eq!(exit(&page("done", 0).audit), Exit::Done);
        assert_eq!(exit(&page("done", 2).audit), Exit::Unsound);
        assert_eq!(exit(&page("failed", 0).audit), Exit::NoAnswer);
    }
}
