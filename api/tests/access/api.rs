//! A router over a catalog of its own, and requests with tokens.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use prunus::settings::{Settings, TokenRule};
use prunus_catalog::{Catalog, CatalogOptions, Grants, NewToken};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::clock::SetClock;

/// A router with namespaces `p`, `p.own` and `other`, and the tables `p.own.t` and `other.t`, whose files are not read.
pub(crate) struct Api {
    router: Router,
    pub(crate) catalog: Catalog,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) folder: TempDir,
    /// A token with the role admin everywhere, called `root`.
    pub(crate) root: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Api {
    /// Where requests need a token.
    pub(crate) async fn new() -> Self {
        Self::with(TokenRule::Required).await
    }

    pub(crate) async fn with(tokens: TokenRule) -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), SetClock::new());
        let options = CatalogOptions { clock: Arc::clone(&clock) as _, ..CatalogOptions::default() };
        let catalog = Catalog::open(folder.path(), options).await.unwrap();
        let mut settings = Settings::default();
        settings.access.tokens = tokens;
        let router = prunus::router(catalog.clone(), &settings);
        let root = give_token(&catalog, "root", &["admin"]).await;
        let api = Self { router, catalog, clock, folder, root };
        for name in ["p", "p.own", "other"] {
            api.does("/v1/namespaces", &json!({"name": name})).await;
        }
        for namespace in ["p.own", "other"] {
            let location = format!("{}/data/{namespace}/", api.folder.path().display());
            let table = json!({
                "name": "t", "location": location, "properties": {"verification": "declared"},
                "schema": {"fields": [{"name": "x", "type": "int64"}]},
            });
            api.does(&format!("/v1/namespaces/{namespace}/tables"), &table).await;
        }
        api
    }

    /// Ends it; its folder stays.
    pub(crate) fn close(self) -> TempDir {
        let Self { router, catalog, folder, .. } = self;
        drop((router, catalog));
        folder
    }

    /// A token with these grants.
    pub(crate) async fn token(&self, name: &str, grants: &[&str]) -> String {
        give_token(&self.catalog, name, grants).await
    }

    /// Posts with the token of all rights.
    pub(crate) async fn does(&self, path: &str, body: &Value) -> Value {
        let answer = self.send(Method::POST, path, Some(&self.root), Some(body)).await;
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        answer.json()
    }

    pub(crate) async fn get(&self, path: &str, token: &str) -> Answer {
        self.send(Method::GET, path, Some(token), None).await
    }

    pub(crate) async fn post(&self, path: &str, token: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(token), Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str, token: &str) -> Answer {
        self.send(Method::DELETE, path, Some(token), None).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, token: Option<&str>, body: Option<&Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = match body {
            Some(json) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Body::from(json.to_string())
            }
            None => Body::empty(),
        };
        self.answer(request.body(body).unwrap()).await
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = String::from_utf8_lossy(&to_bytes(body, usize::MAX).await.unwrap()).into_owned();
        Answer { status: parts.status, headers: parts.headers, body }
    }
}

async fn give_token(catalog: &Catalog, name: &str, grants: &[&str]) -> String {
    let grants = Grants::new(grants.iter().map(|grant| grant.parse().unwrap()).collect()).unwrap();
    let new = NewToken { name: name.parse().unwrap(), grants, expires_at_ms: None };
    catalog.create_token(new).await.unwrap().1.reveal().to_owned()
}
