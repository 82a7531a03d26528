//! Grouping the manifests of a table anew.

use axum::Json;
use axum::extract::State;
use prunus_catalog::Catalog;

use crate::extract::{JsonBody, TableOf};
use crate::problem::Problem;
use crate::wire::{RegroupJson, RegroupedJson};

pub(crate) async fn regroup(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<RegroupJson>,
) -> Result<Json<RegroupedJson>, Problem> {
    Ok(Json(catalog.regroup(ident, body.parse()).await?.into()))
}
