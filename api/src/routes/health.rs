//! Whether the server answers, whether it can work, and what it has done.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use prunus_catalog::Catalog;
use serde::Serialize;
use utoipa::ToSchema;

use crate::metrics::{self, Metrics};
use crate::openapi::Unavailable;
use crate::problem::Problem;

/// How the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthJson {
    /// `ok`, or `ready`.
    status: &'static str,
}

/// Whether the server answers.
#[utoipa::path(
    get, path = "/healthz", operation_id = "get_health", tag = "server",
    responses((status = 200, description = "It does.", body = HealthJson)),
)]
pub(crate) async fn healthz() -> Json<HealthJson> {
    Json(HealthJson { status: "ok" })
}

/// Whether the server can work: its store can be read.
#[utoipa::path(
    get, path = "/readyz", operation_id = "get_readiness", tag = "server",
    responses((status = 200, description = "It can.", body = HealthJson), Unavailable),
)]
pub(crate) async fn readyz(State(catalog): State<Catalog>) -> Result<Json<HealthJson>, Problem> {
    catalog.check_ready().await.map_err(Problem::NotReady)?;
    Ok(Json(HealthJson { status: "ready" }))
}

/// What the server has counted, in the text format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "get_metrics", tag = "server",
    responses((status = 200, description = "The counts.", body = String, content_type = "application/openmetrics-text")),
)]
pub(crate) async fn metrics(Extension(metrics): Extension<Metrics>) -> Result<impl IntoResponse, Problem> {
    const CONTENT_TYPE: HeaderValue = HeaderValue::from_static(metrics::CONTENT_TYPE);
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.encode().map_err(Problem::Metrics)?))
}
