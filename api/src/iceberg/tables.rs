//! Tables: listed, and loaded as Iceberg's metadata.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Catalog, NamespaceName, PageSize, Snapshots, TableHistory};
use serde::{Deserialize, Serialize};

use super::metadata::table_json;
use super::namespaces::{NamesQuery, Page, find};
use super::path::{IcebergNamespaceOf, IcebergTableOf, levels_of};
use crate::access::ActingCatalog;
use crate::extract::QueryOf;
use crate::page_token::PageTokens;
use crate::problem::Problem;

/// The most snapshots that a client is told of, beside those that have a tag: metadata is one document, and is held whole.
const MAX_SNAPSHOTS: usize = 100_000;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct TablesJson {
    identifiers: Vec<IdentifierJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
}

#[derive(Serialize)]
struct IdentifierJson {
    namespace: Vec<String>,
    name: String,
}

/// List the tables of a namespace.
#[utoipa::path(
    get, path = "/iceberg/v1/namespaces/{namespace}/tables", operation_id = "iceberg_list_tables",
    responses((status = 200)),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    IcebergNamespaceOf(namespace): IcebergNamespaceOf,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<TablesJson>, Problem> {
    let tokens = PageTokens::of("iceberg_tables", &namespace.as_str());
    let page = query.page(tokens, &catalog)?;
    let (names, more) = match find(&catalog, namespace.clone()).await? {
        Some(_) => names(&catalog, &namespace, page).await?,
        None => (Vec::new(), false),
    };
    let next_page_token = names.last().filter(|_| more).map(|last| tokens.encode(last));
    let identifier = |name| IdentifierJson { namespace: levels_of(namespace.as_str()), name };
    Ok(Json(TablesJson { identifiers: names.into_iter().map(identifier).collect(), next_page_token }))
}

/// A page of names, or all of them; and whether there are more.
async fn names(catalog: &Catalog, namespace: &NamespaceName, page: Page) -> Result<(Vec<String>, bool), Problem> {
    if let Some(size) = page.size {
        return Ok(catalog.list_tables(namespace.clone(), page.after, size).await?);
    }
    let (mut names, mut more) = (Vec::new(), true);
    while more {
        let after = names.last().cloned().unwrap_or_default();
        let (found, is_more) = catalog.list_tables(namespace.clone(), after, PageSize::default()).await?;
        names.extend(found);
        more = is_more;
    }
    Ok((names, false))
}

/// Which snapshots a client wants to know of.
#[derive(Deserialize)]
pub(crate) struct LoadQuery {
    snapshots: Option<SnapshotsJson>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SnapshotsJson {
    /// All; at most [`MAX_SNAPSHOTS`] and those that have a tag.
    All,
    /// The newest, and those that have a tag.
    Refs,
}

/// Load a table: its metadata, as Iceberg has it.
#[utoipa::path(
    get, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}", operation_id = "iceberg_load_table",
    responses((status = 200)),
)]
pub(crate) async fn load(
    ActingCatalog(catalog): ActingCatalog,
    IcebergTableOf(ident): IcebergTableOf,
    QueryOf(query): QueryOf<LoadQuery>,
) -> Result<Response, Problem> {
    let wanted = match query.snapshots {
        Some(SnapshotsJson::Refs) => Snapshots::Named,
        Some(SnapshotsJson::All) | None => Snapshots::Newest(MAX_SNAPSHOTS),
    };
    let render = |history: &TableHistory| Ok(Json(table_json(history)?).into_response());
    catalog.load_table_history(ident, wanted, render).await?
}

/// Ask whether there is a table.
#[utoipa::path(
    head, path = "/iceberg/v1/namespaces/{namespace}/tables/{table}", operation_id = "iceberg_table_exists",
    responses((status = 204)),
)]
pub(crate) async fn exists(
    ActingCatalog(catalog): ActingCatalog,
    IcebergTableOf(ident): IcebergTableOf,
) -> Result<StatusCode, Problem> {
    catalog.load_table(ident).await?;
    Ok(StatusCode::NO_CONTENT)
}
