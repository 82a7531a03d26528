//! What formats a client takes, by the weights of its Accept header.

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// The content encodings of answers, the one that is preferred first.
pub(crate) const ENCODINGS: [&str; 2] = ["zstd", "gzip"];

/// A format of answers that programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    /// An IPC stream of record batches.
    Arrow,
}

impl Format {
    pub(crate) const ALL: [Self; 2] = [Self::Json, Self::Arrow];

    /// Its media type.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Json => JSON[0],
            Self::Arrow => ARROW[0],
        }
    }

    pub(crate) const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(self.name())
    }
}

/// A format of answers that people look at and programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageFormat {
    Json,
    Html,
}

/// The media ranges that a format is in, the narrowest first.
type Ranges = [&'static str; 3];

const JSON: Ranges = ["application/json", "application/*", "*/*"];
const ARROW: Ranges = ["application/vnd.apache.arrow.stream", "application/*", "*/*"];
const HTML: Ranges = ["text/html", "text/*", "*/*"];

/// What a route answers in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// JSON alone.
    Json,
    /// Each [`Format`].
    Data,
    /// Each [`PageFormat`].
    Page,
    /// What it has, whatever a client takes: what browsers load, and what Prometheus reads.
    Own,
}

impl Offer {
    pub(crate) fn of_route(route: &str) -> Self {
        match route {
            "/v1/namespaces/{namespace}/tables/{table}/plan" | "/v1/namespaces/{namespace}/tables/{table}/files" => {
                Self::Data
            }
            "/problems" | "/problems/{name}" => Self::Page,
            "/docs" | "/docs/" | "/docs/{file}" | "/metrics" => Self::Own,
            _ => Self::Json,
        }
    }
}

/// How much each format is wanted by an Accept header: from 0, not at all, to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Accepted {
    json: f32,
    arrow: f32,
    html: f32,
}

impl Accepted {
    fn of(headers: &HeaderMap) -> Self {
        Self { json: weight(headers, JSON), arrow: weight(headers, ARROW), html: weight(headers, HTML) }
    }

    /// For an answer that there is as JSON alone.
    pub(crate) fn json(self) -> Result<(), Problem> {
        if self.json > 0.0 { Ok(()) } else { Err(Problem::NotAcceptable) }
    }

    /// JSON, unless Arrow is preferred.
    pub(crate) fn format(self) -> Result<Format, Problem> {
        if self.arrow > self.json { Ok(Format::Arrow) } else { self.json().map(|()| Format::Json) }
    }

    /// JSON, unless HTML is preferred.
    pub(crate) fn page_format(self) -> Result<PageFormat, Problem> {
        if self.html > self.json { Ok(PageFormat::Html) } else { self.json().map(|()| PageFormat::Json) }
    }

    fn any_of(self, offer: Offer) -> Result<(), Problem> {
        match offer {
            Offer::Json => self.json(),
            Offer::Data => self.format().map(drop),
            Offer::Page => self.page_format().map(drop),
            Offer::Own => Ok(()),
        }
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
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    match Accepted::of(request.headers()).any_of(Offer::of_route(route)) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// How much a format is wanted, from 0, not at all, to 1: what the narrowest range says that it is in, or 1 without any range.
fn weight(headers: &HeaderMap, ranges_of_format: Ranges) -> f32 {
    let texts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut ranges = texts.flat_map(|text| text.split(',')).map(str::trim).filter(|range| !range.is_empty()).peekable();
    if ranges.peek().is_none() {
        return 1.0;
    }
    let place = |name: &str| ranges_of_format.iter().position(|range| range.eq_ignore_ascii_case(name));
    let weights = ranges.filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let place = place(parts.next()?)?;
        let written = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        // A weight that does not read is taken for none, as is one that a number reads as and a weight does not.
        let weight = written.and_then(|text| text.parse::<f32>().ok()).filter(|weight| (0.0..=1.0).contains(weight));
        Some((place, weight.unwrap_or(1.0)))
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
        for odd in ["nan", "-1", "-inf", "inf", "7"] {
            check(&format!("application/json;q={odd}"), true);
        }
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
        check("application/json, application/vnd.apache.arrow.stream;q=7", Some(Json));
        check("application/vnd.apache.arrow.stream;q=0, */*", Some(Json));
        check("application/vnd.apache.arrow.stream;q=0", None);
        check("text/html", None);
    }

    #[test]
    fn a_page_is_html_for_whoever_names_it() {
        use PageFormat::{Html, Json};
        let check = |accept: &str, expected: Option<PageFormat>| {
            assert_eq!(accepted(accept).page_format().ok(), expected, "{accept}");
        };
        check("", Some(Json));
        check("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Some(Html));
        check("text/html", Some(Html));
        check("*/*", Some(Json));
        check("application/json", Some(Json));
        check("text/html;q=0.5, application/json", Some(Json));
        check("text/html;q=0", None);
    }
}
