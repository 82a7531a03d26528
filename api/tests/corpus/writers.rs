//! What is used of the footers of each writer, as a table for the document.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value as Json;
use xxhash_rust::xxh3::Xxh3;

use crate::case::Case;
use crate::import::{Column, Outcome, Registered};

/// What became of the files of a writer, and of their columns.
#[derive(Default)]
struct Row {
    files: usize,
    refused: usize,
    used: usize,
    valueless: usize,
    unknown: usize,
    set_aside: usize,
}

/// The table, a row per writer.
pub(crate) fn table<'a>(outcomes: impl Iterator<Item = (&'a Case, &'a Outcome)>) -> String {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut all = Row::default();
    for (case, outcome) in outcomes {
        for row in [rows.entry(writer(case.created_by())).or_default(), &mut all] {
            row.add(case, outcome);
        }
    }
    let mut text = String::new();
    for (writer, row) in rows.iter().map(|(writer, row)| (writer.as_str(), row)).chain([("**all**", &all)]) {
        let Row { files, refused, used, valueless, unknown, set_aside } = row;
        writeln!(text, "| {writer} | {files} | {refused} | {used} | {valueless} | {unknown} | {set_aside} |").unwrap();
    }
    text
}

/// What tells this corpus from all others.
pub(crate) fn fingerprint(cases: &[Case]) -> String {
    let mut hash = Xxh3::new();
    cases.iter().for_each(|case| hash.update(case.sha256().as_bytes()));
    format!("corpus {:016x}", hash.digest())
}

/// The writer's name and version, without its build.
fn writer(created_by: Option<&str>) -> String {
    let Some(created_by) = created_by else { return "(not said)".to_owned() };
    let (name, _) = created_by.split_once(" (build ").unwrap_or((created_by, ""));
    name.replacen(" version ", " ", 1)
}

impl Row {
    fn add(&mut self, case: &Case, outcome: &Outcome) {
        self.files += 1;
        let Outcome::Registered(registered) = outcome else {
            self.refused += 1;
            return;
        };
        case.leaves().iter().for_each(|leaf| self.add_leaf(leaf, registered));
    }

    fn add_leaf(&mut self, leaf: &Json, registered: &Registered) {
        // A table of some of the columns alone says nothing of the others.
        let Some(Column { statistics, .. }) = registered.column(leaf) else { return };
        let truth = &leaf["truth"];
        let has_no_value = truth.is_object() && truth["min"].is_null() && truth["max"].is_null();
        if statistics.min.is_some() || statistics.max.is_some() {
            self.used += 1;
        } else if has_no_value {
            self.valueless += 1;
        } else {
            self.unknown += 1;
            self.set_aside += usize::from(is_good(leaf));
        }
    }
}

/// Whether the footer bounds the leaf truly, and by no rule of the format in vain.
fn is_good(leaf: &Json) -> bool {
    let flags = leaf["footer"]["flags"].as_array().map(Vec::as_slice).unwrap_or_default();
    let forbids =
        |flag: &Json| flag.as_str().is_some_and(|flag| flag.contains("deprecated") || flag.contains("unusable"));
    (leaf["footer"]["bounds"] == "exact" || leaf["footer"]["bounds"] == "inexact") && !flags.iter().any(forbids)
}
