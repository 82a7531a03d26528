//! The table of problems: which error has which status and name. The one place that decides it.

use axum::http::StatusCode;
use prunus_catalog::Error;

use super::Problem;

/// What is the same for all problems of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) status: StatusCode,
    /// What stands after `/problems/`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Whether the same request may succeed later.
    pub(super) retryable: bool,
}

impl Kind {
    const fn new(status: StatusCode, name: &'static str, title: &'static str) -> Self {
        Self { status, name, title, retryable: false }
    }

    const fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }
}

const INTERNAL: Kind = Kind::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The server failed");

impl Problem {
    pub(super) fn kind(&self) -> Kind {
        const MALFORMED: StatusCode = StatusCode::BAD_REQUEST;
        match self {
            Self::Catalog(error) => catalog_kind(error),
            Self::NoSuchRoute(_) => Kind::new(StatusCode::NOT_FOUND, "no-such-route", "No such route"),
            Self::MethodNotAllowed(_) => {
                Kind::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed")
            }
            Self::NotAcceptable => Kind::new(StatusCode::NOT_ACCEPTABLE, "not-acceptable", "Not acceptable"),
            Self::UnsupportedMediaType(_) => {
                Kind::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "Unsupported media type")
            }
            Self::BodyTooLarge => Kind::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "Body too large"),
            Self::BodyUnreadable => Kind::new(MALFORMED, "malformed-body", "Malformed body"),
            Self::MalformedBody { .. } => Kind::new(MALFORMED, "malformed-body", "Malformed body"),
            Self::MalformedQuery(_) => Kind::new(MALFORMED, "malformed-query", "Malformed query string"),
            Self::MalformedPath(_) => Kind::new(MALFORMED, "malformed-path", "Malformed path"),
            Self::MalformedPathPart { .. } => Kind::new(MALFORMED, "malformed-path", "Malformed path"),
            Self::StalePageToken => Kind::new(StatusCode::GONE, "stale-page-token", "Stale page token"),
            Self::Panicked(_) => INTERNAL,
        }
    }
}

fn catalog_kind(error: &Error) -> Kind {
    const CONFLICT: StatusCode = StatusCode::CONFLICT;
    const REFUSED: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;
    match error {
        Error::NotFound { .. } => Kind::new(StatusCode::NOT_FOUND, "not-found", "Not found"),
        Error::Expired { .. } => Kind::new(StatusCode::GONE, "expired", "Expired"),
        Error::AlreadyExists { .. } => Kind::new(CONFLICT, "already-exists", "Already exists"),
        Error::NamespaceNotEmpty(_) => Kind::new(CONFLICT, "namespace-not-empty", "Namespace not empty"),
        Error::Conflict { .. } => Kind::new(CONFLICT, "conflict", "Conflict"),
        Error::SchemaMoved => Kind::new(CONFLICT, "schema-moved", "Schema moved").retryable(),
        Error::Invalid(_) => Kind::new(REFUSED, "invalid-request", "Invalid request"),
        Error::Filter(_) => Kind::new(REFUSED, "invalid-filter", "Invalid filter"),
        Error::ForeignPageToken => Kind::new(StatusCode::BAD_REQUEST, "foreign-page-token", "Foreign page token"),
        Error::StorageUnavailable { .. } => {
            Kind::new(StatusCode::SERVICE_UNAVAILABLE, "storage-unavailable", "Object store unavailable").retryable()
        }
        Error::Store(_) => INTERNAL,
        Error::StoredSchema => INTERNAL,
        Error::ZoneMaps(_) => INTERNAL,
        Error::Background => INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prunus_catalog::{SnapshotId, StorageError};

    /// Its variant, status and name.
    fn line(problem: &Problem) -> String {
        let kind = problem.kind();
        let retryable = if kind.retryable { " retryable" } else { "" };
        let variant = format!("{problem:?}");
        let variant = variant.strip_prefix("Catalog(").unwrap_or(&variant);
        let variant: String = variant.chars().take_while(|character| character.is_alphanumeric()).collect();
        format!("{variant}: {} {}{retryable}", kind.status.as_u16(), kind.name)
    }

    #[test]
    fn every_problem_has_a_status_and_a_name() {
        let text = || "x".to_owned();
        let problems = [
            Problem::NoSuchRoute(text()),
            Problem::MethodNotAllowed(text()),
            Problem::NotAcceptable,
            Problem::UnsupportedMediaType(text()),
            Problem::BodyTooLarge,
            Problem::BodyUnreadable,
            Problem::MalformedBody { message: text(), at: None },
            Problem::MalformedQuery(text()),
            Problem::MalformedPath(text()),
            Problem::MalformedPathPart { part: "table", message: text() },
            Problem::StalePageToken,
            Problem::Panicked(text()),
            Problem::Catalog(Error::NotFound { what: "table", name: text() }),
            Problem::Catalog(Error::Expired { what: text() }),
            Problem::Catalog(Error::AlreadyExists { what: "table", name: text() }),
            Problem::Catalog(Error::NamespaceNotEmpty(text())),
            Problem::Catalog(Error::Conflict { current_snapshot: SnapshotId(1), conflicts: Vec::new() }),
            Problem::Catalog(Error::SchemaMoved),
            Problem::Catalog(Error::Invalid(Vec::new())),
            Problem::Catalog(Error::Filter(Vec::new())),
            Problem::Catalog(Error::ForeignPageToken),
            Problem::Catalog(Error::StorageUnavailable { path: text(), source: StorageError::NotFound }),
            Problem::Catalog(Error::StoredSchema),
            Problem::Catalog(Error::Background),
        ];
        insta::assert_snapshot!(problems.iter().map(line).collect::<Vec<_>>().join("\n"), @r"
        NoSuchRoute: 404 no-such-route
        MethodNotAllowed: 405 method-not-allowed
        NotAcceptable: 406 not-acceptable
        UnsupportedMediaType: 415 unsupported-media-type
        BodyTooLarge: 413 body-too-large
        BodyUnreadable: 400 malformed-body
        MalformedBody: 400 malformed-body
        MalformedQuery: 400 malformed-query
        MalformedPath: 400 malformed-path
        MalformedPathPart: 400 malformed-path
        StalePageToken: 410 stale-page-token
        Panicked: 500 internal
        NotFound: 404 not-found
        Expired: 410 expired
        AlreadyExists: 409 already-exists
        NamespaceNotEmpty: 409 namespace-not-empty
        Conflict: 409 conflict
        SchemaMoved: 409 schema-moved retryable
        Invalid: 422 invalid-request
        Filter: 422 invalid-filter
        ForeignPageToken: 400 foreign-page-token
        StorageUnavailable: 503 storage-unavailable retryable
        StoredSchema: 500 internal
        Background: 500 internal
        ");
    }
}
