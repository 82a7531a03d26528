//! What a plan did, for people.

use std::time::Duration;

use prunus_manifest::Totals;
use prunus_pruner::{Obstacles, PruningProgram};

/// Counts of files are of live files of the snapshot, rows are those of files whose row count is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanMetrics {
    /// Manifests that may hold a live file of the snapshot; the tail is none.
    pub manifests_considered: u64,
    /// Of these, the ones whose zones proved that no file of theirs matches.
    pub manifests_pruned: u64,
    /// Parts of the table that were read from the store for it: the list of manifests, the zones of a column over these, blocks
    /// of entries and of columns, the tail.
    pub parts_read: u64,
    /// Parts that earlier plans had read already.
    pub parts_cached: u64,
    /// Live files.
    pub files_considered: u64,
    /// Files that were proven to hold no matching row.
    pub files_pruned: u64,
    /// Of these, the ones that would have been kept if nothing had been taken on the word of their writers alone. Of a manifest
    /// that was pruned as a whole so many files count as have such statistics of the filter's columns, which may be too many.
    pub files_pruned_as_declared: u64,
    /// The others.
    pub files_kept: u64,
    /// Of these, the ones all of whose rows match.
    pub files_all: u64,
    /// Rows of the files kept.
    pub rows_kept: u64,
    /// Rows of the files pruned.
    pub rows_pruned: u64,
    /// Bytes of the files kept.
    pub bytes_kept: u64,
    /// Bytes of the files pruned.
    pub bytes_pruned: u64,
    /// Files whose rows are not counted above, because their row count is unknown.
    pub files_of_unknown_rows: u64,
    /// What each conjunct did, in the order of the filter.
    pub conjuncts: Vec<ConjunctMetrics>,
    /// How long each part took.
    pub timings: PlanTimings,
}

/// What one conjunct of the filter did.
#[derive(Clone, Debug, PartialEq)]
pub struct ConjunctMetrics {
    /// Its text.
    pub expression: String,
    /// How many files it was the first to prune.
    pub files_pruned: u64,
    /// Whether pruning has a rule for the whole of it.
    pub prunable: bool,
    /// What stood in its way in the files that were kept.
    pub obstacles: Obstacles,
}

/// How long the parts of a plan took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlanTimings {
    /// Resolving the snapshot, binding and compiling the filter.
    pub bind: Duration,
    /// Reading zones and pruning manifests by them.
    pub manifests: Duration,
    /// Reading column blocks and the tail, and pruning files by them.
    pub files: Duration,
    /// Reading the entries of the page's files.
    pub entries: Duration,
    /// All of it.
    pub total: Duration,
}

/// Adds a file.
pub(crate) fn add_file(sum: &mut Totals, row_count: Option<u64>, size_bytes: u64) {
    sum.files += 1;
    sum.rows = sum.rows.saturating_add(row_count.unwrap_or(0));
    sum.bytes = sum.bytes.saturating_add(size_bytes);
    sum.files_of_unknown_rows += u64::from(row_count.is_none());
}

impl PlanMetrics {
    pub(super) fn new(program: &PruningProgram) -> Self {
        let conjuncts = program
            .conjuncts()
            .iter()
            .map(|conjunct| ConjunctMetrics {
                expression: conjunct.expression.clone(),
                files_pruned: 0,
                prunable: conjunct.unsupported.is_none(),
                obstacles: Obstacles { unsupported: conjunct.unsupported.clone(), ..Obstacles::default() },
            })
            .collect();
        Self { conjuncts, ..Self::default() }
    }

    /// All files that were looked at, kept or not.
    pub(super) fn totals(&self) -> Totals {
        Totals {
            files: self.files_considered,
            rows: self.rows_kept.saturating_add(self.rows_pruned),
            files_of_unknown_rows: self.files_of_unknown_rows,
            bytes: self.bytes_kept.saturating_add(self.bytes_pruned),
        }
    }

    pub(super) fn count_pruned(&mut self, sum: Totals) {
        self.files_considered += sum.files;
        self.files_pruned += sum.files;
        self.rows_pruned = self.rows_pruned.saturating_add(sum.rows);
        self.bytes_pruned = self.bytes_pruned.saturating_add(sum.bytes);
        self.files_of_unknown_rows += sum.files_of_unknown_rows;
    }

    pub(super) fn count_kept(&mut self, sum: Totals) {
        self.files_considered += sum.files;
        self.files_kept += sum.files;
        self.rows_kept = self.rows_kept.saturating_add(sum.rows);
        self.bytes_kept = self.bytes_kept.saturating_add(sum.bytes);
        self.files_of_unknown_rows += sum.files_of_unknown_rows;
    }
}
