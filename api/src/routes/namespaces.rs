//! Namespaces: create, list, look at, delete.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use prunus_catalog::{Catalog, Namespace, Render};
use serde::Deserialize;

use crate::extract::{JsonBody, NamespaceOf, QueryOf};
use crate::idempotency::KeyOf;
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{NamespaceJson, NamespacesJson, NewNamespaceJson, page_size};

const CREATED: Render<Namespace> = replies::created::<_, NamespaceJson>;

/// Which page of names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamesQuery {
    pub(crate) page_size: Option<u32>,
    pub(crate) page_token: Option<String>,
}

pub(crate) async fn create(
    State(catalog): State<Catalog>,
    key: KeyOf,
    JsonBody(new): JsonBody<NewNamespaceJson>,
) -> Result<Response, Problem> {
    let done = catalog.create_namespace_once(new.parse_name()?, new.properties, key.once(CREATED)).await?;
    replies::answer(done, CREATED)
}

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<NamespacesJson>, Problem> {
    let tokens = PageTokens::of("namespaces", &());
    let after: String = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let (namespaces, more) = catalog.list_namespaces(after, page_size(query.page_size)?).await?;
    let last = namespaces.last().filter(|_| more);
    let next_page_token = last.map(|last| tokens.encode(&last.name));
    let namespaces = namespaces.into_iter().map(NamespaceJson::from).collect();
    Ok(Json(NamespacesJson { namespaces, next_page_token }))
}

pub(crate) async fn get(
    State(catalog): State<Catalog>,
    NamespaceOf(name): NamespaceOf,
) -> Result<Json<NamespaceJson>, Problem> {
    Ok(Json(catalog.load_namespace(name).await?.into()))
}

pub(crate) async fn delete(
    State(catalog): State<Catalog>,
    key: KeyOf,
    NamespaceOf(name): NamespaceOf,
) -> Result<Response, Problem> {
    let done = catalog.delete_namespace_once(name, key.once(replies::gone)).await?;
    replies::answer(done, replies::gone)
}
