//! The columns of a table: how much is known of each.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::ActingCatalog;
use crate::extract::{QueryOf, TableOf};
use crate::openapi::values::NumberSchema;
use crate::openapi::{Gone, NotFound, Refused, TooMany};
use crate::problem::Problem;
use crate::wire::{CoverageJson, snapshot_ref};

/// Over the files of which snapshot.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ColumnsQuery {
    /// The snapshot; the newest if neither it nor a time is given.
    #[param(value_type = Option<NumberSchema>)]
    snapshot_id: Option<i64>,
    /// RFC 3339: the newest snapshot that was committed at or before it.
    #[param(format = DateTime)]
    as_of: Option<String>,
}

/// List the columns of a table.
///
/// With how much is known of each over the files of a snapshot.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/columns", operation_id = "list_columns", tag = "files",
    params(ColumnsQuery),
    responses((status = 200, description = "The columns.", body = CoverageJson), NotFound, Gone, Refused, TooMany),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<ColumnsQuery>,
) -> Result<Json<CoverageJson>, Problem> {
    let snapshot = snapshot_ref(query.snapshot_id, query.as_of.as_deref())?;
    Ok(Json(catalog.load_coverage(ident, snapshot).await?.into()))
}
