//! Commits.

use axum::extract::State;
use axum::response::Response;
use prunus_catalog::{Catalog, Committed, Render};

use crate::extract::{JsonBody, TableOf};
use crate::idempotency::KeyOf;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{CommitJson, CommittedJson};

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
