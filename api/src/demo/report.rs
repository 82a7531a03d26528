//! What the demo prints.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cli::{Side, bytes, count, micros, text_table};

use super::filters::FILTERS;
use super::lineitem::Written;
use super::proof::FileTruth;

const LEGEND: &str =
    "pruned, kept: files; wholly: files kept of which every row matches; rows: rows that match, in all files";

/// What is shown of one filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Its place in [`FILTERS`].
    pub(super) number: usize,
    pub(super) pruned: u64,
    pub(super) kept: usize,
    pub(super) wholly: usize,
    pub(super) matching_rows: usize,
    pub(super) micros: u64,
}

pub(super) fn opening() -> String {
    "Prunus demo: which Parquet files can hold a row that a filter matches?\n\n".to_owned()
}

pub(super) fn written(written: &Written, took: Duration) -> String {
    step(
        &format!(
            "wrote TPC-H lineitem, {} rows sorted by ship date, into {} Parquet files ({})",
            count(written.rows as u64),
            written.files.len(),
            bytes(written.bytes)
        ),
        took,
    )
}

pub(super) fn registered(files: usize, took: Duration) -> String {
    step(&format!("started a server and registered the {files} files over HTTP, from their footers"), took)
}

pub(super) fn planned(took: Duration) -> String {
    step(&format!("planned {} filters over HTTP", FILTERS.len()), took)
}

pub(super) fn read(truth: &BTreeMap<String, FileTruth>, took: Duration) -> String {
    let rows = truth.values().map(|file| file.rows as u64).sum();
    step(&format!("read all {} rows and evaluated the filters on each, for the proof", count(rows)), took)
}

fn step(what: &str, took: Duration) -> String {
    format!("  {what}: {}\n", micros(u64::try_from(took.as_micros()).unwrap_or(u64::MAX)))
}

pub(super) fn table(lines: &[Line]) -> String {
    let mut table = text_table([
        ("filter", Side::Left),
        ("pruned", Side::Right),
        ("kept", Side::Right),
        ("wholly", Side::Right),
        ("rows", Side::Right),
        ("planned in", Side::Right),
    ]);
    for line in lines {
        let (title, sql) = FILTERS.get(line.number).map_or(("", ""), |filter| (filter.title, filter.sql));
        table.add_row([
            title.to_owned(),
            count(line.pruned),
            count(line.kept as u64),
            count(line.wholly as u64),
            count(line.matching_rows as u64),
            micros(line.micros),
        ]);
        table.add_row([format!("  {sql}")]);
    }
    format!("{}\n\n{LEGEND}\n", table.trim_fmt())
}

pub(super) fn closing() -> String {
    "
Proven: for every filter the files kept hold exactly as many matching rows as all files do, and in the files called
wholly matching every row matches. The catalog has read footers alone; the proof has read every row.

Next, with your own files:
  prunus serve --data-dir ./catalog
  prunus import NAMESPACE.TABLE FOLDER --create
  prunus plan NAMESPACE.TABLE --where \"CONDITION\"
"
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_has_its_line() {
        let line = |number| Line { number, pruned: 50, kept: 10, wholly: 8, matching_rows: 91_012, micros: 612 };
        insta::assert_snapshot!(table(&[line(0), line(1), line(2), line(3), line(4)]), @r#"
        filter                                                pruned   kept   wholly     rows   planned in
        ───────────────────────────────────────────────────────────────────────────────────────────────────
        a date range                                              50     10        8   91,012      0.61 ms
          l_shipdate BETWEEN '1994-01-01' AND '1994-12-31'
        a price range: every file holds such prices               50     10        8   91,012      0.61 ms
          l_extendedprice BETWEEN 50000 AND 60000
        a conjunction                                             50     10        8   91,012      0.61 ms
          l_shipdate >= '1998-01-01' AND l_quantity < 10
        an IN list, on a column the files are not sorted by       50     10        8   91,012      0.61 ms
          l_returnflag IN ('A', 'R')
        IS NULL, on a column without nulls                        50     10        8   91,012      0.61 ms
          l_comment IS NULL

        pruned, kept: files; wholly: files kept of which every row matches; rows: rows that match, in all files
        "#);
    }
}
