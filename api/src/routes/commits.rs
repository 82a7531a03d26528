//! Commits, and rollbacks, which are commits too.

use axum::extract::State;
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
    let done = catalog.commit_once(ident, commit.parse(), key.once(COMMITTED)).await?;
    replies::answer(done, COMMITTED)
}

pub(crate) async fn roll_back(
    State(catalog): State<Catalog>,
    key: KeyOf,
    TableOf(ident): TableOf,
    JsonBody(target): JsonBody<SnapshotIdJson>,
) -> Result<Response, Problem> {
    let done = catalog.roll_back_once(ident, SnapshotId(target.snapshot_id), key.once(COMMITTED)).await?;
    replies::answer(done, COMMITTED)
}
