//! Whether the server answers.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// How the server is.
#[derive(Serialize, ToSchema)]
pub(crate) struct HealthJson {
    /// `ok`.
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
