//! What formats a client takes, by the weights of its Accept header.

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The routes that answer in Arrow, too.
const ROUTES_WITH_ARROW: [&str; 2] =
    ["/v1/namespaces/{namespace}/tables/{table}/plan", "/v1/namespaces/{namespace}/tables/{table}/files"];

/// A format of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    /// An IPC stream of record batches.
    Arrow,
}

impl Format {
    pub(crate) const fn content_type(self) -> HeaderValue {
        match self {
            Self::Json => HeaderValue::from_static("application/json"),
            Self::Arrow => HeaderValue::from_static("application/vnd.apache.arrow.stream"),
        }
    }

    /// The media ranges that it is in, the narrowest first.
    const fn ranges(self) -> [&'static str; 3] {
        match self {
            Self::Json => ["application/json", "application/*", "*/*"],
            Self::Arrow => ["application/vnd.apache.arrow.stream", "application/*", "*/*"],
        }
    }
}

/// The formats that an answer may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Accepted {
    json: f32,
    arrow: f32,
}

impl Accepted {
    fn of(headers: &HeaderMap) -> Self {
        Self { json: weight(headers, Format::Json), arrow: weight(headers, Format::Arrow) }
    }

    /// For an answer that there is as JSON alone.
    pub(crate) fn json(self) -> Result<(), Problem> {
        if self.json > 0.0 { Ok(()) } else { Err(Problem::NotAcceptable) }
    }

    /// The format of an answer that there is in both: JSON, unless Arrow is preferred.
    pub(crate) fn format(self) -> Result<Format, Problem> {
        if self.arrow > self.json { Ok(Format::Arrow) } else { self.json().map(|()| Format::Json) }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Accepted {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.headers))
    }
}

/// The middleware that answers 406 where no format of the route would be taken.
pub(crate) async fn require_format(request: Request, next: Next) -> Response {
    let accepted = Accepted::of(request.headers());
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let format = if route.is_some_and(|route| ROUTES_WITH_ARROW.contains(&route)) {
        accepted.format().map(drop)
    } else {
        accepted.json()
    };
    match format {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// How much a format is wanted, from 0, not at all, to 1: what the narrowest range says that it is in, or 1 without any range.
fn weight(headers: &HeaderMap, format: Format) -> f32 {
    let texts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut ranges = texts.flat_map(|text| text.split(',')).map(str::trim).filter(|range| !range.is_empty()).peekable();
    if ranges.peek().is_none() {
        return 1.0;
    }
    let place = |name: &str| format.ranges().iter().position(|range| range.eq_ignore_ascii_case(name));
    let weights = ranges.filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let place = place(parts.next()?)?;
        let written = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        // A weight that does not read is taken for none.
        Some((place, written.and_then(|text| text.parse().ok()).unwrap_or(1.0_f32)))
    });
    weights.min_by_key(|(place, _)| *place).map_or(0.0, |(_, weight)| weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(accept: &str) -> Accepted {
        Accepted::of(&HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]))
    }

    #[test]
    fn json_is_taken_unless_it_is_excluded() {
        let check = |accept: &str, expected: bool| assert_eq!(accepted(accept).json().is_ok(), expected, "{accept}");
        assert!(Accepted::of(&HeaderMap::new()).json().is_ok());
        check("", true);
        check("*/*", true);
        check("text/html, application/json;q=0.5", true);
        check("Application/JSON; charset=utf-8", true);
        check("text/html, */*;q=0.1", true);
        check("application/json;q=much", true);
        check("application/vnd.apache.arrow.stream", false);
        check("application/json;q=0", false);
        check("application/json;q=0, */*", false);
        check("text/html", false);
    }

    #[test]
    fn arrow_is_given_where_it_weighs_more() {
        use Format::{Arrow, Json};
        let check = |accept: &str, expected: Option<Format>| {
            assert_eq!(accepted(accept).format().ok(), expected, "{accept}");
        };
        assert_eq!(Accepted::of(&HeaderMap::new()).format().ok(), Some(Json));
        check("", Some(Json));
        check("*/*", Some(Json));
        check("application/*", Some(Json));
        check("application/json", Some(Json));
        check("application/vnd.apache.arrow.stream", Some(Arrow));
        check("Application/Vnd.Apache.Arrow.Stream", Some(Arrow));
        check("application/vnd.apache.arrow.stream, application/json", Some(Json));
        check("application/vnd.apache.arrow.stream, application/json;q=0.9", Some(Arrow));
        check("application/vnd.apache.arrow.stream;q=0.5, application/json;q=0.9", Some(Json));
        check("application/vnd.apache.arrow.stream, */*;q=0.1", Some(Arrow));
        check("application/json;q=0.1, */*;q=0.2", Some(Arrow));
        check("application/json;q=0, */*;q=0.1", Some(Arrow));
        check("application/vnd.apache.arrow.stream;q=0, */*", Some(Json));
        check("application/vnd.apache.arrow.stream;q=0", None);
        check("text/html", None);
    }
}
