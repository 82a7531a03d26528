//! Audits: files of a snapshot are looked at again, and held against what is known of them. What became of it stands in rows,
//! with the place that it has come to, so that it goes on after a restart.

mod cursor;
mod finding;
mod sample;
mod state;

use rusqlite::{Row, params};

use crate::error::FormatError;
use crate::ids::Unsigned;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{AuditId, Error, FileId, Result, SnapshotId, TableId};

pub use cursor::{CursorKind, DueForAudit};
pub use finding::{AuditFinding, AuditFindingRow, FindingKind, MAX_FINDING_TEXT_BYTES, MAX_FINDINGS_PER_AUDIT};
pub use sample::Sample;
pub use state::{AuditCounts, AuditEnd, AuditMode, AuditState};

/// The most audits of a table that are kept. A further one takes the place of the oldest that is over.
pub const MAX_AUDITS_PER_TABLE: u32 = 100;

/// An audit to be begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewAudit {
    /// The table.
    pub table_id: TableId,
    /// The snapshot whose files it looks at.
    pub snapshot_id: SnapshotId,
    /// What it reads of them.
    pub mode: AuditMode,
    /// Which of them it looks at.
    pub sample: Sample,
    /// Whether it mends what it finds.
    pub repair: bool,
    /// How many files the snapshot has, whether the sample has them or not.
    pub files_total: u64,
    /// Now, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
}

/// An audit as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditRow {
    /// Its id.
    pub audit_id: AuditId,
    /// What it was begun with.
    pub begun: NewAudit,
    /// How it stands.
    pub state: AuditState,
    /// The files below it are done: the place to go on from.
    pub next_file_id: FileId,
    /// What it has seen so far.
    pub counts: AuditCounts,
    /// How many findings are kept.
    pub findings: u64,
    /// How many more there were than are kept.
    pub findings_left_out: u64,
    /// When it ended, in milliseconds since 1970-01-01T00:00Z; `None` while it runs.
    pub finished_at_ms: Option<i64>,
}

/// A stretch of an audit's way.
#[derive(Clone, Debug)]
pub struct AuditStep {
    /// The table.
    pub table_id: TableId,
    /// The audit.
    pub audit_id: AuditId,
    /// The place that it began at.
    pub from: FileId,
    /// The place that it ends before.
    pub to: FileId,
    /// What was seen on it.
    pub counts: AuditCounts,
    /// What was found on it, in the order in which it is told.
    pub findings: Vec<AuditFinding>,
}

/// What became of a change of an audit, with how the audit stands now.
#[derive(Clone, Debug, PartialEq)]
pub enum AuditChange {
    /// It was made.
    Made(AuditRow),
    /// The audit is over, or has come to another place than the step began at: nothing was written.
    Refused(AuditRow),
}

const SELECT_AUDIT: &str = "
    SELECT audit_id, table_id, snapshot_id, mode, sample_fraction, sample_seed, repair, state, message, next_file_id,
        files_total, files_checked, files_missing, files_changed, files_unreadable, statistics_refuted,
        statistics_repaired, findings, findings_left_out, created_at_ms, finished_at_ms
    FROM audit
    WHERE audit_id = ?1 AND table_id = ?2";

const LIST_AUDITS: &str = "
    SELECT audit_id, table_id, snapshot_id, mode, sample_fraction, sample_seed, repair, state, message, next_file_id,
        files_total, files_checked, files_missing, files_changed, files_unreadable, statistics_refuted,
        statistics_repaired, findings, findings_left_out, created_at_ms, finished_at_ms
    FROM audit INDEXED BY audit_by_table
    WHERE table_id = ?1
    ORDER BY audit_id DESC";

const LIST_RUNNING: &str = "
    SELECT audit_id, table_id, snapshot_id, mode, sample_fraction, sample_seed, repair, state, message, next_file_id,
        files_total, files_checked, files_missing, files_changed, files_unreadable, statistics_refuted,
        statistics_repaired, findings, findings_left_out, created_at_ms, finished_at_ms
    FROM audit INDEXED BY audit_running
    WHERE state = 'running'
    ORDER BY audit_id";

const COUNT_AUDITS: &str = "
    SELECT count(*)
    FROM audit INDEXED BY audit_by_table
    WHERE table_id = ?1";

const SELECT_OLDEST_OVER: &str = "
    SELECT audit_id
    FROM audit INDEXED BY audit_by_table
    WHERE table_id = ?1 AND state <> 'running'
    ORDER BY audit_id
    LIMIT 1";

const DELETE_AUDIT: &str = "
    DELETE FROM audit
    WHERE audit_id = ?1";

const INSERT_AUDIT: &str = "
    INSERT INTO audit (table_id, snapshot_id, mode, sample_fraction, sample_seed, repair, state, next_file_id, files_total,
        files_checked, files_missing, files_changed, files_unreadable, statistics_refuted, statistics_repaired, findings,
        findings_left_out, created_at_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'running', 0, ?7, 0, 0, 0, 0, 0, 0, 0, 0, ?8)";

const ADVANCE_AUDIT: &str = "
    UPDATE audit
    SET next_file_id = ?2, files_checked = files_checked + ?3, files_missing = files_missing + ?4,
        files_changed = files_changed + ?5, files_unreadable = files_unreadable + ?6,
        statistics_refuted = statistics_refuted + ?7, statistics_repaired = statistics_repaired + ?8,
        findings = findings + ?9, findings_left_out = findings_left_out + ?10
    WHERE audit_id = ?1";

const END_AUDIT: &str = "
    UPDATE audit
    SET state = ?2, message = ?3, finished_at_ms = ?4
    WHERE audit_id = ?1";

impl ReadTransaction<'_> {
    /// An audit of a table.
    ///
    /// # Errors
    /// [`Error::AuditNotFound`], also once it has made room for a later one; [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn load_audit(&self, table_id: TableId, audit_id: AuditId) -> Result<AuditRow> {
        self.query_first(SELECT_AUDIT, params![audit_id, table_id], audit_row)?
            .ok_or(Error::AuditNotFound { table_id, audit_id })
    }

    /// The audits of a table that are kept, at most [`MAX_AUDITS_PER_TABLE`], newest first.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_audits(&self, table_id: TableId) -> Result<Vec<AuditRow>> {
        self.query_all(LIST_AUDITS, [table_id], audit_row)
    }

    /// The audits of all tables that run, in the order in which they were begun: those to go on with after a restart.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_running_audits(&self) -> Result<Vec<AuditRow>> {
        self.query_all(LIST_RUNNING, [], audit_row)
    }
}

impl WriteTransaction<'_> {
    /// Begins an audit.
    ///
    /// # Errors
    /// [`Error::TableGone`]; [`Error::SnapshotNotFound`]; [`Error::TooManyAudits`] if as many as are kept are running;
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn create_audit(&self, new: &NewAudit) -> Result<AuditRow> {
        let table_id = new.table_id;
        self.load_head(table_id)?;
        self.check_snapshot(table_id, new.snapshot_id)?;
        self.make_room_for_audit(table_id)?;
        let values = params![
            table_id,
            new.snapshot_id,
            new.mode.name(),
            new.sample.fraction(),
            new.sample.seed().cast_signed(),
            new.repair,
            Unsigned(new.files_total),
            new.created_at_ms,
        ];
        let audit_id = AuditId(self.insert(INSERT_AUDIT, values)?);
        self.load_audit(table_id, audit_id)
    }

    fn make_room_for_audit(&self, table_id: TableId) -> Result<()> {
        let audits: u32 = self.query_first(COUNT_AUDITS, [table_id], |row| Ok(row.get(0)?))?.unwrap_or(0);
        if audits < MAX_AUDITS_PER_TABLE {
            return Ok(());
        }
        let oldest: Option<AuditId> = self.query_first(SELECT_OLDEST_OVER, [table_id], |row| Ok(row.get(0)?))?;
        self.execute(DELETE_AUDIT, [oldest.ok_or(Error::TooManyAudits(table_id))?])?;
        Ok(())
    }

    /// Notes what was found on a stretch of an audit's way, before anything is mended: what is mended is not found again by
    /// whoever goes that way once more after a kill. It is none of the audit's findings until the audit has advanced.
    ///
    /// # Errors
    /// [`Error::AuditNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn note_audit_findings(&self, step: &AuditStep) -> Result<AuditChange> {
        let audit = self.load_audit(step.table_id, step.audit_id)?;
        if audit.state != AuditState::Running || audit.next_file_id != step.from {
            return Ok(AuditChange::Refused(audit));
        }
        self.insert_audit_findings(&audit, &step.findings)?;
        Ok(AuditChange::Made(audit))
    }

    /// Notes what an audit has seen and found on a stretch of its way, and the place that it has come to; all of it or
    /// nothing, and once, however often it is asked to.
    ///
    /// # Errors
    /// [`Error::AuditNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn advance_audit(&self, step: &AuditStep) -> Result<AuditChange> {
        let audit = self.load_audit(step.table_id, step.audit_id)?;
        if audit.state != AuditState::Running || audit.next_file_id != step.from {
            return Ok(AuditChange::Refused(audit));
        }
        let kept = self.insert_audit_findings(&audit, &step.findings)?;
        let AuditCounts { files_checked, files_missing, files_changed, files_unreadable, .. } = step.counts;
        let values = params![
            step.audit_id,
            step.to,
            Unsigned(files_checked),
            Unsigned(files_missing),
            Unsigned(files_changed),
            Unsigned(files_unreadable),
            Unsigned(step.counts.statistics_refuted),
            Unsigned(step.counts.statistics_repaired),
            Unsigned(kept),
            Unsigned(step.findings.len() as u64 - kept),
        ];
        self.execute(ADVANCE_AUDIT, values)?;
        Ok(AuditChange::Made(self.load_audit(step.table_id, step.audit_id)?))
    }

    /// Ends an audit that runs. `now_ms` is in milliseconds since 1970-01-01T00:00Z.
    ///
    /// # Errors
    /// [`Error::AuditNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn end_audit(&self, table_id: TableId, audit_id: AuditId, end: AuditEnd, now_ms: i64) -> Result<AuditChange> {
        let audit = self.load_audit(table_id, audit_id)?;
        if audit.state != AuditState::Running {
            return Ok(AuditChange::Refused(audit));
        }
        let state = AuditState::from(end);
        self.execute(END_AUDIT, params![audit_id, state.name(), state.message(), now_ms])?;
        Ok(AuditChange::Made(self.load_audit(table_id, audit_id)?))
    }
}

fn audit_row(row: &Row<'_>) -> Result<AuditRow> {
    let audit_id: AuditId = row.get(0)?;
    let number = |index| Ok::<_, Error>(row.get::<_, Unsigned>(index)?.0);
    let mode = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
    let state = row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?;
    let sample = Sample::new(row.get(4)?, row.get::<_, i64>(5)?.cast_unsigned());
    Ok(AuditRow {
        audit_id,
        begun: NewAudit {
            table_id: row.get(1)?,
            snapshot_id: row.get(2)?,
            mode: mode.parse().map_err(Error::damaged_row("mode of an audit", audit_id.0))?,
            sample: sample
                .ok_or(FormatError::NoSample)
                .map_err(Error::damaged_row("sample of an audit", audit_id.0))?,
            repair: row.get(6)?,
            files_total: number(10)?,
            created_at_ms: row.get(19)?,
        },
        state: AuditState::of_row(state, row.get(8)?).map_err(Error::damaged_row("state of an audit", audit_id.0))?,
        next_file_id: row.get(9)?,
        counts: AuditCounts {
            files_checked: number(11)?,
            files_missing: number(12)?,
            files_changed: number(13)?,
            files_unreadable: number(14)?,
            statistics_refuted: number(15)?,
            statistics_repaired: number(16)?,
        },
        findings: number(17)?,
        findings_left_out: number(18)?,
        finished_at_ms: row.get(20)?,
    })
}
