//! All routes on one page, and the layers around them.

use std::any::Any;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{from_fn, map_request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use prunus_catalog::Catalog;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::trace::TraceLayer;

use crate::problem::{self, Problem};
use crate::routes::{commits, files, health, namespaces, plan, snapshots, tables};
use crate::{accept, request_id};

/// The largest body that is read.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// The HTTP API over a catalog.
pub fn router(catalog: Catalog) -> Router {
    with_layers(routes().with_state(catalog))
}

fn routes() -> Router<Catalog> {
    let table = Router::new()
        .route("/", get(tables::get).delete(tables::delete))
        .route("/commits", post(commits::create))
        .route("/plan", post(plan::plan))
        .route("/snapshots", get(snapshots::list))
        .route("/snapshots/{snapshot_id}", get(snapshots::get))
        .route("/files", get(files::list));

    Router::new()
        .route("/healthz", get(health::healthz))
        .route("/v1/namespaces", get(namespaces::list).post(namespaces::create))
        .route("/v1/namespaces/{namespace}", get(namespaces::get).delete(namespaces::delete))
        .route("/v1/namespaces/{namespace}/tables", get(tables::list).post(tables::create))
        .nest("/v1/namespaces/{namespace}/tables/{table}", table)
        .fallback(no_such_route)
        .method_not_allowed_fallback(method_not_allowed)
}

/// The layers, innermost first: what stands below another goes around it.
fn with_layers(routes: Router) -> Router {
    routes
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn(accept::require_json))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(problem::render))
        .layer(PropagateRequestIdLayer::x_request_id())
        .layer(TraceLayer::new_for_http().make_span_with(request_id::span))
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(map_request(request_id::drop_unusable))
}

async fn no_such_route(request: Request) -> Problem {
    Problem::NoSuchRoute(request.uri().path().to_owned())
}

async fn method_not_allowed(request: Request) -> Problem {
    Problem::MethodNotAllowed(request.method().to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "the signature is that of the layer")]
fn panicked(payload: Box<dyn Any + Send>) -> Response {
    Problem::panicked(payload.as_ref()).into_response()
}
