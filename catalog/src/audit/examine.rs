//! One file, looked at again: what of it is not as it was registered, and what is known of it now.

use std::collections::BTreeMap;
use std::sync::Arc;

use prunus_manifest::{AuditCounts, AuditFinding, FindingKind, InspectedFile};
use prunus_statistics::{ColumnStatistics, Count, FieldId, FileColumn};
use tokio::runtime::Handle;

use super::located::{Located, Sought, Unlocated, locate};
use super::reading::Reading;
use super::upgrade::{Compared, compare};
use crate::blocking;
use crate::collect::{self, Footer, ScanFor, ScannedLeaves};
use crate::declared::Column;
use crate::location::Location;
use crate::properties::KeptStatistics;
use crate::registration::Target;
use crate::schema::LeafColumn;
use crate::storage::{FooterBytes, Storage, StorageError, StoredObject};

/// What files are held against.
#[derive(Debug)]
pub(super) struct Audited {
    pub(super) target: Target,
    /// The columns of the table's first schema.
    pub(super) first: Vec<LeafColumn>,
}

/// What came of looking at a file again.
#[derive(Debug, Default)]
pub(super) struct Examined {
    pub(super) findings: Vec<AuditFinding>,
    /// The columns of which something else is known now than is stored.
    pub(super) repairs: BTreeMap<FieldId, FileColumn>,
    /// How many bytes of it were read.
    pub(super) bytes_read: u64,
}

/// Looks at a file again. What is wrong with it is a finding.
///
/// # Errors
/// The file was replaced meanwhile, or its store did not give it, and may not give others either.
pub(super) async fn examine(
    storage: Arc<Storage>,
    audited: Arc<Audited>,
    file: Arc<InspectedFile>,
    reading: Reading,
) -> Result<Examined, StorageError> {
    let wanted = reading.of_columns(&audited.target, &file);
    if wanted.is_empty() && matches!(reading, Reading::NanCounts | Reading::Loose) {
        return Ok(Examined::default());
    }
    let examination = Examination { audited, file: Arc::clone(&file), wanted, examined: Examined::default() };
    let read = match Location::parse_registered(&file.row.path, None) {
        Ok(location) => storage.read_footer(&location).await,
        Err(error) => Err(error.into()),
    };
    let mut footer = match read {
        Ok(footer) => footer,
        Err(error) => return examination.unreadable(error),
    };
    if !footer.is_long() {
        return examination.run(&storage, &footer).await;
    }
    storage.make_room(&mut footer).await;
    let runtime = Handle::current();
    let examined = blocking::attempt(move || runtime.block_on(examination.run(&storage, &footer))).await;
    examined.unwrap_or_else(|| Ok(Examined::of_unreadable(&file, "the reader of footers failed on it".to_owned())))
}

struct Examination {
    audited: Arc<Audited>,
    file: Arc<InspectedFile>,
    /// The columns that are to be read.
    wanted: BTreeMap<FieldId, ScanFor>,
    examined: Examined,
}

impl Examination {
    async fn run(mut self, storage: &Storage, bytes: &FooterBytes) -> Result<Examined, StorageError> {
        match self.look(storage, bytes).await {
            Ok(()) => Ok(self.examined),
            Err(error) => self.unreadable(error),
        }
    }

    async fn look(&mut self, storage: &Storage, bytes: &FooterBytes) -> Result<(), StorageError> {
        self.examined.bytes_read += bytes.metadata.len() as u64;
        if self.is_changed(&bytes.object) {
            return Ok(());
        }
        let footer = Footer::parse(&bytes.metadata)?;
        let (audited, file) = (Arc::clone(&self.audited), Arc::clone(&self.file));
        let Target { wanted, items, .. } = &audited.target;
        let sought = Sought { columns: wanted, items, first: &audited.first };
        match locate(&sought, &file.row, &footer) {
            Ok(located) => {
                let scanned = self.scan(storage, &bytes.object, &footer, &located).await?;
                let known = self.known(&footer, &scanned, &located);
                self.check_columns(&known, footer.row_count());
            }
            Err(Unlocated::OtherLeaves) => {
                let evidence = "its columns are not those that it was registered with".to_owned();
                self.find(FindingKind::Changed, None, None, evidence);
            }
            Err(Unlocated::Faults(faults)) => {
                for fault in faults {
                    self.find(FindingKind::Schema, Some(fault.id()), None, fault.problem().to_string());
                }
            }
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
                let (claim, evidence) = (registered.clone(), found.clone());
                self.find(kind, None, Some(("etag", claim)), evidence);
                true
            }
            _ => false,
        }
    }

    /// Whether the file has as many rows as is registered, if that is.
    fn check_rows(&mut self, row_count: u64) -> bool {
        let Some(claim) = self.file.row.row_count.filter(|claim| *claim != row_count) else { return true };
        let evidence = format!("the file has {row_count} rows");
        self.find(FindingKind::Refuted, None, Some(("row_count", claim.to_string())), evidence);
        false
    }

    /// Reads what statistics are kept of. What cannot be read is a finding, and as the footer says.
    async fn scan(
        &mut self,
        storage: &Storage,
        object: &StoredObject,
        footer: &Footer<'_>,
        located: &Located,
    ) -> Result<ScannedLeaves, StorageError> {
        let mut scanned = ScannedLeaves::new();
        for (field_id, index) in located.leaf_of_column.iter().chain(&located.leaf_of_item) {
            let Some(scan_for) = self.wanted.get(field_id).copied() else { continue };
            self.examined.bytes_read += footer.leaf_bytes(*index);
            match collect::scan(storage, object, footer, &[*index], scan_for).await {
                Ok(found) => scanned.extend(found),
                Err(collect::ScanError::Storage(error)) => return Err(error),
                Err(error) => self.find(FindingKind::Unreadable, Some(*field_id), None, error.with_cause()),
            }
        }
        Ok(scanned)
    }

    /// What the file says of the columns. One whose values do not convert is a finding.
    fn known(
        &mut self,
        footer: &Footer<'_>,
        scanned: &ScannedLeaves,
        located: &Located,
    ) -> BTreeMap<FieldId, FileColumn> {
        let audited = Arc::clone(&self.audited);
        let mut known = BTreeMap::new();
        for column in &audited.target.wanted {
            if located.absent.contains(&column.id) {
                known.insert(column.id, column.absent(Some(footer.row_count())));
            }
            let Some(leaf) = located.leaf_of_column.get(&column.id) else { continue };
            match collect::column_at(footer, *leaf, scanned.get(leaf), column) {
                Ok(statistics) => _ = known.insert(column.id, FileColumn::Present(statistics)),
                Err(fault) => {
                    self.find(FindingKind::Schema, Some(fault.id()), None, fault.problem().to_string());
                }
            }
        }
        for item in &audited.target.items {
            let Some(leaf) = located.leaf_of_item.get(&item.id) else { continue };
            let statistics = collect::item_at(footer, *leaf, scanned.get(leaf), item.column_type);
            known.extend(statistics.map(|statistics| (item.id, FileColumn::Present(statistics))));
        }
        known
    }

    fn check_columns(&mut self, known: &BTreeMap<FieldId, FileColumn>, row_count: u64) {
        let audited = Arc::clone(&self.audited);
        let has_registered_rows = self.check_rows(row_count);
        let mut now = BTreeMap::new();
        let of_rows = audited.target.columns.iter().map(|leaf| (leaf, Some(row_count)));
        for (leaf, row_count) in of_rows.chain(audited.target.items.iter().map(|item| (item, None))) {
            let column = Column { column_type: leaf.column_type, row_count };
            let stored = self.file.statistics.columns.get(&leaf.id);
            let Compared { refuted, column } = compare(stored, known.get(&leaf.id), column);
            for refutation in refuted {
                let claim = Some((refutation.statistic, refutation.claim));
                self.find(FindingKind::Refuted, Some(leaf.id), claim, refutation.evidence);
            }
            if let Some(column) = column {
                now.insert(leaf.id, if has_registered_rows { column } else { without_counts(column) });
            }
        }
        let mut now = audited.target.kept_of(now);
        now.extend(self.not_kept_any_more());
        self.examined.repairs =
            now.into_iter().filter(|(id, column)| self.file.statistics.columns.get(id) != Some(column)).collect();
    }

    /// Columns of which something is stored, though nothing is to be kept.
    fn not_kept_any_more(&self) -> Vec<(FieldId, FileColumn)> {
        let is_stored = |(id, column): &(&FieldId, &FileColumn)| match column {
            FileColumn::Present(statistics) => {
                self.audited.target.kept(**id) == KeptStatistics::None && !statistics.is_constant()
            }
            FileColumn::Absent => false,
        };
        let stored = self.file.statistics.columns.iter().filter(is_stored);
        stored.map(|(id, _)| (*id, FileColumn::Present(ColumnStatistics::default()))).collect()
    }

    /// What it means that a file could not be read.
    fn unreadable(mut self, error: StorageError) -> Result<Examined, StorageError> {
        if error.is_retryable() || error.may_be_of_all() {
            return Err(error);
        }
        let kind = if matches!(error, StorageError::NotFound) { FindingKind::Missing } else { FindingKind::Unreadable };
        self.find(kind, None, None, error.to_string());
        Ok(self.examined)
    }

    fn find(
        &mut self,
        kind: FindingKind,
        field_id: Option<FieldId>,
        claim: Option<(&'static str, String)>,
        evidence: String,
    ) {
        self.examined.findings.push(finding(&self.file, kind, field_id, claim, evidence));
    }
}

/// A column whose counts are not kept: of another number of rows than is registered they would be taken for all of these. That
/// there are none is true of any number.
fn without_counts(column: FileColumn) -> FileColumn {
    let FileColumn::Present(mut statistics) = column else { return column };
    let of_any = |count: Option<Count>| count.filter(|count| count.value == 0);
    statistics.null_count = of_any(statistics.null_count);
    statistics.nan_count = of_any(statistics.nan_count);
    FileColumn::Present(statistics)
}

fn finding(
    file: &InspectedFile,
    kind: FindingKind,
    field_id: Option<FieldId>,
    claim: Option<(&'static str, String)>,
    evidence: String,
) -> AuditFinding {
    let (statistic, claim) = claim.map(|(statistic, claim)| (statistic.to_owned(), claim)).unzip();
    let (file_id, path) = (file.row.file_id, file.row.path.clone());
    AuditFinding { file_id, path, field_id, kind, statistic, claim, evidence: Some(evidence) }
}

impl Examined {
    /// A file that its store did not give, though it gave others.
    pub(super) fn not_given(file: &InspectedFile, error: &StorageError) -> Self {
        Self::of_unreadable(file, error.to_string())
    }

    fn of_unreadable(file: &InspectedFile, evidence: String) -> Self {
        let findings = vec![finding(file, FindingKind::Unreadable, None, None, evidence)];
        Self { findings, ..Self::default() }
    }

    /// Adds what was found at another time and is not among what was found now.
    pub(super) fn add(&mut self, earlier: AuditFinding) {
        let is_same = |finding: &AuditFinding| {
            (finding.kind, finding.field_id, &finding.statistic) == (earlier.kind, earlier.field_id, &earlier.statistic)
        };
        if !self.findings.iter().any(is_same) {
            self.findings.push(earlier);
        }
    }

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
