//! Whether the server answers, whether it can work, and what it has done.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::IntoResponse;
use axum::{Extension, Json};
use prunus_catalog::Catalog;
use serde_json::{Value, json};

use crate::metrics::{self, Metrics};
use crate::problem::Problem;

/// It does.
pub(crate) async fn healthz() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

/// Whether the store can be read.
pub(crate) async fn readyz(State(catalog): State<Catalog>) -> Result<Json<Value>, Problem> {
    catalog.check_ready().await.map_err(Problem::NotReady)?;
    Ok(Json(json!({"status": "ready"})))
}

/// What was counted, in Prometheus' text format.
pub(crate) async fn metrics(Extension(metrics): Extension<Metrics>) -> Result<impl IntoResponse, Problem> {
    const CONTENT_TYPE: HeaderValue = HeaderValue::from_static(metrics::CONTENT_TYPE);
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], metrics.encode().map_err(Problem::Metrics)?))
}
