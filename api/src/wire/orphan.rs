//! Objects that no table names.

use prunus_catalog::{OrphanPage, StoredObject};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::to_rfc3339;

/// An object below a table's location that no file of any table is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OrphanJson {
    /// Where it is.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was written, RFC 3339.
    #[schema(format = DateTime)]
    pub last_modified: String,
}

impl From<StoredObject> for OrphanJson {
    fn from(object: StoredObject) -> Self {
        Self {
            path: object.location.as_str().to_owned(),
            size_bytes: object.size_bytes,
            last_modified: to_rfc3339(object.last_modified_ms),
        }
    }
}

/// A page of orphans in the order of their paths. It may be shorter than was asked for though more follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OrphansJson {
    /// The time that all of them were written before, RFC 3339.
    #[schema(format = DateTime)]
    pub older_than: String,
    /// The page.
    pub orphans: Vec<OrphanJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

impl From<OrphanPage> for OrphansJson {
    fn from(page: OrphanPage) -> Self {
        Self {
            older_than: to_rfc3339(page.older_than_ms),
            orphans: page.orphans.into_iter().map(OrphanJson::from).collect(),
            next_page_token: None,
        }
    }
}
