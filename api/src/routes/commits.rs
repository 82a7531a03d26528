//! Commits, and rollbacks, which are commits too.

use axum::response::Response;
use prunus_catalog::{Committed, Render, SnapshotId};

use crate::access::ActingCatalog;
use crate::detached;
use crate::extract::{BodyTurn, JsonBody, TableOf};
use crate::idempotency::KeyOf;
use crate::openapi::{Conflict, Gone, NotFound};
use crate::problem::Problem;
use crate::replies;
use crate::wire::{CommitJson, CommittedJson, SnapshotIdJson};

const COMMITTED: Render<Committed> = replies::created::<_, CommittedJson>;

/// Add and remove files.
///
/// A commit makes a snapshot, or changes nothing. All its faults are reported together.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables/{table}/commits", operation_id = "commit", tag = "commits",
    request_body = CommitJson,
    responses((status = 201, description = "What was done.", body = CommittedJson), NotFound, Conflict, Gone),
)]
pub(crate) async fn create(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    body: BodyTurn,
    TableOf(ident): TableOf,
    JsonBody(commit): JsonBody<CommitJson>,
) -> Result<Response, Problem> {
    let commit = commit.parse();
    // Commits have room of their own, which they take at once or not at all: while one reads files, bodies of others are read.
    body.give_room_back();
    // Without a key nobody could ask for the outcome, so what comes before the transaction ends with the client, and nothing was done.
    let prepared = catalog.prepare_commit(ident, commit).await?;
    detached::to_the_end(async move {
        let done = catalog.commit_prepared(prepared, key.once(COMMITTED)).await?;
        replies::answer(done, COMMITTED)
    })
    .await
}

/// Bring back the content of an older snapshot.
///
/// As a new snapshot.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables/{table}/rollback", operation_id = "roll_back", tag = "commits",
    request_body = SnapshotIdJson,
    responses((status = 201, description = "What was done.", body = CommittedJson), NotFound, Conflict, Gone),
)]
pub(crate) async fn roll_back(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    TableOf(ident): TableOf,
    JsonBody(target): JsonBody<SnapshotIdJson>,
) -> Result<Response, Problem> {
    detached::to_the_end(async move {
        let done = catalog.roll_back_once(ident, SnapshotId(target.snapshot_id), key.once(COMMITTED)).await?;
        replies::answer(done, COMMITTED)
    })
    .await
}
