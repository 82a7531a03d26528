//! The door: who asks, and whether they may, before anything of the request is looked at but its head.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use axum::RequestExt;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Catalog, NamespaceName, Principal, Role};
use utoipa::openapi::Paths;

use super::host;
use super::needs::{Need, need_of};
use super::rule::Access;
use crate::iceberg;
use crate::openapi::operations_of;
use crate::problem::Problem;

/// What is asked for by `WWW-Authenticate` where a request has no token.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer");
/// The same where it has one that opens nothing.
const CHALLENGE_AGAIN: HeaderValue = HeaderValue::from_static("Bearer error=\"invalid_token\"");
/// How a token is announced.
const SCHEME: &str = "Bearer";
/// What PyIceberg sends as its token where it has none.
const NO_TOKEN: &str = "None";
/// Schemes that are none of a token of ours, such as what a proxy passes on.
const OTHER_SCHEMES: [&str; 4] = ["Basic", "Digest", "Negotiate", "NTLM"];

/// What the door needs to know.
pub(crate) struct Guard {
    access: Access,
    catalog: Catalog,
    anyone: Arc<Principal>,
    routes: HashMap<String, Operations>,
}

/// The operations of a route by their methods, each with what it needs.
type Operations = Vec<(Method, Need)>;

impl Guard {
    /// For these routes.
    pub(crate) fn new(access: Access, catalog: Catalog, routes: &Paths) -> Self {
        let needs = routes.paths.iter().map(|(path, item)| {
            let operations = operations_of(item);
            let need = |id: &Option<String>| id.as_deref().map_or(Need::Impossible, need_of);
            (path.clone(), operations.map(|(method, operation)| (method, need(&operation.operation_id))).collect())
        });
        Self { access, catalog, anyone: Arc::new(Principal::anyone()), routes: needs.collect() }
    }

    /// What the operation of a request needs; `None` where there is none. A route that nobody described is let to nobody.
    fn operation(&self, request: &Request) -> Option<Need> {
        let route = request.extensions().get::<MatchedPath>()?;
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let Some(operations) = self.routes.get(route.as_str()) else { return Some(Need::Impossible) };
        operations.iter().find(|(known, _)| known == method).map(|(_, need)| *need)
    }

    fn principal(&self, request: &Request) -> Result<Arc<Principal>, Problem> {
        match token_of(request.headers()) {
            Shown::Token(NO_TOKEN) if iceberg::is_of(request.uri().path()) && self.access != Access::Tokens => {
                Ok(Arc::clone(&self.anyone))
            }
            Shown::Nothing if self.access == Access::Tokens => Err(Problem::NoToken),
            Shown::Nothing => Ok(Arc::clone(&self.anyone)),
            Shown::Token(token) => self.catalog.authenticate(token).map_err(refused_token),
            Shown::Unreadable => Err(refused_token(
                "the Authorization header is no text, has no scheme that is known, or is not the only one",
            )),
        }
    }

    /// Who asks, if they may; `None` where nobody is asked.
    async fn admitted(&self, request: &mut Request) -> Result<Option<Arc<Principal>>, Problem> {
        if self.access == Access::ThisMachine {
            require_this_machine(request)?;
        }
        // What no route takes is refused by the router, which has nothing to show of it.
        let Some(need) = self.operation(request) else { return Ok(None) };
        if need == Need::Anyone {
            return Ok(None);
        }
        let principal = self.principal(request)?;
        // Also for what is refused. Where nobody has to say who they are, nobody is told of.
        if !principal.name().is_empty() {
            tracing::Span::current().record("principal", principal.name());
        }
        match need {
            Need::Anyone | Need::Token => {}
            Need::OfPath(role) => require_of_path(&principal, role, request).await?,
            Need::OfBody(role) | Need::Somewhere(role) => principal.require_somewhere(role)?,
            Need::Impossible => return Err(Problem::Closed),
        }
        Ok(Some(principal))
    }
}

/// Whoever asks from this machine needs no token; who was led here, or is asked for, is not such a one.
fn require_this_machine(request: &Request) -> Result<(), Problem> {
    if !host::is_loopback(request.uri(), request.headers()) {
        return Err(Problem::ForeignHost);
    }
    if host::is_forwarded(request.headers()) { Err(Problem::Forwarded) } else { Ok(()) }
}

/// The log alone is told why.
fn refused_token(reason: impl Display) -> Problem {
    tracing::warn!(%reason, "a token was refused");
    Problem::RefusedToken
}

/// The middleware that lets a request in with its principal, or refuses it.
pub(crate) async fn admit(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    match guard.admitted(&mut request).await {
        Ok(principal) => {
            if let Some(principal) = principal {
                request.extensions_mut().insert(principal);
            }
            next.run(request).await
        }
        Err(problem) => refused(problem),
    }
}

fn refused(problem: Problem) -> Response {
    let challenge = match problem {
        Problem::NoToken => Some(CHALLENGE),
        Problem::RefusedToken => Some(CHALLENGE_AGAIN),
        _ => None,
    };
    let mut response = problem.into_response();
    if let Some(challenge) = challenge {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Requires a role on the namespace that the path names. On what is no name only who has it everywhere is told so.
async fn require_of_path(principal: &Principal, role: Role, request: &mut Request) -> Result<(), Problem> {
    if principal.may_everywhere(role) {
        return Ok(());
    }
    match namespace_of(request).await {
        Some(namespace) => principal.require(role, &namespace)?,
        None => principal.require_everywhere(role)?,
    }
    Ok(())
}

async fn namespace_of(request: &mut Request) -> Option<NamespaceName> {
    let is_of_iceberg = iceberg::is_of(request.uri().path());
    let variables = request.extract_parts::<RawPathParams>().await.ok()?;
    let (_, namespace) = variables.iter().find(|(name, _)| *name == "namespace")?;
    if is_of_iceberg { iceberg::namespace_of(namespace) } else { namespace.parse().ok() }
}

/// What a request shows of who sends it.
#[derive(Debug, PartialEq, Eq)]
enum Shown<'h> {
    /// Nothing, or what is meant for somebody else.
    Nothing,
    /// A token, or what is to be one.
    Token(&'h str),
    /// More than one thing, what is no text, or no scheme that is known.
    Unreadable,
}

fn token_of(headers: &HeaderMap) -> Shown<'_> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let Some(only) = shown.next() else { return Shown::Nothing };
    let Ok(text) = only.to_str() else { return Shown::Unreadable };
    if shown.next().is_some() {
        return Shown::Unreadable;
    }
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if scheme.eq_ignore_ascii_case(SCHEME) {
        return Shown::Token(token.trim_matches(' '));
    }
    // What is no other scheme is meant for us: whoever forgets a word is not let in as nobody.
    let is_for_others = OTHER_SCHEMES.iter().any(|other| scheme.eq_ignore_ascii_case(other));
    if is_for_others { Shown::Nothing } else { Shown::Unreadable }
}

/// The name of a request's principal; empty where nobody had to say who they are.
pub(crate) fn principal_name(extensions: &Extensions) -> &str {
    extensions.get::<Arc<Principal>>().map_or("", |principal| principal.name())
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use prunus_catalog::CatalogOptions;
    use tower::ServiceExt;

    use super::*;

    /// How a request to `/x` with this header is answered, where nobody described that route.
    async fn status(access: Access, header: (&'static str, &'static str)) -> StatusCode {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let guard = Arc::new(Guard::new(access, catalog, &Paths::default()));
        let router = Router::new().route("/x", get(|| async {})).layer(from_fn_with_state(guard, admit));
        let request = Request::get("/x").header("host", "localhost").header(header.0, header.1);
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn a_route_that_nobody_described_is_let_to_nobody() {
        for access in [Access::ThisMachine, Access::Open] {
            assert_eq!(status(access, ("accept", "*/*")).await, StatusCode::FORBIDDEN, "{access:?}");
        }
    }

    #[tokio::test]
    async fn what_a_proxy_passed_on_needs_a_token() {
        let forwarded = ("x-forwarded-for", "192.0.2.1");
        assert_eq!(status(Access::ThisMachine, forwarded).await, StatusCode::MISDIRECTED_REQUEST);
        assert_eq!(status(Access::Tokens, forwarded).await, StatusCode::UNAUTHORIZED);
        assert_eq!(status(Access::Open, forwarded).await, StatusCode::FORBIDDEN);
    }

    #[test]
    fn a_token_is_read_from_its_header() {
        let check = |values: &[&[u8]], expected: Shown<'_>| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
            }
            assert_eq!(token_of(&headers), expected, "{values:?}");
        };
        check(&[], Shown::Nothing);
        check(&[b"Bearer x"], Shown::Token("x"));
        check(&[b"bearer  x "], Shown::Token("x"));
        check(&[b"Bearer"], Shown::Token(""));
        check(&[b"Basic eDp5"], Shown::Nothing);
        check(&[b"negotiate x"], Shown::Nothing);
        for meant in [&b"Bearerx"[..], b"Bearer\tx", b"prunus_x", b"Token prunus_x", b"x Bearer", b""] {
            check(&[meant], Shown::Unreadable);
        }
        check(&[b"Bearer x", b"Bearer y"], Shown::Unreadable);
        check(&[b"Bearer \xff"], Shown::Unreadable);
    }
}
