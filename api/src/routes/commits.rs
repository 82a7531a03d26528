//! Commits.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use prunus_catalog::Catalog;

use crate::extract::{JsonBody, TableOf};
use crate::problem::Problem;
use crate::wire::{CommitJson, CommittedJson};

pub(crate) async fn create(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(commit): JsonBody<CommitJson>,
) -> Result<(StatusCode, Json<CommittedJson>), Problem> {
    let committed = catalog.commit(ident, commit.parse()?).await?;
    Ok((StatusCode::CREATED, Json(committed.into())))
}
