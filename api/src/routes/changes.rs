//! What differs between two snapshots.

use axum::Json;
use axum::extract::State;
use prunus_catalog::{Catalog, ChangesRequest, FileId, SnapshotId};
use serde::Deserialize;

use crate::extract::{QueryOf, TableOf};
use crate::page_token::{ChangePosition, PageTokens, stale};
use crate::problem::Problem;
use crate::wire::{ChangesJson, page_size};

/// Which snapshots; without `to`, the newest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangesQuery {
    from: i64,
    to: Option<i64>,
    page_size: Option<u32>,
    page_token: Option<String>,
}

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<ChangesQuery>,
) -> Result<Json<ChangesJson>, Problem> {
    let tokens = PageTokens::of("changes", &(ident.to_string(), query.from, query.to));
    let position: Option<ChangePosition> = tokens.decode(query.page_token.as_deref())?;
    let request = ChangesRequest {
        from: SnapshotId(query.from),
        to: position.map(|position| position.to).or(query.to).map(SnapshotId),
        after: position.map(|position| FileId(position.after)),
        page_size: page_size(query.page_size)?,
    };
    let changes = catalog.list_changes(ident, request).await.map_err(stale(position))?;
    let next = changes.next_after.map(|after| ChangePosition { to: changes.to.0, after: after.0 });
    let next_page_token = next.map(|position| tokens.encode(&position));
    Ok(Json(ChangesJson { next_page_token, ..changes.into() }))
}
