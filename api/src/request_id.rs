//! The id of a request: the client's own where it gives a usable one, else a new one. It is in the answer, in every error
//! and in every line of the log.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderName};
use tower_http::request_id::{MakeRequestId, MakeRequestUuid, RequestId};

/// The header that it comes and goes in.
const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken from a client.
const MAX_REQUEST_ID_BYTES: usize = 255;

/// Drops an id that is too long or not visible ASCII, so that the request is given a new one.
pub(crate) async fn drop_unusable(mut request: Request) -> Request {
    let is_usable = request
        .headers()
        .get(HEADER)
        .is_none_or(|id| (1..=MAX_REQUEST_ID_BYTES).contains(&id.len()) && id.to_str().is_ok());
    if !is_usable {
        request.headers_mut().remove(HEADER);
    }
    request
}

/// An id for what is answered without being read.
pub(crate) fn new() -> String {
    let id = MakeRequestUuid.make_request_id(&axum::http::Request::new(()));
    id.and_then(|id| id.header_value().to_str().ok().map(str::to_owned)).unwrap_or_default()
}

/// The id of a request that has been given one.
pub(crate) fn of<B>(request: &axum::http::Request<B>) -> String {
    among(request.extensions())
}

fn among(extensions: &Extensions) -> String {
    let id = extensions.get::<RequestId>();
    id.and_then(|id| id.header_value().to_str().ok()).unwrap_or_default().to_owned()
}

/// The id of a request, for a handler.
pub(crate) struct RequestIdOf(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for RequestIdOf {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(among(&parts.extensions)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    async fn kept(id: &str) -> bool {
        let request = Request::builder().header(HEADER, id).body(Body::empty()).unwrap();
        drop_unusable(request).await.headers().contains_key(HEADER)
    }

    #[tokio::test]
    async fn a_usable_id_of_a_client_is_kept() {
        assert!(kept("abc-1").await);
        assert!(kept(&"x".repeat(MAX_REQUEST_ID_BYTES)).await);
        assert!(!kept(&"x".repeat(MAX_REQUEST_ID_BYTES + 1)).await);
        assert!(!kept("é").await);
        assert!(!kept("").await);
    }
}
