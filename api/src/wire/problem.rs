//! Errors: `application/problem+json`.

use prunus_catalog::{Conflict, ConflictReason, Fault, without_credentials};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The most faults that are listed.
pub const MAX_FAULTS: usize = 100;

/// The longest text that an error repeats of a request, or says itself, in characters.
const MAX_TEXT_CHARS: usize = 4_096;

/// An error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProblemJson {
    /// `/problems/NAME`.
    #[serde(rename = "type")]
    pub problem_type: String,
    /// What kind of problem it is.
    pub title: String,
    /// The status code.
    pub status: u16,
    /// What is wrong here.
    pub detail: String,
    /// The id of the request, which the server's log has too.
    pub request_id: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// What is wrong with which part of the request; at most 100.
    #[serde(default)]
    #[schema(required = true)]
    pub faults: Vec<FaultJson>,
    /// How many faults there are, where they are more than are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub fault_count: Option<usize>,
    /// For a transaction: the table whose commit is in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub table: Option<String>,
    /// For a conflict: the table's snapshot that the commit was held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub current_snapshot: Option<i64>,
    /// For a conflict: every path at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub conflicts: Option<Vec<ConflictJson>>,
}

/// A kind of problem, as it is told to people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProblemTypeJson {
    /// `/problems/NAME`, which is where this is served.
    #[serde(rename = "type")]
    pub problem_type: String,
    /// What kind of problem it is.
    pub title: String,
    /// The status code.
    pub status: u16,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// What it means, and what to do about it.
    pub description: String,
    /// What such a problem says beside what all say.
    pub fields: Vec<ProblemFieldJson>,
    /// Such a problem.
    pub example: ProblemJson,
}

/// A field that problems of a kind have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemFieldJson {
    /// Its name.
    pub name: String,
    /// What it says.
    pub description: String,
}

/// All kinds of problems, by rising status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProblemTypesJson {
    /// They.
    pub problems: Vec<ProblemTypeJson>,
}

/// Something wrong with one part of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FaultJson {
    /// What is wrong, as a sentence.
    pub message: String,
    /// The file that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// The column that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub column: Option<String>,
    /// What was claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub claim: Option<String>,
    /// What speaks against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub evidence: Option<String>,
    /// The part of the request that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub at: Option<String>,
}

impl From<Fault> for FaultJson {
    fn from(fault: Fault) -> Self {
        let Fault { message, path, column, claim, evidence, at } = fault;
        let cut = |text: Option<String>| text.map(cut_to_limit);
        Self {
            message: cut_to_limit(message),
            path: cut(path),
            column: cut(column),
            claim: cut(claim),
            evidence: cut(evidence),
            at: cut(at),
        }
    }
}

/// A text of an answer, cut to [`MAX_TEXT_CHARS`]: what a request says may be megabytes, and is not to be repeated as a whole.
pub(crate) fn cut_to_limit(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_TEXT_CHARS) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// One path of a commit that contradicts the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConflictJson {
    /// The path.
    pub path: String,
    /// What is wrong with it.
    pub reason: ConflictReasonJson,
    /// The same as a sentence.
    pub message: String,
}

impl From<&Conflict> for ConflictJson {
    fn from(conflict: &Conflict) -> Self {
        // The path of a removal is one that nobody has looked at.
        let path = without_credentials(&conflict.path).into_owned();
        Self { path, reason: conflict.reason.into(), message: conflict.reason.to_string() }
    }
}

/// Why a path of a commit contradicts the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConflictReasonJson {
    /// To be added, and live already.
    AlreadyLive,
    /// Named more than once in the commit.
    NamedTwice,
    /// To be removed, and not live.
    NotLive,
    /// To be removed, and added only after the base snapshot.
    NotLiveAtBase,
    /// To be added, and a snapshot names the path with another size or etag.
    ObjectChanged,
    /// Added after the base snapshot, and it may hold rows of the filter.
    MayMatch,
    /// One that this version does not know.
    #[serde(other)]
    Unknown,
}

impl From<ConflictReason> for ConflictReasonJson {
    fn from(reason: ConflictReason) -> Self {
        match reason {
            ConflictReason::AlreadyLive => Self::AlreadyLive,
            ConflictReason::NamedTwice => Self::NamedTwice,
            ConflictReason::NotLive => Self::NotLive,
            ConflictReason::NotLiveAtBase => Self::NotLiveAtBase,
            ConflictReason::ObjectChanged => Self::ObjectChanged,
            ConflictReason::MayMatch => Self::MayMatch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_shows_no_credentials_of_a_path() {
        let reason = ConflictReason::NotLive;
        let conflict = Conflict { path: "s3://key:SECRET@bucket/a".to_owned(), reason };
        assert_eq!(ConflictJson::from(&conflict).path, "s3://***@bucket/a");
        let conflict = Conflict { path: "file:///@home/a?b=c@d.parquet".to_owned(), reason };
        assert_eq!(ConflictJson::from(&conflict).path, "file:///@home/a?b=c@d.parquet");
    }

    #[test]
    fn texts_are_told_up_to_the_limit() {
        let long = "é".repeat(MAX_TEXT_CHARS);
        assert_eq!(cut_to_limit(long.clone()), long);
        assert_eq!(cut_to_limit(format!("{long}é")), format!("{long}..."));
    }
}
