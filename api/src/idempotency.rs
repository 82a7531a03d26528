//! The Idempotency-Key header: a request that is sent again under its key is answered as before, and carried out once.
//!
//! A handler whose change is one transaction stores its reply in it. All else is stored here, after the fact: refusals that
//! the request would meet again, and the successes of handlers that do not store their own. What may go another way the next
//! time, a failure above all, is not stored, nor is what is too large. A client that hangs up stops none of it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Catalog, Once, Render, RequestKey, StoredReply};
use xxhash_rust::xxh3::Xxh3;

use crate::problem::{self, Problem};
use crate::replies::{self, Kept};
use crate::routes::tokens;
use crate::{access, detached, etag, extract, iceberg, request_id};

/// The header that a key comes in.
pub(crate) const HEADER: &str = "Idempotency-Key";
/// The longest key that is taken from a client.
pub(crate) const MAX_KEY_BYTES: usize = 255;
/// The largest reply that is stored here, in bytes. A change that stores its own does so whatever its size.
const MAX_STORED_REPLY_BYTES: usize = 1 << 20;
/// The header of an answer that was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The key of a request, for a handler that stores its reply with what it does.
pub(crate) struct KeyOf(Option<RequestKey>);

impl KeyOf {
    /// For a use case whose outcome is answered as `render` says.
    pub(crate) fn once<T>(self, render: Render<T>) -> Once<T> {
        self.0.map_or_else(Once::unkeyed, |request| Once::keyed(request, render))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for KeyOf {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get().cloned()))
    }
}

/// The middleware that answers a changing request from what is stored under its key, or stores what it is answered.
pub(crate) async fn keep_replies(State(catalog): State<Catalog>, request: Request, next: Next) -> Response {
    if !takes_key(request.method(), request.uri().path()) {
        return next.run(request).await;
    }
    match key_of(request.headers()) {
        Ok(None) => next.run(request).await,
        Ok(Some(key)) => once(&catalog, key, request, next).await.unwrap_or_else(Problem::into_response),
        Err(problem) => problem.into_response(),
    }
}

/// Whether a request asks for something to be other than it is. A plan is read, though its route takes a POST; and Iceberg's clients
/// only read.
pub(crate) fn is_change(method: &Method, path: &str) -> bool {
    match *method {
        _ if iceberg::is_of(path) => false,
        Method::POST => !path.ends_with("/plan") && !path.ends_with("/explain"),
        Method::PUT | Method::PATCH | Method::DELETE => true,
        _ => false,
    }
}

/// Whether a request may have a key. A new token has none, since the reply to it is stored nowhere: it has the secret. That it is not
/// made twice is seen to by its name.
pub(crate) fn takes_key(method: &Method, path: &str) -> bool {
    is_change(method, path) && !(*method == Method::POST && path == tokens::PATH)
}

fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let malformed = |message| Problem::MalformedHeader { header: HEADER, message };
    let mut keys = headers.get_all(HEADER).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    if keys.next().is_some() {
        return Err(malformed("a request has one"));
    }
    if !(1..=MAX_KEY_BYTES).contains(&key.len()) {
        return Err(malformed("it is not a string of 1 to 255 bytes"));
    }
    let key = std::str::from_utf8(key.as_bytes()).map_err(|_| malformed("it is not UTF-8"))?;
    Ok(Some(key.to_owned()))
}

async fn once(catalog: &Catalog, key: String, request: Request, next: Next) -> Result<Response, Problem> {
    let request_id = request_id::of(&request);
    let (mut parts, body) = request.into_parts();
    let body = extract::body_bytes(Request::from_parts(parts.clone(), body)).await?;
    let key = request_key(&parts, key, &body);
    if let Some(reply) = catalog.get_reply(key.clone()).await? {
        return replay(reply, &parts.method, request_id);
    }
    parts.extensions.insert(key.clone());
    let request = Request::from_parts(parts, Body::from(body));
    // On a task of its own: what waits for the answer goes when the client does, and this must not stop half way.
    detached::to_the_end(answer_and_store(catalog.clone(), key, request, request_id, next)).await
}

async fn answer_and_store(
    catalog: Catalog,
    key: RequestKey,
    request: Request,
    request_id: String,
    next: Next,
) -> Result<Response, Problem> {
    let method = request.method().clone();
    let response = next.run(request).await;
    let (reply, response) = match response.extensions().get::<Kept>() {
        Some(Kept::Now) => return Ok(response),
        Some(Kept::Before(reply)) => return replay(reply.clone(), &method, request_id),
        None => reply_of(response).await?,
    };
    let Some(reply) = reply else { return Ok(response) };
    match catalog.ensure_reply(key, reply).await {
        Ok(None) => Ok(response),
        // Another request under the key was faster. What was done all the same is told as it was done.
        Ok(Some(earlier)) if !response.status().is_success() => replay(earlier, &method, request_id),
        Ok(Some(_)) => Ok(response),
        Err(error) => {
            // What was done and found holds; only a repetition of the request does not know of it.
            tracing::error!(request_id, error = &error as &dyn std::error::Error, "a reply was not stored");
            Ok(response)
        }
    }
}

/// A reply from before, as the answer to the request of this id. What was changed by a PATCH has its tag again.
fn replay(reply: StoredReply, method: &Method, request_id: String) -> Result<Response, Problem> {
    let status = replies::status_of(&reply)?;
    let mut response = if status.is_success() {
        let tag = if *method == Method::PATCH { etag::of(&reply.body) } else { None };
        etag::tagged(replies::success(reply)?, tag)
    } else {
        problem::stored_response(status, &reply.body, request_id)?
    };
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

/// The identity of a request: its principal and its route are the scope, its query is of the content. Names of principals hold no
/// space, so no scope is two.
fn request_key(parts: &Parts, key: String, body: &Bytes) -> RequestKey {
    let mut content = Xxh3::new();
    content.update(parts.uri.query().unwrap_or_default().as_bytes());
    // Stands in no query, so that none can be taken for the beginning of a body.
    content.update(b"\n");
    content.update(body);
    let scope = format!("{} {} {}", access::principal_name(&parts.extensions), parts.method, parts.uri.path());
    RequestKey { scope, key, content_hash: content.digest128() }
}

/// What is to be stored of an answer, if anything, and the answer.
async fn reply_of(response: Response) -> Result<(Option<StoredReply>, Response), Problem> {
    if let Some(problem) = response.extensions().get::<Arc<Problem>>() {
        let reply = problem.to_stored_reply().filter(|reply| reply.body.len() <= MAX_STORED_REPLY_BYTES);
        return Ok((reply, response));
    }
    let bytes_max = response.body().size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
    if !response.status().is_success() || bytes_max.is_none_or(|bytes| bytes > MAX_STORED_REPLY_BYTES) {
        return Ok((None, response));
    }
    let (parts, body) = response.into_parts();
    let unusable = |_| Problem::UnusableReply(parts.status.as_u16());
    let body = to_bytes(body, MAX_STORED_REPLY_BYTES).await.map_err(unusable)?;
    let reply = StoredReply { status: parts.status.as_u16(), body: body.to_vec() };
    Ok((Some(reply), Response::from_parts(parts, Body::from(body))))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::http::StatusCode;
    use axum::middleware::from_fn_with_state;
    use axum::routing::post;
    use axum::{Json, Router};
    use prunus_catalog::{CatalogOptions, Error};
    use tokio::sync::Notify;
    use tower::ServiceExt;

    use super::*;

    /// A route whose handler stores nothing of its own: it counts its calls, and does with them what it is told.
    struct Counting {
        router: Router,
        calls: Arc<AtomicUsize>,
        _folder: tempfile::TempDir,
    }

    impl Counting {
        async fn new(outcome: fn() -> Result<(), Problem>) -> Self {
            let (folder, calls) = (tempfile::tempdir().unwrap(), Arc::new(AtomicUsize::new(0)));
            let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
            let counted = Arc::clone(&calls);
            let handler = move || async move {
                let call = counted.fetch_add(1, Ordering::SeqCst);
                outcome().map(|()| (StatusCode::ACCEPTED, Json(call)))
            };
            let router = Router::new().route("/v1/x", post(handler));
            Self { router: router.layer(from_fn_with_state(catalog, keep_replies)), calls, _folder: folder }
        }

        /// Sends the same request: its status and body, and whether it was answered before.
        async fn send(&self) -> (StatusCode, Bytes, bool) {
            let response = self.router.clone().oneshot(keyed()).await.unwrap();
            let (status, replayed) = (response.status(), response.headers().contains_key(REPLAYED));
            (status, to_bytes(response.into_body(), usize::MAX).await.unwrap(), replayed)
        }
    }

    #[tokio::test]
    async fn a_handler_that_stores_nothing_is_called_once() {
        let route = Counting::new(|| Ok(())).await;
        assert_eq!(route.send().await, (StatusCode::ACCEPTED, Bytes::from("0"), false));
        assert_eq!(route.send().await, (StatusCode::ACCEPTED, Bytes::from("0"), true));
        assert_eq!(route.calls.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_failure_is_tried_again() {
        for failure in [|| Err(Error::Background.into()), || Err(Error::SchemaMoved.into())] {
            let route = Counting::new(failure).await;
            let first = route.send().await;
            assert!(!first.2);
            assert_eq!(route.send().await, first);
            assert_eq!(route.calls.load(Ordering::SeqCst), 2);
        }
    }

    fn keyed() -> Request {
        Request::post("/v1/x").header("idempotency-key", "k").body(Body::from("body")).unwrap()
    }

    #[tokio::test]
    async fn a_client_that_hangs_up_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (tell, wait) = (Arc::clone(&begun), Arc::clone(&go_on));
        let handler = move || async move {
            tell.notify_one();
            wait.notified().await;
            "done"
        };
        let router = Router::new().route("/v1/x", post(handler));
        let router = router.layer(from_fn_with_state(catalog.clone(), keep_replies));
        tokio::select! {
            _ = router.oneshot(keyed()) => panic!("the handler waits"),
            () = begun.notified() => {}
        }
        go_on.notify_one();
        let (parts, _) = keyed().into_parts();
        let key = request_key(&parts, "k".to_owned(), &Bytes::from_static(b"body"));
        let stored = async {
            loop {
                if let Some(reply) = catalog.get_reply(key.clone()).await.unwrap() {
                    return reply;
                }
                tokio::task::yield_now().await;
            }
        };
        let reply = tokio::time::timeout(std::time::Duration::from_secs(30), stored).await.unwrap();
        assert_eq!(reply, StoredReply { status: 200, body: b"done".to_vec() });
    }

    #[tokio::test]
    async fn replies_are_stored_up_to_the_limit() {
        for (bytes, expected) in [(MAX_STORED_REPLY_BYTES, true), (MAX_STORED_REPLY_BYTES + 1, false)] {
            let folder = tempfile::tempdir().unwrap();
            let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
            let router = Router::new().route("/v1/x", post(async move || "x".repeat(bytes)));
            let router = router.layer(from_fn_with_state(catalog, keep_replies));
            for replayed in [false, expected] {
                let response = router.clone().oneshot(keyed()).await.unwrap();
                assert_eq!(response.headers().contains_key(REPLAYED), replayed, "{bytes}");
                assert_eq!(to_bytes(response.into_body(), usize::MAX).await.unwrap().len(), bytes);
            }
        }
    }

    #[test]
    fn a_plan_is_no_change() {
        let check = |method: Method, path: &str, expected: bool| {
            assert_eq!(is_change(&method, path), expected, "{path}");
        };
        check(Method::POST, "/v1/namespaces", true);
        check(Method::DELETE, "/v1/namespaces/n", true);
        check(Method::PUT, "/v1/namespaces/n/tables/t/tags/plan", true);
        check(Method::PATCH, "/v1/namespaces/n/tables/explain", true);
        check(Method::POST, "/v1/namespaces/n/tables/t/plan", false);
        check(Method::POST, "/v1/namespaces/n/tables/t/explain", false);
        check(Method::GET, "/v1/namespaces", false);
    }

    #[test]
    fn a_key_is_a_string_of_one_to_255_bytes() {
        let check = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("idempotency-key", HeaderValue::from_bytes(value).unwrap());
            }
            key_of(&headers).ok()
        };
        assert_eq!(check(&[]), Some(None));
        assert_eq!(check(&[b"k"]), Some(Some("k".to_owned())));
        assert_eq!(check(&["schlüssel".as_bytes()]), Some(Some("schlüssel".to_owned())));
        assert_eq!(check(&[&[b'k'; MAX_KEY_BYTES]]), Some(Some("k".repeat(MAX_KEY_BYTES))));
        assert_eq!(check(&[&[b'k'; MAX_KEY_BYTES + 1]]), None);
        assert_eq!(check(&[b""]), None);
        assert_eq!(check(&[b"\xff"]), None);
        assert_eq!(check(&[b"k", b"k"]), None);
    }

    #[test]
    fn a_request_is_known_by_its_route_and_its_content() {
        let of = |method: Method, uri: &str, body: &'static str| {
            let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
            request_key(&parts, "k".to_owned(), &Bytes::from_static(body.as_bytes()))
        };
        let one = of(Method::POST, "/a", "body");
        assert_eq!(of(Method::POST, "/a", "body"), one);
        assert_ne!(of(Method::POST, "/b", "body").scope, one.scope);
        assert_ne!(of(Method::PUT, "/a", "body").scope, one.scope);
        let other = of(Method::POST, "/a?q=1", "body");
        assert_eq!(other.scope, one.scope);
        assert_ne!(other.content_hash, one.content_hash);
        assert_ne!(of(Method::POST, "/a", "other").content_hash, one.content_hash);
    }
}
