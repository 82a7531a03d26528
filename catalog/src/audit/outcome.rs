//! What came of looking at files, and how it is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prunus_manifest::{
    AuditCounts, AuditFinding, ColumnRepair, FileId, FileRepair, InspectedFile, RepairOutcome, TableId,
};

use super::examine::{Audited, Examined};
use super::reach::Attempt;
use super::reading::Reading;
use super::step::Batch;
use crate::catalog::Catalog;
use crate::location::without_credentials;
use crate::{Result, blocking};

/// How often files are looked at again because what is stored of them has changed since it was read.
const MAX_LOOKS: usize = 5;

/// What came of looking at files.
pub(super) struct Outcome {
    pub(super) audited: Arc<Audited>,
    pub(super) examined: Vec<(Arc<InspectedFile>, Examined)>,
}

/// Repairs of files.
type Repairs = BTreeMap<FileId, FileRepair>;

/// What became of repairs.
struct Stored {
    /// Of how many columns other statistics are stored than before.
    columns: u64,
    /// The files that nothing was stored of, since what is known of them is not what it was when they were looked at.
    superseded: BTreeSet<FileId>,
}

impl Catalog {
    /// Stores what is known now; says of how many columns that was something else than before. Files of which other statistics
    /// are stored meanwhile, or whose columns are others, are looked at again: a false statistic must not outlive the audit
    /// that found it.
    pub(super) async fn mend(&self, batch: &Batch, reading: Reading, outcome: &mut Outcome) -> Result<u64> {
        let mut columns = 0;
        let mut repairs = outcome.take_repairs();
        for _ in 0..MAX_LOOKS {
            if repairs.is_empty() {
                break;
            }
            let stored = self.store_repairs(batch.table_id, repairs).await?;
            columns += stored.columns;
            if stored.superseded.is_empty() {
                break;
            }
            let again = self.again(batch, stored.superseded).await?;
            let mut seen = self.examine_all(&again, reading, Attempt::First).await?;
            repairs = seen.take_repairs();
            outcome.add(seen.findings());
        }
        Ok(columns)
    }

    /// Some files of a batch, as they are now.
    async fn again(&self, batch: &Batch, file_ids: BTreeSet<FileId>) -> Result<Batch> {
        let from = file_ids.first().copied().unwrap_or(FileId(0));
        let mut again = self.files_to_audit(batch.table_id, batch.snapshot_id, from, Reading::Footer).await?;
        again.files.retain(|file| file_ids.contains(&file.row.file_id));
        Ok(again)
    }

    async fn store_repairs(&self, table_id: TableId, repairs: Repairs) -> Result<Stored> {
        let store = Arc::clone(&self.store);
        blocking::run(move || {
            let done = store.repair(table_id, &repairs)?;
            let of = |wanted: &[RepairOutcome]| -> Vec<FileId> {
                done.iter().filter(|(_, outcome)| wanted.contains(outcome)).map(|(file_id, _)| *file_id).collect()
            };
            let repaired = of(&[RepairOutcome::Repaired]);
            let columns = repaired.iter().filter_map(|file_id| repairs.get(file_id)).map(|repair| repair.len() as u64);
            let superseded = of(&[RepairOutcome::Superseded, RepairOutcome::Moved]).into_iter().collect();
            Ok(Stored { columns: columns.sum(), superseded })
        })
        .await
    }
}

impl Outcome {
    pub(super) fn counts(&self) -> AuditCounts {
        self.examined.iter().map(|(_, examined)| examined.counts()).fold(AuditCounts::default(), AuditCounts::plus)
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.examined.iter().map(|(_, examined)| examined.bytes_read).sum()
    }

    /// Tells those who run the server what was found where nobody had asked.
    pub(super) fn log(&self, table_id: TableId) {
        for finding in self.findings() {
            let AuditFinding { path, field_id, kind, statistic, claim, evidence, .. } = finding;
            let path = &*without_credentials(&path);
            tracing::warn!(%table_id, path, ?field_id, %kind, statistic, claim, evidence, "a file is not as it was registered");
        }
    }

    pub(super) fn findings(&self) -> Vec<AuditFinding> {
        self.examined.iter().flat_map(|(_, examined)| examined.findings.iter().cloned()).collect()
    }

    /// Adds what was found of the same files at another time.
    pub(super) fn add(&mut self, findings: Vec<AuditFinding>) {
        let mut by_file: BTreeMap<FileId, Vec<AuditFinding>> = BTreeMap::new();
        for finding in findings {
            by_file.entry(finding.file_id).or_default().push(finding);
        }
        for (file, examined) in &mut self.examined {
            by_file.remove(&file.row.file_id).unwrap_or_default().into_iter().for_each(|finding| examined.add(finding));
        }
    }

    /// What is to be stored. A column of a file is said to be what it was when the file was looked at, in the type of that time.
    fn take_repairs(&mut self) -> Repairs {
        let target = &self.audited.target;
        let leaves = target.columns.iter().chain(&target.items);
        let types: BTreeMap<_, _> = leaves.map(|leaf| (leaf.id, leaf.column_type)).collect();
        let repair = |(file, examined): &mut (Arc<InspectedFile>, Examined)| {
            let columns = std::mem::take(&mut examined.repairs).into_iter().filter_map(|(id, after)| {
                let before = file.statistics.columns.get(&id).cloned();
                Some((id, ColumnRepair { column_type: *types.get(&id)?, before, after }))
            });
            let columns: FileRepair = columns.collect();
            (!columns.is_empty()).then_some((file.row.file_id, columns))
        };
        self.examined.iter_mut().filter_map(repair).collect()
    }
}
