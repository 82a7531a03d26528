//! One file, looked at again: what of it is not as it was registered, and what is known of it now.

use std::collections::BTreeMap;

use prunus_manifest::{AuditCounts, AuditFinding, AuditMode, FindingKind, InspectedFile};
use prunus_statistics::{Bound, Count, FieldId, FileColumn, Provenance};

use super::upgrade::{Compared, compare};
use crate::collect::{self, ColumnFault, Footer, ScanFor, ScannedLeaves};
use crate::declared::{Column, is_valueless};
use crate::location::Location;
use crate::properties::KeptStatistics;
use crate::registration::{Matched, Target};
use crate::schema::LeafColumn;
use crate::storage::{Storage, StorageError, StoredObject};

/// What came of looking at a file again.
#[derive(Debug, Default)]
pub(super) struct Examined {
    pub(super) findings: Vec<AuditFinding>,
    /// The columns of which something else is known now than is stored.
    pub(super) repairs: BTreeMap<FieldId, FileColumn>,
    /// How many bytes of it were read.
    pub(super) bytes_read: u64,
}

/// What is read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Its footer.
    Footer,
    /// And all its columns of which statistics are kept.
    Data,
    /// And the columns whose NaNs nobody has counted, for that; nothing of a file that has none.
    NanCounts,
    /// And the columns whose statistics are not exact; nothing of a file that has none.
    Loose,
}

/// Looks at a file again. What is wrong with it is a finding.
///
/// # Errors
/// The store did not answer, for now.
pub(super) async fn examine(
    storage: &Storage,
    target: &Target,
    file: &InspectedFile,
    reading: Reading,
) -> Result<Examined, StorageError> {
    let wanted = reading.of_columns(target, file);
    let mut examination = Examination { target, file, wanted, examined: Examined::default() };
    if examination.wanted.is_empty() && matches!(reading, Reading::NanCounts | Reading::Loose) {
        return Ok(examination.examined);
    }
    match examination.run(storage).await {
        Err(error) if error.is_retryable() => Err(error),
        Err(StorageError::NotFound) => Ok(examination.unreadable(FindingKind::Missing, &StorageError::NotFound)),
        Err(error) => Ok(examination.unreadable(FindingKind::Unreadable, &error)),
        Ok(()) => Ok(examination.examined),
    }
}

impl Reading {
    /// What an audit of this mode reads.
    pub(super) const fn of_mode(mode: AuditMode) -> Self {
        match mode {
            AuditMode::Footer => Self::Footer,
            AuditMode::Scan => Self::Data,
        }
    }

    /// Which columns of a file it has read, and for what.
    fn of_columns(self, target: &Target, file: &InspectedFile) -> BTreeMap<FieldId, ScanFor> {
        let rows = file.row.row_count;
        let wish = |leaf: &LeafColumn| {
            let stored = file.statistics.columns.get(&leaf.id);
            let scan_for = match self {
                Self::Footer => return None,
                _ if target.kept(leaf.id) == KeptStatistics::None => return None,
                Self::Data => ScanFor::Everything,
                Self::NanCounts if lacks_nan_count(stored, leaf) => ScanFor::NanCount,
                Self::Loose if is_loose(stored, leaf, rows) => ScanFor::Everything,
                Self::NanCounts | Self::Loose => return None,
            };
            Some((leaf.id, scan_for))
        };
        let of_item = |item: &LeafColumn| {
            let is_wanted = match self {
                _ if target.kept(item.id) == KeptStatistics::None => false,
                Self::Data => true,
                Self::Loose => !has_scanned_bounds(file.statistics.columns.get(&item.id)),
                Self::Footer | Self::NanCounts => false,
            };
            is_wanted.then_some((item.id, ScanFor::Everything))
        };
        target.columns.iter().filter_map(wish).chain(target.items.iter().filter_map(of_item)).collect()
    }
}

/// Whether the bounds of what lists and maps hold are as good as they can be.
fn has_scanned_bounds(stored: Option<&FileColumn>) -> bool {
    match stored {
        None => false,
        Some(FileColumn::Absent) => true,
        Some(FileColumn::Present(statistics)) => {
            let is_scanned =
                |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| bound.provenance == Provenance::Scanned);
            is_scanned(&statistics.min) && is_scanned(&statistics.max)
        }
    }
}

fn lacks_nan_count(stored: Option<&FileColumn>, leaf: &LeafColumn) -> bool {
    let is_unknown = match stored {
        None => true,
        Some(FileColumn::Absent) => false,
        Some(FileColumn::Present(statistics)) => statistics.nan_count.is_none(),
    };
    leaf.column_type.is_float() && is_unknown
}

/// Whether something of a column could be known better by reading it.
fn is_loose(stored: Option<&FileColumn>, leaf: &LeafColumn, row_count: Option<u64>) -> bool {
    let statistics = match stored {
        None => return true,
        Some(FileColumn::Absent) => return false,
        Some(FileColumn::Present(statistics)) if statistics.is_constant() => return false,
        Some(FileColumn::Present(statistics)) => statistics,
    };
    let column = Column { column_type: leaf.column_type, row_count };
    let is_exact = |bound: &Option<Bound>| bound.as_ref().is_some_and(|bound| bound.provenance == Provenance::Scanned);
    let is_counted = |count: Option<Count>| count.is_some_and(|count| count.provenance != Provenance::Declared);
    let is_bounded = is_valueless(statistics, column) || (is_exact(&statistics.min) && is_exact(&statistics.max));
    let has_nan_count = !leaf.column_type.is_float() || is_counted(statistics.nan_count);
    !(is_bounded && is_counted(statistics.null_count) && has_nan_count)
}

struct Examination<'a> {
    target: &'a Target,
    file: &'a InspectedFile,
    /// The columns that are to be read.
    wanted: BTreeMap<FieldId, ScanFor>,
    examined: Examined,
}

impl Examination<'_> {
    async fn run(&mut self, storage: &Storage) -> Result<(), StorageError> {
        let location = Location::parse(&self.file.row.path, None)?;
        let bytes = storage.read_footer(&location).await?;
        if self.is_changed(&bytes.object) {
            return Ok(());
        }
        let footer = Footer::parse(&bytes.metadata)?;
        self.check_rows(footer.row_count());
        let scanned = self.scan(storage, &bytes.object, &footer).await?;
        match Matched::find(&footer, &scanned, self.target) {
            Ok(collected) => self.check_columns(&collected.columns, footer.row_count()),
            Err(faults) => self.other_schema(&faults),
        }
        Ok(())
    }

    /// Whether the object is not the one that was registered. Where the catalog has never seen it, only its writer's word on
    /// its size can be wrong.
    fn is_changed(&mut self, object: &StoredObject) -> bool {
        let row = &self.file.row;
        let was_seen = row.etag.is_some() || row.last_modified_ms.is_some();
        let kind = if was_seen { FindingKind::Changed } else { FindingKind::Refuted };
        if row.size_bytes != object.size_bytes {
            let (claim, evidence) = (row.size_bytes.to_string(), format!("the file has {} bytes", object.size_bytes));
            self.find(kind, None, Some(("size_bytes", claim)), evidence);
            return was_seen;
        }
        match (&row.etag, &object.etag) {
            (Some(registered), Some(found)) if registered != found => {
                self.find(kind, None, Some(("etag", registered.clone())), found.clone());
                true
            }
            _ => false,
        }
    }

    fn check_rows(&mut self, row_count: u64) {
        if let Some(claim) = self.file.row.row_count.filter(|claim| *claim != row_count) {
            let evidence = format!("the file has {row_count} rows");
            self.find(FindingKind::Refuted, None, Some(("row_count", claim.to_string())), evidence);
        }
    }

    /// Reads what statistics are kept of. What cannot be read is a finding, and as the footer says.
    async fn scan(
        &mut self,
        storage: &Storage,
        object: &StoredObject,
        footer: &Footer<'_>,
    ) -> Result<ScannedLeaves, StorageError> {
        let mut scanned = ScannedLeaves::new();
        if self.wanted.is_empty() {
            return Ok(scanned);
        }
        // Where columns do not match, that is found afterwards.
        let Ok(matched) = Matched::find(footer, &scanned, self.target) else { return Ok(scanned) };
        for (field_id, scan_for) in self.wanted.clone() {
            let Some(index) = matched.leaf_of(field_id) else { continue };
            self.examined.bytes_read += footer.leaf_bytes(index);
            match collect::scan(storage, object, footer, &[index], scan_for).await {
                Ok(found) => scanned.extend(found),
                Err(collect::ScanError::Storage(error)) if error.is_retryable() => return Err(error),
                Err(error) => self.find(FindingKind::Unreadable, Some(field_id), None, error.with_cause()),
            }
        }
        Ok(scanned)
    }

    fn check_columns(&mut self, known: &BTreeMap<FieldId, FileColumn>, row_count: u64) {
        let mut now = BTreeMap::new();
        let of_rows = self.target.columns.iter().map(|leaf| (leaf, Some(row_count)));
        for (leaf, row_count) in of_rows.chain(self.target.items.iter().map(|item| (item, None))) {
            let column = Column { column_type: leaf.column_type, row_count };
            let stored = self.file.statistics.columns.get(&leaf.id);
            let Compared { refuted, column } = compare(stored, known.get(&leaf.id), column);
            for refutation in refuted {
                let claim = Some((refutation.statistic, refutation.claim));
                self.find(FindingKind::Refuted, Some(leaf.id), claim, refutation.evidence);
            }
            if let Some(column) = column {
                now.insert(leaf.id, column);
            }
        }
        let now = self.target.kept_of(now);
        self.examined.repairs =
            now.into_iter().filter(|(id, column)| self.file.statistics.columns.get(id) != Some(column)).collect();
    }

    fn other_schema(&mut self, faults: &[ColumnFault]) {
        for fault in faults {
            self.find(FindingKind::Schema, Some(fault.id()), None, fault.problem().to_string());
        }
    }

    fn unreadable(mut self, kind: FindingKind, error: &StorageError) -> Examined {
        self.find(kind, None, None, error.to_string());
        self.examined
    }

    fn find(
        &mut self,
        kind: FindingKind,
        field_id: Option<FieldId>,
        claim: Option<(&'static str, String)>,
        evidence: String,
    ) {
        let (statistic, claim) = claim.map(|(statistic, claim)| (statistic.to_owned(), claim)).unzip();
        let (file_id, path) = (self.file.row.file_id, self.file.row.path.clone());
        let evidence = Some(evidence);
        self.examined.findings.push(AuditFinding { file_id, path, field_id, kind, statistic, claim, evidence });
    }
}

impl Examined {
    /// What an audit counts of it.
    pub(super) fn counts(&self) -> AuditCounts {
        let has = |kind| u64::from(self.findings.iter().any(|finding| finding.kind == kind));
        let refuted = self.findings.iter().filter(|finding| finding.kind == FindingKind::Refuted).count();
        AuditCounts {
            files_checked: 1,
            files_missing: has(FindingKind::Missing),
            files_changed: has(FindingKind::Changed),
            files_unreadable: has(FindingKind::Unreadable),
            statistics_refuted: refuted as u64,
            statistics_repaired: 0,
        }
    }
}
