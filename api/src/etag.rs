//! Entity tags: a client that has an answer asks whether it is still the same, and is told so without it.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::problem::Problem;
use prunus_catalog::Error;

/// The tag of an answer with this body: whatever changes the one changes the other. It is weak, since the same answer may be
/// compressed or not.
pub(crate) fn of(body: &[u8]) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("W/\"{:032x}\"", xxh3_128(body))).ok()
}

/// The answer with a tag, or that the client has it already.
pub(crate) fn answer(headers: &HeaderMap, answer: &impl Serialize) -> Result<Response, Problem> {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    let body = serde_json::to_vec(answer).map_err(Error::Reply)?;
    let tag = of(&body);
    let response = match &tag {
        Some(tag) if has(headers, tag) => StatusCode::NOT_MODIFIED.into_response(),
        _ => ([(header::CONTENT_TYPE, JSON)], Body::from(body)).into_response(),
    };
    Ok(tagged(response, tag))
}

/// The answer with its tag, if it has one.
pub(crate) fn tagged(mut response: Response, tag: Option<HeaderValue>) -> Response {
    response.headers_mut().extend(tag.map(|tag| (header::ETAG, tag)));
    response
}

/// Whether a client says that it has the answer of this tag. Tags are compared weakly.
fn has(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let Ok(tag) = tag.to_str().map(opaque) else { return false };
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    known.flat_map(|value| value.split(',')).any(|known| known.trim() == "*" || opaque(known) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_an_answer_whose_tag_it_names() {
        let tag = of(b"body").unwrap();
        let strong = tag.to_str().unwrap().trim_start_matches("W/").to_owned();
        let check = |value: &str, expected: bool| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, value.parse().unwrap())]);
            assert_eq!(has(&headers, &tag), expected, "{value}");
        };
        check(tag.to_str().unwrap(), true);
        check(&strong, true);
        check(&format!("\"other\", {strong}"), true);
        check("*", true);
        check("\"other\"", false);
        check("", false);
        assert!(!has(&HeaderMap::new(), &tag));
    }

    #[test]
    fn another_body_has_another_tag() {
        assert_ne!(of(b"body"), of(b"bodies"));
    }
}
