//! Objects below a table's location that no table names.

use axum::Json;
use prunus_catalog::{Fault, OrphansRequest};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::ActingCatalog;
use crate::extract::{QueryOf, TableOf};
use crate::openapi::values::PageSizeSchema;
use crate::openapi::{NotFound, Refused, TooMany, Unavailable};
use crate::page_token::{OrphanPosition, PageTokens};
use crate::problem::Problem;
use crate::wire::{OrphansJson, parse_time};

/// How old they must be.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OrphansQuery {
    /// RFC 3339: objects that were written before it.
    #[param(format = DateTime)]
    older_than: Option<String>,
    /// The most entries of a page.
    #[param(value_type = Option<PageSizeSchema>)]
    page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    page_token: Option<String>,
}

/// List the objects below the location of a table that no table names.
///
/// They are listed, never deleted. What is being written is not named yet either: ask for old ones alone.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/orphans", operation_id = "list_orphans", tag = "maintenance",
    params(OrphansQuery),
    responses((status = 200, description = "A page of them.", body = OrphansJson), NotFound, Refused, TooMany, Unavailable),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<OrphansQuery>,
) -> Result<Json<OrphansJson>, Problem> {
    let tokens = PageTokens::of("orphans", &(ident.to_string(), &query.older_than));
    let position: Option<OrphanPosition> = tokens.decode(query.page_token.as_deref())?;
    let asked = query.older_than.as_deref().map(|text| parse_time("older_than", text)).transpose();
    let (asked, page_size) = Fault::both(asked, catalog.limits().page_size(query.page_size))?;
    let (older_than_ms, after) = match position {
        None => (asked, None),
        Some(position) => (Some(position.older_than_ms), Some(position.after)),
    };
    let request = OrphansRequest { older_than_ms, after, page_size };
    let page = catalog.list_orphans(ident, request).await?;
    let next = page.next_after.clone().map(|after| OrphanPosition { older_than_ms: page.older_than_ms, after });
    let next_page_token = next.map(|position| tokens.encode(&position));
    Ok(Json(OrphansJson { next_page_token, ..page.into() }))
}
