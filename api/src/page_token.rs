//! Page tokens: where the next page of an answer begins.
//!
//! A token is opaque to clients. It holds the position and a hash of what was asked for, so that one of another request is
//! refused. It is not signed: whoever forges one reads nothing that could not be asked for outright.

use prunus_catalog::{Error, FileId, SchemaId, SnapshotId, SnapshotRef};
use prunus_statistics::{PrimitiveType, Value, parse_hex};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::problem::Problem;

/// The form of what is in a token.
const VERSION: u8 = 1;
/// The longest token that is read.
const MAX_PAGE_TOKEN_BYTES: usize = 8192;

/// A position in the files of a plan, a listing, or a manifest.
///
/// The newest snapshot is told of by the names of today, so the schema is pinned with it: all pages name columns alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilePosition {
    pub(crate) snapshot_id: i64,
    pub(crate) schema_id: i64,
    /// The last file of the page before.
    pub(crate) after: i64,
}

impl FilePosition {
    /// What the page before was made from.
    pub(crate) fn snapshot(self) -> SnapshotRef {
        SnapshotRef::Pinned(SnapshotId(self.snapshot_id), SchemaId(self.schema_id))
    }

    /// The last file of the page before.
    pub(crate) fn after(self) -> FileId {
        FileId(self.after)
    }
}

/// A position in a listing of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LayoutPosition {
    pub(crate) snapshot_id: i64,
    /// The last manifest of the page before.
    pub(crate) after: i64,
    /// How many manifests there were up to that one.
    pub(crate) manifests: u64,
}

/// A position in the changes up to a snapshot; where they begin stands in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangePosition {
    pub(crate) to: i64,
    /// The last file of the page before.
    pub(crate) after: i64,
}

/// A position in a listing of orphans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OrphanPosition {
    pub(crate) older_than_ms: i64,
    /// The location that the page before ended with.
    pub(crate) after: String,
}

/// The tokens of one request, whatever page of it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageTokens {
    content_hash: u64,
}

impl PageTokens {
    /// The tokens of the request with this content: its route, what its path names, and all else that decides its answer.
    pub(crate) fn of(route: &str, content: &impl Serialize) -> Self {
        // JSON of wire types and strings cannot fail; if it did, all such requests would merely share their tokens.
        let bytes = serde_json::to_vec(&(route, content)).unwrap_or_default();
        Self { content_hash: xxh3_64(&bytes) }
    }

    /// The token of the page from this position on.
    pub(crate) fn encode(self, position: &impl Serialize) -> String {
        let bytes = serde_json::to_vec(&(VERSION, self.content_hash, position)).unwrap_or_default();
        Value::Bytes(bytes).display(PrimitiveType::Binary).to_string()
    }

    /// The position that a token names; `None` without a token.
    pub(crate) fn decode<P: DeserializeOwned>(self, token: Option<&str>) -> Result<Option<P>, Error> {
        let Some(token) = token else { return Ok(None) };
        let bytes = if token.len() <= MAX_PAGE_TOKEN_BYTES { parse_hex(token) } else { None };
        let content: Option<(u8, u64, P)> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match content {
            Some((VERSION, content_hash, position)) if content_hash == self.content_hash => Ok(Some(position)),
            _ => Err(Error::ForeignPageToken),
        }
    }
}

/// For `map_err` where a position pins a snapshot: if that is gone, so is the rest of the answer.
pub(crate) fn stale<P>(position: Option<P>) -> impl FnOnce(Error) -> Problem {
    move |error| match error {
        Error::NotFound { what: "snapshot", .. } | Error::Expired { .. } if position.is_some() => {
            Problem::StalePageToken
        }
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITION: FilePosition = FilePosition { snapshot_id: 3, schema_id: 1, after: i64::MAX };

    #[test]
    fn a_token_names_its_position() {
        let tokens = PageTokens::of("plan", &("n.t", "a = 1"));
        let token = tokens.encode(&POSITION);
        assert_eq!(tokens.decode(Some(&token)).unwrap(), Some(POSITION));
        assert_eq!(tokens.decode::<FilePosition>(None).unwrap(), None);
    }

    #[test]
    fn a_token_of_another_request_is_refused() {
        let token = PageTokens::of("plan", &("n.t", "a = 1")).encode(&POSITION);
        for other in [PageTokens::of("plan", &("n.t", "a = 2")), PageTokens::of("files", &("n.t", "a = 1"))] {
            assert!(matches!(other.decode::<FilePosition>(Some(&token)), Err(Error::ForeignPageToken)));
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let tokens = PageTokens::of("plan", &"n.t");
        let token = tokens.encode(&POSITION);
        let cut = token.get(..token.len() - 2).unwrap();
        let other_kind = tokens.encode(&"name");
        for text in ["", "x", "00", cut, &other_kind, &"0".repeat(MAX_PAGE_TOKEN_BYTES + 2)] {
            assert!(matches!(tokens.decode::<FilePosition>(Some(text)), Err(Error::ForeignPageToken)), "{text}");
        }
    }

    #[test]
    fn a_token_is_read_up_to_the_limit() {
        let tokens = PageTokens::of("tables", &"n");
        let overhead = tokens.encode(&"").len();
        let token = |bytes: usize| tokens.encode(&"x".repeat((bytes - overhead) / 2));
        let (longest, longer) = (token(MAX_PAGE_TOKEN_BYTES), token(MAX_PAGE_TOKEN_BYTES + 2));
        assert_eq!(longest.len() / 2, MAX_PAGE_TOKEN_BYTES / 2);
        assert!(tokens.decode::<String>(Some(&longest)).is_ok());
        assert!(tokens.decode::<String>(Some(&longer)).is_err());
    }

    #[test]
    fn a_pinned_snapshot_that_is_gone_makes_the_token_stale() {
        let gone = || Error::NotFound { what: "snapshot", name: "3".to_owned() };
        assert!(matches!(stale(Some(POSITION))(gone()), Problem::StalePageToken));
        let expired = Error::Expired { what: String::new() };
        assert!(matches!(stale(Some(POSITION))(expired), Problem::StalePageToken));
        assert!(matches!(stale(None::<FilePosition>)(gone()), Problem::Catalog(Error::NotFound { .. })));
    }
}
