//! Expiry of snapshots.

use axum::Json;
use axum::extract::State;
use prunus_catalog::Catalog;

use crate::extract::{JsonBody, TableOf};
use crate::problem::Problem;
use crate::wire::{ExpireJson, ExpiredJson};

pub(crate) async fn expire(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<ExpireJson>,
) -> Result<Json<ExpiredJson>, Problem> {
    let dry_run = body.dry_run;
    let expired = catalog.expire(ident, body.parse()?).await?;
    Ok(Json(ExpiredJson::new(expired, dry_run)))
}
