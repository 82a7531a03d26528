//! How an audit works, how it stands, and how it ends.

use std::fmt;
use std::str::FromStr;

use super::finding::cut;
use crate::error::FormatError;

/// What an audit reads of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditMode {
    /// Its footer.
    Footer,
    /// Its data.
    Scan,
}

impl AuditMode {
    const ALL: [Self; 2] = [Self::Footer, Self::Scan];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Footer => "footer",
            Self::Scan => "scan",
        }
    }
}

impl fmt::Display for AuditMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for AuditMode {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        let unknown = || FormatError::UnknownName(name.to_owned());
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(unknown)
    }
}

/// How an audit stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditState {
    /// It goes on, also after a restart.
    Running,
    /// It has looked at all files.
    Done,
    /// It was called off.
    Cancelled,
    /// It could not go on.
    Failed {
        /// Why.
        message: String,
    },
}

impl AuditState {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }

    pub(super) fn of_row(name: &str, message: Option<String>) -> Result<Self, FormatError> {
        match name {
            "running" => Ok(Self::Running),
            "done" => Ok(Self::Done),
            "cancelled" => Ok(Self::Cancelled),
            "failed" => Ok(Self::Failed { message: message.unwrap_or_default() }),
            unknown => Err(FormatError::UnknownName(unknown.to_owned())),
        }
    }

    pub(super) fn message(&self) -> Option<&str> {
        match self {
            Self::Failed { message } => Some(message),
            _ => None,
        }
    }
}

/// How an audit ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditEnd {
    /// It has looked at all files.
    Done,
    /// It is called off.
    Cancelled,
    /// It cannot go on.
    Failed {
        /// Why; cut at [`MAX_FINDING_TEXT_BYTES`](crate::MAX_FINDING_TEXT_BYTES).
        message: String,
    },
}

impl From<AuditEnd> for AuditState {
    fn from(end: AuditEnd) -> Self {
        match end {
            AuditEnd::Done => Self::Done,
            AuditEnd::Cancelled => Self::Cancelled,
            AuditEnd::Failed { message } => Self::Failed { message: cut(&message).to_owned() },
        }
    }
}

/// What an audit has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditCounts {
    /// Files that it has looked at, whatever it found.
    pub files_checked: u64,
    /// Files of which there is no object any more.
    pub files_missing: u64,
    /// Files whose object is another one than was registered.
    pub files_changed: u64,
    /// Files that cannot be read.
    pub files_unreadable: u64,
    /// Statistics that the file contradicts.
    pub statistics_refuted: u64,
    /// Statistics that were replaced.
    pub statistics_repaired: u64,
}

impl AuditCounts {
    /// What both have seen together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            files_checked: self.files_checked + other.files_checked,
            files_missing: self.files_missing + other.files_missing,
            files_changed: self.files_changed + other.files_changed,
            files_unreadable: self.files_unreadable + other.files_unreadable,
            statistics_refuted: self.statistics_refuted + other.statistics_refuted,
            statistics_repaired: self.statistics_repaired + other.statistics_repaired,
        }
    }
}
