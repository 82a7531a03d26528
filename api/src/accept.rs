//! What formats a client takes. There is one for now, JSON, but for pages that people look at; whoever asks for others alone is
//! told so.

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The middleware that answers 406 where JSON would not be taken.
pub(crate) async fn require_json(request: Request, next: Next) -> Response {
    if takes_json(request.headers()) || (has_page(&request) && takes_html(request.headers())) {
        next.run(request).await
    } else {
        Problem::NotAcceptable.into_response()
    }
}

/// Whether a request is for what is answered as HTML, too.
fn has_page(request: &Request) -> bool {
    let path = request.uri().path();
    path == "/problems" || path.starts_with("/problems/")
}

/// In which format something is answered that people look at and programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageFormat {
    Html,
    Json,
}

impl PageFormat {
    /// HTML for whoever names it and does not like JSON better; JSON for all others, such as those that take anything.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let html = weight_of(headers, &["text/html", "text/*"]);
        let json = weight_of(headers, &["application/json", "application/*"]);
        if html > 0.0 && html >= json { Self::Html } else { Self::Json }
    }
}

fn takes_html(headers: &HeaderMap) -> bool {
    weight_of(headers, &["text/html", "text/*", "*/*"]) > 0.0
}

/// The largest weight that an Accept header gives to one of these ranges; 0 if it names none.
fn weight_of(headers: &HeaderMap, names: &[&str]) -> f32 {
    let is_named = |range: &&str| {
        let name = range.split(';').next().unwrap_or_default().trim();
        names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted))
    };
    ranges(headers).filter(is_named).map(weight).fold(0.0, f32::max)
}

/// Whether an Accept header allows JSON. One that does not read is taken as none.
fn takes_json(headers: &HeaderMap) -> bool {
    let mut ranges = ranges(headers).peekable();
    ranges.peek().is_none() || ranges.any(is_json)
}

/// The ranges of media types that a client takes.
fn ranges(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
}

fn is_json(range: &str) -> bool {
    let name = range.split(';').next().unwrap_or_default().trim();
    let is_named = ["*/*", "application/*", "application/json"].iter().any(|json| name.eq_ignore_ascii_case(json));
    is_named && weight(range) != 0.0
}

/// How much a range is liked: from 0, not at all, to 1. A weight that does not read is taken as none.
fn weight(range: &str) -> f32 {
    let mut parts = range.split(';').map(str::trim);
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    weight.and_then(|weight| weight.parse().ok()).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_taken_unless_it_is_excluded() {
        let check = |accept: &str, expected: bool| {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(takes_json(&headers), expected, "{accept}");
        };
        assert!(takes_json(&HeaderMap::new()));
        check("", true);
        check("*/*", true);
        check("text/html, application/json;q=0.5", true);
        check("Application/JSON; charset=utf-8", true);
        check("text/html, */*;q=0.1", true);
        check("application/vnd.apache.arrow.stream", false);
        check("application/json;q=0", false);
    }

    #[test]
    fn a_page_is_html_for_whoever_names_it() {
        let check = |accept: &str, expected: PageFormat| {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
            assert_eq!(PageFormat::of(&headers), expected, "{accept}");
        };
        assert_eq!(PageFormat::of(&HeaderMap::new()), PageFormat::Json);
        check("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", PageFormat::Html);
        check("text/html", PageFormat::Html);
        check("*/*", PageFormat::Json);
        check("application/json", PageFormat::Json);
        check("text/html;q=0.5, application/json", PageFormat::Json);
        check("text/html;q=0", PageFormat::Json);
    }
}
