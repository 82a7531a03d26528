//! What could be better about a table, and what would make it so. Most urgent first.

use crate::cli::{count, counted};
use crate::wire::{
    AuditStateJson, ColumnCoverageJson, ColumnFilesJson, CountFilesJson, ObstacleReasonJson, SideFilesJson,
};

use super::Inspection;

/// More manifests than this that share a value are worth grouping anew.
const MAX_MANIFEST_OVERLAP: u64 = 4;
/// More files than this that hold one value are worth sorting data by it, if they are also more than a tenth of all.
const MAX_FILE_OVERLAP: u64 = 4;

/// Sentences, each with what to do.
pub(super) fn advice(inspection: &Inspection) -> Vec<String> {
    if inspection.table.files == 0 {
        return vec![format!("Nothing is registered: `prunus import {} PATH...` registers files.", name(inspection))];
    }
    let mut advice = Vec::new();
    advice.extend(of_audits(inspection));
    advice.extend(of_filter(inspection));
    advice.extend(inspection.columns.columns.iter().flat_map(|column| of_column(inspection, column)));
    advice.extend(of_clustering(inspection));
    advice.extend(of_layout(inspection));
    advice.extend(of_declarations(inspection));
    advice
}

fn name(inspection: &Inspection) -> String {
    format!("{}.{}", inspection.table.namespace, inspection.table.name)
}

fn of_audits(inspection: &Inspection) -> Option<String> {
    let name = name(inspection);
    let Some(last) = inspection.audits.first() else {
        return Some(format!(
            "No audit was made: `prunus audit {name}` looks whether the files are there and the same."
        ));
    };
    let found = last.findings + last.findings_left_out;
    let id = last.audit_id;
    match last.state {
        AuditStateJson::Failed => Some(format!("Audit {id} failed: `prunus audit show {name} {id}` says why.")),
        _ if found > 0 => {
            let findings = counted(found, "finding", "findings");
            Some(format!("Audit {id} has {findings}: `prunus audit show {name} {id}` lists them."))
        }
        _ => None,
    }
}

/// Conjuncts that pruning has no rule for, and filters that prune nothing though nothing is in their way.
fn of_filter(inspection: &Inspection) -> Vec<String> {
    let Some(metrics) = inspection.scan.as_ref().and_then(|scan| scan.plan.metrics.as_ref()) else {
        return Vec::new();
    };
    let mut advice = Vec::new();
    for conjunct in metrics.conjuncts.iter().filter(|conjunct| !conjunct.prunable) {
        advice.push(format!(
            "Pruning has no rule for all of `{}`: compare a column that stands alone with a value, if that can be.",
            conjunct.expression
        ));
    }
    advice.extend(of_nans(inspection));
    let unhindered = metrics.conjuncts.iter().all(|conjunct| conjunct.prunable && conjunct.reason.is_none());
    if unhindered && metrics.files_pruned == 0 && metrics.files_considered > metrics.files_all {
        advice.push(
            "The filter prunes nothing, though all that it needs is known: its values lie within the bounds of every file. Write \
             files sorted by its columns."
                .to_owned(),
        );
    }
    advice
}

/// Files that are kept because engines differ in what NaN is: the explanation says so.
fn of_nans(inspection: &Inspection) -> Option<String> {
    let explained = &inspection.scan.as_ref()?.explained;
    let mut conjuncts = explained.iter().flat_map(|file| &file.explained.conjuncts);
    let kept = conjuncts.find(|conjunct| conjunct.sentence.contains("some engines"))?;
    Some(format!(
        "`{}` keeps files because some engines take NaN for more than it: say by `--nan-order` which the reading engine is.",
        kept.expression
    ))
}

/// What was missed by filters of a column.
fn of_column(inspection: &Inspection, column: &ColumnCoverageJson) -> Vec<String> {
    let name = name(inspection);
    let mut advice = Vec::new();
    for met in column.obstacles.iter().filter(|met| is_still_missing(met.reason, column)) {
        let plans = counted(met.plans, "plan", "plans");
        let sentence = match met.reason {
            ObstacleReasonJson::WithoutStatistics => format!(
                "{plans} missed statistics of `{}`: `prunus audit {name} --mode scan --repair` reads them from the data.",
                column.name
            ),
            ObstacleReasonJson::NanCountUnknown => format!(
                "{plans} missed the NaN count of `{}`: the server counts NaNs in the background, `prunus audit {name} --mode scan \
                 --repair` does it now, and `--nan-order` needs none where the engine's order is known.",
                column.name
            ),
            ObstacleReasonJson::NansAlone => format!(
                "{plans} kept files for NaNs alone in `{}`: `--nan-order` says whether the engine lets them match.",
                column.name
            ),
            // The filter at hand says it better.
            ObstacleReasonJson::Unsupported => continue,
        };
        advice.push(sentence);
    }
    advice
}

/// Whether some file still lacks what plans missed: an audit may have found it since.
fn is_still_missing(reason: ObstacleReasonJson, column: &ColumnCoverageJson) -> bool {
    // Of columns in lists, and of nested ones, not all is counted.
    let Some(files) = &column.statistics else { return true };
    let unknown = |count: Option<CountFilesJson>| count.is_none_or(|count| count.unknown.files > 0);
    match reason {
        ObstacleReasonJson::WithoutStatistics => {
            let side = |side: SideFilesJson| side.unknown.files + side.estimate.files > 0;
            side(files.min) || side(files.max) || unknown(files.null_count)
        }
        ObstacleReasonJson::NanCountUnknown => unknown(files.nan_count),
        // The counts are known here, and the filter meets them again.
        ObstacleReasonJson::NansAlone | ObstacleReasonJson::Unsupported => true,
    }
}

/// Files that overlap in the column that the table is clustered by.
fn of_clustering(inspection: &Inspection) -> Option<String> {
    let first = inspection.table.cluster_by.first()?;
    let column = inspection.columns.columns.iter().find(|column| column.name == *first)?;
    let files = column.statistics.as_ref()?;
    let most = files.overlap.max;
    if most <= MAX_FILE_OVERLAP || most <= inspection.columns.files / 10 || has_unknown_bounds(files) {
        return None;
    }
    Some(format!(
        "Up to {} of {} hold the same value of `{first}`, by which the table is clustered: files that are written sorted by it overlap \
         less.",
        count(most),
        counted(inspection.columns.files, "file", "files"),
    ))
}

fn has_unknown_bounds(files: &ColumnFilesJson) -> bool {
    files.min.unknown.files + files.max.unknown.files > 0
}

fn of_layout(inspection: &Inspection) -> Option<String> {
    let overlap = inspection.layout.overlap.filter(|overlap| *overlap > MAX_MANIFEST_OVERLAP)?;
    let name = name(inspection);
    Some(format!("{} manifests share a value: `prunus regroup {name}` may part them.", count(overlap)))
}

/// Bounds that nobody has looked at.
fn of_declarations(inspection: &Inspection) -> Option<String> {
    let declared = |column: &&ColumnCoverageJson| {
        let files = column.statistics.as_ref();
        files.is_some_and(|files| files.min.provenance.declared + files.max.provenance.declared > 0)
    };
    let columns = inspection.columns.columns.iter().filter(declared).count() as u64;
    (columns > 0).then(|| {
        let columns = counted(columns, "column has", "columns have");
        let name = name(inspection);
        format!("{columns} bounds on the word of writers alone: `prunus audit {name} --mode scan` holds them against the data.")
    })
}

#[cfg(test)]
mod tests {
    use super::super::example::inspection;
    use super::*;

    /// Whether some sentence has these words.
    fn says(inspection: &Inspection, words: &str) -> bool {
        advice(inspection).iter().any(|sentence| sentence.contains(words))
    }

    #[test]
    fn an_empty_table_is_to_be_filled() {
        let mut empty = inspection();
        empty.table.files = 0;
        assert_eq!(advice(&empty), ["Nothing is registered: `prunus import shop.orders PATH...` registers files."]);
    }

    #[test]
    fn a_table_that_nobody_audited_is_to_be() {
        let mut unaudited = inspection();
        unaudited.audits.clear();
        assert!(says(&unaudited, "`prunus audit shop.orders`") && !says(&inspection(), "No audit was made"));
    }

    #[test]
    fn missing_statistics_are_told_by_column() {
        assert!(says(&inspection(), "missed statistics of `city`"));
        assert!(says(&inspection(), "missed the NaN count of `price`"));
    }

    #[test]
    fn what_was_missed_and_is_known_by_now_is_no_advice() {
        let mut repaired = inspection();
        for column in &mut repaired.columns.columns {
            let files = column.statistics.as_mut().unwrap();
            files.min.unknown.files = 0;
            files.max.unknown.files = 0;
            files.null_count.as_mut().unwrap().unknown.files = 0;
            files.nan_count.as_mut().unwrap().unknown.files = 0;
        }
        assert!(!says(&repaired, "missed statistics of") && !says(&repaired, "missed the NaN count"));
    }

    #[test]
    fn a_filter_that_nans_keep_is_told_of_their_order() {
        assert!(says(&inspection(), "`price > 100` keeps files because some engines take NaN"));
    }

    #[test]
    fn few_manifests_that_overlap_are_well() {
        let mut well = inspection();
        assert!(says(&well, "8 manifests share a value"));
        well.layout.overlap = Some(MAX_MANIFEST_OVERLAP);
        assert!(!says(&well, "manifests share a value"));
    }

    #[test]
    fn a_filter_that_nothing_hinders_and_that_prunes_nothing_is_about_how_files_are_written() {
        let mut unhindered = inspection();
        let metrics = unhindered.scan.as_mut().unwrap().plan.metrics.as_mut().unwrap();
        metrics.files_pruned = 0;
        metrics.conjuncts.truncate(1);
        metrics.conjuncts[0].reason = None;
        assert!(
            says(&unhindered, "Write files sorted by its columns") && !says(&inspection(), "sorted by its columns")
        );
    }
}
