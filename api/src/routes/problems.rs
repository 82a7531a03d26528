//! What the types of problems mean: pages for people, JSON for programs.

use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use prunus_catalog::{Error, nearest};

use crate::accept::{Accepted, PageFormat};
use crate::extract::SegmentOf;
use crate::openapi::NotFound;
use crate::problem::{self, KINDS, Kind, Problem};
use crate::wire::{ProblemTypeJson, ProblemTypesJson};

/// List the types of problems.
///
/// As JSON; as a page for people where HTML is preferred.
#[utoipa::path(
    get, path = "/problems", operation_id = "list_problems", tag = "server",
    responses((status = 200, description = "What each means.", content((ProblemTypesJson = "application/json"), (String = "text/html")))),
)]
pub(crate) async fn list(accepted: Accepted) -> Result<Response, Problem> {
    Ok(match accepted.page_format()? {
        PageFormat::Html => html(problem::list_page()),
        PageFormat::Json => {
            Json(ProblemTypesJson { problems: KINDS.iter().copied().map(ProblemTypeJson::from).collect() })
                .into_response()
        }
    })
}

/// Look at a type of problems.
///
/// This is where the `type` of a problem leads: what it means, and what to do about it.
#[utoipa::path(
    get, path = "/problems/{name}", operation_id = "get_problem", tag = "server",
    responses(
        (status = 200, description = "What it means, and what to do.", content((ProblemTypeJson = "application/json"), (String = "text/html"))),
        NotFound,
    ),
)]
pub(crate) async fn get(SegmentOf(name): SegmentOf, accepted: Accepted) -> Result<Response, Problem> {
    let Some(kind) = Kind::named(&name) else { return Err(no_such_kind(name)) };
    Ok(match accepted.page_format()? {
        PageFormat::Html => html(problem::page(kind)),
        PageFormat::Json => Json(ProblemTypeJson::from(kind)).into_response(),
    })
}

fn no_such_kind(name: String) -> Problem {
    let what = "problem";
    match nearest(&name, KINDS.iter().map(|kind| kind.name)).map(str::to_owned) {
        Some(suggestion) => Error::Misnamed { what, name, suggestion }.into(),
        None => Error::NotFound { what, name }.into(),
    }
}

/// A page that may load and run nothing.
fn html(page: String) -> Response {
    const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
    ([(header::CONTENT_SECURITY_POLICY, NOTHING)], Html(page)).into_response()
}
