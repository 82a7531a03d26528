//! A step of an audit: some files, what is mended of them, and a note of how far it has come.

use std::collections::BTreeSet;
use std::sync::Arc;

use prunus_manifest::{
    AuditChange, AuditCounts, AuditEnd, AuditFinding, AuditRow, AuditStep, FileId, FindingKind, InspectedFile,
    SnapshotId, TableId,
};

use super::examine::Audited;
use super::reach::Attempt;
use super::reading::Reading;
use crate::Result;
use crate::catalog::Catalog;
use crate::commit::target_of;
use crate::history::History;

/// How many files a step looks at. What is mended is built anew by manifest, so many at once cost less each.
pub(super) const MAX_FILES_PER_STEP: u32 = 512;
/// How many bytes the files of a step have together, where their data is read; a step has one file at least. What a step has
/// done is done again after a kill, and a cancelled audit ends between steps.
const MAX_BYTES_PER_STEP: u64 = 256 << 20;

/// Files that are looked at together.
pub(super) struct Batch {
    pub(super) table_id: TableId,
    pub(super) snapshot_id: SnapshotId,
    pub(super) audited: Arc<Audited>,
    pub(super) files: Vec<Arc<InspectedFile>>,
    /// Up to before which file all have been looked at then; `None` if there are no others.
    pub(super) next: Option<FileId>,
}

impl Catalog {
    /// Takes an audit a step further.
    pub(super) async fn step(&self, audit: &AuditRow, attempt: Attempt) -> Result<()> {
        let (table_id, snapshot_id) = (audit.begun.table_id, audit.begun.snapshot_id);
        let reading = Reading::of_mode(audit.begun.mode);
        let mut batch = self.files_to_audit(table_id, snapshot_id, audit.next_file_id, reading).await?;
        batch.files.retain(|file| audit.begun.sample.has(file.row.file_id));
        let mut outcome = self.examine_all(&batch, reading, attempt).await?;
        let mut statistics_repaired = 0;
        let end = batch.next.unwrap_or(FileId(i64::MAX));
        let step_of = |counts: AuditCounts, findings: Vec<AuditFinding>| {
            let (audit_id, from) = (audit.audit_id, audit.next_file_id);
            AuditStep { table_id, audit_id, from, to: end, counts, findings }
        };
        if audit.begun.repair {
            let noted = self.noted(audit).await?;
            statistics_repaired += mended_before(&noted, &outcome.findings());
            outcome.add(noted);
            let step = step_of(AuditCounts::default(), outcome.findings());
            let change = self.write(move |tx| Ok(tx.note_audit_findings(&step)?)).await?;
            if matches!(change, AuditChange::Refused(_)) {
                return Ok(());
            }
            statistics_repaired += self.mend(&batch, reading, &mut outcome).await?;
        }
        let (counts, findings) = (AuditCounts { statistics_repaired, ..outcome.counts() }, outcome.findings());
        for finding in &findings {
            self.activity.audits.record_finding(finding);
        }
        self.advance(step_of(counts, findings), batch.next).await
    }

    /// Notes what a step has seen and how far the audit has come; ends it where no files are left.
    async fn advance(&self, step: AuditStep, next: Option<FileId>) -> Result<()> {
        let now_ms = self.clock.now_ms();
        self.write(move |tx| {
            let advanced = tx.advance_audit(&step)?;
            if next.is_none() && matches!(advanced, AuditChange::Made(_)) {
                tx.end_audit(step.table_id, step.audit_id, AuditEnd::Done, now_ms)?;
            }
            Ok(())
        })
        .await
    }

    /// What was found of the files of this step before, by one that did not come to its end.
    async fn noted(&self, audit: &AuditRow) -> Result<Vec<AuditFinding>> {
        let audit = audit.clone();
        self.read(move |tx| Ok(tx.list_noted_findings(&audit)?)).await
    }

    /// The files of a snapshot from a place on, so many as make a step.
    pub(super) async fn files_to_audit(
        &self,
        table_id: TableId,
        snapshot_id: SnapshotId,
        from: FileId,
        reading: Reading,
    ) -> Result<Batch> {
        let allowed = Arc::clone(&self.allowed);
        self.read(move |tx| {
            let table = tx.load_table_by_id(table_id)?;
            let history = History::load(tx, &table)?;
            let target = target_of(&table, &history, allowed.of_namespace(&table.namespace).clone())?;
            let audited = Arc::new(Audited { target, first: history.first_leaves() });
            let mut files = tx.list_inspected_files(table_id, snapshot_id, from, MAX_FILES_PER_STEP)?;
            let is_last = files.len() < MAX_FILES_PER_STEP as usize;
            let taken = if reading == Reading::Footer { files.len() } else { within_bytes(&files) };
            let is_cut = taken < files.len();
            files.truncate(taken);
            let next = files.last().map(|file| FileId(file.row.file_id.0.saturating_add(1)));
            let next = next.filter(|_| is_cut || !is_last);
            let files = files.into_iter().map(Arc::new).collect();
            Ok(Batch { table_id, snapshot_id, audited, files, next })
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

/// How many columns of files were mended by a step that did not come to its end: they were false then, and are not now.
fn mended_before(noted: &[AuditFinding], found: &[AuditFinding]) -> u64 {
    let refuted = |findings: &[AuditFinding]| -> BTreeSet<_> {
        let columns = findings.iter().filter(|finding| finding.kind == FindingKind::Refuted);
        columns.filter_map(|finding| Some((finding.file_id, finding.field_id?))).collect()
    };
    refuted(noted).difference(&refuted(found)).count() as u64
}
