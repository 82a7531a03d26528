//! The Idempotency-Key header, which is not kept yet: a client that relies on it must learn that before it retries.

use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Error, Fault};

use crate::problem::Problem;

/// The middleware that refuses a changing request with an Idempotency-Key.
pub(crate) async fn refuse_key(request: Request, next: Next) -> Response {
    if promises_idempotency(&request) {
        let fault = Fault::at("Idempotency-Key", "the header is not supported yet; send the request without it");
        return Problem::Catalog(Error::invalid(fault)).into_response();
    }
    next.run(request).await
}

fn promises_idempotency(request: &Request) -> bool {
    let reads = request.method() == Method::POST && request.uri().path().ends_with("/plan");
    let changes = request.method() != Method::GET && !reads;
    changes && request.headers().contains_key("idempotency-key")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_changes_are_refused() {
        let check = |method: Method, path: &str, header: &str, expected: bool| {
            let request = Request::builder().method(method).uri(path).header(header, "k").body(Body::empty()).unwrap();
            assert_eq!(promises_idempotency(&request), expected, "{path}");
        };
        check(Method::POST, "/v1/namespaces", "idempotency-key", true);
        check(Method::DELETE, "/v1/namespaces/n", "Idempotency-Key", true);
        check(Method::POST, "/v1/namespaces/n/tables/t/plan", "idempotency-key", false);
        check(Method::DELETE, "/v1/namespaces/n/tables/plan", "idempotency-key", true);
        check(Method::GET, "/v1/namespaces", "idempotency-key", false);
        check(Method::POST, "/v1/namespaces", "x-other", false);
    }
}
