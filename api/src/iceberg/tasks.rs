//! What of a plan comes later.

use axum::Json;
use serde_json::Value;

use super::error::Refusal;
use super::path::IcebergTableOf;
use crate::access::ActingCatalog;
use crate::extract::JsonBody;
use crate::problem::Problem;

/// Fetch the files of a plan's task.
#[utoipa::path(
    post, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/tasks", operation_id = "iceberg_fetch_tasks",
    responses((status = 200)),
)]
pub(crate) async fn fetch(
    ActingCatalog(_): ActingCatalog,
    IcebergTableOf(_): IcebergTableOf,
    JsonBody(_): JsonBody<Value>,
) -> Result<Json<Value>, Problem> {
    Err(Refusal::NoSuchPlanTask(String::new()).into())
}
