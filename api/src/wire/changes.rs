//! Changes between two snapshots.

use prunus_catalog::Changes;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::file::FileJson;

/// A page of the files that are live in one of two snapshots alone, by rising `file_id` over both lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangesJson {
    /// The snapshot that was compared with; 0 is the empty table.
    pub from: i64,
    /// The snapshot that was compared.
    pub to: i64,
    /// Those of the page that are live in `to` and not in `from`.
    pub added: Vec<FileJson>,
    /// Those of the page that are live in `from` and not in `to`.
    pub removed: Vec<FileJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

impl From<Changes> for ChangesJson {
    fn from(changes: Changes) -> Self {
        Self {
            from: changes.from.0,
            to: changes.to.0,
            added: changes.added.into_iter().map(FileJson::from).collect(),
            removed: changes.removed.into_iter().map(FileJson::from).collect(),
            next_page_token: None,
        }
    }
}
