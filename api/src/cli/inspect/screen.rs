//! A table on one screen.

use std::fmt::Write as _;

use crate::cli::audit::render::{mode, state};
use crate::cli::explain::render::{WithStatistics, file};
use crate::cli::plan::render::{conjuncts, totals};
use crate::cli::prose::{Paint, Role, wrapped};
use crate::cli::snapshots::list::operation;
use crate::cli::table::columns::of_files;
use crate::cli::{Side, bytes, count, counted, text_table};
use crate::wire::{
    AuditJson, ColumnCoverageJson, ColumnFilesJson, CountFilesJson, SideFilesJson, SnapshotJson, TableJson,
    TableLayoutJson,
};

use super::{Inspection, Scan};

/// How many columns are shown: those that filters met, then those that the table is clustered by, then the others.
const COLUMNS_SHOWN: usize = 12;
/// How many of the last audits are shown.
const AUDITS_SHOWN: usize = 3;

pub(super) fn render(inspection: &Inspection, paint: Paint) -> String {
    let table = &inspection.table;
    let mut parts = vec![summary(table, paint)];
    let mut part = |title: &str, text: String| parts.push(format!("{}\n{text}", paint.mark(Role::Heading, title)));
    if let Some(scan) = &inspection.scan {
        part("The filter", of_scan(scan));
        for explained in &scan.explained {
            part("A file that it keeps", file(&explained.path, &explained.explained, &WithStatistics::Omitted, paint));
        }
    }
    if !inspection.snapshots.is_empty() {
        part("Last snapshots", snapshots_table(&inspection.snapshots));
        // The columns are of the snapshot that was asked for, and all else is of now.
        let seen = inspection.columns.snapshot_id;
        if seen == table.current_snapshot {
            part("Layout", layout(inspection.layout, table));
            part("Columns", columns(inspection));
        } else {
            part("Layout as of now", layout(inspection.layout, table));
            part(&format!("Columns of snapshot {seen}"), columns(inspection));
        }
    }
    if !inspection.audits.is_empty() {
        let shown = inspection.audits.get(..AUDITS_SHOWN).unwrap_or(&inspection.audits);
        part("Last audits", audits_table(shown));
    }
    part("What to do", to_do(&inspection.advice, paint));
    parts.join("\n")
}

fn summary(table: &TableJson, paint: Paint) -> String {
    let name = format!("{}.{}", table.namespace, table.name);
    let place = table.location.as_deref().unwrap_or("files may lie anywhere");
    let mut size = format!(
        "snapshot {}: {}, {}, {}",
        table.current_snapshot,
        counted(table.files, "file", "files"),
        counted(table.rows, "row", "rows"),
        bytes(table.bytes)
    );
    if table.files_of_unknown_rows > 0 {
        let _ = write!(size, "; the rows of {} are not known", counted(table.files_of_unknown_rows, "file", "files"));
    }
    let mut text =
        format!("{}\n  {place}\n  created {}\n  {size}\n", paint.mark(Role::Heading, &name), table.created_at);
    if !table.properties.is_empty() {
        let properties: Vec<String> = table.properties.iter().map(|(key, value)| format!("{key}={value}")).collect();
        text.push_str(&wrapped(&properties.join(", "), 2));
    }
    text
}

fn of_scan(scan: &Scan) -> String {
    let mut text = format!("snapshot {}\n", scan.plan.snapshot_id);
    if let Some(metrics) = &scan.plan.metrics {
        text.push_str(&totals(metrics));
        if !metrics.conjuncts.is_empty() {
            text.push_str(&conjuncts(&metrics.conjuncts));
        }
    }
    text
}

/// As `prunus snapshots` has them, but narrower: they stand beside much else.
fn snapshots_table(snapshots: &[SnapshotJson]) -> String {
    let mut table = text_table([
        ("snapshot", Side::Right),
        ("committed", Side::Left),
        ("operation", Side::Left),
        ("files", Side::Left),
        ("live", Side::Right),
        ("rows", Side::Right),
        ("size", Side::Right),
    ]);
    for snapshot in snapshots {
        table.add_row([
            snapshot.snapshot_id.to_string(),
            minute(&snapshot.committed_at),
            operation(snapshot.operation).to_owned(),
            format!("+{} -{}", count(snapshot.added_files), count(snapshot.removed_files)),
            count(snapshot.files),
            count(snapshot.rows),
            bytes(snapshot.bytes),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// As `prunus audit list` has them, but narrower.
fn audits_table(audits: &[AuditJson]) -> String {
    let mut table = text_table([
        ("audit", Side::Right),
        ("begun", Side::Left),
        ("mode", Side::Left),
        ("state", Side::Left),
        ("looked at", Side::Left),
        ("findings", Side::Right),
    ]);
    for audit in audits {
        table.add_row([
            audit.audit_id.to_string(),
            minute(&audit.created_at),
            mode(audit.mode).to_owned(),
            state(audit.state).to_owned(),
            format!("{} of {}", count(audit.files_checked), counted(audit.files, "file", "files")),
            count(audit.findings + audit.findings_left_out),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// An RFC 3339 time in UTC to the minute.
fn minute(time: &str) -> String {
    time.get(..16).map_or_else(|| time.to_owned(), |minute| format!("{}Z", minute.replace('T', " ")))
}

fn layout(layout: TableLayoutJson, table: &TableJson) -> String {
    let order = match table.cluster_by.as_slice() {
        [] => "clustered by no column, in the order of arrival".to_owned(),
        columns => format!("clustered by {}", columns.join(", ")),
    };
    let manifests = counted(layout.manifests, "manifest", "manifests");
    let tail = counted(layout.tail_files, "file", "files");
    let overlap = match layout.overlap {
        Some(overlap) if layout.manifests > 0 => {
            format!("; at most {} share a value", counted(overlap, "manifest", "manifests"))
        }
        _ => String::new(),
    };
    wrapped(&format!("{manifests}, and {tail} in the tail; {order}{overlap}"), 2)
}

fn columns(inspection: &Inspection) -> String {
    let all = inspection.columns.files;
    let mut shown: Vec<&ColumnCoverageJson> = inspection.columns.columns.iter().collect();
    // Stable: what is alike stays in the order of the schema.
    shown.sort_by_key(|column| {
        let missed: u64 = column.obstacles.iter().map(|met| met.plans).sum();
        let place = inspection.table.cluster_by.iter().position(|name| *name == column.name).unwrap_or(usize::MAX);
        (std::cmp::Reverse(missed), place)
    });
    let more = shown.len().saturating_sub(COLUMNS_SHOWN);
    shown.truncate(COLUMNS_SHOWN);
    let mut table = text_table([
        ("column", Side::Left),
        ("type", Side::Left),
        ("bounds", Side::Right),
        ("nulls", Side::Right),
        ("NaNs", Side::Right),
        ("one value hits", Side::Right),
        ("missed by", Side::Right),
    ]);
    for column in shown {
        table.add_row(row(column, all));
    }
    let mut text = format!("{}\n", table.trim_fmt());
    if more > 0 {
        let more = counted(more as u64, "column", "columns");
        let (namespace, name) = (&inspection.table.namespace, &inspection.table.name);
        let _ = writeln!(text, "... and {more} more: `prunus table columns {namespace}.{name}`");
    }
    text
}

fn row(column: &ColumnCoverageJson, all: u64) -> [String; 7] {
    let named = (column.name.clone(), column.column_type.clone());
    let missed: u64 = column.obstacles.iter().map(|met| met.plans).sum();
    let missed = if missed == 0 { String::new() } else { counted(missed, "plan", "plans") };
    let Some(files) = &column.statistics else {
        return [named.0, named.1, String::new(), String::new(), String::new(), String::new(), missed];
    };
    let counted_in =
        |count: Option<CountFilesJson>| count.map(|count| of_files(count.known.files, all)).unwrap_or_default();
    let hits = format!("{:.1}, at most {}", files.overlap.mean, count(files.overlap.max));
    let bounds = of_files(bounded(files), all);
    [named.0, named.1, bounds, counted_in(files.null_count), counted_in(files.nan_count), hits, missed]
}

/// In how many files pruning may use both bounds, or knows that there is nothing to bound.
fn bounded(files: &ColumnFilesJson) -> u64 {
    let side = |side: SideFilesJson| side.exact.files + side.bound.files;
    files.without_values.files + side(files.min).min(side(files.max))
}

fn to_do(advice: &[String], paint: Paint) -> String {
    if advice.is_empty() {
        return format!("  {}\n", paint.mark(Role::Good, "nothing that shows from here"));
    }
    let mark = |sentence: &String| {
        let text = wrapped(sentence, 4);
        // The mark stands in the first line's indent.
        format!("  {} {}", paint.mark(Role::Notable, "-"), text.trim_start())
    };
    advice.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::super::example::inspection;
    use super::*;

    #[test]
    fn a_table_is_one_screen() {
        insta::assert_snapshot!(render(&inspection(), Paint::Plain), @r"
        shop.orders
          s3://lake/orders/
          created 2026-01-01T00:00:00.000Z
          snapshot 7: 60 files, 600,572 rows, 19.0 MiB
          owner=me

        The filter
        snapshot 7
                            files      rows       size
        ───────────────────────────────────────────────
        considered             60   600,572   19.0 MiB
        pruned                 20   200,572    6.6 MiB
        kept                   40   400,000   12.3 MiB
          wholly matching       0
        planned in 1.23 ms; 1 of 3 manifests pruned as a whole

        pruned   by                  could not prune more
        ───────────────────────────────────────────────────────────
            20   price > 100         NaN count unknown in 40 files
             0   lower(city) = 'x'   unsupported form

        A file that it keeps
        s3://lake/orders/part-1.parquet
          kept: some rows may match, and the reader has to filter them

          1  price > 100: may be true
             `price > 100` may be true or false: `price` is from 1 to 90, but it is not
             known how many NaNs there are, and some engines take NaN for greater than
             100

        Last snapshots
        snapshot   committed           operation   files    live      rows       size
        ──────────────────────────────────────────────────────────────────────────────
               7   2026-01-02 00:00Z   append      +10 -0     60   600,572   19.0 MiB

        Layout
          9 manifests, and 3 files in the tail; clustered by day; at most 8 manifests
          share a value

        Columns
        column   type      bounds   nulls   NaNs     one value hits   missed by
        ────────────────────────────────────────────────────────────────────────
        price    float64      all     all   none   31.5, at most 45    12 plans
        city     string     33.3%     all   none   31.5, at most 45    12 plans
        day      date         all     all   none   31.5, at most 45

        Last audits
        audit   begun               mode     state   looked at        findings
        ───────────────────────────────────────────────────────────────────────
            3   2026-01-02 00:00Z   footer   done    60 of 60 files          1

        What to do
          - Audit 3 has 1 finding: `prunus audit show shop.orders 3` lists them.
          - Pruning has no rule for all of `lower(city) = 'x'`: compare a column that
            stands alone with a value, if that can be.
          - `price > 100` keeps files because some engines take NaN for more than it:
            say by `--nan-order` which the reading engine is.
          - 12 plans missed the NaN count of `price`: the server counts NaNs in the
            background, `prunus audit shop.orders --mode scan --repair` does it now, and
            `--nan-order` needs none where the engine's order is known.
          - 12 plans missed statistics of `city`: `prunus audit shop.orders --mode scan
            --repair` reads them from the data.
          - Up to 45 of 60 files hold the same value of `day`, by which the table is
            clustered: files that are written sorted by it overlap less.
          - 8 manifests share a value: `prunus regroup shop.orders` may part them.
          - 1 column has bounds on the word of writers alone: `prunus audit shop.orders
            --mode scan` holds them against the data.
        ");
    }

    #[test]
    fn what_is_of_another_snapshot_than_the_newest_says_so() {
        let mut older = inspection();
        older.columns.snapshot_id = 3;
        let text = render(&older, Paint::Plain);
        assert!(text.contains("\nLayout as of now\n") && text.contains("\nColumns of snapshot 3\n"), "{text}");
    }

    #[test]
    fn a_table_without_manifests_has_none_that_share_a_value() {
        let mut small = inspection();
        small.layout.manifests = 0;
        assert!(!render(&small, Paint::Plain).contains("share a value\n"));
    }

    #[test]
    fn every_line_fits_a_terminal() {
        let text = render(&inspection(), Paint::Plain);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn a_table_without_faults_says_so() {
        assert_eq!(to_do(&[], Paint::Plain), "  nothing that shows from here\n");
    }
}
