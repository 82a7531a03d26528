//! What clients can count on here.

use axum::Json;

use crate::wire::ConfigJson;

/// What a client can count on.
///
/// The limits, defaults and formats of this server.
#[utoipa::path(
    get, path = "/v1/config", operation_id = "get_config", tag = "server",
    responses((status = 200, description = "They are these.", body = ConfigJson)),
)]
pub(crate) async fn get() -> Json<ConfigJson> {
    Json(ConfigJson::of_this_server())
}
