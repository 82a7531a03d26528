//! The data of the corpus: read, it gives the truth exactly or an error.

use prunus_statistics::{Precision, PrimitiveType, Provenance};

use super::super::scan::{MAX_EXACT_BOUND_BYTES, ScanError, ScanFor, leaves_at, scan, scan_bytes};
use super::truth::is_same;
use super::*;
use crate::location::Location;
use crate::storage::Storage;

/// Leaves whose bounds are unknown although the data is read: a rule takes them.
const UNKNOWN_BY_RULE: [(&str, &str); 3] = [
    // The parts of a variant have no order of their own.
    ("files/parquet-testing__case-132.parquet", "var.metadata"),
    ("files/parquet-testing__case-132.parquet", "var.typed_value.b.typed_value"),
    // A decimal of ten digits that stores values of twelve.
    ("files/made__parquet_rs_byte_array_decimal_truncated.parquet", "f"),
];

type Scans = BTreeMap<usize, LeafScan>;

fn all_leaves(footer: &Footer<'_>) -> Vec<usize> {
    (0..footer.leaves().len()).collect()
}

/// Reads a file as the catalog does: through its storage.
fn scan_file(path: &Path, footer: &Footer<'_>, what: ScanFor) -> Result<Scans, ScanError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let storage = Storage::from_environment();
        let location = Location::parse(path.canonicalize().unwrap().to_str().unwrap(), None).unwrap();
        let object = storage.head(&location).await?;
        scan(&storage, &object, footer, &all_leaves(footer), what).await
    })
}

#[test]
fn data_that_is_read_gives_the_truth_exactly() {
    let Some(folder) = corpus_folder() else { return };
    let mut wrong = Vec::new();
    for file in corpus(&folder) {
        let name = file["file"].as_str().unwrap();
        let path = folder.join(name);
        let bytes = std::fs::read(&path).unwrap();
        let Ok(metadata) = metadata_of(&bytes) else { continue };
        let Ok(footer) = Footer::parse(&metadata) else { continue };
        let expected = file["expect"]["data"].as_str().unwrap();
        match scan_file(&path, &footer, ScanFor::Everything) {
            Ok(_) if expected == "error" => wrong.push(format!("{name}: read, but should be an error")),
            Ok(scans) => wrong.extend(differences(&scans, &file, &footer)),
            Err(error) if expected == "ok" => wrong.push(format!("{name}: not read: {}", chain(&error))),
            Err(error) => println!("not read: {name}: {}", chain(&error)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn chain(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(|cause| format!(": {}", chain(cause))).unwrap_or_default();
    format!("{error}{cause}")
}

/// Where what was read is not the truth, or is unknown without need.
fn differences(scans: &Scans, file: &Json, footer: &Footer<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let name = file["file"].as_str().unwrap();
    let must_be_known = file["expect"]["data"] == "ok";
    for (index, (column, leaf)) in file["columns"].as_array().unwrap().iter().zip(footer.leaves()).enumerate() {
        let place = format!("{name} {}", leaf.dotted_path());
        let taken = UNKNOWN_BY_RULE.contains(&(name, leaf.dotted_path().as_str()));
        let LeafScan::Everything(statistics) = &scans[&index] else { panic!("{place}") };
        found.extend(contradictions(statistics, column, leaf).into_iter().map(|found| format!("{place}: {found}")));
        for (side, bound) in [("min", &statistics.min), ("max", &statistics.max)] {
            if let Some(fault) = fault_of_bound(bound.as_ref(), (column, side), leaf, must_be_known && !taken) {
                found.push(format!("{place}: {side} {fault}: {bound:?}, truth {}", column["truth"][side]));
            }
        }
        let counts_rows = must_be_known && !leaf.repeated;
        if statistics.null_count.is_none() && counts_rows {
            found.push(format!("{place}: null count unknown"));
        }
        let is_float = leaf.column_type.is_some_and(PrimitiveType::is_float);
        if statistics.nan_count.is_none() && counts_rows && is_float {
            found.push(format!("{place}: NaN count unknown"));
        }
    }
    found.extend(contradictions_in_a_table(scans, file, footer));
    found
}

/// What a table made from the file would know of its columns is true as well.
fn contradictions_in_a_table(scans: &Scans, file: &Json, footer: &Footer<'_>) -> Vec<String> {
    let mut report = Report::default();
    match_into_own_schema(footer, scans, file["columns"].as_array().unwrap(), &mut report);
    report.contradictions.into_iter().map(|found| format!("{} in a table: {found}", file["file"])).collect()
}

fn fault_of_bound(
    bound: Option<&Bound>,
    (column, side): (&Json, &str),
    leaf: &FileLeaf,
    must_be_known: bool,
) -> Option<&'static str> {
    let truth = &column["truth"][side];
    // Of such a value the bound is cut, or unknown where it cannot be; that it bounds is looked at apart.
    let is_long = truth["len"].as_u64().is_some_and(|length| length > MAX_EXACT_BOUND_BYTES as u64);
    match bound {
        _ if is_long => None,
        None if truth.is_null() || column["order"] == "undefined" || !column["ambiguous"].is_null() => None,
        None => (must_be_known && leaf.column_type.is_some()).then_some("unknown"),
        Some(_) if truth.is_null() => Some("there is none"),
        Some(bound) if (bound.precision, bound.provenance) != (Precision::Exact, Provenance::Scanned) => {
            Some("not exact")
        }
        Some(bound) => (!is_same(&bound.value, truth)).then_some("another value"),
    }
}

#[test]
fn a_nan_count_alone_is_the_truth_too() {
    let Some(folder) = corpus_folder() else { return };
    let mut proved_by_dictionary = 0;
    for file in corpus(&folder) {
        let path = folder.join(file["file"].as_str().unwrap());
        let bytes = std::fs::read(&path).unwrap();
        let Ok(metadata) = metadata_of(&bytes) else { continue };
        let Ok(footer) = Footer::parse(&metadata) else { continue };
        let Ok(scans) = scan_file(&path, &footer, ScanFor::NanCount) else { continue };
        for (index, scan) in scans {
            let count = match scan {
                LeafScan::Everything(statistics) => statistics.nan_count.unwrap(),
                LeafScan::NanCount(count) => {
                    proved_by_dictionary += 1;
                    count
                }
            };
            let column = &file["columns"][index];
            assert_eq!(Some(count.value), column["truth"]["nan_count"].as_u64(), "{} {}", file["file"], column["path"]);
        }
    }
    assert!(proved_by_dictionary > 0);
}

/// The footer is the undamaged one: only the data is changed, or cut off.
#[test]
fn damaged_data_is_an_error_or_is_read_and_cut_data_is_an_error() {
    let Some(folder) = corpus_folder() else { return };
    let mut refused = 0;
    for file in corpus(&folder) {
        let bytes = std::fs::read(folder.join(file["file"].as_str().unwrap())).unwrap();
        let Ok(metadata) = metadata_of(&bytes) else { continue };
        let Ok(footer) = Footer::parse(&metadata) else { continue };
        let data = bytes.len().saturating_sub(metadata.len() + 8).min(MAX_DAMAGED_BYTES);
        let step = (data / DAMAGES_PER_FILE).max(1);
        for index in (0..data).step_by(step) {
            let leaves = leaves_at(index, &bytes, &footer);
            for flip in [0x01, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[index] ^= flip;
                for what in [ScanFor::Everything, ScanFor::NanCount] {
                    refused += usize::from(scan_bytes(&changed, &footer, &leaves, what).is_err());
                }
            }
            let cut = scan_bytes(&bytes[..index], &footer, &leaves, ScanFor::Everything);
            assert!(cut.is_err() || leaves.is_empty(), "{} cut at {index}", file["file"]);
        }
    }
    assert!(refused > 0);
}

/// So much of a file, from its start, is damaged: the first pages are as good as the later ones.
const MAX_DAMAGED_BYTES: usize = 4096;
const DAMAGES_PER_FILE: usize = 50;
