//! Expiry of snapshots.

use axum::Json;

use crate::access::ActingCatalog;
use crate::detached;
use crate::extract::{JsonBody, TableOf};
use crate::openapi::{NotFound, TooMany};
use crate::problem::Problem;
use crate::wire::{ExpireJson, ExpiredJson};

/// Forget old snapshots.
///
/// With the files that no other snapshot names. The objects stay where they are.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables/{table}/expire", operation_id = "expire_snapshots", tag = "maintenance",
    request_body = ExpireJson,
    responses((status = 200, description = "What was done, or would be.", body = ExpiredJson), NotFound, TooMany),
)]
pub(crate) async fn expire(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<ExpireJson>,
) -> Result<Json<ExpiredJson>, Problem> {
    let (dry_run, request) = (body.dry_run, body.parse()?);
    let expire = async move { Ok(catalog.expire(ident, request).await?) };
    let expired = if dry_run { expire.await } else { detached::to_the_end(expire).await }?;
    Ok(Json(ExpiredJson::new(expired, dry_run)))
}
