//! From the parts of a request to typed values. Whatever does not fit is a problem that names the place.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use prunus_catalog::{AuditId, ManifestId, NamespaceName, SnapshotId, TableIdent, TagName};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

use crate::problem::Problem;
use crate::unread;

/// How deep objects and arrays of a body may be nested: the parser, and all that walks the body after it, recurses as deep.
pub(crate) const MAX_BODY_DEPTH: usize = 127;

/// A JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        check_content_type(request.headers())?;
        parse_json(&body_bytes(request).await?).map(Self)
    }
}

/// The body of a request, up to the limit that stands for it.
pub(crate) async fn body_bytes(request: Request) -> Result<Bytes, Problem> {
    Bytes::from_request(request, &()).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => Problem::BodyTooLarge,
        _ => Problem::BodyUnreadable,
    })
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else {
        return Err(Problem::UnsupportedMediaType("without a Content-Type".to_owned()));
    };
    let text = String::from_utf8_lossy(content_type.as_bytes());
    let name = text.split(';').next().unwrap_or_default().trim();
    if name.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(Problem::UnsupportedMediaType(format!("`{name}`")))
    }
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // An array would be read as the fields in their order, which no contract names.
    if !bytes.trim_ascii_start().starts_with(b"{") && !bytes.trim_ascii().is_empty() {
        return Err(Problem::MalformedBody { message: "a JSON object is expected".to_owned(), at: None });
    }
    if let Some(place) = too_deep(bytes) {
        let message = format!(
            "objects and arrays are nested more than {MAX_BODY_DEPTH} deep at {place}; a filter of many conditions can be SQL \
             text, or its `and` and `or` trees of even depth"
        );
        return Err(Problem::MalformedBody { message, at: None });
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let at = known_path(error.path());
        Problem::MalformedBody { message: error.into_inner().to_string(), at }
    })?;
    let end = deserializer.end();
    end.map_err(|error| Problem::MalformedBody { message: error.to_string(), at: None })?;
    Ok(value)
}

/// Where the text gets nested too deeply, by line and column.
fn too_deep(bytes: &[u8]) -> Option<String> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BODY_DEPTH {
            let before = bytes.get(..index).unwrap_or_default();
            let line = before.split(|byte| *byte == b'\n').count();
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
            return Some(format!("line {line} column {column}"));
        }
    }
    None
}

/// The path to a field; `None` for the whole body, and where the text broke off before the field had a name.
fn known_path(path: &serde_path_to_error::Path) -> Option<String> {
    let is_known = !path.iter().any(|segment| matches!(segment, Segment::Unknown));
    (is_known && path.iter().len() > 0).then(|| path.to_string())
}

/// A query string.
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        unread::note_query_is_read(parts);
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(Self(query)),
            Err(rejection) => {
                let message = rejection.body_text();
                let message = message.strip_prefix("Failed to deserialize query string: ").unwrap_or(&message);
                Err(Problem::MalformedQuery(message.to_owned()))
            }
        }
    }
}

/// The parts of a path that are variable. A route has some of them.
#[derive(Deserialize)]
struct PathParts {
    namespace: Option<String>,
    table: Option<String>,
    snapshot_id: Option<String>,
    tag: Option<String>,
    audit_id: Option<String>,
    manifest_id: Option<String>,
}

impl PathParts {
    async fn of(parts: &mut Parts) -> Result<Self, Problem> {
        let parts = Path::<Self>::from_request_parts(parts, &()).await;
        parts.map(|Path(parts)| parts).map_err(|rejection| Problem::MalformedPath(rejection.body_text()))
    }

    fn namespace(&self) -> Result<NamespaceName, Problem> {
        let name = self.namespace.as_deref().unwrap_or_default();
        name.parse().map_err(|error| Problem::name("namespace", &error))
    }

    fn table(&self) -> Result<TableIdent, Problem> {
        let name = self.table.as_deref().unwrap_or_default();
        let name = name.parse().map_err(|error| Problem::name("table", &error))?;
        Ok(TableIdent { namespace: self.namespace()?, name })
    }

    fn tag(&self) -> Result<TagName, Problem> {
        let name = self.tag.as_deref().unwrap_or_default();
        name.parse().map_err(|error| Problem::name("tag", &error))
    }

    fn snapshot_id(&self) -> Result<SnapshotId, Problem> {
        number("snapshot_id", self.snapshot_id.as_deref()).map(SnapshotId)
    }

    fn audit_id(&self) -> Result<AuditId, Problem> {
        number("audit_id", self.audit_id.as_deref()).map(AuditId)
    }

    fn manifest_id(&self) -> Result<ManifestId, Problem> {
        number("manifest_id", self.manifest_id.as_deref()).map(ManifestId)
    }
}

fn number(part: &'static str, text: Option<&str>) -> Result<i64, Problem> {
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| Problem::MalformedPathPart { part, message: format!("`{text}` is not a number") })
}

/// The namespace that the path names.
pub(crate) struct NamespaceOf(pub(crate) NamespaceName);

impl<S: Send + Sync> FromRequestParts<S> for NamespaceOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        PathParts::of(parts).await?.namespace().map(Self)
    }
}

/// The table that the path names.
pub(crate) struct TableOf(pub(crate) TableIdent);

impl<S: Send + Sync> FromRequestParts<S> for TableOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        PathParts::of(parts).await?.table().map(Self)
    }
}

/// The table and the snapshot that the path names.
pub(crate) struct SnapshotOf(pub(crate) TableIdent, pub(crate) SnapshotId);

impl<S: Send + Sync> FromRequestParts<S> for SnapshotOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        Ok(Self(parts.table()?, parts.snapshot_id()?))
    }
}

/// The table and the tag that the path names.
pub(crate) struct TagOf(pub(crate) TableIdent, pub(crate) TagName);

impl<S: Send + Sync> FromRequestParts<S> for TagOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        Ok(Self(parts.table()?, parts.tag()?))
    }
}

/// The table and the audit that the path names.
pub(crate) struct AuditOf(pub(crate) TableIdent, pub(crate) AuditId);

impl<S: Send + Sync> FromRequestParts<S> for AuditOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        Ok(Self(parts.table()?, parts.audit_id()?))
    }
}

/// The table and the manifest that the path names.
pub(crate) struct ManifestOf(pub(crate) TableIdent, pub(crate) ManifestId);

impl<S: Send + Sync> FromRequestParts<S> for ManifestOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        Ok(Self(parts.table()?, parts.manifest_id()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{CommitJson, PlanJson};

    fn malformed(text: &str) -> (String, String) {
        match parse_json::<CommitJson>(text.as_bytes()) {
            Err(Problem::MalformedBody { message, at }) => (at.unwrap_or_default(), message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn malformed_json_is_named_by_path_line_and_column() {
        let check = |text: &str, at: &str, message: &str| {
            assert_eq!(malformed(text), (at.to_owned(), message.to_owned()), "{text}");
        };
        check("{", "", "EOF while parsing an object at line 1 column 1");
        check("{}", "", "missing field `operation` at line 1 column 2");
        check("{\"operation\": \"append\"} x", "", "trailing characters at line 1 column 25");
        check(
            "{\"operation\": \"append\",\n \"add\": [{\"path\": \"a\"}, {\"path\": \"b\", \"size_bytes\": -1}]}",
            "add[1].size_bytes",
            "invalid value: integer `-1`, expected u64 at line 2 column 54",
        );
    }

    #[test]
    fn a_body_that_is_nested_too_deeply_says_where() {
        // The body itself is the first level, and each `not` one more.
        let nested = |depth: usize| {
            let (open, close) = ("{\"type\": \"not\", \"child\":\n".repeat(depth - 1), "}".repeat(depth - 1));
            format!("{{\"filter\": {open}\"}}]\\\"{{[\"{close}}}")
        };
        assert!(parse_json::<PlanJson>(nested(MAX_BODY_DEPTH).as_bytes()).is_ok());
        match parse_json::<PlanJson>(nested(MAX_BODY_DEPTH + 1).as_bytes()) {
            Err(Problem::MalformedBody { message, at: None }) => {
                let expected = "objects and arrays are nested more than 127 deep at line 127 column 1";
                assert!(message.starts_with(expected), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn unknown_fields_are_named() {
        let (at, message) = malformed("{\"operation\": \"append\", \"added\": []}");
        assert_eq!(at, "added");
        assert!(message.starts_with("unknown field `added`, expected one of `operation`"), "{message}");
    }

    #[test]
    fn a_body_is_json_by_its_content_type() {
        let check = |content_type: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, content_type.parse().unwrap())]);
            check_content_type(&headers).is_ok()
        };
        assert!(check("application/json"));
        assert!(check("Application/JSON; charset=utf-8"));
        assert!(!check("text/plain"));
        assert!(!check("application/jsonl"));
        assert!(check_content_type(&HeaderMap::new()).is_err());
    }
}
