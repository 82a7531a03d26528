//! What differs between two snapshots.

use axum::Json;
use prunus_catalog::{ChangesRequest, FileId, SnapshotId};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::ActingCatalog;
use crate::extract::{QueryOf, TableOf};
use crate::openapi::values::{NumberSchema, PageSizeSchema};
use crate::openapi::{Gone, NotFound, Refused, TooMany};
use crate::page_token::{ChangePosition, PageTokens, stale};
use crate::problem::Problem;
use crate::wire::ChangesJson;

/// Which snapshots; without `to`, the newest.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// The snapshot to compare with; 0 is the empty table.
    #[param(value_type = NumberSchema)]
    from: i64,
    /// The snapshot to compare; the newest if it is absent.
    #[param(value_type = Option<NumberSchema>)]
    to: Option<i64>,
    /// The most entries of a page.
    #[param(value_type = Option<PageSizeSchema>)]
    page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    page_token: Option<String>,
}

/// List the files that two snapshots do not share.
///
/// Those that are live in `to` and not in `from` are added, the others removed; by rising `file_id`.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/changes", operation_id = "list_changes", tag = "snapshots",
    params(ChangesQuery),
    responses((status = 200, description = "A page of them.", body = ChangesJson), NotFound, Gone, Refused, TooMany),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<ChangesQuery>,
) -> Result<Json<ChangesJson>, Problem> {
    let tokens = PageTokens::of("changes", &(ident.to_string(), query.from, query.to));
    let position: Option<ChangePosition> = tokens.decode(query.page_token.as_deref())?;
    let request = ChangesRequest {
        from: SnapshotId(query.from),
        to: position.map(|position| position.to).or(query.to).map(SnapshotId),
        after: position.map(|position| FileId(position.after)),
        page_size: catalog.limits().page_size(query.page_size)?,
    };
    let changes = catalog.list_changes(ident, request).await.map_err(stale(position))?;
    let next = changes.next_after.map(|after| ChangePosition { to: changes.to.0, after: after.0 });
    let next_page_token = next.map(|position| tokens.encode(&position));
    Ok(Json(ChangesJson { next_page_token, ..changes.into() }))
}
