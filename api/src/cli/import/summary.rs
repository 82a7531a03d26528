//! What an import did.

use std::fmt::Write as _;

use prunus_catalog::TableIdent;
use serde::Serialize;

use crate::cli::error::fault_of_file;
use crate::cli::{Exit, bytes, count, counted, legible};
use crate::wire::FaultJson;

use super::batch::Outcome;
use super::standing::{Changed, Content};

/// What to do about a file that was overwritten: a path that a snapshot names stands for one content for ever.
const CHANGED_ADVICE: &str =
    "a registered file must not be overwritten: write the new content to a new path, register that and remove this one";

/// A file that the server refused.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Refused {
    pub(super) path: String,
    pub(super) faults: Vec<FaultJson>,
}

/// What an import did, as `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Summary {
    pub(super) table: String,
    /// The newest snapshot that the import made or found.
    pub(super) snapshot_id: i64,
    /// Files registered.
    pub(super) imported: usize,
    /// Files that were registered already.
    pub(super) skipped: usize,
    /// Files below folders and prefixes that are none to import, by their names.
    pub(super) passed_over: usize,
    /// Rows of the files registered.
    pub(super) rows: u64,
    /// Bytes of the files registered.
    pub(super) bytes: u64,
    /// Files that are registered, but have other content now.
    pub(super) changed: Vec<Changed>,
    /// Files that the server refused.
    pub(super) refused: Vec<Refused>,
}

impl Summary {
    pub(super) fn new(
        table: &TableIdent,
        snapshot_id: i64,
        passed_over: usize,
        skipped: usize,
        changed: Vec<Changed>,
    ) -> Self {
        let (table, refused) = (table.to_string(), Vec::new());
        Self { table, snapshot_id, imported: 0, skipped, passed_over, rows: 0, bytes: 0, changed, refused }
    }

    /// Notes what became of a batch, but for the rows that it added.
    pub(super) fn note(&mut self, outcome: Outcome) {
        if let Some(added) = outcome.added {
            // Batches may be answered in another order than they were committed in.
            self.snapshot_id = self.snapshot_id.max(added.committed.snapshot_id);
            self.imported += added.files;
            self.bytes += added.bytes;
        }
        self.refused.extend(outcome.refused);
        self.skipped += outcome.live_already;
    }

    pub(super) fn exit(&self) -> Exit {
        if self.changed.is_empty() && self.refused.is_empty() { Exit::Done } else { Exit::Incomplete }
    }

    /// For people: each file that needs a look, and a last line with the counts.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        for refused in &self.refused {
            let _ = writeln!(text, "refused: {}", legible(&refused.path));
            for fault in &refused.faults {
                let _ = writeln!(text, "    {}", fault_of_file(fault, "        "));
            }
        }
        for changed in &self.changed {
            let _ = writeln!(text, "changed since it was registered: {}", legible(&changed.path));
            let _ = writeln!(text, "    registered: {}", content(&changed.registered));
            let _ = writeln!(text, "    found: {}", content(&changed.found));
            let _ = writeln!(text, "    {CHANGED_ADVICE}");
        }
        if self.passed_over > 0 {
            let _ = writeln!(
                text,
                "passed over, being no data by name: {}",
                counted(self.passed_over as u64, "file", "files")
            );
        }
        let _ = writeln!(
            text,
            "{}: {} imported ({}, {}), {} skipped, {} changed, {} refused; snapshot {}",
            self.table,
            counted(self.imported as u64, "file", "files"),
            counted(self.rows, "row", "rows"),
            bytes(self.bytes),
            count(self.skipped as u64),
            count(self.changed.len() as u64),
            count(self.refused.len() as u64),
            self.snapshot_id,
        );
        text
    }
}

fn content(content: &Content) -> String {
    let size = content.size_bytes.map_or("size unknown".to_owned(), |size| format!("{} bytes", count(size)));
    content.etag.as_ref().map_or(size.clone(), |etag| format!("{size}, etag {etag}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let table = "a.b".parse().unwrap();
        let content = |size, etag: &str| Content { size_bytes: Some(size), etag: Some(etag.to_owned()) };
        let changed = Changed { path: "file:///c".to_owned(), registered: content(5, "x"), found: content(6, "y") };
        let fault = FaultJson {
            message: "the types differ".to_owned(),
            path: Some("file:///b".to_owned()),
            column: Some("x".to_owned()),
            claim: Some("int32".to_owned()),
            evidence: Some("string".to_owned()),
            at: None,
        };
        let refused = vec![Refused { path: "file:///b".to_owned(), faults: vec![fault] }];
        let new = Summary::new(&table, 3, 2, 1_000, vec![changed]);
        Summary { imported: 58, rows: 1_234_567, bytes: 4_096, refused, ..new }
    }

    #[test]
    fn what_needs_a_look_is_told_before_the_counts() {
        insta::assert_snapshot!(summary().render(), @r#"
        refused: file:///b
            column x: the types differ
                claimed: int32
                found: string
        changed since it was registered: file:///c
            registered: 5 bytes, etag x
            found: 6 bytes, etag y
            a registered file must not be overwritten: write the new content to a new path, register that and remove this one
        passed over, being no data by name: 2 files
        a.b: 58 files imported (1,234,567 rows, 4.0 KiB), 1,000 skipped, 1 changed, 1 refused; snapshot 3
        "#);
    }

    #[test]
    fn the_summary_is_json_too() {
        insta::assert_json_snapshot!(summary(), @r#"
        {
          "table": "a.b",
          "snapshot_id": 3,
          "imported": 58,
          "skipped": 1000,
          "passed_over": 2,
          "rows": 1234567,
          "bytes": 4096,
          "changed": [
            {
              "path": "file:///c",
              "registered": {
                "size_bytes": 5,
                "etag": "x"
              },
              "found": {
                "size_bytes": 6,
                "etag": "y"
              }
            }
          ],
          "refused": [
            {
              "path": "file:///b",
              "faults": [
                {
                  "message": "the types differ",
                  "path": "file:///b",
                  "column": "x",
                  "claim": "int32",
                  "evidence": "string"
                }
              ]
            }
          ]
        }
        "#);
    }

    #[test]
    fn the_exit_code_tells_of_refused_and_changed_files() {
        assert_eq!(summary().exit(), Exit::Incomplete);
        assert_eq!(Summary { changed: Vec::new(), ..summary() }.exit(), Exit::Incomplete);
        assert_eq!(Summary { refused: Vec::new(), ..summary() }.exit(), Exit::Incomplete);
        assert_eq!(Summary { changed: Vec::new(), refused: Vec::new(), ..summary() }.exit(), Exit::Done);
    }
}
