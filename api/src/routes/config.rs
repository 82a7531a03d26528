//! What clients can count on here.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use prunus_catalog::Catalog;

use crate::settings::LimitSettings;
use crate::wire::ConfigJson;

/// What a client can count on.
///
/// The limits, defaults and formats of this server.
#[utoipa::path(
    get, path = "/v1/config", operation_id = "get_config", tag = "server",
    responses((status = 200, description = "They are these.", body = ConfigJson)),
)]
pub(crate) async fn get(
    State(catalog): State<Catalog>,
    Extension(settings): Extension<Arc<LimitSettings>>,
) -> Json<ConfigJson> {
    Json(ConfigJson::of_this_server(&settings, catalog.limits()))
}
