//! Audits: begin, list, look at, end.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use prunus_catalog::{AuditRow, Catalog, Render};
use serde::Deserialize;

use crate::extract::{AuditOf, JsonBody, QueryOf, TableOf};
use crate::idempotency::KeyOf;
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{AuditJson, AuditPageJson, AuditsJson, NewAuditJson, page_size};

const ACCEPTED: Render<AuditRow> = replies::accepted::<_, AuditJson>;
const ENDED: Render<AuditRow> = replies::found::<_, AuditJson>;

pub(crate) async fn start(
    State(catalog): State<Catalog>,
    key: KeyOf,
    TableOf(ident): TableOf,
    JsonBody(new): JsonBody<NewAuditJson>,
) -> Result<Response, Problem> {
    let done = catalog.start_audit(ident, new.parse(), key.once(ACCEPTED)).await?;
    replies::answer(done, ACCEPTED)
}

pub(crate) async fn list(State(catalog): State<Catalog>, TableOf(ident): TableOf) -> Result<Json<AuditsJson>, Problem> {
    let audits = catalog.list_audits(ident).await?;
    Ok(Json(AuditsJson { audits: audits.into_iter().map(AuditJson::from).collect() }))
}

/// Which findings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindingsQuery {
    page_size: Option<u32>,
    page_token: Option<String>,
}

pub(crate) async fn get(
    State(catalog): State<Catalog>,
    AuditOf(ident, audit_id): AuditOf,
    QueryOf(query): QueryOf<FindingsQuery>,
) -> Result<Json<AuditPageJson>, Problem> {
    let tokens = PageTokens::of("audit", &(ident.to_string(), audit_id.0));
    let after: u64 = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let page = catalog.load_audit(ident, audit_id, after, page_size(query.page_size)?).await?;
    let next_page_token = page.next_after.map(|after| tokens.encode(&after));
    Ok(Json(AuditPageJson { next_page_token, ..page.into() }))
}

pub(crate) async fn cancel(
    State(catalog): State<Catalog>,
    key: KeyOf,
    AuditOf(ident, audit_id): AuditOf,
) -> Result<Response, Problem> {
    let done = catalog.cancel_audit(ident, audit_id, key.once(ENDED)).await?;
    replies::answer(done, ENDED)
}
