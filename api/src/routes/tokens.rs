//! Access tokens: create, list, revoke.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::namespaces::NamesQuery;
use crate::access::ActingCatalog;
use crate::detached;
use crate::extract::{JsonBody, QueryOf, TokenOf};
use crate::openapi::{Conflict, NotFound, Refused, Unavailable};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::wire::{CreatedTokenJson, NewTokenJson, TokenJson, TokensJson};

/// Where they are created.
pub(crate) const PATH: &str = "/v1/tokens";

/// Create a token.
///
/// Nobody grants beyond what they are admin of. The secret is in this answer alone, which is stored nowhere: a creation is not sent
/// again under a key, but refused, since its name is taken.
#[utoipa::path(
    post, path = "/v1/tokens", operation_id = "create_token", tag = "access",
    request_body = NewTokenJson,
    responses((status = 201, description = "The token, with its secret.", body = CreatedTokenJson), Conflict, Refused, Unavailable),
)]
pub(crate) async fn create(
    ActingCatalog(catalog): ActingCatalog,
    JsonBody(new): JsonBody<NewTokenJson>,
) -> Result<Response, Problem> {
    const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
    let new = new.parse()?;
    let created = detached::to_the_end(async move { Ok(catalog.create_token(new).await?) }).await?;
    let created = CreatedTokenJson::from(created);
    Ok((StatusCode::CREATED, [(header::CACHE_CONTROL, NO_STORE)], Json(created)).into_response())
}

/// List the tokens.
///
/// By name: those that open nothing beyond what the asking token is admin of, also where they hold no more.
#[utoipa::path(
    get, path = "/v1/tokens", operation_id = "list_tokens", tag = "access",
    params(NamesQuery),
    responses((status = 200, description = "A page of them.", body = TokensJson), Refused),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<TokensJson>, Problem> {
    let tokens = PageTokens::of("tokens", &());
    let after: String = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let (page, more) = catalog.list_tokens(after, catalog.limits().page_size(query.page_size)?).await?;
    let next_page_token = page.last().filter(|_| more).map(|last| tokens.encode(&last.name));
    Ok(Json(TokensJson { tokens: page.into_iter().map(TokenJson::from).collect(), next_page_token }))
}

/// Revoke a token.
///
/// It opens nothing from now on. Its name stays taken. The last token that is admin of everything is refused to whoever shows it.
#[utoipa::path(
    delete, path = "/v1/tokens/{token}", operation_id = "revoke_token", tag = "access",
    responses((status = 204, description = "It is revoked, now or before."), NotFound, Refused),
)]
pub(crate) async fn revoke(
    ActingCatalog(catalog): ActingCatalog,
    TokenOf(name): TokenOf,
) -> Result<StatusCode, Problem> {
    detached::to_the_end(async move { Ok(catalog.revoke_token(name).await?) }).await?;
    Ok(StatusCode::NO_CONTENT)
}
