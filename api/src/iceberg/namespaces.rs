//! Namespaces, level by level. One that only holds others is there, too, without properties.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::http::StatusCode;
use prunus_catalog::{Catalog, Error, Namespace, NamespaceName, PageSize, Role};
use serde::{Deserialize, Serialize};

use super::path::{IcebergNamespaceOf, levels_of, parent_of};
use crate::access::ActingCatalog;
use crate::extract::QueryOf;
use crate::page_token::PageTokens;
use crate::problem::Problem;

/// Which page of names. Without `pageToken`, which may be empty, all are wanted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NamesQuery {
    parent: Option<String>,
    page_token: Option<String>,
    page_size: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct NamespacesJson {
    namespaces: Vec<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct NamespaceJson {
    namespace: Vec<String>,
    properties: BTreeMap<String, String>,
}

/// A page of names in their order.
pub(super) struct Page {
    /// The last name of the page before; empty for the first one.
    pub(super) after: String,
    /// `None` where all are wanted.
    pub(super) size: Option<PageSize>,
}

impl NamesQuery {
    pub(super) fn page(&self, tokens: PageTokens, catalog: &Catalog) -> Result<Page, Problem> {
        let token = self.page_token.as_deref();
        let after = tokens.decode(token.filter(|token| !token.is_empty()))?.unwrap_or_default();
        let size = token.map(|_| catalog.limits().page_size(self.page_size)).transpose()?;
        Ok(Page { after, size })
    }
}

/// List the namespaces right below another, or those of one level.
#[utoipa::path(
    get, path = "/iceberg/v1/namespaces", operation_id = "iceberg_list_namespaces", responses((status = 200)),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<NamespacesJson>, Problem> {
    let parent = query.parent.as_deref().filter(|parent| !parent.is_empty()).map(parent_of).transpose()?;
    let tokens = PageTokens::of("iceberg_namespaces", &query.parent);
    let Page { after, size } = query.page(tokens, &catalog)?;
    let below = below(&catalog, parent.as_ref()).await?;
    if let (true, Some(parent)) = (below.is_empty(), parent) {
        // Whether it is there is not for who may not see it.
        catalog.principal().require(Role::Reader, &parent)?;
        catalog.load_namespace(parent).await?;
    }
    let mut names: Vec<String> = below.into_iter().filter(|name| *name > after).collect();
    let more = size.is_some_and(|size: PageSize| size.cut(&mut names));
    let next_page_token = names.last().filter(|_| more).map(|last| tokens.encode(last));
    Ok(Json(NamespacesJson { namespaces: names.iter().map(|name| levels_of(name)).collect(), next_page_token }))
}

/// Look at a namespace.
#[utoipa::path(
    get, path = "/iceberg/v1/namespaces/{namespace}", operation_id = "iceberg_load_namespace", responses((status = 200)),
)]
pub(crate) async fn load(
    ActingCatalog(catalog): ActingCatalog,
    IcebergNamespaceOf(name): IcebergNamespaceOf,
) -> Result<Json<NamespaceJson>, Problem> {
    let namespace = levels_of(name.as_str());
    let properties = find(&catalog, name).await?.map(|found| found.properties).unwrap_or_default();
    Ok(Json(NamespaceJson { namespace, properties }))
}

/// Ask whether there is a namespace.
#[utoipa::path(
    head, path = "/iceberg/v1/namespaces/{namespace}", operation_id = "iceberg_namespace_exists",
    responses((status = 204)),
)]
pub(crate) async fn exists(
    ActingCatalog(catalog): ActingCatalog,
    IcebergNamespaceOf(name): IcebergNamespaceOf,
) -> Result<StatusCode, Problem> {
    find(&catalog, name).await.map(|_| StatusCode::NO_CONTENT)
}

/// The namespace; `None` if it only holds others.
pub(super) async fn find(catalog: &Catalog, name: NamespaceName) -> Result<Option<Namespace>, Problem> {
    match catalog.load_namespace(name.clone()).await {
        Ok(namespace) => Ok(Some(namespace)),
        Err(Error::NotFound { .. } | Error::Misnamed { .. }) if holds_any(catalog, &name).await? => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What the names of all namespaces below one begin with, which stand together.
fn prefix_below(parent: &NamespaceName) -> String {
    format!("{}.", parent.as_str())
}

async fn holds_any(catalog: &Catalog, name: &NamespaceName) -> Result<bool, Problem> {
    let prefix = prefix_below(name);
    let (first, _) = catalog.list_namespaces(prefix.clone(), PageSize::new(1)?).await?;
    Ok(first.iter().any(|found| found.name.starts_with(&prefix)))
}

/// The names of what is right below a namespace. Of what is below these a page each is looked at, at most.
async fn below(catalog: &Catalog, parent: Option<&NamespaceName>) -> Result<BTreeSet<String>, Problem> {
    let prefix = parent.map_or_else(String::new, prefix_below);
    let (mut names, mut after) = (BTreeSet::new(), Some(prefix.clone()));
    while let Some(last) = after.take() {
        let (page, more) = catalog.list_namespaces(last, PageSize::default()).await?;
        let within: Vec<&str> = page.iter().map_while(|found| found.name.strip_prefix(&prefix)).collect();
        if let (Some(last), true) = (within.last(), more && within.len() == page.len()) {
            after = Some(match last.split_once('.') {
                // Behind all that begins with the level and a dot.
                Some((level, _)) => format!("{prefix}{level}/"),
                None => format!("{prefix}{last}"),
            });
        }
        let level = |rest: &str| format!("{prefix}{}", rest.split('.').next().unwrap_or(rest));
        names.extend(within.into_iter().map(level));
    }
    Ok(names)
}
