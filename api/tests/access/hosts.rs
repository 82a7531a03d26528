//! Where no token is needed: who is let in all the same, and who is not.

use axum::body::Body;
use axum::http::Request;
use prunus::settings::TokenRule;

use crate::api::Api;

async fn status(api: &Api, path: &str, host: Option<&str>, token: Option<&str>) -> u16 {
    let mut request = Request::get(path);
    if let Some(host) = host {
        request = request.header("host", host);
    }
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    api.answer(request.body(Body::empty()).unwrap()).await.status.as_u16()
}

#[tokio::test]
async fn who_shows_a_token_is_held_to_it() {
    for rule in [TokenRule::Auto, TokenRule::Off] {
        let api = Api::with(rule).await;
        let own = api.token("own", &["reader:p"]).await;
        let of = async |token| status(&api, "/v1/namespaces/other", Some("127.0.0.1:8181"), token).await;
        assert_eq!((of(None).await, of(Some(&own)).await, of(Some("prunus_wrong")).await), (200, 403, 401), "{rule:?}");
    }
}

#[tokio::test]
async fn a_host_that_is_not_this_machine_is_refused_where_no_token_is_needed() {
    let of = async |rule, host| {
        let api = Api::with(rule).await;
        let root = api.root.clone();
        (
            status(&api, "/v1/namespaces", Some(host), None).await,
            status(&api, "/v1/namespaces", Some(host), Some(&root)).await,
            status(&api, "/healthz", Some(host), None).await,
        )
    };
    assert_eq!(of(TokenRule::Auto, "localhost:8181").await, (200, 200, 200));
    assert_eq!(of(TokenRule::Auto, "evil.example:8181").await, (421, 421, 421));
    assert_eq!(of(TokenRule::Off, "evil.example:8181").await, (200, 200, 200));
    assert_eq!(of(TokenRule::Required, "evil.example:8181").await, (401, 200, 200));
}

#[tokio::test]
async fn credentials_of_another_kind_are_none() {
    let api = Api::with(TokenRule::Auto).await;
    let request = Request::get("/v1/namespaces").header("authorization", "Basic eDp5").body(Body::empty()).unwrap();
    assert_eq!(api.answer(request).await.status.as_u16(), 200);
    let api = Api::new().await;
    let request = Request::get("/v1/namespaces").header("authorization", "Basic eDp5").body(Body::empty()).unwrap();
    assert_eq!(api.answer(request).await.headers["www-authenticate"], "Bearer");
}
