//! What rows add up to, for each manifest and table.

use std::collections::BTreeMap;

use super::AllRead;
use crate::entry_block::EntryIdentity;
use crate::{ManifestId, SnapshotId, TableId, Totals};

/// What the rows of all data files add up to.
pub(super) struct Rows {
    pub(super) files: u64,
    pub(super) manifests: BTreeMap<ManifestId, ManifestRows>,
    pub(super) tables: BTreeMap<TableId, TableRows>,
    /// Sums are compared only where every row was read: else one damaged row would be told of as many faults.
    pub(super) all_read: AllRead,
}

/// What the rows of one manifest add up to, in whatever order they come.
#[derive(Clone, Copy, Default)]
pub(super) struct ManifestRows {
    pub(super) files: u64,
    /// The sum of [`EntryIdentity::digest`] over them.
    pub(super) digest: u64,
    pub(super) removed: Sums,
}

/// What the rows of one table add up to.
#[derive(Default)]
pub(super) struct TableRows {
    pub(super) tail_files: u64,
    /// By how much each snapshot changes what is live.
    pub(super) changes: BTreeMap<SnapshotId, Sums>,
}

/// Sums so wide that nothing that is stored makes them overflow.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    files: i128,
    rows: i128,
    files_of_unknown_rows: i128,
    bytes: i128,
}

impl Sums {
    pub(super) fn add(&mut self, file: EntryIdentity) {
        *self = self.plus(Self::of(file));
    }

    pub(super) fn subtract(&mut self, file: EntryIdentity) {
        let Self { files, rows, files_of_unknown_rows, bytes } = Self::of(file);
        let negative =
            Self { files: -files, rows: -rows, files_of_unknown_rows: -files_of_unknown_rows, bytes: -bytes };
        *self = self.plus(negative);
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            files: self.files + other.files,
            rows: self.rows + other.rows,
            files_of_unknown_rows: self.files_of_unknown_rows + other.files_of_unknown_rows,
            bytes: self.bytes + other.bytes,
        }
    }

    /// As they would be stored; what can be no sum becomes none.
    pub(super) fn totals(self) -> Totals {
        let sum = |sum: i128| u64::try_from(sum).unwrap_or(0);
        Totals {
            files: sum(self.files),
            rows: sum(self.rows),
            files_of_unknown_rows: sum(self.files_of_unknown_rows),
            bytes: sum(self.bytes),
        }
    }

    fn of(file: EntryIdentity) -> Self {
        Self {
            files: 1,
            rows: file.row_count.unwrap_or(0).into(),
            files_of_unknown_rows: file.row_count.is_none().into(),
            bytes: file.size_bytes.into(),
        }
    }
}
