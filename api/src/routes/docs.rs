//! The API as pages for people: Swagger UI, out of the binary. Nothing of it is loaded from elsewhere, and browsers are told so.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use utoipa_swagger_ui::Config;

use crate::extract::SegmentOf;
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
///
/// A redirect, so that what pages link to is found beside them.
#[utoipa::path(
    get, path = "/docs", operation_id = "find_docs", tag = "server",
    responses((status = 303, description = "They are below `/docs/`.", headers(("Location" = String, description = "Where."))))
)]
pub(crate) async fn find() -> Redirect {
    // Relative, since the server may stand behind a proxy that gives it a path of its own.
    Redirect::to("docs/")
}

/// The first page about this API.
///
/// Every operation can be tried out there. Nothing of it is loaded from other hosts.
#[utoipa::path(
    get, path = "/docs/", operation_id = "get_docs", tag = "server",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"))
)]
pub(crate) async fn index() -> Result<Response, Problem> {
    page("index.html")
}

/// A file that the pages about this API load.
///
/// Scripts, styles and images.
#[utoipa::path(
    get, path = "/docs/{file}", operation_id = "get_docs_file", tag = "server",
    responses(
        (status = 200, description = "The file.", content((String = "text/css"), (String = "text/javascript"), (String = "text/html"),
            (String = "image/png"))),
        NotFound,
    )
)]
pub(crate) async fn file(SegmentOf(file): SegmentOf) -> Result<Response, Problem> {
    page(&file)
}

fn page(file: &str) -> Result<Response, Problem> {
    static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
        // The validator that is shown by default is another host's.
        Arc::new(Config::from("../openapi.json").validator_url("none").try_it_out_enabled(true))
    });
    let found = utoipa_swagger_ui::serve(file, Arc::clone(&CONFIG)).ok().flatten();
    let found = found.ok_or_else(|| Problem::NoSuchRoute(format!("/docs/{file}")))?;
    let bytes = if file == "index.html" { titled(&found.bytes) } else { found.bytes };
    let mut response = ([(header::CONTENT_TYPE, found.content_type)], [POLICY], bytes).into_response();
    if found.gzpipped {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

/// The first page by the name of what it is about.
fn titled(html: &[u8]) -> Cow<'static, [u8]> {
    let html = String::from_utf8_lossy(html).replace("<title>Swagger UI</title>", "<title>Prunus API</title>");
    html.into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

    async fn load(file: &str) -> (String, String) {
        let response = page(file).unwrap();
        assert_eq!(response.headers()[POLICY.0], POLICY.1, "{file}");
        let content_type = response.headers()[header::CONTENT_TYPE].to_str().unwrap().to_owned();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (content_type, String::from_utf8_lossy(&body).into_owned())
    }

    /// What follows each `key="` in a text.
    fn quoted<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
        text.split(&format!("{key}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    #[tokio::test]
    async fn a_page_links_to_files_of_its_own() {
        let (content_type, html) = load("index.html").await;
        assert_eq!(content_type, "text/html");
        assert!(html.contains("<title>Prunus API</title>"), "{html}");
        let links: Vec<&str> = [quoted(&html, "href"), quoted(&html, "src")].concat();
        assert!(links.len() > 4, "{links:?}");
        for link in links {
            load(link.trim_start_matches("./")).await;
        }
        assert!(!html.contains("//"), "{html}");
    }

    #[tokio::test]
    async fn what_a_page_loads_is_the_document_of_this_server() {
        let (_, script) = load("swagger-initializer.js").await;
        assert_eq!(script.matches("://").count(), 0, "{script}");
        assert!(
            script.contains("\"url\": \"../openapi.json\"") && script.contains("\"validatorUrl\": \"none\""),
            "{script}"
        );
    }

    #[tokio::test]
    async fn styles_load_nothing_from_other_hosts() {
        for file in ["swagger-ui.css", "index.css"] {
            let (_, css) = load(file).await;
            for url in css.split("url(").skip(1) {
                assert!(url.trim_start_matches(['"', '\'']).starts_with("data:"), "{file}: {}", &url[..60]);
            }
            assert!(!css.contains("@import"), "{file}");
        }
    }

    #[test]
    fn browsers_are_told_to_load_nothing_from_other_hosts() {
        let policy = POLICY.1.to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'self';"), "{policy}");
        assert!(!policy.contains("//") && !policy.contains('*'), "{policy}");
    }

    #[test]
    fn a_file_that_is_not_there_is_a_problem() {
        assert!(matches!(page("none.js"), Err(Problem::NoSuchRoute(path)) if path == "/docs/none.js"));
    }
}
