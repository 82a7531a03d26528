//! A step of an audit: some files, what is mended of them, and a note of how far it has come.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use prunus_manifest::{
    AuditChange, AuditCounts, AuditEnd, AuditFinding, AuditRow, AuditStep, ColumnRepair, FileId, FileRepair,
    InspectedFile, RepairOutcome, SnapshotId, TableId,
};

use super::examine::{Examined, Reading, examine};
use crate::catalog::Catalog;
use crate::commit::target_of;
use crate::registration::Target;
use crate::{Error, Result, blocking};

/// How many files a step looks at. What is mended is built anew by manifest, so many at once cost less each.
const MAX_FILES_PER_STEP: u32 = 512;
/// How many bytes the files of a step have together, where their data is read; a step has one file at least. What a step has
/// done is done again after a kill, and a cancelled audit ends between steps.
const MAX_BYTES_PER_STEP: u64 = 256 << 20;
/// How many files are read at once.
const MAX_FILES_AT_ONCE: usize = 16;

/// Files that are looked at together.
pub(super) struct Batch {
    pub(super) target: Target,
    pub(super) files: Vec<InspectedFile>,
    /// Up to before which file all have been looked at then; `None` if there are no others.
    pub(super) next: Option<FileId>,
}

/// What came of looking at files.
pub(super) struct Outcome {
    examined: Vec<(InspectedFile, Examined)>,
    pub(super) bytes_read: u64,
}

impl Catalog {
    /// Takes an audit a step further.
    pub(super) async fn step(&self, audit: &AuditRow) -> Result<()> {
        let (table_id, snapshot_id) = (audit.begun.table_id, audit.begun.snapshot_id);
        let reading = Reading::of_mode(audit.begun.mode);
        let mut batch = self.files_to_audit(table_id, snapshot_id, audit.next_file_id, reading).await?;
        batch.files.retain(|file| audit.begun.sample.has(file.row.file_id));
        let next = batch.next;
        let outcome = self.examine_all(&batch, reading).await?;
        let mut counts = outcome.counts();
        let findings = outcome.findings();
        if audit.begun.repair {
            counts.statistics_repaired = self.repair(table_id, outcome).await?;
        }
        let now_ms = self.clock.now_ms();
        let audit_id = audit.audit_id;
        let to = next.unwrap_or(FileId(i64::MAX));
        let step = AuditStep { table_id, audit_id, from: audit.next_file_id, to, counts, findings };
        self.write(move |tx| {
            let advanced = tx.advance_audit(&step)?;
            if next.is_none() && matches!(advanced, AuditChange::Made(_)) {
                tx.end_audit(table_id, audit_id, AuditEnd::Done, now_ms)?;
            }
            Ok(())
        })
        .await
    }

    /// The files of a snapshot from a place on, so many as make a step.
    pub(super) async fn files_to_audit(
        &self,
        table_id: TableId,
        snapshot_id: SnapshotId,
        from: FileId,
        reading: Reading,
    ) -> Result<Batch> {
        self.read(move |tx| {
            let table = tx.load_table_by_id(table_id)?;
            let target = target_of(tx, &table)?;
            let mut files = tx.list_inspected_files(table_id, snapshot_id, from, MAX_FILES_PER_STEP)?;
            let is_last = files.len() < MAX_FILES_PER_STEP as usize;
            let taken = if reading == Reading::Footer { files.len() } else { within_bytes(&files) };
            let is_cut = taken < files.len();
            files.truncate(taken);
            let next = files.last().map(|file| FileId(file.row.file_id.0.saturating_add(1)));
            Ok(Batch { target, files, next: next.filter(|_| is_cut || !is_last) })
        })
        .await
    }

    /// Looks at files, some at once, in their order.
    pub(super) async fn examine_all(&self, batch: &Batch, reading: Reading) -> Result<Outcome> {
        let examine = |file: InspectedFile| async move {
            let examined = examine(&self.storage, &batch.target, &file, reading).await;
            let path = &file.row.path;
            let examined = examined.map_err(|source| Error::StorageUnavailable { path: path.clone(), source })?;
            Ok::<_, Error>((file, examined))
        };
        let examined: Vec<_> =
            stream::iter(batch.files.clone()).map(examine).buffered(MAX_FILES_AT_ONCE).try_collect().await?;
        let bytes_read = examined.iter().map(|(_, examined)| examined.bytes_read).sum();
        Ok(Outcome { examined, bytes_read })
    }

    /// Stores what is known now; says of how many columns that was something else than before.
    pub(super) async fn repair(&self, table_id: TableId, outcome: Outcome) -> Result<u64> {
        let repairs = outcome.repairs();
        if repairs.is_empty() {
            return Ok(0);
        }
        let store = Arc::clone(&self.store);
        blocking::run(move || {
            let done = store.repair(table_id, &repairs)?;
            let repaired = repairs.iter().filter(|(file_id, _)| done.get(file_id) == Some(&RepairOutcome::Repaired));
            Ok(repaired.map(|(_, repair)| repair.len() as u64).sum())
        })
        .await
    }
}

/// How many of the files make a step, by their bytes.
fn within_bytes(files: &[InspectedFile]) -> usize {
    let mut bytes = 0_u64;
    let within = files.iter().take_while(|file| {
        bytes = bytes.saturating_add(file.row.size_bytes);
        bytes <= MAX_BYTES_PER_STEP
    });
    within.count().max(1).min(files.len())
}

impl Outcome {
    fn counts(&self) -> AuditCounts {
        self.examined.iter().map(|(_, examined)| examined.counts()).fold(AuditCounts::default(), AuditCounts::plus)
    }

    /// Tells those who run the server what was found where nobody had asked.
    pub(super) fn log(&self) {
        for finding in self.findings() {
            let AuditFinding { path, field_id, kind, statistic, claim, evidence, .. } = finding;
            tracing::warn!(path, ?field_id, %kind, statistic, claim, evidence, "a file is not as it was registered");
        }
    }

    fn findings(&self) -> Vec<AuditFinding> {
        self.examined.iter().flat_map(|(_, examined)| examined.findings.iter().cloned()).collect()
    }

    fn repairs(self) -> BTreeMap<FileId, FileRepair> {
        let repair = |(file, examined): (InspectedFile, Examined)| {
            let mut before = file.statistics.columns;
            let columns = examined.repairs.into_iter();
            let columns: FileRepair =
                columns.map(|(id, after)| (id, ColumnRepair { before: before.remove(&id), after })).collect();
            (!columns.is_empty()).then_some((file.row.file_id, columns))
        };
        self.examined.into_iter().filter_map(repair).collect()
    }
}
