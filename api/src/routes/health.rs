//! Whether the server answers.

use axum::Json;
use serde_json::{Value, json};

/// It does.
pub(crate) async fn healthz() -> Json<Value> {
    Json(json!({"status": "ok"}))
}
