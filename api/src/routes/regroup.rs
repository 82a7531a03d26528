//! Grouping the manifests of a table anew.

use axum::Json;

use crate::access::ActingCatalog;
use crate::detached;
use crate::extract::{JsonBody, TableOf};
use crate::openapi::{NotFound, TooMany};
use crate::problem::Problem;
use crate::wire::{RegroupJson, RegroupedJson};

/// Group the manifests of a table anew.
///
/// No snapshot changes by it.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables/{table}/regroup", operation_id = "regroup_manifests", tag = "maintenance",
    request_body = RegroupJson,
    responses((status = 200, description = "What was done, or would be.", body = RegroupedJson), NotFound, TooMany),
)]
pub(crate) async fn regroup(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<RegroupJson>,
) -> Result<Json<RegroupedJson>, Problem> {
    let request = body.parse();
    let dry_run = request.dry_run;
    let regroup = async move { Ok(catalog.regroup(ident, request).await?) };
    let regrouped = if dry_run { regroup.await } else { detached::to_the_end(regroup).await }?;
    Ok(Json(regrouped.into()))
}
