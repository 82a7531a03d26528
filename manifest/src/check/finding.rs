//! What a check says: where something is wrong, what, and what mends it.

use std::error::Error as _;
use std::fmt;

use prunus_statistics::FieldId;

use crate::error::{BlockName, FormatError};
use crate::{Error, FileId, JournalId, ManifestId, SchemaId, SnapshotId, TableId, Totals};

/// Something that is wrong.
#[derive(Debug)]
pub struct Finding {
    /// Where.
    pub place: Place,
    /// What.
    pub fault: Fault,
}

/// Where something is wrong: each part that is known of it. Nothing known is the database as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The table.
    pub table_id: Option<TableId>,
    /// The schema of the table.
    pub schema_id: Option<SchemaId>,
    /// The snapshot of the table.
    pub snapshot_id: Option<SnapshotId>,
    /// The manifest.
    pub manifest_id: Option<ManifestId>,
    /// The column.
    pub field_id: Option<FieldId>,
    /// The data file.
    pub file_id: Option<FileId>,
}

impl Place {
    pub(super) fn table(table_id: TableId) -> Self {
        Self { table_id: Some(table_id), ..Self::default() }
    }

    pub(super) fn schema(self, schema_id: SchemaId) -> Self {
        Self { schema_id: Some(schema_id), ..self }
    }

    pub(super) fn snapshot(self, snapshot_id: SnapshotId) -> Self {
        Self { snapshot_id: Some(snapshot_id), ..self }
    }

    pub(super) fn manifest(self, manifest_id: ManifestId) -> Self {
        Self { manifest_id: Some(manifest_id), ..self }
    }

    pub(super) fn column(self, field_id: FieldId) -> Self {
        Self { field_id: Some(field_id), ..self }
    }

    pub(super) fn file(self, file_id: FileId) -> Self {
        Self { file_id: Some(file_id), ..self }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.table_id.map(|id| format!("table {id}")),
            self.schema_id.map(|id| format!("schema {id}")),
            self.snapshot_id.map(|id| format!("snapshot {id}")),
            self.manifest_id.map(|id| format!("manifest {id}")),
            self.field_id.map(|id| format!("column {id}")),
            self.file_id.map(|id| format!("file {id}")),
        ];
        let known: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(if known.is_empty() { "the database" } else { "" })?;
        f.write_str(&known.join(", "))
    }
}

/// What may be made whole again, and out of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// It can be made again from what is in the store: an index, a sum, a zone.
    Rebuild,
    /// Statistics are lost; they can be collected from the data files again.
    Collect,
    /// What is lost stands nowhere else. Only a backup has it.
    Restore,
}

impl fmt::Display for Mend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rebuild => "rebuild",
            Self::Collect => "collect",
            Self::Restore => "restore",
        })
    }
}

/// What was summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumOf {
    /// The entries of a manifest.
    Entries,
    /// Those of them that are removed.
    Removed,
    /// What is live in a snapshot.
    Snapshot,
}

impl fmt::Display for SumOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entries => "the sums over the entries",
            Self::Removed => "the sums over the removed entries",
            Self::Snapshot => "the sums over the live files",
        })
    }
}

/// In what two accounts of one thing differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<T> {
    /// What is stored.
    pub stored: T,
    /// What it should be by all that is there.
    pub found: T,
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// SQLite's own check says so.
    #[error("SQLite: {0}")]
    Integrity(String),
    /// A row refers to another that is not there.
    #[error("a row of `{child}` refers to one of `{parent}` that is not there")]
    Reference {
        /// The SQL table of the row.
        child: String,
        /// The SQL table that it refers to.
        parent: String,
    },
    /// What is stored does not read, or is missing.
    #[error("{0}")]
    Unreadable(#[source] Error),

    /// A schema that a table or snapshot names is not there.
    #[error("its schema {0} is not there")]
    NoSchema(SchemaId),
    /// A snapshot's parent is not older than itself, or it is newer than the table's current one.
    #[error("the snapshot is not in the table's order: its parent is {parent}, the current one {current}")]
    SnapshotOrder {
        /// Its parent.
        parent: SnapshotId,
        /// The table's current snapshot.
        current: SnapshotId,
    },
    /// A snapshot that is older than its predecessor.
    #[error("the snapshot was committed before the one before it")]
    SnapshotTime,
    /// Sums are wrong.
    #[error("{of} are {}, but should be {}", sums(&difference.stored), sums(&difference.found))]
    Sums {
        /// What was summed up.
        of: SumOf,
        /// How.
        difference: Difference<Totals>,
    },
    /// The range of snapshots that a manifest's files were added in is wrong.
    #[error(
        "the entries' first snapshots are said to be {} to {}, and are {} to {}",
        .0.stored.0, .0.stored.1, .0.found.0, .0.found.1
    )]
    AddedSnapshots(Difference<(SnapshotId, SnapshotId)>),
    /// The count of the tail is wrong.
    #[error("the tail has {} files, and is said to have {}", .0.found, .0.stored)]
    TailFiles(Difference<u64>),

    /// The row of a file does not hold what was written.
    #[error("the file's leaves, set {0}, are not there")]
    NoLeafSet(i64),
    /// What finds a file by its path does not fit the path.
    #[error("the hash of the file's path is wrong")]
    PathHash,
    /// A file that is removed before it is added, or changed by a snapshot that is not there yet.
    #[error("the file is live from snapshot {added}{}, and the current one is {current}", until(*removed))]
    FileSnapshots {
        /// The snapshot that it is live from.
        added: SnapshotId,
        /// The first that it is not live in.
        removed: Option<SnapshotId>,
        /// The table's current snapshot.
        current: SnapshotId,
    },
    /// Two files of one path are live in one snapshot.
    #[error("file {other} has the same path and is live at the same time")]
    PathTwice {
        /// The other file.
        other: FileId,
    },
    /// A file of the tail has no statistics.
    #[error("the file is in the tail and has no statistics")]
    NoStatistics,
    /// A file in a manifest has statistics as if it were in the tail.
    #[error("the file is in a manifest and still has the statistics of a file in the tail")]
    StatisticsTwice,

    /// An entry whose file has no row, though nobody has forgotten it.
    #[error("the manifest has an entry of a file that has no row")]
    EntryWithoutRow,
    /// An entry whose row is in another manifest, in the tail, or of another table.
    #[error("the manifest has an entry of a file that is elsewhere")]
    EntryElsewhere,
    /// An entry and its row say different things.
    #[error("the entry and the row of the file differ in size, rows or first snapshot")]
    EntryDiffers,
    /// One file stands twice in a manifest.
    #[error("the manifest has more than one entry of the file")]
    EntryTwice,
    /// Rows that are said to be in a manifest that has no entries of them.
    #[error("{0} files are said to be in the manifest, which has no entries of them")]
    FilesWithoutEntry(u64),
    /// A forgotten entry that the manifest does not have.
    #[error("the file is noted as forgotten, but the manifest has no entry of it")]
    ForgottenWithoutEntry,
    /// A forgotten entry whose row is still there.
    #[error("the file is noted as forgotten, but its row is there")]
    ForgottenWithRow,
    /// A column of a manifest has a block but no zone.
    #[error("the zone is missing")]
    NoZone,
    /// A zone that is written for another type than its block.
    #[error("the zone is of another type than the block")]
    ZoneType,
    /// A count of the entries that hold something on their writer's word is wrong.
    #[error("{} entries hold something that is their writer's word, and {} are said to", .0.found, .0.stored)]
    DeclaredFiles(Difference<u64>),
    /// An entry of the journal that tells of what cannot have been.
    #[error("entry {entry_id} of the journal {is}")]
    JournalEntry {
        /// Which entry.
        entry_id: JournalId,
        /// What is wrong with it.
        is: &'static str,
    },
    /// A token that cannot be one.
    #[error("token {token_id} {is}")]
    Token {
        /// Which token.
        token_id: i64,
        /// What is wrong with it, or with what it may do.
        is: &'static str,
    },
    /// A zone that claims what its files do not bear out.
    #[error("the zone does not contain the {0} of its files")]
    ZoneTooNarrow(&'static str),
}

impl Fault {
    /// What mends it.
    pub fn mend(&self) -> Mend {
        match self {
            Self::Integrity(message) => mend_of_integrity(message),
            Self::Unreadable(error) => mend_of_error(error),
            Self::Sums { .. }
            | Self::AddedSnapshots(_)
            | Self::TailFiles(_)
            | Self::PathHash
            | Self::StatisticsTwice
            | Self::EntryElsewhere
            | Self::EntryDiffers
            | Self::ForgottenWithoutEntry
            | Self::ForgottenWithRow
            | Self::NoZone
            | Self::ZoneType
            | Self::DeclaredFiles(_)
            | Self::ZoneTooNarrow(_) => Mend::Rebuild,
            Self::NoLeafSet(_) | Self::NoStatistics | Self::EntryTwice | Self::FilesWithoutEntry(_) => Mend::Collect,
            Self::Reference { .. }
            | Self::NoSchema(_)
            | Self::SnapshotOrder { .. }
            | Self::SnapshotTime
            | Self::FileSnapshots { .. }
            | Self::PathTwice { .. }
            | Self::JournalEntry { .. }
            | Self::Token { .. }
            | Self::EntryWithoutRow => Mend::Restore,
        }
    }

    /// The fault with its causes, as one sentence.
    pub fn message(&self) -> String {
        let Self::Unreadable(error) = self else { return self.to_string() };
        // Without the place, which stands beside it.
        let mut text = match error {
            Error::DamagedBlock { block, .. } => format!("{block} is damaged"),
            Error::MissingBlock { block, .. } => format!("{block} is missing"),
            error => error.to_string(),
        };
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

fn sums(totals: &Totals) -> String {
    let Totals { files, rows, files_of_unknown_rows, bytes } = totals;
    format!("{files} files ({files_of_unknown_rows} of unknown rows), {rows} rows, {bytes} bytes")
}

fn until(removed: Option<SnapshotId>) -> String {
    removed.map(|removed| format!(" to {removed}")).unwrap_or_default()
}

/// SQLite names what is wrong in words only. Indexes are made of rows, and pages that nothing uses hold nothing.
fn mend_of_integrity(message: &str) -> Mend {
    let rebuildable = ["missing from index", "wrong # of entries in index", "non-unique entry in index", "never used"];
    if rebuildable.iter().any(|part| message.contains(part)) { Mend::Rebuild } else { Mend::Restore }
}

fn mend_of_error(error: &Error) -> Mend {
    match error {
        Error::DamagedBlock { block: BlockName::Zone(_), .. } => Mend::Rebuild,
        // The block is what was written; it is the manifest's count of its entries that is not.
        Error::DamagedBlock { source: FormatError::WrongLength { .. }, .. } => Mend::Rebuild,
        Error::DamagedBlock { .. } | Error::MissingBlock { .. } => Mend::Collect,
        Error::DamagedRow { what, .. } if COLLECTABLE.contains(what) => Mend::Collect,
        _ => Mend::Restore,
    }
}

/// What rows hold that the data files hold, too.
const COLLECTABLE: [&str; 2] = [crate::tail::STATISTICS, crate::leaf_set::LEAVES];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_by_what_is_known_of_it() {
        assert_eq!(Place::default().to_string(), "the database");
        let place = Place::table(TableId(1)).manifest(ManifestId(2)).column(FieldId(3));
        assert_eq!(place.to_string(), "table 1, manifest 2, column #3");
    }

    #[test]
    fn an_index_is_rebuilt_and_a_page_is_not() {
        for (message, expected) in [
            ("row 7 missing from index data_file_by_path", Mend::Rebuild),
            ("wrong # of entries in index data_file_by_table", Mend::Rebuild),
            ("Page 7: never used", Mend::Rebuild),
            ("Tree 7 page 9: btreeInitPage() returns error code 11", Mend::Restore),
        ] {
            assert_eq!(Fault::Integrity(message.to_owned()).mend(), expected, "{message}");
        }
    }
}
