//! Audits: begin, list, look at, end.

use axum::Json;
use axum::response::Response;
use prunus_catalog::{AuditRow, Render};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::ActingCatalog;
use crate::extract::{AuditOf, JsonBody, QueryOf, TableOf};
use crate::idempotency::KeyOf;
use crate::openapi::values::PageSizeSchema;
use crate::openapi::{NotFound, Refused};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{AuditJson, AuditPageJson, AuditsJson, NewAuditJson};

const ACCEPTED: Render<AuditRow> = replies::accepted::<_, AuditJson>;
const ENDED: Render<AuditRow> = replies::found::<_, AuditJson>;

/// Start an audit.
///
/// It reads registered files again and holds them against what is known of them.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables/{table}/audits", operation_id = "start_audit", tag = "audits",
    request_body = NewAuditJson,
    responses(
        (status = 202, description = "The audit, which is worked on from now on.", body = AuditJson),
        NotFound,
    ),
)]
pub(crate) async fn start(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    TableOf(ident): TableOf,
    JsonBody(new): JsonBody<NewAuditJson>,
) -> Result<Response, Problem> {
    let done = catalog.start_audit(ident, new.parse(), key.once(ACCEPTED)).await?;
    replies::answer(done, ACCEPTED)
}

/// List the audits of a table.
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/audits", operation_id = "list_audits", tag = "audits",
    responses((status = 200, description = "The audits.", body = AuditsJson), NotFound),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
) -> Result<Json<AuditsJson>, Problem> {
    let audits = catalog.list_audits(ident).await?;
    Ok(Json(AuditsJson { audits: audits.into_iter().map(AuditJson::from).collect() }))
}

/// Which findings.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FindingsQuery {
    /// The most entries of a page.
    #[param(value_type = Option<PageSizeSchema>)]
    page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    page_token: Option<String>,
}

/// Look at an audit.
///
/// With a page of what it has found.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/audits/{audit_id}", operation_id = "get_audit", tag = "audits",
    params(FindingsQuery),
    responses((status = 200, description = "The audit.", body = AuditPageJson), NotFound, Refused),
)]
pub(crate) async fn get(
    ActingCatalog(catalog): ActingCatalog,
    AuditOf(ident, audit_id): AuditOf,
    QueryOf(query): QueryOf<FindingsQuery>,
) -> Result<Json<AuditPageJson>, Problem> {
    let tokens = PageTokens::of("audit", &(ident.to_string(), audit_id.0));
    let after: u64 = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let page = catalog.load_audit(ident, audit_id, after, catalog.limits().page_size(query.page_size)?).await?;
    let next_page_token = page.next_after.map(|after| tokens.encode(&after));
    Ok(Json(AuditPageJson { next_page_token, ..page.into() }))
}

/// End an audit before it is done.
///
/// What it has found stays.
#[utoipa::path(
    delete, path = "/v1/namespaces/{namespace}/tables/{table}/audits/{audit_id}", operation_id = "cancel_audit", tag = "audits",
    responses((status = 200, description = "The audit.", body = AuditJson), NotFound),
)]
pub(crate) async fn cancel(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    AuditOf(ident, audit_id): AuditOf,
) -> Result<Response, Problem> {
    let done = catalog.cancel_audit(ident, audit_id, key.once(ENDED)).await?;
    replies::answer(done, ENDED)
}
