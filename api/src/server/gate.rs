//! The gate around all routes: what a server that stops still takes, how long an answer may take to begin, and what is set for the
//! body of the request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::lifecycle::Lifecycle;
use super::seconds;
use crate::detached::UNDER_WAY;
use crate::extract::{BodyRules, BodyTurn};
use crate::idempotency;
use crate::problem::Problem;
use crate::settings::LimitSettings;

/// The route that tells whether requests should come here.
const READINESS: &str = "/readyz";

/// What the gate goes by.
pub(crate) struct Gate {
    lifecycle: Lifecycle,
    /// How long a request may take until its answer begins.
    request_time: Duration,
    bodies: Arc<BodyRules>,
}

impl Gate {
    pub(crate) fn new(limits: &LimitSettings, lifecycle: Lifecycle) -> Self {
        let request_time = seconds(limits.request_seconds);
        Self { lifecycle, request_time, bodies: Arc::new(BodyRules::of(limits)) }
    }

    fn too_slow(&self, is_change: bool) -> Problem {
        Problem::TooSlow { seconds: self.request_time.as_secs(), is_change }
    }
}

/// The middleware that lets requests through.
pub(crate) async fn pass(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let is_change = idempotency::is_change(request.method(), request.uri().path());
    if gate.lifecycle.is_stopping() && (is_change || request.uri().path() == READINESS) {
        return Problem::ShuttingDown.into_response();
    }
    // What the body takes of memory is held until the answer begins: what is made of it lives for as long.
    let _turn = (!request.body().is_end_stream()).then(|| {
        let turn = BodyTurn::new(&gate.bodies);
        request.extensions_mut().insert(turn.clone());
        turn
    });
    let answered = if is_change {
        timeout(gate.request_time, UNDER_WAY.scope(gate.lifecycle.begin(), next.run(request))).await
    } else {
        timeout(gate.request_time, next.run(request)).await
    };
    let mut response = answered.unwrap_or_else(|_| gate.too_slow(is_change).into_response());
    if gate.lifecycle.is_stopping() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
