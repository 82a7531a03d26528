//! What an audit finds.

use std::fmt;
use std::str::FromStr;

use prunus_statistics::FieldId;
use rusqlite::{Row, params};

use super::AuditRow;
use crate::error::FormatError;
use crate::ids::Unsigned;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{AuditId, Error, FileId, Result};

/// The most findings of one audit that are kept. Whatever is beyond them is counted.
pub const MAX_FINDINGS_PER_AUDIT: u64 = 10_000;

/// The most bytes of one text of a finding but the path. What is longer is cut, since a bound may be of any length.
pub const MAX_FINDING_TEXT_BYTES: usize = 1_000;

/// What is wrong with a file or with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FindingKind {
    /// There is no object of its path.
    Missing,
    /// The object is another one than was registered: of another size or etag.
    Changed,
    /// It cannot be read.
    Unreadable,
    /// It contradicts a statistic.
    Refuted,
    /// Its own schema does not fit the table's.
    Schema,
}

impl FindingKind {
    const ALL: [Self; 5] = [Self::Missing, Self::Changed, Self::Unreadable, Self::Refuted, Self::Schema];

    const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::Unreadable => "unreadable",
            Self::Refuted => "refuted",
            Self::Schema => "schema",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FindingKind {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        let unknown = || FormatError::UnknownName(name.to_owned());
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)
    }
}

/// Something that an audit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFinding {
    /// The file, which may be forgotten since.
    pub file_id: FileId,
    /// Its path.
    pub path: String,
    /// The column; `None` is the file as a whole.
    pub field_id: Option<FieldId>,
    /// What is wrong.
    pub kind: FindingKind,
    /// Which statistic it is about, by its name in the API; `None` where it is about none.
    pub statistic: Option<String>,
    /// What was known, or was claimed; `None` where nothing was.
    pub claim: Option<String>,
    /// What the file says instead; `None` where it says nothing.
    pub evidence: Option<String>,
}

/// A finding with its place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFindingRow {
    /// Counts from 1, in the order in which they were found.
    pub ordinal: u64,
    /// What was found.
    pub finding: AuditFinding,
}

const LIST_FINDINGS: &str = "
    SELECT ordinal, file_id, path, field_id, kind, statistic, claim, evidence
    FROM audit_finding
    WHERE audit_id = ?1 AND ordinal > ?2 AND ordinal <= (SELECT findings FROM audit WHERE audit_id = ?1)
    ORDER BY ordinal
    LIMIT ?3";

const LIST_NOTED: &str = "
    SELECT ordinal, file_id, path, field_id, kind, statistic, claim, evidence
    FROM audit_finding
    WHERE audit_id = ?1 AND ordinal > ?2
    ORDER BY ordinal";

const DELETE_NOTED: &str = "
    DELETE FROM audit_finding
    WHERE audit_id = ?1 AND ordinal > ?2";

const INSERT_FINDING: &str = "
    INSERT INTO audit_finding (audit_id, ordinal, file_id, path, field_id, kind, statistic, claim, evidence)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

impl ReadTransaction<'_> {
    /// Up to `limit` findings of an audit in the order in which they were found, from the first one after an ordinal (0: from
    /// the first).
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_audit_findings(&self, audit_id: AuditId, after: u64, limit: u32) -> Result<Vec<AuditFindingRow>> {
        let values = params![audit_id, Unsigned(after), limit];
        self.query_all(LIST_FINDINGS, values, |row| finding_row(row, audit_id))
    }

    /// What was noted on the stretch that the audit is about to go ([`WriteTransaction::note_audit_findings`]), if it was
    /// begun before.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_noted_findings(&self, audit: &AuditRow) -> Result<Vec<AuditFinding>> {
        let values = params![audit.audit_id, Unsigned(audit.findings)];
        self.query_all(LIST_NOTED, values, |row| Ok(finding_row(row, audit.audit_id)?.finding))
    }
}

impl WriteTransaction<'_> {
    /// Keeps the first of these, for as many as an audit may have, in the place of what was noted; says how many.
    pub(super) fn insert_audit_findings(&self, audit: &AuditRow, findings: &[AuditFinding]) -> Result<u64> {
        self.execute(DELETE_NOTED, params![audit.audit_id, Unsigned(audit.findings)])?;
        let mut kept = audit.findings;
        for finding in findings {
            if kept >= MAX_FINDINGS_PER_AUDIT {
                break;
            }
            kept += 1;
            let text = |text: &Option<String>| text.as_deref().map(|text| cut(text).to_owned());
            let values = params![
                audit.audit_id,
                Unsigned(kept),
                finding.file_id,
                finding.path,
                finding.field_id.map(|field_id| field_id.0),
                finding.kind.name(),
                text(&finding.statistic),
                text(&finding.claim),
                text(&finding.evidence),
            ];
            self.execute(INSERT_FINDING, values)?;
        }
        Ok(kept - audit.findings)
    }
}

/// The text up to a length, in whole characters.
pub(super) fn cut(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_FINDING_TEXT_BYTES);
    text.get(..end).unwrap_or(text)
}

fn finding_row(row: &Row<'_>, audit_id: AuditId) -> Result<AuditFindingRow> {
    let kind = row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(AuditFindingRow {
        ordinal: row.get::<_, Unsigned>(0)?.0,
        finding: AuditFinding {
            file_id: row.get(1)?,
            path: row.get(2)?,
            field_id: row.get::<_, Option<i32>>(3)?.map(FieldId),
            kind: kind.parse().map_err(Error::damaged_row("kind of a finding of an audit", audit_id.0))?,
            statistic: row.get(5)?,
            claim: row.get(6)?,
            evidence: row.get(7)?,
        },
    })
}
