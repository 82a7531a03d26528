//! Replies of changing requests: what is stored of them is, byte for byte, what is answered.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Done, Error, Render, Result, StoredReply};
use serde::Serialize;

use crate::etag;
use crate::problem::Problem;

/// What a handler leaves on its answer for the middleware that keeps replies.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    /// If the request had a key, its reply was stored together with what it did.
    Now,
    /// The request was answered before, and this was the reply; the answer itself is empty.
    Before(StoredReply),
}

/// The reply to a request that made something.
pub(crate) fn created<T: Clone, J: From<T> + Serialize>(made: &T) -> Result<StoredReply> {
    json_of::<T, J>(StatusCode::CREATED, made)
}

/// The reply to a request for what is made behind it.
pub(crate) fn accepted<T: Clone, J: From<T> + Serialize>(begun: &T) -> Result<StoredReply> {
    json_of::<T, J>(StatusCode::ACCEPTED, begun)
}

/// The reply to a request that changed what was there, or left it as it is.
pub(crate) fn found<T: Clone, J: From<T> + Serialize>(there: &T) -> Result<StoredReply> {
    json_of::<T, J>(StatusCode::OK, there)
}

fn json_of<T: Clone, J: From<T> + Serialize>(status: StatusCode, outcome: &T) -> Result<StoredReply> {
    let body = serde_json::to_vec(&J::from(outcome.clone())).map_err(Error::Reply)?;
    Ok(StoredReply { status: status.as_u16(), body })
}

/// The reply to a request that made something go away.
#[expect(clippy::unnecessary_wraps, clippy::trivially_copy_pass_by_ref, reason = "the signature is that of Render")]
pub(crate) fn gone((): &()) -> Result<StoredReply> {
    Ok(StoredReply { status: StatusCode::NO_CONTENT.as_u16(), body: Vec::new() })
}

/// The answer to what came of a request.
pub(crate) fn answer<T>(done: Done<T>, render: Render<T>) -> Result<Response, Problem> {
    answer_as(done, render, success)
}

/// The same with the tag that a GET of what was changed has.
pub(crate) fn tagged_answer<T>(done: Done<T>, render: Render<T>) -> Result<Response, Problem> {
    answer_as(done, render, |reply| {
        let tag = etag::of(&reply.body);
        Ok(etag::tagged(success(reply)?, tag))
    })
}

fn answer_as<T>(
    done: Done<T>,
    render: Render<T>,
    success: fn(StoredReply) -> Result<Response, Problem>,
) -> Result<Response, Problem> {
    let (mut response, kept) = match done {
        Done::Now(outcome) => (success(render(&outcome)?)?, Kept::Now),
        Done::Before(reply) => (Response::default(), Kept::Before(reply)),
    };
    response.extensions_mut().insert(kept);
    Ok(response)
}

/// The answer that a reply without fault is.
pub(crate) fn success(reply: StoredReply) -> Result<Response, Problem> {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    let mut response = (status_of(&reply)?, Body::from(reply.body)).into_response();
    if response.status() != StatusCode::NO_CONTENT {
        response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    }
    Ok(response)
}

/// The status of a reply.
pub(crate) fn status_of(reply: &StoredReply) -> Result<StatusCode, Problem> {
    StatusCode::from_u16(reply.status).map_err(|_| Problem::UnusableReply(reply.status))
}
