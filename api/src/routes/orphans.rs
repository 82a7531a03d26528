//! Objects below a table's location that no table names.

use axum::Json;
use axum::extract::State;
use prunus_catalog::{Catalog, Fault, OrphansRequest};
use serde::Deserialize;

use crate::extract::{QueryOf, TableOf};
use crate::page_token::{OrphanPosition, PageTokens};
use crate::problem::Problem;
use crate::wire::{OrphansJson, page_size, parse_time};

/// How old they must be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrphansQuery {
    older_than: Option<String>,
    page_size: Option<u32>,
    page_token: Option<String>,
}

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<OrphansQuery>,
) -> Result<Json<OrphansJson>, Problem> {
    let tokens = PageTokens::of("orphans", &(ident.to_string(), &query.older_than));
    let position: Option<OrphanPosition> = tokens.decode(query.page_token.as_deref())?;
    let asked = query.older_than.as_deref().map(|text| parse_time("older_than", text)).transpose();
    let (asked, page_size) = Fault::both(asked, page_size(query.page_size))?;
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
