//! Requests that are sent again: a server that has too much to do says so, and after how long to ask again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Request, Response, StatusCode};

use super::IDEMPOTENCY_KEY;
use crate::idempotency::is_change;

/// How often a request is sent at most.
pub(super) const MAX_TRIES: u32 = 4;
/// The longest pause that is waited for; a server that names a longer one is not asked again.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Whether it comes to the same if a request is carried out twice: it only reads, or has a key.
pub(super) fn may_be_sent_again(request: &Request) -> bool {
    let path = request.url().path();
    // Whether a server is ready is asked to know how it is now.
    !path.ends_with("/readyz")
        && (!is_change(request.method(), path) || request.headers().contains_key(IDEMPOTENCY_KEY))
}

/// How long to wait before a request that was answered so is sent again; `None` if the answer does not say that this may help, or
/// not soon: a request that took too long is still worked on, and would be another time beside it. All clients that were sent away together would come back together, so it is up to twice what the server says.
pub(super) fn pause_after(response: &Response) -> Option<Duration> {
    if !matches!(response.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    let pause = Duration::from_secs(seconds);
    (pause <= MAX_PAUSE).then(|| jittered(pause, RandomState::new().hash_one(())))
}

/// A pause from the given one to twice as long, by a random number.
fn jittered(pause: Duration, random: u64) -> Duration {
    let share = u32::try_from(random % 1_000).unwrap_or(0);
    pause + pause * share / 1_000
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use axum::Router;
    use axum::http::HeaderMap;
    use axum::response::IntoResponse;
    use prunus_catalog::TableIdent;
    use reqwest::header::HeaderValue;

    use super::super::{Client, ClientError, Page};
    use super::*;
    use crate::wire::{NewTokenJson, PlanJson};

    /// A server that is busy so many times, says to ask again after so many seconds, and counts what it is asked.
    async fn busy(times: u32, seconds: &'static str) -> (Client, Arc<AtomicU32>) {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let answer = move || {
            let counted = Arc::clone(&counted);
            async move {
                if counted.fetch_add(1, Ordering::SeqCst) >= times {
                    return "{\"namespaces\": [], \"next_page_token\": null}".into_response();
                }
                let problem = "{\"type\": \"/problems/too-many-requests\", \"title\": \"Too many requests\", \"status\": 429, \
                               \"detail\": \"\", \"request_id\": \"\", \"retryable\": true, \"faults\": []}";
                let after = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(seconds))]);
                (StatusCode::TOO_MANY_REQUESTS, after, problem).into_response()
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(async { axum::serve(listener, Router::new().fallback(answer)).await });
        (Client::new(url).unwrap(), asked)
    }

    fn table() -> TableIdent {
        "n.t".parse().unwrap()
    }

    #[tokio::test]
    async fn a_read_is_sent_again_until_it_is_answered() {
        let (client, asked) = busy(2, "0").await;
        assert!(client.list_namespaces(&Page::default()).await.is_ok());
        assert_eq!(asked.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn a_client_gives_up_and_says_so() {
        let (client, asked) = busy(u32::MAX, "0").await;
        let error = client.plan(&table(), &PlanJson::default()).await.unwrap_err();
        assert_eq!(error.to_string(), "the server was asked 4 times: Too many requests (429)");
        assert!(matches!(&error, ClientError::GaveUp { tries: MAX_TRIES, .. }), "{error:?}");
        assert_eq!((error.status(), asked.load(Ordering::SeqCst)), (Some(429), MAX_TRIES));
    }

    #[tokio::test]
    async fn a_change_is_sent_again_only_under_a_key() {
        for (key, expected) in [(None, 1), (Some("k"), MAX_TRIES)] {
            let (mut client, asked) = busy(u32::MAX, "0").await;
            if let Some(key) = key {
                client = client.under_key(HeaderValue::from_static(key));
            }
            assert!(client.roll_back(&table(), 1).await.is_err());
            assert_eq!(asked.load(Ordering::SeqCst), expected);
        }
    }

    #[tokio::test]
    async fn a_token_is_asked_for_once_under_a_key_too() {
        let (client, asked) = busy(u32::MAX, "0").await;
        let new = NewTokenJson { name: "t".to_owned(), grants: vec!["reader".to_owned()], expires_at: None };
        assert!(client.under_key(HeaderValue::from_static("k")).create_token(&new).await.is_err());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn what_the_server_puts_off_for_long_is_not_waited_for() {
        for seconds in ["11", "soon"] {
            let (client, asked) = busy(u32::MAX, seconds).await;
            assert!(client.list_namespaces(&Page::default()).await.is_err());
            assert_eq!(asked.load(Ordering::SeqCst), 1, "{seconds}");
        }
    }

    #[tokio::test]
    async fn whether_a_server_is_ready_is_asked_once() {
        let (client, asked) = busy(u32::MAX, "0").await;
        assert!(client.readiness().await.is_err());
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_pause_is_up_to_twice_as_long() {
        let pause = Duration::from_secs(2);
        assert_eq!(jittered(pause, 0), pause);
        assert_eq!(jittered(pause, 1_500), Duration::from_secs(3));
        assert!(jittered(pause, 999) < 2 * pause);
    }
}
