//! Transactions.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use prunus_catalog::{Catalog, Done, Render, TableCommitted};

use crate::detached;
use crate::extract::JsonBody;
use crate::idempotency::KeyOf;
use crate::metrics::Metrics;
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
    State(catalog): State<Catalog>,
    Extension(metrics): Extension<Metrics>,
    key: KeyOf,
    JsonBody(transaction): JsonBody<TransactionJson>,
) -> Result<Response, Problem> {
    // What comes before the transaction ends with the client, unless there is a key to ask for the outcome by.
    let prepared = catalog.prepare_transaction(transaction.parse()?).await?;
    detached::to_the_end(async move {
        let done = catalog.commit_transaction(prepared, key.once(COMMITTED)).await?;
        if let Done::Now(committed) = &done {
            metrics.count_commits(committed.len());
        }
        replies::answer(done, COMMITTED)
    })
    .await
}
