//! Namespaces: create, list, look at, delete.

use axum::Json;
use axum::response::Response;
use prunus_catalog::{Namespace, Render, Role};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::ActingCatalog;
use crate::extract::{JsonBody, NamespaceOf, QueryOf};
use crate::idempotency::KeyOf;
use crate::openapi::values::PageSizeSchema;
use crate::openapi::{Conflict, NotFound, Refused};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{NamespaceJson, NamespacesJson, NewNamespaceJson};

const CREATED: Render<Namespace> = replies::created::<_, NamespaceJson>;

/// Which page of names.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NamesQuery {
    /// The most entries of a page.
    #[param(value_type = Option<PageSizeSchema>)]
    pub(crate) page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    pub(crate) page_token: Option<String>,
}

/// Create a namespace.
///
/// Its parts need not be namespaces themselves: `a.b` may be there without `a`.
#[utoipa::path(
    post, path = "/v1/namespaces", operation_id = "create_namespace", tag = "namespaces",
    request_body = NewNamespaceJson,
    responses((status = 201, description = "The namespace.", body = NamespaceJson), Conflict),
)]
pub(crate) async fn create(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    JsonBody(new): JsonBody<NewNamespaceJson>,
) -> Result<Response, Problem> {
    let name = new.parse_name()?;
    catalog.principal().require(Role::Admin, &name)?;
    let done = catalog.create_namespace_once(name, new.properties, key.once(CREATED)).await?;
    replies::answer(done, CREATED)
}

/// List the namespaces.
///
/// By name: those that the token may see.
#[utoipa::path(
    get, path = "/v1/namespaces", operation_id = "list_namespaces", tag = "namespaces",
    params(NamesQuery),
    responses((status = 200, description = "A page of them.", body = NamespacesJson), Refused),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<NamespacesJson>, Problem> {
    let tokens = PageTokens::of("namespaces", &());
    let after: String = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let (namespaces, more) = catalog.list_namespaces(after, catalog.limits().page_size(query.page_size)?).await?;
    let last = namespaces.last().filter(|_| more);
    let next_page_token = last.map(|last| tokens.encode(&last.name));
    let namespaces = namespaces.into_iter().map(NamespaceJson::from).collect();
    Ok(Json(NamespacesJson { namespaces, next_page_token }))
}

/// Look at a namespace.
///
/// At its properties. Its tables are listed on their own.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}", operation_id = "get_namespace", tag = "namespaces",
    responses((status = 200, description = "The namespace.", body = NamespaceJson), NotFound),
)]
pub(crate) async fn get(
    ActingCatalog(catalog): ActingCatalog,
    NamespaceOf(name): NamespaceOf,
) -> Result<Json<NamespaceJson>, Problem> {
    Ok(Json(catalog.load_namespace(name).await?.into()))
}

/// Delete a namespace.
///
/// It must be empty.
#[utoipa::path(
    delete, path = "/v1/namespaces/{namespace}", operation_id = "delete_namespace", tag = "namespaces",
    responses((status = 204, description = "It is gone."), NotFound, Conflict),
)]
pub(crate) async fn delete(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    NamespaceOf(name): NamespaceOf,
) -> Result<Response, Problem> {
    let done = catalog.delete_namespace_once(name, key.once(replies::gone)).await?;
    replies::answer(done, replies::gone)
}
