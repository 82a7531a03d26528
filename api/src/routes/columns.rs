//! The columns of a table: how much is known of each.

use axum::Json;
use axum::extract::State;
use prunus_catalog::Catalog;
use serde::Deserialize;

use crate::extract::{QueryOf, TableOf};
use crate::problem::Problem;
use crate::wire::{CoverageJson, snapshot_ref};

/// Over the files of which snapshot.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnsQuery {
    snapshot_id: Option<i64>,
    as_of: Option<String>,
}

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<ColumnsQuery>,
) -> Result<Json<CoverageJson>, Problem> {
    let snapshot = snapshot_ref(query.snapshot_id, query.as_of.as_deref())?;
    Ok(Json(catalog.load_coverage(ident, snapshot).await?.into()))
}
