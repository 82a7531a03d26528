//! `prunus` over a corpus of real Parquet files of many writers, as a user meets it: each goes into a table made from its own
//! schema, under the policies of verification that read it, or is refused with a reason that a person understands; and what the
//! server then says of its columns is held against the truth. So it is again after an audit.
//!
//! All that is asked of a file stands in `corpus.json`, so that another corpus of the same form is judged by the same tests.
#![allow(
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first thing that is not as it should be, its helpers too"
)]

#[path = "../support/binary.rs"]
mod binary;
mod case;
mod import;
mod judge;
mod own_columns;
mod prunus_process;
// The collector's own tests hold it against the same truth.
#[path = "../../../catalog/tests/support/corpus_truth.rs"]
mod truth;
mod writers;

use futures::{StreamExt, stream};

use case::{Case, Expected, Policy};
use import::{Outcome, import};
use prunus_process::Prunus;
use truth::corpus_folder;

/// How many files are on their way at once.
const FILES_AT_ONCE: usize = 4;

/// Imports all files, each into a table of its own.
async fn import_all(cases: &[Case], policy: Policy) -> Vec<Outcome> {
    let prunus = Prunus::start();
    let imports = cases.iter().enumerate().map(|(number, case)| import(&prunus, case, policy, number));
    stream::iter(imports).buffered(FILES_AT_ONCE).collect().await
}

async fn no_file_is_judged_wrongly(policy: Policy) {
    let Some(folder) = corpus_folder() else { return };
    let cases = Case::all(&folder);
    let outcomes = import_all(&cases, policy).await;
    let judged = cases.iter().zip(&outcomes);
    let faults: Vec<String> = judged.flat_map(|(case, outcome)| judge::faults(case, policy, outcome)).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[tokio::test]
async fn what_is_taken_from_footers_is_never_false() {
    no_file_is_judged_wrongly(Policy::Footer).await;
}

#[tokio::test]
async fn what_is_read_from_data_is_the_truth_exactly() {
    no_file_is_judged_wrongly(Policy::Scan).await;
}

#[tokio::test]
async fn an_audit_that_reads_data_finds_what_is_false_and_mends_it() {
    no_file_is_judged_wrongly(Policy::Audit).await;
}

#[tokio::test]
async fn a_refused_file_leaves_a_table_of_other_files_as_it_was() {
    let Some(folder) = corpus_folder() else { return };
    let cases = Case::all(&folder);
    let is_sound = |case: &&Case| case.expected(Policy::Scan) == Expected::Registered && case.why_no_table().is_none();
    // Bad data may lie in columns that this table does not have, so the footers must be bad.
    let refused: Vec<&Case> = cases.iter().filter(|case| case.expected(Policy::Footer) == Expected::Refused).collect();
    let (Some(sound), false) = (cases.iter().find(is_sound), refused.is_empty()) else {
        println!("SKIPPED: the corpus has no sound file beside one to be refused");
        return;
    };
    let prunus = Prunus::start();
    for policy in [Policy::Footer, Policy::Scan] {
        let table = format!("refusing.{}", policy.name());
        import::create(&prunus, &table, sound, policy).await.unwrap();
        let first = prunus.run(&["import", &table, sound.path()]).await;
        assert_eq!((first.exit, &first.answer["imported"]), (0, &1.into()), "{}", first.stderr);
        let before = prunus.table(&table).await;
        let paths = refused.iter().map(|case| case.path());
        let arguments: Vec<&str> = ["import", &table].into_iter().chain(paths).collect();
        let done = prunus.run(&arguments).await;
        assert_eq!(done.answer["imported"], 0, "{}", done.stderr);
        assert_eq!(done.answer["refused"].as_array().unwrap().len(), refused.len());
        assert_eq!(prunus.table(&table).await, before);
    }
}

/// A corpus other than the one that the document is of has another table, which is printed.
#[tokio::test]
async fn the_table_of_writers_in_the_document_is_true() {
    let Some(folder) = corpus_folder() else { return };
    let cases = Case::all(&folder);
    let outcomes = import_all(&cases, Policy::Footer).await;
    let table = writers::table(cases.iter().zip(&outcomes));
    let documented = include_str!("../../../docs/statistics.md");
    let fingerprint = writers::fingerprint(&cases);
    if documented.contains(&fingerprint) {
        assert!(documented.contains(&table), "docs/statistics.md must have this table:\n{table}");
    } else {
        println!("SKIPPED: docs/statistics.md is of another corpus; the table of {fingerprint} is\n{table}");
    }
}
