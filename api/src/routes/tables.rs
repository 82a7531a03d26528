//! Tables: create, list, look at, change, forget.

use axum::Json;
use axum::http::HeaderMap;
use axum::response::Response;
use prunus_catalog::{Render, Role, Table};

use super::namespaces::NamesQuery;
use crate::access::ActingCatalog;
use crate::detached;
use crate::etag;
use crate::extract::{JsonBody, NamespaceOf, QueryOf, TableOf};
use crate::idempotency::KeyOf;
use crate::openapi::{Conflict, NotFound, Refused};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{AlterTableJson, NewTableJson, TableJson, TableNameJson, TablesJson};

const CREATED: Render<Table> = replies::created::<_, TableJson>;
const ALTERED: Render<Table> = replies::found::<_, TableJson>;

/// Create a table.
///
/// With a schema of its own, or with that of a Parquet file.
#[utoipa::path(
    post, path = "/v1/namespaces/{namespace}/tables", operation_id = "create_table", tag = "tables",
    request_body = NewTableJson,
    responses((status = 201, description = "The table.", body = TableJson), NotFound, Conflict),
)]
pub(crate) async fn create(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    NamespaceOf(namespace): NamespaceOf,
    JsonBody(new): JsonBody<NewTableJson>,
) -> Result<Response, Problem> {
    let done = catalog.create_table_once(new.parse(namespace)?, key.once(CREATED)).await?;
    replies::answer(done, CREATED)
}

/// List the tables of a namespace.
///
/// By name.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables", operation_id = "list_tables", tag = "tables",
    params(NamesQuery),
    responses((status = 200, description = "A page of them.", body = TablesJson), NotFound, Refused),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    NamespaceOf(namespace): NamespaceOf,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<TablesJson>, Problem> {
    let tokens = PageTokens::of("tables", &namespace.as_str());
    let after: String = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let (names, more) =
        catalog.list_tables(namespace.clone(), after, catalog.limits().page_size(query.page_size)?).await?;
    let next_page_token = names.last().filter(|_| more).map(|last| tokens.encode(last));
    let table = |name| TableNameJson { namespace: namespace.as_str().to_owned(), name };
    Ok(Json(TablesJson { tables: names.into_iter().map(table).collect(), next_page_token }))
}

/// Look at a table.
///
/// Its ETag stands for all of the answer.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}", operation_id = "get_table", tag = "tables",
    params(("If-None-Match" = Option<String>, Header, description = "Tags of answers that the client has.")),
    responses(
        (status = 200, description = "The table as it stands.", body = TableJson, headers(("ETag" = String, description = "The tag of this answer."))),
        (status = 304, description = "The client has this answer.", headers(("ETag" = String, description = "Its tag."))),
        NotFound,
    ),
)]
pub(crate) async fn get(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    etag::answer(&headers, &TableJson::from(catalog.load_table(ident).await?))
}

/// Change a table.
///
/// Its name, properties, clustering or schema: all of what is asked for, or nothing.
#[utoipa::path(
    patch, path = "/v1/namespaces/{namespace}/tables/{table}", operation_id = "alter_table", tag = "tables",
    request_body = AlterTableJson,
    responses((status = 200, description = "The table as it stands now.", body = TableJson, headers(("ETag" = String, description = "The tag that a look at the table has until it changes again."))), NotFound, Conflict),
)]
pub(crate) async fn alter(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<AlterTableJson>,
) -> Result<Response, Problem> {
    let request = body.parse();
    if let Some(renamed) = &request.rename {
        catalog.principal().require(Role::Writer, &renamed.namespace)?;
    }
    detached::to_the_end(async move {
        let done = catalog.alter_table_once(ident, request, key.once(ALTERED)).await?;
        replies::tagged_answer(done, ALTERED)
    })
    .await
}

/// Forget a table.
///
/// Its data files are not touched.
#[utoipa::path(
    delete, path = "/v1/namespaces/{namespace}/tables/{table}", operation_id = "delete_table", tag = "tables",
    responses((status = 204, description = "It is gone."), NotFound),
)]
pub(crate) async fn delete(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    TableOf(ident): TableOf,
) -> Result<Response, Problem> {
    detached::to_the_end(async move {
        let done = catalog.drop_table_once(ident, key.once(replies::gone)).await?;
        replies::answer(done, replies::gone)
    })
    .await
}
