//! Transactions.

use axum::response::Response;
use prunus_catalog::{Render, Role, TableCommitted};

use crate::access::ActingCatalog;
use crate::detached;
use crate::extract::{BodyTurn, JsonBody};
use crate::idempotency::KeyOf;
use crate::openapi::{Conflict, Gone, NotFound};
use crate::problem::Problem;
use crate::replies;
use crate::wire::{TransactionCommittedJson, TransactionJson};

const COMMITTED: Render<Vec<TableCommitted>> = replies::created::<_, TransactionCommittedJson>;

/// Commit to several tables.
///
/// All commits are made, or none.
#[utoipa::path(
    post, path = "/v1/transactions", operation_id = "commit_transaction", tag = "commits",
    request_body = TransactionJson,
    responses((status = 201, description = "What was done.", body = TransactionCommittedJson), NotFound, Conflict, Gone),
)]
pub(crate) async fn create(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    body: BodyTurn,
    JsonBody(transaction): JsonBody<TransactionJson>,
) -> Result<Response, Problem> {
    let commits = transaction.parse()?;
    for commit in &commits {
        catalog.principal().require(Role::Writer, &commit.table.namespace)?;
    }
    // As of commits, which have room of their own.
    body.give_room_back();
    // What comes before the transaction ends with the client, unless there is a key to ask for the outcome by.
    let prepared = catalog.prepare_transaction(commits).await?;
    detached::to_the_end(async move {
        let done = catalog.commit_transaction(prepared, key.once(COMMITTED)).await?;
        replies::answer(done, COMMITTED)
    })
    .await
}
