//! What goes wrong, as clients see it: a status, a name, and what can be said without showing the inside.
//!
//! A handler returns a [`Problem`]; [`render`] makes `application/problem+json` of it, which knows the request's id, and logs
//! the server's own failures with all their causes, once.

mod kind;
mod page;

use std::any::Any;
use std::error::Error as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::response::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Error, Fault, NotReady, StoredReply};

use crate::formats::WriteError;
use crate::iceberg::{self, Refusal};
use crate::request_id;
use crate::wire::{ConflictJson, FaultJson, MAX_FAULTS, ProblemJson, cut_to_limit};

pub(crate) use kind::{KINDS, Kind};
pub(crate) use page::{list_page, page};

const CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");
/// The statuses whose answers say after how many seconds to try again.
const TRIED_AGAIN: [StatusCode; 2] = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
/// What clients are told of a failure of the server itself.
const INTERNAL_DETAIL: &str = "the server failed; its log has more under the request id";

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// The catalog refused it, or failed.
    #[error(transparent)]
    Catalog(#[from] Error),
    /// The request shows no token, and needs one.
    #[error("a token is needed here: send it as `Authorization: Bearer TOKEN`")]
    NoToken,
    /// The token of the request opens nothing. Which it is or was is for the log alone.
    #[error("the token opens nothing here: it is not one that was given, or it has expired or was revoked")]
    RefusedToken,
    /// Nothing lets anyone do this.
    #[error("this operation is let to nobody")]
    Closed,
    /// The request was sent here by way of a name that is not this machine's.
    #[error(
        "requests here need no token, so they must name a loopback address such as 127.0.0.1 or localhost as their host; a server \
         that has another name needs tokens, or has to be told that it needs none"
    )]
    ForeignHost,
    /// A proxy passed the request on, from wherever.
    #[error(
        "requests here need no token, so they must come from this machine itself, and a proxy says that it passed this one on; a server \
         behind a proxy needs tokens, or has to be told that it needs none"
    )]
    Forwarded,
    /// No route has this path.
    #[error("there is no route `{0}`; what there is stands at /docs, and for programs at /openapi.json")]
    NoSuchRoute(String),
    /// The path has other methods.
    #[error("the path does not have the method {0}")]
    MethodNotAllowed(String),
    /// The client wants a format that there is not.
    #[error(
        "the Accept header excludes the formats of the answer: application/json, and for plans and listings of files \
         application/vnd.apache.arrow.stream"
    )]
    NotAcceptable,
    /// The body is not said to be JSON.
    #[error("the body must be application/json, {0}")]
    UnsupportedMediaType(String),
    /// The body is larger than the server reads.
    #[error("the body is larger than {0} bytes")]
    BodyTooLarge(usize),
    /// The body took too long to arrive, so many seconds.
    #[error("the body did not arrive within {0} seconds")]
    BodyTooSlow(u64),
    /// There is no room for the body, and none came free in time.
    #[error("too many large bodies are being read")]
    NoRoomForBody,
    /// The body has an encoding that is not read.
    #[error("a body may be encoded as gzip or as zstd, not as {0}")]
    UnsupportedEncoding(String),
    /// The answer took too long to begin.
    #[error("the answer did not begin within {seconds} seconds; a change that has begun is carried to its end")]
    TooSlow {
        /// How long it had.
        seconds: u64,
        /// Whether something may have been done, or still be.
        is_change: bool,
    },
    /// The server takes no changes any more.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// There is no place for another connection.
    #[error("the server has as many connections as it takes")]
    TooManyConnections,
    /// The body did not arrive.
    #[error("the body did not arrive in full")]
    BodyUnreadable,
    /// The body is not JSON, or not the JSON of this route.
    #[error("the body is malformed: {}", summary(.0))]
    MalformedBody(Vec<Fault>),
    /// The query string is not that of this route.
    #[error("the query string is malformed: {}", summary(.0))]
    MalformedQuery(Vec<Fault>),
    /// A header is not what it should be.
    #[error("the header {header} is malformed: {message}")]
    MalformedHeader {
        /// Which header.
        header: &'static str,
        /// What is wrong with it.
        message: &'static str,
    },
    /// The path is not UTF-8.
    #[error("the path is malformed: {0}")]
    MalformedPath(String),
    /// Parts of the path are no names or ids.
    #[error("the {} in the path is none: {}", parts(.0), summary(.0))]
    MalformedPathParts(Vec<Fault>),
    /// The snapshot that a page token pins is gone.
    #[error("the snapshot of the page token is gone: ask for the first page again")]
    StalePageToken,
    /// A reply that is stored, or to be stored, is no answer.
    #[error("a reply of status {0} cannot be given")]
    UnusableReply(u16),
    /// An answer could not be written.
    #[error("an answer could not be written")]
    Unwritten(#[from] WriteError),
    /// The catalog cannot be worked with now.
    #[error(transparent)]
    NotReady(#[from] NotReady),
    /// What was counted cannot be written.
    #[error("the metrics cannot be written")]
    Metrics(#[source] std::fmt::Error),
    /// What the Iceberg API alone refuses.
    #[error(transparent)]
    Iceberg(#[from] Refusal),
    /// A handler panicked.
    #[error("a handler panicked: {0}")]
    Panicked(String),
}

/// What is wrong, if it is one thing; else how much.
fn summary(faults: &[Fault]) -> String {
    match faults {
        [single] => single.message.clone(),
        faults => format!("it has {} faults", faults.len()),
    }
}

/// Which parts of a path are at fault.
fn parts(faults: &[Fault]) -> String {
    let parts: Vec<&str> = faults.iter().filter_map(|fault| fault.at.as_deref()).collect();
    parts.join(" and the ")
}

impl From<Vec<Fault>> for Problem {
    fn from(faults: Vec<Fault>) -> Self {
        Self::Catalog(Error::Invalid(faults))
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::Catalog(Error::invalid(fault))
    }
}

impl Problem {
    /// For the panic layer.
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        Self::Panicked(message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default())
    }

    /// What is kept of it to be given again: a refusal that the same request would meet again. `None` for what may pass, what
    /// is not of the request, and for a key that stands for another request.
    pub(crate) fn to_stored_reply(&self) -> Option<StoredReply> {
        const PASSING: [StatusCode; 5] = [
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
            StatusCode::MISDIRECTED_REQUEST,
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::TOO_MANY_REQUESTS,
        ];
        let kind = self.kind();
        let is_of_key = matches!(self, Self::Catalog(Error::KeyReused));
        if !kind.status.is_client_error() || kind.retryable || is_of_key || PASSING.contains(&kind.status) {
            return None;
        }
        let body = serde_json::to_vec(&self.to_json(String::new())).ok()?;
        Some(StoredReply { status: kind.status.as_u16(), body })
    }

    fn answer(&self, head: Parts, request_id: String) -> Response {
        let mut answer = (head, Json(self.to_json(request_id))).into_response();
        answer.headers_mut().insert(header::CONTENT_TYPE, CONTENT_TYPE);
        answer
    }

    /// What a client is told in a sentence.
    pub(crate) fn told(&self) -> String {
        match self {
            _ if self.kind().status == StatusCode::INTERNAL_SERVER_ERROR => INTERNAL_DETAIL.to_owned(),
            Self::Catalog(Error::OfTable { table, source }) => format!("{table}: {source}"),
            problem => problem.to_string(),
        }
    }

    /// What the catalog refused, or failed at; of a transaction's commit the refusal itself, and its table.
    fn refusal(&self) -> (Option<&Error>, Option<String>) {
        match self {
            Self::Catalog(Error::OfTable { table, source }) => (Some(source), Some(table.to_string())),
            Self::Catalog(error) => (Some(error), None),
            _ => (None, None),
        }
    }

    /// What is wrong with which part of the request.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        match self {
            Self::Catalog(Error::Invalid(faults)) => faults.clone(),
            Self::Catalog(Error::Filter(errors)) => errors.iter().map(Fault::of_filter).collect(),
            Self::MalformedBody(faults) | Self::MalformedQuery(faults) | Self::MalformedPathParts(faults) => {
                faults.clone()
            }
            _ => Vec::new(),
        }
    }

    fn to_json(&self, request_id: String) -> ProblemJson {
        let kind = self.kind();
        let mut faults: Vec<FaultJson> = self.faults().into_iter().map(FaultJson::from).collect();
        let fault_count = (faults.len() > MAX_FAULTS).then_some(faults.len());
        faults.truncate(MAX_FAULTS);
        let (refusal, table) = self.refusal();
        let (current_snapshot, conflicts) = match refusal {
            Some(Error::Conflict { current_snapshot, conflicts }) => {
                (Some(current_snapshot.0), Some(conflicts.iter().map(ConflictJson::from).collect()))
            }
            _ => (None, None),
        };
        ProblemJson {
            problem_type: kind.uri(),
            title: kind.title.to_owned(),
            status: kind.status.as_u16(),
            detail: cut_to_limit(self.told()),
            request_id,
            retryable: self.is_retryable(),
            faults,
            fault_count,
            table,
            current_snapshot,
            conflicts,
        }
    }

    /// Whether the same request may be sent again for the same: not where it may have been carried out.
    fn is_retryable(&self) -> bool {
        self.kind().retryable && !matches!(self, Self::TooSlow { is_change: true, .. })
    }

    /// The document of it, where no request was read that would have an id.
    pub(crate) fn unread_document(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&self.to_json(request_id::new()))
    }

    /// Whether the connection is closed behind it: more of the request may come, which nobody will read, or none is to come.
    fn ends_connection(&self) -> bool {
        matches!(self, Self::BodyTooLarge(_) | Self::BodyTooSlow(_) | Self::NoRoomForBody | Self::ShuttingDown)
    }

    /// Whether somebody has to look after the server, or after what it needs. That it has too much to do, or stops, is no failure:
    /// it is as it is to be, and the metrics count it.
    fn is_failure(&self) -> bool {
        let kind = self.kind();
        let needs_help = match self.refusal() {
            (Some(error), _) => matches!(error, Error::StoreFull(_) | Error::StorageUnavailable { .. }),
            (None, _) => matches!(self, Self::NotReady(_) | Self::TooSlow { .. }),
        };
        kind.status.is_server_error() && (needs_help || !kind.retryable)
    }

    /// The message and those of its causes.
    pub(crate) fn chain(&self) -> String {
        let mut chain = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            chain = format!("{chain}: {error}");
            cause = error.source();
        }
        chain
    }
}

/// Carries the problem to [`render`].
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.kind().status.into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

/// A problem that was stored, as the answer to the request of this id.
pub(crate) fn stored_response(status: StatusCode, body: &[u8], request_id: String) -> Result<Response, Problem> {
    let json: ProblemJson = serde_json::from_slice(body).map_err(Error::Reply)?;
    let mut response = (status, Json(ProblemJson { request_id, ..json })).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, CONTENT_TYPE);
    Ok(response)
}

/// The middleware that gives a problem its body.
pub(crate) async fn render(request: Request, next: Next) -> Response {
    let (request_id, is_of_iceberg) = (request_id::of(&request), iceberg::is_of(request.uri().path()));
    let response = next.run(request).await;
    let Some(problem) = response.extensions().get::<Arc<Problem>>().map(Arc::clone) else { return response };
    if problem.is_failure() {
        tracing::error!(request_id, error = problem.chain(), "a request failed");
    } else {
        tracing::debug!(request_id, error = problem.chain(), "a request was refused");
    }
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let mut rendered = if is_of_iceberg { iceberg::answer(parts, &problem) } else { problem.answer(parts, request_id) };
    if TRIED_AGAIN.contains(&rendered.status())
        && let Some(seconds) = problem.kind().retry_after_seconds
    {
        rendered.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if problem.ends_connection() {
        rendered.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    rendered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_listed_up_to_the_limit() {
        let shown = |count| {
            let json = Problem::from(vec![Fault::at("x", "y"); count]).to_json(String::new());
            (json.faults.len(), json.fault_count)
        };
        assert_eq!(shown(MAX_FAULTS), (MAX_FAULTS, None));
        assert_eq!(shown(MAX_FAULTS + 1), (MAX_FAULTS, Some(MAX_FAULTS + 1)));
    }

    #[test]
    fn the_words_of_object_stores_are_neither_logged_nor_shown() {
        let secret = object_store::Error::Generic { store: "S3", source: "secret".into() };
        let inside = prunus_catalog::StorageError::Unusable(secret.into());
        let problem = Problem::Catalog(Error::StorageUnavailable { path: "s3://b/k".to_owned(), source: inside });
        assert_eq!(
            problem.chain(),
            "the object store failed for `s3://b/k`: the object store of this location is not set up here: its own words are not shown"
        );
        assert_eq!(problem.to_json(String::new()).detail, "the object store failed for `s3://b/k`");
        let panicked = Problem::panicked(&"secret").to_json(String::new());
        assert_eq!(panicked.detail, INTERNAL_DETAIL);
    }

    #[test]
    fn what_may_pass_is_not_stored() {
        let check = |problem: Problem, expected: Option<u16>| {
            assert_eq!(problem.to_stored_reply().map(|reply| reply.status), expected, "{problem}");
        };
        let unavailable = prunus_catalog::StorageError::NotFound;
        check(Problem::from(Fault::at("x", "y")), Some(422));
        check(Problem::BodyTooLarge(1), Some(413));
        check(Problem::BodyTooSlow(1), None);
        check(Problem::NoRoomForBody, None);
        check(Problem::Catalog(Error::NotFound { what: "table", name: "x".to_owned() }), Some(404));
        check(Problem::Catalog(Error::SchemaMoved), None);
        check(Problem::Catalog(Error::HeadMoved), None);
        check(Problem::Catalog(Error::StorageUnavailable { path: "x".to_owned(), source: unavailable }), None);
        check(Problem::Catalog(Error::KeyReused), None);
        check(Problem::Catalog(Error::Background), None);
        check(Problem::Panicked("x".to_owned()), None);
    }

    #[test]
    fn what_took_too_long_is_sent_again_where_nothing_can_have_been_done() {
        let retryable = |is_change| Problem::TooSlow { seconds: 1, is_change }.to_json(String::new()).retryable;
        assert_eq!((retryable(false), retryable(true)), (true, false));
    }

    #[test]
    fn a_server_that_is_busy_has_not_failed() {
        let check = |problem: Problem, expected: bool| assert_eq!(problem.is_failure(), expected, "{problem}");
        let of_table = |source| Error::OfTable { table: "n.t".parse().unwrap(), source: Box::new(source) };
        let unavailable = |path: &str| {
            let source = prunus_catalog::StorageError::NotFound;
            Error::StorageUnavailable { path: path.to_owned(), source }
        };
        check(Problem::Catalog(Error::Overloaded { changes: 1 }), false);
        check(Problem::NoRoomForBody, false);
        check(Problem::ShuttingDown, false);
        check(Problem::from(Fault::at("x", "y")), false);
        check(Problem::Catalog(unavailable("a")), true);
        check(Problem::Catalog(of_table(unavailable("a"))), true);
        check(Problem::TooSlow { seconds: 1, is_change: false }, true);
        check(Problem::Panicked("x".to_owned()), true);
    }

    #[test]
    fn a_conflict_names_its_paths() {
        let conflict =
            prunus_catalog::Conflict { path: "/a".to_owned(), reason: prunus_catalog::ConflictReason::AlreadyLive };
        let current_snapshot = prunus_catalog::SnapshotId(7);
        let problem = Problem::Catalog(Error::Conflict { current_snapshot, conflicts: vec![conflict] });
        insta::assert_json_snapshot!(problem.to_json("r".to_owned()), @r#"
        {
          "type": "/problems/conflict",
          "title": "Conflict",
          "status": 409,
          "detail": "the commit conflicts with snapshot 7",
          "request_id": "r",
          "retryable": false,
          "faults": [],
          "current_snapshot": 7,
          "conflicts": [
            {
              "path": "/a",
              "reason": "already_live",
              "message": "the file is live already"
            }
          ]
        }
        "#);
    }
}
