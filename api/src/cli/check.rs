//! `prunus check`

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use prunus_catalog::{CheckProgress, CheckReport, Finding};
use serde::Serialize;

use super::output::{print, print_json};
use super::{CliError, Exit, count, counted};

const EXAMPLES: &str = "\
Example:
  prunus check --data-dir ./catalog";

/// Check a catalog, and say all that is wrong with it
///
/// No server may have it open. Nothing is changed. What is found is told with what mends it: `rebuild` (from what is in the
/// catalog), `collect` (statistics, from the data files), `restore` (from a backup).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// The folder that the catalog is kept in
    #[arg(long, value_name = "DIR")]
    data_dir: PathBuf,

    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// The answer as JSON; fields are added, never renamed.
#[derive(Serialize)]
struct ReportJson {
    sound: bool,
    findings: Vec<FindingJson>,
    /// How many there are in all; more than are listed where there are very many.
    findings_total: u64,
    tables: u64,
    manifests: u64,
    files: u64,
}

#[derive(Serialize)]
struct FindingJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field_id: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<i64>,
    fault: String,
    mend: String,
}

pub(super) async fn run(args: CheckArgs) -> Result<Exit, CliError> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let shown = bar.clone();
    let checked = prunus_catalog::check(&args.data_dir, move |progress| show(&shown, progress)).await;
    bar.finish_and_clear();
    let report = checked.map_err(CliError::operation("checked"))?;
    if args.json {
        print_json(&report_json(&report))?;
    } else {
        print(&render(&report))?;
    }
    Ok(if report.findings_total == 0 { Exit::Done } else { Exit::Unsound })
}

fn show(bar: &ProgressBar, progress: CheckProgress) {
    let (done, of, what) = match progress {
        CheckProgress::Database => return bar.set_message("pages and indexes"),
        CheckProgress::Files { done, of } => (done, of, "rows of files"),
        CheckProgress::Manifests { done, of } => (done, of, "manifests"),
    };
    if bar.length() != Some(of)
        && let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg}, {eta} left")
    {
        bar.set_style(style);
    }
    bar.set_length(of);
    bar.set_position(done);
    bar.set_message(what);
}

fn render(report: &CheckReport) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let place = match table_of(report, finding) {
            Some(name) => format!("{name} ({})", finding.place),
            None => finding.place.to_string(),
        };
        let _ = writeln!(text, "{place}: {} [{}]", finding.fault.message(), finding.fault.mend());
    }
    let unlisted = report.findings_total - report.findings.len() as u64;
    if unlisted > 0 {
        let _ = writeln!(text, "... and {} more", count(unlisted));
    }
    let looked_at = format!(
        "{}, {}, {}",
        counted(report.tables.len() as u64, "table", "tables"),
        counted(report.manifests, "manifest", "manifests"),
        counted(report.files, "file", "files"),
    );
    if report.findings_total == 0 {
        return format!("nothing is wrong: {looked_at}\n");
    }
    let _ = writeln!(text, "{} in {looked_at}", counted(report.findings_total, "fault", "faults"));
    text.push_str(ADVICE);
    text
}

const ADVICE: &str = "[rebuild]: from what is in the catalog; [collect]: from the data files; [restore]: from a backup. See docs/operating.md\n";

fn table_of<'r>(report: &'r CheckReport, finding: &Finding) -> Option<&'r str> {
    report.tables.get(&finding.place.table_id?).map(String::as_str)
}

fn report_json(report: &CheckReport) -> ReportJson {
    let finding_json = |finding: &Finding| FindingJson {
        table: table_of(report, finding).map(ToOwned::to_owned),
        table_id: finding.place.table_id.map(|id| id.0),
        schema_id: finding.place.schema_id.map(|id| id.0),
        snapshot_id: finding.place.snapshot_id.map(|id| id.0),
        manifest_id: finding.place.manifest_id.map(|id| id.0),
        field_id: finding.place.field_id.map(|id| id.0),
        file_id: finding.place.file_id.map(|id| id.0),
        fault: finding.fault.message(),
        mend: finding.fault.mend().to_string(),
    };
    ReportJson {
        sound: report.findings_total == 0,
        findings: report.findings.iter().map(finding_json).collect(),
        findings_total: report.findings_total,
        tables: report.tables.len() as u64,
        manifests: report.manifests,
        files: report.files,
    }
}

#[cfg(test)]
mod tests {
    use prunus_catalog::{CheckFault as Fault, FileId, ManifestId, Place, TableId};

    use super::*;

    fn report(findings: Vec<Finding>, findings_total: u64) -> CheckReport {
        let tables = [(TableId(3), "shop.orders".to_owned())].into();
        CheckReport { findings, findings_total, tables, manifests: 1, files: 4096 }
    }

    fn damaged() -> CheckReport {
        let entry = Place {
            table_id: Some(TableId(3)),
            manifest_id: Some(ManifestId(7)),
            file_id: Some(FileId(9)),
            ..Place::default()
        };
        let index = Fault::Integrity("row 9 missing from index data_file_by_path".to_owned());
        let findings = vec![
            Finding { place: Place::default(), fault: index },
            Finding { place: entry, fault: Fault::EntryWithoutRow },
        ];
        report(findings, 1002)
    }

    #[test]
    fn a_sound_catalog_is_one_line() {
        insta::assert_snapshot!(render(&report(Vec::new(), 0)), @"nothing is wrong: 1 table, 1 manifest, 4,096 files");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_what_mends_it() {
        insta::assert_snapshot!(render(&damaged()), @r"
        the database: SQLite: row 9 missing from index data_file_by_path [rebuild]
        shop.orders (table 3, manifest 7, file 9): the manifest has an entry of a file that has no row [restore]
        ... and 1,000 more
        1,002 faults in 1 table, 1 manifest, 4,096 files
        [rebuild]: from what is in the catalog; [collect]: from the data files; [restore]: from a backup. See docs/operating.md
        ");
    }

    #[test]
    fn the_answer_as_json() {
        insta::assert_json_snapshot!(report_json(&damaged()), @r#"
        {
          "sound": false,
          "findings": [
            {
              "fault": "SQLite: row 9 missing from index data_file_by_path",
              "mend": "rebuild"
            },
            {
              "table": "shop.orders",
              "table_id": 3,
              "manifest_id": 7,
              "file_id": 9,
              "fault": "the manifest has an entry of a file that has no row",
              "mend": "restore"
            }
          ],
          "findings_total": 1002,
          "tables": 1,
          "manifests": 1,
          "files": 4096
        }
        "#);
    }
}
