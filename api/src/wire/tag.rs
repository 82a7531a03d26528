//! Tags.

use prunus_catalog::Tag;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::to_rfc3339;

/// A tag of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TagJson {
    /// Its name.
    pub tag: String,
    /// The snapshot that it names.
    pub snapshot_id: i64,
    /// When it was given to this snapshot, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl From<Tag> for TagJson {
    fn from(tag: Tag) -> Self {
        Self { tag: tag.name, snapshot_id: tag.snapshot_id.0, created_at: to_rfc3339(tag.created_at_ms) }
    }
}

/// A page of a table's tags in the order of their names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TagsJson {
    /// The page.
    pub tags: Vec<TagJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}
