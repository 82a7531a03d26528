//! What clients report of their scans.

use axum::http::StatusCode;
use serde::de::IgnoredAny;

use super::path::IcebergTableOf;
use crate::access::ActingCatalog;
use crate::extract::JsonBody;
use crate::problem::Problem;

/// Take a report.
///
/// It is counted, by the route, and not kept.
#[utoipa::path(
    post, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/metrics", operation_id = "iceberg_report",
    responses((status = 204)),
)]
pub(crate) async fn take(
    ActingCatalog(catalog): ActingCatalog,
    IcebergTableOf(ident): IcebergTableOf,
    JsonBody(_): JsonBody<IgnoredAny>,
) -> Result<StatusCode, Problem> {
    catalog.load_table(ident).await?;
    Ok(StatusCode::NO_CONTENT)
}
