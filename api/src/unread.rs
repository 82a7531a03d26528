//! What a request has and its route does not read is refused, not ignored: its client meant something by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::HttpBody;
use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prunus_catalog::Fault;

use crate::iceberg;
use crate::problem::Problem;

/// Where a page for people is, whose own scripts ask for what they like.
pub(crate) const PAGES: &str = "/docs";

/// Whether the query string of a request was read.
#[derive(Clone, Default)]
struct QueryRead(Arc<AtomicBool>);

/// Notes that the query string of a request is read, so that what it may hold is up to the reader.
pub(crate) fn note_query_is_read(parts: &Parts) {
    if let Some(read) = parts.extensions.get::<QueryRead>() {
        read.0.store(true, Ordering::Relaxed);
    }
}

/// The middleware that refuses queries and bodies that nothing reads. Clients of Iceberg send what servers may leave unread.
///
/// No request that may change something has a query, and so it is refused before it is looked at. Of one that is read it shows
/// afterwards: an answer without fault was made by a handler that had all that it reads.
pub(crate) async fn refuse(mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    if route.is_none_or(|route| route.starts_with(PAGES) || iceberg::is_of(route)) {
        return next.run(request).await;
    }
    if has_unread_body(&request) {
        let message = format!("a {} request has no body", request.method());
        return Problem::MalformedBody(vec![Fault::new(message)]).into_response();
    }
    let query = request.uri().query().filter(|query| !query.is_empty()).map(str::to_owned);
    let Some(query) = query else { return next.run(request).await };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return refused(&query);
    }
    let read = QueryRead::default();
    request.extensions_mut().insert(read.clone());
    let response = next.run(request).await;
    let is_fault = response.status().is_client_error() || response.status().is_server_error();
    if is_fault || read.0.load(Ordering::Relaxed) { response } else { refused(&query) }
}

fn has_unread_body(request: &Request) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD | Method::DELETE) && !request.body().is_end_stream()
}

/// Every parameter is one too many.
fn refused(query: &str) -> Response {
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default()).filter(|name| !name.is_empty());
    let fault = |name| Fault::at(name, format!("unknown parameter `{name}`, there are none here"));
    Problem::MalformedQuery(names.map(fault).collect()).into_response()
}
