//! Plans.

use std::sync::Arc;

use axum::Json;
use axum::response::Response;

use crate::accept::Accepted;
use crate::access::ActingCatalog;
use crate::extract::{JsonBody, TableOf};
use crate::formats::{PlanPart, PlanWriter, body};
use crate::openapi::values::ArrowStreamSchema;
use crate::openapi::{Gone, NotFound, Refused, TooMany};
use crate::page_token::{FilePosition, PageTokens, stale};
use crate::problem::Problem;
use crate::request_id::RequestIdOf;
use crate::wire::{ExplainJson, ExplainedJson, PlanJson, PlannedJson};

/// Plan a scan.
///
/// The files of a snapshot that may hold a row that the filter matches, by rising `file_id`.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables/{table}/plan", operation_id = "plan_scan", tag = "scans",
    request_body = PlanJson,
    responses((status = 200, description = "A page of the plan.", content((PlannedJson = "application/json"), (ArrowStreamSchema = "application/vnd.apache.arrow.stream"))), NotFound, Gone, Refused, TooMany),
)]
pub(crate) async fn plan(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    RequestIdOf(request_id): RequestIdOf,
    accepted: Accepted,
    JsonBody(plan): JsonBody<PlanJson>,
) -> Result<Response, Problem> {
    let tokens = PageTokens::of("plan", &(ident.to_string(), plan.without_page()));
    let position: Option<FilePosition> = tokens.decode(plan.page_token.as_deref())?;
    let part = if position.is_none() { PlanPart::First } else { PlanPart::Later };
    let writer = PlanWriter { format: accepted.format()?, tokens, part };
    let request = plan.parse(position, catalog.limits());
    let begin = move |page: &_, first: &_| writer.begin(page, first);
    let (page, first) = catalog.plan_page(ident, request, begin).await.map_err(stale(position))?;
    let page = Arc::new(page);
    let rest = (1..page.chunks()).map(move |index| {
        let page = Arc::clone(&page);
        async move { Ok(page.chunk(index, move |page, chunk| writer.chunk(page, chunk)).await??) }
    });
    Ok(body::answer(writer.format, first?, rest, request_id))
}

/// Explain what a plan does with a file.
///
/// Why it is kept or pruned, condition by condition.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables/{table}/explain", operation_id = "explain_file", tag = "scans",
    request_body = ExplainJson,
    responses((status = 200, description = "The explanation.", body = ExplainedJson), NotFound, Gone, Refused, TooMany),
)]
pub(crate) async fn explain(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<ExplainJson>,
) -> Result<Json<ExplainedJson>, Problem> {
    let request = body.plan.parse(None, catalog.limits());
    Ok(Json(catalog.explain(ident, body.path, request).await?.into()))
}
