//! Plans of scans.

use axum::Json;
use axum::http::StatusCode;
use serde_json::Value;

use super::error::Refusal;
use super::path::{IcebergTableOf, PlanOf};
use crate::access::ActingCatalog;
use crate::extract::JsonBody;
use crate::problem::Problem;

/// Plan a scan.
#[utoipa::path(
    post, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan", operation_id = "iceberg_plan",
    responses((status = 200)),
)]
pub(crate) async fn plan(
    ActingCatalog(_): ActingCatalog,
    IcebergTableOf(_): IcebergTableOf,
    JsonBody(_): JsonBody<Value>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(Value::Null))
}

/// Fetch a plan once more.
#[utoipa::path(
    get, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan/{plan_id}", operation_id = "iceberg_fetch_plan",
    responses((status = 200)),
)]
pub(crate) async fn fetch(ActingCatalog(_): ActingCatalog, PlanOf(_, plan_id): PlanOf) -> Result<Json<Value>, Problem> {
    Err(Refusal::NoSuchPlan(plan_id).into())
}

/// Cancel a plan: nobody will ask for it again.
#[utoipa::path(
    delete, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan/{plan_id}",
    operation_id = "iceberg_cancel_plan", responses((status = 204)),
)]
pub(crate) async fn cancel(ActingCatalog(_): ActingCatalog, PlanOf(_, plan_id): PlanOf) -> Result<StatusCode, Problem> {
    Err(Refusal::NoSuchPlan(plan_id).into())
}
