//! The OpenAPI document of all routes.

use axum::http::header;
use axum::response::IntoResponse;

use crate::openapi::document;

/// The OpenAPI document of this API.
///
/// As the server has it: clients can be generated from it.
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "get_openapi", tag = "server",
    responses((status = 200, description = "This document.", body = Object)),
)]
pub(crate) async fn get() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], document())
}
