//! Commits, and rollbacks, which are commits too.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use prunus_catalog::{Catalog, Committed, Render, SnapshotId};

use crate::extract::{JsonBody, TableOf};
use crate::idempotency::KeyOf;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{CommitJson, CommittedJson, SnapshotIdJson};

const COMMITTED: Render<Committed> = replies::created::<_, CommittedJson>;

pub(crate) async fn create(
    State(catalog): State<Catalog>,
    key: KeyOf,
    TableOf(ident): TableOf,
    JsonBody(commit): JsonBody<CommitJson>,
) -> Result<Response, Problem> {
    let done = catalog.commit_once(ident, commit.parse()?, key.once(COMMITTED)).await?;
    replies::answer(done, COMMITTED)
}

pub(crate) async fn roll_back(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(target): JsonBody<SnapshotIdJson>,
) -> Result<(StatusCode, Json<CommittedJson>), Problem> {
    let committed = catalog.roll_back(ident, SnapshotId(target.snapshot_id)).await?;
    Ok((StatusCode::CREATED, Json(committed.into())))
}
