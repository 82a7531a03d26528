//! Snapshots: list, look at.

use axum::Json;
use prunus_catalog::SnapshotId;

use super::namespaces::NamesQuery;
use crate::access::ActingCatalog;
use crate::extract::{QueryOf, SnapshotOf, TableOf};
use crate::openapi::{Gone, NotFound, Refused};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::wire::{SnapshotJson, SnapshotsJson};

/// List the snapshots of a table.
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/snapshots", operation_id = "list_snapshots", tag = "snapshots",
    params(NamesQuery),
    responses((status = 200, description = "A page of them.", body = SnapshotsJson), NotFound, Refused),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<SnapshotsJson>, Problem> {
    let tokens = PageTokens::of("snapshots", &ident.to_string());
    let before: Option<i64> = tokens.decode(query.page_token.as_deref())?;
    let (snapshots, more) =
        catalog.list_snapshots(ident, before.map(SnapshotId), catalog.limits().page_size(query.page_size)?).await?;
    let last = snapshots.last().filter(|_| more);
    let next_page_token = last.map(|last| tokens.encode(&last.row.snapshot_id.0));
    let snapshots = snapshots.into_iter().map(SnapshotJson::from).collect();
    Ok(Json(SnapshotsJson { snapshots, next_page_token }))
}

/// Look at a snapshot.
///
/// What its commit did, and what the table was after it.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/snapshots/{snapshot_id}", operation_id = "get_snapshot", tag = "snapshots",
    responses((status = 200, description = "The snapshot.", body = SnapshotJson), NotFound, Gone),
)]
pub(crate) async fn get(
    ActingCatalog(catalog): ActingCatalog,
    SnapshotOf(ident, snapshot_id): SnapshotOf,
) -> Result<Json<SnapshotJson>, Problem> {
    Ok(Json(catalog.load_snapshot(ident, snapshot_id).await?.into()))
}
