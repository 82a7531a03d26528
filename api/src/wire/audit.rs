//! Audits.

use prunus_catalog::{AuditMode, AuditPage, AuditRequest, AuditRow, AuditState, FoundByAudit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::to_rfc3339;
use crate::openapi::values::FindingKindSchema;

/// What is to be audited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"mode": "footer", "sample": 0.1})))]
pub struct NewAuditJson {
    /// What is read of the files.
    pub mode: AuditModeJson,
    /// Which share of the files is looked at: above 0, at most 1. Chance picks them.
    #[serde(default = "all")]
    #[schema(exclusive_minimum = 0, maximum = 1, default = all)]
    pub sample: f64,
    /// Whether statistics are replaced by better ones, and false ones by true ones.
    #[serde(default)]
    #[schema(default = false)]
    pub repair: bool,
}

const fn all() -> f64 {
    1.0
}

/// What an audit reads of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditModeJson {
    /// Its footer.
    Footer,
    /// And the data of all columns of which statistics are kept.
    Scan,
}

/// How an audit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditStateJson {
    /// It is being worked on, or will be.
    Running,
    /// It has looked at all files.
    Done,
    /// It was ended before.
    Cancelled,
    /// It could not go on.
    Failed,
}

/// An audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditJson {
    /// Its id, which no other audit has.
    pub audit_id: i64,
    /// The snapshot whose files it looks at.
    pub snapshot_id: i64,
    /// What it reads of them.
    pub mode: AuditModeJson,
    /// Which share of them it looks at.
    pub sample: f64,
    /// Whether it replaces statistics by better ones.
    pub repair: bool,
    /// How it stands.
    pub state: AuditStateJson,
    /// Why it failed; absent if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
    /// When it was asked for, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it ended, RFC 3339; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    pub finished_at: Option<String>,
    /// How many files the snapshot has.
    pub files: u64,
    /// How many it has looked at.
    pub files_checked: u64,
    /// How many of these are not there any more.
    pub files_missing: u64,
    /// How many are other files than those that were registered: of another size or etag.
    pub files_changed: u64,
    /// How many cannot be read, as a whole or some of their columns.
    pub files_unreadable: u64,
    /// How many statistics the files contradict.
    pub statistics_refuted: u64,
    /// Of how many columns of files other statistics were stored.
    pub statistics_repaired: u64,
    /// How many findings there are.
    pub findings: u64,
    /// How many more there were than are kept.
    pub findings_left_out: u64,
}

/// An audit with a page of what it has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditPageJson {
    /// The audit.
    #[serde(flatten)]
    pub audit: AuditJson,
    /// What it has found, in the order in which it did.
    pub found: Vec<AuditFindingJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

/// The audits of a table, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditsJson {
    /// The audits.
    pub audits: Vec<AuditJson>,
}

/// Something that an audit found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditFindingJson {
    /// `missing`, `changed`, `unreadable`, `refuted` (a statistic is false) or `schema` (a column cannot be told).
    #[schema(value_type = FindingKindSchema)]
    pub kind: String,
    /// The file.
    pub path: String,
    /// Its id.
    pub file_id: i64,
    /// The column; absent if it is about the file as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub column: Option<String>,
    /// Which statistic is meant: `min`, `max`, `null_count`, `nan_count`, `row_count`, `size_bytes`, `etag`, `presence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub statistic: Option<String>,
    /// What is registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub claim: Option<String>,
    /// What the file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub evidence: Option<String>,
}

impl NewAuditJson {
    /// The request as the catalog takes it.
    pub(crate) fn parse(self) -> AuditRequest {
        AuditRequest { mode: self.mode.into(), sample: self.sample, repair: self.repair }
    }
}

impl From<AuditModeJson> for AuditMode {
    fn from(mode: AuditModeJson) -> Self {
        match mode {
            AuditModeJson::Footer => Self::Footer,
            AuditModeJson::Scan => Self::Scan,
        }
    }
}

impl From<AuditMode> for AuditModeJson {
    fn from(mode: AuditMode) -> Self {
        match mode {
            AuditMode::Footer => Self::Footer,
            AuditMode::Scan => Self::Scan,
        }
    }
}

impl From<AuditRow> for AuditJson {
    fn from(audit: AuditRow) -> Self {
        let AuditRow { audit_id, begun, state, counts, findings, findings_left_out, finished_at_ms, .. } = audit;
        let (state, message) = match state {
            AuditState::Running => (AuditStateJson::Running, None),
            AuditState::Done => (AuditStateJson::Done, None),
            AuditState::Cancelled => (AuditStateJson::Cancelled, None),
            AuditState::Failed { message } => (AuditStateJson::Failed, Some(message)),
        };
        Self {
            audit_id: audit_id.0,
            snapshot_id: begun.snapshot_id.0,
            mode: begun.mode.into(),
            sample: begun.sample.fraction(),
            repair: begun.repair,
            state,
            message,
            created_at: to_rfc3339(begun.created_at_ms),
            finished_at: finished_at_ms.map(to_rfc3339),
            files: begun.files_total,
            files_checked: counts.files_checked,
            files_missing: counts.files_missing,
            files_changed: counts.files_changed,
            files_unreadable: counts.files_unreadable,
            statistics_refuted: counts.statistics_refuted,
            statistics_repaired: counts.statistics_repaired,
            findings,
            findings_left_out,
        }
    }
}

impl From<AuditPage> for AuditPageJson {
    fn from(page: AuditPage) -> Self {
        let found = page.findings.into_iter().map(AuditFindingJson::from).collect();
        Self { audit: page.audit.into(), found, next_page_token: None }
    }
}

impl From<FoundByAudit> for AuditFindingJson {
    fn from(FoundByAudit { finding, column }: FoundByAudit) -> Self {
        Self {
            kind: finding.kind.to_string(),
            path: finding.path,
            file_id: finding.file_id.0,
            column,
            statistic: finding.statistic,
            claim: finding.claim,
            evidence: finding.evidence,
        }
    }
}
