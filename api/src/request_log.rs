//! A line of the log per request, and the span that all lines of a request stand in.
//!
//! What is told of a request is the template of its route and its path without the query: what a client may put into its headers,
//! its query and its body is nobody's business, and may be a secret.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use prunus_catalog::SLOW;
use tracing::{Instrument, Span, field};

use crate::metrics::{NO_ROUTE, known_method};
use crate::{request_id, telemetry};

/// How much of a path is told.
const MAX_PATH_BYTES: usize = 256;
/// Routes that are asked again and again by machines.
const PROBES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// The address that a request came from, which is that of a proxy where there is one. Requests without a connection have none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The middleware that tells of requests. Whoever learns who asks records it in the span's field `principal`.
pub(crate) async fn tell(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let name = route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    let span = span(&request, name);
    telemetry::take_up_trace(&span, request.headers());
    let mut unanswered = Unanswered { span: Some(span.clone()) };
    let began = Instant::now();
    let response = next.run(request).instrument(span).await;
    if let Some(span) = unanswered.span.take() {
        let name = route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
        span.in_scope(|| tell_of_answer(name, response.status(), began.elapsed()));
    }
    response
}

fn span(request: &Request, route: &str) -> Span {
    let (method, path) = (known_method(request.method()), request.uri().path());
    let path = path.get(..path.floor_char_boundary(MAX_PATH_BYTES)).unwrap_or_default();
    let request_id = request_id::of(request);
    let peer = request.extensions().get::<Peer>().map(|Peer(address)| field::display(address));
    tracing::info_span!("request", method, route, path, request_id, peer, principal = field::Empty)
}

fn tell_of_answer(route: &str, status: StatusCode, duration: Duration) {
    let (code, duration_ms) = (status.as_u16(), duration.as_secs_f64() * 1e3);
    // For traces; the line has it as a field of its own.
    telemetry::note_status(&Span::current(), status);
    let is_probe = PROBES.contains(&route) && !status.is_server_error();
    if duration >= SLOW {
        tracing::warn!(status = code, duration_ms, "answered slowly");
    } else if is_probe {
        tracing::debug!(status = code, duration_ms, "answered");
    } else {
        tracing::info!(status = code, duration_ms, "answered");
    }
}

/// A request that has no answer yet. If it never has one, its client has gone.
struct Unanswered {
    span: Option<Span>,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(span) = &self.span {
            span.in_scope(|| tracing::info!("not answered: the client hung up, or the server was stopped"));
        }
    }
}
