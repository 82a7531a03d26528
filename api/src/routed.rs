//! What no route takes is answered for that alone: a wrong method is told before a query that the right one would not have either.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;
use utoipa::openapi::{PathItem, Paths};

/// The middleware that leaves of a request that no route takes its method and its path. So no layer has anything to object to, and
/// the router says what is not there.
pub(crate) async fn leave_what_is_routed(State(routes): State<Arc<Paths>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().and_then(|route| routes.paths.get(route.as_str()));
    let is_taken = route.is_some_and(|route| has_method(route, request.method()));
    next.run(if is_taken { request } else { without_all_else(request) }).await
}

fn has_method(route: &PathItem, method: &Method) -> bool {
    let operation = match *method {
        Method::GET | Method::HEAD => &route.get,
        Method::PUT => &route.put,
        Method::POST => &route.post,
        Method::PATCH => &route.patch,
        Method::DELETE => &route.delete,
        _ => &None,
    };
    operation.is_some()
}

fn without_all_else(request: Request) -> Request {
    let (mut parts, _) = request.into_parts();
    parts.headers = HeaderMap::new();
    if let Ok(path) = parts.uri.path().parse::<Uri>() {
        parts.uri = path;
    }
    Request::from_parts(parts, Body::empty())
}
