//! What the catalog can answer instead of a result.

use prunus_manifest::{
    Conflict, MAX_AUDITS_PER_TABLE, MAX_FILES_PER_ROLLBACK, MAX_TAGS_PER_TABLE, MAX_TOKENS, SnapshotId,
};
use prunus_pruner::{FilterError, ZoneMapsError};

use crate::access::Needed;
use crate::clock::time_text;
use crate::name::TableIdent;
use crate::storage::StorageError;

/// The result of a use case.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something wrong with one part of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong, as a sentence.
    pub message: String,
    /// The file that it is about.
    pub path: Option<String>,
    /// The column that it is about.
    pub column: Option<String>,
    /// What was claimed.
    pub claim: Option<String>,
    /// What speaks against it.
    pub evidence: Option<String>,
    /// The part of the request that it is about, as a JSON pointer or field name.
    pub at: Option<String>,
}

impl Fault {
    /// A fault whose place is still to be said.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// A fault of a field of the request.
    pub fn at(at: impl Into<String>, message: impl Into<String>) -> Self {
        Self { at: Some(at.into()), ..Self::new(message) }
    }

    /// A fault of a file.
    pub fn of_path(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..Self::new(message) }
    }

    /// A fault of a filter.
    pub fn of_filter(error: &FilterError) -> Self {
        Self { column: error.column().map(str::to_owned), ..Self::at("filter", error.to_string()) }
    }

    /// What two parts of a request are, or the faults of both.
    ///
    /// # Errors
    /// The faults of the one or the other, or of both.
    pub fn both<A, B>(one: Result<A, Vec<Self>>, other: Result<B, Vec<Self>>) -> Result<(A, B), Vec<Self>> {
        match (one, other) {
            (Ok(one), Ok(other)) => Ok((one, other)),
            (one, other) => Err(one.err().into_iter().chain(other.err()).flatten().collect()),
        }
    }

    /// The same fault of a part of a larger request.
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        let at = self.at.map_or_else(|| part.to_owned(), |at| format!("{part}.{at}"));
        Self { at: Some(at), ..self }
    }

    /// The same fault, of this column.
    #[must_use]
    pub fn in_column(self, column: impl Into<String>) -> Self {
        Self { column: Some(column.into()), ..self }
    }

    /// The same fault, with what was claimed and what speaks against it.
    #[must_use]
    pub fn with_evidence(self, claim: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { claim: Some(claim.into()), evidence: Some(evidence.into()), ..self }
    }
}

/// Why a use case did not come about. Nothing of it happened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such namespace, table or snapshot.
    #[error("{what} `{name}` does not exist")]
    NotFound {
        /// What was asked for.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// There is no such namespace, table or the like, and one whose name is nearly that, or the same elsewhere.
    #[error("{what} `{name}` does not exist, did you mean `{suggestion}`?")]
    Misnamed {
        /// What was asked for.
        what: &'static str,
        /// Its name.
        name: String,
        /// What was probably meant.
        suggestion: String,
    },
    /// What is asked for was there once, and is expired.
    #[error("{what} is expired")]
    Expired {
        /// What was asked for.
        what: String,
    },
    /// There is one of that name already.
    #[error("{what} `{name}` exists already")]
    AlreadyExists {
        /// What was to be created.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A namespace that holds tables cannot be deleted.
    #[error("namespace `{0}` is not empty")]
    NamespaceNotEmpty(String),
    /// The commit contradicts what is in the table now.
    #[error("the commit conflicts with snapshot {current_snapshot}")]
    Conflict {
        /// The table's snapshot that the commit was held against.
        current_snapshot: SnapshotId,
        /// Every path at fault.
        conflicts: Vec<Conflict>,
    },
    /// The table changed in between in a way that asks for the request to be made anew.
    #[error("the table's schema changed while the request was checked")]
    SchemaMoved,
    /// The table changed again and again while a commit's filter was held against the changes; trying again may help.
    #[error("the table changed faster than the filter could be held against the changes")]
    HeadMoved,
    /// The key of the request was given to a request of another content before.
    #[error("the key was given to a request of another content before")]
    KeyReused,
    /// The principal may not do this, whether or not what it is about is there.
    #[error("the role {0} is needed")]
    Forbidden(Needed),
    /// The request was understood and cannot be carried out; every fault that was found.
    #[error("{}", summary(.0))]
    Invalid(Vec<Fault>),
    /// The filter cannot be planned; every fault that was found.
    #[error("the filter cannot be planned")]
    Filter(Vec<FilterError>),
    /// A page token that belongs to another request.
    #[error("the page token does not belong to this request")]
    ForeignPageToken,
    /// One of the commits of a transaction cannot be made, and so none of them is.
    #[error("the commit to table `{table}` cannot be made")]
    OfTable {
        /// The table.
        table: TableIdent,
        /// Why.
        source: Box<Error>,
    },
    /// The object store failed; trying again may help.
    #[error("the object store failed for `{path}`{}", source.short_cause().map(|cause| format!(": {cause}")).unwrap_or_default())]
    StorageUnavailable {
        /// The file.
        path: String,
        /// What failed.
        source: StorageError,
    },
    /// As many requests of a kind are worked on, and as many wait, as may: nothing was done, and trying again in a moment may help.
    #[error("{what}: {at_once} are worked on and {waiting} wait, and there is no room for more")]
    TooMany {
        /// The kind, in the plural.
        what: &'static str,
        /// How many are worked on.
        at_once: usize,
        /// How many wait.
        waiting: usize,
    },
    /// As many changes as may be, or as large ones, are worked on or wait for the writer: nothing was done, and trying again in a
    /// moment may help.
    #[error("{changes} changes are worked on or wait for the writer, and there is no room for more")]
    Overloaded {
        /// How many.
        changes: usize,
    },
    /// Nobody waits for the answer any more, so the work was given up. Nobody is told.
    #[error("nobody waited for the answer any more")]
    Cancelled,
    /// The store has no room for the change, of which nothing happened; trying again may help when there is.
    #[error("the store has no room")]
    StoreFull(#[source] prunus_manifest::Error),
    /// The store failed.
    #[error("the store failed")]
    Store(#[source] prunus_manifest::Error),
    /// The stored schema of a table cannot be read.
    #[error("the stored schema of a table cannot be read")]
    StoredSchema,
    /// A stored grant of a token cannot be read.
    #[error("the stored grants of the token `{0}` cannot be read")]
    StoredGrant(String),
    /// The system gives no random numbers, of which tokens are made.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// Columns of statistics do not fit together.
    #[error("columns of statistics do not fit together")]
    ZoneMaps(#[from] ZoneMapsError),
    /// A reply cannot be written; nothing that this crate answers is known to cause it.
    #[error("a reply cannot be written")]
    Reply(#[source] serde_json::Error),
    /// A background thread was lost.
    #[error("a background thread was lost")]
    Background,
}

fn summary(faults: &[Fault]) -> String {
    match faults {
        [single] => single.message.clone(),
        faults => format!("the request has {} faults", faults.len()),
    }
}

impl Error {
    /// A request with one fault.
    pub fn invalid(fault: Fault) -> Self {
        Self::Invalid(vec![fault])
    }
}

impl From<prunus_manifest::Error> for Error {
    fn from(error: prunus_manifest::Error) -> Self {
        use prunus_manifest::Error as Store;
        match error {
            Store::NamespaceNotFound(name) => Self::NotFound { what: "namespace", name },
            Store::NamespaceExists(name) => Self::AlreadyExists { what: "namespace", name },
            Store::NamespaceNotEmpty(name) => Self::NamespaceNotEmpty(name),
            Store::TableNotFound { namespace, name } => {
                Self::NotFound { what: "table", name: format!("{namespace}.{name}") }
            }
            Store::TableGone(table_id) => Self::NotFound { what: "table", name: table_id.to_string() },
            Store::TableExists { namespace, name } => {
                Self::AlreadyExists { what: "table", name: format!("{namespace}.{name}") }
            }
            Store::SnapshotNotFound { snapshot_id, .. } => {
                Self::NotFound { what: "snapshot", name: snapshot_id.to_string() }
            }
            Store::SnapshotAtExpired { time_ms, .. } => {
                Self::Expired { what: format!("what the table held at {}", time_text(time_ms)) }
            }
            Store::TagNotFound { name, .. } => Self::NotFound { what: "tag", name },
            Store::TooManyTags(_) => {
                Self::invalid(Fault::at("tag", format!("a table has at most {MAX_TAGS_PER_TABLE} tags")))
            }
            Store::TokenExists(name) => Self::AlreadyExists { what: "token", name },
            Store::TokenNotFound(name) => Self::NotFound { what: "token", name },
            Store::TooManyTokens => {
                Self::invalid(Fault::new(format!("{MAX_TOKENS} tokens hold already, and no more can")))
            }
            Store::RollbackTooLarge => {
                let message =
                    format!("more than {MAX_FILES_PER_ROLLBACK} files differ, which is what a rollback changes");
                Self::invalid(Fault::at("snapshot_id", message))
            }
            // Only a page token names a schema.
            Store::SchemaNotFound { .. } => Self::ForeignPageToken,
            Store::SchemaMoved { .. } => Self::SchemaMoved,
            Store::HeadMoved { .. } | Store::StatisticsMoved(_) => Self::HeadMoved,
            Store::AuditNotFound { audit_id, .. } => Self::NotFound { what: "audit", name: audit_id.to_string() },
            Store::TooManyAudits(_) => Self::invalid(Fault::new(format!(
                "{MAX_AUDITS_PER_TABLE} audits of the table are running, and no more can be"
            ))),
            Store::KeyReused => Self::KeyReused,
            Store::Conflict { current_snapshot, conflicts } => Self::Conflict { current_snapshot, conflicts },
            Store::RowSumsDiffer { added, removed } => Self::invalid(
                Fault::at("add", "a replace must keep the rows of the files that it replaces")
                    .with_evidence(format!("{added} rows added"), format!("{removed} rows removed")),
            ),
            Store::TotalsOverflow(_) => {
                Self::invalid(Fault::at("add", "the table's rows or bytes would pass 2^63 - 1"))
            }
            other if other.is_out_of_room() => Self::StoreFull(other),
            other => Self::Store(other),
        }
    }
}
