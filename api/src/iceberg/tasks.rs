//! What of a plan comes later.

use std::sync::Arc;

use axum::Extension;
use axum::response::Response;
use serde::Deserialize;

use super::cancelled::CancelledPlans;
use super::envelope;
use super::error::Refusal;
use super::path::IcebergTableOf;
use super::scan_token::ScanToken;
use crate::access::ActingCatalog;
use crate::extract::JsonBody;
use crate::problem::Problem;

/// Which part of a plan is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct TaskJson {
    plan_task: String,
}

/// Fetch the files of a plan's task.
#[utoipa::path(
    post, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/tasks", operation_id = "iceberg_fetch_tasks",
    responses((status = 200)),
)]
pub(crate) async fn fetch(
    ActingCatalog(catalog): ActingCatalog,
    IcebergTableOf(ident): IcebergTableOf,
    Extension(cancelled): Extension<Arc<CancelledPlans>>,
    JsonBody(TaskJson { plan_task }): JsonBody<TaskJson>,
) -> Result<Response, Problem> {
    let refused = |why: &str| Problem::from(Refusal::NoSuchPlanTask(why.to_owned()));
    let token = ScanToken::decode(&plan_task, &catalog).filter(|token| !cancelled.contains(token.plan));
    let token = token.ok_or_else(|| refused("no plan has this task: it was cancelled, has expired, or never was"))?;
    let envelope = envelope::go_on(&catalog, ident, &token).await?;
    let envelope = envelope.ok_or_else(|| refused("the plan has expired with its snapshot, or is of another table"))?;
    Ok(envelope.into_tasks())
}
