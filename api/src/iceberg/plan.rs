//! Plans of scans. They are made at once, whatever is asked for; long ones come in parts, of which the first is the answer.

use std::sync::Arc;

use axum::Extension;
use axum::http::StatusCode;
use axum::response::Response;
use prunus_catalog::SnapshotRef;

use super::cancelled::CancelledPlans;
use super::envelope::{self, Envelope};
use super::error::Refusal;
use super::path::{IcebergTableOf, PlanOf};
use super::scan::ScanJson;
use super::scan_token::PlanId;
use crate::access::ActingCatalog;
use crate::extract::JsonBody;
use crate::problem::Problem;

/// Why an id is none.
const NO_SUCH_ID: &str = "no plan has this id: it was cancelled, has expired, or never was";

fn no_such_plan(why: &str) -> Problem {
    Refusal::NoSuchPlan(why.to_owned()).into()
}

/// Plan a scan.
#[utoipa::path(
    post, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan", operation_id = "iceberg_plan",
    responses((status = 200)),
)]
pub(crate) async fn plan(
    ActingCatalog(catalog): ActingCatalog,
    IcebergTableOf(ident): IcebergTableOf,
    JsonBody(scan): JsonBody<ScanJson>,
) -> Result<Response, Problem> {
    let scan = scan.settle(&catalog, &ident).await?;
    let (token, envelope) = envelope::begin(&catalog, ident, scan).await?;
    Ok(envelope.into_plan(Some(&token.plan_id())))
}

/// Fetch a plan once more, from its beginning.
#[utoipa::path(
    get, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan/{plan_id}", operation_id = "iceberg_fetch_plan",
    responses((status = 200)),
)]
pub(crate) async fn fetch(
    ActingCatalog(catalog): ActingCatalog,
    PlanOf(ident, id): PlanOf,
    Extension(cancelled): Extension<Arc<CancelledPlans>>,
) -> Result<Response, Problem> {
    let id = PlanId::decode(&id, &catalog).filter(|id| !cancelled.contains(id.plan()));
    let token = match id {
        Some(PlanId::Whole(token)) => token,
        Some(PlanId::Bare(_)) => {
            return Err(no_such_plan("the plan is too long to be fetched by its id: plan the scan again"));
        }
        None => return Err(no_such_plan(NO_SUCH_ID)),
    };
    let envelope: Option<Envelope> = envelope::go_on(&catalog, ident, &token).await?;
    let envelope =
        envelope.ok_or_else(|| no_such_plan("the plan has expired with its snapshot, or is of another table"))?;
    Ok(envelope.into_plan(None))
}

/// Cancel a plan: nobody will ask for it again.
#[utoipa::path(
    delete, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}/plan/{plan_id}",
    operation_id = "iceberg_cancel_plan", responses((status = 204)),
)]
pub(crate) async fn cancel(
    ActingCatalog(catalog): ActingCatalog,
    PlanOf(ident, id): PlanOf,
    Extension(cancelled): Extension<Arc<CancelledPlans>>,
) -> Result<StatusCode, Problem> {
    let table_id = catalog.load_scan_schema(ident, SnapshotRef::Current).await?.table_id;
    let id = PlanId::decode(&id, &catalog);
    let id = id.filter(|id| id.table_id() == table_id.0 && !cancelled.contains(id.plan()));
    let id = id.ok_or_else(|| no_such_plan(NO_SUCH_ID))?;
    cancelled.insert(id.plan());
    Ok(StatusCode::NO_CONTENT)
}
