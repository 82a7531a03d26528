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
            Self::MalformedHeader { .. } => Kind::new(MALFORMED, "malformed-header", "Malformed header"),
            Self::MalformedPath(_) => Kind::new(MALFORMED, "malformed-path", "Malformed path"),
            Self::MalformedPathPart { .. } => Kind::new(MALFORMED, "malformed-path", "Malformed path"),
            Self::StalePageToken => Kind::new(StatusCode::GONE, "stale-page-token", "Stale page token"),
            Self::NotReady(_) => Kind::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "Not ready").retryable(),
            Self::Metrics(_) => INTERNAL,
            Self::UnusableReply(_) => INTERNAL,
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
        Error::HeadMoved => Kind::new(CONFLICT, "table-moved", "Table moved").retryable(),
        Error::KeyReused => Kind::new(REFUSED, "idempotency-key-reused", "Idempotency key reused"),
        Error::Invalid(_) => Kind::new(REFUSED, "invalid-request", "Invalid request"),
        Error::Filter(_) => Kind::new(REFUSED, "invalid-filter", "Invalid filter"),
        Error::ForeignPageToken => Kind::new(StatusCode::BAD_REQUEST, "foreign-page-token", "Foreign page token"),
        Error::OfTable { source, .. } => catalog_kind(source),
        Error::StorageUnavailable { .. } => {
            Kind::new(StatusCode::SERVICE_UNAVAILABLE, "storage-unavailable", "Object store unavailable").retryable()
        }
        Error::StoreFull(_) => {
            Kind::new(StatusCode::SERVICE_UNAVAILABLE, "store-full", "The store has no room").retryable()
        }
        Error::Store(_) => INTERNAL,
        Error::StoredSchema => INTERNAL,
        Error::ZoneMaps(_) => INTERNAL,
        Error::Reply(_) => INTERNAL,
        Error::Background => INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prunus_catalog::{SnapshotId, StorageError};

    fn text() -> String {
        "x".to_owned()
    }

    /// A line for each: its variant, status and name.
    fn table(problems: impl IntoIterator<Item = Problem>) -> String {
        let line = |problem: Problem| {
            let kind = problem.kind();
            let retryable = if kind.retryable { " retryable" } else { "" };
            let variant = format!("{problem:?}");
            let variant = variant.strip_prefix("Catalog(").unwrap_or(&variant);
            let variant: String = variant.chars().take_while(|character| character.is_alphanumeric()).collect();
            format!("{variant}: {} {}{retryable}", kind.status.as_u16(), kind.name)
        };
        problems.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_problem_of_a_request_has_a_status_and_a_name() {
        let problems = [
            Problem::NoSuchRoute(text()),
            Problem::MethodNotAllowed(text()),
            Problem::NotAcceptable,
            Problem::UnsupportedMediaType(text()),
            Problem::BodyTooLarge,
            Problem::BodyUnreadable,
            Problem::MalformedBody { message: text(), at: None },
            Problem::MalformedQuery(text()),
            Problem::MalformedHeader { header: "Idempotency-Key", message: "x" },
            Problem::MalformedPath(text()),
            Problem::MalformedPathPart { part: "table", message: text() },
            Problem::StalePageToken,
            Problem::UnusableReply(0),
            Problem::Panicked(text()),
        ];
        insta::assert_snapshot!(table(problems), @r"
        NoSuchRoute: 404 no-such-route
        MethodNotAllowed: 405 method-not-allowed
        NotAcceptable: 406 not-acceptable
        UnsupportedMediaType: 415 unsupported-media-type
        BodyTooLarge: 413 body-too-large
        BodyUnreadable: 400 malformed-body
        MalformedBody: 400 malformed-body
        MalformedQuery: 400 malformed-query
        MalformedHeader: 400 malformed-header
        MalformedPath: 400 malformed-path
        MalformedPathPart: 400 malformed-path
        StalePageToken: 410 stale-page-token
        UnusableReply: 500 internal
        Panicked: 500 internal
        ");
    }

    #[test]
    fn every_error_of_the_catalog_has_a_status_and_a_name() {
        let errors = [
            Error::NotFound { what: "table", name: text() },
            Error::Expired { what: text() },
            Error::AlreadyExists { what: "table", name: text() },
            Error::NamespaceNotEmpty(text()),
            Error::Conflict { current_snapshot: SnapshotId(1), conflicts: Vec::new() },
            Error::SchemaMoved,
            Error::HeadMoved,
            Error::KeyReused,
            Error::Invalid(Vec::new()),
            Error::Filter(Vec::new()),
            Error::ForeignPageToken,
            Error::OfTable { table: "n.t".parse().unwrap(), source: Box::new(Error::SchemaMoved) },
            Error::StorageUnavailable { path: text(), source: StorageError::NotFound },
            Error::StoredSchema,
            Error::Reply(serde_json::from_str::<()>("").unwrap_err()),
            Error::Background,
        ];
        insta::assert_snapshot!(table(errors.map(Problem::Catalog)), @r"
        NotFound: 404 not-found
        Expired: 410 expired
        AlreadyExists: 409 already-exists
        NamespaceNotEmpty: 409 namespace-not-empty
        Conflict: 409 conflict
        SchemaMoved: 409 schema-moved retryable
        HeadMoved: 409 table-moved retryable
        KeyReused: 422 idempotency-key-reused
        Invalid: 422 invalid-request
        Filter: 422 invalid-filter
        ForeignPageToken: 400 foreign-page-token
        OfTable: 409 schema-moved retryable
        StorageUnavailable: 503 storage-unavailable retryable
        StoredSchema: 500 internal
        Reply: 500 internal
        Background: 500 internal
        ");
    }
}
