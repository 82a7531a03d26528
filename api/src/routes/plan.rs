//! Plans.

use axum::Json;
use axum::extract::State;
use prunus_catalog::{Catalog, Plan};

use crate::extract::{JsonBody, TableOf};
use crate::page_token::{PageTokens, PlanPosition, stale};
use crate::problem::Problem;
use crate::wire::{ExplainJson, ExplainedJson, PlanJson, PlannedJson};

pub(crate) async fn plan(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<PlanJson>,
) -> Result<Json<PlannedJson>, Problem> {
    let tokens = PageTokens::of("plan", &(ident.to_string(), body.without_page()));
    let position: Option<PlanPosition> = tokens.decode(body.page_token.as_deref())?;
    let request = body.parse(position);
    let plan = catalog.plan(ident, request).await.map_err(stale(position))?;
    let next = next_position(&plan);
    let mut page = match position {
        None => PlannedJson::first_page(plan),
        Some(_) => PlannedJson::later_page(plan),
    };
    page.next_page_token = next.map(|position| tokens.encode(&position));
    Ok(Json(page))
}

pub(crate) async fn explain(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<ExplainJson>,
) -> Result<Json<ExplainedJson>, Problem> {
    let request = body.plan.parse(None);
    Ok(Json(catalog.explain(ident, body.path, request).await?.into()))
}

fn next_position(plan: &Plan) -> Option<PlanPosition> {
    let last = plan.files.last().filter(|_| plan.more)?;
    Some(PlanPosition { snapshot_id: plan.snapshot_id.0, schema_id: plan.schema_id.0, after: last.entry.row.file_id.0 })
}
