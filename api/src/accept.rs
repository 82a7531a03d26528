//! What formats a client takes. There is one for now, JSON; whoever asks for others alone is told so.

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The content types of answers, but for what is no JSON whatever a client takes.
pub(crate) const FORMATS: [&str; 1] = ["application/json"];
/// The content encodings of answers.
pub(crate) const ENCODINGS: [&str; 0] = [];

/// The one route whose answer is text, which those that read it know.
const METRICS: &str = "/metrics";

/// The middleware that answers 406 where JSON would not be taken.
pub(crate) async fn require_json(request: Request, next: Next) -> Response {
    if takes_json(request.headers()) || request.uri().path() == METRICS {
        next.run(request).await
    } else {
        Problem::NotAcceptable.into_response()
    }
}

/// Whether an Accept header allows JSON. One that does not read is taken as none.
fn takes_json(headers: &HeaderMap) -> bool {
    let mut ranges = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|range| !range.is_empty())
        .peekable();
    ranges.peek().is_none() || ranges.any(is_json)
}

fn is_json(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let is_named = ["*/*", "application/*", "application/json"].iter().any(|json| name.eq_ignore_ascii_case(json));
    let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    is_named && weight.and_then(|weight| weight.parse::<f32>().ok()) != Some(0.0)
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
}
