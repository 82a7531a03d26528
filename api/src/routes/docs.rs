//! The API as pages for people: Swagger UI, out of the binary. Nothing of it is loaded from elsewhere, and browsers are told so.

use std::sync::{Arc, LazyLock};

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use utoipa_swagger_ui::Config;

use crate::openapi::NotFound;
use crate::problem::Problem;

/// What browsers may load for a page: what this server has. Swagger UI puts styles and small images into the page itself.
const POLICY: (HeaderName, HeaderValue) = (
    header::CONTENT_SECURITY_POLICY,
    HeaderValue::from_static(
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'self'",
    ),
);

/// The way to the pages about this API.
#[utoipa::path(
    get, path = "/docs", operation_id = "find_docs", tag = "server",
    responses((status = 303, description = "They are below `/docs/`.", headers(("Location" = String, description = "Where."))))
)]
pub(crate) async fn find() -> Redirect {
    // Relative, since the server may stand behind a proxy that gives it a path of its own.
    Redirect::to("docs/")
}

/// The first page about this API.
#[utoipa::path(
    get, path = "/docs/", operation_id = "get_docs", tag = "server",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"))
)]
pub(crate) async fn index() -> Result<Response, Problem> {
    page("index.html")
}

/// A file that the pages about this API load.
#[utoipa::path(
    get, path = "/docs/{file}", operation_id = "get_docs_file", tag = "server",
    responses(
        (status = 200, description = "The file.", content((String = "text/css"), (String = "text/javascript"), (String = "text/html"),
            (String = "image/png"))),
        NotFound,
    )
)]
pub(crate) async fn file(Path(file): Path<String>) -> Result<Response, Problem> {
    page(&file)
}

fn page(file: &str) -> Result<Response, Problem> {
    static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
        // The validator that is shown by default is another host's.
        Arc::new(Config::from("../openapi.json").validator_url("none").try_it_out_enabled(true))
    });
    let found = utoipa_swagger_ui::serve(file, Arc::clone(&CONFIG)).ok().flatten();
    let found = found.ok_or_else(|| Problem::NoSuchRoute(format!("/docs/{file}")))?;
    let mut response = ([(header::CONTENT_TYPE, found.content_type)], [POLICY], found.bytes).into_response();
    if found.gzpipped {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}
