//! What clients can count on here.

use axum::Json;

use crate::wire::ConfigJson;

pub(crate) async fn get() -> Json<ConfigJson> {
    Json(ConfigJson::of_this_server())
}
