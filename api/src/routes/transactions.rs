//! Transactions.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use prunus_catalog::{Catalog, Done, Render, TableCommitted};

use crate::extract::JsonBody;
use crate::idempotency::KeyOf;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{TransactionCommittedJson, TransactionJson};

const COMMITTED: Render<Vec<TableCommitted>> = replies::created::<_, TransactionCommittedJson>;

pub(crate) async fn create(
    State(catalog): State<Catalog>,
    Extension(metrics): Extension<Metrics>,
    key: KeyOf,
    JsonBody(transaction): JsonBody<TransactionJson>,
) -> Result<Response, Problem> {
    let done = catalog.commit_all_once(transaction.parse()?, key.once(COMMITTED)).await?;
    if let Done::Now(committed) = &done {
        metrics.count_commits(committed.len());
    }
    replies::answer(done, COMMITTED)
}
