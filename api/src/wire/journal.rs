//! The journal.

use prunus_catalog::{JournalPage, JournalRow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::time::to_rfc3339;
use crate::openapi::values::{NamespaceNameSchema, QualifiedNameSchema};

/// A change that was made. Names are as they were then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JournalEntryJson {
    /// Its id, which counts up.
    pub entry_id: i64,
    /// When it was made, RFC 3339.
    #[schema(format = DateTime)]
    pub at: String,
    /// Who asked for it: the name of a token. Absent where nobody had to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub principal: Option<String>,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub request_id: Option<String>,
    /// What was asked for, as this API names it.
    pub operation: String,
    /// The namespace. Absent where it is of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<NamespaceNameSchema>)]
    pub namespace: Option<String>,
    /// The table, behind its namespace. Absent where it is of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<QualifiedNameSchema>)]
    pub table: Option<String>,
    /// The snapshot before: of a commit the one that was current, of a tag the one that had it, of a table that was deleted its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub from_snapshot: Option<i64>,
    /// The snapshot after: of a commit the one that it made, of a tag the one that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub to_snapshot: Option<i64>,
    /// What else there is to say, such as the counts of files or the name of a tag. Which names there are depends on the operation,
    /// and more may be added.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object, nullable = false)]
    pub detail: Map<String, Value>,
}

impl From<JournalRow> for JournalEntryJson {
    fn from(JournalRow { entry_id, entry }: JournalRow) -> Self {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        let table = entry.namespace.as_ref().zip(entry.table).map(|(namespace, table)| format!("{namespace}.{table}"));
        Self {
            entry_id: entry_id.0,
            at: to_rfc3339(entry.at_ms),
            principal: said(entry.principal),
            request_id: said(entry.request_id),
            operation: entry.operation.into_owned(),
            namespace: entry.namespace,
            table,
            from_snapshot: entry.from_snapshot.map(|snapshot_id| snapshot_id.0),
            to_snapshot: entry.to_snapshot.map(|snapshot_id| snapshot_id.0),
            detail: entry.detail,
        }
    }
}

/// A page of the journal, newest first. With a filter it may be shorter than it was asked to be, or empty, though more pages follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JournalJson {
    /// The page.
    pub entries: Vec<JournalEntryJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

impl From<JournalPage> for JournalJson {
    /// Without a token, which the request has a share in.
    fn from(page: JournalPage) -> Self {
        Self { entries: page.rows.into_iter().map(JournalEntryJson::from).collect(), next_page_token: None }
    }
}
