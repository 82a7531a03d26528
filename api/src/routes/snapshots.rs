//! Snapshots: list, look at.

use axum::Json;
use axum::extract::State;
use prunus_catalog::{Catalog, SnapshotId};

use super::namespaces::NamesQuery;
use crate::extract::{QueryOf, SnapshotOf, TableOf};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::wire::{SnapshotJson, SnapshotsJson, page_size};

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<SnapshotsJson>, Problem> {
    let tokens = PageTokens::of("snapshots", &ident.to_string());
    let before: Option<i64> = tokens.decode(query.page_token.as_deref())?;
    let (snapshots, more) = catalog.list_snapshots(ident, before.map(SnapshotId), page_size(query.page_size)?).await?;
    let last = snapshots.last().filter(|_| more);
    let next_page_token = last.map(|last| tokens.encode(&last.row.snapshot_id.0));
    let snapshots = snapshots.into_iter().map(SnapshotJson::from).collect();
    Ok(Json(SnapshotsJson { snapshots, next_page_token }))
}

pub(crate) async fn get(
    State(catalog): State<Catalog>,
    SnapshotOf(ident, snapshot_id): SnapshotOf,
) -> Result<Json<SnapshotJson>, Problem> {
    Ok(Json(catalog.load_snapshot(ident, snapshot_id).await?.into()))
}
