//! Whether the server answers, whether it can work, and what it has done.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use prunus_catalog::{Catalog, Error};
use serde::Serialize;
use utoipa::ToSchema;

use crate::metrics::{self, Metrics};
use crate::openapi::Unavailable;
use crate::problem::Problem;

/// How the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthJson {
    /// What was asked of it, and is so.
    status: HealthStatusJson,
}

/// How a server can be.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HealthStatusJson {
    /// It answers.
    Ok,
    /// It can work.
    Ready,
}

/// Whether the server answers.
///
/// It does so also while its store does not answer.
#[utoipa::path(
    get, path = "/healthz", operation_id = "get_health", tag = "server",
    responses((status = 200, description = "It does.", body = HealthJson)),
)]
pub(crate) async fn healthz() -> Json<HealthJson> {
    Json(HealthJson { status: HealthStatusJson::Ok })
}

/// Whether the server can work.
///
/// That is: whether its store can be read and is what was opened, and whether the disk that it is kept on can be written to and has as
/// many free bytes as the setting `store.free_bytes_min` asks for.
#[utoipa::path(
    get, path = "/readyz", operation_id = "get_readiness", tag = "server",
    responses((status = 200, description = "It can.", body = HealthJson), Unavailable),
)]
pub(crate) async fn readyz(State(catalog): State<Catalog>) -> Result<Json<HealthJson>, Problem> {
    catalog.check_ready().await?;
    Ok(Json(HealthJson { status: HealthStatusJson::Ready }))
}

/// What the server has counted.
///
/// In the text format of Prometheus, version 0.0.4, whatever the Accept header says.
#[utoipa::path(
    get, path = "/metrics", operation_id = "get_metrics", tag = "server",
    responses((status = 200, description = "The counts.", body = String, content_type = "text/plain")),
)]
pub(crate) async fn metrics(Extension(metrics): Extension<Metrics>) -> Result<impl IntoResponse, Problem> {
    const CONTENT_TYPE: HeaderValue = HeaderValue::from_static(metrics::CONTENT_TYPE);
    let encoded = tokio::task::spawn_blocking(move || metrics.encode()).await.map_err(|_| Error::Background)?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], encoded.map_err(Problem::Metrics)?))
}
