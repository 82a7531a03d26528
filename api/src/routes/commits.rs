//! Commits, and rollbacks, which are commits too.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use prunus_catalog::{Catalog, SnapshotId};

use crate::extract::{JsonBody, TableOf};
use crate::problem::Problem;
use crate::wire::{CommitJson, CommittedJson, SnapshotIdJson};

pub(crate) async fn create(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(commit): JsonBody<CommitJson>,
) -> Result<(StatusCode, Json<CommittedJson>), Problem> {
    let committed = catalog.commit(ident, commit.parse()?).await?;
    Ok((StatusCode::CREATED, Json(committed.into())))
}

pub(crate) async fn roll_back(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(target): JsonBody<SnapshotIdJson>,
) -> Result<(StatusCode, Json<CommittedJson>), Problem> {
    let committed = catalog.roll_back(ident, SnapshotId(target.snapshot_id)).await?;
    Ok((StatusCode::CREATED, Json(committed.into())))
}
