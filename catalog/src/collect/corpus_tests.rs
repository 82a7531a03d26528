//! The collector against the corpus: Parquet files of many writers, with the truth about their columns found by reading all
//! the data. No bound and no count that the collector registers may contradict it.

mod data;
// The tests of the binary hold what it answers against the same truth.
#[path = "../../tests/support/corpus_truth.rs"]
mod truth;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use prunus_statistics::{Bound, ColumnStatistics, FileColumn};
use serde_json::Value as Json;

use super::{
    FOOTER_SUFFIX_BYTES, FileLeaf, Footer, FooterError, LeafScan, TableColumn, footer_range, infer_schema,
    match_scanned_columns, metadata_within,
};
use crate::schema::assign_ids;
use truth::{compare, corpus, corpus_folder};

/// Bounds that are false although nothing in the footer shows it: a lie that only reading the data detects.
const UNDETECTABLE: [(&str, &[&str]); 1] = [(
    "files/made__handmade_plausible_but_false_bounds.parquet",
    // The bounds of the second of two row groups were changed by hand into narrower, well-formed ones.
    &["k: max 90 is beyond the truth", "s: max v90 is beyond the truth"],
)];

/// The footer's bytes, fetched as the catalog does: the end of the file, and more only if that is not enough.
fn metadata_of(bytes: &[u8]) -> Result<Vec<u8>, FooterError> {
    let size = bytes.len() as u64;
    let suffix = &bytes[bytes.len().saturating_sub(usize::try_from(FOOTER_SUFFIX_BYTES).unwrap())..];
    let range = footer_range(suffix, size)?;
    let in_file = || bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()].to_vec();
    Ok(metadata_within(suffix, size, &range).map_or_else(in_file, <[u8]>::to_vec))
}

/// How a file fared: what of it is used, and what contradicts the truth.
#[derive(Default)]
struct Report {
    bounded: usize,
    unbounded: usize,
    null_counts: usize,
    nan_counts: usize,
    /// Bounds that the footer has exactly, with nothing against them, and that were not used.
    unused: Vec<String>,
    contradictions: Vec<String>,
    note: String,
}

#[test]
fn no_registered_statistic_contradicts_the_truth() {
    let Some(folder) = corpus_folder() else { return };
    let (mut table, mut wrong) = (String::new(), Vec::new());
    for file in corpus(&folder) {
        let name = file["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let outcome = metadata_of(&bytes).and_then(|metadata| Ok(report(&Footer::parse(&metadata)?, &file)));
        let expected = file["expect"]["footer"].as_str().unwrap();
        let short = name.trim_start_matches("files/");
        match outcome {
            Ok(report) => {
                if expected == "error" {
                    wrong.push(format!("{name}: read, but should be refused"));
                }
                let Report { bounded, unbounded, null_counts, nan_counts, unused, note, .. } = &report;
                let counts = format!("{bounded:>3} {unbounded:>3} {null_counts:>3} {nan_counts:>3}");
                writeln!(table, "{counts}  {short}{note} {unused:?}").unwrap();
                wrong.extend(unexpected(name, &report.contradictions));
            }
            Err(error) => {
                if expected == "ok" {
                    wrong.push(format!("{name}: refused: {error}"));
                }
                writeln!(table, "        refused  {short}: {error}").unwrap();
            }
        }
    }
    println!("leaves with bounds, without; null counts, NaN counts; file; exact bounds that were not used\n{table}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The contradictions that are not known to be undetectable; a known one that is gone is reported too.
fn unexpected(name: &str, found: &[String]) -> Vec<String> {
    let known = UNDETECTABLE.iter().find(|(file, _)| *file == name).map_or(&[][..], |(_, known)| known);
    let gone = known.iter().filter(|known| !found.iter().any(|found| found == *known));
    let gone: Vec<String> = gone.map(|known| format!("{name}: no longer found: {known}")).collect();
    let new = found.iter().filter(|found| !known.contains(&found.as_str())).map(|found| format!("{name}: {found}"));
    new.chain(gone).collect()
}

fn report(footer: &Footer<'_>, file: &Json) -> Report {
    let mut report = Report::default();
    if let Some(rows) = file["rows"].as_u64()
        && rows != footer.row_count()
    {
        report.contradictions.push(format!("{} rows instead of {rows}", footer.row_count()));
    }
    let columns = file["columns"].as_array().unwrap();
    assert_eq!(columns.len(), footer.leaves().len(), "{}", file["file"]);
    for (index, (column, leaf)) in columns.iter().zip(footer.leaves()).enumerate() {
        let path: Vec<&str> = column["path"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(path, leaf.path);
        assert_eq!(column["max_rep"].as_u64().unwrap() > 0, leaf.repeated);
        let statistics = footer.leaf_statistics(index);
        count_what_is_known(&mut report, &statistics, column, leaf);
        report.contradictions.extend(contradictions(&statistics, column, leaf));
    }
    match_into_own_schema(footer, &BTreeMap::new(), columns, &mut report);
    report
}

fn count_what_is_known(report: &mut Report, statistics: &ColumnStatistics, column: &Json, leaf: &FileLeaf) {
    let bounded = statistics.min.is_some() || statistics.max.is_some();
    report.bounded += usize::from(bounded);
    report.unbounded += usize::from(!bounded);
    report.null_counts += usize::from(statistics.null_count.is_some());
    report.nan_counts += usize::from(statistics.nan_count.is_some() && column["order"] == "float");
    let flags = column["footer"]["flags"].as_array().map(Vec::as_slice).unwrap_or_default();
    let against =
        |flag: &Json| flag.as_str().is_some_and(|flag| flag.contains("deprecated") || flag.contains("unusable"));
    if !bounded && column["footer"]["bounds"] == "exact" && !flags.iter().any(against) {
        report.unused.push(leaf.dotted_path());
    }
}

/// A table made from the file takes the file, and what it then knows of its columns is true as well.
fn match_into_own_schema(
    footer: &Footer<'_>,
    scans: &BTreeMap<usize, LeafScan>,
    columns: &[Json],
    report: &mut Report,
) {
    let fields = match infer_schema(footer) {
        Ok(fields) => fields,
        Err(errors) => {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            report.note = format!(" (no schema: {})", errors.join("; "));
            return;
        }
    };
    let table: Vec<TableColumn> = assign_ids(fields)
        .unwrap()
        .leaf_columns()
        .into_iter()
        .map(|leaf| TableColumn {
            id: leaf.id,
            path: leaf.path,
            former_paths: Vec::new(),
            column_type: leaf.column_type,
            default: leaf.default,
        })
        .collect();
    let collected = match match_scanned_columns(footer, scans, &table, 64) {
        Ok(collected) => collected,
        Err(faults) => {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            report.contradictions.push(format!("the file does not match its own schema: {faults:?}"));
            return;
        }
    };
    assert_eq!(collected.leaves.len(), columns.len());
    for column in &table {
        let index = footer.leaves().iter().position(|leaf| leaf.path == column.path).unwrap();
        let Some(FileColumn::Present(statistics)) = collected.columns.get(&column.id) else {
            report.contradictions.push(format!("{} is not found in the file", column.path.join(".")));
            continue;
        };
        let found = contradictions(statistics, &columns[index], &footer.leaves()[index]);
        report.contradictions.extend(found.into_iter().filter(|found| !is_known(found)));
    }
}

fn is_known(contradiction: &str) -> bool {
    UNDETECTABLE.iter().any(|(_, known)| known.contains(&contradiction))
}

fn contradictions(statistics: &ColumnStatistics, column: &Json, leaf: &FileLeaf) -> Vec<String> {
    let mut found = Vec::new();
    let path = leaf.dotted_path();
    let truth = &column["truth"];
    let sides = [("min", &statistics.min, Ordering::Greater), ("max", &statistics.max, Ordering::Less)];
    for (side, bound, beyond) in sides {
        let Some(bound) = bound else { continue };
        if column["order"] == "undefined" || !column["ambiguous"].is_null() {
            found.push(format!("{path}: {side} is known where it cannot be"));
        }
        if !truth[side].is_null() && compare(&bound.value, &truth[side]) == Some(beyond) {
            let shown = leaf.column_type.map(|column_type| bound.value.display(column_type).to_string());
            found.push(format!("{path}: {side} {} is beyond the truth", shown.unwrap_or_default()));
        }
    }
    for (name, count) in [("null_count", statistics.null_count), ("nan_count", statistics.nan_count)] {
        if let (Some(count), Some(true_count)) = (count, truth[name].as_u64())
            && count.value != true_count
        {
            found.push(format!("{path}: {name} {} instead of {true_count}", count.value));
        }
    }
    found
}

#[test]
fn a_real_footer_that_is_cut_is_an_error() {
    let Some(folder) = corpus_folder() else { return };
    for file in corpus(&folder) {
        let bytes = std::fs::read(folder.join(file["file"].as_str().unwrap())).unwrap();
        let Ok(metadata) = metadata_of(&bytes) else { continue };
        if Footer::parse(&metadata).is_err() {
            continue;
        }
        // What follows the struct (a signature) may be missing, so the last bytes may be cut off unnoticed.
        let step = (metadata.len() / 500).max(1);
        for cut in (0..metadata.len() - 28).step_by(step) {
            assert!(Footer::parse(&metadata[..cut]).is_err(), "{} cut at {cut}", file["file"]);
        }
    }
}

#[test]
fn a_real_footer_with_a_changed_byte_is_read_or_refused() {
    let Some(folder) = corpus_folder() else { return };
    for file in corpus(&folder) {
        let bytes = std::fs::read(folder.join(file["file"].as_str().unwrap())).unwrap();
        let Ok(metadata) = metadata_of(&bytes) else { continue };
        let step = (metadata.len() / 200).max(1);
        for index in (0..metadata.len()).step_by(step) {
            let mut changed = metadata.clone();
            changed[index] ^= 0x55;
            let Ok(footer) = Footer::parse(&changed) else { continue };
            for leaf in 0..footer.leaves().len() {
                footer.leaf_statistics(leaf);
            }
            _ = infer_schema(&footer);
        }
    }
}
